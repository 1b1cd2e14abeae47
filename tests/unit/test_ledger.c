/* The ledger must bite: each kind of violation is made once and has to be counted as exactly that. */
#include <inttypes.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <setjmp.h>

#include <cmocka.h>

#include "tests/support/ledger.h"

#define HEADERS_MAX 8
#define DUE 1700000000000

static const struct record_header own[] = {
    {.name = {(const uint8_t *)"a", 1}, .value = {(const uint8_t *)"1", 1}},
    {.name = {(const uint8_t *)"tarry-delay", 11}, .value = {(const uint8_t *)"5s", 2}},
    {.name = {(const uint8_t *)"a", 1}, .value = {NULL, 0}},
    {.name = {(const uint8_t *)"empty", 5}, .value = {(const uint8_t *)"", 0}},
};

struct output {
    struct record record;
    struct record_header headers[HEADERS_MAX];
    char source[64];
    char due[32];
};

static void send_at(struct ledger *ledger, int64_t offset, int64_t due_ms)
{
    struct ledger_sent sent = {.topic = "in",
                               .partition = 2,
                               .offset = offset,
                               .due_ms = due_ms,
                               .target = "out",
                               .lane = "default",
                               .ordered = true,
                               .key = span_of_text("k"),
                               .value = span_of_text("v"),
                               .headers = own,
                               .header_count = sizeof(own) / sizeof(own[0])};
    ledger_send(ledger, &sent);
}

/* The right output for send_at. */
static struct output *output_of(struct output *output, int64_t offset, int64_t due_ms)
{
    memset(output, 0, sizeof(*output));
    snprintf(output->source, sizeof(output->source), "in/2/%" PRId64, offset);
    snprintf(output->due, sizeof(output->due), "%" PRId64, due_ms);
    output->headers[0] = own[0];
    output->headers[1] = own[2];
    output->headers[2] = own[3];
    output->headers[3] = (struct record_header){span_of_text("tarry-id"), span_of_text(output->source)};
    output->headers[4] = (struct record_header){span_of_text("tarry-due"), span_of_text(output->due)};
    output->headers[5] = (struct record_header){span_of_text("tarry-source"), span_of_text(output->source)};
    output->record = (struct record){.key = span_of_text("k"),
                                     .value = span_of_text("v"),
                                     .headers = output->headers,
                                     .header_count = 6,
                                     .timestamp_ms = due_ms + 1,
                                     .timestamp = RECORD_TIMESTAMP_APPEND};
    return output;
}

static void assert_only(const struct ledger *ledger, enum ledger_violation kind, size_t count)
{
    for (int other = 0; other < LEDGER_KINDS; other++) {
        assert_int_equal(ledger_violations(ledger, (enum ledger_violation)other), other == (int)kind ? count : 0);
    }
}

static void all_right(void **state)
{
    (void)state;
    struct ledger *ledger = ledger_new();
    struct output output;
    for (int64_t offset = 0; offset < 3000; offset++) {
        send_at(ledger, offset, DUE + offset / 10);
    }
    assert_int_equal(ledger_violations(ledger, LEDGER_MISSING), 3000);
    for (int64_t offset = 0; offset < 3000; offset++) {
        ledger_receive(ledger, "out", 0, &output_of(&output, offset, DUE + offset / 10)->record);
    }
    assert_only(ledger, LEDGER_MISSING, 0);
    assert_int_equal(ledger_received_count(ledger), 3000);
    assert_int_equal(ledger_lateness_max_ms(ledger), 1);
    ledger_assert(ledger, false);
    ledger_free(ledger);
}

struct bent {
    struct ledger *ledger;
    struct output output;
};

static struct bent *bent_new(void)
{
    static struct bent bent;
    bent.ledger = ledger_new();
    send_at(bent.ledger, 7, DUE);
    output_of(&bent.output, 7, DUE);
    return &bent;
}

static void bent_check(struct bent *bent, enum ledger_violation kind, size_t missing)
{
    ledger_receive(bent->ledger, "out", 0, &bent->output.record);
    assert_int_equal(ledger_violations(bent->ledger, kind), 1);
    assert_int_equal(ledger_violations(bent->ledger, LEDGER_MISSING), missing);
    for (int other = LEDGER_REPEATED; other < LEDGER_KINDS; other++) {
        assert_int_equal(ledger_violations(bent->ledger, (enum ledger_violation)other), other == (int)kind);
    }
    ledger_free(bent->ledger);
}

static void missing_is_seen(void **state)
{
    (void)state;
    struct bent *bent = bent_new();
    send_at(bent->ledger, 8, DUE);
    ledger_receive(bent->ledger, "out", 0, &bent->output.record);
    assert_only(bent->ledger, LEDGER_MISSING, 1);
    ledger_free(bent->ledger);
}

static void repeat_is_seen(void **state)
{
    (void)state;
    struct bent *bent = bent_new();
    ledger_receive(bent->ledger, "out", 0, &bent->output.record);
    assert_int_equal(ledger_repeat_count(bent->ledger), 0);
    bent_check(bent, LEDGER_REPEATED, 0);
}

static void early_is_seen(void **state)
{
    (void)state;
    struct bent *bent = bent_new();
    bent->output.record.timestamp_ms = DUE - 1;
    bent_check(bent, LEDGER_EARLY, 0);
}

