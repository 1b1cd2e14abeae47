/* See core_case.h. */
#include "tests/support/core_case.h"

#include <assert.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/memory.h"
#include "scheduler/bucket.h"

#define INPUTS_MAX 300000
#define STEPS_MAX 100000 /* of core_case_run: more is an endless loop */

int core_case_setup(void **state)
{
    struct core_case *test = memory_new(1, sizeof(*test));
    test->mono_ms = 1000;
    core_options_default(&test->options);
    test->inputs = memory_new(INPUTS_MAX, sizeof(*test->inputs));
    test->gained.epoch = 1;
    test->gained.frontier.shared.point = KEY_LEAST;
    test->gained.frontier.anchor.offset = -1;
    *state = test;
    return 0;
}

int core_case_setup_exactly(void **state)
{
    int result = core_case_setup(state);
    ((struct core_case *)*state)->options.exactly_once = true;
    return result;
}

int core_case_teardown(void **state)
{
    struct core_case *test = *state;
    core_free(test->core);
    free(test->inputs);
    free(test);
    return 0;
}

struct input *core_case_input(struct core_case *test, enum input_kind kind)
{
    assert(test->input_count < INPUTS_MAX);
    struct input *input = &test->inputs[test->input_count++];
    *input = (struct input){.kind = kind, .epoch = 1};
    return input;
}

static struct core_lane_options lane_options(const struct core_case *test, lane_index lane, bool paused)
{
    bool decides = test->deciding > 0 && lane == test->deciding;
    return (struct core_lane_options){
        .max_in_flight = 1000000, .max_in_flight_bytes = UINT64_MAX, .paused = paused, .decides = decides, .catches_up = !decides};
}

void core_case_pause(struct core_case *test, lane_index lane, bool paused)
{
    struct core_lane_options options = lane_options(test, lane, paused);
    core_lane_change(test->core, lane, &options);
}

/* ------------------------------------------------------------------------------------------------- inputs */

static struct input_record *add_record(struct core_case *test, int64_t offset)
{
    struct input_record *record = &core_case_input(test, INPUT_RECORD)->as.record;
    *record = (struct input_record){.offset = offset, .root = -1, .found = {.offset = -1}};
    return record;
}

static void make_event(struct input_record *record, int64_t due_ms, lane_index lane)
{
    record->due_ms = CORE_CASE_WALL + due_ms;
    record->lane = lane;
    record->bytes = CORE_CASE_ROW_BYTES;
    record->ref = (row_ref)record->offset + 1;
}

static struct stored_event look_up(const struct core_case *test, struct record_id id)
{
    struct stored_event found = {.offset = -1};
    for (size_t i = 0; i < test->row_count; i++) {
        const struct core_case_row *row = &test->rows[i];
        if (record_id_equal(row->id, id)) {
            found = (struct stored_event){row->offset, row->due_ms, row->root, CORE_CASE_ROW_BYTES, row->bucket.lane};
        }
    }
    return found;
}

static void give_id(const struct core_case *test, struct input_record *record, struct record_id id)
{
    record->id = id;
    record->found = look_up(test, id);
}

void core_case_record(struct core_case *test, int64_t offset, int64_t due_ms, lane_index lane)
{
    make_event(add_record(test, offset), due_ms, lane);
}

void core_case_event(struct core_case *test, int64_t offset, int64_t due_ms, lane_index lane, struct record_id id)
{
    core_case_again(test, offset, due_ms, lane, id, -1);
}

void core_case_again(struct core_case *test, int64_t offset, int64_t due_ms, lane_index lane, struct record_id id, int64_t root)
{
    struct input_record *record = add_record(test, offset);
    make_event(record, due_ms, lane);
    give_id(test, record, id);
    record->root = root;
}

void core_case_cancel(struct core_case *test, int64_t offset, struct record_id id)
{
    struct input_record *record = add_record(test, offset);
    give_id(test, record, id);
    record->cancel = true;
}

