/* See core_case.h. */
#include "tests/support/core_case.h"

#include <assert.h>
#include <stdlib.h>

#include "base/memory.h"
#include "scheduler/bucket.h"

#define INPUTS_MAX 300000

void core_case_init(struct core_case *test)
{
    *test = (struct core_case){.mono_ms = 1000};
    core_options_default(&test->options);
    test->inputs = memory_new(INPUTS_MAX, sizeof(*test->inputs));
}

struct input *core_case_input(struct core_case *test, enum input_kind kind)
{
    assert(test->input_count < INPUTS_MAX);
    struct input *input = &test->inputs[test->input_count++];
    *input = (struct input){.kind = kind, .epoch = 1};
    return input;
}

void core_case_begin(struct core_case *test, int lanes, int64_t catch_up_to)
{
    static struct input_slot_gained gained;
    test->core = core_new(&test->options);
    for (int i = 0; i < lanes; i++) {
        (void)core_lane_add(test->core,
                            &(struct core_lane_options){.max_in_flight = 1000000, .max_in_flight_bytes = UINT64_MAX});
    }
    gained = (struct input_slot_gained){.epoch = 1, .catch_up_to = catch_up_to};
    gained.frontier.shared.point = KEY_LEAST;
    gained.frontier.anchor.offset = -1;
    core_case_input(test, INPUT_SLOT_GAINED)->as.gained = &gained;
    core_case_step(test);
}

void core_case_end(struct core_case *test)
{
    core_free(test->core);
    free(test->inputs);
}

void core_case_record(struct core_case *test, int64_t offset, int64_t due_ms, lane_index lane)
{
    core_case_input(test, INPUT_RECORD)->as.record = (struct input_record){
        .offset = offset, .due_ms = CORE_CASE_WALL + due_ms, .lane = lane, .bytes = 10, .ref = (row_ref)offset + 1};
}

void core_case_delivered(struct core_case *test, lane_index lane, uint64_t sequence)
{
    core_case_input(test, INPUT_DELIVERED)->as.delivery = (struct input_delivery){.lane = lane, .sequence = sequence};
}

void core_case_failed(struct core_case *test, lane_index lane, uint64_t sequence, enum delivery_failure failure)
{
    core_case_input(test, INPUT_DELIVERY_FAILED)->as.delivery =
        (struct input_delivery){.lane = lane, .sequence = sequence, .failure = failure, .target_hash = 7};
}

void core_case_committed(struct core_case *test)
{
    core_case_input(test, INPUT_COMMIT_DONE)->as.commit = COMMIT_ACKNOWLEDGED;
}

void core_case_step(struct core_case *test)
{
    struct now now = {{CORE_CASE_WALL + test->wall_ms}, {test->mono_ms}};
    test->commands = core_step(test->core, now, test->inputs, test->input_count);
    test->input_count = 0;
    test->steps++;
    test->released += test->commands.release_count;
    core_validate(test->core);
    const struct command *command = core_case_find(test, COMMAND_CHECKPOINT, 0);
    test->plan = command != NULL ? command->as.plan : test->plan;
}

void core_case_wait(struct core_case *test, int64_t ms)
{
    test->wall_ms += ms;
    test->mono_ms += ms;
    core_case_step(test);
}

