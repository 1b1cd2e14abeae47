/* Redelivery with a real broker and a real nats-server: when, how often, with which headers, and what becomes of what fails. Both ways of delivering. */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "dlq/reader.h"
#include "tests/support/await.h"
#include "tests/support/kafka_topics.h"
#include "tests/support/redelivery_scene.h"

#define WAIT_MS REDELIVERY_SCENE_WAIT_MS
#define HOUR_MS 3600000

static const char *text_of(struct span span)
{
    static char text[256];
    snprintf(text, sizeof text, "%.*s", (int)span.length, span.data == NULL ? "" : (const char *)span.data);
    return text;
}

/* ------------------------------------------------------------------------------------------------- delivered */

static void add_header(struct buffer *headers, const char *name, const char *value)
{
    letter_add_header(headers, span_of_text(name), span_of_text(value));
}

static void expect_header(const struct kafka_client_record *record, const char *name, const char *value)
{
    const char *found = kafka_client_header_text(record, name);
    if (value == NULL) {
        assert_null(found);
    } else {
        assert_non_null(found);
        assert_string_equal(found, value);
        assert_int_equal(kafka_client_header_count(record, name), 1);
    }
}

static void test_delivered_when_due(void **state)
{
    struct redelivery_scene *scene = *state;
    struct buffer headers = buffer_new(10000);
    add_header(&headers, "trace", "1");
    add_header(&headers, "__dlq.errors.message", "of long ago");
    add_header(&headers, "tarry-id", "payment-7");
    add_header(&headers, "trace", "2");
    letter_add_header(&headers, span_of_text("null"), SPAN_ABSENT);
    int64_t due_ms = await_wall_ms() + 1500;
    struct letter letter = redelivery_scene_letter(1, scene->out, due_ms);
    letter.attempt = 2;
    letter.record.headers = buffer_span(&headers);
    letter.record.value = SPAN_ABSENT;
    (void)redelivery_scene_post(scene, &letter, LETTER_WAITING);
    struct letter other = redelivery_scene_letter(2, scene->out, due_ms + HOUR_MS);
    (void)redelivery_scene_post(scene, &other, LETTER_WAITING);
    redelivery_scene_run(scene);
    redelivery_scene_await(scene, LETTER_WAITING, NULL, 1, WAIT_MS);
    struct kafka_client_records records = redelivery_scene_records(scene, scene->out);
    assert_int_equal(records.count, 1);
    const struct kafka_client_record *record = &records.items[0];
    assert_in_range(record->record.timestamp_ms, due_ms, due_ms + 10000);
    assert_string_equal(text_of(record->record.key), "k1");
    assert_null(record->record.value.data);
    assert_int_equal(kafka_client_header_count(record, "trace"), 2);
    expect_header(record, "tarry-id", "payment-7");
    expect_header(record, "__dlq.errors.message", "the topic does not exist");
    expect_header(record, "__dlq.errors.topic", "delays");
    expect_header(record, "__dlq.errors.delivery.count", "2");
    expect_header(record, "tarry-redelivery", "2");
    expect_header(record, "tarry-replays", NULL);
    kafka_client_records_free(&records);
    struct redelivery_status status;
    redelivery_status(scene->redelivery, &status);
    assert_int_equal(status.waiting, 1);
    assert_int_equal(status.next_ms, due_ms + HOUR_MS);
    buffer_free(&headers);
}

static bool one_delivered(const struct redelivery_status *status)
{
    return status->counts.delivered == 1;
}

