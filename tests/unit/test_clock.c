/* Clocks and their text. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "ops/clock.h"

static void assert_text(int64_t ms, const char *expected)
{
    char text[CLOCK_TEXT_SIZE];
    size_t length = clock_text((struct wall_ms){ms}, text, sizeof(text));
    assert_string_equal(text, expected);
    assert_int_equal(length, strlen(expected));
}

static void test_text(void **state)
{
    (void)state;
    assert_text(0, "1970-01-01T00:00:00.000Z");
    assert_text(-1, "1969-12-31T23:59:59.999Z");
    assert_text(-1000, "1969-12-31T23:59:59.000Z");
    assert_text(1764425574123, "2025-11-29T14:12:54.123Z");
    assert_text(951782400000, "2000-02-29T00:00:00.000Z");
    assert_text(253402300799999, "9999-12-31T23:59:59.999Z");
    assert_text(253402300800000, "253402300800000");
    assert_text(INT64_MIN, "-9223372036854775808");
    assert_text(INT64_MAX, "9223372036854775807");
}

static void test_mono_never_goes_back(void **state)
{
    (void)state;
    struct clock clock = {0};
    int64_t last_ms = 0;
    for (int i = 0; i < 10000; i++) {
        struct now now = clock_read(&clock);
        assert_true(now.mono.ms >= last_ms);
        last_ms = now.mono.ms;
    }
    clock.last_mono_ms = INT64_MAX;
    assert_int_equal(clock_read(&clock).mono.ms, INT64_MAX);
}

/* Rounded down: never ahead of the clock. */
static void test_wall_is_not_ahead(void **state)
{
    (void)state;
    for (int i = 0; i < 1000; i++) {
        int64_t before_ms = clock_wall().ms;
        struct timespec time;
        assert_int_equal(clock_gettime(CLOCK_REALTIME, &time), 0);
        assert_true(before_ms * 1000000 <= (int64_t)time.tv_sec * 1000000000 + time.tv_nsec);
    }
    assert_true(clock_mono_us() / 1000 <= (uint64_t)clock_mono().ms);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_text),
        cmocka_unit_test(test_mono_never_goes_back),
        cmocka_unit_test(test_wall_is_not_ahead),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
