/* What every store does: built twice, for LMDB and for the fake of the simulations, so that the fake cannot drift. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"
#include "support/store_case.h"

#define NOW INT64_C(1800000000000)

static int open_case(void **state)
{
    struct store_case *test = store_case_new();
    store_case_open(test);
    *state = test;
    return 0;
}

static int close_case(void **state)
{
    store_case_free(*state);
    return 0;
}

static struct store_partition bind(struct store_case *test, slot_index slot, const char *topic, int32_t partition)
{
    struct store_partition result;
    if (!store_bind_slot(test->store, slot, topic, partition, &result, &test->error)) {
        fail_msg("%s", test->error.text);
    }
    return result;
}

static void assert_stats(struct bucket_stats stats, uint64_t count, uint64_t bytes, int64_t least, int64_t last)
{
    assert_int_equal(stats.count, count);
    assert_int_equal(stats.bytes, bytes);
    if (count > 0) {
        assert_int_equal(stats.least_offset, least);
        assert_int_equal(stats.last_offset, last);
    }
}

static void reopen(struct store_case *test)
{
    store_case_close(test);
    store_case_open(test);
}

static void test_nothing_is_known_of_a_new_partition(void **state)
{
    struct store_partition fresh = bind(*state, 0, "t", 0);
    assert_false(fresh.found);
    assert_int_equal(fresh.position, 0);
    assert_int_equal(fresh.bucket_count, 0);
    assert_string_equal(fresh.metadata, "");
    free(fresh.buckets);
}

static void test_position_and_metadata_survive(void **state)
{
    struct store_case *test = *state;
    char longest[METADATA_MAX + 1];
    memset(longest, 'm', METADATA_MAX);
    longest[METADATA_MAX] = '\0';
    test->metadata = "v1 first";
    store_case_write(test, 0, 17);
    test->metadata = longest;
    store_case_write(test, 1, INT64_MAX);
    test->metadata = NULL;
    reopen(test);
    struct store_partition first = bind(test, 0, "t", 0);
    struct store_partition second = bind(test, 1, "t", 1);
    assert_true(first.found && second.found);
    assert_int_equal(first.position, 17);
    assert_string_equal(first.metadata, "v1 first");
    assert_true(second.position == INT64_MAX);
    assert_string_equal(second.metadata, longest);
    free(first.buckets);
    free(second.buckets);
    store_case_write(test, 0, 18);
    first = bind(test, 0, "t", 0);
    assert_int_equal(first.position, 18);
    assert_string_equal(first.metadata, "");
    free(first.buckets);
}

static void test_rows_read_back_byte_for_byte(void **state)
{
    struct store_case *test = *state;
    struct bucket_id bucket = store_case_bucket(1, 0, NOW);
    const uint32_t lengths[] = {0, 1, 276, 2000, 2038, 2039, 4096, 100000, 1500000};
    for (uint32_t i = 0; i < 9; i++) {
        store_case_put(test, bucket, 100 + i, NOW + i, store_case_ref(i, lengths[i]));
    }
    store_case_write(test, 0, 200);
    assert_int_equal(test->result.rows_put, 9);
    for (int again = 0; again < 2; again++) {
        struct scanned_row rows[16];
        assert_int_equal(store_case_scan(test, 0, bucket, 4, rows), 9);
        for (uint32_t i = 0; i < 9; i++) {
            assert_int_equal(rows[i].offset, 100 + i);
            assert_int_equal(rows[i].due_ms, NOW + i);
            assert_int_equal(rows[i].bytes, lengths[i]);
            store_case_assert_row(test, 0, bucket, 100 + i, store_case_ref(i, lengths[i]));
        }
        reopen(test);
    }
}

static void test_reading_what_is_not_there(void **state)
{
    struct store_case *test = *state;
    struct bucket_id bucket = store_case_bucket(0, 0, NOW);
    struct span row = SPAN_ABSENT;
    store_case_put(test, bucket, 5, NOW, store_case_ref(1, 10));
    store_case_write(test, 0, 6);
    assert_false(store_read(test->store, 0, bucket, 5, &row, &test->error));
    assert_int_equal(test->error.code, ERROR_INVALID);
    assert_true(store_read_begin(test->store, &test->error));
    assert_false(store_read_begin(test->store, &test->error));
    assert_true(store_read(test->store, 0, bucket, 5, &row, &test->error));
    const int64_t absent[] = {4, 6, INT64_MAX};
    for (size_t i = 0; i < 3; i++) {
        assert_false(store_read(test->store, 0, bucket, absent[i], &row, &test->error));
        assert_int_equal(test->error.code, ERROR_NOT_FOUND);
    }
    assert_false(store_read(test->store, 1, bucket, 5, &row, &test->error));
    assert_int_equal(test->error.code, ERROR_NOT_FOUND);
    assert_false(store_read(test->store, 0, store_case_bucket(1, 0, NOW), 5, &row, &test->error));
    assert_int_equal(test->error.code, ERROR_NOT_FOUND);
    assert_false(store_read(test->store, 0, store_case_bucket(0, 1, NOW), 5, &row, &test->error));
    assert_int_equal(test->error.code, ERROR_NOT_FOUND);
    assert_false(store_read(test->store, 7, bucket, 5, &row, &test->error));
    assert_int_equal(test->error.code, ERROR_INVALID);
    assert_false(store_read(test->store, 0, (struct bucket_id){9, 0, 1}, 5, &row, &test->error));
    assert_int_equal(test->error.code, ERROR_INVALID);
    store_read_end(test->store);
    store_read_end(test->store);
}

static void test_scan_bounds(void **state)
{
    struct store_case *test = *state;
    struct bucket_id bucket = store_case_bucket(0, 2, NOW);
    struct scanned_row rows[16];
    size_t count = 99;
    bool end = false;
    for (int64_t offset = 10; offset < 20; offset++) {
        store_case_put(test, bucket, offset, NOW, store_case_ref(1, 3));
        store_case_put(test, (struct bucket_id){0, 2, bucket.number + 1}, offset, NOW, store_case_ref(1, 3));
        store_case_put(test, (struct bucket_id){1, 2, bucket.number}, offset, NOW, store_case_ref(1, 3));
    }
    store_case_write(test, 0, 20);
    const struct {
        int64_t from, below;
        uint32_t most;
        size_t count;
        int64_t first;
        bool end;
    } cases[] = {
        {0, INT64_MAX, 16, 10, 10, true}, {-5, INT64_MAX, 10, 10, 10, true}, {0, INT64_MAX, 9, 9, 10, false},
        {12, 15, 16, 3, 12, true},        {12, 15, 3, 3, 12, true},          {12, 15, 2, 2, 12, false},
        {19, 20, 1, 1, 19, true},         {20, 30, 5, 0, 0, true},           {15, 15, 5, 0, 0, true},
        {0, 10, 5, 0, 0, true},           {0, INT64_MAX, 0, 0, 0, false},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct command_scan scan = {bucket, SCAN_WINDOW, cases[i].from, cases[i].below, cases[i].most};
        assert_true(store_scan(test->store, 0, &scan, rows, &count, &end, &test->error));
        assert_int_equal(count, cases[i].count);
        assert_int_equal(end, cases[i].end);
        assert_true(count == 0 || rows[0].offset == cases[i].first);
    }
    struct command_scan other = {bucket, SCAN_WINDOW, 0, INT64_MAX, 5};
    assert_true(store_scan(test->store, 1, &other, rows, &count, &end, &test->error));
    assert_true(count == 0 && end);
    assert_false(store_scan(test->store, 5, &other, rows, &count, &end, &test->error));
    assert_int_equal(test->error.code, ERROR_INVALID);
}

static void test_statistics_grow(void **state)
{
    struct store_case *test = *state;
    struct bucket_id bucket = store_case_bucket(0, 1, NOW);
    store_case_put(test, bucket, 50, NOW, store_case_ref(1, 10));
    store_case_put(test, bucket, 60, NOW, store_case_ref(2, 20));
    store_case_write(test, 0, 61);
    assert_int_equal(test->result.touched_count, 1);
    assert_stats(store_case_touched(test, bucket), 2, 30, 50, 60);
    store_case_put(test, bucket, 40, NOW, store_case_ref(1, 5));
    store_case_write(test, 0, 61);
    assert_stats(store_case_touched(test, bucket), 3, 35, 40, 60);
    store_case_put(test, bucket, 60, NOW, store_case_ref(3, 7)); /* takes the place of the one before */
    store_case_write(test, 0, 61);
    assert_int_equal(test->result.rows_put, 1);
    assert_stats(store_case_touched(test, bucket), 3, 22, 40, 60);
    store_case_assert_row(test, 0, bucket, 60, store_case_ref(3, 7));
    reopen(test);
    struct store_partition partition = bind(test, 0, "t", 0);
    assert_int_equal(partition.bucket_count, 1);
    assert_stats(partition.buckets[0], 3, 22, 40, 60);
    assert_int_equal(partition.buckets[0].id.lane, 0);
    assert_int_equal(partition.buckets[0].id.level, 1);
    assert_true(partition.buckets[0].id.number == bucket.number);
    free(partition.buckets);
}

