#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <nats/nats.h>

#include "dlq/letter_json.h"
#include "dlq/nack_family.h"
#include "dlq/nack_stream.h"
#include "support/sample_letter.h"

#define STORED_MS 1767225600000
#define SEQUENCE 42

struct fixture {
    natsMsg *message;
    struct nack_stream_room room;
    struct nack_stream nack;
    bool read;
};

/* headers: name, value, ..., NULL. value NULL: no body. */
static void read_nack(struct fixture *fixture, const char *subject, const char *const *headers, const void *body, size_t length)
{
    assert_int_equal(natsMsg_Create(&fixture->message, subject, NULL, body, (int)length), NATS_OK);
    for (size_t i = 0; headers != NULL && headers[i] != NULL; i += 2) {
        assert_int_equal(natsMsgHeader_Add(fixture->message, headers[i], headers[i + 1]), NATS_OK);
    }
    const struct reader_message message = {SEQUENCE, STORED_MS, subject, {body, length}, fixture->message};
    fixture->room = nack_stream_room_new(1 << 20);
    fixture->read = nack_stream_read(&message, "eu.", &fixture->room, &fixture->nack);
}

static void free_fixture(struct fixture *fixture)
{
    natsMsg_Destroy(fixture->message);
    nack_stream_room_free(&fixture->room);
}

static void assert_id(const struct fixture *fixture, const char *subject, struct span group)
{
    const struct letter_origin place = {span_of_text(subject), -1, SEQUENCE, STORED_MS};
    char id[LETTER_ID_SIZE];
    letter_id(id, SPAN_ABSENT, group, &place, 0);
    assert_string_equal(fixture->nack.letter.id, id);
}

static struct span header(const struct fixture *fixture, const char *name)
{
    return nack_family_header(fixture->nack.letter.record.headers, name);
}

static void the_least_is_a_subject_and_a_body(void **state)
{
    (void)state;
    struct fixture fixture;
    read_nack(&fixture, "eu.nack.orders.v1", NULL, "body", 4);
    const struct letter *letter = &fixture.nack.letter;
    assert_true(fixture.read);
    assert_true(span_equals_text(letter->target, "orders.v1"));
    assert_true(span_equals_text(letter->origin.topic, "orders.v1"));
    assert_int_equal(letter->origin.partition, -1);
    assert_int_equal(letter->origin.offset, -1);
    assert_int_equal(letter->origin.timestamp_ms, -1);
    assert_int_equal(letter->reason, LETTER_REASON_CONSUMER_FAILED);
    assert_int_equal(letter->attempt, 1);
    assert_int_equal(letter->first_failure_ms, STORED_MS);
    assert_int_equal(letter->last_failure_ms, STORED_MS);
    assert_int_equal(letter->not_before_ms, -1);
    assert_null(letter->record.key.data);
    assert_true(span_equals_text(letter->record.value, "body"));
    assert_int_equal(letter->record.headers.length, 0);
    assert_int_equal(letter->error.length, 0);
    assert_null(letter->group.data);
    assert_null(fixture.nack.delay.data);
    assert_false(fixture.nack.has_not_before);
    assert_id(&fixture, "eu.nack.orders.v1", SPAN_ABSENT);
    free_fixture(&fixture);
}