/* A record that stands apart goes whole, and its parts go with it. */
static void test_large_record(void **state)
{
    struct redelivery_scene *scene = *state;
    char topic[80];
    snprintf(topic, sizeof topic, "%s-large", scene->out);
    kafka_topics_create(scene->bootstrap, topic, 1, (const char *const[]){"max.message.bytes=10000000", NULL});
    struct letter letter = nats_letters_one(1, 5 << 20);
    letter.target = span_of_text(topic);
    letter.not_before_ms = 0;
    (void)redelivery_scene_post(scene, &letter, LETTER_WAITING);
    assert_true(nats_client_count(scene->client, "TARRY_DLQ_LARGE", NULL) > 1);
    redelivery_scene_run(scene);
    redelivery_scene_await(scene, LETTER_WAITING, NULL, 0, WAIT_MS);
    (void)redelivery_scene_await_status(scene, one_delivered);
    struct kafka_client_records records = redelivery_scene_records(scene, topic);
    assert_int_equal(records.count, 1);
    assert_true(span_equal(records.items[0].record.value, letter.record.value));
    kafka_client_records_free(&records);
    int64_t end_ms = await_mono_ms() + WAIT_MS;
    while (nats_client_count(scene->client, "TARRY_DLQ_LARGE", NULL) > 0) {
        assert_true(await_mono_ms() < end_ms);
        await_pause_ms(20);
    }
}

static void test_far_future_delays_nothing(void **state)
{
    struct redelivery_scene *scene = *state;
    for (uint64_t first = 0; first < 20000; first += 5000) {
        redelivery_scene_post_many(scene, first, 5000, scene->out, await_wall_ms() + HOUR_MS);
    }
    redelivery_scene_run(scene);
    int64_t due_ms = await_wall_ms() + 1000;
    struct letter letter = redelivery_scene_letter(30000, scene->out, due_ms);
    (void)redelivery_scene_post(scene, &letter, LETTER_WAITING);
    struct redelivery_status status = redelivery_scene_await_status(scene, one_delivered);
    assert_int_equal(status.waiting, 20000);
    struct kafka_client_records records = redelivery_scene_records(scene, scene->out);
    assert_int_equal(records.count, 1);
    assert_in_range(records.items[0].record.timestamp_ms, due_ms, due_ms + 5000);
    kafka_client_records_free(&records);
}

/* Letters of one key that are due together go in the order of the stream. */
static void test_order(void **state)
{
    struct redelivery_scene *scene = *state;
    enum { MANY = 2000 };
    redelivery_scene_post_many(scene, 0, MANY, scene->out, await_wall_ms() - 1000);
    redelivery_scene_run(scene);
    redelivery_scene_await(scene, LETTER_WAITING, NULL, 0, WAIT_MS);
    struct kafka_client_records records = redelivery_scene_records(scene, scene->out);
    assert_int_equal(records.count, MANY);
    for (size_t i = 0; i < MANY; i++) {
        assert_int_equal(strtoull(text_of(records.items[i].record.value), NULL, 10), i);
    }
    kafka_client_records_free(&records);
}

/* ------------------------------------------------------------------------------------------------- failing */

/* Follows the letters of one record through the stream while they come and go: each is there for a while. */
struct trail {
    int64_t not_before_ms[8];
    int64_t last_failure_ms[8];
    uint32_t seen;
};

/* Fails with the reader closed: a reader left open would have the link wait for it. */
static void follow(struct redelivery_scene *scene, const struct letter *first, struct trail *trail)
{
    struct reader *reader = NULL;
    struct reader_message message;
    struct error error = {0};
    struct letter letter;
    uint32_t wrong = 0; /* an attempt that came twice, or after one left out */
    enum reader_result result = READER_NOTHING;
    int64_t end_ms = await_mono_ms() + 2 * WAIT_MS;
    assert_true(reader_open(scene->link, scene->options.stream, NULL, 1, &reader, &error));
    (void)reader_poll(reader, 0, &message, &error); /* from now on it is asked for */
    (void)redelivery_scene_post(scene, first, LETTER_WAITING);
    while (result != READER_FAILED && await_mono_ms() < end_ms && nats_client_count(scene->client, scene->options.parked_stream, NULL) == 0) {
        result = reader_poll(reader, 100, &message, &error);
        if (result == READER_MESSAGE && letter_decode(message.bytes, &letter, &error)) {
            wrong = letter.attempt == trail->seen + 1 && letter.attempt < 8 ? wrong : letter.attempt;
            trail->seen++;
            trail->not_before_ms[letter.attempt % 8] = letter.not_before_ms;
            trail->last_failure_ms[letter.attempt % 8] = letter.last_failure_ms;
        }
    }
    reader_close(reader);
    assert_string_equal(error.text, "");
    assert_int_equal(wrong, 0);
}

