#include "support/store_case.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"
#include "support/temp.h"

#define PATTERN_BYTES ((size_t)4 * 1024 * 1024)

static uint8_t *pattern;

row_ref store_case_ref(uint32_t kind, uint32_t length)
{
    return ((row_ref)length << 32) | (kind % 65521) << 1 | 1;
}

struct span store_case_bytes(row_ref ref)
{
    if (pattern == NULL) {
        uint32_t state = 1;
        pattern = memory_new(PATTERN_BYTES + 65536, 1);
        for (size_t i = 0; i < PATTERN_BYTES + 65536; i++) {
            state = state * 1664525 + 1013904223;
            pattern[i] = (uint8_t)(state >> 24);
        }
    }
    assert_true((ref >> 32) <= PATTERN_BYTES);
    return (struct span){pattern + ((ref & UINT32_MAX) >> 1), (size_t)(ref >> 32)};
}

struct store_case *store_case_new(void)
{
    struct store_case *test = memory_new(1, sizeof(*test));
    test->folder = temp_directory("tarry-store");
    (void)snprintf(test->path, sizeof(test->path), "%s/store", test->folder);
    test->max_size_bytes = (uint64_t)1 << 32;
    test->rows = memory_new(STORE_CASE_ROWS, sizeof(*test->rows));
    test->slot.rows = test->rows;
    test->slot.splits = test->splits;
    test->slot.drops = test->drops;
    test->slot.trims = test->trims;
    test->slot.erases = test->erases;
    return test;
}

void store_case_free(struct store_case *test)
{
    store_case_close(test);
    temp_remove(test->folder);
    store_result_free(&test->result);
    free(test->rows);
    free(test);
    free(pattern);
    pattern = NULL;
}

void store_case_open_bare(struct store_case *test)
{
    struct store_options options = {test->path, test->max_size_bytes};
    if (!store_open(&options, &test->store, &test->error)) {
        fail_msg("%s", test->error.text);
    }
}

void store_case_open(struct store_case *test)
{
    store_case_open_bare(test);
    assert_true(store_bind_lane(test->store, 0, "default", &test->error));
    assert_true(store_bind_lane(test->store, 1, "orders", &test->error));
    for (slot_index slot = 0; slot < 2; slot++) {
        struct store_partition partition;
        if (!store_bind_slot(test->store, slot, "t", (int32_t)slot, &partition, &test->error)) {
            fail_msg("%s", test->error.text);
        }
        free(partition.buckets);
        free(partition.marks);
        free(partition.skips);
    }
}

void store_case_close(struct store_case *test)
{
    store_close(test->store);
    test->store = NULL;
}

void store_case_put(struct store_case *test, struct bucket_id bucket, int64_t offset, int64_t due_ms, row_ref ref)
{
    assert_true(test->slot.row_count < STORE_CASE_ROWS);
    test->rows[test->slot.row_count++] = (struct checkpoint_row){bucket, offset, due_ms, ref, RECORD_ID_NONE, -1};
}

void store_case_split(struct store_case *test, struct bucket_id from, uint32_t rows_max)
{
    test->splits[test->slot.split_count++] = (struct checkpoint_split){from, rows_max};
}

void store_case_drop(struct store_case *test, struct bucket_id bucket)
{
    test->drops[test->slot.drop_count++] = bucket;
}

void store_case_trim(struct store_case *test, struct bucket_id bucket, int64_t below_offset, uint32_t rows_max)
{
    assert_true(test->slot.trim_count < STORE_CASE_ITEMS);
    test->trims[test->slot.trim_count++] = (struct checkpoint_trim){bucket, below_offset, rows_max};
}

void store_case_erase(struct store_case *test, lane_index lane, int64_t due_ms, int64_t offset)
{
    assert_true(test->slot.erase_count < STORE_CASE_ITEMS);
    test->erases[test->slot.erase_count++] = (struct checkpoint_erase){{due_ms, offset}, lane};
}

void store_case_name(struct store_case *test, struct record_id id, int64_t root)
{
    assert_true(test->slot.row_count > 0);
    test->rows[test->slot.row_count - 1].id = id;
    test->rows[test->slot.row_count - 1].root = root;
}

