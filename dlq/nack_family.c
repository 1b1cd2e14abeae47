/* What dead-letter records of others say: see nack_family.h. */
#include "dlq/nack_family.h"

#include "dlq/failure_headers.h"
#include "dlq/letter_text.h"

#define TOPIC_MAX 249
#define MESSAGES_MAX 4

/* Names of a family's headers; NULL: it has none for that. */
struct family {
    const char *topic, *partition, *offset, *timestamp, *group;
    const char *messages[MESSAGES_MAX]; /* the first that says something counts */
    bool binary;
};

static const struct family families[] = {
    [NACK_FAMILY_KAFKA] = {"__dlq.errors.topic", "__dlq.errors.partition", "__dlq.errors.offset", NULL, "__dlq.errors.group", {"__dlq.errors.message"}, false},
    /* Connect names no group; the connector is what a person looks for (its group is connect-<name>, unless configured otherwise). */
    [NACK_FAMILY_CONNECT] = {"__connect.errors.topic",
                             "__connect.errors.partition",
                             "__connect.errors.offset",
                             NULL,
                             "__connect.errors.connector.name",
                             {"__connect.errors.exception.message", "__connect.errors.exception.class.name"},
                             false},
    [NACK_FAMILY_STREAMS] = {"__streams.errors.topic",
                             "__streams.errors.partition",
                             "__streams.errors.offset",
                             NULL,
                             NULL,
                             {"__streams.errors.message", "__streams.errors.exception"},
                             false},
    [NACK_FAMILY_SPRING] = {"kafka_dlt-original-topic",
                            "kafka_dlt-original-partition",
                            "kafka_dlt-original-offset",
                            "kafka_dlt-original-timestamp",
                            "kafka_dlt-original-consumer-group",
                            {"kafka_dlt-exception-message", "kafka_dlt-key-exception-message", "kafka_dlt-exception-fqcn", "kafka_dlt-key-exception-fqcn"},
                            true},
};

_Static_assert(sizeof(families) / sizeof(families[0]) == NACK_FAMILIES, "each family has its names");

struct nack_family_room nack_family_room_new(size_t most)
{
    return (struct nack_family_room){.headers = buffer_new(most)};
}

void nack_family_room_free(struct nack_family_room *room)
{
    buffer_free(&room->headers);
}

struct span nack_family_header(struct span headers, const char *name)
{
    struct span found = SPAN_ABSENT;
    struct span next, value;
    while (name != NULL && letter_next_header(&headers, &next, &value)) {
        if (span_equals_text(next, name)) {
            found = value;
        }
    }
    return found;
}

bool nack_family_topic_legal(struct span topic)
{
    for (size_t i = 0; i < topic.length; i++) {
        uint8_t byte = topic.data[i];
        bool word = (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') || (byte >= '0' && byte <= '9');
        if (!word && byte != '.' && byte != '_' && byte != '-') {
            return false;
        }
    }
    return topic.length > 0 && topic.length <= TOPIC_MAX && !span_equals_text(topic, ".") && !span_equals_text(topic, "..");
}

/* Big-endian, of exactly `size` bytes; -1: of another length, or negative. */
static int64_t binary_number(struct span value, size_t size)
{
    uint64_t number = 0;
    for (size_t i = 0; value.length == size && i < size; i++) {
        number = number << 8 | value.data[i];
    }
    bool negative = value.length == 0 || (value.data[0] & 0x80) != 0;
    return value.length != size || negative ? -1 : (int64_t)number;
}

/* Of 0 to `greatest`; -1: absent, or of wrong form. */
static int64_t number_of(const struct family *family, struct span headers, const char *name, size_t size, int64_t greatest)
{
    struct span value = nack_family_header(headers, name);
    int64_t number = -1;
    if (value.data == NULL) {
        return -1;
    }
    if (family->binary) {
        return binary_number(value, size);
    }
    return letter_text_number(value, 0, greatest, &number) ? number : -1;
}

static uint32_t count_of(struct span headers, const char *name, uint32_t most)
{
    int64_t count = 0;
    return letter_text_number(nack_family_header(headers, name), 0, most, &count) ? (uint32_t)count : 0;
}

/* Asking for another time was for this nack; it must not go out with the record. */
static bool taken_off(struct span name)
{
    return failure_headers_is(name) || span_equals_text(name, NACK_FAMILY_DELAY) || span_equals_text(name, NACK_FAMILY_AT);
}

void nack_family_tidy(struct buffer *out, struct span headers, struct letter *letter)
{
    struct span name, value;
    letter->attempt = 1 + count_of(headers, FAILURE_HEADERS_REDELIVERY, UINT32_MAX - 1);
    letter->replays = count_of(headers, FAILURE_HEADERS_REPLAYS, UINT32_MAX);
    letter->schedule_id = nack_family_header(headers, "tarry-id");
    if (!letter_text_number(nack_family_header(headers, "tarry-due"), 0, INT64_MAX, &letter->due_ms)) {
        letter->due_ms = -1;
    }
    while (letter_next_header(&headers, &name, &value)) {
        if (!taken_off(name)) {
            letter_add_header(out, name, value);
        }
    }
}

static void read_error(const struct family *family, struct span headers, struct nack_family_room *room, struct letter *letter)
{
    struct span text = SPAN_ABSENT;
    for (size_t i = 0; i < MESSAGES_MAX && text.length == 0; i++) {
        text = nack_family_header(headers, family->messages[i]);
    }
    letter_set_error(letter, text, room->error);
}

static bool read_origin(const struct family *family, struct span headers, struct letter_origin *origin)
{
    struct span topic = nack_family_header(headers, family->topic);
    origin->topic = nack_family_topic_legal(topic) ? topic : SPAN_ABSENT;
    origin->partition = (int32_t)number_of(family, headers, family->partition, sizeof(int32_t), INT32_MAX);
    origin->offset = number_of(family, headers, family->offset, sizeof(int64_t), INT64_MAX);
    origin->timestamp_ms = number_of(family, headers, family->timestamp, sizeof(int64_t), INT64_MAX);
    return origin->topic.data != NULL;
}

bool nack_family_read(enum nack_family family, const struct letter_record *record, struct nack_family_room *room, struct letter *letter)
{
    const struct family *names = &families[family];
    buffer_clear(&room->headers);
    *letter = (struct letter){.reason = LETTER_REASON_CONSUMER_FAILED, .target_partition = -1, .record = *record};
    nack_family_tidy(&room->headers, record->headers, letter);
    read_error(names, record->headers, room, letter);
    struct span group = nack_family_header(record->headers, names->group);
    letter->group = group.length > 0 ? group : SPAN_ABSENT;
    if (!read_origin(names, record->headers, &letter->origin)) {
        letter->reason = LETTER_REASON_BAD_NACK;
        return false;
    }
    letter->target = letter->origin.topic;
    letter->record.headers = buffer_span(&room->headers);
    return true;
}
