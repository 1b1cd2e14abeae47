/*
 * What was redelivered lately, in bounded memory: marks (64-bit hashes) with an attempt each; the oldest of a bucket makes room.
 *
 * Two uses. A consumer's nack that does not hand `tarry-redelivery` back is known by where its record was written, or by the record itself, so that loops end.
 * And a letter that a former owner, woken after it lost the partition, posts for a record that is delivered by now is known by its id, and not sent.
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

/* Holds some 260,000 marks, 16 bytes each. Never NULL. */
struct redelivery_lately *redelivery_lately_new(void);
void redelivery_lately_free(struct redelivery_lately *lately);

/* The letter was delivered to this partition and offset (-1: not said). O(key and value). */
void redelivery_lately_delivered(struct redelivery_lately *lately, const struct letter *letter, int32_t partition, int64_t offset);

/* The attempt of the redelivery that wrote this record, by its origin when that has an offset, else by key and value; 0: none known. */
uint32_t redelivery_lately_attempt(const struct redelivery_lately *lately, const struct letter *nack);

/* True when a letter one attempt before this one, of the same replays, was delivered: this one is a former owner's, and of no use. */
bool redelivery_lately_outdates(const struct redelivery_lately *lately, struct waiting_id id, uint32_t replays, uint32_t attempt);

#endif
