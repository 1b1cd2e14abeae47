/* Trims, erases, record ids, marks and skips: what every store does with them. Built twice, like the conformance
 * tests. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"
#include "support/store_case.h"

#define NOW INT64_C(1800000000000)
#define ROW_BYTES 40u

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

static void reopen(struct store_case *test)
{
    store_case_close(test);
    store_case_open(test);
}

static struct record_id id_of(uint64_t number)
{
    return (struct record_id){number * UINT64_C(0x9E3779B97F4A7C15), number};
}

static void put(struct store_case *test, struct bucket_id bucket, int64_t offset, int64_t due_ms, uint64_t id)
{
    store_case_put(test, bucket, offset, due_ms, store_case_ref((uint32_t)offset, ROW_BYTES));
    if (id != 0) {
        store_case_name(test, id_of(id), -1);
    }
}

static void put_range(struct store_case *test, struct bucket_id bucket, int64_t from, int64_t below)
{
    for (int64_t offset = from; offset < below; offset++) {
        put(test, bucket, offset, NOW, 0);
    }
}

static void assert_touched(struct store_case *test, struct bucket_id bucket, uint64_t count, int64_t least)
{
    struct bucket_stats stats = store_case_touched(test, bucket);
    assert_int_equal(stats.count, count);
    assert_int_equal(stats.bytes, count * ROW_BYTES);
    if (count > 0) {
        assert_int_equal(stats.least_offset, least);
    }
}

static void assert_unknown(struct store_case *test, slot_index slot, uint64_t id)
{
    assert_int_equal(store_case_find(test, slot, id_of(id)).offset, -1);
}

static void assert_known(struct store_case *test, slot_index slot, uint64_t id, int64_t offset)
{
    assert_int_equal(store_case_find(test, slot, id_of(id)).offset, offset);
}

static size_t buckets_of(struct store_case *test, slot_index slot)
{
    struct store_partition partition;
    assert_true(store_bind_slot(test->store, slot, "t", (int32_t)slot, &partition, &test->error));
    free(partition.buckets);
    assert_null(partition.marks);
    assert_null(partition.skips);
    return partition.bucket_count;
}

/* ----------------------------------------------------------------------------------------------------- trims */

static void test_trim(void **state)
{
    struct store_case *test = *state;
    struct bucket_id bucket = store_case_bucket(0, 1, NOW);
    struct bucket_id next = {0, 1, bucket.number + 1};
    struct scanned_row rows[32];
    put_range(test, bucket, 10, 20);
    put_range(test, next, 10, 20);
    put_range(test, (struct bucket_id){1, 1, bucket.number}, 10, 20);
    store_case_write(test, 0, 20);
    store_case_trim(test, bucket, 10, 100); /* nothing is below */
    store_case_write(test, 0, 20);
    assert_int_equal(test->result.touched_count, 1);
    assert_touched(test, bucket, 10, 10);
    store_case_trim(test, bucket, 15, 3);
    store_case_write(test, 0, 20);
    assert_int_equal(test->result.rows_trimmed, 3);
    assert_touched(test, bucket, 7, 13);
    store_case_trim(test, bucket, 15, 0);
    store_case_trim(test, bucket, 15, 100);
    store_case_write(test, 0, 20);
    assert_int_equal(test->result.rows_trimmed, 2);
    assert_int_equal(test->result.touched_count, 1);
    assert_touched(test, bucket, 5, 15);
    reopen(test);
    assert_int_equal(store_case_scan(test, 0, bucket, 3, rows), 5);
    assert_int_equal(rows[0].offset, 15);
    assert_int_equal(store_case_scan(test, 0, next, 32, rows), 10);
    store_case_trim(test, bucket, INT64_MAX, UINT32_MAX);
    store_case_trim(test, (struct bucket_id){1, 3, 5}, INT64_MAX, UINT32_MAX); /* was never there */
    store_case_write(test, 0, 20);
    assert_touched(test, bucket, 0, 0);
    assert_touched(test, (struct bucket_id){1, 3, 5}, 0, 0);
    assert_int_equal(buckets_of(test, 0), 2);
}

/* A split leaves the least offset as it was; a trim says what it is. */
static void test_trim_after_a_split(void **state)
{
    struct store_case *test = *state;
    struct bucket_id bucket = store_case_bucket(0, 1, NOW);
    put_range(test, bucket, 0, 10);
    store_case_write(test, 0, 10);
    store_case_split(test, bucket, 4);
    store_case_write(test, 0, 10);
    assert_int_equal(store_case_touched(test, bucket).least_offset, 0);
    store_case_trim(test, bucket, 2, 100);
    store_case_write(test, 0, 10);
    assert_int_equal(test->result.rows_trimmed, 0);
    assert_touched(test, bucket, 6, 4);
}

