/* Redelivery policy: how often, and after how long. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "scheduler/retry.h"

static struct retry_policy without_jitter(int64_t backoff_ms, uint32_t factor_percent, int64_t backoff_max_ms)
{
    return (struct retry_policy){
        .max_deliver = 3, .backoff_ms = backoff_ms, .factor_percent = factor_percent, .backoff_max_ms = backoff_max_ms};
}

static void test_default_is_what_is_documented(void **state)
{
    (void)state;
    assert_int_equal(retry_default.max_deliver, 3);
    assert_int_equal(retry_default.backoff_ms, 1000);
    assert_int_equal(retry_default.factor_percent, 200);
    assert_int_equal(retry_default.backoff_max_ms, 60000);
    assert_int_equal(retry_default.jitter_percent, 20);
}

static void test_spent_after_as_many_redeliveries(void **state)
{
    (void)state;
    struct retry_policy policy = retry_default;
    assert_false(retry_spent(&policy, 1));
    assert_false(retry_spent(&policy, 3));
    assert_true(retry_spent(&policy, 4));
    policy.max_deliver = 0;
    assert_true(retry_spent(&policy, 1));
    policy.max_deliver = UINT32_MAX;
    assert_false(retry_spent(&policy, UINT32_MAX));
}

static void test_waits_grow_up_to_the_limit(void **state)
{
    (void)state;
    static const int64_t expected[] = {1000, 2000, 4000, 8000, 16000, 32000, 60000, 60000};
    struct retry_policy policy = without_jitter(1000, 200, 60000);
    for (uint32_t i = 0; i < 8; i++) {
        assert_int_equal(retry_wait_ms(&policy, i + 1, i), expected[i]);
    }
}

/* Where a step is less than a millisecond the next ones add up. */
static void test_short_waits_grow_too(void **state)
{
    (void)state;
    struct retry_policy policy = without_jitter(1, 150, 1000);
    assert_int_equal(retry_wait_ms(&policy, 2, 0), 1);
    assert_int_equal(retry_wait_ms(&policy, 3, 0), 2);
    assert_int_equal(retry_wait_ms(&policy, 6, 0), 7);
    assert_int_equal(retry_wait_ms(&policy, 100, 0), 1000);
}

static void test_factor_of_one_stays(void **state)
{
    (void)state;
    struct retry_policy policy = without_jitter(700, 100, 60000);
    assert_int_equal(retry_wait_ms(&policy, 1, 0), 700);
    assert_int_equal(retry_wait_ms(&policy, UINT32_MAX, 0), 700);
}

static void test_limit_below_the_first_wait_counts(void **state)
{
    (void)state;
    struct retry_policy policy = without_jitter(5000, 200, 3000);
    assert_int_equal(retry_wait_ms(&policy, 1, 0), 3000);
}

/* The greatest of everything, at any attempt and for any seed: within 0 and the limit. */
static void test_nothing_overflows(void **state)
{
    (void)state;
    struct retry_policy policy = {.backoff_ms = INT64_MAX, .factor_percent = 10000, .backoff_max_ms = INT64_MAX, .jitter_percent = 100};
    for (uint64_t seed = 0; seed < 100; seed++) {
        assert_true(retry_wait_ms(&policy, 1, seed) >= 0);
        assert_true(retry_wait_ms(&policy, UINT32_MAX, UINT64_MAX - seed) >= 0);
    }
    policy.backoff_ms = 1;
    policy.factor_percent = 101;
    policy.jitter_percent = 0;
    assert_true(retry_wait_ms(&policy, UINT32_MAX, 0) == INT64_MAX);
}

static void test_jitter_spreads_to_both_sides(void **state)
{
    (void)state;
    struct retry_policy policy = retry_default;
    int64_t least = INT64_MAX;
    int64_t most = 0;
    for (uint64_t seed = 0; seed < 2000; seed++) {
        int64_t wait = retry_wait_ms(&policy, 2, seed);
        assert_in_range(wait, 1600, 2400);
        least = wait < least ? wait : least;
        most = wait > most ? wait : most;
    }
    assert_in_range(least, 1600, 1620);
    assert_in_range(most, 2380, 2400);
}

static void test_jitter_stays_within_the_limit(void **state)
{
    (void)state;
    struct retry_policy policy = retry_default;
    int64_t most = 0;
    for (uint64_t seed = 0; seed < 2000; seed++) {
        int64_t wait = retry_wait_ms(&policy, 20, seed);
        assert_in_range(wait, 48000, 60000);
        most = wait > most ? wait : most;
    }
    assert_in_range(most, 59900, 60000);
}

static void test_same_seed_waits_the_same(void **state)
{
    (void)state;
    struct retry_policy policy = retry_default;
    int differences = 0;
    for (uint64_t seed = 0; seed < 100; seed++) {
        int64_t wait = retry_wait_ms(&policy, 3, seed);
        assert_int_equal(retry_wait_ms(&policy, 3, seed), wait);
        differences += retry_wait_ms(&policy, 3, seed + 1) != wait;
    }
    assert_in_range(differences, 90, 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_default_is_what_is_documented),
        cmocka_unit_test(test_spent_after_as_many_redeliveries),
        cmocka_unit_test(test_waits_grow_up_to_the_limit),
        cmocka_unit_test(test_short_waits_grow_too),
        cmocka_unit_test(test_factor_of_one_stays),
        cmocka_unit_test(test_limit_below_the_first_wait_counts),
        cmocka_unit_test(test_nothing_overflows),
        cmocka_unit_test(test_jitter_spreads_to_both_sides),
        cmocka_unit_test(test_jitter_stays_within_the_limit),
        cmocka_unit_test(test_same_seed_waits_the_same),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
