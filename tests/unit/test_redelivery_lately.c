/* What was redelivered lately is known again by place, by record and by letter, and nothing else is; the newest are kept. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "ops/redelivery_lately.h"

static struct letter letter_of(const char *id, const char *key, const char *value, uint32_t attempt)
{
    struct letter letter = {.attempt = attempt, .target = span_of_text("orders"), .record = {span_of_text(key), span_of_text(value), SPAN_ABSENT}};
    snprintf(letter.id, sizeof letter.id, "%s", id);
    letter.origin = (struct letter_origin){span_of_text("orders"), -1, -1, -1};
    return letter;
}

#define NOW_MS INT64_C(1767225600000)
#define ID "00112233445566778899aabbccddeeff"

static void test_by_place(void **state)
{
    (void)state;
    struct redelivery_lately *lately = redelivery_lately_new();
    struct letter letter = letter_of(ID, "k", "v", 2);
    redelivery_lately_delivered(lately, &letter, 3, 41, NOW_MS);
    struct letter nack = letter_of("", "k", "changed by the consumer", 1);
    nack.origin.partition = 3;
    nack.origin.offset = 41;
    assert_int_equal(redelivery_lately_attempt(lately, &nack), 2);
    nack.origin.offset = 42; /* another record, though of the same bytes */
    nack.record = letter.record;
    assert_int_equal(redelivery_lately_attempt(lately, &nack), 0);
    nack.origin = (struct letter_origin){span_of_text("payments"), 3, 41, -1};
    assert_int_equal(redelivery_lately_attempt(lately, &nack), 0);
    redelivery_lately_free(lately);
}

static void test_by_record(void **state)
{
    (void)state;
    struct redelivery_lately *lately = redelivery_lately_new();
    struct letter letter = letter_of(ID, "k", "a value of more than eight bytes", 1);
    redelivery_lately_delivered(lately, &letter, 0, -1, NOW_MS);
    assert_int_equal(redelivery_lately_attempt(lately, &letter), 1);
    letter.attempt = 2;
    redelivery_lately_delivered(lately, &letter, 0, 7, NOW_MS);
    assert_int_equal(redelivery_lately_attempt(lately, &letter), 2);
    struct letter other = letter_of(ID, "k", "a value of more than eight bytez", 1);
    assert_int_equal(redelivery_lately_attempt(lately, &other), 0);
    other = letter_of(ID, NULL, "a value of more than eight bytes", 1); /* null is not empty, and not "k" */
    assert_int_equal(redelivery_lately_attempt(lately, &other), 0);
    redelivery_lately_free(lately);
}

static void assert_outdated(const struct redelivery_lately *lately, uint32_t replays, uint32_t attempt, int64_t stored_ms, bool outdated)
{
    struct letter letter = letter_of(ID, "k", "v", attempt);
    letter.replays = replays;
    assert_int_equal(redelivery_lately_outdates(lately, &letter, stored_ms), outdated);
}

static void test_by_letter(void **state)
{
    (void)state;
    struct redelivery_lately *lately = redelivery_lately_new();
    struct letter letter = letter_of(ID, "k", "v", 2);
    redelivery_lately_delivered(lately, &letter, 0, 1, NOW_MS);
    assert_outdated(lately, 0, 3, NOW_MS - 1, true);
    assert_outdated(lately, 0, 3, NOW_MS + 60000, true); /* a former owner wakes at any time */
    assert_outdated(lately, 0, 2, NOW_MS, true);         /* posted twice */
    assert_outdated(lately, 0, 1, NOW_MS - 1, true);
    assert_outdated(lately, 0, 2, NOW_MS + 1, false); /* put there again by a person */
    assert_outdated(lately, 0, 1, NOW_MS + 1, false);
    assert_outdated(lately, 0, 4, NOW_MS - 1, false); /* nobody can have made it of this one */
    for (uint32_t attempt = 1; attempt <= 3; attempt++) {
        assert_outdated(lately, 1, attempt, NOW_MS - 1, false); /* replayed meanwhile */
    }
    letter = letter_of("00112233445566778899aabbccddeefe", "k", "v", 3);
    assert_false(redelivery_lately_outdates(lately, &letter, NOW_MS));
    redelivery_lately_free(lately);
}

static void test_bounded(void **state)
{
    (void)state;
    struct redelivery_lately *lately = redelivery_lately_new();
    for (int64_t offset = 0; offset < 500000; offset++) {
        struct letter letter = letter_of(ID, "k", "v", 1);
        redelivery_lately_delivered(lately, &letter, 0, offset, NOW_MS);
    }
    size_t known = 0;
    struct letter nack = letter_of("", "k", "v", 1);
    nack.origin.partition = 0;
    for (nack.origin.offset = 0; nack.origin.offset < 500000; nack.origin.offset++) {
        known += redelivery_lately_attempt(lately, &nack) != 0;
    }
    assert_in_range(known, 200000, 262144);
    nack.origin.offset = 499999;
    assert_int_equal(redelivery_lately_attempt(lately, &nack), 1);
    redelivery_lately_free(lately);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_by_place),
        cmocka_unit_test(test_by_record),
        cmocka_unit_test(test_by_letter),
        cmocka_unit_test(test_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
