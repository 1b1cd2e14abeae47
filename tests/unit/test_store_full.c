/* No room: in the map, on the disk, or by a limit. Nothing is half written, what is due still leaves, and it goes on
 * when there is room. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/memory.h"
#include "support/store_case.h"

#define NOW INT64_C(1800000000000)
#define PLAN_ROWS 100
#define MIB ((uint64_t)1024 * 1024)

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

/* One plan of rows into a bucket `ahead` buckets from now. */
static bool put_plan(struct store_case *test, uint8_t level, int64_t ahead, int64_t *offset, uint32_t row_bytes)
{
    int64_t width = INT64_C(1) << (BUCKET_SHIFT_0 + BUCKET_SHIFT_STEP * level);
    for (int64_t i = 0; i < PLAN_ROWS; i++) {
        int64_t due = NOW / width * width + ahead * width + i * width / PLAN_ROWS;
        store_case_put(test, store_case_bucket(0, level, due), *offset + i, due,
                       store_case_ref((uint32_t)(*offset + i), row_bytes));
    }
    bool done = store_case_try(test, 0, *offset + PLAN_ROWS);
    if (!done) {
        assert_int_equal(test->error.code, ERROR_FULL);
        assert_non_null(strstr(test->error.text, "store.max_size"));
    }
    *offset += done ? PLAN_ROWS : 0;
    return done;
}

static uint64_t rows_counted(struct store_case *test, int64_t position)
{
    struct store_partition partition;
    uint64_t rows = 0;
    assert_true(store_bind_slot(test->store, 0, "t", 0, &partition, &test->error));
    assert_int_equal(partition.position, position);
    struct scanned_row *found = memory_new(200000, sizeof(*found));
    for (size_t i = 0; i < partition.bucket_count; i++) {
        assert_int_equal(store_case_scan(test, 0, partition.buckets[i].id, 5000, found), partition.buckets[i].count);
        rows += partition.buckets[i].count;
    }
    free(found);
    free(partition.buckets);
    free(partition.marks);
    free(partition.skips);
    return rows;
}

static bool drop_all_but(struct store_case *test, size_t keep, int64_t position)
{
    struct store_partition partition;
    assert_true(store_bind_slot(test->store, 0, "t", 0, &partition, &test->error));
    for (size_t i = keep; i < partition.bucket_count; i++) {
        store_case_drop(test, partition.buckets[i].id);
    }
    free(partition.buckets);
    bool done = store_case_try(test, 0, position);
    assert_true(done || test->error.code == ERROR_FULL);
    return done;
}

static uint64_t file_bytes(const struct store_case *test)
{
    char file[300];
    struct stat found;
    (void)snprintf(file, sizeof(file), "%s/data.mdb", test->path);
    assert_int_equal(stat(file, &found), 0);
    return (uint64_t)found.st_size;
}

/* Full and emptied again and again: drops always find pages, and nothing leaks. */
static void test_full_map(void **state)
{
    struct store_case *test = *state;
    const uint64_t sizes[] = {1, 4};
    const uint32_t lengths[] = {100, 1000, 9000};
    int64_t offset = 0;
    for (size_t size = 0; size < 2; size++) {
        test->max_size_bytes = sizes[size] * MIB;
        store_case_open(test);
        for (int round = 0; round < 6; round++) {
            uint64_t plans = 0;
            uint64_t used = 0;
            uint64_t most = 0;
            int64_t before = offset;
            while (put_plan(test, 0, (int64_t)plans % 20, &offset, lengths[round % 3])) {
                plans++;
            }
            assert_true(plans > 0 || lengths[round % 3] == 9000);
            assert_int_equal(rows_counted(test, offset), offset - before);
            assert_false(put_plan(test, 0, 1, &offset, lengths[round % 3]));
            assert_true(drop_all_but(test, 0, offset));
            assert_int_equal(rows_counted(test, offset), 0);
            store_usage(test->store, &used, &most);
            assert_true(used < 300000);
            assert_true(file_bytes(test) <= most);
        }
        store_case_close(test);
        *strrchr(test->path, '/') = '\0';
        (void)snprintf(test->path + strlen(test->path), 16, "/store%d", (int)size);
        offset = 0;
    }
}