static void test_split_by_slices_down_to_the_finest(void **state)
{
    struct store_case *test = *state;
    struct scanned_row rows[256];
    uint32_t total = 0;
    for (int64_t offset = 0; offset < 200; offset++) {
        int64_t due = ((NOW >> 31) << 31) + offset * 10000000 % (INT64_C(1) << 31);
        store_case_put(test, store_case_bucket(1, 3, due), offset, due, store_case_ref((uint32_t)offset, 30));
    }
    store_case_write(test, 0, 200);
    struct bucket_id top = store_case_bucket(1, 3, NOW);
    assert_stats(store_case_touched(test, top), 200, 6000, 0, 199);
    store_case_split(test, top, 60);
    store_case_write(test, 0, 200);
    assert_int_equal(test->result.rows_split, 60);
    assert_stats(store_case_touched(test, top), 140, 4200, 0, 199);
    assert_int_equal(store_case_scan(test, 0, top, 50, rows), 140);
    assert_int_equal(rows[0].offset, 60);
    store_case_split(test, top, 1000);
    store_case_write(test, 0, 200);
    assert_int_equal(test->result.rows_split, 140);
    assert_stats(store_case_touched(test, top), 0, 0, 0, 0);
    for (uint8_t level = 2; level > 0; level--) {
        struct store_partition partition = bind(test, 0, "t", 0);
        for (size_t i = 0; i < partition.bucket_count; i++) {
            assert_int_equal(partition.buckets[i].id.level, level);
            store_case_split(test, partition.buckets[i].id, UINT32_MAX);
        }
        free(partition.buckets);
        store_case_write(test, 0, 200);
        assert_int_equal(test->result.rows_split, 200);
    }
    struct store_partition partition = bind(test, 0, "t", 0);
    for (size_t i = 0; i < partition.bucket_count; i++) {
        struct bucket_id id = partition.buckets[i].id;
        size_t count = store_case_scan(test, 0, id, 100, rows);
        assert_int_equal(id.level, 0);
        assert_int_equal(count, partition.buckets[i].count);
        for (size_t j = 0; j < count; j++) {
            assert_true(rows[j].due_ms >> BUCKET_SHIFT_0 == id.number);
            store_case_assert_row(test, 0, id, rows[j].offset, store_case_ref((uint32_t)rows[j].offset, 30));
        }
        total += (uint32_t)count;
    }
    assert_int_equal(total, 200);
    free(partition.buckets);
}

