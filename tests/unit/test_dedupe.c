/* R10, duplicates: the fold, what it keeps C below, and that whoever begins at C decides alike. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/memory.h"
#include "base/random.h"
#include "scheduler/dedupe.h"

#define A 1u
#define B 2u
#define WINDOW 100

static int setup(void **state)
{
    struct dedupe *dedupe = memory_new(1, sizeof(*dedupe));
    dedupe->wall_ms = INT64_MAX; /* everything has come due, unless a test says otherwise */
    *state = dedupe;
    return 0;
}

static int teardown(void **state)
{
    dedupe_free(*state);
    free(*state);
    return 0;
}

static bool take(struct dedupe *dedupe, int64_t offset, uint64_t id, int64_t timestamp_ms, int64_t due_ms)
{
    struct dedupe_record record = {.id = {0, id}, .offset = offset, .timestamp_ms = timestamp_ms, .due_ms = due_ms, .window_ms = WINDOW};
    dedupe_pass(dedupe, timestamp_ms);
    bool duplicate = dedupe_take(dedupe, &record);
    dedupe_validate(dedupe);
    return duplicate;
}

static void cancel(struct dedupe *dedupe, int64_t offset, uint64_t id, int64_t timestamp_ms)
{
    struct dedupe_record record = {.id = {0, id}, .offset = offset, .timestamp_ms = timestamp_ms, .cancel = true};
    dedupe_pass(dedupe, timestamp_ms);
    assert_false(dedupe_take(dedupe, &record));
    dedupe_validate(dedupe);
}

static void test_window_begins_at_the_due_time(void **state)
{
    struct dedupe *dedupe = *state;
    assert_false(take(dedupe, 0, A, 1000, 2000));
    assert_false(take(dedupe, 1, B, 1000, 1000));
    assert_true(take(dedupe, 2, A, 2000, 5000));
    assert_true(take(dedupe, 3, A, 2099, 5000));
    assert_false(take(dedupe, 4, A, 2100, 5000));
    assert_true(take(dedupe, 5, B, 1000, 9000));
}

/* Before it fires a record replaces it: that is none. Its own due time counts from then on. */
static void test_replacement_is_none(void **state)
{
    struct dedupe *dedupe = *state;
    assert_false(take(dedupe, 0, A, 1000, 2000));
    assert_false(take(dedupe, 1, A, 1999, 3000));
    assert_int_equal(dedupe->count, 1);
    assert_false(take(dedupe, 2, A, 2050, 3000));
    assert_true(take(dedupe, 3, A, 3000, 3000));
}

/* A duplicate does not make the window longer. */
static void test_duplicate_counts_for_nothing(void **state)
{
    struct dedupe *dedupe = *state;
    assert_false(take(dedupe, 0, A, 1000, 1000));
    assert_true(take(dedupe, 1, A, 1099, 1099));
    assert_false(take(dedupe, 2, A, 1100, 1100));
}

static void test_cancelled_before_it_fires(void **state)
{
    struct dedupe *dedupe = *state;
    assert_false(take(dedupe, 0, A, 1000, 2000));
    cancel(dedupe, 1, A, 1999);
    assert_int_equal(dedupe->count, 0);
    assert_false(take(dedupe, 2, A, 2000, 2000));
    cancel(dedupe, 3, A, 2000); /* it has fired */
    assert_true(take(dedupe, 4, A, 2001, 2001));
    cancel(dedupe, 5, B, 2000);
}

static void test_forgotten_by_the_time_of_later_records(void **state)
{
    struct dedupe *dedupe = *state;
    assert_false(take(dedupe, 0, A, 1000, 1000));
    assert_false(take(dedupe, 1, B, 1100 + DEDUPE_SLACK_MS - 1, 99000000));
    assert_int_equal(dedupe->count, 2);
    assert_true(take(dedupe, 2, A, 1099, 1099)); /* a producer whose clock is behind */
    dedupe_pass(dedupe, 1100 + DEDUPE_SLACK_MS);
    assert_int_equal(dedupe->count, 1);
    assert_int_equal(dedupe_bound(dedupe, 10), 1);
}

static void test_forgotten_by_our_clock_a_day_later(void **state)
{
    struct dedupe *dedupe = *state;
    assert_false(take(dedupe, 0, A, 1000, 1000));
    dedupe_rest(dedupe, 1099 + DEDUPE_SLACK_MS + DEDUPE_REST_MS);
    assert_int_equal(dedupe->count, 1);
    dedupe_rest(dedupe, 1100 + DEDUPE_SLACK_MS + DEDUPE_REST_MS);
    assert_int_equal(dedupe->count, 0);
}