/* Everything in one plan, in its order, the bucket named once. */
static void test_trim_split_and_put_in_one_plan(void **state)
{
    struct store_case *test = *state;
    struct bucket_id bucket = store_case_bucket(0, 1, NOW);
    struct bucket_id fine = store_case_bucket(0, 0, NOW);
    struct scanned_row rows[16];
    put_range(test, bucket, 0, 10);
    put_range(test, fine, 20, 22);
    store_case_write(test, 0, 22);
    put_range(test, bucket, 30, 32);
    store_case_split(test, bucket, 3);
    store_case_erase(test, 0, NOW, 5);
    store_case_erase(test, 0, NOW, 3); /* trimmed before */
    store_case_trim(test, bucket, 4, 100);
    store_case_drop(test, fine);
    store_case_write(test, 0, 32);
    assert_int_equal(test->result.rows_dropped, 2);
    assert_int_equal(test->result.rows_trimmed, 4);
    assert_int_equal(test->result.rows_erased, 1);
    assert_int_equal(test->result.rows_split, 3); /* 4, 6, 7 */
    assert_int_equal(test->result.touched_count, 2);
    assert_touched(test, bucket, 4, 4);
    assert_touched(test, fine, 3, 4);
    assert_int_equal(store_case_scan(test, 0, bucket, 16, rows), 4);
    assert_int_equal(rows[0].offset, 8);
    assert_int_equal(rows[3].offset, 31);
    store_case_trim(test, bucket, 100, 100); /* empty, and begins anew */
    put_range(test, bucket, 25, 26);
    store_case_write(test, 0, 32);
    assert_touched(test, bucket, 1, 25);
    assert_int_equal(store_case_touched(test, bucket).last_offset, 25);
}

static void test_a_large_trim_takes_several_plans(void **state)
{
    struct store_case *test = *state;
    struct bucket_id bucket = store_case_bucket(0, 0, NOW);
    for (int64_t offset = 0; offset < STORE_DROP_ROWS_MAX + 7; offset++) {
        store_case_put(test, bucket, offset, NOW, store_case_ref(1, 1));
    }
    store_case_write(test, 0, 300000);
    store_case_trim(test, bucket, STORE_DROP_ROWS_MAX + 5, UINT32_MAX);
    store_case_write(test, 0, 300000);
    assert_int_equal(test->result.rows_trimmed, STORE_DROP_ROWS_MAX);
    assert_int_equal(store_case_touched(test, bucket).count, 7);
    assert_int_equal(store_case_touched(test, bucket).least_offset, STORE_DROP_ROWS_MAX);
    store_case_trim(test, bucket, STORE_DROP_ROWS_MAX + 5, UINT32_MAX);
    store_case_write(test, 0, 300000);
    assert_int_equal(test->result.rows_trimmed, 5);
    assert_int_equal(store_case_touched(test, bucket).bytes, 2);
}

/* ---------------------------------------------------------------------------------------------------- erases */

static void test_erase_at_each_level(void **state)
{
    struct store_case *test = *state;
    struct scanned_row rows[8];
    for (uint8_t level = 0; level < BUCKET_LEVELS; level++) {
        struct bucket_id bucket = store_case_bucket(1, level, NOW);
        put_range(test, bucket, level * 10, level * 10 + 3);
        store_case_write(test, 0, 100);
        store_case_erase(test, 1, NOW, level * 10 + 1);
        store_case_write(test, 0, 100);
        assert_int_equal(test->result.touched_count, 1);
        assert_touched(test, bucket, 2, level * 10);
        store_case_erase(test, 1, NOW, level * 10); /* the least */
        store_case_write(test, 0, 100);
        assert_touched(test, bucket, 1, level * 10 + 2);
        assert_int_equal(store_case_scan(test, 0, bucket, 8, rows), 1);
        assert_int_equal(rows[0].offset, level * 10 + 2);
        store_case_erase(test, 1, NOW, level * 10 + 2);
        store_case_write(test, 0, 100);
        assert_touched(test, bucket, 0, 0);
        assert_int_equal(buckets_of(test, 0), 0);
    }
}

