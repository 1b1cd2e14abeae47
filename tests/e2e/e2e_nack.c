/*
 * Consumers in the loop: one that fails hands its record back, by NATS or by a Kafka topic, and gets it again with backoff, in the topic where it failed, until
 * it succeeds or the record is parked. The loop ends, whoever copies headers and whoever does not. In both modes of delivery.
 */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "dlq/letter_json.h"
#include "tests/support/await.h"
#include "tests/support/scene_dlq.h"
#include "tests/support/scene_letters.h"

#define REDELIVERIES 3
#define BACKOFF_MS 300 /* then 600, then 1200 */
#define ALWAYS 100
#define READ_MS 30000
#define JSON_MAX ((size_t)1024 * 1024)
#define HEADERS_MAX 40

#define OPTIONS(mode)                                                                                                                           \
    {                                                                                                                                           \
        .kafka = "consumer: {session.timeout.ms: 4000, heartbeat.interval.ms: 500}", .letters = true,                                           \
        .targets = "[{name: out, match: \"@-out\", retry: {max_deliver: 3, backoff: 300ms, factor: 2, jitter: 0}}]",                            \
        .more = "delivery: " mode "\nnack: [{match: \"@-*-dlt\", family: spring}]"                                                              \
    }
static const struct scene_options at_least_once = OPTIONS("at_least_once");
static const struct scene_options exactly_once = OPTIONS("exactly_once");

/* How a consumer hands a record back. */
enum way {
    BY_NATS,       /* headers as NATS headers */
    BY_JSON,       /* whole, as a letter in JSON */
    BY_KAFKA,      /* as Spring's recoverer does: to <topic>-dlt, with binary numbers, the record's headers copied */
    BY_FORGETFUL,  /* by NATS, saying where the record stood and nothing that tarry wrote on it */
    BY_NAMELESS,   /* by NATS: the bytes alone */
};

struct consumer {
    struct scene *scene;
    struct nats_client *client;
    enum way way;
    unsigned fails; /* so often, then it succeeds */
    char dlt[SCENE_DLQ_TOPIC_SIZE];
    char subject[2 * SCENE_NAME_MAX + 16];
    struct kafka_client_reader *reader;
    struct kafka_client_records records;
    int64_t handed_ms[8]; /* when its nth failure was handed back: not later than the server's clock said */
};

static const struct span key = {(const uint8_t *)"customer-7", 10};
static const struct span binary_key = {(const uint8_t *)"\x00\xff\x80k", 4};
static const struct record_header plain_headers[] = {
    {{(const uint8_t *)"colour", 6}, {(const uint8_t *)"red", 3}},
    {{(const uint8_t *)"colour", 6}, {(const uint8_t *)"blue", 4}},
    {{(const uint8_t *)"trace", 5}, {(const uint8_t *)"00-4bf9", 7}},
};
static const struct record_header hostile_headers[] = {
    {{(const uint8_t *)"Nats-Msg-Id", 11}, {(const uint8_t *)"1", 1}},
    {{(const uint8_t *)"null", 4}, {NULL, 0}},
    {{(const uint8_t *)"empty", 5}, {(const uint8_t *)"", 0}},
    {{(const uint8_t *)"again", 5}, {(const uint8_t *)"b", 1}},
    {{(const uint8_t *)"binary", 6}, {(const uint8_t *)"\x00\xc3\x28\xff", 4}},
    {{(const uint8_t *)"again", 5}, {(const uint8_t *)"a", 1}},
};
#define PLAIN_HEADERS (sizeof(plain_headers) / sizeof(plain_headers[0]))
#define HOSTILE_HEADERS (sizeof(hostile_headers) / sizeof(hostile_headers[0]))

/* NATS headers hold neither null nor binary. */
static bool is_exact(enum way way)
{
    return way == BY_JSON || way == BY_KAFKA;
}

/* ------------------------------------------------------------------------------------------------- handing back */

static const char *text_of(struct span span)
{
    static char text[512];
    snprintf(text, sizeof(text), "%.*s", (int)span.length, span.data == NULL ? "" : (const char *)span.data);
    return text;
}

/* The record's own headers as texts, those that tarry wrote on it too; returns how many. */
static size_t copy_headers(const struct kafka_client_record *record, char texts[][256], const char **list)
{
    size_t count = 0;
    for (size_t i = 0; i < record->record.header_count; i++) {
        const struct record_header *header = &record->record.headers[i];
        char name[100];
        snprintf(name, sizeof(name), "%.99s", text_of(header->name));
        snprintf(texts[count], 256, "%s: %.150s", name, text_of(header->value));
        list[count] = texts[count];
        count++;
    }
    return count;
}

