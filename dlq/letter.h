/*
 * A letter: one failed record, with why and when. Immutable: what happens next makes another letter, and this one goes.
 *
 * Pure: bytes with a version, written by letter_encode, read by letter_decode. A letter holds the record as it would go out (key, value, headers in
 * order with repeats, null, empty, binary), so that redelivery and replay need nothing else; a refused one holds it as it came in. The bytes are the
 * message's body: nothing of the record travels in NATS headers, which can hold neither null nor binary.
 */
#ifndef TARRY_DLQ_LETTER_H
#define TARRY_DLQ_LETTER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buffer.h"
#include "base/error.h"
#include "base/span.h"
#include "dlq/letter_reason.h"

#define LETTER_VERSION 1
#define LETTER_ID_SIZE 33      /* 32 hex digits and NUL */
#define LETTER_ERROR_MAX 1024  /* bytes of error text kept; more is cut at a character */

enum letter_state {
    LETTER_WAITING, /* in the dead-letter stream: redelivered at not_before */
    LETTER_PARKED,  /* in the parked stream: for a person */
};

/* Where the record stood when it failed. */
struct letter_origin {
    struct span topic;    /* never absent; of a NATS nack the topic it names */
    int32_t partition;    /* -1: unknown */
    int64_t offset;       /* -1: unknown */
    int64_t timestamp_ms; /* the record's own, -1: none */
};

/* The record itself. */
struct letter_record {
    struct span key;     /* absent: null */
    struct span value;   /* absent: null */
    struct span headers; /* encoded: built by letter_add_header, walked by letter_next_header. Empty or absent: none */
};

struct letter {
    char id[LETTER_ID_SIZE]; /* the same through all attempts, parking and replays of one failed record, or occurrence */
    enum letter_reason reason; /* of the first failure */
    struct span error;       /* what the last failure said: valid UTF-8, at most LETTER_ERROR_MAX */
    uint32_t attempt;        /* 1: the first letter. Each redelivery that fails makes the next; parking does not count up */
    uint32_t replays;        /* how often a person had it replayed */
    int64_t first_failure_ms; /* these three: -1 or a moment up to the year 9999; beyond, letter_encode writes the nearest, and letter_decode finds damage */
    int64_t last_failure_ms;
    int64_t not_before_ms;   /* waiting letters: redelivered then */
    struct span target;      /* topic it goes to; absent: it was refused and has none */
    int32_t target_partition; /* -1: let the partitioner choose */
    struct letter_origin origin;
    struct span group;       /* who failed: tarry's group, or the consumer's; absent: unknown */
    struct span schedule_id; /* tarry-id as given; absent: none */
    int64_t due_ms;          /* when it was due; -1: unknown */
    struct letter_record record;
    /* A record too large for one message stands apart, in `parts` messages of the large stream (subject_large); then `record` above is absent until
     * it was loaded (reader_load). 0: it is here. */
    uint32_t parts;
    uint64_t parts_bytes;    /* of the encoded record */
    uint64_t parts_hash;     /* XXH3 of it */
};

/* The id of a failed record: a hash of what names it (all of `origin`, its timestamp too, as a topic made again has the same offsets), so that the same
 * failure found twice gets the same one. `salt` tells failures of one record apart: 0 of one that comes once; of one that comes again, when this occurrence was due
 * (ms); of an edited copy, or an import as new, any. Writes 32 hex digits and NUL. */
void letter_id(char id[LETTER_ID_SIZE], struct span cluster, struct span group, const struct letter_origin *origin, uint64_t salt);

/* Nats-Msg-Id of publishing this letter in this state: id, attempt, replays, state; stable for one failure, fresh for the next. `nth` > 0: once more,
 * because the message that took it is there no more. At most 80 bytes of printable ASCII with NUL. */
#define LETTER_MESSAGE_ID_SIZE 80
void letter_message_id(const struct letter *letter, enum letter_state state, uint32_t nth, char text[LETTER_MESSAGE_ID_SIZE]);

/* Appends the letter's bytes, its record included when parts is 0. ERROR_FULL: the buffer's bound. ERROR_INVALID: the id is not 32 hex digits, or the error
 * text or the headers were not made by letter_set_error and letter_add_header. On failure nothing is appended. O(length). */
bool letter_encode(struct buffer *buffer, const struct letter *letter, struct error *error);

/* Spans borrow from `bytes`. ERROR_TOO_NEW, ERROR_CORRUPT (any damage: all bytes are under a checksum; never reads outside). O(length). */
bool letter_decode(struct span bytes, struct letter *letter, struct error *error);

/* The record alone, as it stands apart. Same errors. */
bool letter_encode_record(struct buffer *buffer, const struct letter_record *record, struct error *error);
bool letter_decode_record(struct span bytes, struct letter_record *record, struct error *error);

/* Appends one header to a list being built. Name never absent; value absent: null. */
void letter_add_header(struct buffer *headers, struct span name, struct span value);

/* Takes the next header off `headers`; false at the end (a damaged rest cannot be: letter_decode has checked it). */
bool letter_next_header(struct span *headers, struct span *name, struct span *value);

/* Sets letter->error from any text: invalid UTF-8 and control characters become '?', cut at LETTER_ERROR_MAX at a character. The bytes are kept in
 * `room`, which outlives the letter's use. */
void letter_set_error(struct letter *letter, struct span text, char room[LETTER_ERROR_MAX]);

#endif