static void test_erase_of_what_is_not_there(void **state)
{
    struct store_case *test = *state;
    struct bucket_id bucket = store_case_bucket(0, 2, NOW);
    put_range(test, bucket, 5, 7);
    store_case_write(test, 0, 7);
    store_case_erase(test, 0, NOW, 4);
    store_case_erase(test, 0, NOW, 7);
    store_case_erase(test, 0, NOW, -1);
    store_case_erase(test, 0, NOW + 1, 5); /* that offset, but not that due */
    store_case_erase(test, 1, NOW, 5);
    store_case_erase(test, 0, INT64_MIN, 5);
    store_case_erase(test, 0, INT64_MAX, 5);
    store_case_write(test, 0, 7);
    assert_int_equal(test->result.touched_count, 0);
    assert_int_equal(test->result.rows_erased, 0);
    store_case_erase(test, 0, NOW, 6);
    store_case_write(test, 1, 7); /* another partition's */
    assert_int_equal(test->result.touched_count, 0);
    store_case_erase(test, 0, NOW, 6);
    store_case_erase(test, 0, NOW, 6);
    store_case_write(test, 0, 7);
    assert_int_equal(test->result.rows_erased, 1);
    assert_touched(test, bucket, 1, 5);
}

static void test_impossible_trims_and_erases(void **state)
{
    struct store_case *test = *state;
    struct bucket_id bucket = store_case_bucket(0, 0, NOW);
    put_range(test, bucket, 1, 3);
    store_case_write(test, 0, 3);
    for (int which = 0; which < 6; which++) {
        store_case_trim(test, bucket, 3, 10);
        if (which < 2) {
            store_case_erase(test, which == 0 ? 9 : LANES_MAX, NOW, 1);
        } else if (which < 4) {
            int64_t due_ms = which == 2 ? STORE_DUE_BOUND : -STORE_DUE_BOUND - 1;
            store_case_put(test, bucket, 9, due_ms, store_case_ref(1, 1));
        } else {
            store_case_trim(test, (struct bucket_id){which == 4 ? 9 : 0, which == 4 ? 0 : BUCKET_LEVELS, 1}, 3, 10);
        }
        assert_false(store_case_try(test, 0, 9));
        assert_int_equal(test->error.code, ERROR_INVALID);
    }
    put(test, bucket, 5, STORE_DUE_BOUND - 1, 1);
    put(test, bucket, 6, -STORE_DUE_BOUND, 2);
    put(test, bucket, 7, -STORE_DUE_BOUND, 0);
    store_case_write(test, 0, 9);
    assert_touched(test, bucket, 5, 1);
    struct scanned_row rows[8];
    assert_int_equal(store_case_scan(test, 0, bucket, 8, rows), 5);
    assert_true(rows[2].due_ms == STORE_DUE_BOUND - 1);
    assert_true(rows[3].due_ms == -STORE_DUE_BOUND);
    assert_true(rows[4].due_ms == -STORE_DUE_BOUND);
}

/* ------------------------------------------------------------------------------------------------ record ids */

static void test_an_id_is_found(void **state)
{
    struct store_case *test = *state;
    struct bucket_id bucket = store_case_bucket(1, 0, NOW);
    assert_unknown(test, 0, 1);
    store_case_put(test, bucket, 7, NOW + 3, store_case_ref(1, 77));
    store_case_name(test, id_of(1), 4);
    store_case_put(test, bucket, 8, NOW + 4, store_case_ref(2, 0));
    store_case_name(test, id_of(2), -1);
    store_case_put(test, bucket, 9, NOW + 5, store_case_ref(3, 5));
    store_case_write(test, 0, 10);
    assert_int_equal(store_case_touched(test, bucket).bytes, 82); /* ids are not counted */
    for (int again = 0; again < 2; again++) {
        struct stored_event event = store_case_find(test, 0, id_of(1));
        struct scanned_row rows[4];
        assert_int_equal(event.offset, 7);
        assert_int_equal(event.due_ms, NOW + 3);
        assert_int_equal(event.root, 4);
        assert_int_equal(event.bytes, 77);
        assert_int_equal(event.lane, 1);
        event = store_case_find(test, 0, id_of(2));
        assert_int_equal(event.offset, 8);
        assert_int_equal(event.root, -1);
        assert_int_equal(event.bytes, 0);
        assert_int_equal(store_case_find(test, 0, RECORD_ID_NONE).offset, -1);
        assert_unknown(test, 0, 3);
        assert_unknown(test, 1, 1);
        assert_int_equal(store_case_scan(test, 0, bucket, 4, rows), 3);
        assert_int_equal(rows[0].bytes, 77);
        assert_int_equal(rows[0].due_ms, NOW + 3);
        store_case_assert_row(test, 0, bucket, 7, store_case_ref(1, 77));
        store_case_assert_row(test, 0, bucket, 8, store_case_ref(2, 0));
        reopen(test);
    }
    struct stored_event event;
    assert_false(store_find_id(test->store, 9, id_of(1), &event, &test->error));
    assert_int_equal(test->error.code, ERROR_INVALID);
}

