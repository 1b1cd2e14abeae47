#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "base/random.h"
#include "dlq/nack_family.h"

struct fixture {
    struct buffer headers;
    struct nack_family_room room;
    struct letter letter;
};

static struct fixture new_fixture(void)
{
    return (struct fixture){.headers = buffer_new(1 << 16), .room = nack_family_room_new(1 << 16)};
}

static void free_fixture(struct fixture *fixture)
{
    buffer_free(&fixture->headers);
    nack_family_room_free(&fixture->room);
}

static void add(struct fixture *fixture, const char *name, const char *value)
{
    letter_add_header(&fixture->headers, span_of_text(name), span_of_text(value));
}

static void add_bytes(struct fixture *fixture, const char *name, const void *bytes, size_t length)
{
    letter_add_header(&fixture->headers, span_of_text(name), (struct span){bytes, length});
}

static bool read(struct fixture *fixture, enum nack_family family)
{
    const struct letter_record record = {span_of_text("k"), SPAN_ABSENT, buffer_span(&fixture->headers)};
    return nack_family_read(family, &record, &fixture->room, &fixture->letter);
}

static void assert_origin(const struct fixture *fixture, const char *topic, int32_t partition, int64_t offset, int64_t timestamp_ms)
{
    const struct letter *letter = &fixture->letter;
    assert_true(span_equals_text(letter->origin.topic, topic));
    assert_int_equal(letter->origin.partition, partition);
    assert_int_equal(letter->origin.offset, offset);
    assert_int_equal(letter->origin.timestamp_ms, timestamp_ms);
    assert_true(span_equals_text(letter->target, topic));
    assert_int_equal(letter->target_partition, -1);
    assert_int_equal(letter->reason, LETTER_REASON_CONSUMER_FAILED);
    assert_true(span_equals_text(letter->record.key, "k"));
    assert_null(letter->record.value.data);
}

static void assert_only_header(const struct fixture *fixture, const char *name)
{
    struct span headers = fixture->letter.record.headers;
    struct span found, value;
    assert_true(letter_next_header(&headers, &found, &value));
    assert_true(span_equals_text(found, name));
    assert_false(letter_next_header(&headers, &found, &value));
}

static void share_groups(void **state)
{
    (void)state;
    struct fixture fixture = new_fixture();
    add(&fixture, "own", "1");
    add(&fixture, "__dlq.errors.topic", "orders.v1");
    add(&fixture, "__dlq.errors.partition", "2147483647");
    add(&fixture, "__dlq.errors.offset", "9223372036854775807");
    add(&fixture, "__dlq.errors.group", "shares");
    add(&fixture, "__dlq.errors.delivery.count", "5");
    add(&fixture, "__dlq.errors.message", "Offset rejected by client.");
    assert_true(read(&fixture, NACK_FAMILY_KAFKA));
    assert_origin(&fixture, "orders.v1", INT32_MAX, INT64_MAX, -1);
    assert_true(span_equals_text(fixture.letter.group, "shares"));
    assert_true(span_equals_text(fixture.letter.error, "Offset rejected by client."));
    assert_int_equal(fixture.letter.attempt, 1);
    assert_int_equal(fixture.letter.replays, 0);
    assert_null(fixture.letter.schedule_id.data);
    assert_int_equal(fixture.letter.due_ms, -1);
    assert_only_header(&fixture, "own");
    free_fixture(&fixture);
}

static void connectors(void **state)
{
    (void)state;
    struct fixture fixture = new_fixture();
    add(&fixture, "__connect.errors.topic", "orders");
    add(&fixture, "__connect.errors.partition", "0");
    add(&fixture, "__connect.errors.offset", "0");
    add(&fixture, "__connect.errors.connector.name", "s3-sink");
    add(&fixture, "__connect.errors.task.id", "0");
    add(&fixture, "__connect.errors.stage", "TASK_PUT");
    add(&fixture, "__connect.errors.class.name", "org.apache.kafka.connect.sink.SinkTask");
    add(&fixture, "__connect.errors.exception.class.name", "org.apache.kafka.connect.errors.DataException");
    add(&fixture, "__connect.errors.exception.message", NULL);
    add(&fixture, "__connect.errors.exception.stacktrace", "at ...");
    add(&fixture, "own", "1");
    assert_true(read(&fixture, NACK_FAMILY_CONNECT));
    assert_origin(&fixture, "orders", 0, 0, -1);
    assert_true(span_equals_text(fixture.letter.group, "s3-sink"));
    assert_true(span_equals_text(fixture.letter.error, "org.apache.kafka.connect.errors.DataException"));
    assert_only_header(&fixture, "own");
    add(&fixture, "__connect.errors.exception.message", "bad\ndate");
    assert_true(read(&fixture, NACK_FAMILY_CONNECT));
    assert_true(span_equals_text(fixture.letter.error, "bad?date"));
    free_fixture(&fixture);
}