static void headers_say_the_rest(void **state)
{
    static const char *const headers[] = {"Tarry-Key", "k", "Tarry-Partition", "3", "Tarry-Offset", "9223372036854775807", "Tarry-Timestamp", "5",
                                          "Tarry-Group", "billing", "Tarry-Error", "no such\tcustomer", "Tarry-Delay", "30s", "Tarry-Redelivery", "2",
                                          "Tarry-Replays", "1", "Nats-Msg-Id", "x", "z", "1", "a", "2", "a", "3", "__dlq.errors.topic", "old",
                                          "tarry-id", "i", "Tarry-Whatever", "not the record's", NULL};
    (void)state;
    struct fixture fixture;
    read_nack(&fixture, "eu.nack.orders", headers, "", 0);
    const struct letter *letter = &fixture.nack.letter;
    assert_true(fixture.read);
    assert_true(span_equals_text(letter->record.key, "k"));
    assert_true(span_equals_text(letter->record.value, ""));
    assert_int_equal(letter->origin.partition, 3);
    assert_true(letter->origin.offset == INT64_MAX);
    assert_int_equal(letter->origin.timestamp_ms, 5);
    assert_true(span_equals_text(letter->group, "billing"));
    assert_true(span_equals_text(letter->error, "no such?customer"));
    assert_true(span_equals_text(fixture.nack.delay, "30s"));
    assert_int_equal(letter->attempt, 3);
    assert_int_equal(letter->replays, 1);
    assert_true(span_equals_text(letter->schedule_id, "i"));
    struct span left = letter->record.headers;
    struct span name, value;
    assert_true(letter_next_header(&left, &name, &value) && span_equals_text(name, "a") && span_equals_text(value, "2"));
    assert_true(letter_next_header(&left, &name, &value) && span_equals_text(name, "a") && span_equals_text(value, "3"));
    assert_true(letter_next_header(&left, &name, &value) && span_equals_text(name, "tarry-id"));
    assert_true(letter_next_header(&left, &name, &value) && span_equals_text(name, "z"));
    assert_false(letter_next_header(&left, &name, &value));
    assert_id(&fixture, "eu.nack.orders", span_of_text("billing"));
    free_fixture(&fixture);
}

static void keys_may_be_binary_and_values_null(void **state)
{
    static const char *const headers[] = {"Tarry-Key-Base64", "AP8=", "Tarry-Null", "value", "tarry-redelivery", "4", NULL};
    static const char *const empty[] = {"Tarry-Key-Base64", "", "Tarry-Partition", "-3", "Tarry-Redelivery", "x", NULL};
    (void)state;
    struct fixture fixture;
    read_nack(&fixture, "eu.nack.orders", headers, NULL, 0);
    assert_true(fixture.read);
    assert_true(span_equal(fixture.nack.letter.record.key, (struct span){(const uint8_t *)"\0\xff", 2}));
    assert_null(fixture.nack.letter.record.value.data);
    assert_int_equal(fixture.nack.letter.attempt, 5); /* a consumer that copies the record's headers */
    assert_null(header(&fixture, "tarry-redelivery").data);
    free_fixture(&fixture);
    read_nack(&fixture, "eu.nack.orders", empty, "v", 1);
    assert_true(fixture.read);
    assert_true(span_equals_text(fixture.nack.letter.record.key, ""));
    assert_int_equal(fixture.nack.letter.origin.partition, -1);
    assert_int_equal(fixture.nack.letter.attempt, 1);
    free_fixture(&fixture);
}

static void a_letter_in_json_is_exact(void **state)
{
    static const char *const headers[] = {"Tarry-Encoding", "json", NULL};
    (void)state;
    for (uint64_t seed = 0; seed < 200; seed++) {
        struct random random = random_new(seed);
        struct sample_letter sample;
        struct buffer json = buffer_new(1 << 20);
        struct fixture fixture;
        sample_letter_fill(&sample, &random);
        assert_true(letter_json_write(&json, &sample.letter, LETTER_PARKED, true, NULL));
        read_nack(&fixture, "eu.nack.orders", headers, json.data, json.length);
        assert_true(fixture.read);
        const struct letter *letter = &fixture.nack.letter;
        assert_int_equal(fixture.nack.has_not_before, sample.letter.not_before_ms != -1);
        assert_int_equal(letter->reason, LETTER_REASON_CONSUMER_FAILED);
        assert_id(&fixture, "eu.nack.orders", letter->group);
        struct letter wanted = sample.letter; /* but for what the nack itself says */
        memcpy(wanted.id, letter->id, sizeof(wanted.id));
        wanted.origin.topic = wanted.target = span_of_text("orders");
        wanted.reason = LETTER_REASON_CONSUMER_FAILED;
        wanted.first_failure_ms = wanted.last_failure_ms = STORED_MS;
        wanted.attempt = wanted.attempt == 0 ? 1 : wanted.attempt;
        sample_letter_assert_same(&wanted, letter);
        free_fixture(&fixture);
        buffer_free(&json);
        sample_letter_free(&sample);
    }
}

