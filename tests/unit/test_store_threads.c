/* The writer thread writes while the owner thread binds, scans, reads and looks at the usage (run it under
 * ThreadSanitizer). */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"
#include "support/store_case.h"

#define NOW INT64_C(1800000000000)
#define PLANS 150
#define PLAN_ROWS 200

struct shared {
    struct store_case *test;
    atomic_int plans_written;
    atomic_bool failed;
};

/* Each plan puts rows into buckets of level 1 and 0, splits some and drops what an older plan put: bucket numbers say
 * the plan. */
static void *write_plans(void *context)
{
    struct shared *shared = context;
    struct store_case *test = shared->test;
    test->metadata = "m";
    for (int64_t n = 0; n < PLANS; n++) {
        for (int64_t i = 0; i < PLAN_ROWS; i++) {
            int64_t due = NOW + n * 8192 + i;
            store_case_put(test, store_case_bucket((lane_index)(i % 2), 0, due), n * PLAN_ROWS + i, due,
                           store_case_ref((uint32_t)i, (uint32_t)(100 + i)));
            store_case_name(test, (struct record_id){(uint64_t)(n * PLAN_ROWS + i) * 7919, 1}, -1);
        }
        struct mark mark = {{1, 1}, n, n};
        store_case_marks(test, &mark, 1);
        store_case_drop(test, store_case_bucket(0, 0, NOW + (n - 20) * 8192));
        if (!store_case_try(test, 0, (n + 1) * PLAN_ROWS)) {
            atomic_store(&shared->failed, true);
        }
        atomic_store(&shared->plans_written, (int)n + 1);
    }
    return NULL;
}

/* Lane 1's rows of a plan that has returned are all there, whatever is written meanwhile. */
static void look_at_plan(struct store *store, int64_t n)
{
    struct scanned_row rows[PLAN_ROWS];
    struct error error = {0};
    size_t count = 0;
    bool end = false;
    struct bucket_id bucket = store_case_bucket(1, 0, NOW + n * 8192);
    struct command_scan scan = {bucket, SCAN_WINDOW, n * PLAN_ROWS, (n + 1) * PLAN_ROWS, PLAN_ROWS};
    assert_true(store_scan(store, 0, &scan, rows, &count, &end, &error));
    assert_int_equal(count, PLAN_ROWS / 2);
    assert_true(store_read_begin(store, &error));
    for (size_t i = 0; i < count; i++) {
        struct span row = SPAN_ABSENT;
        uint32_t which = (uint32_t)(rows[i].offset % PLAN_ROWS);
        assert_true(store_read(store, 0, bucket, rows[i].offset, &row, &error));
        assert_true(span_equal(row, store_case_bytes(store_case_ref(which, 100 + which))));
    }
    store_read_end(store);
    for (int64_t offset = n * PLAN_ROWS + 1; offset < (n + 1) * PLAN_ROWS; offset += 20) {
        struct stored_event event;
        assert_true(store_find_id(store, 0, (struct record_id){(uint64_t)offset * 7919, 1}, &event, &error));
        assert_int_equal(event.offset, offset);
        assert_int_equal(event.lane, 1);
    }
}

static void test_owner_and_writer(void **state)
{
    struct shared shared = {.test = store_case_new()};
    pthread_t writer;
    int64_t looked = 0;
    (void)state;
    store_case_open(shared.test);
    struct store *store = shared.test->store;
    (void)store_case_bytes(store_case_ref(1, 1)); /* made before there are two threads */
    assert_int_equal(pthread_create(&writer, NULL, write_plans, &shared), 0);
    int64_t written = 0;
    while (written < PLANS) {
        struct error error = {0};
        struct store_partition partition;
        uint64_t used = 0;
        uint64_t most = 0;
        written = atomic_load(&shared.plans_written);
        if (written > 0) {
            look_at_plan(store, looked % written);
        }
        char name[16];
        (void)snprintf(name, sizeof(name), "lane%d", (int)(looked % 100));
        assert_true(store_bind_lane(store, (lane_index)(2 + looked % 100), name, &error));
        assert_true(store_bind_slot(store, (slot_index)(2 + looked % 3000), "other", (int32_t)(looked % 50), &partition,
                                    &error));
        free(partition.buckets);
        store_usage(store, &used, &most);
        assert_true(used > 0 && used <= most);
        looked++;
    }
    assert_int_equal(pthread_join(writer, NULL), 0);
    assert_false(atomic_load(&shared.failed));
    store_case_free(shared.test);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_owner_and_writer),
    };
    return cmocka_run_group_tests_name("store_threads", tests, NULL, NULL);
}
