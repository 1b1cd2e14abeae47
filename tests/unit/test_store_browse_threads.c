/* Two threads look through the store while a writer puts, splits, drops and erases: each snapshot is one commit, whole (run it under ThreadSanitizer). */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "store/store_browse.h"
#include "support/store_case.h"

#define NOW INT64_C(1800000000000)
#define PLANS 150
#define PLAN_ROWS 200
#define KEPT 20 /* plans whose rows of lane "default" are there: older ones are dropped */
#define SPREAD_MS INT64_C(20000)

struct shared {
    struct store_case *test;
    atomic_int plans_written;
    atomic_bool failed;
};

/* What one look at a snapshot found. */
struct look {
    struct shared *shared;
    struct store_browse *browse;
    uint32_t partition;
    int64_t position;
    uint64_t orders;        /* rows of lane "orders" */
    uint64_t buckets_rows;  /* by statistics */
    uint64_t buckets_bytes;
    uint64_t rows;
    uint64_t bytes;
    int64_t last_offset;
    bool wrong;
};

/* Lane 1's rows go to level 1 and are split later, each tenth is erased in the plan after; lane 0's stay at level 0 until they are dropped. */
static void add_plan(struct store_case *test, int64_t n)
{
    for (int64_t i = 0; i < PLAN_ROWS; i++) {
        bool orders = i % 2 == 1;
        int64_t due = orders ? NOW + n * SPREAD_MS + i * 100 : NOW + n * 8192;
        store_case_put(test, store_case_bucket(orders ? 1 : 0, orders ? 1 : 0, due), n * PLAN_ROWS + i, due,
                       store_case_ref((uint32_t)(n * PLAN_ROWS + i), (uint32_t)(100 + i)));
        store_case_name(test, (struct record_id){(uint64_t)(n * PLAN_ROWS + i) * 7919, 1}, -1);
    }
    for (int64_t i = 1; n > 0 && i < PLAN_ROWS; i += 20) {
        store_case_erase(test, 1, NOW + (n - 1) * SPREAD_MS + i * 100, (n - 1) * PLAN_ROWS + i);
    }
    store_case_drop(test, store_case_bucket(0, 0, NOW + (n - KEPT) * 8192));
    store_case_split(test, store_case_bucket(1, 1, NOW + (n - 5) * SPREAD_MS), 37);
}

static void *write_plans(void *context)
{
    struct shared *shared = context;
    shared->test->metadata = "m";
    for (int64_t n = 0; n < PLANS; n++) {
        add_plan(shared->test, n);
        if (!store_case_try(shared->test, 0, (n + 1) * PLAN_ROWS)) {
            atomic_store(&shared->failed, true);
        }
        atomic_store(&shared->plans_written, (int)n + 1);
    }
    return NULL;
}

static void take_partition(const struct store_browse_partition *partition, void *context)
{
    struct look *look = context;
    look->partition = partition->id;
    look->position = partition->position;
    look->wrong = look->wrong || strcmp(partition->topic, "t") != 0 || partition->partition != 0 || strcmp(partition->metadata, "m") != 0;
}

static bool take_row(const struct store_browse_row *row, void *context)
{
    struct look *look = context;
    uint32_t which = (uint32_t)row->offset;
    struct span expected = store_case_bytes(store_case_ref(which, 100 + which % PLAN_ROWS));
    look->wrong = look->wrong || row->offset <= look->last_offset || row->offset >= look->position || !span_equal(row->bytes, expected) ||
                  row->id.high != (uint64_t)row->offset * 7919;
    look->last_offset = row->offset;
    look->rows++;
    look->bytes += row->bytes.length;
    const char *lane = store_browse_lane(look->browse, row->lane_id);
    look->wrong = look->wrong || lane == NULL;
    look->orders += lane != NULL && strcmp(lane, "orders") == 0;
    return true;
}

struct bucket_list {
    size_t count;
    uint16_t lanes[2048];
    struct bucket_stats stats[2048];
};

