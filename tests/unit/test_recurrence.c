/* What follows a firing: misfires, ends, phases. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/random.h"
#include "scheduler/recurrence.h"
#include "tests/cron/cron_case.h"

#define MINUTE INT64_C(60000)
#define HOUR (60 * MINUTE)
#define BASE INT64_C(1800000000000) /* a whole minute: 2027-01-15T08:00:00Z */

static const struct misfire_policy once = {MISFIRE_ONCE, MINUTE};
static const struct misfire_policy all = {MISFIRE_ALL, MINUTE};
static const struct misfire_policy skip = {MISFIRE_SKIP, MINUTE};

static struct recurrence every(int64_t every_ms)
{
    return (struct recurrence){.kind = RECURRENCE_EVERY, .every_ms = every_ms, .until_ms = -1};
}

static struct recurrence by_cron(const struct cron *cron)
{
    return (struct recurrence){.kind = RECURRENCE_CRON, .cron = cron, .until_ms = -1};
}

static void assert_step(const struct recurrence *recurrence, struct misfire_policy policy, int64_t due_ms, int64_t now_ms, bool fire, int64_t next_due_ms)
{
    struct recurrence_step step;
    recurrence_step(recurrence, policy, due_ms, now_ms, &step);
    assert_int_equal(step.fire, fire);
    assert_int_equal(step.next_due_ms, next_due_ms);
    assert_int_equal(step.finished, next_due_ms < 0);
    assert_int_equal(step.next_runs, recurrence->runs + (fire ? 1 : 0));
}

static void test_default_is_what_is_documented(void **state)
{
    (void)state;
    assert_int_equal(recurrence_misfire_default.rule, MISFIRE_ONCE);
    assert_int_equal(recurrence_misfire_default.after_ms, 60000);
}

static void test_none_fires_once(void **state)
{
    (void)state;
    struct recurrence none = {.kind = RECURRENCE_NONE, .until_ms = -1};
    int64_t due_ms = 5;
    assert_step(&none, once, BASE, BASE, true, -1);
    assert_step(&none, skip, BASE, BASE + HOUR, true, -1); /* no misfire: nothing would ever make up for it */
    assert_false(recurrence_first(&none, BASE, &due_ms));
    assert_int_equal(due_ms, 5);
}

static void test_on_time_the_next_is_one_later(void **state)
{
    (void)state;
    struct cron cron = cron_case_parse("*/5 * * * *");
    struct recurrence recurrence = by_cron(&cron);
    struct recurrence steady = every(90000);
    assert_step(&recurrence, once, BASE, BASE, true, BASE + 5 * MINUTE);
    assert_step(&recurrence, skip, BASE, BASE + MINUTE, true, BASE + 5 * MINUTE); /* exactly misfire_after is none */
    assert_step(&steady, all, BASE, BASE + 10, true, BASE + 90000);
}

static void test_a_misfire_by_once_is_one_firing_for_all_that_passed(void **state)
{
    (void)state;
    struct cron cron = cron_case_parse("*/5 * * * *");
    struct recurrence recurrence = by_cron(&cron);
    struct recurrence steady = every(90000);
    assert_step(&recurrence, once, BASE, BASE + HOUR + 1, true, BASE + HOUR + 5 * MINUTE);
    assert_step(&recurrence, once, BASE, BASE + HOUR, true, BASE + HOUR + 5 * MINUTE); /* due right now: passed, too */
    assert_step(&steady, once, BASE, BASE + HOUR + 1, true, BASE + HOUR + 90000);      /* an hour is 40 times 90 s: the phase stays */
    assert_step(&steady, once, BASE, BASE + 100000, true, BASE + 180000);
}

static void test_a_misfire_by_all_fires_each_in_order(void **state)
{
    (void)state;
    struct cron cron = cron_case_parse("*/5 * * * *");
    struct recurrence recurrence = by_cron(&cron);
    int64_t due_ms = BASE;
    int fired = 0;
    struct recurrence_step step;
    for (; due_ms <= BASE + HOUR; due_ms = step.next_due_ms) {
        recurrence_step(&recurrence, all, due_ms, BASE + HOUR, &step);
        assert_true(step.fire);
        assert_int_equal(step.next_due_ms, due_ms + 5 * MINUTE);
        fired++;
    }
    assert_int_equal(fired, 13);
}

static void test_a_misfire_by_skip_does_not_fire_and_does_not_count(void **state)
{
    (void)state;
    struct cron cron = cron_case_parse("*/5 * * * *");
    struct recurrence recurrence = by_cron(&cron);
    recurrence.count = 3;
    recurrence.runs = 2;
    assert_step(&recurrence, skip, BASE, BASE + MINUTE + 1, false, BASE + 5 * MINUTE);
    assert_step(&recurrence, skip, BASE, BASE + HOUR, false, BASE + HOUR + 5 * MINUTE);
    assert_step(&recurrence, skip, BASE, BASE + MINUTE, true, -1);
}

