/*
 * Cron expressions on nights when clocks change. T13 (node-cron#563, temporal#8205 and others): a fixed time in the gap is at its end, once; one that the clock
 * shows twice is the first; what follows real time goes on evenly.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/cron/cron_case.h"

#define NEW_YORK "America/New_York"
#define LONDON "Europe/London"
#define LORD_HOWE "Australia/Lord_Howe"
#define SAO_PAULO "America/Sao_Paulo"
#define APIA "Pacific/Apia"

static void test_t13_new_york_a_fixed_time_in_the_gap_is_once_at_its_end(void **state)
{
    (void)state;
    cron_case_expect("30 2 * * *", NEW_YORK, "2027-03-12T12:00:00-05:00", "2027-03-13T02:30:00-05:00", "2027-03-14T03:00:00-04:00", "2027-03-15T02:30:00-04:00", NULL);
    cron_case_expect("0 2 * * *", NEW_YORK, "2027-03-14T01:00:00-05:00", "2027-03-14T03:00:00-04:00", "2027-03-15T02:00:00-04:00", NULL);
    cron_case_expect("30 2 14 3 *", NEW_YORK, "2027-01-01T00:00:00Z", "2027-03-14T03:00:00-04:00", "2028-03-14T02:30:00-04:00", NULL);
}

static void test_t13_new_york_several_times_in_the_gap_are_one(void **state)
{
    (void)state;
    cron_case_expect("0,15,30 2 * * *", NEW_YORK, "2027-03-14T01:59:59-05:00", "2027-03-14T03:00:00-04:00", "2027-03-15T02:00:00-04:00", NULL);
    /* One with what is at the gap's end anyway. */
    cron_case_expect("30 2,3 * * *", NEW_YORK, "2027-03-14T00:00:00-05:00", "2027-03-14T03:00:00-04:00", "2027-03-14T03:30:00-04:00", NULL);
    cron_case_expect("0 2,3 * * *", NEW_YORK, "2027-03-14T00:00:00-05:00", "2027-03-14T03:00:00-04:00", "2027-03-15T02:00:00-04:00", NULL);
    assert_int_equal(cron_case_count("* 2 * * *", NEW_YORK, "2027-03-14T00:00:00-05:00", "2027-03-14T23:00:00-04:00"), 1);
}

static void test_t13_new_york_a_fixed_time_shown_twice_is_the_first(void **state)
{
    (void)state;
    cron_case_expect("30 1 * * *", NEW_YORK, "2027-11-06T00:00:00-04:00", "2027-11-06T01:30:00-04:00", "2027-11-07T01:30:00-04:00", "2027-11-08T01:30:00-05:00", NULL);
    /* Asked for from between the two, and from after the second. */
    cron_case_expect("30 1 * * *", NEW_YORK, "2027-11-07T01:45:00-04:00", "2027-11-08T01:30:00-05:00", NULL);
    cron_case_expect("30 1 * * *", NEW_YORK, "2027-11-07T01:10:00-05:00", "2027-11-08T01:30:00-05:00", NULL);
    cron_case_expect("30 1 * * *", NEW_YORK, "2027-11-07T01:30:00-05:00", "2027-11-08T01:30:00-05:00", NULL);
    /* 02:00 is shown once: after both. */
    cron_case_expect("0 1,2 * * *", NEW_YORK, "2027-11-07T00:30:00-04:00", "2027-11-07T01:00:00-04:00", "2027-11-07T02:00:00-05:00", NULL);
    cron_case_expect("0 2 * * *", NEW_YORK, "2027-11-07T01:10:00-05:00", "2027-11-07T02:00:00-05:00", NULL);
}

/* `*` and step fields of the minute make no interval of it: the hour says when. */
static void test_t13_new_york_the_hour_field_tells_fixed_from_interval(void **state)
{
    (void)state;
    assert_int_equal(cron_case_count("*/15 1 * * *", NEW_YORK, "2027-11-07T00:30:00-04:00", "2027-11-07T03:00:00-05:00"), 4);
    assert_int_equal(cron_case_count("*/15 */1 * * *", NEW_YORK, "2027-11-07T00:50:00-04:00", "2027-11-07T01:59:59-05:00"), 8);
    assert_int_equal(cron_case_count("*/15 0-23 * * *", NEW_YORK, "2027-11-07T00:50:00-04:00", "2027-11-07T01:59:59-05:00"), 4);
}

static void test_t13_new_york_each_quarter_is_even_over_the_gap(void **state)
{
    (void)state;
    cron_case_expect("*/15 * * * *", NEW_YORK, "2027-03-14T01:30:00-05:00", "2027-03-14T01:45:00-05:00", "2027-03-14T03:00:00-04:00", "2027-03-14T03:15:00-04:00", NULL);
    assert_int_equal(cron_case_count("*/15 * * * *", NEW_YORK, "2027-03-14T00:00:00-05:00", "2027-03-15T00:00:00-04:00"), 23 * 4);
}

