/*
 * What was redelivered lately, in bounded memory: marks (64-bit hashes) with an attempt each; the oldest of a bucket makes room.
 *
 * Two uses. A consumer's nack that does not hand `tarry-redelivery` back is known by where its record was written, or by the record itself, so that loops end.
 * And a letter of a record that is delivered by now is known by its id, and not sent: one that a former owner, woken after it lost the partition, posts, or one
 * that was posted twice.
 * A restart forgets. Pure; one thread.
 */
#ifndef TARRY_OPS_REDELIVERY_LATELY_H
#define TARRY_OPS_REDELIVERY_LATELY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/span.h"
#include "dlq/letter.h"
#include "dlq/waiting.h"

struct redelivery_lately;

/* Holds some 260,000 marks, 24 bytes each. Never NULL. */
struct redelivery_lately *redelivery_lately_new(void);
void redelivery_lately_free(struct redelivery_lately *lately);

/* The letter was delivered to this partition and offset (-1: not said); it is now_ms, wall clock. O(key and value). */
void redelivery_lately_delivered(struct redelivery_lately *lately, const struct letter *letter, int32_t partition, int64_t offset, int64_t now_ms);

/* The attempt of the redelivery that wrote this record, by its origin when that has an offset, else by key and value; 0: none known. */
uint32_t redelivery_lately_attempt(const struct redelivery_lately *lately, const struct letter *nack);

/*
 * True when this letter, stored in the stream at stored_ms, is of no use, as one of its id and replays was delivered:
 * - one attempt before it: it is a former owner's, who did not know, whenever it comes;
 * - of the same attempt or a later one, and it had been stored by then: it was posted twice, beyond JetStream's window of doubles.
 * Stored after that it counts: `tarry dlq import` puts a letter back with the attempt and the times of failure it had, so that nothing else tells a person's
 * wish from a double. stored_ms is the server's clock, and the delivery is ours: as far as they are apart, doubles are sent, or an import so soon after the
 * delivery is taken for one.
 */
bool redelivery_lately_outdates(const struct redelivery_lately *lately, const struct letter *letter, int64_t stored_ms);

#endif
