/*
 * A core with one slot, driven by hand: for tests of single situations. The store is an array that answers when it is told to.
 *
 * A test gets it as its state: CORE_CASE_TEST(function) in the list of tests, `struct core_case *test = *state` in the function. What production
 * uses as options and what a fresh slot is gained with may be changed until core_case_begin.
 */
#ifndef TARRY_TESTS_CORE_CASE_H
#define TARRY_TESTS_CORE_CASE_H

#include "scheduler/core.h"

#define CORE_CASE_WALL INT64_C(1800000000000)
#define CORE_CASE_DAY_MS INT64_C(86400000)
#define CORE_CASE_ROWS 512
#define CORE_CASE_ROW_BYTES 10
#define CORE_CASE_ID(number) ((struct record_id){1, (number)})
#define CORE_CASE_TEST(function) cmocka_unit_test_setup_teardown(function, core_case_setup, core_case_teardown)
#define CORE_CASE_BOTH(function) /* in both modes of delivery */                                                       \
    CORE_CASE_TEST(function), {#function " (exactly once)", function, core_case_setup_exactly, core_case_teardown, NULL}

struct core_case_row {
    struct bucket_id bucket;
    int64_t offset;
    int64_t due_ms;
    struct record_id id;
    int64_t root;
};

struct core_case {
    struct core *core;
    struct core_options options;
    struct input_slot_gained gained;
    int deciding;    /* the lane of this number decides (R10); 0: none does. Set before core_case_begin */
    int64_t wall_ms; /* since CORE_CASE_WALL */
    int64_t mono_ms;
    struct input *inputs;
    size_t input_count;
    struct commands commands; /* of the last step */
    bool answered;            /* core_case_settle has answered them */
    const struct checkpoint_plan *plan; /* under way; NULL: none */
    uint64_t transaction;               /* to be answered; 0: none */
    struct copied_end copied;           /* of the answer that is given with the next step */
    uint64_t released;
    uint64_t steps;
    struct core_case_row rows[CORE_CASE_ROWS]; /* the store's, in offset order */
    size_t row_count;
    struct scanned_row scanned[4 * CORE_CASE_ROWS];
    size_t scanned_count;
    struct checkpoint_touched touched[2 * CORE_CASE_ROWS];
    size_t touched_count;
    struct bucket_stats known[CORE_CASE_ROWS]; /* as told last: a bucket's greatest key and last offset stay though their row has gone */
    size_t known_count;
    int64_t fired[CORE_CASE_ROWS]; /* offsets that core_case_deliver_all reported, in that order */
    size_t fired_count;
};

int core_case_setup(void **state);
int core_case_setup_exactly(void **state); /* with exactly_once */
int core_case_teardown(void **state);

/* Makes the core with this many lanes and gains slot 0: everything below catch_up_to is to be read first. What stands in `rows` is its checkpoint. */
void core_case_begin(struct core_case *test, int lanes, int64_t catch_up_to);

/* Pauses a lane, or lets it go on. */
void core_case_pause(struct core_case *test, lane_index lane, bool paused);

/* A row of the store at a level, before core_case_begin; due_ms as everywhere here: since CORE_CASE_WALL. */
void core_case_store(struct core_case *test, int64_t offset, int64_t due_ms, lane_index lane, unsigned level);

/* A further input for the next step, its slot and epoch set. */
struct input *core_case_input(struct core_case *test, enum input_kind kind);
void core_case_record(struct core_case *test, int64_t offset, int64_t due_ms, lane_index lane);
void core_case_position(struct core_case *test, int64_t offset);
void core_case_delivered(struct core_case *test, lane_index lane, uint64_t sequence);
/* It is delivered, and goes on as a re-append. */
void core_case_goes_on(struct core_case *test, lane_index lane, uint64_t sequence, enum copy_why why);
void core_case_failed(struct core_case *test, lane_index lane, uint64_t sequence, enum delivery_failure failure);
void core_case_full_sink(struct core_case *test, lane_index lane, uint64_t sequence);
void core_case_committed(struct core_case *test);

/* Records with an id. What the store knows of the id is looked up in `rows`. */
void core_case_event(struct core_case *test, int64_t offset, int64_t due_ms, lane_index lane, struct record_id id);
void core_case_again(struct core_case *test, int64_t offset, int64_t due_ms, lane_index lane, struct record_id id, int64_t root);
void core_case_cancel(struct core_case *test, int64_t offset, struct record_id id);

/* A conditional record of that lane; of a copy of one: its root, else -1. */
void core_case_conditional(struct core_case *test, int64_t offset, lane_index lane, struct record_id id, int64_t root);

/* A re-append of this id was written, of the record at this offset: one that a person wrote, or a re-append of this root. */
void core_case_reappended(struct core_case *test, struct record_id id, int64_t offset);
void core_case_reappended_of(struct core_case *test, struct record_id id, int64_t offset, int64_t root);

/* What is decided of a conditional record. What the store knows of the id is looked up in `rows`. */
enum decision core_case_decide(struct core_case *test, struct record_id id, int64_t root);

/* Answers the transaction that is ending. copied_end: of its copies, 0 without. */
void core_case_transacted(struct core_case *test, enum transaction_result result, int64_t copied_end);

/* The same, and steps: for those whose copies are nobody's concern. */
void core_case_end(struct core_case *test, enum transaction_result result);

/* One step with what was put in; validates, also that there is no plain commit with exactly_once. */
void core_case_step(struct core_case *test);

/* Sets both clocks on by so much, and steps. */
void core_case_wait(struct core_case *test, int64_t ms);

/* Moves to the next deadline and steps; false: there is none, or it is beyond `until_ms` (since CORE_CASE_WALL). */
bool core_case_sleep(struct core_case *test, int64_t until_ms);

/* True when the core wants to be woken in the past or now: it would spin. */
bool core_case_is_restless(const struct core_case *test);

/* Of the last step's commands: how many of a kind, and the nth of them, NULL: there is none. */
size_t core_case_count(const struct core_case *test, enum command_kind kind);
const struct command *core_case_find(const struct core_case *test, enum command_kind kind, size_t nth);

/* The nth of that kind in the last step, which must be there. */
const struct command_deliver *core_case_deliver(const struct core_case *test, size_t nth);
const struct command_copy *core_case_copy(const struct core_case *test, size_t nth);
const struct partition_frontier *core_case_commit(const struct core_case *test);
const struct command_transaction *core_case_transaction(const struct core_case *test);

/* The slot's part of the plan under way, which must be there. */
const struct checkpoint_slot *core_case_plan(const struct core_case *test);

/* Carries out the plan that is under way and answers it at the next step. */
void core_case_written(struct core_case *test);
void core_case_full(struct core_case *test);

/* Reports on all that the last step sent, and keeps it in `fired`. */
void core_case_deliver_all(struct core_case *test);

/* Answers what the last step asked (scans, commits, checkpoints) until nothing more is asked. Not transactions. */
void core_case_settle(struct core_case *test);

/* One step of that; false: nothing was asked, and none made. */
bool core_case_settle_once(struct core_case *test);

/* The world as it should be, until that moment (since CORE_CASE_WALL): everything is answered and succeeds at once. */
void core_case_run(struct core_case *test, int64_t until_ms);

struct core_queue_stats core_case_queue(const struct core_case *test, lane_index lane);
struct core_slot_stats core_case_slot(const struct core_case *test);

/* The step sent exactly the records of offsets from .. to - 1, in that order. */
void core_case_expect_delivers(const struct core_case *test, int64_t from, int64_t to);

/* The step's nth copy is of this record, and due then (since CORE_CASE_WALL). */
void core_case_expect_copy(const struct core_case *test, size_t nth, int64_t offset, int64_t due_ms);

/* The frontier of the step's transaction, which must be slot 0's alone. Borrowed as the command is. */
const struct partition_frontier *core_case_only_frontier(const struct core_case *test);

/* Reports all that the last step sent as delivered, and its transaction as committed; the next step takes it in. */
void core_case_commit_all(struct core_case *test);

void core_case_expect_ended(const struct core_case *test, uint64_t cancelled, uint64_t replaced, uint64_t skipped);

/* The step told so many outcomes; and its nth: of this control and event. */
void core_case_expect_outcomes(const struct core_case *test, size_t count);
void core_case_expect_outcome(const struct core_case *test, size_t nth, enum outcome outcome, int64_t control, int64_t event);

/* The C of the next commit, which is acknowledged. */
int64_t core_case_next_low(struct core_case *test);

#endif