static void hand_to_nats(struct consumer *consumer, const struct kafka_client_record *record)
{
    const char *list[HEADERS_MAX + 8];
    char texts[HEADERS_MAX][256];
    char partition[64];
    char offset[64];
    size_t count = consumer->way == BY_NATS ? copy_headers(record, texts, list) : 0;
    list[count++] = "Tarry-Key: customer-7";
    list[count++] = "Tarry-Error: boom at work";
    list[count++] = "Tarry-Group: shop";
    if (consumer->way != BY_NAMELESS) {
        snprintf(partition, sizeof(partition), "Tarry-Partition: %" PRId32, record->partition);
        snprintf(offset, sizeof(offset), "Tarry-Offset: %" PRId64, record->record.offset);
        list[count++] = partition;
        list[count++] = offset;
    }
    list[count] = NULL;
    (void)nats_client_publish(consumer->client, consumer->subject, list, record->record.value.data, record->record.value.length);
}

static void hand_as_json(struct consumer *consumer, const struct kafka_client_record *record)
{
    static const char *const json[] = {"Tarry-Encoding: json", NULL};
    struct buffer headers = buffer_new(JSON_MAX);
    struct buffer text = buffer_new(JSON_MAX);
    struct error error;
    for (size_t i = 0; i < record->record.header_count; i++) {
        letter_add_header(&headers, record->record.headers[i].name, record->record.headers[i].value);
    }
    struct letter letter = {.attempt = 1,
                            .error = span_of_text("boom at work"),
                            .first_failure_ms = -1,
                            .last_failure_ms = -1,
                            .not_before_ms = -1,
                            .target_partition = -1,
                            .origin = {span_of_text(record->topic), record->partition, record->record.offset, record->record.timestamp_ms},
                            .group = span_of_text("shop"),
                            .due_ms = -1,
                            .record = {record->record.key, record->record.value, buffer_span(&headers)}};
    memset(letter.id, '0', LETTER_ID_SIZE - 1);
    assert_true(letter_json_write(&text, &letter, LETTER_WAITING, true, &error));
    (void)nats_client_publish(consumer->client, consumer->subject, json, text.data, text.length);
    buffer_free(&headers);
    buffer_free(&text);
}

static struct span big_endian(uint8_t *bytes, uint64_t number, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        bytes[i] = (uint8_t)(number >> (8 * (size - 1 - i)));
    }
    return (struct span){bytes, size};
}

static void hand_to_kafka(struct consumer *consumer, const struct kafka_client_record *record)
{
    struct record_header headers[HEADERS_MAX + 6];
    uint8_t numbers[3][8];
    size_t count = record->record.header_count;
    assert_true(count <= HEADERS_MAX);
    memcpy(headers, record->record.headers, count * sizeof(headers[0]));
    headers[count++] = (struct record_header){span_of_text("kafka_dlt-original-topic"), span_of_text(record->topic)};
    headers[count++] = (struct record_header){span_of_text("kafka_dlt-original-partition"), big_endian(numbers[0], (uint32_t)record->partition, 4)};
    headers[count++] = (struct record_header){span_of_text("kafka_dlt-original-offset"), big_endian(numbers[1], (uint64_t)record->record.offset, 8)};
    headers[count++] = (struct record_header){span_of_text("kafka_dlt-original-timestamp"), big_endian(numbers[2], (uint64_t)record->record.timestamp_ms, 8)};
    headers[count++] = (struct record_header){span_of_text("kafka_dlt-original-consumer-group"), span_of_text("shop")};
    headers[count++] = (struct record_header){span_of_text("kafka_dlt-exception-message"), span_of_text("boom at work")};
    kafka_client_produce(consumer->scene->producer, consumer->dlt,
                         &(struct kafka_client_output){.partition = 0,
                                                       .key = record->record.key,
                                                       .value = record->record.value,
                                                       .headers = headers,
                                                       .header_count = count});
    kafka_client_flush(consumer->scene->producer);
}

static void hand_back(struct consumer *consumer, unsigned nth)
{
    const struct kafka_client_record *record = &consumer->records.items[nth];
    consumer->handed_ms[nth] = await_wall_ms();
    switch (consumer->way) {
    case BY_NATS:
    case BY_FORGETFUL:
    case BY_NAMELESS:
        hand_to_nats(consumer, record);
        break;
    case BY_JSON:
        hand_as_json(consumer, record);
        break;
    case BY_KAFKA:
        hand_to_kafka(consumer, record);
        break;
    }
}

/* ------------------------------------------------------------------------------------------------- what comes again */

