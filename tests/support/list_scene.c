/* See list_scene.h. */
#include "support/list_scene.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/buffer.h"
#include "base/memory.h"
#include "bridge/row.h"
#include "ops/lanes.h"
#include "scheduler/bucket.h"
#include "support/temp.h"

static void must(bool done, const struct error *error)
{
    if (!done) {
        fail_msg("%s", error->text);
    }
}

static void bind(struct list_scene *scene)
{
    static const char *const lanes[LIST_SCENE_LANES] = {LANES_DEFAULT_NAME, LANES_REFUSED_NAME, LANES_UNDECIDED_NAME, "orders"};
    struct error error = {0};
    for (lane_index lane = 0; lane < (lane_index)LIST_SCENE_LANES; lane++) {
        must(store_bind_lane(scene->store, lane, lanes[lane], &error), &error);
    }
    for (slot_index slot = 0; slot < LIST_SCENE_PLACES; slot++) {
        struct store_partition partition;
        must(store_bind_slot(scene->store, slot, scene->places[slot].topic, scene->places[slot].partition, &partition, &error), &error);
        free(partition.buckets);
        free(partition.marks);
        free(partition.skips);
    }
}

struct list_scene *list_scene_new(void)
{
    struct list_scene *scene = memory_new(1, sizeof(*scene));
    struct error error = {0};
    char path[256];
    scene->folder = temp_directory("tarry-list");
    (void)snprintf(path, sizeof(path), "%s/store", scene->folder);
    scene->places[0] = (struct api_list_place){"a", 0};
    scene->places[1] = (struct api_list_place){"a", 1};
    scene->places[2] = (struct api_list_place){"b", 0};
    scene->metadata.anchor.offset = -1;
    scene->metadata.shared.point = KEY_LEAST;
    struct store_options options = {path, (uint64_t)1 << 32};
    must(store_open(&options, &scene->store, &error), &error);
    bind(scene);
    return scene;
}

void list_scene_free(struct list_scene *scene)
{
    store_close(scene->store);
    temp_remove(scene->folder);
    for (size_t i = 0; i < scene->count; i++) {
        free(scene->rows[i].bytes);
    }
    free(scene);
}

struct list_scene_row *list_scene_add(struct list_scene *scene, uint32_t place, int64_t due_ms)
{
    assert_true(scene->count < LIST_SCENE_ROWS);
    struct list_scene_row *row = &scene->rows[scene->count];
    *row = (struct list_scene_row){.place = place, .offset = (int64_t)scene->count, .due_ms = due_ms, .target = "events"};
    scene->count++;
    return row;
}

static void encode(struct list_scene_row *row)
{
    struct buffer buffer = buffer_new(1 << 20);
    struct error error = {0};
    struct record record = {.value = span_of_text("value"), .offset = row->offset, .timestamp_ms = -1};
    struct decoded decoded = {.due_ms = row->paused ? LIST_SCENE_NOW : row->due_ms,
                              .target = span_of_text(row->target),
                              .partition = -1,
                              .value = record.value,
                              .id = row->id[0] != '\0' ? span_of_text(row->id) : SPAN_ABSENT,
                              .root = -1,
                              .root_timestamp_ms = -1,
                              .expires_ms = -1,
                              .recurrence = {.until_ms = -1}};
    if (row->every) {
        decoded.recurrence.kind = DECODE_RECURRENCE_EVERY;
        decoded.recurrence.every_ms = 60000;
    }
    decoded.undecided = row->lane == LIST_SCENE_UNDECIDED;
    decoded.paused = row->paused;
    if (row->lane == LIST_SCENE_REFUSED) {
        struct refusal refusal = {REFUSAL_BAD_TIME, "bad"};
        must(row_encode_refused(&buffer, &record, &refusal, &error), &error);
    } else {
        must(row_encode(&buffer, &record, &decoded, &error), &error);
    }
    row->bytes = buffer.data; /* owned from here on */
    row->length = buffer.length;
}

static struct span give_row(row_ref ref, void *context)
{
    const struct list_scene *scene = context;
    const struct list_scene_row *row = &scene->rows[ref - 1];
    return (struct span){row->bytes, row->length};
}

static const char *give_metadata(const struct checkpoint_slot *slot, void *context)
{
    const struct list_scene *scene = context;
    (void)slot;
    return scene->text;
}

static void write_slot(struct list_scene *scene, struct checkpoint_slot *slot)
{
    struct checkpoint_plan plan = {slot, 1};
    struct store_source source = {give_row, give_metadata, scene};
    struct store_result result = {0};
    struct error error = {0};
    assert_true(metadata_encode(&scene->metadata, scene->text, sizeof(scene->text)) > 0);
    slot->position = (int64_t)scene->count;
    must(store_write(scene->store, &plan, &source, &result, &error), &error);
    store_result_free(&result);
}

static struct bucket_id bucket_of_row(const struct list_scene_row *row)
{
    return bucket_of((lane_index)row->lane, row->level, row->due_ms);
}

void list_scene_write(struct list_scene *scene)
{
    struct checkpoint_row *rows = memory_new(LIST_SCENE_ROWS, sizeof(*rows));
    for (slot_index slot = 0; slot < LIST_SCENE_PLACES; slot++) {
        struct checkpoint_slot plan = {.slot = slot, .rows = rows};
        for (size_t i = 0; i < scene->count; i++) {
            struct list_scene_row *row = &scene->rows[i];
            if (row->place == slot && !row->written) {
                encode(row);
                row->written = true;
                rows[plan.row_count++] = (struct checkpoint_row){bucket_of_row(row), row->offset, row->due_ms, (row_ref)i + 1, RECORD_ID_NONE, -1};
            }
        }
        write_slot(scene, &plan);
    }
    free(rows);
}

void list_scene_write_again(struct list_scene *scene, const struct list_scene_row *row)
{
    row_ref ref = (row_ref)(row - scene->rows) + 1;
    struct checkpoint_row rows[] = {{bucket_of_row(row), row->offset, row->due_ms, ref, RECORD_ID_NONE, -1}};
    struct checkpoint_slot plan = {.slot = row->place, .rows = rows, .row_count = 1};
    write_slot(scene, &plan);
}

void list_scene_split(struct list_scene *scene, const struct list_scene_row *row, uint32_t most)
{
    struct bucket_id from = bucket_of_row(row);
    uint32_t place = row->place;
    struct checkpoint_split split = {from, most};
    struct checkpoint_slot plan = {.slot = place, .splits = &split, .split_count = 1};
    if (row->level == 0) {
        return;
    }
    write_slot(scene, &plan);
    for (size_t i = 0; i < scene->count && most > 0; i++) { /* in the order of offsets */
        struct list_scene_row *other = &scene->rows[i];
        if (other->written && !other->erased && other->place == place && bucket_compare(bucket_of_row(other), from) == 0) {
            other->level--;
            most--;
        }
    }
}

void list_scene_erase(struct list_scene *scene, struct list_scene_row *row)
{
    struct checkpoint_erase erase = {{row->due_ms, row->offset}, (lane_index)row->lane};
    struct checkpoint_slot plan = {.slot = row->place, .erases = &erase, .erase_count = 1};
    write_slot(scene, &plan);
    row->erased = true;
}
