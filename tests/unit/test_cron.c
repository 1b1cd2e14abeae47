/* Cron expressions: what is read, what is refused and how, and when they are next in UTC. Clock changes: test_cron_dst.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "base/civil.h"
#include "base/text.h"
#include "scheduler/cron.h"
#include "tests/cron/cron_case.h"

#define NEW_YEAR "2027-01-01T00:00:00Z" /* a Friday */

static void test_t17_five_fields_begin_with_the_minute(void **state)
{
    (void)state;
    cron_case_expect("30 6 * * *", "UTC", NEW_YEAR, "2027-01-01T06:30:00Z", "2027-01-02T06:30:00Z", NULL);
    assert_int_equal(cron_case_count("30 6 * * *", "UTC", NEW_YEAR, "2027-01-31T23:59:59Z"), 31);
}

static void test_t17_six_fields_begin_with_the_second(void **state)
{
    (void)state;
    cron_case_expect("0 30 6 * * *", "UTC", NEW_YEAR, "2027-01-01T06:30:00Z", "2027-01-02T06:30:00Z", NULL);
    cron_case_expect("* * * * * *", "UTC", NEW_YEAR, "2027-01-01T00:00:01Z", "2027-01-01T00:00:02Z", NULL);
    cron_case_expect("*/20 59 23 31 12 *", "UTC", NEW_YEAR, "2027-12-31T23:59:00Z", "2027-12-31T23:59:20Z", "2027-12-31T23:59:40Z", "2028-12-31T23:59:00Z", NULL);
}

static void test_t17_seven_fields_end_with_the_year(void **state)
{
    (void)state;
    cron_case_expect("0 30 6 1 1 ? 2028", "UTC", NEW_YEAR, "2028-01-01T06:30:00Z", "never", NULL);
    cron_case_expect("0 0 0 1 1 * 2030-2031,2199", "UTC", NEW_YEAR, "2030-01-01T00:00:00Z", "2031-01-01T00:00:00Z", "2199-01-01T00:00:00Z", "never", NULL);
    cron_case_expect("0 0 0 1 1 ? 2027/100", "UTC", NEW_YEAR, "2127-01-01T00:00:00Z", "never", NULL);
    cron_case_expect("0 0 0 1 1 ? 1999", "UTC", NEW_YEAR, "never", NULL);
}

static void test_t17_other_numbers_of_fields_are_refused(void **state)
{
    (void)state;
    static const char *const wrong[] = {"", "   ", "*", "* * * *", "* * * * * * * *", "0 0 0 1 1 ? 2027 x"};
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        cron_case_refused(wrong[i], "allowed are 5 (minute hour day-of-month month day-of-week), 6 (a second before them) or 7");
    }
    cron_case_refused("* * * *", "4 fields;");
    cron_case_refused("* * * * * * * *", "8 fields;");
    cron_case_refused("*", "1 field;");
}

static void test_t17_blanks_and_tabs_part_fields(void **state)
{
    (void)state;
    cron_case_expect("30  6\t*   *\t \t*", "UTC", NEW_YEAR, "2027-01-01T06:30:00Z", NULL);
    cron_case_expect(" \t30 6 * * * \t", "UTC", NEW_YEAR, "2027-01-01T06:30:00Z", NULL);
    cron_case_refused("30 6 * * *\n", "`*\\n` in the field day-of-week");
    cron_case_refused("30 6 * *\xC2\xA0*", "4 fields");
}

/* 30 February, 31 April: 5 years of work for some, none for us. */
static void test_t14_dates_that_never_come_are_refused(void **state)
{
    (void)state;
    static const char *const never[] = {"0 0 30 2 *", "0 0 31 4 *", "0 0 31 2,4,6 *", "0 0 31 2,4,6,9,11 ?", "0 0 L-30 2 *"};
    for (size_t i = 0; i < sizeof(never) / sizeof(never[0]); i++) {
        cron_case_refused(never[i], "it would never fire");
    }
    cron_case_refused("0 0 0 29 2 ? 2027", "day-of-week and year");
    cron_case_refused("0 0 0 ? 2 MON#5 2027", "it would never fire");
}