static void test_splitting_nothing(void **state)
{
    struct store_case *test = *state;
    struct bucket_id empty = store_case_bucket(0, 1, NOW);
    store_case_split(test, empty, 10);
    store_case_write(test, 0, 1);
    assert_stats(store_case_touched(test, empty), 0, 0, 0, 0);
    assert_int_equal(test->result.rows_split, 0);
}

static void test_drop(void **state)
{
    struct store_case *test = *state;
    struct bucket_id bucket = store_case_bucket(0, 0, NOW);
    struct bucket_id next = {0, 0, bucket.number + 1};
    struct scanned_row rows[8];
    for (int64_t offset = 0; offset < 6; offset++) {
        store_case_put(test, offset % 2 == 0 ? bucket : next, offset, NOW, store_case_ref(1, 100));
    }
    store_case_write(test, 0, 6);
    store_case_drop(test, bucket);
    store_case_drop(test, (struct bucket_id){1, 0, 5});
    store_case_put(test, bucket, 9, NOW, store_case_ref(2, 7)); /* comes after the drop */
    store_case_write(test, 0, 10);
    assert_int_equal(test->result.rows_dropped, 3);
    assert_stats(store_case_touched(test, bucket), 1, 7, 9, 9);
    assert_stats(store_case_touched(test, (struct bucket_id){1, 0, 5}), 0, 0, 0, 0);
    assert_int_equal(store_case_scan(test, 0, bucket, 8, rows), 1);
    assert_int_equal(store_case_scan(test, 0, next, 8, rows), 3);
    store_case_drop(test, bucket);
    store_case_drop(test, next);
    store_case_write(test, 0, 10);
    assert_int_equal(test->result.rows_dropped, 4);
    reopen(test);
    struct store_partition partition = bind(test, 0, "t", 0);
    assert_true(partition.found);
    assert_int_equal(partition.bucket_count, 0);
    free(partition.buckets);
}

