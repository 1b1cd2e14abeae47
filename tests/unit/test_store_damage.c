/* Damaged stores are refused with a clear text, never taken for empty, never a crash at start. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/memory.h"
#include "base/random.h"
#include "support/store_case.h"

#define NOW INT64_C(1800000000000)
#define PAGE 4096
#define MARKS 2000

struct image {
    uint8_t *bytes;
    size_t length;
    char file[300];
};

static struct record_id id_of(int64_t number)
{
    return (struct record_id){(uint64_t)number * UINT64_C(0x9E3779B97F4A7C15), 1};
}

static void give_marks(struct store_case *test, int64_t end)
{
    static struct mark marks[MARKS];
    static const struct skip skip = {1, 2};
    for (int64_t i = 0; i < MARKS; i++) {
        marks[i] = (struct mark){id_of(i), i, end};
    }
    store_case_marks(test, marks, MARKS);
    store_case_skips(test, &skip, 1);
}

/* A store with inner pages, long rows, ids, marks and a free list; its file's bytes. */
static void fill(struct store_case *test, struct image *image)
{
    struct stat found;
    store_case_open(test);
    for (int round = 0; round < 3; round++) {
        for (int64_t i = 0; i < 3000; i++) {
            int64_t due = NOW + i % 40 * 8192;
            store_case_put(test, store_case_bucket((lane_index)(i % 2), 0, due), round * 3000 + i, due,
                           store_case_ref((uint32_t)i, i % 200 == 0 ? 5000 : 276));
            if (i % 3 == 0) {
                store_case_name(test, id_of(round * 3000 + i), -1);
            }
        }
        store_case_drop(test, store_case_bucket(0, 0, NOW));
        store_case_trim(test, store_case_bucket(1, 0, NOW + 8192), 2000, 1000);
        give_marks(test, round);
        store_case_write(test, 0, (round + 1) * 3000);
    }
    store_case_close(test);
    (void)snprintf(image->file, sizeof(image->file), "%s/data.mdb", test->path);
    int fd = open(image->file, O_RDONLY);
    assert_int_equal(fstat(fd, &found), 0);
    image->length = (size_t)found.st_size;
    image->bytes = memory_new(image->length, 1);
    assert_int_equal(read(fd, image->bytes, image->length), image->length);
    close(fd);
}

static void write_file(const struct image *image, const uint8_t *bytes, size_t length)
{
    int fd = open(image->file, O_WRONLY | O_TRUNC);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, bytes, length), length);
    close(fd);
}

static enum error_code try_open(struct store_case *test)
{
    struct store_options options = {test->path, test->max_size_bytes};
    memset(&test->error, 0, sizeof(test->error));
    if (store_open(&options, &test->store, &test->error)) {
        store_case_close(test);
    }
    return test->error.code;
}

static void assert_corrupt(struct store_case *test)
{
    assert_int_equal(try_open(test), ERROR_CORRUPT);
    assert_non_null(strstr(test->error.text, test->path));
    assert_non_null(strstr(test->error.text, "move the directory away"));
}

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

static void test_truncated(void **state)
{
    struct store_case *test = *state;
    struct image image;
    fill(test, &image);
    const size_t lengths[] = {
        0, 1, 100, PAGE, 2 * PAGE - 1, 2 * PAGE, 3 * PAGE, image.length / 2, image.length / 10 * 9};
    for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
        write_file(&image, image.bytes, lengths[i]);
        assert_corrupt(test);
        assert_corrupt(test); /* a refusal changes nothing */
    }
    write_file(&image, image.bytes, image.length);
    assert_int_equal(try_open(test), ERROR_NONE);
    free(image.bytes);
}

static void test_other_files(void **state)
{
    struct store_case *test = *state;
    struct image image;
    struct random random = random_new(5);
    fill(test, &image);
    uint8_t *other = memory_new(image.length, 1);
    write_file(&image, other, image.length); /* zeros */
    assert_corrupt(test);
    random_fill(&random, other, image.length);
    write_file(&image, other, image.length);
    assert_corrupt(test);
    write_file(&image, (const uint8_t *)"once upon a time", 16);
    assert_corrupt(test);
    free(other);
    free(image.bytes);
}