static void test_t14_leap_days_and_short_months(void **state)
{
    (void)state;
    cron_case_expect("0 0 29 2 *", "UTC", NEW_YEAR, "2028-02-29T00:00:00Z", "2032-02-29T00:00:00Z", NULL);
    cron_case_expect("0 0 29 2 *", "UTC", "2096-02-29T00:00:00Z", "2104-02-29T00:00:00Z", NULL); /* 2100 is none */
    cron_case_expect("0 0 31 * *", "UTC", NEW_YEAR, "2027-01-31T00:00:00Z", "2027-03-31T00:00:00Z", "2027-05-31T00:00:00Z", "2027-07-31T00:00:00Z",
                     "2027-08-31T00:00:00Z", "2027-10-31T00:00:00Z", "2027-12-31T00:00:00Z", "2028-01-31T00:00:00Z", NULL);
    cron_case_expect("0 0 29 2 */7", "UTC", NEW_YEAR, "2032-02-29T00:00:00Z", "2060-02-29T00:00:00Z", "2088-02-29T00:00:00Z", "2128-02-29T00:00:00Z", NULL);
}

static void test_t16_both_day_fields_restricted_is_either(void **state)
{
    (void)state;
    cron_case_expect("30 0 1 * 1", "UTC", NEW_YEAR, "2027-01-01T00:30:00Z", "2027-01-04T00:30:00Z", "2027-01-11T00:30:00Z", "2027-01-18T00:30:00Z",
                     "2027-01-25T00:30:00Z", "2027-02-01T00:30:00Z", "2027-02-08T00:30:00Z", "2027-02-15T00:30:00Z", "2027-02-22T00:30:00Z",
                     "2027-03-01T00:30:00Z", NULL);
    cron_case_expect("0 11 1-7 * 5", "UTC", NEW_YEAR, "2027-01-01T11:00:00Z", "2027-01-02T11:00:00Z", "2027-01-03T11:00:00Z", "2027-01-04T11:00:00Z",
                     "2027-01-05T11:00:00Z", "2027-01-06T11:00:00Z", "2027-01-07T11:00:00Z", "2027-01-08T11:00:00Z", "2027-01-15T11:00:00Z",
                     "2027-01-22T11:00:00Z", NULL);
    /* 1-31 is every day, but written as a restriction: either. */
    cron_case_expect("0 9 1-31 * 1", "UTC", NEW_YEAR, "2027-01-01T09:00:00Z", "2027-01-02T09:00:00Z", "2027-01-03T09:00:00Z", NULL);
}

static void test_t16_a_field_that_begins_with_a_star_does_not_restrict(void **state)
{
    (void)state;
    /* Mondays on odd days. */
    cron_case_expect("0 9 */2 * 1", "UTC", NEW_YEAR, "2027-01-11T09:00:00Z", "2027-01-25T09:00:00Z", "2027-02-01T09:00:00Z", "2027-02-15T09:00:00Z",
                     "2027-03-01T09:00:00Z", NULL);
    cron_case_expect("0 9 13 * */5", "UTC", NEW_YEAR, "2027-06-13T09:00:00Z", "2027-08-13T09:00:00Z", NULL); /* Sunday, Friday */
    cron_case_expect("0 9 ? * 1", "UTC", NEW_YEAR, "2027-01-04T09:00:00Z", NULL);
    cron_case_expect("0 9 13 * ?", "UTC", NEW_YEAR, "2027-01-13T09:00:00Z", NULL);
}

static void test_t16_zero_and_seven_are_sunday(void **state)
{
    (void)state;
    static const char *const sundays[] = {"0 0 * * 7", "0 0 * * 0", "0 0 * * SUN", "0 0 * * sun", "0 0 ? * 7", "0 0 * * 7-7", "0 0 * * */7", "@weekly", "0 0 * * 0,7"};
    for (size_t i = 0; i < sizeof(sundays) / sizeof(sundays[0]); i++) {
        cron_case_expect(sundays[i], "UTC", NEW_YEAR, "2027-01-03T00:00:00Z", "2027-01-10T00:00:00Z", "2027-01-17T00:00:00Z", NULL);
    }
    cron_case_expect("0 0 * * 5-7", "UTC", NEW_YEAR, "2027-01-02T00:00:00Z", "2027-01-03T00:00:00Z", "2027-01-08T00:00:00Z", NULL);
    cron_case_expect("0 0 * * SAT-SUN", "UTC", NEW_YEAR, "2027-01-02T00:00:00Z", "2027-01-03T00:00:00Z", "2027-01-09T00:00:00Z", NULL);
}