/* The record's own headers, in their order, are there; those that are not are tarry's. */
static void assert_own_headers(const struct consumer *consumer, const struct kafka_client_record *record)
{
    const struct record_header *own = is_exact(consumer->way) ? hostile_headers : plain_headers;
    size_t count = is_exact(consumer->way) ? HOSTILE_HEADERS : PLAIN_HEADERS;
    size_t found = 0;
    if (consumer->way == BY_FORGETFUL || consumer->way == BY_NAMELESS) {
        return; /* it did not say them */
    }
    if (is_exact(consumer->way)) {
        for (size_t i = 0; i < record->record.header_count && found < count; i++) {
            found += span_equal(record->record.headers[i].name, own[found].name) && span_equal(record->record.headers[i].value, own[found].value);
        }
        assert_int_equal(found, count);
        return;
    }
    assert_int_equal(kafka_client_header_count(record, "colour"), 2); /* of NATS headers, names keep no order */
    scene_dlq_assert_header(record, "trace", "00-4bf9");
}

/* The nth time (0: its delivery): backed off, counted, with the headers of this failure alone. */
static void assert_came(const struct consumer *consumer, unsigned nth)
{
    const struct kafka_client_record *record = &consumer->records.items[nth];
    char count[16];
    char offset[32];
    snprintf(count, sizeof(count), "%u", nth);
    snprintf(offset, sizeof(offset), "%" PRId64, nth == 0 ? -1 : consumer->records.items[nth - 1].record.offset);
    assert_true(span_equal(record->record.key, is_exact(consumer->way) ? binary_key : key));
    assert_true(span_equals_text(record->record.value, "value"));
    assert_own_headers(consumer, record);
    assert_int_equal(scene_dlq_headers_like(record, "kafka_dlt-"), 0);
    if (nth == 0) {
        scene_dlq_assert_header(record, "tarry-redelivery", NULL);
        return;
    }
    assert_true(record->record.timestamp_ms >= consumer->handed_ms[nth - 1] + ((int64_t)BACKOFF_MS << (nth - 1)));
    scene_dlq_assert_header(record, "tarry-redelivery", count);
    scene_dlq_assert_header(record, "__dlq.errors.delivery.count", count);
    scene_dlq_assert_header(record, "__dlq.errors.topic", consumer->scene->out);
    scene_dlq_assert_header(record, "__dlq.errors.group", "shop");
    scene_dlq_assert_header(record, "__dlq.errors.message", "boom at work");
    if (consumer->way != BY_NAMELESS) {
        scene_dlq_assert_header(record, "__dlq.errors.offset", offset);
    }
    assert_true(scene_dlq_headers_like(record, "__dlq.errors.") <= 6);
}

static struct consumer open_consumer(const char *name, const struct scene_options *options, enum way way, unsigned fails)
{
    static const char *const append_time[] = {"message.timestamp.type=LogAppendTime", NULL};
    struct scene *scene = scene_open(name, options);
    struct consumer consumer = {.scene = scene, .way = way, .fails = fails};
    scene_dlq_topic(scene, "out-dlt", consumer.dlt);
    kafka_topics_create(scene->bootstrap, consumer.dlt, 1, append_time);
    snprintf(consumer.subject, sizeof(consumer.subject), "%s.nack.%s", scene->subject_prefix, scene->out);
    consumer.client = nats_client_open(scene->nats_url);
    consumer.reader = kafka_client_reader_open(scene->bootstrap, (const char *const[]){scene->out, NULL});
    scene_start(scene);
    scene_dlq_await_running(scene);
    scene_send_apart(scene, &(struct scene_event){.delay_ms = 200,
                                                  .key = is_exact(way) ? binary_key : key,
                                                  .value = span_of_text("value"),
                                                  .id = span_of_text("order-1"),
                                                  .headers = is_exact(way) ? hostile_headers : plain_headers,
                                                  .header_count = is_exact(way) ? HOSTILE_HEADERS : PLAIN_HEADERS});
    scene_flush(scene);
    return consumer;
}

/* Consumes until it succeeds, or has failed at the last redelivery. Returns how often it failed. */
static unsigned consume(struct consumer *consumer)
{
    for (unsigned nth = 0; nth <= REDELIVERIES; nth++) {
        if (kafka_client_read(consumer->reader, &consumer->records, nth + 1, READ_MS) != nth + 1) {
            fail_msg("delivery %u did not come", nth);
        }
        assert_came(consumer, nth);
        if (nth >= consumer->fails) {
            return nth;
        }
        hand_back(consumer, nth);
    }
    return REDELIVERIES + 1;
}