static void test_t13_new_york_each_quarter_is_even_over_the_overlap(void **state)
{
    (void)state;
    cron_case_expect("*/15 * * * *", NEW_YORK, "2027-11-07T01:30:00-04:00", "2027-11-07T01:45:00-04:00", "2027-11-07T01:00:00-05:00", "2027-11-07T01:15:00-05:00",
                     "2027-11-07T01:30:00-05:00", "2027-11-07T01:45:00-05:00", "2027-11-07T02:00:00-05:00", NULL);
    assert_int_equal(cron_case_count("*/15 * * * *", NEW_YORK, "2027-11-07T00:00:00-04:00", "2027-11-08T00:00:00-05:00"), 25 * 4);
    assert_int_equal(cron_case_count("@hourly", NEW_YORK, "2027-11-07T00:00:00-04:00", "2027-11-08T00:00:00-05:00"), 25);
    assert_int_equal(cron_case_count("* * * * * *", NEW_YORK, "2027-11-07T00:59:59-04:00", "2027-11-07T02:00:00-05:00"), 2 * 3600 + 1);
}

/* An interval's wall time that does not exist is not made up for. */
static void test_new_york_an_interval_skips_what_the_clock_skips(void **state)
{
    (void)state;
    cron_case_expect("30 */2 * * *", NEW_YORK, "2027-03-14T00:30:00-05:00", "2027-03-14T04:30:00-04:00", NULL);
    cron_case_expect("30 * 14 3 *", NEW_YORK, "2027-03-14T01:30:00-05:00", "2027-03-14T03:30:00-04:00", NULL);
}

static void test_london_both_nights(void **state)
{
    (void)state;
    cron_case_expect("30 1 * * *", LONDON, "2027-03-27T12:00:00Z", "2027-03-28T02:00:00+01:00", "2027-03-29T01:30:00+01:00", NULL);
    cron_case_expect("30 1 * * *", LONDON, "2027-10-30T12:00:00+01:00", "2027-10-31T01:30:00+01:00", "2027-11-01T01:30:00Z", NULL);
    assert_int_equal(cron_case_count("*/15 * * * *", LONDON, "2027-03-28T00:00:00Z", "2027-03-29T00:00:00+01:00"), 23 * 4);
    assert_int_equal(cron_case_count("*/15 * * * *", LONDON, "2027-10-31T00:00:00+01:00", "2027-11-01T00:00:00Z"), 25 * 4);
    cron_case_expect("0 12 * * *", LONDON, "2027-03-27T12:00:00Z", "2027-03-28T12:00:00+01:00", NULL); /* 23 hours later */
}

/* The rule in the footer of the file, for which it has no table. */
static void test_london_in_the_far_future(void **state)
{
    (void)state;
    cron_case_expect("30 1 * * *", LONDON, "2190-03-27T12:00:00Z", "2190-03-28T02:00:00+01:00", NULL);
    cron_case_expect("30 1 * * *", LONDON, "2190-10-30T12:00:00Z", "2190-10-31T01:30:00+01:00", "2190-11-01T01:30:00Z", NULL);
}

static void test_lord_howe_changes_by_half_an_hour(void **state)
{
    (void)state;
    cron_case_expect("15 2 * * *", LORD_HOWE, "2027-10-02T12:00:00+10:30", "2027-10-03T02:30:00+11:00", "2027-10-04T02:15:00+11:00", NULL);
    cron_case_expect("30 2 * * *", LORD_HOWE, "2027-10-02T12:00:00+10:30", "2027-10-03T02:30:00+11:00", "2027-10-04T02:30:00+11:00", NULL);
    cron_case_expect("45 1 * * *", LORD_HOWE, "2027-04-03T12:00:00+11:00", "2027-04-04T01:45:00+11:00", "2027-04-05T01:45:00+10:30", NULL);
    cron_case_expect("*/15 * * * *", LORD_HOWE, "2027-04-04T01:30:00+11:00", "2027-04-04T01:45:00+11:00", "2027-04-04T01:30:00+10:30", "2027-04-04T01:45:00+10:30",
                     "2027-04-04T02:00:00+10:30", NULL);
    cron_case_expect("@hourly", LORD_HOWE, "2027-04-04T01:00:00+11:00", "2027-04-04T02:00:00+10:30", NULL); /* 01:00 is shown once */
    cron_case_expect("@hourly", LORD_HOWE, "2027-10-03T01:00:00+10:30", "2027-10-03T03:00:00+11:00", NULL); /* 02:00 is not shown */
}