static void test_lists_ranges_steps_and_names(void **state)
{
    (void)state;
    cron_case_expect("5,10-12,58/2 0 * * *", "UTC", NEW_YEAR, "2027-01-01T00:05:00Z", "2027-01-01T00:10:00Z", "2027-01-01T00:11:00Z", "2027-01-01T00:12:00Z",
                     "2027-01-01T00:58:00Z", "2027-01-02T00:05:00Z", NULL);
    cron_case_expect("0 8-18/5 * * *", "UTC", NEW_YEAR, "2027-01-01T08:00:00Z", "2027-01-01T13:00:00Z", "2027-01-01T18:00:00Z", "2027-01-02T08:00:00Z", NULL);
    cron_case_expect("0 0 1 jan,Jul-SEP *", "UTC", NEW_YEAR, "2027-07-01T00:00:00Z", "2027-08-01T00:00:00Z", "2027-09-01T00:00:00Z", "2028-01-01T00:00:00Z", NULL);
    cron_case_expect("0 0 * * mon-WED,Fri", "UTC", NEW_YEAR, "2027-01-04T00:00:00Z", "2027-01-05T00:00:00Z", "2027-01-06T00:00:00Z", "2027-01-08T00:00:00Z", NULL);
    cron_case_expect("0 0 * * 1/3", "UTC", NEW_YEAR, "2027-01-03T00:00:00Z", "2027-01-04T00:00:00Z", "2027-01-07T00:00:00Z", NULL);
    cron_case_expect("00 012 01 * *", "UTC", NEW_YEAR, "2027-01-01T12:00:00Z", NULL);
}

static void test_days_from_the_end(void **state)
{
    (void)state;
    cron_case_expect("0 0 L * *", "UTC", NEW_YEAR, "2027-01-31T00:00:00Z", "2027-02-28T00:00:00Z", "2027-03-31T00:00:00Z", "2027-04-30T00:00:00Z", NULL);
    cron_case_expect("0 0 l-3 2 ?", "UTC", NEW_YEAR, "2027-02-25T00:00:00Z", "2028-02-26T00:00:00Z", NULL);
    cron_case_expect("0 0 L-30 * *", "UTC", "2027-01-01T00:00:01Z", "2027-03-01T00:00:00Z", "2027-05-01T00:00:00Z", NULL); /* only in months of 31 days */
    cron_case_expect("0 0 1,L * *", "UTC", NEW_YEAR, "2027-01-31T00:00:00Z", "2027-02-01T00:00:00Z", "2027-02-28T00:00:00Z", NULL);
}

static void test_nearest_workday(void **state)
{
    (void)state;
    cron_case_expect("0 0 15W * *", "UTC", NEW_YEAR, "2027-01-15T00:00:00Z", "2027-02-15T00:00:00Z", NULL);
    cron_case_expect("0 0 15W 5,8 *", "UTC", NEW_YEAR, "2027-05-14T00:00:00Z", "2027-08-16T00:00:00Z", NULL); /* a Saturday, a Sunday */
    cron_case_expect("0 0 1W 5 *", "UTC", NEW_YEAR, "2027-05-03T00:00:00Z", NULL);                            /* Saturday the 1st: not into April */
    cron_case_expect("0 0 31W 1 *", "UTC", NEW_YEAR, "2027-01-29T00:00:00Z", NULL);                           /* Sunday the 31st: not into February */
    cron_case_expect("0 0 31w * *", "UTC", "2027-01-30T00:00:00Z", "2027-03-31T00:00:00Z", NULL);             /* no 31st, no run */
    cron_case_expect("0 0 LW * *", "UTC", NEW_YEAR, "2027-01-29T00:00:00Z", "2027-02-26T00:00:00Z", "2027-03-31T00:00:00Z", NULL);
    cron_case_expect("0 0 LW 7 *", "UTC", NEW_YEAR, "2027-07-30T00:00:00Z", NULL); /* 31 July is a Saturday */
}

static void test_last_and_nth_weekday(void **state)
{
    (void)state;
    cron_case_expect("0 0 * * 5L", "UTC", NEW_YEAR, "2027-01-29T00:00:00Z", "2027-02-26T00:00:00Z", "2027-03-26T00:00:00Z", NULL);
    cron_case_expect("0 0 ? * sunL", "UTC", NEW_YEAR, "2027-01-31T00:00:00Z", "2027-02-28T00:00:00Z", NULL);
    cron_case_expect("0 0 ? * 7L", "UTC", NEW_YEAR, "2027-01-31T00:00:00Z", "2027-02-28T00:00:00Z", NULL);
    cron_case_expect("0 0 ? * MON#2", "UTC", NEW_YEAR, "2027-01-11T00:00:00Z", "2027-02-08T00:00:00Z", NULL);
    cron_case_expect("0 0 ? * 5#5", "UTC", NEW_YEAR, "2027-01-29T00:00:00Z", "2027-04-30T00:00:00Z", "2027-07-30T00:00:00Z", NULL);
    cron_case_expect("0 0 ? * 0#1,MON#1", "UTC", NEW_YEAR, "2027-01-03T00:00:00Z", "2027-01-04T00:00:00Z", "2027-02-01T00:00:00Z", NULL);
}

