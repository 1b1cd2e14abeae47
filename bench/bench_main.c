/*
 * tarry_bench: measures tarry beside what it is held against. scripts/bench starts it with a broker and a folder; it is
 * its own passthrough and timer too, as processes of their own.
 */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/bench_facts.h"
#include "bench/bench_kafka.h"
#include "bench/bench_passthrough.h"
#include "bench/bench_report.h"
#include "bench/bench_run.h"
#include "bench/bench_sections.h"
#include "bench/bench_timer.h"

#define RUNS_DEFAULT 5
#define RUNS_MAX 99
#define RECORDS_MAX 1000000000

struct section {
    const char *name; /* "schedules.herd" is a part of "schedules" */
    void (*run)(struct bench_run *run);
    bool of_the_broker; /* it says how fast something is that the broker has a part in */
    bool wanted;
};

/* In this order: memory leaves its ten million for recovery and list. */
static struct section sections[] = {
    {"throughput", bench_throughput_section, true, false},
    {"lateness", bench_lateness_section, true, false},
    {"throughput_eo", bench_throughput_exact_section, true, false},
    {"lateness_eo", bench_lateness_exact_section, true, false},
    {"ingest", bench_ingest_section, false, false},
    {"memory", bench_pending_memory_section, false, false},
    {"recovery", bench_pending_recovery_section, false, false},
    {"list", bench_list_section, true, false},
    {"takeover", bench_takeover_section, false, false},
    {"store", bench_checkpoint_section, false, false},
    {"letters", bench_letters_section, false, false},
    {"schedules.ids", bench_throughput_ids_section, true, false},
    {"schedules.recurring", bench_recurring_section, true, false},
    {"schedules.herd", bench_herd_section, true, false},
    {"schedules.paused", bench_paused_section, true, false},
    {"schedules.catch_up", bench_catch_up_section, true, false},
};

#define SECTIONS (sizeof(sections) / sizeof(sections[0]))

struct arguments {
    const char *commit;
    const char *kafka_version;
    const char *nats_version;
    const char *output; /* NULL: a table; "json"; or the file for the JSON, beside the table */
};

static const struct option options[] = {{"bootstrap", required_argument, NULL, 'b'}, {"tarry", required_argument, NULL, 't'},
                                        {"store-program", required_argument, NULL, 'p'}, {"folder", required_argument, NULL, 'f'},
                                        {"commit", required_argument, NULL, 'c'},    {"kafka-version", required_argument, NULL, 'k'},
                                        {"section", required_argument, NULL, 's'},   {"output", required_argument, NULL, 'o'},
                                        {"quick", no_argument, NULL, 'q'},           {"runs", required_argument, NULL, 'r'},
                                        {"records", required_argument, NULL, 'n'},
                                        {"nats-server", required_argument, NULL, 'S'}, {"nats-version", required_argument, NULL, 'V'},
                                        {NULL, 0, NULL, 0}};

/* By its whole name, or by what stands before the dot. */
static bool is_called(const char *section, const char *name)
{
    size_t length = strlen(name);
    return strncmp(section, name, length) == 0 && (section[length] == '\0' || section[length] == '.');
}

static void want(const char *name)
{
    bool found = false;
    for (size_t i = 0; i < SECTIONS; i++) {
        bool same = is_called(sections[i].name, name);
        sections[i].wanted = sections[i].wanted || same;
        found = found || same;
    }
    if (!found) {
        bench_run_fail("there is no section %s: see scripts/bench", name);
    }
}

static int64_t number_of(const char *option, const char *text, long most)
{
    char *end;
    long count = strtol(text, &end, 10);
    if (*end != '\0' || count < 1 || count > most) {
        bench_run_fail("%s takes a number from 1 to %ld, not %s", option, most, text);
    }
    return count;
}