static void test_bound_is_the_least_offset(void **state)
{
    struct dedupe *dedupe = *state;
    assert_int_equal(dedupe_bound(dedupe, 7), 7);
    (void)take(dedupe, 3, A, 1000, 2000);
    (void)take(dedupe, 4, B, 1000, 2000);
    assert_int_equal(dedupe_bound(dedupe, 7), 3);
    assert_int_equal(dedupe_bound(dedupe, 2), 2);
    (void)take(dedupe, 5, A, 1001, 2000); /* it moves on */
    assert_int_equal(dedupe_bound(dedupe, 7), 4);
    cancel(dedupe, 6, B, 1002);
    assert_int_equal(dedupe_bound(dedupe, 7), 5);
}

/* An event that waits keeps C by itself; and when it is copied forward, its copy says all that is needed: else one due in a year would keep C for a year. */
static void test_what_is_not_due_does_not_count_for_the_bound(void **state)
{
    struct dedupe *dedupe = *state;
    (void)take(dedupe, 3, A, 1000, 2000);
    (void)take(dedupe, 4, B, 1000, 3000);
    dedupe_rest(dedupe, 1999);
    assert_int_equal(dedupe_bound(dedupe, 7), 7);
    dedupe_rest(dedupe, 2000);
    assert_int_equal(dedupe_bound(dedupe, 7), 3);
    cancel(dedupe, 5, A, 1002);
    dedupe_rest(dedupe, 3000);
    assert_int_equal(dedupe_bound(dedupe, 7), 4);
}

static void test_copy_is_no_duplicate_and_stands_for_its_event(void **state)
{
    struct dedupe *dedupe = *state;
    struct dedupe_record copy = {.id = {0, A}, .offset = 9, .timestamp_ms = 2050, .due_ms = 2000, .window_ms = WINDOW, .again = true};
    (void)take(dedupe, 3, A, 1000, 2000);
    assert_false(dedupe_take(dedupe, &copy));
    dedupe_validate(dedupe);
    assert_int_equal(dedupe->count, 1);
    assert_int_equal(dedupe_bound(dedupe, 20), 9);
    assert_true(take(dedupe, 10, A, 2050, 5000));
}

static void test_times_that_are_no_times(void **state)
{
    struct dedupe *dedupe = *state;
    assert_false(take(dedupe, 0, A, INT64_MIN, INT64_MAX));
    assert_false(take(dedupe, 1, B, -1, INT64_MAX - 1));
    assert_false(take(dedupe, 2, A, INT64_MAX - 1, INT64_MAX));
    assert_int_equal(dedupe->count, 2);
}

static void test_least_is_forgotten_without_room(void **state)
{
    struct dedupe *dedupe = *state;
    for (uint32_t i = 0; i <= DEDUPE_IDS_MAX; i++) {
        struct dedupe_record record = {.id = {1, i}, .offset = i, .timestamp_ms = 0, .due_ms = 1000000 + (i * 7919LL) % 1000003, .window_ms = WINDOW};
        assert_false(dedupe_take(dedupe, &record));
    }
    assert_int_equal(dedupe->count, DEDUPE_IDS_MAX);
    assert_int_equal(dedupe->forgotten, 1);
    assert_int_equal(dedupe_bound(dedupe, 5), 1); /* that of offset 0 was due first */
    dedupe_validate(dedupe);
}

/* Its window is over by the time of the record that takes its place: it stood there for clocks that differ, and nobody misses it. */
static void test_forgotten_after_its_window_does_not_count(void **state)
{
    struct dedupe *dedupe = *state;
    for (uint32_t i = 0; i < DEDUPE_IDS_MAX; i++) {
        struct dedupe_record record = {.id = {1, i}, .offset = i, .timestamp_ms = 0, .due_ms = 1000 + i, .window_ms = WINDOW};
        assert_false(dedupe_take(dedupe, &record));
    }
    assert_false(take(dedupe, DEDUPE_IDS_MAX, A, 1000 + WINDOW, 5000000));
    assert_int_equal(dedupe->count, DEDUPE_IDS_MAX);
    assert_int_equal(dedupe->forgotten, 0);
    assert_false(take(dedupe, DEDUPE_IDS_MAX + 1, B, 1000 + WINDOW, 5000000));
    assert_int_equal(dedupe->forgotten, 1); /* the next one's is open for a millisecond more */
}

static void test_refused_are_bounded(void **state)
{
    struct dedupe *dedupe = *state;
    (void)take(dedupe, 0, A, 1000, 1000);
    for (int64_t i = 1; i < 2 * DEDUPE_REFUSED_MAX; i++) {
        struct dedupe_record record = {.id = {0, A}, .offset = i, .timestamp_ms = 1001, .due_ms = 1001, .window_ms = WINDOW};
        assert_true(dedupe_take(dedupe, &record));
    }
    assert_in_range(dedupe->refused_count, DEDUPE_REFUSED_MAX / 2, DEDUPE_REFUSED_MAX);
    assert_int_equal(dedupe->refused[dedupe->refused_count - 1], 2 * DEDUPE_REFUSED_MAX - 1); /* the oldest ones go */
    dedupe_committed(dedupe, 2 * DEDUPE_REFUSED_MAX - 1);
    assert_int_equal(dedupe->refused_count, 1);
}

