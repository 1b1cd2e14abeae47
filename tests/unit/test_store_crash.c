/* kill -9 in the midst of writing: what store_write reported is there, and nothing is there in part. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/memory.h"
#include "base/random.h"
#include "support/store_case.h"

#define NOW (INT64_C(1800000000000) >> 19 << 19)
#define PLAN_ROWS 300
#define KILLS 25

static struct record_id id_of(int64_t number)
{
    return (struct record_id){(uint64_t)number * UINT64_C(0x9E3779B97F4A7C15), 1};
}

/* Plan n: rows to level 1, each third one with an id, part of the last plan's bucket split, level 0 buckets of an older
 * one dropped, row 1 of it erased, rows below 20 of the one before trimmed; a mark and a skip say which plan it was. */
static bool write_plan(struct store_case *test, int64_t n)
{
    char metadata[32];
    (void)snprintf(metadata, sizeof(metadata), "plan %lld", (long long)n);
    test->metadata = metadata;
    int64_t start = NOW + n * (INT64_C(1) << 19);
    for (int64_t i = 0; i < PLAN_ROWS; i++) {
        int64_t due = start + i * 1700;
        store_case_put(test, store_case_bucket(0, 1, due), n * PLAN_ROWS + i, due,
                       store_case_ref((uint32_t)i, (uint32_t)i * 3));
        store_case_name(test, i % 3 == 0 ? id_of(n * PLAN_ROWS + i) : RECORD_ID_NONE, n);
    }
    struct mark mark = {id_of(n), n, n + 1};
    struct skip skip = {n, n + 2};
    store_case_marks(test, &mark, 1);
    store_case_skips(test, &skip, 1);
    if (n >= 1) {
        store_case_split(test, (struct bucket_id){0, 1, (NOW >> 19) + n - 1}, PLAN_ROWS - 50);
    }
    if (n >= 2) { /* 250 were split away from it: what is left begins at 250 */
        store_case_trim(test, (struct bucket_id){0, 1, (NOW >> 19) + n - 2}, (n - 2) * PLAN_ROWS + 260, 100);
        store_case_erase(test, 0, NOW + (n - 2) * (INT64_C(1) << 19) + 270 * 1700, (n - 2) * PLAN_ROWS + 270);
    }
    for (int64_t i = 0; n >= 2 && i < 64; i++) {
        store_case_drop(test, (struct bucket_id){0, 0, (NOW >> 13) + (n - 2) * 64 + i});
    }
    return store_case_try(test, 0, (n + 1) * PLAN_ROWS);
}

static void write_until_killed(struct store_case *test, int64_t n, int tell)
{
    store_case_open(test);
    while (write_plan(test, n) && write(tell, &n, sizeof(n)) == sizeof(n)) {
        n++;
    }
    _exit(1);
}

/* The ids lead to the rows of plan n that are there; `gone` says which are not. */
static void assert_ids(struct store_case *test, int64_t plan, int64_t last)
{
    for (int64_t i = 0; i < PLAN_ROWS; i++) {
        bool gone = i % 3 != 0 || (plan <= last - 2 && (i < 260 || i == 270));
        struct stored_event event = store_case_find(test, 0, id_of(plan * PLAN_ROWS + i));
        assert_int_equal(event.offset, gone ? -1 : plan * PLAN_ROWS + i);
        assert_true(gone || event.root == plan);
    }
}

/* What plan n leaves behind: its own rows whole, the last one's mostly split, of each older one 39 rows. */
static void assert_state_after(struct store_case *test, int64_t n, const struct store_partition *partition)
{
    static struct scanned_row rows[PLAN_ROWS + 1];
    uint64_t fine = 0;
    char metadata[32];
    (void)snprintf(metadata, sizeof(metadata), "plan %lld", (long long)n);
    assert_string_equal(partition->metadata, metadata);
    assert_int_equal(partition->position, (n + 1) * PLAN_ROWS);
    for (size_t i = 0; i < partition->bucket_count; i++) {
        const struct bucket_stats *stats = &partition->buckets[i];
        assert_int_equal(store_case_scan(test, 0, stats->id, PLAN_ROWS, rows), stats->count);
        for (size_t j = 0; j < stats->count; j++) {
            uint32_t which = (uint32_t)(rows[j].offset % PLAN_ROWS);
            store_case_assert_row(test, 0, stats->id, rows[j].offset, store_case_ref(which, which * 3));
        }
        if (stats->id.level == 0) {
            fine += stats->count;
            continue;
        }
        int64_t plan = stats->id.number - (NOW >> 19);
        assert_int_equal(stats->count, plan == n ? PLAN_ROWS : plan == n - 1 ? 50 : 39);
        assert_true(plan >= 0 && plan <= n);
    }
    assert_int_equal(fine, n >= 1 ? PLAN_ROWS - 50 : 0);
    assert_int_equal(partition->bucket_count >= (size_t)n + 1, true);
    for (int64_t plan = n > 3 ? n - 3 : 0; plan <= n; plan++) {
        assert_ids(test, plan, n);
    }
    assert_int_equal(partition->mark_count, 1);
    assert_int_equal(partition->marks[0].offset, n);
    assert_int_equal(partition->skip_count, 1);
    assert_int_equal(partition->skips[0].skipped, n + 2);
}

static int64_t kill_at_random(struct store_case *test, struct random *random, int64_t n)
{
    int told[2];
    int64_t last = n - 1;
    assert_int_equal(pipe(told), 0);
    pid_t child = fork();
    if (child == 0) {
        close(told[0]);
        write_until_killed(test, n, told[1]);
    }
    close(told[1]);
    for (uint64_t plans = random_below(random, 6); plans > 0 && read(told[0], &n, sizeof(n)) == sizeof(n); plans--) {
        last = n;
    }
    struct timespec moment = {
        0, (long)random_below(random, 12000000)}; /* not a wait: the moment of the kill, about one plan long */
    (void)nanosleep(&moment, NULL);
    assert_int_equal(kill(child, SIGKILL), 0);
    assert_int_equal(waitpid(child, NULL, 0), child);
    while (read(told[0], &n, sizeof(n)) == sizeof(n)) {
        last = n;
    }
    close(told[0]);
    return last;
}

static void test_killed(void **state)
{
    struct store_case *test = store_case_new();
    struct random random = random_new(17);
    int64_t next = 0;
    (void)state;
    for (int i = 0; i < KILLS; i++) {
        struct store_partition partition;
        int64_t last = kill_at_random(test, &random, next);
        store_case_open(test);
        assert_true(store_bind_slot(test->store, 0, "t", 0, &partition, &test->error));
        int64_t stored = partition.found ? partition.position / PLAN_ROWS - 1 : -1;
        assert_true(stored == last || stored == last + 1);
        if (stored >= 0) {
            assert_state_after(test, stored, &partition);
        }
        free(partition.buckets);
        free(partition.marks);
        free(partition.skips);
        store_case_close(test);
        next = stored + 1;
    }
    assert_true(next > 10);
    store_case_free(test);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_killed),
    };
    return cmocka_run_group_tests_name("store_crash", tests, NULL, NULL);
}
