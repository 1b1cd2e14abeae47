/*
 * Letters as bytes: see letter.h.
 *
 *   version(1) id(16) reason error attempt replays first_failure last_failure not_before [target] target_partition
 *   origin: topic partition offset timestamp
 *   [group] [schedule_id] due parts
 *   parts 0: [key] [value] headers    else: bytes hash(8)
 *   checksum(8): XXH3 of all before
 *
 * Brackets: may be absent; how numbers and bytes stand: packed.h. The three times of `reason error ...` are -1 or moments from 1970 to the year 9999,
 * as others reckon with them; due and timestamp are what the record said, and may be anything.
 */
#include "dlq/letter.h"

#include <stdio.h>
#include <xxhash.h>

#include "base/text.h"
#include "dlq/letter_record.h"
#include "dlq/letter_text.h"
#include "dlq/letter_time.h"

#define ID_BYTES (LETTER_ID_SIZE / 2)

static void id_of_bytes(char id[LETTER_ID_SIZE], const uint8_t *bytes)
{
    static const char digits[] = "0123456789abcdef";
    for (size_t i = 0; i < ID_BYTES; i++) {
        id[2 * i] = digits[bytes[i] >> 4];
        id[2 * i + 1] = digits[bytes[i] & 0xF];
    }
    id[LETTER_ID_SIZE - 1] = '\0';
}

static bool bytes_of_id(uint8_t bytes[ID_BYTES], const char *id)
{
    memset(bytes, 0, ID_BYTES);
    for (size_t i = 0; i < LETTER_ID_SIZE - 1; i++) {
        char digit = id[i];
        bool number = digit >= '0' && digit <= '9';
        if (!number && (digit < 'a' || digit > 'f')) {
            return false;
        }
        bytes[i / 2] = (uint8_t)(bytes[i / 2] << 4 | (number ? digit - '0' : digit - 'a' + 10));
    }
    return id[LETTER_ID_SIZE - 1] == '\0';
}

/* Of the lengths too, so that no two that differ look the same; of the timestamp, as a topic made again has the same offsets. */
void letter_id(char id[LETTER_ID_SIZE], struct span cluster, struct span group, const struct letter_origin *origin, uint64_t salt)
{
    struct buffer named = buffer_new(SIZE_MAX);
    packed_put_optional(&named, cluster);
    packed_put_optional(&named, group);
    packed_put_optional(&named, origin->topic);
    packed_put_signed(&named, origin->partition);
    packed_put_signed(&named, origin->offset);
    packed_put_signed(&named, origin->timestamp_ms);
    packed_put_number(&named, salt);
    XXH128_canonical_t hash;
    XXH128_canonicalFromHash(&hash, XXH3_128bits(named.data, named.length));
    id_of_bytes(id, hash.digest);
    buffer_free(&named);
}

void letter_message_id(const struct letter *letter, enum letter_state state, uint32_t nth, char text[LETTER_MESSAGE_ID_SIZE])
{
    char again[16] = "";
    if (nth > 0) {
        (void)snprintf(again, sizeof(again), ".%u", nth);
    }
    (void)snprintf(text, LETTER_MESSAGE_ID_SIZE, "%s.%u.%u.%c%s", letter->id, letter->attempt, letter->replays,
                   state == LETTER_PARKED ? 'p' : 'w', again);
}

/* What a person or a consumer gave may be beyond: it is the nearest moment then, and not a letter that cannot be kept. */
static void put_time(struct buffer *buffer, int64_t time_ms)
{
    packed_put_signed(buffer, time_ms < -1 ? -1 : time_ms > LETTER_TIME_LAST_MS ? LETTER_TIME_LAST_MS : time_ms);
}

static int64_t get_time(struct packed_reader *reader)
{
    return packed_get_signed(reader, -1, LETTER_TIME_LAST_MS);
}

static void put_failure(struct buffer *buffer, const struct letter *letter)
{
    packed_put_number(buffer, (uint64_t)letter->reason);
    packed_put(buffer, letter->error);
    packed_put_number(buffer, letter->attempt);
    packed_put_number(buffer, letter->replays);
    put_time(buffer, letter->first_failure_ms);
    put_time(buffer, letter->last_failure_ms);
    put_time(buffer, letter->not_before_ms);
}

static void put_places(struct buffer *buffer, const struct letter *letter)
{
    packed_put_optional(buffer, letter->target);
    packed_put_signed(buffer, letter->target_partition);
    packed_put(buffer, letter->origin.topic);
    packed_put_signed(buffer, letter->origin.partition);
    packed_put_signed(buffer, letter->origin.offset);
    packed_put_signed(buffer, letter->origin.timestamp_ms);
    packed_put_optional(buffer, letter->group);
    packed_put_optional(buffer, letter->schedule_id);
    packed_put_signed(buffer, letter->due_ms);
}

static void put_content(struct buffer *buffer, const struct letter *letter)
{
    packed_put_number(buffer, letter->parts);
    if (letter->parts == 0) {
        letter_record_put(buffer, &letter->record);
    } else {
        packed_put_number(buffer, letter->parts_bytes);
        packed_put_fixed(buffer, letter->parts_hash);
    }
}