void core_case_conditional(struct core_case *test, int64_t offset, lane_index lane, struct record_id id, int64_t root)
{
    core_case_again(test, offset, -CORE_CASE_WALL, lane, id, root);
    test->inputs[test->input_count - 1].as.record.conditional = true;
}

void core_case_reappended(struct core_case *test, struct record_id id, int64_t offset)
{
    core_case_reappended_of(test, id, offset, offset);
}

void core_case_reappended_of(struct core_case *test, struct record_id id, int64_t offset, int64_t root)
{
    core_case_input(test, INPUT_REAPPENDED)->as.reappended = (struct input_reappended){id, offset, root};
}

enum decision core_case_decide(struct core_case *test, struct record_id id, int64_t root)
{
    struct stored_event found = look_up(test, id);
    return core_decide(test->core, 0, test->gained.epoch, id, root, &found);
}

void core_case_position(struct core_case *test, int64_t offset)
{
    core_case_input(test, INPUT_POSITION)->as.position.offset = offset;
}

void core_case_delivered(struct core_case *test, lane_index lane, uint64_t sequence)
{
    core_case_input(test, INPUT_DELIVERED)->as.delivery = (struct input_delivery){.lane = lane, .sequence = sequence};
}

void core_case_goes_on(struct core_case *test, lane_index lane, uint64_t sequence, enum copy_why why)
{
    core_case_input(test, INPUT_DELIVERED)->as.delivery = (struct input_delivery){.lane = lane, .sequence = sequence, .again = true, .why = why};
}

void core_case_failed(struct core_case *test, lane_index lane, uint64_t sequence, enum delivery_failure failure)
{
    core_case_input(test, INPUT_DELIVERY_FAILED)->as.delivery =
        (struct input_delivery){.lane = lane, .sequence = sequence, .failure = failure, .target_hash = 7};
}

void core_case_full_sink(struct core_case *test, lane_index lane, uint64_t sequence)
{
    core_case_input(test, INPUT_SINK_FULL)->as.delivery = (struct input_delivery){.lane = lane, .sequence = sequence};
}

void core_case_committed(struct core_case *test)
{
    core_case_input(test, INPUT_COMMIT_DONE)->as.commit = COMMIT_ACKNOWLEDGED;
}

void core_case_transacted(struct core_case *test, enum transaction_result result, int64_t copied_end)
{
    assert(test->transaction != 0);
    test->copied = (struct copied_end){0, test->gained.epoch, copied_end};
    core_case_input(test, INPUT_TRANSACTION_DONE)->as.transaction =
        (struct input_transaction){test->transaction, result, &test->copied, copied_end > 0};
    test->transaction = 0;
}

void core_case_end(struct core_case *test, enum transaction_result result)
{
    core_case_transacted(test, result, result == TRANSACTION_COMMITTED ? 1000 : 0);
    core_case_step(test);
}

/* -------------------------------------------------------------------------------------------------- steps */

void core_case_step(struct core_case *test)
{
    struct now now = {{CORE_CASE_WALL + test->wall_ms}, {test->mono_ms}};
    test->commands = core_step(test->core, now, test->inputs, test->input_count);
    test->input_count = 0;
    test->steps++;
    test->released += test->commands.release_count;
    test->answered = false;
    core_validate(test->core);
    const struct command *command = core_case_find(test, COMMAND_CHECKPOINT, 0);
    test->plan = command != NULL ? command->as.plan : test->plan;
    command = core_case_find(test, COMMAND_TRANSACTION, 0);
    test->transaction = command != NULL ? command->as.transaction.number : test->transaction;
    assert(core_case_count(test, COMMAND_TRANSACTION) <= 1);
    assert(!test->options.exactly_once || core_case_count(test, COMMAND_COMMIT) == 0);
}

