/* Verbs that ask the daemon about events. */
#include "cli/verb_table_part.h"
#include "cli/verbs.h"

#define ASKS (VERB_TABLE_SERVER | VERB_TABLE_OUTPUT)
#define SOURCE {"--source", '\0', "TOPIC", "the delay topic; else all of them", false}

static const struct verb_flag SCHEDULE[] = {
    {"--topic", 't', "TOPIC", "where it is to arrive", false},
    {"--at", '\0', "TIME", "when: RFC 3339, epoch ms, now", false},
    {"--in", '\0', "DURATION", "so long from now: 90s, 1h30m", false},
    {"--every", '\0', "DURATION", "again and again, so far apart", false},
    {"--cron", '\0', "EXPRESSION", "again and again, by a cron expression", false},
    {"--tz", '\0', "ZONE", "time zone of --cron (UTC)", false},
    {"--until", '\0', "TIME", "no occurrence after it", false},
    {"--count", '\0', "N", "so many occurrences", false},
    {"--id", '\0', "ID", "to cancel or replace it by; else one is made", false},
    {"--if-exists", '\0', "replace|reject", "when that id is pending (replace)", false},
    {"--expires", '\0', "TIME", "not delivered after it", false},
    {"--key", 'k', "TEXT", "the record's key", false},
    {"--header", 'H', "NAME=VALUE", "a header, any number of times", true},
    {"--value", '\0', "TEXT", "the value, instead of FILE or - (standard input)", false},
    {"--null", '\0', NULL, "a record without a value", false},
    {"--source", '\0', "TOPIC", "the delay topic, when the daemon has several", false},
    {"--idempotency-key", '\0', "KEY", "one for each thing wanted; else one is made", false},
};

#define FILTERS                                                                                                                                                \
    SOURCE, {"--target", '\0', "TOPIC", "where it is to arrive", false}, {"--lane", '\0', "LANE", "the entry of targets it goes by", false},                   \
        {"--id-prefix", '\0', "TEXT", "ids that begin so", false}, {"--due-from", '\0', "TIME", "due then or later", false},                                   \
        {"--due-to", '\0', "TIME", "due before then", false}, {"--state", '\0', "pending|paused|undecided", "only these", false},                                       \
        {"--partition", '\0', "N", "of the delay topic", false}, {"--schedules", '\0', NULL, "what comes again, instead of what comes once", false}

static const struct verb_flag LIST[] = {
    FILTERS,
    {"--payload", '\0', NULL, "with key, value and headers", false},
    {"--limit", 'n', "N", "at most so many (50); 0: all", false},
    {"--cursor", '\0', "CURSOR", "go on where an earlier list ended", false},
};

static const struct verb_flag GET[] = {
    SOURCE,
    {"--raw", '\0', "value|key", "its bytes and nothing else", false},
};

static const struct verb_flag CANCEL[] = {
    FILTERS,
    {"--key", 'k', "TEXT", "of the one ID: where it is looked for first", false},
    {"--limit", 'n', "N", "at most so many of those that match", false},
    {"--execute", '\0', NULL, "do it; --yes is the same", false},
    {"--yes", 'y', NULL, "do it, and do not ask", false},
};

static const struct verb_flag STEER[] = {
    SOURCE,
};

static const struct verb_flag RESCHEDULE[] = {
    {"--at", '\0', "TIME", "when: RFC 3339, epoch ms, now", false},
    {"--in", '\0', "DURATION", "so long from now: 90s, 1h30m", false},
    SOURCE,
};

static const struct verb VERBS[] = {
    {"schedule", verb_schedule_run, "[FILE|-]", "deliver a record later", "Has a record delivered at its time", VERB_TABLE_FLAGS(SCHEDULE), ASKS, "",
     "tarry schedule -t orders --in 10m --id order-7 --value '{\"order\":7}'\n"},
    {"list", verb_list_run, "", "what is pending", "Shows what is pending, next due first", VERB_TABLE_FLAGS(LIST), ASKS,
     "Of the partitions that the daemon has: each instance of a group lists its own.\n"
     "What was written in the last 100 ms (store.checkpoint) is not in it yet.\n", "tarry list --target orders --due-to 1h\n"},
    {"get", verb_get_run, "ID", "one event whole", "Shows one event: when, where to, what became of it so far", VERB_TABLE_FLAGS(GET), ASKS,
     "ID may also be its place: TOPIC/PARTITION/OFFSET. Behind -- it may begin with -.\n"
     "What is no more pending is shown from the daemon's memory of the latest 10,000.\n"
     "Exit 3: there is none.\n",
     "tarry get order-7\n"
     "tarry get order-7 --raw value > value.bin\n"},
    {"cancel", verb_cancel_run, "[ID...]", "end it before it fires", "Ends events before they fire, and says for each what truly happened", VERB_TABLE_FLAGS(CANCEL), ASKS,
     "Several IDs, or flags that choose: asks on a terminal; else says what it would\n"
     "do, unless --execute. Exit 1: too late, 3: not found, or only a part.\n",
     "tarry cancel order-7\n"
     "tarry cancel --id-prefix order- --target orders --execute\n"},
    {"run-now", verb_steer_run_now, "ID", "deliver it now", "Delivers a pending event now; what comes again keeps its later occurrences", VERB_TABLE_FLAGS(STEER), ASKS, "",
     "tarry run-now order-7\n"},
    {"reschedule", verb_steer_reschedule, "ID", "give it another time", "Gives a pending event another time", VERB_TABLE_FLAGS(RESCHEDULE), ASKS, "",
     "tarry reschedule order-7 --in 2h\n"},
    {"pause", verb_steer_pause, "ID", "hold it back", "Holds a pending event back until it is resumed", VERB_TABLE_FLAGS(STEER), ASKS, "", "tarry pause order-7\n"},
    {"resume", verb_steer_resume, "ID", "let it go on", "Lets a paused event go on", VERB_TABLE_FLAGS(STEER), ASKS, "", "tarry resume order-7\n"},
};

const struct verb_table_part verb_table_events = {VERBS, sizeof VERBS / sizeof VERBS[0]};
