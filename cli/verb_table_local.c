/* Verbs that ask no daemon: they need nothing, or the configuration. */
#include "cli/verb_table_part.h"
#include "cli/verbs.h"

static const struct verb_flag SERVE[] = {
    {"--accept-change", '\0', NULL, "go on although rules for pending records changed", false},
};

static const struct verb_flag DEMO[] = {
    {"--nats-server", '\0', "FILE", "run it, and show records fail and come back", false},
    {"--kafka", '\0', "HOST:PORT", "with this broker, not one of its own in memory", false},
    {"--count", '\0', "N", "that many records, 1 to 500 (36)", false},
    {"--keep", '\0', NULL, "leave configuration, stores and logs; say where", false},
};

static const struct verb_flag SHOW[] = {
    {"--effective", '\0', NULL, "all values, not only those that were given", false},
};

static const struct verb_flag SCHEMA[] = {
    {"--markdown", '\0', NULL, "the reference of all keys as Markdown instead", false},
    {"--mdoc", '\0', NULL, "the same as a manual page", false},
};

static const struct verb VERBS[] = {
    {"serve", serve_run, "", "run the scheduler", "Runs the scheduler in the foreground", VERB_TABLE_FLAGS(SERVE), VERB_TABLE_CONFIG,
     "Reads the source topics, holds each record until its time, and delivers it.\n"
     "SIGTERM ends it within shutdown_timeout, a second one at once; SIGHUP reads the\n"
     "configuration again. --accept-change also takes a topic that was made anew, and\n"
     "reads it from its beginning when nothing of the former one is pending.\n",
     "tarry serve -c /etc/tarry/tarry.yaml\n"
     "TARRY_INSTANCE=tarry-1 tarry serve -c tarry.yaml --log-level debug\n"},
    {"demo", demo_run, "", "see it work", "Shows records wait and leave, without a broker", VERB_TABLE_FLAGS(DEMO), 0,
     "Produces a few dozen records with delays of 50 ms to 5 s and shows them wait and\n"
     "leave. With --nats-server records then fail, are redelivered, parked, replayed.\n",
     "tarry demo\n"
     "tarry demo --nats-server /usr/sbin/nats-server --count 100\n"},
    {"config", NULL, "", "look at configuration", "Checks, shows or describes the configuration", VERB_TABLE_NONE, 0, "",
     "tarry config check -c tarry.yaml\n"},
    {"config check", config_verb_check_run, "[FILE]", "say what is wrong with it", "Says what is wrong with a configuration, with file and line, or that nothing is",
     VERB_TABLE_NONE, VERB_TABLE_CONFIG, "Exit 78: something is wrong.\n", "tarry config check -c tarry.yaml\n"},
    {"config show", config_verb_show_run, "[FILE]", "print its values", "Prints the values given, each with where it comes from; secrets are ***",
     VERB_TABLE_FLAGS(SHOW), VERB_TABLE_CONFIG, "", "tarry config show --effective -c tarry.yaml --set store.max_size=1GiB\n"},
    {"config schema", config_verb_schema_run, "", "a JSON Schema of it", "Prints a JSON Schema of the configuration, for editors", VERB_TABLE_FLAGS(SCHEMA), 0, "",
     "tarry config schema > tarry.schema.json\n"},
};

const struct verb_table_part verb_table_local = {VERBS, sizeof VERBS / sizeof VERBS[0]};
