/* The verbs of `tarry dlq`. */
#include "cli/dlq_verbs.h"
#include "cli/verb_table_part.h"

#define LOOKS (VERB_TABLE_CONFIG | VERB_TABLE_OUTPUT | VERB_TABLE_LETTERS)
#define EXECUTE {"--execute", '\0', NULL, "do it; else only say what would be done", false}

static const struct verb_flag LIST[] = {
    {"--after", '\0', "PLACE", "go on behind this place: parked:123", false},
    {"--no-payload", '\0', NULL, "JSON without key, value and headers", false},
};

static const struct verb_flag GET[] = {
    {"--raw", '\0', "value|key", "its bytes and nothing else", false},
};

static const struct verb_flag REASONS[] = {
    {"--by", '\0', "reason|error|target|source|hour", "what makes a group (reason)", false},
};

static const struct verb_flag EXPORT[] = {
    {"--output-file", 'O', "FILE", "into a new file that its owner alone may read", false},
};

static const struct verb_flag IMPORT[] = {
    {"--as-new", '\0', NULL, "each gets an id of its own, none is skipped", false},
    EXECUTE,
};

static const struct verb_flag REPLAY[] = {
    {"--to", '\0', "TOPIC", "to this topic instead", false},
    {"--delay", '\0', "DURATION", "by way of the delay topic, so much later", false},
    {"--set-header", '\0', "NAME=VALUE", "in place of all headers of that name", true},
    {"--rate", '\0', "N/s", "so many a second", false},
    {"--ramp", '\0', "DURATION", "from 1 a second up to --rate in this time", false},
    {"--spread", '\0', "DURATION", "evenly over this time", false},
    {"--stop-after", '\0', "N|20%", "end when so many fail again", false},
    {"--max-replays", '\0', "N", "skip those replayed that often (10)", false},
    EXECUTE,
};

static const struct verb_flag PARK[] = {
    EXECUTE,
};

static const struct verb_flag PURGE[] = {
    EXECUTE,
    {"--yes", '\0', NULL, "do not ask", false},
};

static const struct verb_flag EDIT[] = {
    {"--target", '\0', "TOPIC", "another target", false},
    {"--key", '\0', "TEXT", "another key", false},
    {"--key-null", '\0', NULL, "no key", false},
    {"--value-file", '\0', "FILE|-", "another value", false},
    {"--value-null", '\0', NULL, "no value", false},
    {"--set-header", '\0', "NAME=VALUE", "in place of all headers of that name", true},
    {"--remove-header", '\0', "NAME", "all headers of that name", true},
    {"--state", '\0', "waiting|parked", "where ID stands, if in both", false},
    {"--replace", '\0', NULL, "the old one goes", false},
    EXECUTE,
};

