/* What the sink was given: a pool of records, and the texts of the last failures. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"
#include "base/random.h"
#include "ops/in_flight.h"

#define GENERAL "the target does not take this record"

static int setup(void **state)
{
    *state = memory_new(1, sizeof(struct in_flight));
    return 0;
}

static int teardown(void **state)
{
    in_flight_free(*state);
    free(*state);
    return 0;
}

static void test_none_is_given_twice(void **state)
{
    struct in_flight *in_flight = *state;
    struct in_flight_item *held[3000] = {NULL};
    struct random random = random_new(2);
    size_t count = 0;
    for (int i = 0; i < 30000; i++) {
        size_t at = (size_t)random_below(&random, 3000);
        if (held[at] == NULL) {
            held[at] = in_flight_take(in_flight);
            *held[at] = (struct in_flight_item){.sequence = at, .lane = (lane_index)(at % 100)};
            count++;
        } else {
            assert_int_equal(held[at]->sequence, at); /* nobody else wrote into it */
            assert_int_equal(held[at]->lane, at % 100);
            in_flight_give(in_flight, held[at]);
            held[at] = NULL;
            count--;
        }
        assert_int_equal(in_flight->count, count);
    }
    assert_true(count > 1024); /* more than one block */
}

static void test_given_ones_are_used_again(void **state)
{
    struct in_flight *in_flight = *state;
    struct in_flight_item *first = in_flight_take(in_flight);
    in_flight_give(in_flight, first);
    const struct in_flight_block *block = in_flight->blocks;
    for (int i = 0; i < 5000; i++) {
        struct in_flight_item *item = in_flight_take(in_flight);
        assert_ptr_equal(item, first);
        in_flight_give(in_flight, item);
    }
    assert_ptr_equal(in_flight->blocks, block);
}

static void note(struct in_flight *in_flight, uint32_t epoch, lane_index lane, uint64_t sequence, const char *text)
{
    struct in_flight_item item = {.epoch = epoch, .lane = lane, .sequence = sequence};
    in_flight_note(in_flight, &item, "too_large", text);
}

static const char *text_of(const struct in_flight *in_flight, uint32_t epoch, lane_index lane, uint64_t sequence)
{
    const char *reason;
    const char *text = in_flight_text(in_flight, epoch, lane, sequence, &reason);
    if (strcmp(text, GENERAL) == 0) {
        assert_null(reason);
    } else {
        assert_string_equal(reason, "too_large");
    }
    return text;
}

static void test_texts_by_name(void **state)
{
    struct in_flight *in_flight = *state;
    assert_string_equal(text_of(in_flight, 0, 0, 0), GENERAL);
    note(in_flight, 1, 2, 3, "one");
    note(in_flight, 1, 2, 4, "two");
    assert_string_equal(text_of(in_flight, 1, 2, 3), "one");
    assert_string_equal(text_of(in_flight, 1, 2, 4), "two");
    assert_string_equal(text_of(in_flight, 2, 2, 3), GENERAL);
    assert_string_equal(text_of(in_flight, 1, 1, 3), GENERAL);
    assert_string_equal(text_of(in_flight, 1, 2, 5), GENERAL);
    note(in_flight, 1, 2, 3, "later"); /* of the same delivery, tried again */
    assert_string_equal(text_of(in_flight, 1, 2, 3), "later");
    note(in_flight, 1, 2, 3, "");
    assert_string_equal(text_of(in_flight, 1, 2, 3), "later");
}

static void test_the_oldest_is_forgotten(void **state)
{
    struct in_flight *in_flight = *state;
    char text[32];
    for (uint64_t i = 0; i < IN_FLIGHT_ERRORS + 10; i++) { /* one lane: each takes the place of the one that is so far behind it */
        snprintf(text, sizeof(text), "text %d", (int)i);
        note(in_flight, 1, 0, i, text);
    }
    assert_string_equal(text_of(in_flight, 1, 0, 9), GENERAL);
    assert_string_equal(text_of(in_flight, 1, 0, 10), "text 10");
    snprintf(text, sizeof(text), "text %d", IN_FLIGHT_ERRORS + 9);
    assert_string_equal(text_of(in_flight, 1, 0, IN_FLIGHT_ERRORS + 9), text);
}

/* Partitions and lanes count from 0 each: what is noted in one must not push out what is noted in another at the same number. */
static void test_others_do_not_push_it_out(void **state)
{
    struct in_flight *in_flight = *state;
    char text[32];
    for (uint32_t epoch = 1; epoch <= 16; epoch++) {
        snprintf(text, sizeof(text), "text %d", (int)epoch);
        note(in_flight, epoch, 2, 7, text);
    }
    for (uint32_t epoch = 1; epoch <= 16; epoch++) {
        snprintf(text, sizeof(text), "text %d", (int)epoch);
        assert_string_equal(text_of(in_flight, epoch, 2, 7), text);
    }
}

static void test_long_texts_are_cut(void **state)
{
    struct in_flight *in_flight = *state;
    char text[1000];
    memset(text, 'x', sizeof(text) - 1);
    text[sizeof(text) - 1] = '\0';
    note(in_flight, 1, 0, 1, text);
    assert_int_equal(strlen(text_of(in_flight, 1, 0, 1)), IN_FLIGHT_ERROR_MAX - 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_none_is_given_twice, setup, teardown),
        cmocka_unit_test_setup_teardown(test_given_ones_are_used_again, setup, teardown),
        cmocka_unit_test_setup_teardown(test_texts_by_name, setup, teardown),
        cmocka_unit_test_setup_teardown(test_the_oldest_is_forgotten, setup, teardown),
        cmocka_unit_test_setup_teardown(test_others_do_not_push_it_out, setup, teardown),
        cmocka_unit_test_setup_teardown(test_long_texts_are_cut, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
