/*
 * A million records that came due while nothing ran, in one lane: they leave in due order at their rate, within the memory's limit, and what comes due from then
 * on, scheduled before or read just now, leaves on time. The rows are computed; every answer takes a millisecond.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "scheduler/bucket.h"
#include "scheduler/core.h"

#define WALL_0 INT64_C(1800000000000)
#define OVERDUE INT64_C(1000000)
#define COMING INT64_C(3000) /* in the store too, and due after the start */
#define STORED (OVERDUE + COMING)
#define EVERY_MS 20
#define ROW_BYTES 100u
#define ENTRIES_MAX 100000u
#define RATE 20000u
#define LATE_MAX_MS 4 /* one to be read, one for the transaction before, and one each way */
#define LISTS 64

#define CHECK(condition)                                                                                               \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            (void)fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);                                      \
            exit(EXIT_FAILURE);                                                                                        \
        }                                                                                                              \
    } while (0)

struct scene {
    struct core *core;
    struct now now;
    struct input *inputs;
    size_t count;
    size_t capacity;
    struct scanned_row *lists[LISTS]; /* borrowed by the inputs */
    size_t list_count;
    int64_t position;
    int64_t overdue_next; /* offset of the one that is to leave next: they were scheduled in the order in which they are due */
    int64_t on_time;
    int64_t late_ms;
    uint64_t entries_most;
};

/* Rising with the offset: a bucket is a range of offsets. The last overdue one was due 20 s before the start. */
static int64_t due_of(int64_t offset)
{
    return offset < OVERDUE ? WALL_0 - 20000 - (OVERDUE - offset) : WALL_0 + 5000 + (offset - OVERDUE) * EVERY_MS;
}

static struct input *add(struct scene *scene, enum input_kind kind)
{
    if (scene->count == scene->capacity) {
        scene->capacity = scene->capacity == 0 ? 1024 : scene->capacity * 2;
        scene->inputs = memory_resize(scene->inputs, scene->capacity, sizeof(*scene->inputs));
    }
    struct input *input = &scene->inputs[scene->count++];
    *input = (struct input){.kind = kind, .epoch = 1};
    return input;
}