/* Not a misfire, but the next has passed meanwhile: with once and skip they are one, with all each fires. */
static void test_lateness_within_the_limit_collapses_too(void **state)
{
    (void)state;
    struct recurrence steady = every(1000);
    assert_step(&steady, once, BASE, BASE + 30500, true, BASE + 31000);
    assert_step(&steady, skip, BASE, BASE + 30500, true, BASE + 31000);
    assert_step(&steady, all, BASE, BASE + 30500, true, BASE + 1000);
}

static void test_a_clock_that_went_back_repeats_nothing(void **state)
{
    (void)state;
    struct cron cron = cron_case_parse("0 * * * *");
    struct recurrence recurrence = by_cron(&cron);
    struct recurrence steady = every(HOUR);
    assert_step(&recurrence, once, BASE, BASE - 3 * HOUR, true, BASE + HOUR);
    assert_step(&recurrence, skip, BASE, BASE - 3 * HOUR, true, BASE + HOUR);
    assert_step(&steady, once, BASE, BASE - 3 * HOUR, true, BASE + HOUR);
}

static void test_until_is_the_last_moment_for_a_due_time(void **state)
{
    (void)state;
    struct recurrence steady = every(HOUR);
    steady.until_ms = BASE + HOUR;
    assert_step(&steady, once, BASE, BASE, true, BASE + HOUR);
    steady.until_ms = BASE + HOUR - 1;
    assert_step(&steady, once, BASE, BASE, true, -1);
    steady.until_ms = BASE; /* late, but due in time */
    assert_step(&steady, once, BASE, BASE + HOUR, true, -1);
    assert_step(&steady, skip, BASE, BASE + HOUR, false, -1);
    int64_t due_ms = 5;
    assert_false(recurrence_first(&steady, BASE, &due_ms));
    steady.until_ms = 0; /* a moment like any other */
    assert_false(recurrence_first(&steady, BASE, &due_ms));
    assert_int_equal(due_ms, 5);
}

static void test_count_is_the_number_of_firings(void **state)
{
    (void)state;
    struct recurrence steady = every(HOUR);
    steady.count = 3;
    int64_t due_ms = BASE;
    struct recurrence_step step;
    int fired = 0;
    do {
        recurrence_step(&steady, once, due_ms, due_ms, &step);
        fired += step.fire;
        steady.runs = step.next_runs;
        due_ms = step.next_due_ms;
    } while (!step.finished);
    assert_int_equal(fired, 3);
    assert_int_equal(step.next_runs, 3);
    assert_false(recurrence_first(&steady, BASE, &due_ms));
    recurrence_step(&steady, once, BASE, BASE, &step); /* one that should not be there: a count made smaller */
    assert_false(step.fire);
    assert_true(step.finished);
}

static void test_first(void **state)
{
    (void)state;
    struct cron cron = cron_case_parse("30 8 * * *");
    struct zone *zone = cron_case_zone("America/New_York");
    struct recurrence recurrence = by_cron(&cron);
    struct recurrence steady = every(90000);
    int64_t due_ms;
    assert_true(recurrence_first(&recurrence, BASE, &due_ms));
    assert_int_equal(due_ms, cron_case_ms("2027-01-15T08:30:00Z"));
    recurrence.zone = zone;
    assert_true(recurrence_first(&recurrence, BASE, &due_ms));
    assert_int_equal(due_ms, cron_case_ms("2027-01-15T08:30:00-05:00"));
    assert_true(recurrence_first(&recurrence, due_ms, &due_ms)); /* strictly after */
    assert_int_equal(due_ms, cron_case_ms("2027-01-16T08:30:00-05:00"));
    assert_true(recurrence_first(&steady, BASE + 7, &due_ms));
    assert_int_equal(due_ms, BASE + 7 + 90000);
    zone_free(zone);
}

static void test_offset_moves_due_times_and_nothing_else(void **state)
{
    (void)state;
    struct cron cron = cron_case_parse("0 * * * *");
    struct recurrence recurrence = by_cron(&cron);
    struct recurrence steady = every(HOUR);
    int64_t due_ms;
    recurrence.offset_ms = 7000;
    steady.offset_ms = 7000;
    assert_true(recurrence_first(&recurrence, BASE, &due_ms));
    assert_int_equal(due_ms, BASE + HOUR + 7000);
    assert_true(recurrence_first(&steady, BASE, &due_ms));
    assert_int_equal(due_ms, BASE + HOUR + 7000);
    assert_step(&recurrence, all, BASE + 7000, BASE + 7000, true, BASE + HOUR + 7000);
    assert_step(&steady, all, BASE + 7000, BASE + 7000, true, BASE + HOUR + 7000);
    /* Now is after the next full hour, but not after its due time: it has not passed. */
    assert_step(&recurrence, once, BASE + 7000, BASE + HOUR + 6999, true, BASE + HOUR + 7000);
    assert_step(&recurrence, once, BASE + 7000, BASE + HOUR + 7000, true, BASE + 2 * HOUR + 7000);
    recurrence.until_ms = BASE + HOUR + 6999; /* nothing is due after it, spread or not */
    assert_step(&recurrence, once, BASE + 7000, BASE + 7000, true, -1);
}