static bool error_readable(struct span error)
{
    return error.length <= LETTER_ERROR_MAX && text_is_utf8(error);
}

/* What letter_decode would refuse must not be written: it would be a record that nobody gets back. */
static bool readable(const struct letter *letter)
{
    return error_readable(letter->error) && (letter->parts > 0 || letter_record_headers_readable(letter->record.headers));
}

bool letter_encode(struct buffer *buffer, const struct letter *letter, struct error *error)
{
    uint8_t id[ID_BYTES];
    if (!bytes_of_id(id, letter->id)) {
        return error_set(error, ERROR_INVALID, "a letter's id is 32 hex digits in lower case, not \"%.*s\"", LETTER_ID_SIZE, letter->id);
    }
    if (!readable(letter)) {
        return error_set(error, ERROR_INVALID, "letter %s: its error text or its headers would not read back", letter->id);
    }
    size_t start = buffer->length;
    packed_put_number(buffer, LETTER_VERSION);
    buffer_add(buffer, id, ID_BYTES);
    put_failure(buffer, letter);
    put_places(buffer, letter);
    put_content(buffer, letter);
    return letter_record_finish(buffer, start, error);
}

static void get_failure(struct packed_reader *reader, struct letter *letter)
{
    uint64_t reason = packed_get_number(reader, UINT32_MAX);
    letter->reason = reason < LETTER_REASONS ? (enum letter_reason)reason : LETTER_REASON_UNKNOWN;
    letter->error = packed_get(reader);
    letter->attempt = (uint32_t)packed_get_number(reader, UINT32_MAX);
    letter->replays = (uint32_t)packed_get_number(reader, UINT32_MAX);
    letter->first_failure_ms = get_time(reader);
    letter->last_failure_ms = get_time(reader);
    letter->not_before_ms = get_time(reader);
    reader->ok = reader->ok && error_readable(letter->error);
}

static void get_places(struct packed_reader *reader, struct letter *letter)
{
    letter->target = packed_get_optional(reader);
    letter->target_partition = (int32_t)packed_get_signed(reader, INT32_MIN, INT32_MAX);
    letter->origin.topic = packed_get(reader);
    letter->origin.partition = (int32_t)packed_get_signed(reader, INT32_MIN, INT32_MAX);
    letter->origin.offset = packed_get_signed(reader, INT64_MIN, INT64_MAX);
    letter->origin.timestamp_ms = packed_get_signed(reader, INT64_MIN, INT64_MAX);
    letter->group = packed_get_optional(reader);
    letter->schedule_id = packed_get_optional(reader);
    letter->due_ms = packed_get_signed(reader, INT64_MIN, INT64_MAX);
}

static void get_content(struct packed_reader *reader, struct letter *letter)
{
    letter->parts = (uint32_t)packed_get_number(reader, UINT32_MAX);
    if (letter->parts == 0) {
        letter_record_get(reader, &letter->record);
    } else {
        letter->parts_bytes = packed_get_number(reader, UINT64_MAX);
        letter->parts_hash = packed_get_fixed(reader);
    }
}

bool letter_decode(struct span bytes, struct letter *letter, struct error *error)
{
    struct packed_reader reader;
    if (!letter_record_start(bytes, &reader, error)) {
        return false;
    }
    struct letter read = {0};
    struct span id = packed_get_raw(&reader, ID_BYTES);
    if (id.data != NULL) {
        id_of_bytes(read.id, id.data);
    }
    get_failure(&reader, &read);
    get_places(&reader, &read);
    get_content(&reader, &read);
    if (!reader.ok || reader.rest.length > 0) {
        return letter_record_damaged(bytes, error);
    }
    *letter = read;
    return true;
}

/* Characters at the beginning that stay as they are, and are a byte each. */
static size_t plain_run(struct span text)
{
    size_t count = 0;
    while (count < text.length && text.data[count] >= 0x20 && text.data[count] < 0x7F) {
        count++;
    }
    return count;
}

void letter_set_error(struct letter *letter, struct span text, char room[LETTER_ERROR_MAX])
{
    if (text.data == NULL) {
        letter->error = (struct span){(const uint8_t *)room, 0};
        return;
    }
    size_t written = plain_run((struct span){text.data, text.length < LETTER_ERROR_MAX ? text.length : LETTER_ERROR_MAX});
    memcpy(room, text.data, written);
    for (size_t at = written; at < text.length;) {
        size_t length = text_utf8_length(text.data + at, text.length - at);
        bool kept = length > 0 && !letter_text_control(text.data + at, length);
        size_t needed = kept ? length : 1;
        if (needed > LETTER_ERROR_MAX - written) {
            break;
        }
        memcpy(room + written, kept ? (const void *)(text.data + at) : "?", needed);
        written += needed;
        at += length > 0 ? length : 1;
    }
    letter->error = (struct span){(const uint8_t *)room, written};
}