static void streams_applications(void **state)
{
    (void)state;
    struct fixture fixture = new_fixture();
    add(&fixture, "__streams.errors.exception", "java.lang.RuntimeException: x");
    add(&fixture, "__streams.errors.message", "x");
    add(&fixture, "__streams.errors.stacktrace", "at ...");
    add(&fixture, "__streams.errors.topic", "orders");
    add(&fixture, "__streams.errors.partition", "7");
    add(&fixture, "__streams.errors.offset", "8");
    add(&fixture, "own", "1");
    assert_true(read(&fixture, NACK_FAMILY_STREAMS));
    assert_origin(&fixture, "orders", 7, 8, -1);
    assert_null(fixture.letter.group.data);
    assert_true(span_equals_text(fixture.letter.error, "x"));
    assert_only_header(&fixture, "own");
    free_fixture(&fixture);
}

static void add_spring(struct fixture *fixture, const char *topic, const char *partition, size_t partition_length, const char *offset, size_t offset_length)
{
    add(fixture, "kafka_dlt-exception-fqcn", "org.springframework.kafka.listener.ListenerExecutionFailedException");
    add(fixture, "kafka_dlt-exception-cause-fqcn", "java.lang.IllegalStateException");
    add(fixture, "kafka_dlt-exception-message", "Listener failed");
    add(fixture, "kafka_dlt-exception-stacktrace", "at ...");
    add(fixture, "kafka_dlt-original-topic", topic);
    add_bytes(fixture, "kafka_dlt-original-partition", partition, partition_length);
    add_bytes(fixture, "kafka_dlt-original-offset", offset, offset_length);
    add_bytes(fixture, "kafka_dlt-original-timestamp", "\0\0\x01\x9b\x76\xda\x8c\x00", 8);
    add(fixture, "kafka_dlt-original-timestamp-type", "CreateTime");
    add(fixture, "kafka_dlt-original-consumer-group", "billing");
}

static void spring_numbers_are_binary(void **state)
{
    (void)state;
    struct fixture fixture = new_fixture();
    add(&fixture, "own", "1");
    add_spring(&fixture, "orders", "\0\0\x01\x02", 4, "\x7f\xff\xff\xff\xff\xff\xff\xff", 8);
    assert_true(read(&fixture, NACK_FAMILY_SPRING));
    assert_origin(&fixture, "orders", 258, INT64_MAX, 0x019b76da8c00);
    assert_true(span_equals_text(fixture.letter.group, "billing"));
    assert_true(span_equals_text(fixture.letter.error, "Listener failed"));
    assert_only_header(&fixture, "own");
    free_fixture(&fixture);
}

/* Spring appends when a record fails again. */
static void the_last_of_a_name_counts(void **state)
{
    (void)state;
    struct fixture fixture = new_fixture();
    add(&fixture, "own", "1");
    add_spring(&fixture, "orders", "\0\0\0\1", 4, "\0\0\0\0\0\0\0\1", 8);
    add_spring(&fixture, "orders-retry", "\0\0\0\2", 4, "\0\0\0\0\0\0\0\2", 8);
    assert_true(read(&fixture, NACK_FAMILY_SPRING));
    assert_origin(&fixture, "orders-retry", 2, 2, 0x019b76da8c00);
    assert_only_header(&fixture, "own");
    add_bytes(&fixture, "kafka_dlt-original-offset", "\0\0\0\3", 4); /* of wrong length: absent, and no older one instead */
    assert_true(read(&fixture, NACK_FAMILY_SPRING));
    assert_origin(&fixture, "orders-retry", 2, -1, 0x019b76da8c00);
    free_fixture(&fixture);
}

static void numbers_of_wrong_form_are_unknown(void **state)
{
    static const struct {
        const char *partition;
        size_t partition_length;
        const char *offset;
        size_t offset_length;
    } binary[] = {
        {"\xff\xff\xff\xff", 4, "\xff\xff\xff\xff\xff\xff\xff\xff", 8},
        {"\x80\0\0\0", 4, "\x80\0\0\0\0\0\0\0", 8},
        {"\0\0\0", 3, "\0\0\0\0\0\0\0", 7},
        {"\0\0\0\0\1", 5, "\0\0\0\0\0\0\0\0\1", 9},
        {"1", 1, "1", 1},
        {"", 0, "", 0},
        {NULL, 0, NULL, 0},
    };
    static const char *const text[] = {"-1", "", "2147483648000000000000", "1.5", "0x1", " 1", NULL};
    (void)state;
    for (size_t i = 0; i < sizeof(binary) / sizeof(binary[0]); i++) {
        struct fixture fixture = new_fixture();
        add_spring(&fixture, "orders", binary[i].partition, binary[i].partition_length, binary[i].offset, binary[i].offset_length);
        assert_true(read(&fixture, NACK_FAMILY_SPRING));
        assert_origin(&fixture, "orders", -1, -1, 0x019b76da8c00);
        free_fixture(&fixture);
    }
    for (size_t i = 0; i < sizeof(text) / sizeof(text[0]); i++) {
        struct fixture fixture = new_fixture();
        add(&fixture, "__streams.errors.topic", "orders");
        add(&fixture, "__streams.errors.partition", text[i]);
        add(&fixture, "__streams.errors.offset", text[i]);
        assert_true(read(&fixture, NACK_FAMILY_STREAMS));
        assert_origin(&fixture, "orders", -1, -1, -1);
        free_fixture(&fixture);
    }
}