static void test_sao_paulo_2018_has_a_day_without_midnight(void **state)
{
    (void)state;
    cron_case_expect("@daily", SAO_PAULO, "2018-11-03T00:00:00-03:00", "2018-11-04T01:00:00-02:00", "2018-11-05T00:00:00-02:00", NULL);
    cron_case_expect("30 0 * * *", SAO_PAULO, "2018-11-03T12:00:00-03:00", "2018-11-04T01:00:00-02:00", "2018-11-05T00:30:00-02:00", NULL);
    cron_case_expect("0 0 4 11 *", SAO_PAULO, "2018-01-01T00:00:00Z", "2018-11-04T01:00:00-02:00", "2019-11-04T00:00:00-03:00", NULL);
    assert_int_equal(cron_case_count("@hourly", SAO_PAULO, "2018-11-03T22:00:00-03:00", "2018-11-04T02:00:00-02:00"), 3);
    /* Back to 23:00 of the day before, in February. */
    cron_case_expect("30 23 * * *", SAO_PAULO, "2019-02-16T12:00:00-02:00", "2019-02-16T23:30:00-02:00", "2019-02-17T23:30:00-03:00", NULL);
    cron_case_expect("@daily", SAO_PAULO, "2019-02-16T12:00:00-02:00", "2019-02-17T00:00:00-03:00", "2019-02-18T00:00:00-03:00", NULL);
}

/* 30 December 2011 was left out: what fixed times it had are one, when the next day begins. */
static void test_apia_2011_a_whole_day_is_missing(void **state)
{
    (void)state;
    cron_case_expect("0 12 * * *", APIA, "2011-12-29T00:00:00-10:00", "2011-12-29T12:00:00-10:00", "2011-12-31T00:00:00+14:00", "2011-12-31T12:00:00+14:00", NULL);
    cron_case_expect("@daily", APIA, "2011-12-29T12:00:00-10:00", "2011-12-31T00:00:00+14:00", "2012-01-01T00:00:00+14:00", NULL);
    cron_case_expect("0 9 30 12 *", APIA, "2011-06-01T00:00:00Z", "2011-12-31T00:00:00+14:00", "2012-12-30T09:00:00+14:00", NULL);
    cron_case_expect("0 9 * * 5", APIA, "2011-12-24T00:00:00Z", "2011-12-31T00:00:00+14:00", "2012-01-06T09:00:00+14:00", NULL);
    assert_int_equal(cron_case_count("*/15 * * * *", APIA, "2011-12-29T00:00:00-10:00", "2012-01-01T00:00:00+14:00"), 2 * 24 * 4);
}

/* A year of minutes: each real minute once, whatever the clock shows. */
static void test_an_interval_never_loses_or_doubles(void **state)
{
    static const char *const zones[] = {NEW_YORK, LONDON, LORD_HOWE, "Africa/Casablanca", "UTC"};
    (void)state;
    for (size_t i = 0; i < sizeof(zones) / sizeof(zones[0]); i++) {
        assert_int_equal(cron_case_count("*/5 * * * *", zones[i], "2027-01-01T00:00:00Z", "2028-01-01T00:00:00Z"), 365 * 24 * 12);
    }
}

/* A fixed time is once a day, every day of each year. */
static void test_a_fixed_time_is_once_a_day(void **state)
{
    static const char *const zones[] = {NEW_YORK, LONDON, LORD_HOWE, "Africa/Casablanca", SAO_PAULO};
    static const char *const times[] = {"0 0 * * *", "30 1 * * *", "15 2 * * *", "59 59 1 * * *", "30 23 * * *"};
    (void)state;
    for (size_t i = 0; i < sizeof(zones) / sizeof(zones[0]); i++) {
        for (size_t j = 0; j < sizeof(times) / sizeof(times[0]); j++) {
            assert_int_equal(cron_case_count(times[j], zones[i], "2017-06-01T12:00:00Z", "2027-06-01T12:00:00Z"), 3652);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_t13_new_york_a_fixed_time_in_the_gap_is_once_at_its_end),
        cmocka_unit_test(test_t13_new_york_several_times_in_the_gap_are_one),
        cmocka_unit_test(test_t13_new_york_a_fixed_time_shown_twice_is_the_first),
        cmocka_unit_test(test_t13_new_york_the_hour_field_tells_fixed_from_interval),
        cmocka_unit_test(test_t13_new_york_each_quarter_is_even_over_the_gap),
        cmocka_unit_test(test_t13_new_york_each_quarter_is_even_over_the_overlap),
        cmocka_unit_test(test_new_york_an_interval_skips_what_the_clock_skips),
        cmocka_unit_test(test_london_both_nights),
        cmocka_unit_test(test_london_in_the_far_future),
        cmocka_unit_test(test_lord_howe_changes_by_half_an_hour),
        cmocka_unit_test(test_sao_paulo_2018_has_a_day_without_midnight),
        cmocka_unit_test(test_apia_2011_a_whole_day_is_missing),
        cmocka_unit_test(test_an_interval_never_loses_or_doubles),
        cmocka_unit_test(test_a_fixed_time_is_once_a_day),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