static bool take(struct bench_run *run, struct arguments *arguments, int option)
{
    switch (option) {
    case 'b': run->bootstrap = optarg; return true;
    case 't': run->tarry = optarg; return true;
    case 'p': run->store_program = optarg; return true;
    case 'f': run->folder = optarg; return true;
    case 'c': arguments->commit = optarg; return true;
    case 'k': arguments->kafka_version = optarg; return true;
    case 'S': run->nats_server = optarg; return true;
    case 'V': arguments->nats_version = optarg; return true;
    case 'o': arguments->output = optarg; return true;
    case 's': want(optarg); return true;
    case 'q': run->quick = true; return true;
    case 'r': run->runs = number_of("--runs", optarg, RUNS_MAX); return true;
    case 'n': run->records = number_of("--records", optarg, RECORDS_MAX); return true;
    default: return false;
    }
}

static void parse(int argc, char **argv, struct bench_run *run, struct arguments *arguments)
{
    int option;
    while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
        if (!take(run, arguments, option)) {
            bench_run_fail("see scripts/bench");
        }
    }
    bool any = false;
    for (size_t i = 0; i < SECTIONS; i++) {
        any = any || sections[i].wanted;
    }
    for (size_t i = 0; i < SECTIONS && !any; i++) {
        sections[i].wanted = true;
    }
    if (run->bootstrap == NULL || run->tarry == NULL || run->folder == NULL || run->store_program == NULL || run->nats_server == NULL) {
        bench_run_fail("--bootstrap, --tarry, --store-program, --nats-server and --folder are needed: see scripts/bench");
    }
}

static void run_sections(struct bench_run *run)
{
    bool warm = false;
    for (size_t i = 0; i < SECTIONS; i++) {
        warm = warm || (sections[i].wanted && sections[i].of_the_broker);
    }
    if (warm) {
        bench_throughput_warm_up(run);
    }
    for (size_t i = 0; i < SECTIONS; i++) {
        if (sections[i].wanted) {
            sections[i].run(run);
        }
    }
    bench_pending_close(run);
}

static void report(const struct bench_run *run, const struct bench_facts *facts, const char *output)
{
    if (output != NULL && strcmp(output, "json") == 0) {
        bench_report_json(run, facts, stdout);
        return;
    }
    bench_report_table(run, facts, stdout);
    if (output == NULL) {
        return;
    }
    FILE *file = fopen(output, "w");
    if (file == NULL) {
        bench_run_fail("cannot write %s: %s", output, strerror(errno));
    }
    bench_report_json(run, facts, file);
    fclose(file);
}

static int measure(int argc, char **argv)
{
    static const char *const client_settings[] = {NULL};
    static char self[BENCH_RUN_PATH];
    struct bench_run run = {.self = self, .runs = RUNS_DEFAULT, .figures = bench_figures_new()};
    struct bench_facts facts = {.count = 0};
    struct arguments arguments = {"unknown", "unknown", "unknown", NULL};
    parse(argc, argv, &run, &arguments);
    if (readlink("/proc/self/exe", self, sizeof(self) - 1) < 0) {
        bench_run_fail("cannot tell what program this is: %s", strerror(errno));
    }
    bench_facts_collect(&run, arguments.commit, arguments.kafka_version, arguments.nats_version, &facts);
    run.client = bench_kafka_new(RD_KAFKA_PRODUCER, bench_kafka_conf(run.bootstrap, client_settings));
    run_sections(&run);
    report(&run, &facts, arguments.output);
    rd_kafka_destroy(run.client);
    bench_figures_free(run.figures);
    return EXIT_SUCCESS;
}

int main(int argc, char **argv)
{
    if (argc == 6 && strcmp(argv[1], "passthrough") == 0) {
        return bench_passthrough_main(argv + 2);
    }
    if (argc == 6 && strcmp(argv[1], "passthrough-exact") == 0) {
        return bench_passthrough_exact_main(argv + 2);
    }
    if (argc == 7 && strcmp(argv[1], "timer") == 0) {
        return bench_timer_main(argv + 2);
    }
    if (argc == 8 && strcmp(argv[1], "timer-exact") == 0) {
        return bench_timer_exact_main(argv + 2);
    }
    return measure(argc, argv);
}
