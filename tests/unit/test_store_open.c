/* Opening: sizes, modes, the lock, formats, files that are not ours. */
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>
#include <lmdb.h>

#include "support/store_case.h"

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

static enum error_code try_open(struct store_case *test)
{
    struct store_options options = {test->path, test->max_size_bytes};
    struct store *before = test->store;
    if (store_open(&options, &test->store, &test->error)) {
        store_case_close(test);
        return ERROR_NONE;
    }
    assert_ptr_equal(test->store, before);
    assert_true(strlen(test->error.text) > 0);
    return test->error.code;
}

static mode_t mode_of(const struct store_case *test, const char *name)
{
    char file[300];
    struct stat found;
    (void)snprintf(file, sizeof(file), "%s/%s", test->path, name);
    assert_int_equal(stat(file, &found), 0);
    return found.st_mode & 07777;
}

static void test_sizes(void **state)
{
    struct store_case *test = *state;
    const uint64_t refused[] = {0, 1, 1024 * 1024 - 1, UINT64_MAX, UINT64_MAX - 4094, (uint64_t)INT64_MAX + 1};
    const uint64_t taken[] = {1024 * 1024, 1024 * 1024 + 1, UINT64_C(3) << 30, UINT64_C(5) << 30, UINT64_C(10) << 40};
    for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
        test->max_size_bytes = refused[i];
        assert_int_equal(try_open(test), ERROR_INVALID);
        assert_non_null(strstr(test->error.text, "store.max_size"));
    }
    for (size_t i = 0; i < sizeof(taken) / sizeof(taken[0]); i++) {
        uint64_t used = 0;
        uint64_t most = 0;
        test->max_size_bytes = taken[i];
        store_case_open(test);
        store_usage(test->store, &used, &most);
        assert_true(most >= taken[i] && most < taken[i] + 65536);
        assert_true(used > 0 && used < 200000);
        store_case_write(test, 0, (int64_t)i);
        store_case_close(test);
    }
    test->max_size_bytes = (uint64_t)INT64_MAX - 65536; /* a number, but no address space */
    assert_int_equal(try_open(test), ERROR_SYSTEM);
    assert_non_null(strstr(test->error.text, "store.max_size"));
}

static void test_a_lowered_size_keeps_what_is_there(void **state)
{
    struct store_case *test = *state;
    struct bucket_id bucket = store_case_bucket(0, 0, 1);
    store_case_open(test);
    for (int64_t offset = 0; offset < 20; offset++) {
        store_case_put(test, bucket, offset, 1, store_case_ref(1, 200000));
    }
    store_case_write(test, 0, 20);
    store_case_close(test);
    test->max_size_bytes = 1024 * 1024;
    store_case_open(test);
    store_case_assert_row(test, 0, bucket, 19, store_case_ref(1, 200000));
    store_case_put(test, bucket, 30, 1, store_case_ref(1, 10));
    assert_false(store_case_try(test, 0, 31));
    assert_int_equal(test->error.code, ERROR_FULL);
    store_case_drop(test, bucket);
    store_case_write(test, 0, 20);
    store_case_put(test, bucket, 30, 1, store_case_ref(1, 10));
    store_case_write(test, 0, 31);
}

static void test_modes(void **state)
{
    struct store_case *test = *state;
    mode_t before = umask(0);
    store_case_open(test);
    (void)umask(before);
    assert_int_equal(mode_of(test, "."), 0700);
    assert_int_equal(mode_of(test, "data.mdb"), 0600);
    assert_int_equal(mode_of(test, "lock.mdb"), 0600);
    assert_int_equal(mode_of(test, "lock"), 0600);
}

static void test_paths(void **state)
{
    struct store_case *test = *state;
    struct store_options options = {"", test->max_size_bytes};
    assert_false(store_open(&options, &test->store, &test->error));
    assert_int_equal(test->error.code, ERROR_INVALID);
    options.path = "/nowhere/at/all";
    assert_false(store_open(&options, &test->store, &test->error));
    assert_int_equal(test->error.code, ERROR_SYSTEM);
    assert_non_null(strstr(test->error.text, "/nowhere/at/all"));
    FILE *file = fopen(test->path, "w");
    assert_non_null(file);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(try_open(test), ERROR_CORRUPT);
    assert_non_null(strstr(test->error.text, "not a directory"));
}

/* A child opens the store, says so, and waits to be told to end. */
static void hold_open(struct store_case *test, int tell, int wait)
{
    char byte = 'n';
    struct store_options options = {test->path, test->max_size_bytes};
    if (store_open(&options, &test->store, &test->error)) {
        byte = 'y';
    }
    if (write(tell, &byte, 1) == 1) {
        (void)!read(wait, &byte, 1);
    }
    _exit(0);
}

