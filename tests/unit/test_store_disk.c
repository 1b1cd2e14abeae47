/* What lies on disk, looked at with LMDB alone: a store of format 1 as the version before wrote it, byte for byte, and
 * what ids and marks cost. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>
#include <lmdb.h>

#include "base/memory.h"
#include "support/store_case.h"

#define NOW INT64_C(1800000000000)

static int new_case(void **state)
{
    *state = store_case_new();
    return 0;
}

static int free_case(void **state)
{
    store_case_free(*state);
    return 0;
}

/* ------------------------------------------------------------------------------------------------- LMDB alone */

struct disk {
    MDB_env *env;
    MDB_txn *txn;
};

static struct disk disk_open(const struct store_case *test, unsigned flags)
{
    struct disk disk = {NULL, NULL};
    assert_int_equal(mdb_env_create(&disk.env), 0);
    assert_int_equal(mdb_env_set_maxdbs(disk.env, 8), 0);
    assert_int_equal(mdb_env_set_mapsize(disk.env, (size_t)16 * 1024 * 1024), 0);
    assert_int_equal(mdb_env_open(disk.env, test->path, flags, 0600), 0);
    assert_int_equal(mdb_txn_begin(disk.env, NULL, flags, &disk.txn), 0);
    return disk;
}

static void disk_close(struct disk *disk, bool commit)
{
    if (commit) {
        assert_int_equal(mdb_txn_commit(disk->txn), 0);
    } else {
        mdb_txn_abort(disk->txn);
    }
    mdb_env_close(disk->env);
}

static void put_raw(const struct disk *disk, const char *database, struct span key, struct span value)
{
    MDB_dbi dbi;
    MDB_val name = {key.length, (void *)(uintptr_t)key.data};
    MDB_val bytes = {value.length, (void *)(uintptr_t)value.data};
    assert_int_equal(mdb_dbi_open(disk->txn, database, MDB_CREATE, &dbi), 0);
    assert_int_equal(mdb_put(disk->txn, dbi, &name, &bytes, 0), 0);
}

static size_t entries_of(const struct store_case *test, const char *database)
{
    struct disk disk = disk_open(test, MDB_RDONLY);
    MDB_dbi dbi;
    MDB_stat stat;
    assert_int_equal(mdb_dbi_open(disk.txn, database, 0, &dbi), 0);
    assert_int_equal(mdb_stat(disk.txn, dbi, &stat), 0);
    disk_close(&disk, false);
    return stat.ms_entries;
}

/* The first entry's value of a database. */
static size_t first_value(const struct store_case *test, const char *database, uint8_t *bytes, size_t room)
{
    struct disk disk = disk_open(test, MDB_RDONLY);
    MDB_dbi dbi;
    MDB_cursor *cursor = NULL;
    MDB_val key;
    MDB_val value;
    assert_int_equal(mdb_dbi_open(disk.txn, database, 0, &dbi), 0);
    assert_int_equal(mdb_cursor_open(disk.txn, dbi, &cursor), 0);
    assert_int_equal(mdb_cursor_get(cursor, &key, &value, MDB_FIRST), 0);
    assert_true(value.mv_size <= room);
    memcpy(bytes, value.mv_data, value.mv_size);
    size_t length = value.mv_size;
    mdb_cursor_close(cursor);
    disk_close(&disk, false);
    return length;
}

/* How LMDB describes a database (its root page among it): another one after every write into it. */
static void describe(const struct store_case *test, const char *database, uint8_t *bytes)
{
    struct disk disk = disk_open(test, MDB_RDONLY);
    MDB_dbi dbi;
    MDB_val key = {strlen(database), (void *)(uintptr_t)database};
    MDB_val value;
    assert_int_equal(mdb_dbi_open(disk.txn, NULL, 0, &dbi), 0);
    assert_int_equal(mdb_get(disk.txn, dbi, &key, &value), 0);
    assert_int_equal(value.mv_size, 48);
    memcpy(bytes, value.mv_data, 48);
    disk_close(&disk, false);
}

/* --------------------------------------------------------------------------------------------------- format 1 */

/* Bytes as they were: numbers big-endian, written out here and not by what is tested. */
#define BYTES(...) ((struct span){(const uint8_t[]){__VA_ARGS__}, sizeof((const uint8_t[]){__VA_ARGS__})})