void core_case_wait(struct core_case *test, int64_t ms)
{
    test->wall_ms += ms;
    test->mono_ms += ms;
    core_case_step(test);
}

/* Milliseconds until the core wants to be woken; TIME_NEVER: it does not. */
static int64_t sleep_ms(const struct core_case *test)
{
    struct core_deadline deadline = core_next_deadline(test->core);
    int64_t wall = deadline.wall.ms == TIME_NEVER    ? TIME_NEVER
                   : deadline.wall.ms < CORE_CASE_WALL / 2 ? 0
                                                     : deadline.wall.ms - CORE_CASE_WALL - test->wall_ms;
    int64_t mono = deadline.mono.ms == TIME_NEVER ? TIME_NEVER
                   : deadline.mono.ms < 0         ? 0
                                                  : deadline.mono.ms - test->mono_ms;
    int64_t ms = wall < mono ? wall : mono;
    return ms < 0 ? 0 : ms;
}

bool core_case_sleep(struct core_case *test, int64_t until_ms)
{
    int64_t ms = sleep_ms(test);
    if (ms > until_ms - test->wall_ms) {
        return false;
    }
    core_case_wait(test, ms);
    return true;
}

bool core_case_is_restless(const struct core_case *test)
{
    return sleep_ms(test) == 0;
}

size_t core_case_count(const struct core_case *test, enum command_kind kind)
{
    size_t count = 0;
    for (size_t i = 0; i < test->commands.count; i++) {
        count += test->commands.items[i].kind == kind;
    }
    return count;
}

const struct command *core_case_find(const struct core_case *test, enum command_kind kind, size_t nth)
{
    for (size_t i = 0; i < test->commands.count; i++) {
        if (test->commands.items[i].kind == kind && nth-- == 0) {
            return &test->commands.items[i];
        }
    }
    return NULL;
}

static const struct command *must_find(const struct core_case *test, enum command_kind kind, size_t nth)
{
    const struct command *command = core_case_find(test, kind, nth);
    assert(command != NULL);
    return command;
}

const struct command_deliver *core_case_deliver(const struct core_case *test, size_t nth)
{
    return &must_find(test, COMMAND_DELIVER, nth)->as.deliver;
}

const struct command_copy *core_case_copy(const struct core_case *test, size_t nth)
{
    return &must_find(test, COMMAND_COPY, nth)->as.copy;
}

const struct partition_frontier *core_case_commit(const struct core_case *test)
{
    return must_find(test, COMMAND_COMMIT, 0)->as.frontier;
}

const struct command_transaction *core_case_transaction(const struct core_case *test)
{
    return &must_find(test, COMMAND_TRANSACTION, 0)->as.transaction;
}

const struct checkpoint_slot *core_case_plan(const struct core_case *test)
{
    assert(test->plan != NULL && test->plan->slot_count == 1);
    return &test->plan->slots[0];
}

/* ---------------------------------------------------------------------------------------------- the store */

static bool same(struct bucket_id a, struct bucket_id b)
{
    return bucket_compare(a, b) == 0;
}

static void add_row(struct core_case *test, struct core_case_row row)
{
    assert(test->row_count < CORE_CASE_ROWS);
    size_t at = test->row_count++;
    for (; at > 0 && test->rows[at - 1].offset > row.offset; at--) {
        test->rows[at] = test->rows[at - 1];
    }
    test->rows[at] = row;
}

void core_case_store(struct core_case *test, int64_t offset, int64_t due_ms, lane_index lane, unsigned level)
{
    add_row(test, (struct core_case_row){bucket_of(lane, level, CORE_CASE_WALL + due_ms), offset, CORE_CASE_WALL + due_ms, RECORD_ID_NONE, -1});
}

static void touch(struct core_case *test, struct bucket_id id)
{
    for (size_t i = 0; i < test->touched_count; i++) {
        if (same(test->touched[i].stats.id, id)) {
            return;
        }
    }
    test->touched[test->touched_count++].stats.id = id;
}