static void test_skips_of_marks_are_no_duplicates(void **state)
{
    struct dedupe *dedupe = *state;
    struct skip skips[] = {{3, 9}, {7, 7}, {12, 12}, {9, 9}};
    dedupe_gain(dedupe, 8, skips, 4);
    assert_int_equal(dedupe->refused_count, 2); /* C has passed one */
    assert_false(take(dedupe, 8, A, 1000, 1000));
    assert_true(take(dedupe, 9, B, 1000, 1000));
    assert_true(take(dedupe, 12, B, 1000, 1000));
    assert_int_equal(dedupe->count, 1); /* they count for nothing here either */
}

/* --------------------------------------------------------------------------------------------- any way to read */

#define LOG 3000

struct entry {
    uint64_t id;
    int64_t timestamp_ms;
    int64_t due_ms;
    bool cancel;
    bool duplicate; /* as it was read the first time, in one piece */
    int64_t low;    /* C behind it, at most */
};

static void write_log(struct random *random, struct entry *log)
{
    int64_t now_ms = 5000000;
    for (int i = 0; i < LOG; i++) {
        now_ms += (int64_t)random_below(random, 4) == 0 ? (int64_t)random_below(random, 400000) : (int64_t)random_below(random, 40);
        int64_t timestamp_ms = now_ms - (int64_t)random_below(random, 200); /* clocks differ */
        log[i] = (struct entry){.id = 1 + random_below(random, 12),
                                .timestamp_ms = timestamp_ms,
                                .due_ms = timestamp_ms + (int64_t)random_below(random, 3) * (int64_t)random_below(random, 90),
                                .cancel = random_below(random, 8) == 0};
    }
}

static bool read(struct dedupe *dedupe, const struct entry *log, int i)
{
    if (log[i].cancel) {
        cancel(dedupe, i, log[i].id, log[i].timestamp_ms);
        return false;
    }
    return take(dedupe, i, log[i].id, log[i].timestamp_ms, log[i].due_ms);
}

/* What the checkpoint behind record i - 1 has kept. */
static size_t kept(const struct entry *log, int i, struct skip *skips)
{
    size_t count = 0;
    for (int k = 0; k < i; k++) {
        if (log[k].duplicate) {
            skips[count++] = (struct skip){k, k};
        }
    }
    return count;
}

/* Begins at any place that C may have had at that moment, with the checkpoint of then, and reads everything from there. */
static void test_every_reading_decides_alike(void **state)
{
    static struct entry log[LOG];
    static struct skip skips[LOG];
    struct dedupe *dedupe = *state;
    struct random random = random_new(7);
    int64_t low = 0;
    write_log(&random, log);
    uint32_t duplicates = 0;
    for (int i = 0; i < LOG; i++) {
        log[i].duplicate = read(dedupe, log, i);
        low = dedupe_bound(dedupe, i + 1) > low ? dedupe_bound(dedupe, i + 1) : low;
        log[i].low = low;
        duplicates += log[i].duplicate;
    }
    assert_in_range(duplicates, LOG / 20, LOG / 2);
    for (int round = 0; round < 300; round++) {
        int stop = 1 + (int)random_below(&random, LOG - 1);
        int64_t from = (int64_t)random_below(&random, (uint64_t)log[stop - 1].low + 1);
        struct dedupe again = {0};
        dedupe_gain(&again, from, skips, kept(log, stop, skips));
        for (int i = (int)(round % 2 == 0 ? log[stop - 1].low : from); i < LOG; i++) {
            assert_int_equal(read(&again, log, i), log[i].duplicate);
        }
        assert_int_equal(again.count, dedupe->count);
        dedupe_free(&again);
    }
}

#define DEDUPE_TEST(function) cmocka_unit_test_setup_teardown(function, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        DEDUPE_TEST(test_window_begins_at_the_due_time),
        DEDUPE_TEST(test_replacement_is_none),
        DEDUPE_TEST(test_duplicate_counts_for_nothing),
        DEDUPE_TEST(test_cancelled_before_it_fires),
        DEDUPE_TEST(test_forgotten_by_the_time_of_later_records),
        DEDUPE_TEST(test_forgotten_by_our_clock_a_day_later),
        DEDUPE_TEST(test_bound_is_the_least_offset),
        DEDUPE_TEST(test_what_is_not_due_does_not_count_for_the_bound),
        DEDUPE_TEST(test_copy_is_no_duplicate_and_stands_for_its_event),
        DEDUPE_TEST(test_times_that_are_no_times),
        DEDUPE_TEST(test_least_is_forgotten_without_room),
        DEDUPE_TEST(test_forgotten_after_its_window_does_not_count),
        DEDUPE_TEST(test_refused_are_bounded),
        DEDUPE_TEST(test_skips_of_marks_are_no_duplicates),
        DEDUPE_TEST(test_every_reading_decides_alike),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