static const struct verb VERBS[] = {
    {"dlq", NULL, "", "what failed (letters)", "Looks at what failed (letters), straight on NATS and Kafka, daemon or not", VERB_TABLE_NONE, 0,
     "Which letters: tarry help letters. -c FILE is the daemon's configuration.\n"
     "Exit: 0 done, 1 failed, 2 usage, 3 partly or not found, 4 refused,\n"
     "69 not reachable, 78 bad configuration. Manual: tarry-dlq(1).\n",
     "tarry dlq reasons -c tarry.yaml --by error\n"
     "tarry dlq replay --target orders --rate 100/s --execute\n"},
    {"dlq list", dlq_list_run, "", "show letters", "Shows letters as they stand now, waiting ones first, each stream in its order", VERB_TABLE_FLAGS(LIST), LOOKS,
     "On a terminal 50 unless --limit says otherwise; it says then how many more there\n"
     "are, and how to go on.\n",
     "tarry dlq list -c tarry.yaml --state parked --since 24h\n"
     "tarry dlq list --error 'schema .* not found' -o jsonl | jq -r .id\n"},
    {"dlq get", dlq_get_run, "ID", "show one letter whole", "Shows the letter of this id, or of the record with this tarry-id, whole", VERB_TABLE_FLAGS(GET), LOOKS,
     "An ID that begins with - is given as --id=ID, one that is no text as\n"
     "--id-base64. Exit 3: there is no such letter (any more).\n",
     "tarry dlq get 4f1c09aa51f4b1d8c0de2c3f9a7b6e55 -c tarry.yaml\n"
     "tarry dlq get order-17 --raw value > value.bin\n"},
    {"dlq reasons", dlq_reasons_run, "", "count letters by what failed", "Counts letters in groups, with first and last failure and one of each", VERB_TABLE_FLAGS(REASONS), LOOKS,
     "error: its text, with N for numbers and ids, so that like meets like; source:\n"
     "the topic the record came in by; hour: of the last failure, UTC.\n",
     "tarry dlq reasons -c tarry.yaml --state parked\n"
     "tarry dlq reasons --by error --target orders --since 24h\n"},
    {"dlq export", dlq_export_run, "", "write letters as JSON lines", "Writes letters as JSON lines with all their bytes, for `tarry dlq import`", VERB_TABLE_FLAGS(EXPORT), LOOKS,
     "Exit 3: a letter, or its record, could not be read and is missing.\n",
     "tarry dlq export -c tarry.yaml --state parked -O parked.jsonl\n"
     "tarry dlq export --target orders | gzip > orders.jsonl.gz\n"},
    {"dlq import", dlq_import_run, "[FILE|-]", "put exported letters back", "Puts letters back, as `tarry dlq export` writes them, each into its state", VERB_TABLE_FLAGS(IMPORT),
     VERB_TABLE_CONFIG | VERB_TABLE_OUTPUT,
     "All lines are checked before the first is written. A letter whose id stands in\n"
     "the streams is skipped, so an import that was cut off can be run again.\n"
     "A line without \"id\" gets a new one. Exit 3: only a part of it was taken.\n",
     "tarry dlq import parked.jsonl -c tarry.yaml --execute\n"
     "jq -c '.state = \"parked\"' all.jsonl | tarry dlq import - --as-new --execute\n"},
    {"dlq replay", dlq_replay_run, "", "send letters again", "Sends parked letters again, in their order, each to its target", VERB_TABLE_FLAGS(REPLAY), LOOKS,
     "One that was refused goes to the topic it came from. What fails again is parked\n"
     "anew; what comes in meanwhile is left alone. Ctrl-C stops it in good order.\n",
     "tarry dlq replay -c tarry.yaml --target orders --since 2h\n"
     "tarry dlq replay --target orders --rate 100/s --stop-after 20% --execute\n"},
    {"dlq park", dlq_park_run, "", "redeliver no more", "Takes waiting letters out of redelivery, for a person to look at", VERB_TABLE_FLAGS(PARK), LOOKS,
     "A letter that is being redelivered at that moment may be delivered and parked.\n"
     "What comes in meanwhile is left alone.\n",
     "tarry dlq park --target orders --reason unknown_target --execute\n"},
    {"dlq edit", dlq_edit_run, "ID", "change one letter", "Makes a parked copy of a letter, changed, with a new id, to be replayed", VERB_TABLE_FLAGS(EDIT),
     VERB_TABLE_CONFIG | VERB_TABLE_OUTPUT,
     "Prints it as JSON. The old one stays, unless --replace.\n", "tarry dlq edit ID -c tarry.yaml --value-file mended.json --execute\n"},
    {"dlq purge", dlq_purge_run, "", "delete letters", "Deletes letters for good, waiting and parked ones", VERB_TABLE_FLAGS(PURGE), LOOKS,
     "On a terminal it asks, unless --yes; elsewhere --execute needs a flag that\n"
     "chooses letters, or --yes. What came in since it began stays.\n",
     "tarry dlq purge -c tarry.yaml --state parked --until 30d\n"
     "tarry dlq purge --id order-4711 --execute --yes\n"},
    {"dlq jobs", dlq_jobs_run, "[list|pause|resume|cancel] [JOB]", "see, pause, resume replays", "Shows how far each replay, park and purge with --execute is, or steers one",
     VERB_TABLE_NONE, VERB_TABLE_CONFIG | VERB_TABLE_OUTPUT,
     "pause, cancel: the process that runs it stops in good order within a second or\n"
     "two. resume: goes on with what its streams held when it began, here, to its end.\n"
     "A job whose process was killed shows as \"silent\", and is resumed likewise.\n",
     "tarry dlq jobs -c tarry.yaml\n"
     "tarry dlq jobs pause replay-20261130-060201-3f9a\n"},
};

const struct verb_table_part verb_table_letters = {VERBS, sizeof VERBS / sizeof VERBS[0]};