static void touch_all(struct core_case *test)
{
    for (size_t i = 0; i < test->row_count; i++) {
        touch(test, test->rows[i].bucket);
    }
}

static bool is_gone(const struct core_case_row *row, const struct checkpoint_slot *part, uint32_t *trimmed)
{
    bool gone = false;
    for (size_t i = 0; i < part->drop_count && !gone; i++) {
        gone = same(row->bucket, part->drops[i]);
    }
    for (size_t i = 0; i < part->trim_count && !gone; i++) {
        const struct checkpoint_trim *trim = &part->trims[i];
        gone = same(row->bucket, trim->bucket) && row->offset < trim->below_offset && trimmed[i] < trim->rows_max;
        trimmed[i] += gone;
    }
    for (size_t i = 0; i < part->erase_count && !gone; i++) {
        const struct checkpoint_erase *erase = &part->erases[i];
        gone = row->bucket.lane == erase->lane && row->offset == erase->key.offset && row->due_ms == erase->key.due_ms;
    }
    return gone;
}

static void remove_rows(struct core_case *test, const struct checkpoint_slot *part)
{
    uint32_t trimmed[CORE_CASE_ROWS] = {0};
    size_t kept = 0;
    for (size_t i = 0; i < test->row_count; i++) {
        if (!is_gone(&test->rows[i], part, trimmed)) {
            test->rows[kept++] = test->rows[i];
        }
    }
    test->row_count = kept;
}

static void apply(struct core_case *test, const struct checkpoint_slot *part)
{
    remove_rows(test, part);
    for (size_t i = 0; i < part->split_count; i++) {
        uint32_t left = part->splits[i].rows_max;
        for (size_t j = 0; j < test->row_count && left > 0; j++) {
            struct core_case_row *row = &test->rows[j];
            if (same(row->bucket, part->splits[i].from)) {
                row->bucket = bucket_of(row->bucket.lane, row->bucket.level - 1U, row->due_ms);
                left--;
            }
        }
    }
    for (size_t i = 0; i < part->row_count; i++) {
        const struct checkpoint_row *row = &part->rows[i];
        add_row(test, (struct core_case_row){row->bucket, row->offset, row->due_ms, row->id, row->root});
    }
}

static struct bucket_stats stats_of(const struct core_case *test, struct bucket_id id)
{
    struct bucket_stats stats = {.id = id, .least_offset = INT64_MAX, .greatest = KEY_LEAST};
    for (size_t i = 0; i < test->row_count; i++) {
        struct key key = {test->rows[i].due_ms, test->rows[i].offset};
        if (!same(test->rows[i].bucket, id)) {
            continue;
        }
        stats.count++;
        stats.bytes += CORE_CASE_ROW_BYTES;
        stats.least_offset = key.offset < stats.least_offset ? key.offset : stats.least_offset;
        stats.last_offset = key.offset;
        stats.greatest = key_compare(key, stats.greatest) > 0 ? key : stats.greatest;
    }
    return stats;
}

/* Takes over what the bucket held once, as the store remembers it while there is any row. */
static void remember(struct core_case *test, struct bucket_stats *stats)
{
    size_t i = 0;
    while (i < test->known_count && !same(test->known[i].id, stats->id)) {
        i++;
    }
    if (i < test->known_count && test->known[i].count > 0 && stats->count > 0) {
        const struct bucket_stats *known = &test->known[i];
        stats->last_offset = known->last_offset > stats->last_offset ? known->last_offset : stats->last_offset;
        stats->greatest = key_compare(known->greatest, stats->greatest) > 0 ? known->greatest : stats->greatest;
    }
    assert(i < CORE_CASE_ROWS);
    test->known_count += i == test->known_count;
    test->known[i] = *stats;
}