static void test_never_again_is_finished(void **state)
{
    (void)state;
    struct cron cron = cron_case_parse("0 0 0 1 1 ? 2027");
    struct recurrence recurrence = by_cron(&cron);
    int64_t due_ms = cron_case_ms("2027-01-01T00:00:00Z");
    assert_step(&recurrence, once, due_ms, due_ms, true, -1);
    assert_false(recurrence_first(&recurrence, BASE, &due_ms));
}

static void test_the_ends_of_time_do_not_overflow(void **state)
{
    (void)state;
    struct recurrence steady = every(INT64_MAX);
    int64_t due_ms = 5;
    struct recurrence_step step;
    assert_false(recurrence_first(&steady, BASE, &due_ms));
    assert_false(recurrence_first(&steady, INT64_MAX, &due_ms));
    assert_step(&steady, once, BASE, INT64_MAX, true, -1);
    assert_step(&steady, all, BASE, INT64_MIN, true, -1);
    steady = every(1000);
    assert_true(recurrence_first(&steady, INT64_MIN, &due_ms));
    assert_int_equal(due_ms, 1000);
    steady.offset_ms = INT64_MAX;
    recurrence_step(&steady, once, 0, INT64_MIN, &step);
    assert_int_equal(step.next_due_ms, 1000);
    steady.offset_ms = 0;
    assert_step(&steady, once, RECURRENCE_LAST_MS - 1000, BASE, true, RECURRENCE_LAST_MS);
    assert_step(&steady, once, RECURRENCE_LAST_MS - 999, BASE, true, -1);
}

/* Whatever the numbers: the next is later than this one, not passed (but with all), in phase, and within the ends. */
static void test_any_step_goes_forward(void **state)
{
    (void)state;
    struct random random = random_new(6);
    for (int i = 0; i < 100000; i++) {
        struct recurrence steady = every(random_between(&random, RECURRENCE_EVERY_MIN_MS, 3 * HOUR));
        struct misfire_policy policy = {(enum misfire)random_below(&random, 3), random_between(&random, 0, HOUR)};
        int64_t due_ms = BASE + random_between(&random, 0, HOUR);
        int64_t now_ms = due_ms + random_between(&random, -HOUR, 9 * HOUR);
        struct recurrence_step step;
        steady.offset_ms = random_between(&random, 0, MINUTE);
        steady.until_ms = random_below(&random, 2) == 0 ? -1 : due_ms + random_between(&random, 0, 9 * HOUR);
        recurrence_step(&steady, policy, due_ms, now_ms, &step);
        assert_int_equal(step.fire, policy.rule != MISFIRE_SKIP || now_ms - due_ms <= policy.after_ms);
        if (!step.finished) {
            assert_true(step.next_due_ms > due_ms && (step.next_due_ms - due_ms) % steady.every_ms == 0);
            assert_true(steady.until_ms < 0 || step.next_due_ms <= steady.until_ms);
            assert_true(policy.rule == MISFIRE_ALL ? step.next_due_ms == due_ms + steady.every_ms : step.next_due_ms > now_ms);
        } else {
            assert_true(steady.until_ms >= 0);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_default_is_what_is_documented),
        cmocka_unit_test(test_none_fires_once),
        cmocka_unit_test(test_on_time_the_next_is_one_later),
        cmocka_unit_test(test_a_misfire_by_once_is_one_firing_for_all_that_passed),
        cmocka_unit_test(test_a_misfire_by_all_fires_each_in_order),
        cmocka_unit_test(test_a_misfire_by_skip_does_not_fire_and_does_not_count),
        cmocka_unit_test(test_lateness_within_the_limit_collapses_too),
        cmocka_unit_test(test_a_clock_that_went_back_repeats_nothing),
        cmocka_unit_test(test_until_is_the_last_moment_for_a_due_time),
        cmocka_unit_test(test_count_is_the_number_of_firings),
        cmocka_unit_test(test_first),
        cmocka_unit_test(test_offset_moves_due_times_and_nothing_else),
        cmocka_unit_test(test_never_again_is_finished),
        cmocka_unit_test(test_the_ends_of_time_do_not_overflow),
        cmocka_unit_test(test_any_step_goes_forward),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