static void order_is_seen(void **state)
{
    (void)state;
    const int64_t dues[][2] = {{DUE + 1, DUE}, {DUE, DUE}}; /* by due, and by offset among equals */
    for (size_t i = 0; i < 2; i++) {
        struct ledger *ledger = ledger_new();
        struct output output;
        send_at(ledger, 2, dues[i][0]);
        send_at(ledger, 1, dues[i][1]);
        ledger_receive(ledger, "out", 0, &output_of(&output, 2, dues[i][0])->record);
        ledger_receive(ledger, "out", 0, &output_of(&output, 1, dues[i][1])->record);
        assert_only(ledger, LEDGER_ORDER, 1);
        ledger_free(ledger);
    }
}

static void key_bytes_are_seen(void **state)
{
    (void)state;
    const struct span wrong[] = {SPAN_ABSENT, span_of_text(""), span_of_text("K"), span_of_text("kk")};
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        struct bent *bent = bent_new();
        bent->output.record.key = wrong[i];
        bent_check(bent, LEDGER_BYTES, 0);
    }
}

static void value_bytes_are_seen(void **state)
{
    (void)state;
    const struct span wrong[] = {SPAN_ABSENT, span_of_text(""), span_of_text("V")};
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        struct bent *bent = bent_new();
        bent->output.record.value = wrong[i];
        bent_check(bent, LEDGER_BYTES, 0);
    }
}

static void headers_are_seen(void **state)
{
    (void)state;
    struct bent *bent = bent_new();
    bent->output.headers[1].value = span_of_text(""); /* empty for null */
    bent_check(bent, LEDGER_HEADERS, 0);
    bent = bent_new();
    bent->output.headers[0] = own[2]; /* two of one name, exchanged */
    bent->output.headers[1] = own[0];
    bent_check(bent, LEDGER_HEADERS, 0);
    bent = bent_new();
    bent->output.headers[bent->output.record.header_count++] = own[1]; /* a control header passed on */
    bent_check(bent, LEDGER_HEADERS, 0);
    bent = bent_new();
    bent->output.headers[bent->output.record.header_count++] = own[0]; /* one too many */
    bent_check(bent, LEDGER_HEADERS, 0);
}

static void identity_is_seen(void **state)
{
    (void)state;
    struct bent *bent = bent_new();
    bent->output.headers[3].value = span_of_text("in/2/8");
    bent_check(bent, LEDGER_IDENTITY, 0);
    bent = bent_new();
    bent->output.headers[4].value = span_of_text("1700000000001");
    bent_check(bent, LEDGER_IDENTITY, 0);
}

static void given_id_is_expected(void **state)
{
    (void)state;
    struct ledger *ledger = ledger_new();
    struct output output;
    struct ledger_sent sent = {.topic = "in",
                               .partition = 2,
                               .offset = 7,
                               .due_ms = DUE,
                               .target = "out",
                               .lane = "default",
                               .key = span_of_text("k"),
                               .value = span_of_text("v"),
                               .id = span_of_text("mine"),
                               .headers = own,
                               .header_count = sizeof(own) / sizeof(own[0])};
    ledger_send(ledger, &sent);
    output_of(&output, 7, DUE)->headers[3].value = span_of_text("mine");
    ledger_receive(ledger, "out", 0, &output.record);
    assert_only(ledger, LEDGER_MISSING, 0);
    ledger_receive(ledger, "out", 0, &output_of(&output, 7, DUE)->record);
    assert_int_equal(ledger_violations(ledger, LEDGER_IDENTITY), 1);
    ledger_free(ledger);
}

static void target_is_seen(void **state)
{
    (void)state;
    struct bent *bent = bent_new();
    ledger_receive(bent->ledger, "elsewhere", 0, &bent->output.record);
    assert_only(bent->ledger, LEDGER_TARGET, 1);
    ledger_free(bent->ledger);
}

static void unknown_source_is_seen(void **state)
{
    (void)state;
    struct bent *bent = bent_new();
    bent->output.headers[5].value = span_of_text("in/2/8");
    bent_check(bent, LEDGER_UNKNOWN, 1);
    bent = bent_new();
    bent->output.record.header_count = 5;
    bent_check(bent, LEDGER_UNKNOWN, 1);
}

/* Its offset is told after it was sent: until then it is nobody's, afterwards it is like any other. */
static void placed_later(void **state)
{
    (void)state;
    struct ledger *ledger = ledger_new();
    struct output output;
    for (int64_t i = 0; i < 1000; i++) { /* the table grows over the one that has no place in it */
        send_at(ledger, i == 500 ? -1 : i, DUE);
    }
    ledger_receive(ledger, "out", 0, &output_of(&output, 1500, DUE)->record);
    assert_int_equal(ledger_violations(ledger, LEDGER_UNKNOWN), 1);
    ledger_place(ledger, 500, 1500);
    ledger_receive(ledger, "out", 0, &output_of(&output, 1500, DUE)->record);
    assert_int_equal(ledger_violations(ledger, LEDGER_UNKNOWN), 1);
    assert_int_equal(ledger_violations(ledger, LEDGER_IDENTITY), 0);
    assert_int_equal(ledger_received_count(ledger), 1);
    ledger_free(ledger);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_right),
        cmocka_unit_test(missing_is_seen),
        cmocka_unit_test(repeat_is_seen),
        cmocka_unit_test(early_is_seen),
        cmocka_unit_test(order_is_seen),
        cmocka_unit_test(key_bytes_are_seen),
        cmocka_unit_test(value_bytes_are_seen),
        cmocka_unit_test(headers_are_seen),
        cmocka_unit_test(identity_is_seen),
        cmocka_unit_test(given_id_is_expected),
        cmocka_unit_test(target_is_seen),
        cmocka_unit_test(unknown_source_is_seen),
        cmocka_unit_test(placed_later),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