/* 1800000000000 is 0x1A3185C5000; >> 13 is 0x0D18C2E2 (level 0), >> 19 is 0x34630B (level 1). */
#define DUE_BYTES 0, 0, 1, 0xA3, 0x18, 0x5C, 0x50, 0
#define BUCKET_0 0, 0, 0, 3, 0, 2, 0, 0, 0, 0, 0x0D, 0x18, 0xC2, 0xE2
#define BUCKET_1 0, 0, 0, 3, 0, 2, 1, 0, 0, 0, 0, 0x34, 0x63, 0x0B
#define OFFSET(n) 0, 0, 0, 0, 0, 0, 0, n

/* Partition ("t", 0) has id 3 and rows 7 and 8 of lane "default" (id 2) at level 0, row 9 at level 1; ("t", 1) id 4 and
 * none; rows of id 5 are garbage. */
static void write_format_1(struct store_case *test)
{
    assert_int_equal(mkdir(test->path, 0700), 0);
    struct disk disk = disk_open(test, 0);
    put_raw(&disk, "rows", BYTES(BUCKET_0, OFFSET(7)), BYTES(DUE_BYTES, 'o', 'n', 'e'));
    put_raw(&disk, "rows", BYTES(BUCKET_0, OFFSET(8)), BYTES(DUE_BYTES));
    put_raw(&disk, "rows", BYTES(BUCKET_1, OFFSET(9)), BYTES(DUE_BYTES, 't', 'w', 'o', '!'));
    put_raw(&disk, "rows", BYTES(0, 0, 0, 5, 0, 2, 0, 0, 0, 0, 0, 0, 0, 1, OFFSET(1)), BYTES(DUE_BYTES, 'x'));
    put_raw(&disk, "buckets", BYTES(BUCKET_0),
            BYTES(OFFSET(2), OFFSET(3), OFFSET(7), OFFSET(8), DUE_BYTES, OFFSET(8)));
    put_raw(&disk, "buckets", BYTES(BUCKET_1),
            BYTES(OFFSET(1), OFFSET(4), OFFSET(9), OFFSET(9), DUE_BYTES, OFFSET(9)));
    put_raw(&disk, "partitions", BYTES('t', 0, 0, 0, 0, 0), BYTES(0, 0, 0, 3, OFFSET(10), 'v', '1'));
    put_raw(&disk, "partitions", BYTES('t', 0, 0, 0, 0, 1), BYTES(0, 0, 0, 4, OFFSET(2)));
    put_raw(&disk, "lanes", span_of_text("default"), BYTES(0, 2));
    put_raw(&disk, "meta", BYTES('g', 'a', 'r', 'b', 'a', 'g', 'e', 0, 0, 0, 5),
            (struct span){(const uint8_t *)"", 0});
    put_raw(&disk, "meta", span_of_text("format"), BYTES(0, 0, 0, 1));
    disk_close(&disk, true);
}

static struct store_partition bind(struct store_case *test, slot_index slot)
{
    struct store_partition partition;
    if (!store_bind_slot(test->store, slot, "t", (int32_t)slot, &partition, &test->error)) {
        fail_msg("%s", test->error.text);
    }
    return partition;
}

static void test_a_store_of_format_1_works(void **state)
{
    struct store_case *test = *state;
    struct record_id id = {1, 2};
    struct bucket_id fine = store_case_bucket(0, 0, NOW);
    struct scanned_row rows[4];
    struct span row = SPAN_ABSENT;
    write_format_1(test);
    for (int again = 0; again < 2; again++) {
        store_case_open(test);
        struct store_partition partition = bind(test, 0);
        assert_true(partition.found && partition.ids_missing);
        assert_int_equal(partition.position, 10);
        assert_string_equal(partition.metadata, "v1");
        assert_int_equal(partition.bucket_count, 2);
        assert_int_equal(partition.buckets[0].bytes, 3);
        assert_int_equal(partition.mark_count + partition.skip_count, 0);
        free(partition.buckets);
        partition = bind(test, 1);
        assert_true(partition.found && !partition.ids_missing); /* nothing of it is here to be missed */
        free(partition.buckets);
        assert_int_equal(store_case_scan(test, 0, fine, 4, rows), 2);
        assert_int_equal(rows[0].due_ms, NOW);
        assert_int_equal(rows[0].bytes, 3);
        assert_int_equal(rows[1].bytes, 0);
        assert_true(store_read_begin(test->store, &test->error));
        assert_true(store_read(test->store, 0, fine, 7, &row, &test->error));
        assert_true(span_equals_text(row, "one"));
        store_read_end(test->store);
        store_case_close(test);
    }
    store_case_open(test);
    store_case_split(test, store_case_bucket(0, 1, NOW), 10);
    store_case_erase(test, 0, NOW, 8);
    store_case_put(test, fine, 11, NOW, store_case_ref(1, 5));
    store_case_name(test, id, -1);
    test->metadata = "v2";
    store_case_write(test, 0, 12);
    assert_int_equal(store_case_touched(test, fine).count, 3);
    assert_int_equal(store_case_find(test, 0, id).offset, 11);
    store_case_drop(test, fine);
    store_case_write(test, 0, 12);
    store_case_close(test);
    assert_int_equal(entries_of(test, "rows"), 0); /* the garbage too */
    assert_int_equal(entries_of(test, "ids"), 0);
}