/* Lane indexes are of a run. */
static void test_an_id_with_another_lane_index(void **state)
{
    struct store_case *test = *state;
    struct store_partition partition;
    put(test, store_case_bucket(1, 0, NOW), 3, NOW, 1);
    store_case_write(test, 0, 4);
    store_case_close(test);
    store_case_open_bare(test);
    assert_true(store_bind_lane(test->store, 20, "orders", &test->error));
    assert_true(store_bind_slot(test->store, 5, "t", 0, &partition, &test->error));
    free(partition.buckets);
    assert_false(partition.ids_missing);
    assert_int_equal(store_case_find(test, 5, id_of(1)).lane, 20);
}

/* The newest row of an id is the one that is known; when that goes, none is. */
static void test_the_newest_row_of_an_id(void **state)
{
    struct store_case *test = *state;
    struct bucket_id bucket = store_case_bucket(0, 0, NOW);
    struct bucket_id wide = store_case_bucket(0, 2, NOW);
    put(test, bucket, 1, NOW, 1);
    put(test, wide, 2, NOW + 9, 1);
    store_case_write(test, 0, 3);
    assert_known(test, 0, 1, 2);
    store_case_erase(test, 0, NOW, 1); /* replaced (R5) */
    put(test, bucket, 3, NOW, 1);
    store_case_erase(test, 0, NOW + 9, 2);
    store_case_write(test, 0, 4);
    assert_known(test, 0, 1, 3);
    put(test, bucket, 5, NOW, 1);
    store_case_write(test, 0, 6);
    store_case_erase(test, 0, NOW, 3);
    store_case_write(test, 0, 6);
    assert_known(test, 0, 1, 5);
    put(test, bucket, 4, NOW, 1); /* comes late, but is not newer */
    store_case_write(test, 0, 6);
    assert_known(test, 0, 1, 5);
    store_case_erase(test, 0, NOW, 5);
    store_case_write(test, 0, 6);
    assert_unknown(test, 0, 1);
}

static void test_an_id_goes_with_its_row(void **state)
{
    struct store_case *test = *state;
    struct bucket_id dropped = store_case_bucket(0, 0, NOW);
    struct bucket_id trimmed = store_case_bucket(0, 1, NOW);
    struct bucket_id split = store_case_bucket(1, 1, NOW);
    for (int64_t offset = 0; offset < 30; offset++) {
        put(test, offset % 3 == 0 ? dropped : offset % 3 == 1 ? trimmed : split, offset, NOW, (uint64_t)offset + 1);
    }
    put(test, dropped, 30, NOW, 2); /* takes the id of the row at 1, in `trimmed` */
    store_case_write(test, 0, 31);
    store_case_trim(test, trimmed, 8, 100);
    store_case_split(test, split, 5);
    store_case_write(test, 0, 31);
    assert_known(test, 0, 2, 30);
    for (int64_t offset = 2; offset < 30; offset++) {
        bool there = offset % 3 != 1 || offset >= 8;
        assert_known(test, 0, (uint64_t)offset + 1, there ? offset : -1);
    }
    store_case_drop(test, dropped);
    store_case_drop(test, store_case_bucket(1, 0, NOW)); /* what was split to there */
    store_case_write(test, 0, 31);
    assert_unknown(test, 0, 2);
    for (int64_t offset = 3; offset < 30; offset++) {
        bool there = (offset % 3 == 1 && offset >= 8) || (offset % 3 == 2 && offset >= 17);
        assert_known(test, 0, (uint64_t)offset + 1, there ? offset : -1);
    }
    store_case_drop(test, split);
    store_case_erase(test, 0, NOW, 10);
    store_case_write(test, 0, 31);
    assert_unknown(test, 0, 11);
    assert_unknown(test, 0, 30);
    assert_known(test, 0, 14, 13);
}

