/*
 * A hundred million overdue rows of a lane that is paused, and then goes on: memory stays within the limit all the time.
 *
 * The disk is a formula: row i of the one bucket has offset i and a due of its own; a scan computes its rows. Only some of them are
 * delivered: enough to see that the window moves on with what is taken.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "scheduler/bucket.h"
#include "scheduler/core.h"

#define ROWS UINT64_C(100000000)
#define ROW_BYTES 100u
#define BUCKETS UINT64_C(1000)
#define ROWS_OF_ONE (ROWS / BUCKETS)
#define WALL_0 INT64_C(1800000000000)
#define ENTRIES_MAX 300000u
#define DELIVERED_ENOUGH 10000000u

struct scene {
    struct core *core;
    struct now now;
    struct input *inputs; /* for the next step */
    size_t count;
    size_t capacity;
    struct scanned_row *rows[64]; /* borrowed by them */
    size_t row_lists;
    uint64_t scans;
    uint64_t delivered;
    int64_t last_due_ms;
    uint64_t entries_most;
};

#define CHECK(condition)                                                                                               \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            (void)fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);                                      \
            exit(EXIT_FAILURE);                                                                                        \
        }                                                                                                              \
    } while (0)

static struct input *add(struct scene *scene, enum input_kind kind)
{
    if (scene->count == scene->capacity) {
        scene->capacity = scene->capacity * 2 + 64;
        scene->inputs = memory_resize(scene->inputs, scene->capacity, sizeof(*scene->inputs));
    }
    struct input *input = &scene->inputs[scene->count++];
    *input = (struct input){.kind = kind, .slot = 0, .epoch = 1};
    return input;
}

/* Bucket b (0 is the oldest) has offsets [b * ROWS_OF_ONE, (b + 1) * ROWS_OF_ONE). */
static struct bucket_id bucket_at(uint64_t number)
{
    return bucket_of(0, 0, WALL_0 - (int64_t)(BUCKETS - number + 1) * bucket_width_ms(0));
}

static int64_t due_of(uint64_t offset)
{
    return bucket_start_ms(bucket_at(offset / ROWS_OF_ONE)) + (int64_t)(offset % ROWS_OF_ONE * 8000 / ROWS_OF_ONE);
}

static void answer_scan(struct scene *scene, const struct command_scan *scan)
{
    uint64_t number = (uint64_t)(scan->bucket.number - bucket_at(0).number);
    int64_t first = (int64_t)(number * ROWS_OF_ONE);
    int64_t end = first + (int64_t)ROWS_OF_ONE < scan->below_offset ? first + (int64_t)ROWS_OF_ONE : scan->below_offset;
    int64_t from = scan->from_offset > first ? scan->from_offset : first;
    size_t count = from >= end ? 0 : (size_t)(end - from);
    count = count < scan->rows_max ? count : scan->rows_max;
    struct scanned_row *rows = memory_new(count + 1, sizeof(*rows));
    for (size_t i = 0; i < count; i++) {
        rows[i] = (struct scanned_row){from + (int64_t)i, due_of((uint64_t)from + i), ROW_BYTES};
    }
    CHECK(scan->bucket.level == 0 && number < BUCKETS && scene->row_lists < 64);
    scene->rows[scene->row_lists++] = rows;
    scene->scans++;
    add(scene, INPUT_ROWS)->as.rows =
        (struct input_rows){scan->bucket, scan->purpose, rows, count, from + (int64_t)count >= end};
}

