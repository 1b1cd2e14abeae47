#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#include "base/random.h"
#include "bridge/time_text.h"

static bool parse(const char *text, int64_t *ms)
{
    return time_text_parse(span_of_text(text), ms);
}

static void reads_known_moments(void **state)
{
    static const struct {
        const char *text;
        int64_t ms;
    } cases[] = {
        {"1970-01-01T00:00:00Z", 0},
        {"1969-12-31T23:59:59.999Z", -1},
        {"2000-02-29T12:34:56Z", INT64_C(951827696000)},
        {"2026-11-29T14:12:54Z", INT64_C(1795961574000)},
        {"2026-11-29t14:12:54z", INT64_C(1795961574000)},
        {"2026-11-29T15:12:54+01:00", INT64_C(1795961574000)},
        {"2026-11-29T08:42:54-05:30", INT64_C(1795961574000)},
        {"2026-11-29T14:12:54-00:00", INT64_C(1795961574000)},
        {"2026-11-30T14:11:54+23:59", INT64_C(1795961574000)},
        {"9999-12-31T23:59:59.999Z", TIME_TEXT_LAST_MS},
        {"0000-01-01T00:00:00Z", INT64_C(-62167219200000)},
        {"2026-11-29T14:12:54.5Z", INT64_C(1795961574500)},
        {"2026-11-29T14:12:54.123Z", INT64_C(1795961574123)},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        int64_t ms = 1;
        assert_true(parse(cases[i].text, &ms));
        assert_int_equal(ms, cases[i].ms);
    }
}

static void a_fraction_of_a_millisecond_rounds_up(void **state)
{
    int64_t ms = 0;
    (void)state;
    assert_true(parse("1970-01-01T00:00:00.0001Z", &ms));
    assert_int_equal(ms, 1);
    assert_true(parse("1970-01-01T00:00:00.1230000000000000000001Z", &ms));
    assert_int_equal(ms, 124);
    assert_true(parse("1970-01-01T00:00:00.123000Z", &ms));
    assert_int_equal(ms, 123);
    assert_true(parse("1970-01-01T00:00:59.9990001Z", &ms));
    assert_int_equal(ms, 60000);
    assert_true(parse("1969-12-31T23:59:59.9999Z", &ms));
    assert_int_equal(ms, 0);
}

static void second_sixty_is_the_next_second_at_the_end_of_a_day(void **state)
{
    int64_t ms = 0;
    (void)state;
    assert_true(parse("2016-12-31T23:59:60Z", &ms));
    assert_int_equal(ms, INT64_C(1483228800000));
    assert_true(parse("2017-01-01T00:59:60+01:00", &ms));
    assert_int_equal(ms, INT64_C(1483228800000));
    assert_true(parse("2016-12-31T23:59:60.25Z", &ms));
    assert_int_equal(ms, INT64_C(1483228800250));
    assert_false(parse("2016-12-31T12:00:60Z", &ms));
    assert_false(parse("2016-12-31T23:59:60+01:00", &ms));
    assert_false(parse("2016-12-31T23:59:61Z", &ms));
}

static void refuses_every_other_form(void **state)
{
    static const char *const cases[] = {
        "",
        "now",
        "2026-11-29",
        "2026-11-29T14:12Z",
        "2026-11-29T14:12:54",
        "2026-11-29 14:12:54Z",
        " 2026-11-29T14:12:54Z",
        "2026-11-29T14:12:54Z ",
        "2026-11-29T14:12:54ZZ",
        "2026-11-29T14:12:54.Z",
        "2026-11-29T14:12:54,5Z",
        "2026-11-29T14:12:54+0100",
        "2026-11-29T14:12:54+01",
        "2026-11-29T14:12:54+24:00",
        "2026-11-29T14:12:54+01:60",
        "2026-11-29T14:12:54 +01:00",
        "2026-11-29T24:00:00Z",
        "2026-11-29T14:60:00Z",
        "2026-13-01T00:00:00Z",
        "2026-00-01T00:00:00Z",
        "2026-01-00T00:00:00Z",
        "2026-01-32T00:00:00Z",
        "2026-04-31T00:00:00Z",
        "2026-02-29T00:00:00Z",
        "1900-02-29T00:00:00Z",
        "2100-02-29T00:00:00Z",
        "26-11-29T14:12:54Z",
        "12026-11-29T14:12:54Z",
        "+2026-11-29T14:12:54Z",
        "-2026-11-29T14:12:54Z",
        "2026-1-29T14:12:54Z",
        "2026/11/29T14:12:54Z",
        "20261129T141254Z",
        "2026-W48-7T14:12:54Z",
        "2026-333T14:12:54Z",
        "2026-11-29T14:12:54 UTC",
        "2026-11-29T14:12:54[Europe/Berlin]",
        "2026-11-29T14:12:54Z\n",
        "2026-11-29T14:12:-1Z",
        "1795961574000",
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        int64_t ms = 42;
        assert_false(parse(cases[i], &ms));
        assert_int_equal(ms, 42);
    }
    assert_false(time_text_parse(SPAN_ABSENT, &(int64_t){0}));
    assert_false(time_text_parse((struct span){(const uint8_t *)"2026-11-29T14:12:54Z", 21}, &(int64_t){0}));
}

/* Oracle: count every day of 400 years and more, one after the other. */
static void every_day_follows_the_one_before(void **state)
{
    static const int lengths[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    int64_t day_count = 0;
    struct random random = random_new(3);
    (void)state;
    for (int year = 1970; year <= 2405; year++) {
        for (int month = 1; month <= 12; month++) {
            bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
            int length = lengths[month - 1] + (month == 2 && leap ? 1 : 0);
            for (int day = 1; day <= length; day++, day_count++) {
                int64_t second = random_between(&random, 0, 86399);
                char text[64];
                int64_t ms = -1;
                (void)snprintf(text, sizeof(text), "%04d-%02d-%02dT%02d:%02d:%02dZ", year, month, day,
                               (int)(second / 3600), (int)(second / 60 % 60), (int)(second % 60));
                assert_true(parse(text, &ms));
                assert_int_equal(ms, (day_count * 86400 + second) * 1000);
            }
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_known_moments),
        cmocka_unit_test(a_fraction_of_a_millisecond_rounds_up),
        cmocka_unit_test(second_sixty_is_the_next_second_at_the_end_of_a_day),
        cmocka_unit_test(refuses_every_other_form),
        cmocka_unit_test(every_day_follows_the_one_before),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