static void test_another_process_has_it(void **state)
{
    struct store_case *test = *state;
    int said[2];
    int held[2];
    char byte = 0;
    char pid[32];
    assert_int_equal(pipe(said), 0);
    assert_int_equal(pipe(held), 0);
    pid_t child = fork();
    if (child == 0) {
        close(held[1]);
        hold_open(test, said[1], held[0]);
    }
    assert_int_equal(read(said[0], &byte, 1), 1);
    assert_int_equal(byte, 'y');
    assert_int_equal(try_open(test), ERROR_BUSY);
    (void)snprintf(pid, sizeof(pid), "process %ld", (long)child);
    assert_non_null(strstr(test->error.text, pid));
    assert_non_null(strstr(test->error.text, test->path));
    assert_int_equal(kill(child, SIGKILL), 0);
    assert_int_equal(waitpid(child, NULL, 0), child);
    assert_int_equal(try_open(test), ERROR_NONE); /* a killed holder leaves nothing behind */
    close(said[0]);
    close(said[1]);
    close(held[0]);
    close(held[1]);
}

/* Changes the format row with LMDB alone. */
static void set_format(const struct store_case *test, const uint8_t *bytes, size_t length)
{
    MDB_env *env = NULL;
    MDB_txn *txn = NULL;
    MDB_dbi meta;
    MDB_val key = {6, (void *)(uintptr_t) "format"};
    MDB_val value = {length, (void *)(uintptr_t)bytes};
    assert_int_equal(mdb_env_create(&env), 0);
    assert_int_equal(mdb_env_set_maxdbs(env, 8), 0);
    assert_int_equal(mdb_env_open(env, test->path, 0, 0600), 0);
    assert_int_equal(mdb_txn_begin(env, NULL, 0, &txn), 0);
    assert_int_equal(mdb_dbi_open(txn, "meta", MDB_CREATE, &meta), 0);
    assert_int_equal(length > 0 ? mdb_put(txn, meta, &key, &value, 0) : mdb_del(txn, meta, &key, NULL), 0);
    assert_int_equal(mdb_txn_commit(txn), 0);
    mdb_env_close(env);
}

static void test_formats(void **state)
{
    struct store_case *test = *state;
    const uint8_t newer[4] = {0, 0, 0, STORE_FORMAT + 1};
    const uint8_t far_newer[4] = {255, 255, 255, 255};
    const uint8_t none[4] = {0, 0, 0, 0};
    const uint8_t ours[4] = {0, 0, 0, STORE_FORMAT};
    assert_int_equal(try_open(test), ERROR_NONE);
    set_format(test, newer, 4);
    assert_int_equal(try_open(test), ERROR_TOO_NEW);
    assert_non_null(strstr(test->error.text, "later version"));
    set_format(test, far_newer, 4);
    assert_int_equal(try_open(test), ERROR_TOO_NEW);
    set_format(test, none, 4);
    assert_int_equal(try_open(test), ERROR_CORRUPT);
    set_format(test, ours, 3);
    assert_int_equal(try_open(test), ERROR_CORRUPT);
    set_format(test, ours, 0);
    assert_int_equal(try_open(test), ERROR_CORRUPT);
    set_format(test, ours, 4);
    assert_int_equal(try_open(test), ERROR_NONE);
}

static void test_somebody_elses_lmdb(void **state)
{
    struct store_case *test = *state;
    const uint8_t value[4] = {0, 0, 0, STORE_FORMAT};
    assert_int_equal(mkdir(test->path, 0700), 0);
    set_format(test, value, 4); /* makes data.mdb, with but one of our databases */
    assert_int_equal(try_open(test), ERROR_CORRUPT);
    assert_non_null(strstr(test->error.text, "not a store of tarry"));
}

static void test_a_start_that_was_cut_off(void **state)
{
    struct store_case *test = *state;
    char file[300];
    assert_int_equal(mkdir(test->path, 0700), 0);
    (void)snprintf(file, sizeof(file), "%s/data.mdb.new", test->path);
    FILE *half = fopen(file, "w");
    assert_non_null(half);
    assert_true(fputs("half", half) >= 0);
    assert_int_equal(fclose(half), 0);
    assert_int_equal(try_open(test), ERROR_NONE);
    assert_int_not_equal(access(file, F_OK), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_sizes, new_case, free_case),
        cmocka_unit_test_setup_teardown(test_a_lowered_size_keeps_what_is_there, new_case, free_case),
        cmocka_unit_test_setup_teardown(test_modes, new_case, free_case),
        cmocka_unit_test_setup_teardown(test_paths, new_case, free_case),
        cmocka_unit_test_setup_teardown(test_another_process_has_it, new_case, free_case),
        cmocka_unit_test_setup_teardown(test_formats, new_case, free_case),
        cmocka_unit_test_setup_teardown(test_somebody_elses_lmdb, new_case, free_case),
        cmocka_unit_test_setup_teardown(test_a_start_that_was_cut_off, new_case, free_case),
    };
    return cmocka_run_group_tests_name("store_open", tests, NULL, NULL);
}