static void without_a_topic_it_is_a_bad_nack_with_all_its_headers(void **state)
{
    static const char *const topics[] = {NULL, "", ".", "..", "a b", "a/b", "k\xc3\xa4se", "*"};
    (void)state;
    for (size_t i = 0; i <= sizeof(topics) / sizeof(topics[0]); i++) {
        struct fixture fixture = new_fixture();
        if (i < sizeof(topics) / sizeof(topics[0])) {
            add(&fixture, "__streams.errors.topic", topics[i]);
        }
        add(&fixture, "__streams.errors.message", "why");
        add(&fixture, "__dlq.errors.topic", "of-another-family");
        assert_false(read(&fixture, NACK_FAMILY_STREAMS));
        assert_int_equal(fixture.letter.reason, LETTER_REASON_BAD_NACK);
        assert_null(fixture.letter.target.data);
        assert_null(fixture.letter.origin.topic.data);
        assert_true(span_equals_text(fixture.letter.error, "why"));
        assert_true(span_equal(fixture.letter.record.headers, buffer_span(&fixture.headers)));
        free_fixture(&fixture);
    }
    uint8_t longest[250];
    memset(longest, 'a', sizeof(longest));
    assert_true(nack_family_topic_legal((struct span){longest, 249}));
    assert_false(nack_family_topic_legal((struct span){longest, 250}));
}

static void what_tarry_wrote_comes_back(void **state)
{
    static const struct {
        const char *redelivery;
        uint32_t attempt;
    } cases[] = {{"0", 1}, {"1", 2}, {"4294967294", UINT32_MAX}, {"4294967295", 1}, {"-1", 1}, {"x", 1}, {NULL, 1}};
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct fixture fixture = new_fixture();
        add(&fixture, "tarry-redelivery", "77");
        add(&fixture, "tarry-redelivery", cases[i].redelivery);
        add(&fixture, "tarry-replays", "3");
        add(&fixture, "tarry-id", "x y");
        add(&fixture, "tarry-due", "1767225600000");
        add(&fixture, "tarry-delay", "5m");
        add(&fixture, "tarry-at", "2030-01-01T00:00:00Z");
        add(&fixture, "__dlq.errors.topic", "orders");
        assert_true(read(&fixture, NACK_FAMILY_KAFKA));
        assert_int_equal(fixture.letter.attempt, cases[i].attempt);
        assert_int_equal(fixture.letter.replays, 3);
        assert_true(span_equals_text(fixture.letter.schedule_id, "x y"));
        assert_int_equal(fixture.letter.due_ms, 1767225600000);
        struct span left = fixture.letter.record.headers;
        struct span name, value;
        assert_true(letter_next_header(&left, &name, &value) && span_equals_text(name, "tarry-id"));
        assert_true(letter_next_header(&left, &name, &value) && span_equals_text(name, "tarry-due"));
        assert_false(letter_next_header(&left, &name, &value));
        free_fixture(&fixture);
    }
}

static void too_many_headers_are_told(void **state)
{
    (void)state;
    struct fixture fixture = new_fixture();
    struct nack_family_room small = nack_family_room_new(10);
    add(&fixture, "__dlq.errors.topic", "orders");
    add(&fixture, "own", "longer than ten");
    const struct letter_record record = {SPAN_ABSENT, SPAN_ABSENT, buffer_span(&fixture.headers)};
    assert_true(nack_family_read(NACK_FAMILY_KAFKA, &record, &small, &fixture.letter));
    assert_true(small.headers.full);
    nack_family_room_free(&small);
    free_fixture(&fixture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(share_groups),
        cmocka_unit_test(connectors),
        cmocka_unit_test(streams_applications),
        cmocka_unit_test(spring_numbers_are_binary),
        cmocka_unit_test(the_last_of_a_name_counts),
        cmocka_unit_test(numbers_of_wrong_form_are_unknown),
        cmocka_unit_test(without_a_topic_it_is_a_bad_nack_with_all_its_headers),
        cmocka_unit_test(what_tarry_wrote_comes_back),
        cmocka_unit_test(too_many_headers_are_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