static void assert_bad(const char *subject, const char *const *headers, const char *body, const char *word)
{
    struct fixture fixture;
    read_nack(&fixture, subject, headers, body, strlen(body));
    const struct letter *letter = &fixture.nack.letter;
    assert_false(fixture.read);
    assert_int_equal(letter->reason, LETTER_REASON_BAD_NACK);
    assert_null(letter->target.data);
    assert_true(letter->origin.topic.length > 0);
    assert_true(span_equals_text(letter->record.value, body));
    assert_int_equal(letter->attempt, 1);
    char text[LETTER_ERROR_MAX + 1] = "";
    memcpy(text, letter->error.data, letter->error.length);
    if (strstr(text, word) == NULL) {
        fail_msg("wanted \"%s\", got \"%s\"", word, text);
    }
    for (size_t i = 0; headers != NULL && headers[i] != NULL; i += 2) {
        assert_non_null(header(&fixture, headers[i]).data);
    }
    struct buffer bytes = buffer_new(1 << 20);
    assert_true(letter_encode(&bytes, letter, NULL));
    buffer_free(&bytes);
    free_fixture(&fixture);
}

static void what_cannot_be_understood_is_kept_whole(void **state)
{
    (void)state;
    assert_bad("eu.nack.a%", NULL, "b", "subject");
    assert_bad("eu.nack.k\xc3\xa4se", NULL, "b", "subject");
    assert_bad("eu.nack..", NULL, "b", "subject");
    assert_bad("eu.nack._refused", NULL, "b", "subject");
    assert_bad("nack.orders", NULL, "b", "subject");
    assert_bad("eu.dlq.orders", NULL, "b", "subject");
    assert_bad("eu.nack.orders", (const char *[]){"Tarry-Key", "k", "Tarry-Key-Base64", "AA==", NULL}, "b", "both");
    assert_bad("eu.nack.orders", (const char *[]){"Tarry-Key-Base64", "A", "own", "1", NULL}, "b", "base64");
    assert_bad("eu.nack.orders", (const char *[]){"Tarry-Null", "key", NULL}, "", "Tarry-Null");
    assert_bad("eu.nack.orders", (const char *[]){"Tarry-Null", "value", NULL}, "b", "Tarry-Null");
    assert_bad("eu.nack.orders", (const char *[]){"Tarry-Encoding", "avro", NULL}, "b", "Tarry-Encoding");
    assert_bad("eu.nack.orders", (const char *[]){"Tarry-Encoding", "json", NULL}, "{\"origin\":{\"topic\":1}}", "origin: topic");
    assert_bad("eu.nack.orders", (const char *[]){"Tarry-Encoding", "json", NULL}, "", "JSON");
}

static int open_library(void **state)
{
    (void)state;
    return nats_Open(-1) == NATS_OK ? 0 : -1;
}

static int close_library(void **state)
{
    (void)state;
    return nats_CloseAndWait(10000) == NATS_OK ? 0 : -1;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_least_is_a_subject_and_a_body),   cmocka_unit_test(headers_say_the_rest),
        cmocka_unit_test(keys_may_be_binary_and_values_null),  cmocka_unit_test(a_letter_in_json_is_exact),
        cmocka_unit_test(what_cannot_be_understood_is_kept_whole),
    };
    return cmocka_run_group_tests(tests, open_library, close_library);
}