/* Every bucket that has rows, and those that had some: more than was touched, which does no harm. */
void core_case_written(struct core_case *test)
{
    const struct checkpoint_slot *part = core_case_plan(test);
    test->touched_count = 0;
    touch_all(test);
    apply(test, part);
    touch_all(test);
    for (size_t i = 0; i < test->touched_count; i++) {
        struct bucket_stats stats = stats_of(test, test->touched[i].stats.id);
        remember(test, &stats);
        test->touched[i] = (struct checkpoint_touched){part->slot, part->epoch, stats};
    }
    core_case_input(test, INPUT_CHECKPOINT_DONE)->as.checkpoint =
        (struct input_checkpoint){CHECKPOINT_WRITTEN, test->touched, test->touched_count};
    test->plan = NULL;
}

void core_case_full(struct core_case *test)
{
    core_case_input(test, INPUT_CHECKPOINT_DONE)->as.checkpoint = (struct input_checkpoint){.result = CHECKPOINT_FULL};
    test->plan = NULL;
}

void core_case_begin(struct core_case *test, int lanes, int64_t catch_up_to)
{
    static struct bucket_stats buckets[CORE_CASE_ROWS];
    test->core = core_new(&test->options);
    for (int i = 0; i < lanes; i++) {
        struct core_lane_options options = lane_options(test, (lane_index)i, false);
        (void)core_lane_add(test->core, &options);
    }
    touch_all(test);
    for (size_t i = 0; i < test->touched_count; i++) {
        buckets[i] = stats_of(test, test->touched[i].stats.id);
        remember(test, &buckets[i]);
    }
    test->gained.catch_up_to = catch_up_to;
    test->gained.buckets = buckets;
    test->gained.bucket_count = test->touched_count;
    core_case_input(test, INPUT_SLOT_GAINED)->as.gained = &test->gained;
    core_case_step(test);
}

/* ------------------------------------------------------------------------------------------------ answers */

static void answer_scan(struct core_case *test, const struct command_scan *scan)
{
    struct scanned_row *rows = &test->scanned[test->scanned_count];
    size_t count = 0;
    bool end = true;
    for (size_t i = 0; i < test->row_count && end; i++) {
        const struct core_case_row *row = &test->rows[i];
        if (!same(row->bucket, scan->bucket) || row->offset < scan->from_offset || row->offset >= scan->below_offset) {
            continue;
        }
        if (count == scan->rows_max) {
            end = false;
        } else {
            assert(test->scanned_count + count < sizeof(test->scanned) / sizeof(*test->scanned));
            rows[count++] = (struct scanned_row){row->offset, row->due_ms, CORE_CASE_ROW_BYTES};
        }
    }
    test->scanned_count += count;
    core_case_input(test, INPUT_ROWS)->as.rows =
        (struct input_rows){.bucket = scan->bucket, .purpose = scan->purpose, .rows = rows, .count = count, .end = end};
}

/* Puts the answers in; false: nothing was asked. */
static bool answer_all(struct core_case *test)
{
    test->scanned_count = 0;
    for (size_t i = 0; i < test->commands.count && !test->answered; i++) {
        if (test->commands.items[i].kind == COMMAND_SCAN) {
            answer_scan(test, &test->commands.items[i].as.scan);
        } else if (test->commands.items[i].kind == COMMAND_COMMIT) {
            core_case_committed(test);
        }
    }
    test->answered = true;
    if (test->plan != NULL) {
        core_case_written(test);
    }
    return test->input_count > 0;
}

bool core_case_settle_once(struct core_case *test)
{
    bool asked = answer_all(test);
    if (asked) {
        core_case_step(test);
    }
    return asked;
}

void core_case_settle(struct core_case *test)
{
    while (core_case_settle_once(test)) {
    }
}