static int64_t first_from(int64_t due_ms)
{
    int64_t low = 0;
    int64_t high = STORED;
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (due_of(middle) < due_ms) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

static void answer_scan(struct scene *scene, const struct command_scan *scan)
{
    int64_t from = first_from(bucket_start_ms(scan->bucket));
    int64_t end = first_from(bucket_end_ms(scan->bucket));
    from = scan->from_offset > from ? scan->from_offset : from;
    int64_t count = from < end ? end - from : 0;
    count = count < scan->rows_max ? count : scan->rows_max;
    struct scanned_row *rows = memory_new((size_t)count + 1, sizeof(*rows));
    for (int64_t i = 0; i < count; i++) {
        rows[i] = (struct scanned_row){from + i, due_of(from + i), ROW_BYTES};
    }
    CHECK(scene->list_count < LISTS);
    scene->lists[scene->list_count++] = rows;
    add(scene, INPUT_ROWS)->as.rows = (struct input_rows){scan->bucket, scan->purpose, rows, (size_t)count, from + count >= end};
}

static void deliver(struct scene *scene, const struct command_deliver *order)
{
    int64_t late_ms = scene->now.wall.ms - order->key.due_ms;
    CHECK(late_ms >= 0 && order->lane == 0);
    if (order->key.offset < OVERDUE) {
        CHECK(order->key.offset == scene->overdue_next);
        scene->overdue_next++;
    } else {
        scene->on_time++;
        scene->late_ms = late_ms > scene->late_ms ? late_ms : scene->late_ms;
    }
    add(scene, INPUT_DELIVERED)->as.delivery = (struct input_delivery){.lane = 0, .sequence = order->sequence};
}

static void answer(struct scene *scene, const struct command *command)
{
    if (command->kind == COMMAND_SCAN) {
        answer_scan(scene, &command->as.scan);
    } else if (command->kind == COMMAND_DELIVER) {
        deliver(scene, &command->as.deliver);
    } else if (command->kind == COMMAND_COMMIT) {
        add(scene, INPUT_COMMIT_DONE)->as.commit = COMMIT_ACKNOWLEDGED;
    } else if (command->kind == COMMAND_TRANSACTION) {
        add(scene, INPUT_TRANSACTION_DONE)->as.transaction =
            (struct input_transaction){.number = command->as.transaction.number, .result = TRANSACTION_COMMITTED};
    } else {
        CHECK(command->kind != COMMAND_CHECKPOINT);
    }
}

/* One step, and a millisecond. */
static void step(struct scene *scene)
{
    struct input *inputs = scene->inputs;
    size_t count = scene->count;
    struct scanned_row *borrowed[LISTS];
    size_t lists = scene->list_count;
    memcpy(borrowed, scene->lists, sizeof(borrowed));
    scene->inputs = NULL;
    scene->count = 0;
    scene->capacity = 0;
    scene->list_count = 0;
    struct commands commands = core_step(scene->core, scene->now, inputs, count);
    for (size_t i = 0; i < commands.count; i++) {
        answer(scene, &commands.items[i]);
    }
    for (size_t i = 0; i < lists; i++) {
        free(borrowed[i]);
    }
    free(inputs);
    struct core_stats stats;
    core_stats(scene->core, &stats);
    scene->entries_most = stats.entries > scene->entries_most ? stats.entries : scene->entries_most;
    scene->now.wall.ms++;
    scene->now.mono.ms++;
}

static void gain(struct scene *scene)
{
    struct input_slot_gained *gained = memory_new(1, sizeof(*gained));
    int64_t first = bucket_of(0, 0, due_of(0)).number;
    size_t most = (size_t)(bucket_of(0, 0, due_of(STORED - 1)).number - first) + 1;
    struct bucket_stats *buckets = memory_new(most, sizeof(*buckets));
    for (size_t i = 0; i < most; i++) {
        struct bucket_id id = {0, 0, first + (int64_t)i};
        int64_t from = first_from(bucket_start_ms(id));
        int64_t end = first_from(bucket_end_ms(id));
        uint64_t count = (uint64_t)(end - from);
        if (count > 0) {
            buckets[gained->bucket_count++] = (struct bucket_stats){id, count, count * ROW_BYTES, from, end - 1, {due_of(end - 1), end - 1}};
        }
    }
    gained->epoch = 1;
    gained->position = STORED;
    gained->catch_up_to = STORED;
    gained->high = STORED;
    gained->frontier.anchor.offset = -1;
    gained->frontier.shared = (struct frontier_pair){KEY_LEAST, 0};
    gained->stored_position = STORED;
    gained->buckets = buckets;
    scene->position = STORED;
    add(scene, INPUT_SLOT_GAINED)->as.gained = gained;
    step(scene);
    free(buckets);
    free(gained);
}

/* An event that is due in some milliseconds, or at once. */
static void produce(struct scene *scene)
{
    int64_t offset = scene->position++;
    add(scene, INPUT_RECORD)->as.record = (struct input_record){.offset = offset,
                                                                .due_ms = scene->now.wall.ms + offset % 3 * 50,
                                                                .bytes = ROW_BYTES,
                                                                .ref = (row_ref)offset,
                                                                .root = -1,
                                                                .found = {.offset = -1}};
}

static void run(bool exactly_once)
{
    struct scene scene = {.now = {{WALL_0}, {1000}}};
    struct core_options options;
    core_options_default(&options);
    options.entries_max = ENTRIES_MAX;
    options.checkpoint_ms = INT64_MAX / 4; /* not looked at here */
    options.exactly_once = exactly_once;
    options.catch_up_per_s = RATE;
    scene.core = core_new(&options);
    struct core_lane_options lane = {.max_in_flight = 10000, .max_in_flight_bytes = 64 << 20, .catches_up = true};
    (void)core_lane_add(scene.core, &lane);
    gain(&scene);
    int64_t ms = 0;
    for (; ms < COMING * EVERY_MS + 6000; ms++) {
        if (ms % EVERY_MS == 0) {
            produce(&scene);
        }
        step(&scene);
        CHECK(scene.overdue_next <= (ms + 102) * RATE / 1000);
    }
    struct core_slot_stats slot;
    core_slot_stats(scene.core, 0, &slot);
    core_validate(scene.core);
    (void)printf("%s: %" PRId64 " overdue at %u a second, %" PRId64 " others at most %" PRId64 " ms late, at most %" PRIu64 " in memory\n",
                 exactly_once ? "exactly once" : "at least once", scene.overdue_next, RATE, scene.on_time, scene.late_ms, scene.entries_most);
    CHECK(scene.overdue_next == OVERDUE && slot.lanes_behind == 0);
    CHECK(scene.on_time >= COMING + ms / EVERY_MS - 10 && scene.late_ms <= LATE_MAX_MS);
    CHECK(scene.entries_most <= ENTRIES_MAX + options.scan_rows_max + options.late_max);
    for (size_t i = 0; i < scene.list_count; i++) {
        free(scene.lists[i]);
    }
    free(scene.inputs);
    core_free(scene.core);
}

int main(void)
{
    run(false);
    run(true);
    return EXIT_SUCCESS;
}
