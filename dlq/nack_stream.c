/* Nacks by NATS: see nack_stream.h. */
#include "dlq/nack_stream.h"

#include <nats/nats.h>
#include <stdlib.h>

#include "dlq/failure_headers.h"
#include "dlq/letter_json.h"
#include "dlq/letter_text.h"
#include "dlq/nack_family.h"

#define OWN_PREFIX "Tarry-"
#define SERVER_PREFIX "Nats-"

struct nack_stream_room nack_stream_room_new(size_t most)
{
    return (struct nack_stream_room){.bytes = buffer_new(most), .given = buffer_new(most), .headers = buffer_new(most)};
}

void nack_stream_room_free(struct nack_stream_room *room)
{
    buffer_free(&room->bytes);
    buffer_free(&room->given);
    buffer_free(&room->headers);
}

static bool begins(const char *text, const char *start)
{
    return strncmp(text, start, strlen(start)) == 0;
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* nats.c takes messages that it does not change as not const. */
static natsMsg *message_of(const struct reader_message *message)
{
    return (natsMsg *)(uintptr_t)message->handle;
}

static void add_values(struct buffer *given, natsMsg *message, const char *name)
{
    const char **values = NULL;
    int count = 0;
    if (natsMsgHeader_Values(message, name, &values, &count) != NATS_OK) {
        return;
    }
    for (int i = 0; i < count; i++) {
        letter_add_header(given, span_of_text(name), span_of_text(values[i] == NULL ? "" : values[i]));
    }
    free((void *)values);
}

/* All but the server's own; nats.c keeps no order among names, so they are sorted: the same message must make the same letter. */
static void read_headers(struct buffer *given, natsMsg *message)
{
    const char **names = NULL;
    int count = 0;
    if (natsMsgHeader_Keys(message, &names, &count) != NATS_OK) {
        return; /* it has none */
    }
    qsort((void *)names, (size_t)count, sizeof(*names), compare_names);
    for (int i = 0; i < count; i++) {
        if (!begins(names[i], SERVER_PREFIX)) {
            add_values(given, message, names[i]);
        }
    }
    free((void *)names);
}

static struct span own_header(const struct nack_stream_room *room, const char *name)
{
    return nack_family_header(buffer_span(&room->given), name);
}

static int64_t own_number(const struct nack_stream_room *room, const char *name, int64_t greatest, int64_t otherwise)
{
    int64_t number = otherwise;
    (void)letter_text_number(own_header(room, name), 0, greatest, &number);
    return number;
}

static bool own_name(struct span name)
{
    return name.length >= strlen(OWN_PREFIX) && memcmp(name.data, OWN_PREFIX, strlen(OWN_PREFIX)) == 0;
}

/* The headers that are the record's, without failure headers; Tarry-Redelivery and Tarry-Replays count before headers of the record that say the same. */
static void read_record_headers(struct nack_stream_room *room, struct letter *letter)
{
    struct buffer records = buffer_new(room->given.most);
    struct span given = buffer_span(&room->given);
    struct span name, value;
    while (letter_next_header(&given, &name, &value)) {
        if (!own_name(name)) {
            letter_add_header(&records, name, value);
        }
    }
    nack_family_tidy(&room->headers, buffer_span(&records), letter);
    letter->schedule_id = own_header(room, "tarry-id"); /* the same header, in what outlives this call */
    letter->attempt = 1 + (uint32_t)own_number(room, "Tarry-Redelivery", UINT32_MAX - 1, (int64_t)letter->attempt - 1);
    letter->replays = (uint32_t)own_number(room, "Tarry-Replays", UINT32_MAX, letter->replays);
    letter->record.headers = buffer_span(&room->headers);
    buffer_free(&records);
}

static const char *read_key(struct nack_stream_room *room, struct span *key)
{
    struct span encoded = own_header(room, "Tarry-Key-Base64");
    *key = own_header(room, "Tarry-Key");
    if (encoded.data == NULL) {
        return NULL;
    }
    if (key->data != NULL) {
        return "both Tarry-Key and Tarry-Key-Base64 are given";
    }
    if (encoded.length == 0) {
        *key = span_of_text("");
        return NULL;
    }
    if (!letter_text_decode_base64(&room->bytes, encoded)) {
        return "Tarry-Key-Base64 is no base64 (RFC 4648, with padding)";
    }
    *key = buffer_span(&room->bytes);
    return NULL;
}

/* The record's parts as NATS headers and body. NULL: read; else what is wrong. */
static const char *read_plain(const struct reader_message *message, struct nack_stream_room *room, struct letter *letter)
{
    struct span null = own_header(room, "Tarry-Null");
    if (null.data != NULL && (!span_equals_text(null, "value") || message->bytes.length > 0)) {
        return "Tarry-Null is not \"value\", or there is a body all the same";
    }
    const char *wrong = read_key(room, &letter->record.key);
    struct span body = message->bytes.data == NULL ? span_of_text("") : message->bytes;
    letter->record.value = null.data != NULL ? SPAN_ABSENT : body;
    letter->origin.partition = (int32_t)own_number(room, "Tarry-Partition", INT32_MAX, -1);
    letter->origin.offset = own_number(room, "Tarry-Offset", INT64_MAX, -1);
    letter->origin.timestamp_ms = own_number(room, "Tarry-Timestamp", INT64_MAX, -1);
    letter->group = own_header(room, "Tarry-Group");
    letter_set_error(letter, own_header(room, "Tarry-Error"), room->error);
    read_record_headers(room, letter);
    return wrong;
}

/* A letter in JSON. Its reading error stays in `error`. */
static const char *read_json(const struct reader_message *message, struct nack_stream_room *room, struct nack_stream *nack, struct error *error)
{
    struct letter given;
    enum letter_state state;
    if (!letter_json_read(message->bytes, &room->bytes, &given, &state, error)) {
        return error->text;
    }
    struct letter *letter = &nack->letter;
    struct letter counts = {0};
    nack_family_tidy(&room->headers, given.record.headers, &counts);
    given.attempt = given.attempt > counts.attempt ? given.attempt : counts.attempt;
    given.replays = given.replays > counts.replays ? given.replays : counts.replays;
    given.schedule_id = given.schedule_id.data != NULL ? given.schedule_id : counts.schedule_id;
    given.due_ms = given.due_ms != -1 ? given.due_ms : counts.due_ms;
    given.record.headers = buffer_span(&room->headers);
    given.origin.topic = letter->origin.topic;
    given.reason = letter->reason;
    given.first_failure_ms = given.last_failure_ms = letter->last_failure_ms;
    given.parts = 0;
    letter_set_error(&given, given.error, room->error);
    nack->has_not_before = given.not_before_ms != -1;
    *letter = given;
    return NULL;
}

static const char *read_body(const struct reader_message *message, struct nack_stream_room *room, struct nack_stream *nack, struct error *error)
{
    struct span encoding = own_header(room, "Tarry-Encoding");
    if (span_equals_text(encoding, "json")) {
        return read_json(message, room, nack, error);
    }
    return encoding.data == NULL ? read_plain(message, room, &nack->letter) : "Tarry-Encoding is not \"json\": leave it out, or send a letter in JSON";
}

/* The topic that the subject names, for origin and target; false: none that Kafka could have. Then origin has the subject itself. */
static bool read_topic(const char *subject, const char *prefix, struct nack_stream_room *room, struct letter_origin *origin)
{
    enum subject_kind kind;
    *origin = (struct letter_origin){span_of_text(subject), -1, -1, -1};
    if (!subject_read(subject, prefix, &kind, room->topic) || kind != SUBJECT_NACK) {
        return false;
    }
    struct span topic = span_of_text(room->topic);
    if (!nack_family_topic_legal(topic)) {
        return false;
    }
    origin->topic = topic;
    return true;
}

static void set_id(const struct reader_message *message, struct letter *letter)
{
    struct letter_origin place = {span_of_text(message->subject), -1, (int64_t)message->sequence, message->stored_ms};
    letter_id(letter->id, SPAN_ABSENT, letter->group, &place, 0);
}

/* As it came, for a person. */
static void make_bad(const struct reader_message *message, struct nack_stream_room *room, const char *why, struct nack_stream *nack)
{
    struct letter_origin origin = nack->letter.origin;
    nack->delay = SPAN_ABSENT;
    nack->has_not_before = false;
    nack->letter = (struct letter){
        .reason = LETTER_REASON_BAD_NACK,
        .attempt = 1,
        .first_failure_ms = message->stored_ms,
        .last_failure_ms = message->stored_ms,
        .not_before_ms = -1,
        .target_partition = -1,
        .origin = {origin.topic, -1, -1, -1},
        .due_ms = -1,
        .record = {SPAN_ABSENT, message->bytes.data == NULL ? span_of_text("") : message->bytes, buffer_span(&room->given)},
    };
    letter_set_error(&nack->letter, span_of_text(why), room->error);
}

bool nack_stream_read(const struct reader_message *message, const char *prefix, struct nack_stream_room *room, struct nack_stream *nack)
{
    struct error error = {0};
    buffer_clear(&room->bytes);
    buffer_clear(&room->given);
    buffer_clear(&room->headers);
    *nack = (struct nack_stream){.letter = {.reason = LETTER_REASON_CONSUMER_FAILED,
                                            .attempt = 1,
                                            .first_failure_ms = message->stored_ms,
                                            .last_failure_ms = message->stored_ms,
                                            .not_before_ms = -1,
                                            .target_partition = -1,
                                            .due_ms = -1}};
    bool topic = read_topic(message->subject, prefix, room, &nack->letter.origin);
    if (message->handle != NULL) {
        read_headers(&room->given, message_of(message));
    }
    nack->delay = own_header(room, "Tarry-Delay");
    const char *wrong = topic ? read_body(message, room, nack, &error) : "the subject names no topic: nack.<topic>, of letters, digits, '.', '_' and '-'";
    if (wrong != NULL) {
        make_bad(message, room, wrong, nack);
    } else {
        nack->letter.target = nack->letter.origin.topic;
    }
    set_id(message, &nack->letter);
    return wrong == NULL;
}