static void test_a_replaced_row_takes_its_id_along(void **state)
{
    struct store_case *test = *state;
    struct bucket_id bucket = store_case_bucket(0, 0, NOW);
    struct scanned_row rows[4];
    put(test, bucket, 1, NOW, 1);
    store_case_write(test, 0, 2);
    put(test, bucket, 1, NOW + 1, 2);
    store_case_write(test, 0, 2);
    assert_touched(test, bucket, 1, 1);
    assert_unknown(test, 0, 1);
    assert_int_equal(store_case_find(test, 0, id_of(2)).due_ms, NOW + 1);
    put(test, bucket, 1, NOW + 2, 2); /* the same id again */
    store_case_write(test, 0, 2);
    assert_int_equal(store_case_find(test, 0, id_of(2)).due_ms, NOW + 2);
    put(test, bucket, 1, NOW, 0);
    store_case_write(test, 0, 2);
    assert_unknown(test, 0, 2);
    assert_touched(test, bucket, 1, 1);
    assert_int_equal(store_case_scan(test, 0, bucket, 4, rows), 1);
    assert_int_equal(rows[0].due_ms, NOW);
    store_case_assert_row(test, 0, bucket, 1, store_case_ref(1, ROW_BYTES));
}

static void test_forgetting_ids(void **state)
{
    struct store_case *test = *state;
    struct bucket_id bucket = store_case_bucket(0, 0, NOW);
    for (slot_index slot = 0; slot < 2; slot++) {
        put(test, bucket, 3, NOW, 1);
        store_case_write(test, slot, 4);
    }
    assert_true(store_forget_slot(test->store, 0, &test->error));
    assert_unknown(test, 0, 1);
    assert_known(test, 1, 1, 3);
    put(test, bucket, 2, NOW, 1); /* less than in its former life */
    store_case_write(test, 0, 3);
    assert_known(test, 0, 1, 2);
    store_case_write(test, 1, 4);
    reopen(test);
    assert_known(test, 0, 1, 2);
    assert_known(test, 1, 1, 3);
}

/* ------------------------------------------------------------------------------------------- marks and skips */

static void assert_marks(struct store_case *test, slot_index slot, const struct mark *marks, size_t count)
{
    struct store_partition partition;
    assert_true(store_bind_slot(test->store, slot, "t", (int32_t)slot, &partition, &test->error));
    assert_int_equal(partition.mark_count, count);
    for (size_t i = 0; i < count; i++) {
        assert_true(record_id_equal(partition.marks[i].id, marks[i].id));
        assert_int_equal(partition.marks[i].offset, marks[i].offset);
        assert_int_equal(partition.marks[i].end, marks[i].end);
    }
    free(partition.buckets);
    free(partition.marks);
    free(partition.skips);
}

static void assert_skips(struct store_case *test, slot_index slot, const struct skip *skips, size_t count)
{
    struct store_partition partition;
    assert_true(store_bind_slot(test->store, slot, "t", (int32_t)slot, &partition, &test->error));
    assert_int_equal(partition.skip_count, count);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(partition.skips[i].offset, skips[i].offset);
        assert_int_equal(partition.skips[i].skipped, skips[i].skipped);
    }
    free(partition.buckets);
    free(partition.marks);
    free(partition.skips);
}

static void test_marks_and_skips_survive(void **state)
{
    struct store_case *test = *state;
    const struct mark given[] = {{id_of(3), 40, 90}, {id_of(1), 20, INT64_MAX}, {id_of(2), 30, 80}};
    const struct mark sorted[] = {{id_of(1), 20, INT64_MAX}, {id_of(2), 30, 80}, {id_of(3), 40, 90}};
    const struct skip skips[] = {{20, 33}, {20, 34}, {40, 41}};
    store_case_marks(test, given, 3);
    store_case_skips(test, skips, 3);
    store_case_write(test, 0, 50);
    assert_int_equal(test->result.touched_count, 0);
    assert_marks(test, 1, NULL, 0);
    store_case_marks(test, given, 1); /* another partition's */
    store_case_write(test, 1, 50);
    reopen(test);
    assert_marks(test, 0, sorted, 3);
    assert_skips(test, 0, skips, 3);
    assert_marks(test, 1, given, 1);
    assert_skips(test, 1, NULL, 0);
}