bool core_case_sleep(struct core_case *test, int64_t until_ms)
{
    struct core_deadline deadline = core_next_deadline(test->core);
    int64_t wall = deadline.wall.ms == TIME_NEVER ? TIME_NEVER : deadline.wall.ms - CORE_CASE_WALL - test->wall_ms;
    int64_t mono = deadline.mono.ms == TIME_NEVER ? TIME_NEVER
                   : deadline.mono.ms < 0         ? 0
                                                  : deadline.mono.ms - test->mono_ms;
    int64_t ms = wall < mono ? wall : mono;
    if (ms > until_ms - test->wall_ms) {
        return false;
    }
    core_case_wait(test, ms < 0 ? 0 : ms);
    return true;
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

static void apply(struct core_case *test, const struct checkpoint_slot *part)
{
    for (size_t i = 0; i < part->drop_count; i++) {
        size_t kept = 0;
        for (size_t j = 0; j < test->row_count; j++) {
            if (!same(test->rows[j].bucket, part->drops[i])) {
                test->rows[kept++] = test->rows[j];
            }
        }
        test->row_count = kept;
    }
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
        add_row(test, (struct core_case_row){part->rows[i].bucket, part->rows[i].offset, part->rows[i].due_ms});
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
        stats.bytes += 10;
        stats.least_offset = key.offset < stats.least_offset ? key.offset : stats.least_offset;
        stats.last_offset = key.offset;
        stats.greatest = key_compare(key, stats.greatest) > 0 ? key : stats.greatest;
    }
    return stats;
}

/* Every bucket that has rows, and those that were dropped or split: more than was touched, which does no harm. */
static size_t
list_touched(const struct core_case *test, const struct checkpoint_slot *part, struct checkpoint_touched *touched)
{
    size_t count = 0;
    for (size_t i = 0; i < test->row_count; i++) {
        touched[count++].stats = stats_of(test, test->rows[i].bucket);
    }
    for (size_t i = 0; i < part->drop_count; i++) {
        touched[count++].stats = stats_of(test, part->drops[i]);
    }
    for (size_t i = 0; i < part->split_count; i++) {
        touched[count++].stats = stats_of(test, part->splits[i].from);
    }
    for (size_t i = 0; i < count; i++) {
        touched[i].slot = part->slot;
        touched[i].epoch = part->epoch;
    }
    return count;
}

void core_case_written(struct core_case *test)
{
    static struct checkpoint_touched touched[4 * CORE_CASE_ROWS];
    apply(test, &test->plan->slots[0]);
    size_t count = list_touched(test, &test->plan->slots[0], touched);
    core_case_input(test, INPUT_CHECKPOINT_DONE)->as.checkpoint =
        (struct input_checkpoint){CHECKPOINT_WRITTEN, touched, count};
    test->plan = NULL;
}

void core_case_full(struct core_case *test)
{
    core_case_input(test, INPUT_CHECKPOINT_DONE)->as.checkpoint = (struct input_checkpoint){.result = CHECKPOINT_FULL};
    test->plan = NULL;
}

static void answer_scan(struct core_case *test, const struct command_scan *scan)
{
    static struct scanned_row rows[CORE_CASE_ROWS];
    size_t count = 0;
    for (size_t i = 0; i < test->row_count; i++) {
        const struct core_case_row *row = &test->rows[i];
        if (same(row->bucket, scan->bucket) && row->offset >= scan->from_offset && row->offset < scan->below_offset) {
            rows[count++] = (struct scanned_row){row->offset, row->due_ms, 10};
        }
    }
    core_case_input(test, INPUT_ROWS)->as.rows = (struct input_rows){scan->bucket, rows, count, true};
}

/* Puts the answers in; false: nothing was asked. */
static bool answer_all(struct core_case *test)
{
    for (size_t i = 0; i < test->commands.count; i++) {
        const struct command *command = &test->commands.items[i];
        if (command->kind == COMMAND_SCAN) {
            answer_scan(test, &command->as.scan);
            break; /* its rows stand in one array: tests with several lanes answer by themselves */
        }
    }
    if (core_case_count(test, COMMAND_COMMIT) > 0) {
        core_case_committed(test);
    }
    if (test->plan != NULL) {
        core_case_written(test);
    }
    return test->input_count > 0;
}

void core_case_settle(struct core_case *test)
{
    while (answer_all(test)) {
        core_case_step(test);
    }
}

struct core_queue_stats core_case_queue(const struct core_case *test, lane_index lane)
{
    struct core_queue_stats stats;
    core_queue_stats(test->core, 0, lane, (struct now){{CORE_CASE_WALL + test->wall_ms}, {test->mono_ms}}, &stats);
    return stats;
}
