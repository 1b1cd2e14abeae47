/* `tarry dlq VERB`: finds the verb and lets it run. */
#include <stdio.h>
#include <string.h>

#include "cli/dlq_verbs.h"
#include "cli/verbs.h"
#include "ops/config_near.h"
#include "ops/config_value.h"

static const char OVERVIEW[] =
    "tarry dlq VERB: what failed (letters), straight on NATS and Kafka, whether the daemon runs or not\n"
    "\n"
    "  list      show letters                     tarry dlq list --state parked --since 1h\n"
    "  get       show one letter whole            tarry dlq get ID        or its tarry-id\n"
    "  reasons   count letters by what failed     tarry dlq reasons --by error\n"
    "  export    write letters as JSON lines      tarry dlq export -O letters.jsonl\n"
    "  import    put exported letters back        tarry dlq import letters.jsonl --execute\n"
    "  replay    send letters again               tarry dlq replay --target orders --rate 100/s --execute\n"
    "  park      redeliver no more                tarry dlq park --reason unknown_target --execute\n"
    "  edit      change one letter                tarry dlq edit ID\n"
    "  purge     delete letters                   tarry dlq purge --until 30d --execute\n"
    "  jobs      see, pause and resume replays    tarry dlq jobs\n"
    "\n"
    "Which letters (a flag again: any of its values; --header: all of them; no flag: every letter):\n"
    "  --state waiting|parked  --reason REASON  --target TOPIC|_refused  --id ID  --key TEXT\n"
    "  --header NAME[=VALUE]  --error REGEX  --since TIME  --until TIME  --limit N\n"
    "  TIME: RFC 3339, epoch milliseconds, now, or 10m: that long ago. Texts match whole and exactly;\n"
    "  --key-base64, --header-base64, --id-base64 for bytes that are no text.\n"
    "-c FILE, --set PATH=VALUE: the daemon's configuration (else TARRY_CONFIG). -o json|jsonl|table (table: terminals).\n"
    "Exit: 0 done, 1 failed, 2 usage, 3 partly or not found, 4 refused, 69 not reachable, 78 bad configuration.\n"
    "More: tarry dlq VERB --help, tarry-dlq(1).\n";

struct verb {
    const char *name;
    int (*run)(int argc, char **argv);
    const char *help;
};

static const struct verb VERBS[] = {
    {"list", dlq_list_run, dlq_list_help},       {"get", dlq_get_run, dlq_get_help},
    {"reasons", dlq_reasons_run, dlq_reasons_help}, {"export", dlq_export_run, dlq_export_help},
    {"import", dlq_import_run, dlq_import_help}, {"replay", dlq_replay_run, dlq_replay_help},
    {"park", dlq_park_run, dlq_park_help},       {"edit", dlq_edit_run, dlq_edit_help},
    {"purge", dlq_purge_run, dlq_purge_help},    {"jobs", dlq_jobs_run, dlq_jobs_help},
};

#define VERB_COUNT (sizeof VERBS / sizeof VERBS[0])

static bool is_help(const char *argument)
{
    return strcmp(argument, "--help") == 0 || strcmp(argument, "-h") == 0;
}

static const struct verb *find(const char *name)
{
    for (size_t i = 0; i < VERB_COUNT; i++) {
        if (strcmp(VERBS[i].name, name) == 0) {
            return &VERBS[i];
        }
    }
    return NULL;
}

static int unknown(const char *name)
{
    size_t distance;
    struct config_value_shown shown = config_value_show(name);
    for (size_t i = 0; i < VERB_COUNT; i++) {
        if (config_near_is(name, VERBS[i].name, &distance)) {
            fprintf(stderr, "tarry dlq: there is no verb %s; did you mean %s? See `tarry dlq --help`\n", shown.text, VERBS[i].name);
            return VERBS_EXIT_USAGE;
        }
    }
    fprintf(stderr, "tarry dlq: there is no verb %s; see `tarry dlq --help`\n", shown.text);
    return VERBS_EXIT_USAGE;
}

static int print(const char *text)
{
    fputs(text, stdout);
    return VERBS_EXIT_DONE;
}

int dlq_help_run(int argc, char **argv)
{
    if (argc < 2) {
        return print(OVERVIEW);
    }
    const struct verb *verb = find(argv[1]);
    return verb == NULL ? unknown(argv[1]) : print(verb->help);
}

int dlq_run(int argc, char **argv)
{
    if (argc < 2) {
        (void)print(OVERVIEW);
        return VERBS_EXIT_USAGE;
    }
    if (is_help(argv[1]) || strcmp(argv[1], "help") == 0) {
        return dlq_help_run(argc - 1, argv + 1);
    }
    const struct verb *verb = find(argv[1]);
    if (verb == NULL) {
        return unknown(argv[1]);
    }
    for (int i = 2; i < argc; i++) {
        if (is_help(argv[i])) {
            return print(verb->help);
        }
    }
    return verb->run(argc - 1, argv + 1);
}