static void test_a_large_drop_takes_several_plans(void **state)
{
    struct store_case *test = *state;
    struct bucket_id bucket = store_case_bucket(0, 0, NOW);
    for (int64_t offset = 0; offset < STORE_DROP_ROWS_MAX + 7; offset++) {
        store_case_put(test, bucket, offset, NOW, store_case_ref(1, 1));
    }
    store_case_write(test, 0, 300000);
    store_case_drop(test, bucket);
    store_case_write(test, 0, 300000);
    assert_int_equal(test->result.rows_dropped, STORE_DROP_ROWS_MAX);
    assert_stats(store_case_touched(test, bucket), 7, 7, 0, STORE_DROP_ROWS_MAX + 6);
    store_case_drop(test, bucket);
    store_case_write(test, 0, 300000);
    assert_int_equal(test->result.rows_dropped, 7);
    assert_stats(store_case_touched(test, bucket), 0, 0, 0, 0);
}

static void test_forgetting_a_partition(void **state)
{
    struct store_case *test = *state;
    struct bucket_id bucket = store_case_bucket(0, 0, NOW);
    struct scanned_row rows[8];
    for (slot_index slot = 0; slot < 2; slot++) {
        store_case_put(test, bucket, 3, NOW, store_case_ref(slot, 50));
        store_case_write(test, slot, 4);
    }
    assert_true(store_forget_slot(test->store, 0, &test->error));
    assert_int_equal(store_case_scan(test, 0, bucket, 8, rows), 0);
    store_case_put(test, bucket, 1, NOW, store_case_ref(9, 60)); /* its second life */
    store_case_write(test, 0, 2);
    for (int again = 0; again < 2; again++) {
        struct store_partition partition = bind(test, 0, "t", 0);
        assert_true(partition.found);
        assert_int_equal(partition.position, 2);
        assert_int_equal(partition.bucket_count, 1);
        assert_stats(partition.buckets[0], 1, 60, 1, 1);
        free(partition.buckets);
        store_case_assert_row(test, 0, bucket, 1, store_case_ref(9, 60));
        store_case_assert_row(test, 1, bucket, 3, store_case_ref(1, 50));
        reopen(test);
    }
    assert_true(store_forget_slot(test->store, 0, &test->error));
    assert_true(store_forget_slot(test->store, 0, &test->error)); /* nothing left: no harm */
    reopen(test);
    struct store_partition gone = bind(test, 0, "t", 0);
    assert_false(gone.found);
    free(gone.buckets);
    assert_false(store_forget_slot(test->store, 6, &test->error));
    assert_int_equal(test->error.code, ERROR_INVALID);
}

struct names {
    char text[8][METADATA_LANE_NAME_MAX + 1];
    size_t count;
};

static void add_name(const char *name, void *context)
{
    struct names *names = context;
    strncpy(names->text[names->count++], name, METADATA_LANE_NAME_MAX);
}