static void test_backoff_then_parked(void **state)
{
    struct redelivery_scene *scene = *state;
    struct trail trail = {.seen = 0};
    redelivery_scene_run(scene);
    struct letter letter = redelivery_scene_letter(1, scene->missing, await_wall_ms() + 500);
    follow(scene, &letter, &trail);
    assert_int_equal(trail.seen, 3);
    redelivery_scene_await(scene, LETTER_WAITING, NULL, 0, WAIT_MS);
    struct redelivery_scene_kept *parked;
    size_t count = redelivery_scene_read(scene, LETTER_PARKED, &parked);
    assert_int_equal(count, 1);
    trail.last_failure_ms[4] = parked[0].letter.last_failure_ms;
    assert_int_equal(parked[0].letter.attempt, 3);
    assert_string_equal(parked[0].letter.id, letter.id);
    assert_int_equal(parked[0].letter.reason, LETTER_REASON_UNKNOWN_TARGET);
    assert_int_equal(parked[0].letter.first_failure_ms, letter.first_failure_ms);
    assert_non_null(strstr(text_of(parked[0].letter.error), "UNKNOWN_TOPIC"));
    redelivery_scene_free(parked, count);
    for (uint32_t attempt = 1; attempt <= 3; attempt++) {
        assert_true(trail.last_failure_ms[attempt + 1] >= trail.not_before_ms[attempt]); /* never early */
        assert_true(trail.last_failure_ms[attempt + 1] <= trail.not_before_ms[attempt] + 15000);
    }
    assert_int_equal(trail.not_before_ms[2] - trail.last_failure_ms[2], 600);
    assert_int_equal(trail.not_before_ms[3] - trail.last_failure_ms[3], 1200);
    struct redelivery_status status;
    redelivery_status(scene->redelivery, &status);
    assert_int_equal(status.counts.retried, 2);
    assert_int_equal(status.counts.failed, 1);
    assert_int_equal(status.counts.parked, 1);
    assert_int_equal(status.counts.delivered, 0);
}

static void test_not_allowed_is_parked(void **state)
{
    struct redelivery_scene *scene = *state;
    struct letter letter = redelivery_scene_letter(1, "elsewhere", 0);
    (void)redelivery_scene_post(scene, &letter, LETTER_WAITING);
    redelivery_scene_run(scene);
    redelivery_scene_await(scene, LETTER_PARKED, NULL, 1, WAIT_MS);
    redelivery_scene_await(scene, LETTER_WAITING, NULL, 0, WAIT_MS);
    struct redelivery_scene_kept *parked;
    size_t count = redelivery_scene_read(scene, LETTER_PARKED, &parked);
    assert_int_equal(parked[0].letter.reason, LETTER_REASON_TARGET_NOT_ALLOWED);
    redelivery_scene_free(parked, count);
}

/* One record of a batch is at fault: it alone fails, the others go out once. */
static void test_one_at_fault(void **state)
{
    struct redelivery_scene *scene = *state;
    enum { MANY = 40 };
    char topic[80];
    snprintf(topic, sizeof topic, "%s-small", scene->out);
    kafka_topics_create(scene->bootstrap, topic, 1, (const char *const[]){"max.message.bytes=3000", NULL});
    redelivery_scene_post_many(scene, 0, MANY / 2, topic, 0);
    struct letter large = nats_letters_one(1000, 20000);
    large.target = span_of_text(topic);
    large.not_before_ms = 0;
    (void)redelivery_scene_post(scene, &large, LETTER_WAITING);
    redelivery_scene_post_many(scene, MANY / 2, MANY / 2, topic, 0);
    redelivery_scene_run(scene);
    redelivery_scene_await(scene, LETTER_PARKED, NULL, 1, WAIT_MS);
    redelivery_scene_await(scene, LETTER_WAITING, NULL, 0, WAIT_MS);
    struct kafka_client_records records = redelivery_scene_records(scene, topic);
    assert_int_equal(records.count, MANY);
    kafka_client_records_free(&records);
    struct redelivery_scene_kept *parked;
    size_t count = redelivery_scene_read(scene, LETTER_PARKED, &parked);
    assert_string_equal(parked[0].letter.id, large.id);
    assert_int_equal(parked[0].letter.attempt, 3);
    assert_non_null(strstr(text_of(parked[0].letter.error), "MSG_SIZE_TOO_LARGE"));
    redelivery_scene_free(parked, count);
}