static void test_shorthands(void **state)
{
    (void)state;
    cron_case_expect("@yearly", "UTC", NEW_YEAR, "2028-01-01T00:00:00Z", NULL);
    cron_case_expect("@annually", "UTC", NEW_YEAR, "2028-01-01T00:00:00Z", NULL);
    cron_case_expect("@monthly", "UTC", NEW_YEAR, "2027-02-01T00:00:00Z", NULL);
    cron_case_expect("@daily", "UTC", NEW_YEAR, "2027-01-02T00:00:00Z", NULL);
    cron_case_expect(" @Midnight\t", "UTC", NEW_YEAR, "2027-01-02T00:00:00Z", NULL);
    cron_case_expect("@hourly", "UTC", NEW_YEAR, "2027-01-01T01:00:00Z", "2027-01-01T02:00:00Z", NULL);
    cron_case_refused("@every 5m", "give the header tarry-every instead");
    cron_case_refused("@EVERY 1h", "give the header tarry-every instead");
    cron_case_refused("@reboot", "`@reboot`: allowed alone are @yearly");
    cron_case_refused("@daily *", "allowed alone");
    cron_case_refused("@hourl", "allowed alone");
}

static void test_a_zone_in_the_expression_is_refused_with_the_remedy(void **state)
{
    (void)state;
    cron_case_refused("CRON_TZ=Europe/London 0 0 * * *", "give the header tarry-tz");
    cron_case_refused("TZ=UTC 0 0 * * *", "give the header tarry-tz");
}

