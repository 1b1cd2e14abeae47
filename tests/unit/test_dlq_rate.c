/* The pace of a replay: rate, ramp, no burst after a pause, in made-up time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "cli/dlq_rate.h"

/* How many may go from `from` to before `to`, asked every millisecond. */
static int64_t count(struct dlq_rate *rate, int64_t from, int64_t to)
{
    int64_t taken = 0;
    for (int64_t now = from; now < to; now++) {
        while (dlq_rate_take(rate, now)) {
            taken++;
        }
    }
    return taken;
}

static void no_limit_lets_all_go(void **state)
{
    (void)state;
    struct dlq_rate rate;
    dlq_rate_start(&rate, 0, 0, 5);
    for (int i = 0; i < 100000; i++) {
        assert_true(dlq_rate_take(&rate, 5));
    }
    assert_int_equal(dlq_rate_wait_ms(&rate, 5, 1000), 0);
}

static void a_rate_is_kept_over_time(void **state)
{
    (void)state;
    static const double rates[] = {1, 3, 7, 50, 333, 5000, 123456};
    for (size_t i = 0; i < sizeof rates / sizeof rates[0]; i++) {
        struct dlq_rate rate;
        dlq_rate_start(&rate, rates[i], 0, 1000);
        int64_t taken = count(&rate, 1000, 11000);
        assert_true((double)taken >= rates[i] * 10 - rates[i] / 1000 - 1);
        assert_true((double)taken <= rates[i] * 10 + 1);
    }
}

static void the_first_goes_at_once_and_the_next_in_its_time(void **state)
{
    (void)state;
    struct dlq_rate rate;
    dlq_rate_start(&rate, 4, 0, 0);
    assert_true(dlq_rate_take(&rate, 0));
    assert_false(dlq_rate_take(&rate, 0));
    assert_int_equal(dlq_rate_wait_ms(&rate, 0, 1000), 250);
    assert_int_equal(dlq_rate_wait_ms(&rate, 0, 20), 20);
    assert_int_equal(dlq_rate_wait_ms(&rate, 249, 1000), 1);
    assert_false(dlq_rate_take(&rate, 249));
    assert_true(dlq_rate_take(&rate, 250));
    assert_false(dlq_rate_take(&rate, 250));
}

static void a_slow_rate_is_kept_too(void **state)
{
    (void)state;
    struct dlq_rate rate;
    double six_an_hour = 0;
    assert_true(dlq_rate_parse("6/h", &six_an_hour, NULL));
    dlq_rate_start(&rate, six_an_hour, 0, 0);
    assert_int_equal(count(&rate, 0, 3600 * 1000), 6);
}

static void a_pause_is_not_made_up_for_by_a_burst(void **state)
{
    (void)state;
    struct dlq_rate rate;
    dlq_rate_start(&rate, 1000, 0, 0);
    (void)count(&rate, 0, 1000);
    int64_t burst = count(&rate, 3600 * 1000, 3600 * 1000 + 1);
    assert_true(burst >= 99 && burst <= 100);
    dlq_rate_start(&rate, 2, 0, 0);
    (void)count(&rate, 0, 1000);
    assert_int_equal(count(&rate, 3600 * 1000, 3600 * 1000 + 1), 1);
}

static void a_ramp_climbs_in_a_straight_line(void **state)
{
    (void)state;
    struct dlq_rate rate;
    dlq_rate_start(&rate, 1000, 10000, 0);
    int64_t first = count(&rate, 0, 1000);
    int64_t middle = count(&rate, 1000, 5000) + first;
    int64_t ramp = count(&rate, 5000, 10000) + middle;
    int64_t after = count(&rate, 10000, 11000);
    assert_in_range(first, 45, 60); /* 1/s to 100.9/s */
    assert_in_range(middle, 1240, 1260);
    assert_in_range(ramp, 4990, 5010);
    assert_in_range(after, 998, 1001);
}

static void after_an_outage_the_ramp_begins_again(void **state)
{
    (void)state;
    struct dlq_rate rate;
    dlq_rate_start(&rate, 1000, 10000, 0);
    (void)count(&rate, 0, 20000);
    dlq_rate_restart(&rate, 60000);
    assert_in_range(count(&rate, 60000, 61000), 45, 60);
}

static void a_rate_below_the_ramps_foot_has_none(void **state)
{
    (void)state;
    struct dlq_rate rate;
    dlq_rate_start(&rate, 0.5, 10000, 0);
    assert_int_equal(count(&rate, 0, 19999), 10);
}

static void rates_are_read_or_refused(void **state)
{
    (void)state;
    double per_s = 0;
    struct error error = {0};
    assert_true(dlq_rate_parse("50", &per_s, &error) && per_s > 49.9 && per_s < 50.1);
    assert_true(dlq_rate_parse("50/s", &per_s, &error) && per_s > 49.9 && per_s < 50.1);
    assert_true(dlq_rate_parse("30/m", &per_s, &error) && per_s > 0.49 && per_s < 0.51);
    static const char *const wrong[] = {"", "0", "-1", "5/d", "5 /s", "1.5", "/s", "10000001", "99999999999999999999", "x"};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        assert_false(dlq_rate_parse(wrong[i], &per_s, &error));
        assert_int_equal(error.code, ERROR_INVALID);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_limit_lets_all_go),
        cmocka_unit_test(a_rate_is_kept_over_time),
        cmocka_unit_test(the_first_goes_at_once_and_the_next_in_its_time),
        cmocka_unit_test(a_slow_rate_is_kept_too),
        cmocka_unit_test(a_pause_is_not_made_up_for_by_a_burst),
        cmocka_unit_test(a_ramp_climbs_in_a_straight_line),
        cmocka_unit_test(after_an_outage_the_ramp_begins_again),
        cmocka_unit_test(a_rate_below_the_ramps_foot_has_none),
        cmocka_unit_test(rates_are_read_or_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
