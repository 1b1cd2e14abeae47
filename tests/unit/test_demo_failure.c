/* The judgement of the demo's second act: redelivered too soon, too seldom, altered, missing, twice. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cli/demo_failure.h"
#include "cli/demo_place.h"

#define FAILED_MS 1764000000000
#define LAST_MS (FAILED_MS + 3 * DEMO_PLACE_BACKOFF_MS)
#define HEADERS 3

struct fixture {
    struct demo_failure failure;
    struct record_header headers[HEADERS];
    char *said;
    size_t size;
    FILE *file;
};

static int setup(void **state)
{
    struct fixture *fixture = calloc(1, sizeof *fixture);
    fixture->failure = demo_failure_new();
    fixture->failure.began_ms = FAILED_MS - 100;
    fixture->file = open_memstream(&fixture->said, &fixture->size);
    *state = fixture;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *fixture = *state;
    fclose(fixture->file);
    free(fixture->said);
    free(fixture);
    return 0;
}

static struct letter letter_of(const struct demo_invoice *invoice, uint32_t attempt, int64_t last_ms)
{
    return (struct letter){.reason = LETTER_REASON_UNKNOWN_TARGET,
                           .attempt = attempt,
                           .first_failure_ms = FAILED_MS,
                           .last_failure_ms = last_ms,
                           .not_before_ms = last_ms + DEMO_PLACE_BACKOFF_MS,
                           .record = {.key = span_of_text(invoice->key), .value = span_of_text(invoice->value)}};
}

static void park(struct fixture *fixture, size_t index, uint32_t attempt, int64_t last_ms)
{
    struct letter letter = letter_of(&fixture->failure.items[index], attempt, last_ms);
    demo_failure_take_letter(&fixture->failure, &letter, LETTER_PARKED, fixture->file);
}

static struct record record_of(struct fixture *fixture, size_t index)
{
    const struct demo_invoice *invoice = &fixture->failure.items[index];
    fixture->headers[0] = (struct record_header){span_of_text("trace"), span_of_text(invoice->key)};
    fixture->headers[1] = (struct record_header){span_of_text("tarry-replays"), span_of_text("1")};
    fixture->headers[2] = (struct record_header){span_of_text("__dlq.errors.message"), span_of_text("no such topic")};
    return (struct record){.key = span_of_text(invoice->key),
                           .value = span_of_text(invoice->value),
                           .headers = fixture->headers,
                           .header_count = HEADERS};
}

static void arrive(struct fixture *fixture, size_t index)
{
    struct record record = record_of(fixture, index);
    demo_failure_take_arrival(&fixture->failure, &record, fixture->file);
}

/* All but one as they should. */
static void play_others(struct fixture *fixture, size_t but)
{
    for (size_t i = 0; i < DEMO_FAILURE_COUNT; i++) {
        if (i != but) {
            park(fixture, i, DEMO_PLACE_REDELIVERIES + 1, LAST_MS);
            arrive(fixture, i);
        }
    }
}

static void expect(struct fixture *fixture, bool good, const char *text)
{
    assert_int_equal(demo_failure_conclude(&fixture->failure, fixture->file), good);
    fflush(fixture->file);
    if (strstr(fixture->said, text) == NULL) {
        fail_msg("'%s' is not in:\n%s", text, fixture->said);
    }
}

static void test_all_well(void **state)
{
    struct fixture *fixture = *state;
    struct letter letter = letter_of(&fixture->failure.items[0], 1, FAILED_MS);
    demo_failure_take_letter(&fixture->failure, &letter, LETTER_WAITING, fixture->file);
    assert_int_equal(fixture->failure.parked, 0);
    play_others(fixture, SIZE_MAX);
    assert_int_equal(fixture->failure.parked, DEMO_FAILURE_COUNT);
    assert_int_equal(fixture->failure.arrived, DEMO_FAILURE_COUNT);
    expect(fixture, true, "3 of 3 failed");
    expect(fixture, true, " +0.1 s  invoice-001  failed (unknown_target): redelivery in 1.0 s");
    expect(fixture, true, "arrived  invoice-003  tarry-replays: 1, __dlq.errors.message: no such topic");
}

static void test_not_parked(void **state)
{
    struct fixture *fixture = *state;
    play_others(fixture, 1);
    arrive(fixture, 1);
    expect(fixture, false, "invoice-002 was not parked");
    expect(fixture, false, "2 of 3 failed");
}

static void test_redelivered_too_soon(void **state)
{
    struct fixture *fixture = *state;
    play_others(fixture, 1);
    park(fixture, 1, DEMO_PLACE_REDELIVERIES + 1, LAST_MS - 1);
    arrive(fixture, 1);
    expect(fixture, false, "invoice-002 was not redelivered as often and after as long");
}

static void test_redelivered_too_seldom(void **state)
{
    struct fixture *fixture = *state;
    play_others(fixture, 1);
    park(fixture, 1, DEMO_PLACE_REDELIVERIES - 1, LAST_MS);
    arrive(fixture, 1);
    expect(fixture, false, "invoice-002 was not redelivered as often and after as long");
}

static void test_letter_altered(void **state)
{
    struct fixture *fixture = *state;
    struct letter letter = letter_of(&fixture->failure.items[1], DEMO_PLACE_REDELIVERIES + 1, LAST_MS);
    letter.record.value.length--;
    play_others(fixture, 1);
    demo_failure_take_letter(&fixture->failure, &letter, LETTER_PARKED, fixture->file);
    arrive(fixture, 1);
    expect(fixture, false, "invoice-002 is not as it should be");
}

/* Each header of a replayed record counts. */
static void test_record_altered(void **state)
{
    struct fixture *fixture = *state;
    for (size_t i = 0; i < HEADERS; i++) {
        fixture->failure = demo_failure_new();
        play_others(fixture, 1);
        park(fixture, 1, DEMO_PLACE_REDELIVERIES + 1, LAST_MS);
        struct record record = record_of(fixture, 1);
        fixture->headers[i].name = span_of_text("other");
        demo_failure_take_arrival(&fixture->failure, &record, fixture->file);
        expect(fixture, false, "invoice-002 is not as it should be");
    }
}

static void test_arrived_twice_or_never(void **state)
{
    struct fixture *fixture = *state;
    play_others(fixture, 1);
    park(fixture, 1, DEMO_PLACE_REDELIVERIES + 1, LAST_MS);
    expect(fixture, false, "invoice-002 did not arrive once");
    arrive(fixture, 1);
    arrive(fixture, 1);
    assert_int_equal(fixture->failure.arrived, DEMO_FAILURE_COUNT);
    expect(fixture, false, "invoice-002 did not arrive once");
}

static void test_foreign(void **state)
{
    struct fixture *fixture = *state;
    struct letter letter = {.record = {.key = span_of_text("wrong-001")}};
    struct record record = {.key = SPAN_ABSENT};
    demo_failure_take_letter(&fixture->failure, &letter, LETTER_PARKED, fixture->file);
    demo_failure_take_arrival(&fixture->failure, &record, fixture->file);
    fflush(fixture->file);
    assert_int_equal(fixture->size, 0);
    assert_int_equal(fixture->failure.parked + fixture->failure.arrived, 0);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(test_all_well),
        CASE(test_not_parked),
        CASE(test_redelivered_too_soon),
        CASE(test_redelivered_too_seldom),
        CASE(test_letter_altered),
        CASE(test_record_altered),
        CASE(test_arrived_twice_or_never),
        CASE(test_foreign),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