/* A topic without rights: with transactions the coordinator refuses all of them and names nobody. */
static void test_not_authorised(void **state)
{
    struct redelivery_scene *scene = *state;
    char topic[80];
    snprintf(topic, sizeof topic, "%s-forbidden", scene->out);
    kafka_topics_create(scene->bootstrap, topic, 1, NULL);
    const char *const arguments[] = {"--bootstrap-server", scene->bootstrap, "--add", "--deny-principal", "User:ANONYMOUS", "--operation", "Write",
                                     "--topic", topic, NULL};
    assert_int_equal(kafka_broker_run_tool("org.apache.kafka.tools.AclCommand", arguments, NULL, NULL), 0);
    redelivery_scene_post_many(scene, 0, 20, scene->out, 0);
    redelivery_scene_post_many(scene, 100, 1, topic, 0);
    redelivery_scene_post_many(scene, 20, 20, scene->out, 0);
    redelivery_scene_run(scene);
    redelivery_scene_await(scene, LETTER_PARKED, NULL, 1, 2 * WAIT_MS);
    redelivery_scene_await(scene, LETTER_WAITING, NULL, 0, WAIT_MS);
    struct kafka_client_records records = redelivery_scene_records(scene, scene->out);
    assert_int_equal(records.count, 40);
    kafka_client_records_free(&records);
}

/* ------------------------------------------------------------------------------------------------- outages */

static bool ten_delivered(const struct redelivery_status *status)
{
    return status->counts.delivered >= 10;
}

static bool rests(const struct redelivery_status *status)
{
    return status->resting_targets == 1 && status->counts.postponed > 0;
}

#define LEADER_NOT_AVAILABLE 5

/* A target that takes nothing rests, others go on, and no attempt is counted. */
static void test_outage_of_one_target(void **state)
{
    struct redelivery_scene *scene = *state;
    char topic[80];
    snprintf(topic, sizeof topic, "%s-stuck", scene->out);
    redelivery_scene_create_topic(scene, topic);
    mock_cluster_topic_error(scene->mock, topic, LEADER_NOT_AVAILABLE);
    redelivery_scene_post_many(scene, 0, 5, topic, 0);
    redelivery_scene_run(scene);
    (void)redelivery_scene_await_status(scene, rests);
    redelivery_scene_post_many(scene, 100, 10, scene->out, 0);
    (void)redelivery_scene_await_status(scene, ten_delivered);
    struct redelivery_scene_kept *waiting;
    size_t count = redelivery_scene_read(scene, LETTER_WAITING, &waiting);
    assert_int_equal(count, 5);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(waiting[i].letter.attempt, 1);
    }
    redelivery_scene_free(waiting, count);
    mock_cluster_topic_error(scene->mock, topic, 0);
    redelivery_scene_await(scene, LETTER_WAITING, NULL, 0, 2 * WAIT_MS);
    redelivery_scene_await(scene, LETTER_PARKED, NULL, 0, WAIT_MS);
    struct kafka_client_records records = redelivery_scene_records(scene, topic);
    assert_int_equal(records.count, 5);
    kafka_client_records_free(&records);
}

static bool something_postponed(const struct redelivery_status *status)
{
    return status->counts.postponed > 0 || status->phase == REDELIVERY_STANDING;
}

