#include <stdio.h>
#include <string.h>

#include "cli/options.h"
#include "cli/verbs.h"

static const char OVERVIEW[] =
    "tarry: holds Kafka records until their time, then delivers them\n"
    "\n"
    "  serve     run the scheduler              tarry serve -c tarry.yaml\n"
    "  demo      see it work, without a broker  tarry demo\n"
    "  config    check, show or describe the    tarry config check -c tarry.yaml\n"
    "            configuration                  tarry config show --effective -c tarry.yaml\n"
    "                                           tarry config schema > tarry.schema.json\n"
    "  dlq       look at what failed, and send  tarry dlq list -c tarry.yaml\n"
    "            it again                       tarry dlq replay --reason no_time --execute\n"
    "  version   what this is, and with what    tarry version\n"
    "  help      more about one verb            tarry help serve\n"
    "\n"
    "Flags of serve, config and dlq:\n"
    "  -c, --config FILE   the configuration; else the file that TARRY_CONFIG names\n"
    "  --set PATH=VALUE    one value of it, before environment (TARRY_...) and file\n"
    "  --log-level LEVEL   debug, info, warning or error\n"
    "\n"
    "Exit: 0 done, 1 failed, 2 usage, 78 bad configuration. Manual: tarry(1), tarry-dlq(1), tarry.yaml(5).\n";

static const char SERVE[] =
    "tarry serve [-c FILE] [--set PATH=VALUE]... [--log-level LEVEL] [--accept-change]\n"
    "\n"
    "Reads the source topics, holds each record until its time, and delivers it.\n"
    "SIGTERM ends it within shutdown_timeout, a second one at once; SIGHUP reads the configuration again.\n"
    "--accept-change: go on although the rules for pending records changed, or a topic was recreated.\n"
    "\n"
    "  tarry serve -c /etc/tarry/tarry.yaml\n"
    "  TARRY_INSTANCE=tarry-1 tarry serve -c tarry.yaml --log-level debug\n";

static const char DEMO[] =
    "tarry demo [--nats-server PATH] [--kafka HOST:PORT] [--count N] [--keep]\n"
    "\n"
    "Produces a few dozen records with delays of 50 ms to 5 s and shows them wait and leave.\n"
    "With --nats-server it runs that program in private, and then shows records fail, redelivered, parked and replayed.\n"
    "Without --kafka it brings its own broker, in memory.\n"
    "--count N: that many records, 1 to 500. --keep: leaves configuration, stores and logs, and says where.\n"
    "\n"
    "  tarry demo\n";

static const char CONFIG[] =
    "tarry config check  [-c FILE] [--set PATH=VALUE]...\n"
    "tarry config show   [-c FILE] [--set PATH=VALUE]... [--effective]\n"
    "tarry config schema [--markdown | --mdoc]\n"
    "\n"
    "check: says what is wrong, with file and line (exit 78), or that nothing is.\n"
    "show: prints the values given, or with --effective all of them, with where each comes from; secrets are ***.\n"
    "schema: prints a JSON Schema for editors, or the reference of all keys as Markdown or mdoc.\n"
    "\n"
    "  tarry config check -c tarry.yaml\n"
    "  tarry config show --effective -c tarry.yaml --set store.max_size=1GiB\n";

static const char VERSION[] =
    "tarry version\n"
    "\n"
    "Prints the version of tarry, of the libraries it runs with, and of the formats it writes.\n";

struct page {
    const char *verb;
    const char *text;
};

static const struct page PAGES[] = {
    {"serve", SERVE}, {"demo", DEMO}, {"config", CONFIG}, {"version", VERSION}, {"help", OVERVIEW},
};

int help_run(int argc, char **argv)
{
    if (argc < 2) {
        fputs(OVERVIEW, stdout);
        return VERBS_EXIT_DONE;
    }
    if (strcmp(argv[1], "dlq") == 0) {
        return dlq_help_run(argc - 1, argv + 1);
    }
    for (size_t i = 0; i < sizeof PAGES / sizeof PAGES[0]; i++) {
        if (strcmp(PAGES[i].verb, argv[1]) == 0) {
            fputs(PAGES[i].text, stdout);
            return VERBS_EXIT_DONE;
        }
    }
    return options_usage("help", argv[1]);
}