/* The remedy for missing ids: forget, and read again; then they are all there, in later runs too. The id that a partition
 * had before the upgrade is not given out again, though nothing else speaks of it any more. */
static void test_forgetting_mends_missing_ids(void **state)
{
    struct store_case *test = *state;
    write_format_1(test);
    store_case_open(test);
    assert_true(store_forget_slot(test->store, 1, &test->error)); /* id 4, the greatest */
    store_case_write(test, 0, 10);                                /* removes what is left of it */
    for (int which = 0; which < 3; which++) {
        slot_index slot = which < 2 ? 1 : 0;
        store_case_close(test);
        store_case_open(test);
        struct store_partition partition = bind(test, slot);
        assert_int_equal(partition.ids_missing, slot == 0);
        free(partition.buckets);
        assert_true(store_forget_slot(test->store, slot, &test->error));
        store_case_close(test);
        store_case_open(test);
        store_case_put(test, store_case_bucket(0, 0, NOW), 5, NOW, store_case_ref(1, 5));
        store_case_write(test, slot, 6);
        partition = bind(test, slot);
        assert_false(partition.ids_missing);
        assert_int_equal(partition.bucket_count, 1);
        free(partition.buckets);
    }
}

static void test_the_format_is_raised_once(void **state)
{
    struct store_case *test = *state;
    uint8_t before[48];
    uint8_t after[48];
    write_format_1(test);
    store_case_open(test);
    store_case_close(test);
    describe(test, "meta", before);
    store_case_open(test);
    store_case_close(test);
    describe(test, "meta", after);
    assert_memory_equal(before, after, sizeof(before));
    assert_int_equal(entries_of(test, "rows"), 4); /* nothing was converted */
}

/* Somebody else's file with a format row of ours is not made a store. */
static void test_what_is_no_store_is_not_raised(void **state)
{
    struct store_case *test = *state;
    struct store_options options = {test->path, test->max_size_bytes};
    assert_int_equal(mkdir(test->path, 0700), 0);
    struct disk disk = disk_open(test, 0);
    put_raw(&disk, "meta", span_of_text("format"), BYTES(0, 0, 0, 1));
    disk_close(&disk, true);
    for (int again = 0; again < 2; again++) {
        assert_false(store_open(&options, &test->store, &test->error));
        assert_int_equal(test->error.code, ERROR_CORRUPT);
        assert_non_null(strstr(test->error.text, "not a store of tarry"));
    }
    assert_int_equal(entries_of(test, "meta"), 1);
    disk = disk_open(test, MDB_RDONLY);
    MDB_dbi dbi;
    assert_int_equal(mdb_dbi_open(disk.txn, "ids", 0, &dbi), MDB_NOTFOUND);
    disk_close(&disk, false);
}

/* ------------------------------------------------------------------------------------------------------- cost */

static void test_only_rows_with_an_id_carry_one(void **state)
{
    struct store_case *test = *state;
    uint8_t value[64];
    const uint8_t due[] = {DUE_BYTES};
    for (int with = 0; with < 2; with++) {
        store_case_open(test);
        store_case_put(test, store_case_bucket(0, 0, NOW), 7, NOW, store_case_ref(1, 10));
        if (with == 1) {
            store_case_name(test, (struct record_id){3, 4}, 2);
        }
        store_case_write(test, 0, 8);
        store_case_close(test);
        size_t length = first_value(test, "rows", value, sizeof(value));
        assert_int_equal(length, with == 1 ? 34 : 18); /* due, id, bytes */
        assert_memory_equal(value + 1, due + 1, 7);
        assert_int_equal(value[0], with == 1 ? 0x40 : 0);
        assert_memory_equal(value + length - 10, store_case_bytes(store_case_ref(1, 10)).data, 10);
        assert_int_equal(entries_of(test, "ids"), with);
    }
    assert_int_equal(first_value(test, "ids", value, sizeof(value)), 30);
}