/* Opens, and walks through everything: in a child, as LMDB may abort on what the check at start did not see. */
static int open_and_walk(struct store_case *test)
{
    struct store_options options = {test->path, test->max_size_bytes};
    struct store_partition partition;
    static struct scanned_row rows[10000];
    if (!store_open(&options, &test->store, &test->error)) {
        return (int)test->error.code;
    }
    bool ok = store_bind_lane(test->store, 0, "default", &test->error) &&
              store_bind_lane(test->store, 1, "orders", &test->error) &&
              store_bind_slot(test->store, 0, "t", 0, &partition, &test->error);
    for (size_t i = 0; ok && i < partition.bucket_count; i++) {
        struct command_scan scan = {partition.buckets[i].id, SCAN_WINDOW, 0, INT64_MAX, 10000};
        size_t count = 0;
        bool end = false;
        ok = store_scan(test->store, 0, &scan, rows, &count, &end, &test->error);
    }
    for (int64_t i = 0; ok && i < 9000; i++) {
        struct stored_event event;
        ok = store_find_id(test->store, 0, id_of(i), &event, &test->error);
    }
    return ok ? 0 : (int)test->error.code;
}

static int in_child(struct store_case *test)
{
    int status = 0;
    pid_t child = fork();
    if (child == 0) {
        _exit(open_and_walk(test));
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status)); /* no SIGBUS, SIGSEGV or SIGABRT */
    return WEXITSTATUS(status);
}

/* Whole pages of random bytes: either the page is not in use, or the store is refused. */
static void test_random_pages(void **state)
{
    struct store_case *test = *state;
    struct image image;
    struct random random = random_new(7);
    int refused = 0;
    fill(test, &image);
    uint8_t *other = memory_new(image.length, 1);
    for (int i = 0; i < 60; i++) {
        size_t page = i < 10 ? (size_t)i : (size_t)random_below(&random, image.length / PAGE);
        memcpy(other, image.bytes, image.length);
        random_fill(&random, other + page * PAGE, PAGE);
        write_file(&image, other, image.length);
        int code = in_child(test);
        assert_true(code == ERROR_NONE || code == ERROR_CORRUPT);
        refused += code == ERROR_CORRUPT ? 1 : 0;
    }
    assert_true(refused >= 30);
    free(other);
    free(image.bytes);
}

/* Both heads, byte by byte: no version, size or root may crash the start. */
static void test_random_heads(void **state)
{
    struct store_case *test = *state;
    struct image image;
    struct random random = random_new(9);
    fill(test, &image);
    uint8_t *other = memory_new(image.length, 1);
    for (int i = 0; i < 60; i++) {
        memcpy(other, image.bytes, image.length);
        size_t at = random_below(&random, 2) * PAGE + 16 + (size_t)random_below(&random, 136);
        random_fill(&random, other + at, 1 + (size_t)random_below(&random, 4));
        write_file(&image, other, image.length);
        int code = in_child(test);
        assert_true(code == ERROR_NONE || code == ERROR_CORRUPT || code == ERROR_TOO_NEW || code == ERROR_SYSTEM);
    }
    memcpy(other, image.bytes, image.length);
    other[20] = 2; /* LMDB's own version */
    write_file(&image, other, image.length);
    assert_int_equal(try_open(test), ERROR_TOO_NEW);
    free(other);
    free(image.bytes);
}

static void test_a_missing_file_is_a_new_store(void **state)
{
    struct store_case *test = *state;
    struct image image;
    fill(test, &image);
    assert_int_equal(unlink(image.file), 0); /* a lost disk: R3 */
    store_case_open(test);
    store_case_write(test, 0, 1);
    free(image.bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_truncated, new_case, free_case),
        cmocka_unit_test_setup_teardown(test_other_files, new_case, free_case),
        cmocka_unit_test_setup_teardown(test_random_pages, new_case, free_case),
        cmocka_unit_test_setup_teardown(test_random_heads, new_case, free_case),
        cmocka_unit_test_setup_teardown(test_a_missing_file_is_a_new_store, new_case, free_case),
    };
    return cmocka_run_group_tests_name("store_damage", tests, NULL, NULL);
}