/* Wide buckets can be split in a full store: without that nothing more would come due. */
static void test_splits_in_a_full_map(void **state)
{
    struct store_case *test = *state;
    int64_t offset = 0;
    int64_t plans = 0;
    test->max_size_bytes = 8 * MIB;
    store_case_open(test);
    while (put_plan(test, 1, plans % 8, &offset, 276)) {
        plans++;
    }
    uint64_t rows = rows_counted(test, offset);
    for (int64_t ahead = 0; ahead < 8; ahead++) {
        struct bucket_id wide = {0, 1, (NOW >> 19) + ahead};
        struct bucket_stats left = {.count = 1};
        int tries = 0;
        while (left.count > 0) {
            assert_true(tries++ < 1000);
            store_case_split(test, wide, 1000);
            store_case_write(test, 0, offset);
            left = store_case_touched(test, wide);
        }
        for (int64_t i = 0; i < 64; i++) {
            store_case_drop(test, (struct bucket_id){0, 0, wide.number * 64 + i});
        }
        store_case_write(test, 0, offset);
        rows -= test->result.rows_dropped;
        assert_int_equal(rows_counted(test, offset), rows);
    }
    assert_int_equal(rows, 0);
}

/* A full store of rows with ids: trims, erases and marks still go, and make room. */
static void test_trims_and_erases_in_a_full_map(void **state)
{
    struct store_case *test = *state;
    struct bucket_id bucket = store_case_bucket(0, 0, NOW);
    struct mark marks[100];
    int64_t offset = 0;
    test->max_size_bytes = 2 * MIB;
    store_case_open(test);
    for (int round = 0; round < 4; round++) {
        int64_t first = offset;
        bool done = true;
        while (done) {
            for (int64_t i = 0; i < PLAN_ROWS; i++) {
                store_case_put(test, bucket, offset + i, NOW, store_case_ref(1, 100));
                store_case_name(test, (struct record_id){(uint64_t)(offset + i) * UINT64_C(0x9E3779B97F4A7C15), 1}, -1);
            }
            done = store_case_try(test, 0, offset + PLAN_ROWS);
            assert_true(done || test->error.code == ERROR_FULL);
            offset += done ? PLAN_ROWS : 0;
        }
        assert_int_equal(rows_counted(test, offset), offset - first);
        assert_true(offset - first > 1000);
        for (int64_t i = 0; i < 100; i++) {
            marks[i] = (struct mark){{(uint64_t)i, 7}, round * 100 + i, i};
        }
        for (int64_t i = 0; i < 20; i++) {
            store_case_erase(test, 0, NOW, offset - 1 - i * 5);
        }
        store_case_marks(test, marks, 100);
        store_case_write(test, 0, offset);
        assert_int_equal(test->result.rows_erased, 20);
        struct bucket_stats left = store_case_touched(test, bucket);
        for (int tries = 0; left.count > 0; tries++) {
            assert_true(tries < 400);
            store_case_trim(test, bucket, offset, 700);
            store_case_write(test, 0, offset);
            assert_true(tries > 0 || test->result.rows_trimmed < 100); /* as many as the reserve has pages for */
            left = store_case_touched(test, bucket);
        }
        assert_true(test->result.used_bytes < 300000);
    }
}

static void test_a_row_that_never_fits(void **state)
{
    struct store_case *test = *state;
    test->max_size_bytes = MIB;
    store_case_open(test);
    store_case_put(test, store_case_bucket(0, 0, NOW), 1, NOW, store_case_ref(1, 3 * 1024 * 1024));
    assert_false(store_case_try(test, 0, 2));
    assert_int_equal(test->error.code, ERROR_FULL);
    store_case_put(test, store_case_bucket(0, 0, NOW), 1, NOW, store_case_ref(1, 100000));
    store_case_write(test, 0, 2);
}

/* -------------------------------------------------------------------------------------------- disk and limits */

struct scarcity {
    bool by_mount;
    char ballast[320];
    struct rlimit before;
};

