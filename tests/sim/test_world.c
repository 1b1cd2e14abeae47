/*
 * The world of many seeds, each run twice: the same seed must give the same commands.
 *
 *   test_world [--first N] [--seeds N]      worlds of seeds N, N + 1, ...
 *   test_world --seed N [--trace]           one of them, with everything that happens in it
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/sim/world.h"

#define SEEDS 200
#define BATCH 50

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
    sum->steps += first.steps;
    sum->records += first.records;
    sum->deliveries += first.deliveries;
    sum->repeats += first.repeats;
    sum->crashes += first.crashes;
    sum->commits += first.commits;
    sum->checkpoints += first.checkpoints;
}

struct shared {
    uint64_t seed; /* the one that runs */
    struct world_result sum;
};

/* In a process of its own, so that a failed invariant, which aborts, can be named by its seed. */
static bool run_batch(uint64_t first, uint64_t count, struct shared *shared)
{
    pid_t child = fork();
    if (child == 0) {
        for (shared->seed = first; shared->seed < first + count; shared->seed++) {
            run_twice(shared->seed, &shared->sum);
        }
        _exit(EXIT_SUCCESS);
    }
    int status = -1;
    (void)waitpid(child, &status, 0);
    if (status != 0) {
        (void)fprintf(stderr, "seed %" PRIu64 " failed; replay: test_world --seed %" PRIu64 " --trace\n", shared->seed,
                      shared->seed);
    }
    return status == 0;
}

static uint64_t argument(int count, char **values, const char *name, uint64_t otherwise)
{
    for (int i = 1; i + 1 < count; i++) {
        if (strcmp(values[i], name) == 0) {
            return strtoull(values[i + 1], NULL, 10);
        }
    }
    return otherwise;
}

static int run_many(uint64_t first, uint64_t count)
{
    struct shared *shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED) {
        return EXIT_FAILURE;
    }
    uint64_t failed = 0;
    for (uint64_t seed = first; seed < first + count;) {
        uint64_t left = first + count - seed;
        bool good = run_batch(seed, left < BATCH ? left : BATCH, shared);
        failed += !good;
        seed = good ? seed + BATCH : shared->seed + 1;
    }
    const struct world_result *sum = &shared->sum;
    (void)printf("%" PRIu64 " seeds, %" PRIu64 " failed: %" PRIu64 " records, %" PRIu64 " deliveries, %" PRIu64
                 " repeats, %" PRIu64 " crashes, %" PRIu64 " commits, %" PRIu64 " checkpoints, %" PRIu64 " steps\n",
                 count, failed, sum->records, sum->deliveries, sum->repeats, sum->crashes, sum->commits,
                 sum->checkpoints, sum->steps);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

int main(int count, char **values)
{
    uint64_t seed = argument(count, values, "--seed", UINT64_MAX);
    if (seed != UINT64_MAX) {
        struct world_result result;
        world_run(seed, strcmp(values[count - 1], "--trace") == 0, &result);
        (void)printf("seed %" PRIu64 ": digest %016" PRIx64 ", %" PRIu64 " steps\n", seed, result.digest, result.steps);
        return EXIT_SUCCESS;
    }
    return run_many(argument(count, values, "--first", 1), argument(count, values, "--seeds", SEEDS));
}