static void test_retired_lanes(void **state)
{
    struct store_case *test = *state;
    struct names names = {0};
    struct store_partition partition;
    assert_true(store_bind_lane(test->store, 5, "retired", &test->error));
    store_case_put(test, store_case_bucket(1, 0, NOW), 1, NOW, store_case_ref(1, 5));
    store_case_put(test, store_case_bucket(5, 0, NOW), 2, NOW, store_case_ref(2, 5));
    store_case_put(test, store_case_bucket(5, 3, NOW), 3, NOW, store_case_ref(3, 5));
    store_case_write(test, 0, 4);
    store_case_close(test);
    store_case_open_bare(test);
    assert_true(store_bind_lane(test->store, 0, "orders", &test->error)); /* another index than before */
    assert_false(store_bind_slot(test->store, 0, "t", 0, &partition, &test->error));
    assert_int_equal(test->error.code, ERROR_INVALID);
    assert_true(store_unbound_lanes(test->store, add_name, &names, &test->error));
    assert_int_equal(names.count, 1);
    assert_string_equal(names.text[0], "retired");
    assert_true(store_bind_lane(test->store, 3, "retired", &test->error));
    names.count = 0;
    assert_true(store_unbound_lanes(test->store, add_name, &names, &test->error));
    assert_int_equal(names.count, 0);
    partition = bind(test, 0, "t", 0);
    assert_int_equal(partition.bucket_count, 3);
    free(partition.buckets);
    store_case_assert_row(test, 0, store_case_bucket(0, 0, NOW), 1, store_case_ref(1, 5));
    store_case_assert_row(test, 0, store_case_bucket(3, 0, NOW), 2, store_case_ref(2, 5));
    store_case_assert_row(test, 0, store_case_bucket(3, 3, NOW), 3, store_case_ref(3, 5));
}

static void test_binding_lanes(void **state)
{
    struct store_case *test = *state;
    char longest[METADATA_LANE_NAME_MAX + 2];
    memset(longest, 'n', sizeof(longest));
    longest[METADATA_LANE_NAME_MAX + 1] = '\0';
    assert_true(store_bind_lane(test->store, 0, "default", &test->error));
    assert_false(store_bind_lane(test->store, 0, "other", &test->error));
    assert_false(store_bind_lane(test->store, 7, "default", &test->error));
    assert_false(store_bind_lane(test->store, 7, "", &test->error));
    assert_false(store_bind_lane(test->store, 7, longest, &test->error));
    assert_false(store_bind_lane(test->store, LANES_MAX, "x", &test->error));
    assert_int_equal(test->error.code, ERROR_INVALID);
    assert_true(store_bind_lane(test->store, LANES_MAX - 1, longest + 1, &test->error));
}

static void test_binding_slots(void **state)
{
    struct store_case *test = *state;
    struct bucket_id bucket = store_case_bucket(0, 0, NOW);
    struct store_partition partition;
    char longest[251];
    store_case_put(test, bucket, 1, NOW, store_case_ref(1, 5));
    store_case_write(test, 0, 2);
    partition = bind(test, 0, "t", 7); /* the slot is used anew */
    assert_false(partition.found);
    free(partition.buckets);
    store_case_put(test, bucket, 1, NOW, store_case_ref(2, 6));
    store_case_write(test, 0, 2);
    partition = bind(test, 9000, "t", 0);
    assert_int_equal(partition.bucket_count, 1);
    free(partition.buckets);
    store_case_assert_row(test, 9000, bucket, 1, store_case_ref(1, 5));
    store_case_assert_row(test, 0, bucket, 1, store_case_ref(2, 6));
    memset(longest, 't', sizeof(longest));
    longest[250] = '\0';
    assert_false(store_bind_slot(test->store, 1, longest, 0, &partition, &test->error));
    assert_false(store_bind_slot(test->store, 1, "", 0, &partition, &test->error));
    assert_false(store_bind_slot(test->store, 1, "t", -1, &partition, &test->error));
    assert_int_equal(test->error.code, ERROR_INVALID);
    partition = bind(test, 1, longest + 1, INT32_MAX);
    free(partition.buckets);
    store_case_write(test, 1, 5);
    partition = bind(test, 1, longest + 1, INT32_MAX);
    assert_int_equal(partition.position, 5);
    free(partition.buckets);
}

struct listed {
    uint64_t rows[4];
    uint64_t bytes[4];
    size_t count;
};

static void add_listed(const char *topic, int32_t partition, uint64_t rows, uint64_t bytes, void *context)
{
    struct listed *listed = context;
    assert_string_equal(topic, "t");
    listed->rows[partition] = rows;
    listed->bytes[partition] = bytes;
    listed->count++;
}

static void test_listing_partitions(void **state)
{
    struct store_case *test = *state;
    struct listed listed = {0};
    for (int64_t offset = 0; offset < 5; offset++) {
        store_case_put(test, (struct bucket_id){(lane_index)(offset % 2), 1, offset}, offset, NOW,
                       store_case_ref(1, 11));
    }
    store_case_write(test, 1, 5);
    store_case_write(test, 0, 5);
    store_case_close(test);
    store_case_open_bare(test); /* nothing bound */
    assert_true(store_partitions(test->store, add_listed, &listed, &test->error));
    assert_int_equal(listed.count, 1);
    assert_int_equal(listed.rows[1], 5);
    assert_int_equal(listed.bytes[1], 55);
}