void store_case_marks(struct store_case *test, const struct mark *marks, size_t count)
{
    test->slot.marks = marks;
    test->slot.mark_count = count;
}

void store_case_skips(struct store_case *test, const struct skip *skips, size_t count)
{
    test->slot.skips = skips;
    test->slot.skip_count = count;
}

struct stored_event store_case_find(struct store_case *test, slot_index slot, struct record_id id)
{
    struct stored_event event;
    if (!store_find_id(test->store, slot, id, &event, &test->error)) {
        fail_msg("%s", test->error.text);
    }
    return event;
}

static struct span give_row(row_ref ref, void *context)
{
    (void)context;
    return ref == 0 ? SPAN_ABSENT : store_case_bytes(ref);
}

static const char *give_metadata(const struct checkpoint_slot *slot, void *context)
{
    const struct store_case *test = context;
    assert_ptr_equal(slot, &test->slot);
    return test->metadata;
}

bool store_case_try(struct store_case *test, slot_index slot, int64_t position)
{
    struct checkpoint_plan plan = {&test->slot, 1};
    struct store_source source = {give_row, give_metadata, test};
    store_result_free(&test->result);
    memset(&test->error, 0, sizeof(test->error));
    test->slot.slot = slot;
    test->slot.epoch = 40 + slot;
    test->slot.position = position;
    bool done = store_write(test->store, &plan, &source, &test->result, &test->error);
    test->slot.row_count = 0;
    test->slot.split_count = 0;
    test->slot.drop_count = 0;
    test->slot.trim_count = 0;
    test->slot.erase_count = 0;
    test->slot.mark_count = 0;
    test->slot.skip_count = 0;
    return done;
}

void store_case_write(struct store_case *test, slot_index slot, int64_t position)
{
    if (!store_case_try(test, slot, position)) {
        fail_msg("%s", test->error.text);
    }
}

static bool same_bucket(struct bucket_id a, struct bucket_id b)
{
    return a.lane == b.lane && a.level == b.level && a.number == b.number;
}

struct bucket_stats store_case_touched(const struct store_case *test, struct bucket_id bucket)
{
    const struct bucket_stats *found = NULL;
    for (size_t i = 0; i < test->result.touched_count; i++) {
        const struct checkpoint_touched *item = &test->result.touched[i];
        assert_int_equal(item->slot, test->slot.slot);
        assert_int_equal(item->epoch, test->slot.epoch);
        if (same_bucket(item->stats.id, bucket)) {
            assert_null(found); /* once only */
            found = &item->stats;
        }
    }
    if (found == NULL) {
        fail_msg("bucket %u/%lld was not touched", (unsigned)bucket.level, (long long)bucket.number);
        abort(); /* fail_msg does not return; the compiler does not know */
    }
    return *found;
}

size_t store_case_scan(
    struct store_case *test, slot_index slot, struct bucket_id bucket, uint32_t slice, struct scanned_row *rows)
{
    struct command_scan scan = {bucket, SCAN_WINDOW, 0, INT64_MAX, slice};
    size_t total = 0;
    bool end = false;
    while (!end) {
        size_t count = 0;
        if (!store_scan(test->store, slot, &scan, rows + total, &count, &end, &test->error)) {
            fail_msg("%s", test->error.text);
        }
        assert_true(count <= slice && (end || count == slice));
        total += count;
        scan.from_offset = count == 0 ? scan.from_offset : rows[total - 1].offset + 1;
    }
    return total;
}

void store_case_assert_row(
    struct store_case *test, slot_index slot, struct bucket_id bucket, int64_t offset, row_ref ref)
{
    struct span row = SPAN_ABSENT;
    assert_true(store_read_begin(test->store, &test->error));
    if (!store_read(test->store, slot, bucket, offset, &row, &test->error)) {
        fail_msg("%s", test->error.text);
    }
    assert_true(span_equal(row, store_case_bytes(ref)));
    store_read_end(test->store);
}

struct bucket_id store_case_bucket(lane_index lane, uint8_t level, int64_t due_ms)
{
    return (struct bucket_id){lane, level, due_ms >> (BUCKET_SHIFT_0 + BUCKET_SHIFT_STEP * level)};
}