static void test_refusals_name_field_value_and_remedy(void **state)
{
    (void)state;
    static const struct {
        const char *expression;
        const char *part;
    } cases[] = {
        {"60 * * * *", "`60` in the field minute: 0 to 59 is allowed"},
        {"60 * * * * *", "`60` in the field second: 0 to 59"},
        {"* 24 * * *", "`24` in the field hour: 0 to 23"},
        {"* * 0 * *", "`0` in the field day-of-month: 1 to 31"},
        {"* * 32 * *", "`32` in the field day-of-month"},
        {"* * * 13 *", "`13` in the field month: 1 to 12 or JAN to DEC"},
        {"* * * * 8", "`8` in the field day-of-week: 0 to 7 or SUN to SAT"},
        {"0 0 0 1 1 ? 2200", "`2200` in the field year: 1970 to 2199"},
        {"0 0 0 1 1 ? 1969", "`1969` in the field year"},
        {"-1 * * * *", "`` in the field minute"},
        {"5- * * * *", "`` in the field minute"},
        {"1-2-3 * * * *", "`2-3` in the field minute"},
        {"1,,2 * * * *", "`` in the field minute: a value is missing"},
        {"1, * * * *", "a value is missing"},
        {"*/0 * * * *", "`*/0` in the field minute: a step is 1 to 60 here"},
        {"*/90 * * * *", "a step is 1 to 60 here"},
        {"*/ * * * *", "a step is 1 to 60 here"},
        {"*/5/5 * * * *", "a step is 1 to 60 here"},
        {"*/x * * * *", "a step is 1 to 60 here"},
        {"*5 * * * *", "`*5` in the field minute"},
        {"? * * * *", "? stands alone, in one of the two day fields"},
        {"* * ?/2 * *", "? stands alone"},
        {"* * 1,? * *", "? stands alone"},
        {"* 22-2 * * *", "a range goes up; write 22-23,0-2"},
        {"* * * NOV-FEB *", "a range goes up; write 11-12,1-2"},
        {"* * * * FRI-MON", "a range goes up; write 5-6,0-1"},
        {"* * * * 5-0", "a range goes up; write 5-6,0-0"},
        {"JAN * * * *", "`JAN` in the field minute"},
        {"* * * FOO *", "`FOO` in the field month"},
        {"* * * JANUARY *", "`JANUARY` in the field month"},
        {"* * * MON *", "`MON` in the field month"},
        {"* * * * JAN", "`JAN` in the field day-of-week"},
        {"* * * * L", "L needs a day before it: 5L"},
        {"* * * * 8L", "`8` in the field day-of-week"},
        {"* * * * MON#6", "#1 to #5 is allowed"},
        {"* * * * MON#", "#1 to #5 is allowed"},
        {"* * * * #2", "`` in the field day-of-week"},
        {"* * L-31 * *", "L, L-1 to L-30 or LW"},
        {"* * L3 * *", "L, L-1 to L-30 or LW"},
        {"* * L-0 * *", "L, L-1 to L-30 or LW"},
        {"* * W * *", "1W to 31W is allowed"},
        {"* * 32W * *", "1W to 31W is allowed"},
        {"* * 1-5W * *", "1W to 31W is allowed"},
        {"* * * L *", "`L` in the field month"},
        {"99999999999999999999 * * * *", "in the field minute"},
        {"1.5 * * * *", "`1.5` in the field minute"},
        {"+1 * * * *", "`+1` in the field minute"},
        {"H * * * *", "`H` in the field minute"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        cron_case_refused(cases[i].expression, cases[i].part);
    }
}

static void test_hostile_bytes_are_shown_escaped(void **state)
{
    (void)state;
    cron_case_refused("\x1B[31m * * * *", "\\x1b[31m");
    cron_case_refused("\xFF\xFE * * * *", "\\xff\\xfe");
    char text[CRON_TEXT_MAX + 2];
    memset(text, 'x', sizeof(text));
    text[sizeof(text) - 1] = '\0';
    cron_case_refused(text, "1025 bytes, at most 1024");
    memcpy(text + CRON_TEXT_MAX - 8, " * * * *", 9);
    cron_case_refused(text, "xxx...");
    static const uint8_t nul[] = "0\0 0 * * *";
    char problem[CRON_PROBLEM_SIZE];
    struct cron cron;
    assert_false(cron_parse((struct span){nul, sizeof(nul) - 1}, &cron, problem, sizeof(problem)));
    assert_true(text_is_utf8(span_of_text(problem)));
}

static void test_a_short_problem_is_cut_and_ended(void **state)
{
    (void)state;
    struct cron cron;
    char problem[8];
    memset(problem, 'x', sizeof(problem));
    assert_false(cron_parse(span_of_text("61 * * * *"), &cron, problem, sizeof(problem)));
    assert_string_equal(problem, "cron: `");
    assert_false(cron_parse(span_of_text("* *"), &cron, NULL, 0));
    assert_false(cron_parse(SPAN_ABSENT, &cron, problem, sizeof(problem)));
}

static void test_next_is_strictly_after(void **state)
{
    (void)state;
    struct cron cron = cron_case_parse("0 0 0 1 1 ?");
    int64_t at_ms = cron_case_ms("2028-01-01T00:00:00Z");
    int64_t next_ms;
    assert_true(cron_next(&cron, NULL, at_ms - 1, &next_ms));
    assert_int_equal(next_ms, at_ms);
    assert_true(cron_next(&cron, NULL, at_ms, &next_ms));
    assert_int_equal(next_ms, cron_case_ms("2029-01-01T00:00:00Z"));
    assert_true(cron_next(&cron, NULL, at_ms + 1, &next_ms));
    assert_int_equal(next_ms, cron_case_ms("2029-01-01T00:00:00Z"));
}

static void test_any_instant_may_be_asked_for(void **state)
{
    (void)state;
    struct cron cron = cron_case_parse("* * * * * *");
    struct cron fixed = cron_case_parse("0 0 * * *");
    struct zone *london = cron_case_zone("Europe/London");
    int64_t next_ms = 7;
    assert_true(cron_next(&cron, NULL, INT64_MIN, &next_ms));
    assert_int_equal(next_ms, 0);
    assert_true(cron_next(&cron, london, -1, &next_ms));
    assert_int_equal(next_ms, 0);
    assert_true(cron_next(&cron, NULL, cron_case_ms("2199-12-31T23:59:58Z"), &next_ms));
    assert_int_equal(next_ms, cron_case_ms("2199-12-31T23:59:59Z"));
    next_ms = 7;
    assert_false(cron_next(&cron, NULL, cron_case_ms("2199-12-31T23:59:59Z"), &next_ms));
    assert_false(cron_next(&cron, london, INT64_MAX, &next_ms));
    assert_false(cron_next(&fixed, london, INT64_MAX, &next_ms));
    assert_int_equal(next_ms, 7);
    zone_free(london);
}

/* What has the fewest occurrences, over the whole range: it must not take a scheduler's turn away. */
static void test_the_search_is_bounded(void **state)
{
    (void)state;
    static const char *const rare[] = {"0 0 29 2 */7",          "* * 29 2 */7", "0 0 0 29 2 ? 2196/4", "0 0 0 29 2 ? 2196", "* * * L-30 12 */6 2196-2199",
                                       "0 0 0 1 1 ? 1970", "* * * 1 1 ? 1970", "0 0 ? 2 1#5"};
    struct zone *zone = cron_case_zone("Africa/Casablanca");
    for (size_t i = 0; i < sizeof(rare) / sizeof(rare[0]); i++) {
        struct cron cron = cron_case_parse(rare[i]);
        int64_t at_ms = 1000;
        clock_t begin = clock();
        int found = 0;
        while (found < 100 && cron_next(&cron, zone, at_ms, &at_ms)) {
            found++;
        }
        double each_ms = (double)(clock() - begin) * 1000 / CLOCKS_PER_SEC / (found + 1);
        if (each_ms > 10) {
            fail_msg("%s: %.3f ms each", rare[i], each_ms);
        }
    }
    zone_free(zone);
}

static void test_calendar_agrees_with_a_walk_through_the_days(void **state)
{
    (void)state;
    int64_t day = civil_day((struct civil_date){1899, 12, 31});
    struct civil_date date = {1899, 12, 31};
    for (; date.year < 2201; day++) {
        struct civil_date found = civil_date_of(day);
        assert_int_equal(found.year, date.year);
        assert_int_equal(found.month, date.month);
        assert_int_equal(found.day, date.day);
        assert_int_equal(civil_day(date), day);
        assert_int_equal(civil_weekday(day + 1), (civil_weekday(day) + 1) % 7);
        date.day++;
        if (date.day > civil_days_in_month(date.year, date.month)) {
            date.day = 1;
            date.month = date.month % 12 + 1;
            date.year += date.month == 1;
        }
    }
    assert_int_equal(civil_weekday(0), 4);
    assert_int_equal(civil_weekday(-5), 6);
    assert_int_equal(civil_day_of_s(-1), -1);
    assert_int_equal(civil_day_of_s(-CIVIL_DAY_S), -1);
    assert_int_equal(civil_day_of_s(CIVIL_DAY_S), 1);
    assert_int_equal(civil_day((struct civil_date){-8982, 1, 1}), civil_day((struct civil_date){-8982, 1, 2}) - 1);
    assert_int_equal(civil_date_of(civil_day((struct civil_date){-401, 2, 28}) + 1).month, 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_t17_five_fields_begin_with_the_minute),
        cmocka_unit_test(test_t17_six_fields_begin_with_the_second),
        cmocka_unit_test(test_t17_seven_fields_end_with_the_year),
        cmocka_unit_test(test_t17_other_numbers_of_fields_are_refused),
        cmocka_unit_test(test_t17_blanks_and_tabs_part_fields),
        cmocka_unit_test(test_t14_dates_that_never_come_are_refused),
        cmocka_unit_test(test_t14_leap_days_and_short_months),
        cmocka_unit_test(test_t16_both_day_fields_restricted_is_either),
        cmocka_unit_test(test_t16_a_field_that_begins_with_a_star_does_not_restrict),
        cmocka_unit_test(test_t16_zero_and_seven_are_sunday),
        cmocka_unit_test(test_lists_ranges_steps_and_names),
        cmocka_unit_test(test_days_from_the_end),
        cmocka_unit_test(test_nearest_workday),
        cmocka_unit_test(test_last_and_nth_weekday),
        cmocka_unit_test(test_shorthands),
        cmocka_unit_test(test_a_zone_in_the_expression_is_refused_with_the_remedy),
        cmocka_unit_test(test_refusals_name_field_value_and_remedy),
        cmocka_unit_test(test_hostile_bytes_are_shown_escaped),
        cmocka_unit_test(test_a_short_problem_is_cut_and_ended),
        cmocka_unit_test(test_next_is_strictly_after),
        cmocka_unit_test(test_any_instant_may_be_asked_for),
        cmocka_unit_test(test_the_search_is_bounded),
        cmocka_unit_test(test_calendar_agrees_with_a_walk_through_the_days),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
