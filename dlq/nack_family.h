/*
 * What a consumer's dead-letter record says of its failure, in the four ways that are in use.
 *
 *   kafka    `__dlq.errors.*`      share groups (KIP-1191): text
 *   connect  `__connect.errors.*`  sink connectors (KIP-298): text
 *   streams  `__streams.errors.*`  Kafka Streams (KIP-1034): text
 *   spring   `kafka_dlt-*`         Spring Kafka: partition int32, offset and timestamp int64, big-endian; the rest text
 *
 * A header that repeats counts as it stands last (Spring appends). One of wrong form counts as absent. Pure.
 */
#ifndef TARRY_DLQ_NACK_FAMILY_H
#define TARRY_DLQ_NACK_FAMILY_H

#include "dlq/letter.h"

/* The two headers by which a nack asks for a time of its own; they are taken off the record. Reading them is the caller's affair. */
#define NACK_FAMILY_DELAY "tarry-delay"
#define NACK_FAMILY_AT "tarry-at"

/* In the order of enum config_nack_family. */
enum nack_family { NACK_FAMILY_KAFKA, NACK_FAMILY_CONNECT, NACK_FAMILY_STREAMS, NACK_FAMILY_SPRING, NACK_FAMILIES };

/* What the letter's fields borrow from besides the record. */
struct nack_family_room {
    struct buffer headers;
    char error[LETTER_ERROR_MAX];
};
/* `most`: bound of a record's encoded headers, in bytes. */
struct nack_family_room nack_family_room_new(size_t most);
void nack_family_room_free(struct nack_family_room *room);

/*
 * Fills in of `letter`: reason CONSUMER_FAILED, error, group, origin, target (the origin's topic), target_partition -1, attempt (1 + `tarry-redelivery`),
 * replays, and the record: its key and value, and its headers without those of any family, tarry's two (failure_headers.h), `tarry-delay` and `tarry-at`.
 * schedule_id is `tarry-id`, due_ms `tarry-due` (milliseconds). The rest is zeroed: id and times are the caller's.
 *
 * False: no origin topic is named, or none that Kafka could have. Then all is filled in but reason is BAD_NACK, target and origin.topic are absent (origin.topic
 * is to be set: where the nack itself stands), and the record keeps all its headers, so that a person can see why.
 *
 * Spans borrow from the record and the room; the room is cleared first. room->headers.full: the headers were too large for it.
 */
bool nack_family_read(enum nack_family family, const struct letter_record *record, struct nack_family_room *room, struct letter *letter);

/* Of a record whose failure is known already: fills in attempt, replays, schedule_id, due_ms from its headers, and appends those that stay to `out`.
 * schedule_id borrows from the headers. */
void nack_family_tidy(struct buffer *out, struct span headers, struct letter *letter);

/* Kafka's rule for topics: 1 to 249 bytes of [a-zA-Z0-9._-], not "." or "..". */
bool nack_family_topic_legal(struct span topic);

/* The value of the last header of this name, absent: there is none, or it is null. */
struct span nack_family_header(struct span headers, const char *name);

#endif