static void test_marks_are_written_when_they_change(void **state)
{
    struct store_case *test = *state;
    enum { COUNT = 3001 };
    static struct mark marks[COUNT];
    struct skip skip = {1, 2};
    uint8_t before[48];
    uint8_t after[48];
    for (size_t i = 0; i < COUNT; i++) { /* in no order */
        size_t at = (i * 7) % COUNT;
        marks[i] = (struct mark){{at, COUNT - at}, (int64_t)at, 10000};
    }
    for (int step = 0; step < 6; step++) {
        marks[COUNT / 2].end += step == 2 ? 1 : 0;
        store_case_open(test);
        store_case_marks(test, marks, step == 4 ? COUNT - 1 : COUNT);
        store_case_skips(test, &skip, step == 5 ? 0 : 1);
        store_case_put(test, store_case_bucket(0, 0, NOW), step, NOW, store_case_ref(1, 10));
        store_case_write(test, 0, 10000);
        store_case_close(test);
        describe(test, "marks", after);
        assert_true(step == 0 || (memcmp(before, after, sizeof(before)) == 0) == (step == 1 || step == 3));
        memcpy(before, after, sizeof(before));
    }
    assert_int_equal(entries_of(test, "marks"), COUNT);
}

/* A partition that was forgotten without rows leaves a note behind, whose id must not go to another one. */
static void test_a_forgotten_id_is_not_given_out(void **state)
{
    struct store_case *test = *state;
    struct bucket_id bucket = store_case_bucket(0, 0, NOW);
    store_case_open(test);
    store_case_write(test, 0, 1);
    assert_true(store_forget_slot(test->store, 0, &test->error));
    store_case_close(test);
    assert_int_equal(entries_of(test, "partitions"), 0);
    store_case_open(test);
    for (slot_index slot = 0; slot < 2; slot++) {
        store_case_put(test, bucket, 5, NOW, store_case_ref(1, 5));
        store_case_write(test, slot, 6);
        store_case_assert_row(test, slot, bucket, 5, store_case_ref(1, 5));
    }
    store_case_close(test);
    assert_int_equal(entries_of(test, "rows"), 2);
}

/* Ids of a forgotten partition are removed like its rows, in slices; its marks at once. */
static void test_nothing_of_forgotten_ids_is_left(void **state)
{
    struct store_case *test = *state;
    const uint64_t rows = 120000;
    const struct mark mark = {{1, 2}, 3, 4};
    store_case_open(test);
    for (slot_index slot = 0; slot < 2; slot++) {
        for (uint64_t i = 0; i < (slot == 0 ? rows : 1); i++) {
            store_case_put(test, store_case_bucket(0, 0, NOW), (int64_t)i, NOW, store_case_ref(1, 1));
            store_case_name(test, (struct record_id){i * UINT64_C(0x9E3779B97F4A7C15), i + 1}, -1);
        }
        store_case_marks(test, &mark, slot == 0 ? 1 : 0);
        store_case_write(test, slot, (int64_t)rows);
    }
    assert_true(store_forget_slot(test->store, 0, &test->error));
    store_case_write(test, 1, 1);
    store_case_close(test);
    assert_int_equal(entries_of(test, "marks"), 0);
    assert_int_equal(entries_of(test, "ids"), 1);
    assert_int_equal(entries_of(test, "rows"), rows + 1 - (STORE_DROP_ROWS_MAX - rows));
    store_case_open(test);
    store_case_write(test, 1, 1);
    store_case_close(test);
    assert_int_equal(entries_of(test, "rows"), 1);
    assert_int_equal(entries_of(test, "ids"), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_a_store_of_format_1_works, new_case, free_case),
        cmocka_unit_test_setup_teardown(test_forgetting_mends_missing_ids, new_case, free_case),
        cmocka_unit_test_setup_teardown(test_the_format_is_raised_once, new_case, free_case),
        cmocka_unit_test_setup_teardown(test_what_is_no_store_is_not_raised, new_case, free_case),
        cmocka_unit_test_setup_teardown(test_only_rows_with_an_id_carry_one, new_case, free_case),
        cmocka_unit_test_setup_teardown(test_marks_are_written_when_they_change, new_case, free_case),
        cmocka_unit_test_setup_teardown(test_a_forgotten_id_is_not_given_out, new_case, free_case),
        cmocka_unit_test_setup_teardown(test_nothing_of_forgotten_ids_is_left, new_case, free_case),
    };
    return cmocka_run_group_tests_name("store_disk", tests, NULL, NULL);
}
