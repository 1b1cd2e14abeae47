/*
 * A NATS message of subject nack.<topic>: what a consumer that speaks NATS says it failed on.
 *
 * The body is the record's value. NATS headers: `Tarry-Key` or `Tarry-Key-Base64`, `Tarry-Null: value`, `Tarry-Partition`, `Tarry-Offset`,
 * `Tarry-Timestamp` (ms), `Tarry-Group`, `Tarry-Error`, `Tarry-Delay`, `Tarry-Redelivery`, `Tarry-Replays`; all others but Nats-* and Tarry-* are headers of the
 * record. With `Tarry-Encoding: json` the body is a letter in JSON (letter_json.h), exact to the byte.
 */
#ifndef TARRY_DLQ_NACK_STREAM_H
#define TARRY_DLQ_NACK_STREAM_H

#include "dlq/letter.h"
#include "dlq/reader.h"
#include "dlq/subject.h"

/* What the letter borrows from, besides the message. */
struct nack_stream_room {
    struct buffer bytes;   /* a key of base64, the fields of a JSON letter */
    struct buffer given;   /* headers as they came */
    struct buffer headers; /* those that stay */
    char topic[SUBJECT_SIZE];
    char error[LETTER_ERROR_MAX];
};

/* `most`: bound of each of its buffers, in bytes; a few times the greatest message. */
struct nack_stream_room nack_stream_room_new(size_t most);
void nack_stream_room_free(struct nack_stream_room *room);

struct nack_stream {
    struct letter letter;
    struct span delay;    /* Tarry-Delay as given, for nack_reader_not_before (ops/nack_reader.h); absent: none */
    bool has_not_before;  /* a JSON letter that says when: letter.not_before_ms */
};

/*
 * Reads one nack. True: a letter with target and origin of the subject's topic, reason CONSUMER_FAILED, attempt (1 + Tarry-Redelivery), the record without
 * failure headers of any family; its id is letter_id(absent, group, {the subject, -1, the message's sequence, when it was stored}), so that reading it twice
 * makes one letter; first and last failure: when the message was stored; not_before_ms -1 unless has_not_before. A number of wrong form counts as not given.
 * Of a JSON letter count: group, error, attempt, replays, not_before, origin but for its topic, schedule_id, due, target_partition, and the record.
 *
 * False: it cannot be told what record failed, and where. A letter still, to be parked, so that no nack is lost: reason BAD_NACK, target absent, error says
 * why, the body as it came is its value, and all NATS headers are its headers.
 *
 * The spans of *nack borrow from message and room, which is cleared first. room->given.full: its headers were too many. O(message).
 */
bool nack_stream_read(const struct reader_message *message, const char *prefix, struct nack_stream_room *room, struct nack_stream *nack);

#endif