static void limit_file(struct scarcity *scarcity, uint64_t bytes)
{
    struct sigaction ignore = {.sa_handler = SIG_IGN};
    assert_int_equal(sigaction(SIGXFSZ, &ignore, NULL), 0);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &scarcity->before), 0);
    struct rlimit limit = {bytes, scarcity->before.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

static void write_ballast(const char *file, size_t bytes)
{
    FILE *ballast = fopen(file, "w");
    assert_non_null(ballast);
    for (size_t i = 0; i < bytes; i += 4096) {
        static const char zeros[4096];
        assert_int_equal(fwrite(zeros, 1, sizeof(zeros), ballast), sizeof(zeros));
    }
    assert_int_equal(fclose(ballast), 0);
}

/* A small file system of its own where that is permitted (root), else a limit on file sizes, which fails in the same
 * places. */
static void begin_scarcity(struct scarcity *scarcity, struct store_case *test, uint64_t bytes, bool mount_wanted)
{
    *scarcity = (struct scarcity){0};
    char options[32];
    (void)snprintf(options, sizeof(options), "size=%llu", (unsigned long long)bytes * 2);
    scarcity->by_mount = mount_wanted && mount("tmpfs", test->folder, "tmpfs", 0, options) == 0;
    if (!scarcity->by_mount) {
        limit_file(scarcity, bytes);
        return;
    }
    (void)snprintf(scarcity->ballast, sizeof(scarcity->ballast), "%s/ballast", test->folder);
    write_ballast(scarcity->ballast, bytes);
}

static void end_scarcity(struct scarcity *scarcity)
{
    if (scarcity->by_mount) {
        assert_int_equal(unlink(scarcity->ballast), 0);
    } else {
        assert_int_equal(setrlimit(RLIMIT_FSIZE, &scarcity->before), 0);
    }
}

static void run_scarce(struct store_case *test, bool mount_wanted, uint32_t row_bytes)
{
    struct scarcity scarcity;
    int64_t offset = 0;
    int64_t plans = 0;
    test->max_size_bytes = 64 * MIB;
    begin_scarcity(&scarcity, test, 12 * MIB, mount_wanted);
    store_case_open(test);
    while (put_plan(test, 0, plans % 10, &offset, row_bytes)) {
        plans++;
        assert_true(plans < 10000);
    }
    assert_true(file_bytes(test) > 6 * MIB);
    assert_int_equal(rows_counted(test, offset), offset);
    for (int again = 0; again < 3; again++) {
        assert_false(put_plan(test, 0, plans % 10, &offset, row_bytes));
    }
    store_case_assert_row(test, 0, store_case_bucket(0, 0, NOW / 8192 * 8192), 0, store_case_ref(0, row_bytes));
    assert_true(drop_all_but(test, 3, offset)); /* pages that were freed before serve for it */
    uint64_t kept = rows_counted(test, offset);
    assert_true(kept < (uint64_t)offset);
    int64_t before = offset;
    assert_true(put_plan(test, 0, 0, &offset, row_bytes));
    end_scarcity(&scarcity);
    for (int plan = 0; plan < 20; plan++) {
        assert_true(put_plan(test, 0, plan % 10, &offset, row_bytes));
    }
    store_case_close(test);
    store_case_open(test);
    assert_int_equal(rows_counted(test, offset), kept + (uint64_t)(offset - before));
    store_case_close(test);
    if (scarcity.by_mount) {
        assert_int_equal(umount2(test->folder, MNT_DETACH), 0);
    }
}

static void test_file_size_limit(void **state)
{
    run_scarce(*state, false, 276);
}

static void test_file_size_limit_with_long_rows(void **state)
{
    run_scarce(*state, false, 7000);
}

static void test_full_disk(void **state)
{
    run_scarce(*state, true, 276);
}

static void test_full_disk_with_long_rows(void **state)
{
    run_scarce(*state, true, 7000);
}

static void test_no_room_to_begin(void **state)
{
    struct store_case *test = *state;
    struct scarcity scarcity = {0};
    struct store_options options = {test->path, test->max_size_bytes};
    limit_file(&scarcity, 4096);
    assert_false(store_open(&options, &test->store, &test->error));
    assert_int_equal(test->error.code, ERROR_FULL);
    end_scarcity(&scarcity);
    store_case_open(test);
    store_case_write(test, 0, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_full_map, new_case, free_case),
        cmocka_unit_test_setup_teardown(test_splits_in_a_full_map, new_case, free_case),
        cmocka_unit_test_setup_teardown(test_trims_and_erases_in_a_full_map, new_case, free_case),
        cmocka_unit_test_setup_teardown(test_a_row_that_never_fits, new_case, free_case),
        cmocka_unit_test_setup_teardown(test_file_size_limit, new_case, free_case),
        cmocka_unit_test_setup_teardown(test_file_size_limit_with_long_rows, new_case, free_case),
        cmocka_unit_test_setup_teardown(test_full_disk, new_case, free_case),
        cmocka_unit_test_setup_teardown(test_full_disk_with_long_rows, new_case, free_case),
        cmocka_unit_test_setup_teardown(test_no_room_to_begin, new_case, free_case),
    };
    return cmocka_run_group_tests_name("store_full", tests, NULL, NULL);
}