void core_case_deliver_all(struct core_case *test)
{
    for (size_t i = 0; i < core_case_count(test, COMMAND_DELIVER); i++) {
        const struct command_deliver *deliver = core_case_deliver(test, i);
        assert(test->fired_count < CORE_CASE_ROWS);
        test->fired[test->fired_count++] = deliver->key.offset;
        core_case_delivered(test, deliver->lane, deliver->sequence);
    }
}

static bool answer_world(struct core_case *test)
{
    if (!test->answered) {
        core_case_deliver_all(test);
    }
    if (test->transaction != 0) {
        core_case_transacted(test, TRANSACTION_COMMITTED, 0);
    }
    return answer_all(test);
}

void core_case_run(struct core_case *test, int64_t until_ms)
{
    uint64_t steps_max = test->steps + STEPS_MAX;
    do {
        while (answer_world(test)) {
            core_case_step(test);
            assert(test->steps < steps_max);
        }
        assert(test->steps < steps_max);
    } while (core_case_sleep(test, until_ms));
}

struct core_queue_stats core_case_queue(const struct core_case *test, lane_index lane)
{
    struct core_queue_stats stats;
    core_queue_stats(test->core, 0, lane, (struct now){{CORE_CASE_WALL + test->wall_ms}, {test->mono_ms}}, &stats);
    return stats;
}

struct core_slot_stats core_case_slot(const struct core_case *test)
{
    struct core_slot_stats stats;
    core_slot_stats(test->core, 0, &stats);
    return stats;
}

void core_case_expect_copy(const struct core_case *test, size_t nth, int64_t offset, int64_t due_ms)
{
    const struct command_copy *copy = core_case_copy(test, nth);
    assert_int_equal(copy->key.offset, offset);
    assert_int_equal(copy->due_ms - CORE_CASE_WALL, due_ms);
}

void core_case_expect_delivers(const struct core_case *test, int64_t from, int64_t to)
{
    assert_int_equal(core_case_count(test, COMMAND_DELIVER), to - from);
    for (int64_t i = from; i < to; i++) {
        assert_int_equal(core_case_deliver(test, (size_t)(i - from))->key.offset, i);
    }
}

const struct partition_frontier *core_case_only_frontier(const struct core_case *test)
{
    assert_int_equal(core_case_transaction(test)->slot_count, 1);
    assert_int_equal(core_case_transaction(test)->slots[0].slot, 0);
    assert_int_equal(core_case_transaction(test)->slots[0].epoch, 1);
    return core_case_transaction(test)->slots[0].frontier;
}

void core_case_commit_all(struct core_case *test)
{
    for (size_t i = 0; i < core_case_count(test, COMMAND_DELIVER); i++) {
        const struct command_deliver *deliver = core_case_deliver(test, i);
        core_case_delivered(test, deliver->lane, deliver->sequence);
    }
    core_case_transacted(test, TRANSACTION_COMMITTED, 0);
}

void core_case_expect_ended(const struct core_case *test, uint64_t cancelled, uint64_t replaced, uint64_t skipped)
{
    assert_int_equal(core_case_slot(test).cancelled, cancelled);
    assert_int_equal(core_case_slot(test).replaced, replaced);
    assert_int_equal(core_case_slot(test).skipped, skipped);
}

void core_case_expect_outcomes(const struct core_case *test, size_t count)
{
    assert_int_equal(core_case_count(test, COMMAND_OUTCOME), count);
}

void core_case_expect_outcome(const struct core_case *test, size_t nth, enum outcome outcome, int64_t control, int64_t event)
{
    const struct command *command = core_case_find(test, COMMAND_OUTCOME, nth);
    assert_non_null(command);
    assert_int_equal(command->as.outcome.outcome, outcome);
    assert_int_equal(command->as.outcome.control_offset, control);
    assert_int_equal(command->as.outcome.event_offset, event);
}

int64_t core_case_next_low(struct core_case *test)
{
    core_case_wait(test, 250);
    int64_t low = core_case_commit(test)->low_offset;
    core_case_settle(test);
    return low;
}
