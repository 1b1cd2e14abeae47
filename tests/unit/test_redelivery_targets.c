/* Targets that rest: for how long, who may try, and that there is always one who may. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "ops/redelivery_targets.h"

static void test_waits_double(void **state)
{
    (void)state;
    struct redelivery_targets targets = {.count = 0};
    int64_t now_ms = 1000;
    int64_t until_ms;
    int64_t wait_ms = 1000;
    bool news;
    assert_true(redelivery_targets_open(&targets, 7, now_ms, &until_ms));
    for (int i = 0; i < 10; i++) {
        assert_int_equal(redelivery_targets_rest(&targets, 7, now_ms, now_ms, &news), now_ms + wait_ms);
        assert_int_equal(news, i == 0);
        assert_false(redelivery_targets_open(&targets, 7, now_ms + wait_ms - 1, &until_ms));
        assert_int_equal(until_ms, now_ms + wait_ms);
        assert_true(redelivery_targets_open(&targets, 8, now_ms, &until_ms)); /* others are none of its business */
        now_ms += wait_ms;
        assert_true(redelivery_targets_open(&targets, 7, now_ms, &until_ms));
        assert_false(redelivery_targets_open(&targets, 7, now_ms, &until_ms)); /* one tries */
        assert_true(until_ms > now_ms);
        wait_ms = wait_ms * 2 < 60000 ? wait_ms * 2 : 60000;
    }
    assert_true(redelivery_targets_works(&targets, 7));
    assert_false(redelivery_targets_works(&targets, 7));
    assert_true(redelivery_targets_open(&targets, 7, now_ms, &until_ms));
}

/* Those that were on their way when the rest began do not make it longer. */
static void test_failed_together(void **state)
{
    (void)state;
    struct redelivery_targets targets = {.count = 0};
    bool news;
    for (int i = 0; i < 5; i++) {
        assert_int_equal(redelivery_targets_rest(&targets, 7, 900, 1000 + i, &news), 2000);
    }
    assert_int_equal(targets.count, 1);
}

/* A trial of which nothing is heard: another one may try later. */
static void test_lost_trial(void **state)
{
    (void)state;
    struct redelivery_targets targets = {.count = 0};
    int64_t until_ms;
    bool news;
    (void)redelivery_targets_rest(&targets, 7, 1000, 1000, &news);
    assert_true(redelivery_targets_open(&targets, 7, 2000, &until_ms));
    assert_false(redelivery_targets_open(&targets, 7, 2000, &until_ms));
    assert_true(redelivery_targets_open(&targets, 7, until_ms, &until_ms));
}

static void test_bounded(void **state)
{
    (void)state;
    struct redelivery_targets targets = {.count = 0};
    bool news;
    for (uint64_t hash = 1; hash <= 3 * REDELIVERY_TARGETS_MAX; hash++) {
        (void)redelivery_targets_rest(&targets, hash, (int64_t)hash, (int64_t)hash, &news);
        assert_true(news);
    }
    assert_int_equal(targets.count, REDELIVERY_TARGETS_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_waits_double),
        cmocka_unit_test(test_failed_together),
        cmocka_unit_test(test_lost_trial),
        cmocka_unit_test(test_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
