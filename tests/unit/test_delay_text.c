#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#include "base/random.h"
#include "bridge/delay_text.h"

static enum decimal_result parse(const char *text, int64_t *ms)
{
    return delay_text_parse(span_of_text(text), ms);
}

static void reads_what_is_written(void **state)
{
    static const struct {
        const char *text;
        int64_t ms;
    } cases[] = {
        {"0", 0},
        {"30000", 30000},
        {"007", 7},
        {"1h30m", 5400000},
        {"90m", 5400000},
        {"1500ms", 1500},
        {"1s500ms", 1500},
        {"2d", 172800000},
        {"1d2h3m4s5ms", 93784005},
        {"0s", 0},
        {"2147483647", INT64_C(2147483647)},
        {"2147483648", INT64_C(2147483648)},
        {"4294967296", INT64_C(4294967296)},
        {"9223372036854775807", INT64_MAX},
        {"9223372036854775807ms", INT64_MAX},
        {"1m1ms", 60001},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        int64_t ms = -1;
        assert_int_equal(parse(cases[i].text, &ms), DECIMAL_READ);
        assert_int_equal(ms, cases[i].ms);
    }
}

static void refuses_every_other_form(void **state)
{
    static const char *const cases[] = {
        "",      " ",     " 5",   "5 ",     "+5",  "-5",   "-0",    "1.5",    "1,5",  "1e9",   "1E9",
        "0x10",  "1_000", "five", "s",      "1 s", "1.5s", "30s1m", "1s1s",   "1m1m", "5msms", "1h30",
        "30m1h", "1ms1s", "1w",   "1y",     "1M",  "1S",   "1H",    "1sec",   "1us",  "PT1H",  "1h-1m",
        "1h+1m", "\n",    "5\n",  "1h 30m", "inf", "nan",  "null",  "1h30m ", "d1",
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        int64_t ms = 42;
        assert_int_equal(parse(cases[i], &ms), DECIMAL_NOT_DIGITS);
        assert_int_equal(ms, 42);
    }
    assert_int_equal(delay_text_parse(SPAN_ABSENT, &(int64_t){0}), DECIMAL_NOT_DIGITS);
    assert_int_equal(delay_text_parse((struct span){(const uint8_t *)"5\0", 2}, &(int64_t){0}), DECIMAL_NOT_DIGITS);
}

static void too_large_is_said_and_never_wraps(void **state)
{
    static const char *const cases[] = {
        "9223372036854775808",   "18446744073709551616",   "18446744073709551617", "99999999999999999999999999",
        "9223372036854775808ms", "9223372036854776s",      "106751991168d",        "106751991167d24h",
        "18446744073709551616d", "9223372036854775s808ms",
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        int64_t ms = 42;
        assert_int_equal(parse(cases[i], &ms), DECIMAL_TOO_LARGE);
        assert_int_equal(ms, 42);
    }
}

/* Property: what snprintf writes of any mix of units in order reads back as their sum. */
static void sums_of_units_read_back(void **state)
{
    static const struct {
        const char *name;
        int64_t ms;
    } units[] = {{"d", 86400000}, {"h", 3600000}, {"m", 60000}, {"s", 1000}, {"ms", 1}};
    struct random random = random_new(7);
    (void)state;
    for (int round = 0; round < 20000; round++) {
        char text[128] = "";
        size_t length = 0;
        int64_t sum = 0;
        uint64_t chosen = random_below(&random, 31) + 1;
        for (int unit = 0; unit < 5; unit++) {
            if ((chosen >> unit & 1) != 0) {
                int64_t number = random_between(&random, 0, 1000000);
                length += (size_t)snprintf(text + length, sizeof(text) - length, "%lld%s", (long long)number,
                                           units[unit].name);
                sum += number * units[unit].ms;
            }
        }
        int64_t ms = -1;
        assert_int_equal(parse(text, &ms), DECIMAL_READ);
        assert_int_equal(ms, sum);
    }
}

/* Property: what is written reads back. */
static void what_is_written_reads_back(void **state)
{
    static const struct {
        int64_t ms;
        const char *text;
    } cases[] = {{0, "0ms"},           {1, "1ms"},           {1000, "1s"},     {1500, "1s500ms"}, {5400000, "1h30m"}, {31622400000, "366d"},
                 {86400001, "1d1ms"},  {90061001, "1d1h1m1s1ms"}, {INT64_MAX, "106751991167d7h12m55s807ms"}};
    struct random random = random_new(11);
    char text[DELAY_TEXT_MAX];
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        delay_text_write(cases[i].ms, text);
        assert_string_equal(text, cases[i].text);
    }
    for (int round = 0; round < 20000; round++) {
        int64_t wanted = random_between(&random, 0, INT64_MAX >> random_below(&random, 62));
        int64_t ms = -1;
        delay_text_write(wanted, text);
        assert_int_equal(parse(text, &ms), DECIMAL_READ);
        assert_int_equal(ms, wanted);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_what_is_written),
        cmocka_unit_test(refuses_every_other_form),
        cmocka_unit_test(too_large_is_said_and_never_wraps),
        cmocka_unit_test(sums_of_units_read_back),
        cmocka_unit_test(what_is_written_reads_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