/* All brokers silent: the same, and whether one was taken is not known, so that at least once may double it. */
static void test_outage_of_all(void **state)
{
    struct redelivery_scene *scene = *state;
    redelivery_scene_post_many(scene, 0, 1, scene->out, 0);
    redelivery_scene_run(scene);
    redelivery_scene_await(scene, LETTER_WAITING, NULL, 0, WAIT_MS);
    kafka_broker_freeze(redelivery_scene_broker());
    redelivery_scene_post_many(scene, 1, 5, scene->out, 0);
    (void)redelivery_scene_await_status(scene, something_postponed);
    kafka_broker_thaw(redelivery_scene_broker());
    redelivery_scene_await(scene, LETTER_WAITING, NULL, 0, 2 * WAIT_MS);
    redelivery_scene_await(scene, LETTER_PARKED, NULL, 0, WAIT_MS);
    struct kafka_client_records records = redelivery_scene_records(scene, scene->out);
    assert_true(records.count >= 6);
    assert_true(records.count == 6 || !scene->exactly_once);
    for (size_t i = 0; i < records.count; i++) {
        expect_header(&records.items[i], "tarry-redelivery", "1");
    }
    kafka_client_records_free(&records);
}

/* ------------------------------------------------------------------------------------------------- nacks */

static void test_nacks(void **state)
{
    struct redelivery_scene *scene = *state;
    char subject[128];
    static const char *const good[] = {"Tarry-Key: k", "Tarry-Error: boom", "Tarry-Group: shop", "Tarry-Delay: 1500", "colour: red", NULL};
    redelivery_scene_run(scene);
    snprintf(subject, sizeof subject, "nack.%s", scene->out);
    int64_t start_ms = await_wall_ms();
    (void)nats_client_publish(scene->client, subject, good, "value", 5);
    (void)nats_client_publish(scene->client, "nack.elsewhere", NULL, "value", 5);
    redelivery_scene_await(scene, LETTER_PARKED, NULL, 1, WAIT_MS);
    redelivery_scene_await(scene, LETTER_WAITING, NULL, 0, WAIT_MS);
    struct kafka_client_records records = redelivery_scene_records(scene, scene->out);
    assert_int_equal(records.count, 1);
    const struct kafka_client_record *record = &records.items[0];
    assert_true(record->record.timestamp_ms >= start_ms + 1400); /* the server's clock is the same, its milliseconds are cut */
    assert_string_equal(text_of(record->record.key), "k");
    assert_string_equal(text_of(record->record.value), "value");
    expect_header(record, "colour", "red");
    expect_header(record, "tarry-redelivery", "1");
    expect_header(record, "__dlq.errors.message", "boom");
    expect_header(record, "__dlq.errors.group", "shop");
    kafka_client_records_free(&records);
    struct redelivery_scene_kept *parked;
    size_t count = redelivery_scene_read(scene, LETTER_PARKED, &parked);
    assert_int_equal(parked[0].letter.reason, LETTER_REASON_TARGET_NOT_ALLOWED);
    redelivery_scene_free(parked, count);
    struct redelivery_status status;
    redelivery_status(scene->redelivery, &status);
    assert_int_equal(status.counts.nacks, 2);
}

/* A consumer that fails always, and hands no header back: by the record's place when it says it, else by its bytes. The policy's redeliveries, then parked. */
static void test_nacks_without_headers(void **state)
{
    struct redelivery_scene *scene = *state;
    char subject[128];
    char offset[64];
    static const char *const blind[] = {"Tarry-Key: blind", "Tarry-Delay: 1", NULL};
    const char *const placed[] = {"Tarry-Key: placed", "Tarry-Delay: 1", "Tarry-Partition: 0", offset, NULL};
    redelivery_scene_run(scene);
    snprintf(subject, sizeof subject, "nack.%s", scene->out);
    snprintf(offset, sizeof offset, "Tarry-Offset: 1000000");
    uint32_t most = scene->config->targets[0].retry.max_deliver;
    size_t seen = 0;
    for (uint32_t i = 0; i <= most; i++) { /* the first delivery, and each redelivery, fail */
        (void)nats_client_publish(scene->client, subject, blind, "value", 5);
        (void)nats_client_publish(scene->client, subject, placed, "value", 5);
        redelivery_scene_await(scene, LETTER_PARKED, NULL, i == most ? 2 : 0, WAIT_MS);
        redelivery_scene_await(scene, LETTER_WAITING, NULL, 0, WAIT_MS);
        struct kafka_client_records records = redelivery_scene_records(scene, scene->out);
        for (; seen < records.count; seen++) {
            if (strcmp(text_of(records.items[seen].record.key), "placed") == 0) {
                snprintf(offset, sizeof offset, "Tarry-Offset: %" PRId64, records.items[seen].record.offset);
            }
        }
        assert_int_equal(seen, 2 * (i < most ? i + 1 : most));
        kafka_client_records_free(&records);
    }
}