static void answer(struct scene *scene, const struct command *command)
{
    if (command->kind == COMMAND_SCAN) {
        answer_scan(scene, &command->as.scan);
    } else if (command->kind == COMMAND_DELIVER) {
        const struct command_deliver *order = &command->as.deliver;
        CHECK(order->key.due_ms == due_of((uint64_t)order->key.offset) && order->key.due_ms >= scene->last_due_ms);
        scene->last_due_ms = order->key.due_ms;
        scene->delivered++;
        add(scene, INPUT_DELIVERED)->as.delivery =
            (struct input_delivery){.lane = order->lane, .sequence = order->sequence};
    } else if (command->kind == COMMAND_COMMIT) {
        add(scene, INPUT_COMMIT_DONE)->as.commit = COMMIT_ACKNOWLEDGED;
    } else if (command->kind == COMMAND_CHECKPOINT) {
        CHECK(command->as.plan->slots[0].row_count == 0);
        size_t drops = command->as.plan->slots[0].drop_count;
        struct checkpoint_touched *touched = memory_new(drops + 1, sizeof(*touched));
        for (size_t i = 0; i < drops; i++) {
            touched[i] = (struct checkpoint_touched){0, 1, {.id = command->as.plan->slots[0].drops[i]}};
        }
        CHECK(scene->row_lists < 64);
        scene->rows[scene->row_lists++] = (struct scanned_row *)(void *)touched;
        add(scene, INPUT_CHECKPOINT_DONE)->as.checkpoint =
            (struct input_checkpoint){CHECKPOINT_WRITTEN, touched, drops};
    }
}

/* One step, and a millisecond. */
static void step(struct scene *scene)
{
    struct input *inputs = scene->inputs;
    size_t count = scene->count;
    struct scanned_row *borrowed[64];
    size_t lists = scene->row_lists;
    memcpy(borrowed, scene->rows, sizeof(borrowed));
    scene->inputs = NULL;
    scene->count = 0;
    scene->capacity = 0;
    scene->row_lists = 0;
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
    struct bucket_stats *buckets = memory_new(BUCKETS, sizeof(*buckets));
    for (uint64_t i = 0; i < BUCKETS; i++) {
        int64_t first = (int64_t)(i * ROWS_OF_ONE);
        int64_t last = first + (int64_t)ROWS_OF_ONE - 1;
        buckets[i] = (struct bucket_stats){bucket_at(i), ROWS_OF_ONE, ROWS_OF_ONE * ROW_BYTES, first, last,
                                           {due_of((uint64_t)last), last}};
    }
    gained->epoch = 1;
    gained->position = (int64_t)ROWS;
    gained->catch_up_to = (int64_t)ROWS;
    gained->high = (int64_t)ROWS;
    gained->frontier.anchor.offset = -1;
    gained->frontier.shared = (struct frontier_pair){KEY_LEAST, 0};
    gained->stored_position = (int64_t)ROWS;
    gained->buckets = buckets;
    gained->bucket_count = BUCKETS;
    add(scene, INPUT_SLOT_GAINED)->as.gained = gained;
    step(scene);
    free(buckets);
    free(gained);
}

int main(void)
{
    struct scene scene = {.now = {{WALL_0}, {1000}}, .last_due_ms = INT64_MIN};
    struct core_options options;
    core_options_default(&options);
    options.entries_max = ENTRIES_MAX;
    scene.core = core_new(&options);
    struct core_lane_options lane = {.max_in_flight = 10000, .max_in_flight_bytes = 64 << 20, .paused = true};
    (void)core_lane_add(scene.core, &lane);
    gain(&scene);
    for (int i = 0; i < 3000; i++) {
        step(&scene);
    }
    CHECK(scene.delivered == 0);
    CHECK(scene.entries_most > 0);
    uint64_t scans = scene.scans;
    for (int i = 0; i < 3000; i++) {
        step(&scene);
    }
    CHECK(scene.scans == scans); /* it holds what it may, and rests */
    struct core_queue_stats stats;
    core_queue_stats(scene.core, 0, 0, scene.now, &stats);
    CHECK(stats.pending == ROWS);
    lane.paused = false;
    core_lane_change(scene.core, 0, &lane);
    while (scene.delivered < DELIVERED_ENOUGH) {
        step(&scene);
    }
    core_validate(scene.core);
    CHECK(scene.entries_most <= ENTRIES_MAX + options.scan_rows_max + options.late_max);
    (void)printf("%llu rows overdue, at most %llu in memory, %llu delivered in order, %llu scans\n",
                 (unsigned long long)ROWS, (unsigned long long)scene.entries_most,
                 (unsigned long long)scene.delivered, (unsigned long long)scene.scans);
    for (size_t i = 0; i < scene.row_lists; i++) {
        free(scene.rows[i]);
    }
    free(scene.inputs);
    core_free(scene.core);
    return EXIT_SUCCESS;
}