static void test_marks_are_replaced_by_each_plan(void **state)
{
    struct store_case *test = *state;
    const struct mark first[] = {{id_of(1), 20, 90}, {id_of(2), 30, 90}, {id_of(3), 40, 90}};
    const struct mark second[] = {{id_of(9), 10, 70}, {id_of(2), 30, 99}, {id_of(3), 40, 90}, {id_of(1), 50, 90}};
    const struct skip skips[] = {{20, 33}, {40, 41}};
    store_case_marks(test, first, 3);
    store_case_skips(test, skips, 1);
    store_case_write(test, 0, 50);
    store_case_marks(test, second, 4);
    store_case_skips(test, skips + 1, 1);
    store_case_write(test, 0, 50);
    assert_marks(test, 0, second, 4);
    assert_skips(test, 0, skips + 1, 1);
    store_case_marks(test, second, 4);
    store_case_write(test, 0, 50);
    assert_marks(test, 0, second, 4);
    assert_skips(test, 0, NULL, 0);
    store_case_skips(test, skips, 2);
    store_case_write(test, 1, 50); /* names another slot: nothing changes here */
    assert_marks(test, 0, second, 4);
    store_case_write(test, 0, 51);
    assert_marks(test, 0, NULL, 0);
    assert_skips(test, 1, skips, 2);
    reopen(test);
    assert_marks(test, 0, NULL, 0);
}

static void test_many_marks(void **state)
{
    struct store_case *test = *state;
    const size_t count = 20000;
    struct mark *marks = memory_new(count, sizeof(*marks));
    for (size_t i = 0; i < count; i++) {
        marks[i] = (struct mark){id_of(i + 1), (int64_t)i * 3, (int64_t)i * 4};
    }
    store_case_marks(test, marks, count);
    store_case_write(test, 0, 100000);
    assert_marks(test, 0, marks, count);
    store_case_marks(test, marks + 5000, 10000);
    store_case_write(test, 0, 100000);
    assert_marks(test, 0, marks + 5000, 10000);
    store_case_marks(test, marks, count);
    store_case_write(test, 0, 100000);
    reopen(test);
    assert_marks(test, 0, marks, count);
    free(marks);
}

static void test_forgetting_marks(void **state)
{
    struct store_case *test = *state;
    const struct mark mark = {id_of(1), 20, 90};
    const struct skip skip = {20, 33};
    for (slot_index slot = 0; slot < 2; slot++) {
        store_case_marks(test, &mark, 1);
        store_case_skips(test, &skip, 1);
        store_case_write(test, slot, 50);
    }
    assert_true(store_forget_slot(test->store, 0, &test->error));
    assert_marks(test, 0, NULL, 0);
    assert_skips(test, 0, NULL, 0);
    store_case_write(test, 0, 1);
    reopen(test);
    assert_marks(test, 0, NULL, 0);
    assert_marks(test, 1, &mark, 1);
    assert_skips(test, 1, &skip, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_trim, open_case, close_case),
        cmocka_unit_test_setup_teardown(test_trim_after_a_split, open_case, close_case),
        cmocka_unit_test_setup_teardown(test_trim_split_and_put_in_one_plan, open_case, close_case),
        cmocka_unit_test_setup_teardown(test_a_large_trim_takes_several_plans, open_case, close_case),
        cmocka_unit_test_setup_teardown(test_erase_at_each_level, open_case, close_case),
        cmocka_unit_test_setup_teardown(test_erase_of_what_is_not_there, open_case, close_case),
        cmocka_unit_test_setup_teardown(test_impossible_trims_and_erases, open_case, close_case),
        cmocka_unit_test_setup_teardown(test_an_id_is_found, open_case, close_case),
        cmocka_unit_test_setup_teardown(test_an_id_with_another_lane_index, open_case, close_case),
        cmocka_unit_test_setup_teardown(test_the_newest_row_of_an_id, open_case, close_case),
        cmocka_unit_test_setup_teardown(test_an_id_goes_with_its_row, open_case, close_case),
        cmocka_unit_test_setup_teardown(test_a_replaced_row_takes_its_id_along, open_case, close_case),
        cmocka_unit_test_setup_teardown(test_forgetting_ids, open_case, close_case),
        cmocka_unit_test_setup_teardown(test_marks_and_skips_survive, open_case, close_case),
        cmocka_unit_test_setup_teardown(test_marks_are_replaced_by_each_plan, open_case, close_case),
        cmocka_unit_test_setup_teardown(test_many_marks, open_case, close_case),
        cmocka_unit_test_setup_teardown(test_forgetting_marks, open_case, close_case),
    };
    return cmocka_run_group_tests_name("store_control", tests, NULL, NULL);
}