static void test_impossible_plans_change_nothing(void **state)
{
    struct store_case *test = *state;
    struct bucket_id bucket = store_case_bucket(0, 1, NOW);
    struct scanned_row rows[4];
    store_case_write(test, 0, 3);
    for (int which = 0; which < 7; which++) {
        struct bucket_id wrong = bucket;
        wrong.lane = which == 1 ? 6 : which == 2 ? LANES_MAX : 0;
        wrong.level = which == 3 ? BUCKET_LEVELS : bucket.level;
        wrong.number = which == 4 ? -1 : bucket.number;
        store_case_put(test, bucket, 1, NOW, store_case_ref(1, 5));
        store_case_put(test, wrong, which == 5 ? -1 : 2, NOW, which == 6 ? 0 : store_case_ref(1, 5));
        assert_false(store_case_try(test, which == 0 ? 3 : 0, 9));
        assert_int_equal(test->error.code, ERROR_INVALID);
        assert_int_equal(store_case_scan(test, 0, bucket, 4, rows), 0);
    }
    store_case_split(test, store_case_bucket(0, 0, NOW), 5);
    assert_false(store_case_try(test, 0, 9));
    struct store_partition partition = bind(test, 0, "t", 0);
    assert_int_equal(partition.position, 3);
    free(partition.buckets);
}

static void test_one_at_a_time(void **state)
{
    struct store_case *test = *state;
    struct store *second = NULL;
    struct store_options options = {test->path, test->max_size_bytes};
    assert_false(store_open(&options, &second, &test->error));
    assert_int_equal(test->error.code, ERROR_BUSY);
    assert_null(second);
    store_case_close(test);
    assert_true(store_open(&options, &second, &test->error));
    store_close(second);
}

static void test_usage_is_told(void **state)
{
    struct store_case *test = *state;
    uint64_t before = 0;
    uint64_t after = 0;
    uint64_t most = 0;
    store_usage(test->store, &before, &most);
    store_case_put(test, store_case_bucket(0, 0, NOW), 1, NOW, store_case_ref(1, 100000));
    store_case_write(test, 0, 2);
    store_usage(test->store, &after, &most);
    assert_true(after >= before + 100000);
    assert_int_equal(after, test->result.used_bytes);
    assert_true(most >= test->max_size_bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_nothing_is_known_of_a_new_partition, open_case, close_case),
        cmocka_unit_test_setup_teardown(test_position_and_metadata_survive, open_case, close_case),
        cmocka_unit_test_setup_teardown(test_rows_read_back_byte_for_byte, open_case, close_case),
        cmocka_unit_test_setup_teardown(test_reading_what_is_not_there, open_case, close_case),
        cmocka_unit_test_setup_teardown(test_scan_bounds, open_case, close_case),
        cmocka_unit_test_setup_teardown(test_statistics_grow, open_case, close_case),
        cmocka_unit_test_setup_teardown(test_split_by_slices_down_to_the_finest, open_case, close_case),
        cmocka_unit_test_setup_teardown(test_splitting_nothing, open_case, close_case),
        cmocka_unit_test_setup_teardown(test_drop, open_case, close_case),
        cmocka_unit_test_setup_teardown(test_a_large_drop_takes_several_plans, open_case, close_case),
        cmocka_unit_test_setup_teardown(test_forgetting_a_partition, open_case, close_case),
        cmocka_unit_test_setup_teardown(test_retired_lanes, open_case, close_case),
        cmocka_unit_test_setup_teardown(test_binding_lanes, open_case, close_case),
        cmocka_unit_test_setup_teardown(test_binding_slots, open_case, close_case),
        cmocka_unit_test_setup_teardown(test_listing_partitions, open_case, close_case),
        cmocka_unit_test_setup_teardown(test_impossible_plans_change_nothing, open_case, close_case),
        cmocka_unit_test_setup_teardown(test_one_at_a_time, open_case, close_case),
        cmocka_unit_test_setup_teardown(test_usage_is_told, open_case, close_case),
    };
    return cmocka_run_group_tests_name("store", tests, NULL, NULL);
}