/* ------------------------------------------------------------------------------------------------- the owner */

static bool is_idle(const struct redelivery_status *status)
{
    return status->phase == REDELIVERY_IDLE && status->in_flight == 0;
}

static void test_inactive(void **state)
{
    struct redelivery_scene *scene = *state;
    redelivery_scene_run(scene);
    redelivery_set_active(scene->redelivery, false);
    (void)redelivery_scene_await_status(scene, is_idle);
    redelivery_scene_post_many(scene, 0, 10, scene->out, 0);
    await_pause_ms(1000); /* nothing may happen */
    assert_int_equal(nats_client_count(scene->client, scene->options.stream, NULL), 10);
    redelivery_set_active(scene->redelivery, true);
    redelivery_scene_await(scene, LETTER_WAITING, NULL, 0, WAIT_MS);
    struct kafka_client_records records = redelivery_scene_records(scene, scene->out);
    assert_int_equal(records.count, 10);
    kafka_client_records_free(&records);
}

/* A policy that is reloaded counts from the next failure on. */
static void test_reload(void **state)
{
    struct redelivery_scene *scene = *state;
    redelivery_scene_run(scene);
    struct retry_policy before = scene->config->targets[0].retry;
    scene->config->targets[0].retry.max_deliver = 1;
    redelivery_reload(scene->redelivery, scene->config);
    scene->config->targets[0].retry = before;
    struct letter letter = redelivery_scene_letter(1, scene->missing, 0);
    (void)redelivery_scene_post(scene, &letter, LETTER_WAITING);
    redelivery_scene_await(scene, LETTER_PARKED, NULL, 1, WAIT_MS);
    struct redelivery_scene_kept *parked;
    size_t count = redelivery_scene_read(scene, LETTER_PARKED, &parked);
    assert_int_equal(parked[0].letter.attempt, 1);
    redelivery_scene_free(parked, count);
}

#define ON_MOCK(function)                                                                                                                    \
    {#function " at_least_once", function, redelivery_scene_open_mock, redelivery_scene_close, NULL},                                        \
    {#function " exactly_once", function, redelivery_scene_open_mock, redelivery_scene_close, &redelivery_scene_open_exactly}

#define BOTH(function)                                                                                                                       \
    {#function " at_least_once", function, redelivery_scene_open, redelivery_scene_close, NULL},                                             \
    {#function " exactly_once", function, redelivery_scene_open, redelivery_scene_close, &redelivery_scene_open_exactly}

static char redelivery_scene_open_exactly;

static int start_broker(void **state)
{
    (void)state;
    redelivery_scene_start_broker();
    return 0;
}

static int stop_broker(void **state)
{
    (void)state;
    redelivery_scene_stop_broker();
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        BOTH(test_delivered_when_due),  BOTH(test_large_record),        BOTH(test_far_future_delays_nothing),
        BOTH(test_order),               BOTH(test_backoff_then_parked), BOTH(test_not_allowed_is_parked),
        BOTH(test_one_at_fault),        BOTH(test_not_authorised),      ON_MOCK(test_outage_of_one_target),
        BOTH(test_outage_of_all),
        BOTH(test_nacks),               BOTH(test_nacks_without_headers), BOTH(test_inactive),            BOTH(test_reload),
    };
    return cmocka_run_group_tests(tests, start_broker, stop_broker);
}