static void take_bucket(uint16_t lane_id, const struct bucket_stats *stats, void *context)
{
    struct bucket_list *list = context;
    if (list->count < 2048) {
        list->lanes[list->count] = lane_id;
        list->stats[list->count++] = *stats;
    }
}

/* The rows of a bucket are what its statistics say, and all of one commit. */
static void take_rows(struct look *look, const struct bucket_list *list, struct error *error)
{
    for (size_t i = 0; i < list->count; i++) {
        const struct bucket_stats *stats = &list->stats[i];
        int64_t next = 0;
        look->last_offset = -1;
        while (next >= 0 && !look->wrong) {
            look->wrong = !store_browse_rows(look->browse, look->partition, list->lanes[i], stats->id.level, stats->id.number, next, 50,
                                             take_row, look, &next, error);
        }
        look->buckets_rows += stats->count;
        look->buckets_bytes += stats->bytes;
        look->wrong = look->wrong || look->rows != look->buckets_rows || look->bytes != look->buckets_bytes;
    }
}

/* "orders" loses 10 rows of each plan but the last one, and no others. */
static void look_once(struct look *look, struct bucket_list *list)
{
    struct error error = {0};
    list->count = 0;
    if (!store_browse_partitions(look->browse, take_partition, look, &error) ||
        (look->partition != 0 && !store_browse_buckets(look->browse, look->partition, take_bucket, list, &error))) {
        look->wrong = true;
        return;
    }
    take_rows(look, list, &error);
    uint64_t plans = (uint64_t)look->position / PLAN_ROWS;
    look->wrong = look->wrong || look->orders != (plans == 0 ? 0 : plans * 100 - (plans - 1) * 10);
}

static void *look_on(void *context)
{
    struct shared *shared = context;
    struct bucket_list *list = malloc(sizeof(*list));
    struct error error = {0};
    struct store_browse *browse = store_browse_open(shared->test->store, &error);
    bool right = browse != NULL && list != NULL;
    int64_t position = 0;
    for (int n = 0; right && position < PLANS * PLAN_ROWS && !atomic_load(&shared->failed); n++) {
        struct look look = {.shared = shared, .browse = browse};
        look_once(&look, list);
        right = !look.wrong && look.position >= position;
        position = look.position;
        if (right && n % 7 == 6) { /* opened anew */
            store_browse_close(browse);
            browse = store_browse_open(shared->test->store, &error);
            right = browse != NULL;
        } else if (right) {
            right = store_browse_renew(browse, &error);
        }
    }
    if (!right) {
        atomic_store(&shared->failed, true);
    }
    store_browse_close(browse);
    free(list);
    return NULL;
}

static void test_beside_a_writer(void **state)
{
    struct shared shared = {.test = store_case_new()};
    pthread_t threads[3];
    (void)state;
    store_case_open(shared.test);
    (void)store_case_bytes(store_case_ref(1, 1)); /* made before there are more threads */
    assert_int_equal(pthread_create(&threads[0], NULL, write_plans, &shared), 0);
    assert_int_equal(pthread_create(&threads[1], NULL, look_on, &shared), 0);
    assert_int_equal(pthread_create(&threads[2], NULL, look_on, &shared), 0);
    int looked = 0;
    while (atomic_load(&shared.plans_written) < PLANS) { /* the owner goes on as ever, and changes the table of names */
        struct store_partition partition;
        struct error error = {0};
        char name[16];
        (void)snprintf(name, sizeof(name), "lane%d", looked % 100);
        assert_true(store_bind_lane(shared.test->store, (lane_index)(2 + looked % 100), name, &error));
        assert_true(store_bind_slot(shared.test->store, (slot_index)(2 + looked % 3000), "other", looked % 50, &partition, &error));
        free(partition.buckets);
        looked++;
    }
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    }
    assert_false(atomic_load(&shared.failed));
    store_case_free(shared.test);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_beside_a_writer),
    };
    return cmocka_run_group_tests_name("store_browse_threads", tests, NULL, NULL);
}