/* Nothing is left on its way, and no more deliveries came than those. */
static void close_consumer(struct consumer *consumer, unsigned deliveries, uint64_t parked)
{
    struct scene *scene = consumer->scene;
    scene_dlq_await_metric(scene, "tarry_nacks_total", NULL, consumer->fails < ALWAYS ? consumer->fails : REDELIVERIES + 1);
    scene_dlq_await_count(scene, consumer->client, LETTER_PARKED, parked);
    scene_dlq_await_none(scene, consumer->client, LETTER_WAITING);
    assert_int_equal(scene_dlq_count(scene, consumer->client, LETTER_PARKED), parked);
    scene_stop(scene); /* what was on its way is there */
    assert_true(kafka_client_read_to_end(consumer->reader, &consumer->records, READ_MS));
    assert_int_equal(consumer->records.count, deliveries);
    kafka_client_reader_close(consumer->reader);
    kafka_client_records_free(&consumer->records);
    nats_client_close(consumer->client);
    scene_close(scene);
}

static void assert_parked(struct consumer *consumer)
{
    struct scene_letters parked = scene_letters_await(consumer->scene, LETTER_PARKED, 1, READ_MS);
    const struct letter *letter = &parked.items[0].letter;
    assert_int_equal(parked.count, 1);
    assert_int_equal(letter->reason, LETTER_REASON_CONSUMER_FAILED);
    assert_int_equal(letter->attempt, REDELIVERIES); /* the last one it failed on, as of a letter that Kafka refused */
    assert_true(span_equals_text(letter->error, "boom at work"));
    assert_true(span_equals_text(letter->target, consumer->scene->out));
    assert_true(span_equals_text(letter->origin.topic, consumer->scene->out));
    assert_true(span_equals_text(letter->group, "shop"));
    assert_true(span_equals_text(letter->record.value, "value"));
    assert_int_equal(scene_letters_header(&parked.items[0], "tarry-redelivery", NULL), 0);
    assert_int_equal(scene_letters_header(&parked.items[0], "__dlq.errors.message", NULL), 0);
    scene_letters_free(&parked);
}

static void fails_always(const char *name, const struct scene_options *options, enum way way)
{
    struct consumer consumer = open_consumer(name, options, way, ALWAYS);
    assert_int_equal(consume(&consumer), REDELIVERIES + 1);
    assert_parked(&consumer);
    close_consumer(&consumer, REDELIVERIES + 1, 1);
}

/* It fails twice: the second redelivery ends it. */
static void succeeds_at_last(const char *name, const struct scene_options *options, enum way way)
{
    struct consumer consumer = open_consumer(name, options, way, 2);
    assert_int_equal(consume(&consumer), 2);
    close_consumer(&consumer, 3, 0);
}

/* ------------------------------------------------------------------------------------------------- cases */

static void by_nats_it_fails_always(void **state)
{
    (void)state;
    fails_always("nacknats", &at_least_once, BY_NATS);
}

static void by_json_it_fails_always(void **state)
{
    (void)state;
    fails_always("nackjson", &exactly_once, BY_JSON);
}

static void by_kafka_it_fails_always(void **state)
{
    (void)state;
    fails_always("nackkafka", &at_least_once, BY_KAFKA);
}

static void by_kafka_it_fails_always_exactly_once(void **state)
{
    (void)state;
    fails_always("nackkafkaex", &exactly_once, BY_KAFKA);
}

static void without_our_headers_the_loop_ends(void **state)
{
    (void)state;
    fails_always("nackforget", &at_least_once, BY_FORGETFUL);
}

static void by_the_bytes_alone_the_loop_ends(void **state)
{
    (void)state;
    fails_always("nackbytes", &exactly_once, BY_NAMELESS);
}

static void by_nats_it_succeeds_at_last(void **state)
{
    (void)state;
    succeeds_at_last("nackok", &exactly_once, BY_NATS);
}

static void by_kafka_it_succeeds_at_last(void **state)
{
    (void)state;
    succeeds_at_last("nackkafkaok", &at_least_once, BY_KAFKA);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(by_nats_it_fails_always, scene_teardown),
        cmocka_unit_test_teardown(by_json_it_fails_always, scene_teardown),
        cmocka_unit_test_teardown(by_kafka_it_fails_always, scene_teardown),
        cmocka_unit_test_teardown(by_kafka_it_fails_always_exactly_once, scene_teardown),
        cmocka_unit_test_teardown(without_our_headers_the_loop_ends, scene_teardown),
        cmocka_unit_test_teardown(by_the_bytes_alone_the_loop_ends, scene_teardown),
        cmocka_unit_test_teardown(by_nats_it_succeeds_at_last, scene_teardown),
        cmocka_unit_test_teardown(by_kafka_it_succeeds_at_last, scene_teardown),
    };
    return cmocka_run_group_tests(tests, scene_group_setup, scene_group_teardown);
}
