/* A core with one slot, driven by hand: for tests of single situations. The store is an array that answers when it is told to. */
#ifndef TARRY_TESTS_CORE_CASE_H
#define TARRY_TESTS_CORE_CASE_H

#include "scheduler/core.h"

#define CORE_CASE_WALL INT64_C(1800000000000)
#define CORE_CASE_ROWS 64

struct core_case_row {
    struct bucket_id bucket;
    int64_t offset;
    int64_t due_ms;
};

struct core_case {
    struct core *core;
    struct core_options options;
    int64_t wall_ms; /* since CORE_CASE_WALL */
    int64_t mono_ms;
    struct input *inputs;
    size_t input_count;
    struct commands commands; /* of the last step */
    const struct checkpoint_plan *plan;
    uint64_t released;
    uint64_t steps;
    struct core_case_row rows[CORE_CASE_ROWS];
    size_t row_count;
};

/* Options as in production; change them before core_case_begin. */
void core_case_init(struct core_case *test);

/* Makes the core with this many lanes and gains slot 0: position 0, everything below catch_up_to to be read first. */
void core_case_begin(struct core_case *test, int lanes, int64_t catch_up_to);
void core_case_end(struct core_case *test);

/* A further input for the next step, its slot and epoch set. */
struct input *core_case_input(struct core_case *test, enum input_kind kind);
void core_case_record(struct core_case *test, int64_t offset, int64_t due_ms, lane_index lane);
void core_case_delivered(struct core_case *test, lane_index lane, uint64_t sequence);
void core_case_failed(struct core_case *test, lane_index lane, uint64_t sequence, enum delivery_failure failure);
void core_case_committed(struct core_case *test);

/* One step with what was put in; validates. */
void core_case_step(struct core_case *test);

/* Sets both clocks on by so much, and steps. */
void core_case_wait(struct core_case *test, int64_t ms);

/* Moves to the next deadline and steps; false: there is none, or it is beyond `until_ms` (since CORE_CASE_WALL). */
bool core_case_sleep(struct core_case *test, int64_t until_ms);

/* Of the last step's commands: how many of a kind, and the nth of them. */
size_t core_case_count(const struct core_case *test, enum command_kind kind);
const struct command *core_case_find(const struct core_case *test, enum command_kind kind, size_t nth);

/* Carries out the plan that is under way and answers it at the next step. */
void core_case_written(struct core_case *test);
void core_case_full(struct core_case *test);

/* Answers what the last step asked (scans, commits, checkpoints) until nothing more is asked. */
void core_case_settle(struct core_case *test);

struct core_queue_stats core_case_queue(const struct core_case *test, lane_index lane);

#endif
