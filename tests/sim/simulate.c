/*
 * Runs worlds of many seeds, each twice: the same seed must give the same commands. Or one scenario.
 *
 *   tarry_sim --seeds A..B [-j N]          worlds of seeds A, A + 1, ... B - 1, in N processes
 *   tarry_sim --trace SEED                 one of them, with everything that happens in it
 *   tarry_sim --scenario FILE [--trace]    what the file says, twice
 */
#include <inttypes.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/sim/world.h"

#define WORKERS_MAX 64
#define SEED_MAX_S 30 /* a world that takes longer hangs */
#define FAILURES_MAX 20

struct worker {
    pid_t pid;
    uint64_t seed; /* the one that runs */
    struct world_result sum;
};

struct shared {
    atomic_uint_fast64_t next;
    uint64_t end;
    struct worker workers[WORKERS_MAX];
};

static void add(struct world_result *sum, const struct world_result *one)
{
    sum->steps += one->steps;
    sum->records += one->records;
    sum->deliveries += one->deliveries;
    sum->behind += one->behind;
    sum->repeats += one->repeats;
    sum->crashes += one->crashes;
    sum->commits += one->commits;
    sum->checkpoints += one->checkpoints;
    sum->transactions += one->transactions;
    sum->aborts += one->aborts;
    sum->copies += one->copies;
    sum->postponed += one->postponed;
    sum->letters += one->letters;
    sum->cancelled += one->cancelled;
    sum->delivered += one->delivered;
    sum->fenced += one->fenced;
    sum->foreseen += one->foreseen;
    sum->steered += one->steered;
}

static void run_twice(uint64_t seed, struct world_result *sum)
{
    struct world_result first;
    struct world_result second;
    world_run(seed, false, &first);
    world_run(seed, false, &second);
    if (first.digest != second.digest) {
        (void)fprintf(stderr, "seed %" PRIu64 " gives different commands when run again\n", seed);
        exit(EXIT_FAILURE);
    }
    add(sum, &first);
}

/* In a process of its own, so that a failed invariant, which aborts, can be named by its seed. */
static void start(struct shared *shared, struct worker *worker)
{
    (void)fflush(NULL);
    pid_t pid = fork();
    if (pid != 0) {
        worker->pid = pid;
        return;
    }
    for (;;) {
        worker->seed = atomic_fetch_add(&shared->next, 1);
        if (worker->seed >= shared->end) {
            _exit(EXIT_SUCCESS);
        }
        (void)alarm(SEED_MAX_S);
        run_twice(worker->seed, &worker->sum);
    }
}

static struct worker *find(struct shared *shared, int workers, pid_t pid)
{
    struct worker *found = NULL;
    for (int i = 0; i < workers; i++) {
        found = shared->workers[i].pid == pid ? &shared->workers[i] : found;
    }
    return found;
}

static uint64_t run_all(struct shared *shared, int workers)
{
    uint64_t failed = 0;
    int alive = workers;
    for (int i = 0; i < workers; i++) {
        start(shared, &shared->workers[i]);
    }
    while (alive > 0) {
        int status = 0;
        pid_t pid = wait(&status);
        struct worker *worker = find(shared, workers, pid);
        if (pid < 0 || worker == NULL) {
            return failed + 1;
        }
        if (status != 0) {
            failed++;
            (void)fprintf(stderr, "seed %" PRIu64 " failed%s; replay: scripts/simulate --trace %" PRIu64 "\n",
                          worker->seed, WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM ? " (it hangs)" : "",
                          worker->seed);
        }
        if (status != 0 && failed < FAILURES_MAX) {
            start(shared, worker);
        } else {
            alive--;
        }
    }
    return failed;
}

static double seconds(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static int run_many(uint64_t first, uint64_t end, int workers)
{
    double began = seconds();
    struct shared *shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED) {
        return EXIT_FAILURE;
    }
    atomic_store(&shared->next, first);
    shared->end = end;
    uint64_t failed = run_all(shared, workers);
    struct world_result sum = {0};
    for (int i = 0; i < workers; i++) {
        add(&sum, &shared->workers[i].sum);
    }
    (void)printf("%" PRIu64 " seeds, %" PRIu64 " failed, %.1f s in %d processes\n", end - first, failed,
                 seconds() - began, workers);
    (void)printf("records %" PRIu64 ", deliveries %" PRIu64 ", overdue at a start %" PRIu64 ", repeats %" PRIu64 ", crashes %" PRIu64 ", fenced %" PRIu64
                 ", commits %" PRIu64 ", transactions %" PRIu64 ", aborts %" PRIu64 ", copies %" PRIu64
                 ", postponed %" PRIu64 ", letters %" PRIu64 ", cancelled or replaced %" PRIu64 ", steered %" PRIu64 ", foreseen %" PRIu64 ", checkpoints %" PRIu64 ", steps %" PRIu64 "\n",
                 sum.records, sum.deliveries, sum.behind, sum.repeats, sum.crashes, sum.fenced, sum.commits, sum.transactions,
                 sum.aborts, sum.copies, sum.postponed, sum.letters, sum.cancelled, sum.steered, sum.foreseen, sum.checkpoints, sum.steps);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

static int run_scenario(const char *path, bool trace)
{
    struct world_result first;
    struct world_result second;
    world_run_script(path, trace, &first);
    world_run_script(path, false, &second);
    bool same = first.digest == second.digest;
    (void)printf("%s: %" PRIu64 " steps, digest %016" PRIx64 "%s\n", path, first.steps, first.digest,
                 same ? "" : ", and another one when run again");
    return same ? EXIT_SUCCESS : EXIT_FAILURE;
}

static int usage(void)
{
    (void)fprintf(stderr, "usage: tarry_sim --seeds A..B [-j N] | --trace SEED | --scenario FILE [--trace]\n");
    return 2;
}

static const char *option(int count, char **values, const char *name)
{
    const char *found = NULL;
    for (int i = 1; i + 1 < count; i++) {
        found = strcmp(values[i], name) == 0 ? values[i + 1] : found;
    }
    return found;
}

int main(int count, char **values)
{
    const char *scenario = option(count, values, "--scenario");
    const char *seeds = option(count, values, "--seeds");
    const char *trace = option(count, values, "--trace");
    const char *jobs = option(count, values, "-j");
    if (scenario != NULL) {
        return run_scenario(scenario, strcmp(values[count - 1], "--trace") == 0);
    }
    if (trace != NULL) {
        struct world_result result;
        uint64_t seed = strtoull(trace, NULL, 10);
        world_run(seed, true, &result);
        (void)printf("seed %" PRIu64 ": digest %016" PRIx64 ", %" PRIu64 " steps\n", seed, result.digest, result.steps);
        return EXIT_SUCCESS;
    }
    char *dots = NULL;
    uint64_t first = seeds == NULL ? 0 : strtoull(seeds, &dots, 10);
    if (seeds == NULL || strncmp(dots, "..", 2) != 0) {
        return usage();
    }
    long workers = jobs != NULL ? strtol(jobs, NULL, 10) : sysconf(_SC_NPROCESSORS_ONLN);
    workers = workers < 1 ? 1 : workers > WORKERS_MAX ? WORKERS_MAX : workers;
    return run_many(first, strtoull(dots + 2, NULL, 10), (int)workers);
}
