/* Where a new letter goes: by its reason, its target and its policy. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "ops/letter_options.h"

static struct config_target targets[] = {
    {.name = "never", .match = "never", .retry = {.max_deliver = 0}},
    {.name = "often", .match = "often", .retry = {.max_deliver = 3}},
};
static const struct config config = {.targets = targets, .target_count = 2};

static enum letter_state state_of(const char *target, enum letter_reason reason)
{
    struct letter letter = {.target = span_of_text(target), .reason = reason, .attempt = 1};
    return letter_options_state(&config, &letter, -1);
}

static void test_by_policy(void **state)
{
    (void)state;
    assert_int_equal(state_of("often", LETTER_REASON_UNDELIVERABLE), LETTER_WAITING);
    assert_int_equal(state_of("elsewhere", LETTER_REASON_UNKNOWN_TARGET), LETTER_WAITING); /* the defaults */
    assert_int_equal(state_of("never", LETTER_REASON_UNDELIVERABLE), LETTER_PARKED);
    assert_int_equal(state_of(NULL, LETTER_REASON_BAD_TIME), LETTER_PARKED);
}

/* What is not to go out as it is waits for a person, whatever the policy says. */
static void test_by_reason(void **state)
{
    (void)state;
    assert_int_equal(state_of("often", LETTER_REASON_EXPIRED), LETTER_PARKED);
    assert_int_equal(state_of("often", LETTER_REASON_LATE), LETTER_PARKED);
    assert_int_equal(state_of("often", LETTER_REASON_BAD_SCHEDULE), LETTER_PARKED);
    assert_int_equal(state_of("often", LETTER_REASON_NOT_REAPPENDED), LETTER_PARKED);
    assert_int_equal(state_of("often", LETTER_REASON_NOT_AUTHORISED), LETTER_WAITING);
}

/* Nobody wants it any more when it would be redelivered. */
static void test_by_expiry(void **state)
{
    (void)state;
    struct letter letter = {.target = span_of_text("often"), .reason = LETTER_REASON_TOO_LARGE, .attempt = 1, .not_before_ms = 5000};
    assert_int_equal(letter_options_state(&config, &letter, 5001), LETTER_WAITING);
    assert_int_equal(letter_options_state(&config, &letter, 5000), LETTER_PARKED);
    assert_int_equal(letter_options_state(&config, &letter, -1), LETTER_WAITING);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_by_policy), cmocka_unit_test(test_by_reason), cmocka_unit_test(test_by_expiry)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
