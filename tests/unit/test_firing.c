/* What becomes of an event that is due. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "scheduler/firing.h"

#define DUE INT64_C(1800000000000)

static const struct firing_rules fire = {FIRING_LATE_FIRE, 0};
static const struct firing_rules letter = {FIRING_LATE_LETTER, 5000};
static const struct firing_rules drop = {FIRING_LATE_DROP, 5000};

static void test_late_is_more_than_the_limit(void **state)
{
    (void)state;
    assert_int_equal(firing_decide(letter, DUE, FIRING_NO_EXPIRY, false, DUE + 5000), FIRING_DELIVER);
    assert_int_equal(firing_decide(letter, DUE, FIRING_NO_EXPIRY, false, DUE + 5001), FIRING_LETTER_LATE);
    assert_int_equal(firing_decide(drop, DUE, FIRING_NO_EXPIRY, false, DUE + 5000), FIRING_DELIVER);
    assert_int_equal(firing_decide(drop, DUE, FIRING_NO_EXPIRY, false, DUE + 5001), FIRING_DROP_LATE);
    assert_int_equal(firing_decide(fire, DUE, FIRING_NO_EXPIRY, false, INT64_MAX), FIRING_DELIVER);
}

static void test_no_lateness_at_all_may_be_asked_for(void **state)
{
    (void)state;
    struct firing_rules strict = {FIRING_LATE_DROP, 0};
    assert_int_equal(firing_decide(strict, DUE, FIRING_NO_EXPIRY, false, DUE), FIRING_DELIVER);
    assert_int_equal(firing_decide(strict, DUE, FIRING_NO_EXPIRY, false, DUE + 1), FIRING_DROP_LATE);
}

static void test_a_clock_that_went_back_makes_nothing_late(void **state)
{
    (void)state;
    assert_int_equal(firing_decide(letter, DUE, FIRING_NO_EXPIRY, false, DUE - 1), FIRING_DELIVER);
    assert_int_equal(firing_decide(letter, DUE, FIRING_NO_EXPIRY, false, INT64_MIN), FIRING_DELIVER);
}

static void test_expired_from_the_moment_on(void **state)
{
    (void)state;
    assert_int_equal(firing_decide(fire, DUE, DUE + 10, false, DUE + 9), FIRING_DELIVER);
    assert_int_equal(firing_decide(fire, DUE, DUE + 10, false, DUE + 10), FIRING_LETTER_EXPIRED);
    assert_int_equal(firing_decide(fire, DUE, 0, false, 0), FIRING_LETTER_EXPIRED);
}

static void test_expired_goes_before_late(void **state)
{
    (void)state;
    assert_int_equal(firing_decide(drop, DUE, DUE + 6000, false, DUE + 6000), FIRING_LETTER_EXPIRED);
    assert_int_equal(firing_decide(drop, DUE, DUE + 7000, false, DUE + 6000), FIRING_DROP_LATE);
}

static void test_an_occurrence_expires_but_is_never_late(void **state)
{
    (void)state;
    assert_int_equal(firing_decide(drop, DUE, FIRING_NO_EXPIRY, true, DUE + 5001), FIRING_DELIVER);
    assert_int_equal(firing_decide(letter, DUE, FIRING_NO_EXPIRY, true, DUE + 5001), FIRING_DELIVER);
    assert_int_equal(firing_decide(letter, DUE, DUE + 1, true, DUE + 1), FIRING_LETTER_EXPIRED);
}

static void test_the_ends_of_time_do_not_overflow(void **state)
{
    (void)state;
    struct firing_rules patient = {FIRING_LATE_DROP, INT64_MAX};
    assert_int_equal(firing_decide(letter, INT64_MIN, FIRING_NO_EXPIRY, false, INT64_MAX), FIRING_LETTER_LATE);
    assert_int_equal(firing_decide(patient, 0, FIRING_NO_EXPIRY, false, INT64_MAX), FIRING_DELIVER);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_late_is_more_than_the_limit),
        cmocka_unit_test(test_no_lateness_at_all_may_be_asked_for),
        cmocka_unit_test(test_a_clock_that_went_back_makes_nothing_late),
        cmocka_unit_test(test_expired_from_the_moment_on),
        cmocka_unit_test(test_expired_goes_before_late),
        cmocka_unit_test(test_an_occurrence_expires_but_is_never_late),
        cmocka_unit_test(test_the_ends_of_time_do_not_overflow),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
