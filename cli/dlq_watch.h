/*
 * Whether records that a job replayed come back: letters and nacks that come in behind the job's beginning and name as their origin a place at which
 * the job has written a record.
 *
 * Remembers some 1,000,000 places (8 MiB); a later one may take the room of an earlier one, which then is not recognised. One thread; dlq_watch_look blocks.
 */
#ifndef TARRY_CLI_DLQ_WATCH_H
#define TARRY_CLI_DLQ_WATCH_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/dlq_context.h"

struct dlq_watch;

/* Looks at the waiting stream behind its present end, and at the parked one's (refused records are parked at once). Never NULL; the context outlives it. */
struct dlq_watch *dlq_watch_new(const struct dlq_context *context);
void dlq_watch_free(struct dlq_watch *watch);

/* A hash of a topic's name, for dlq_watch_note. */
uint64_t dlq_watch_topic(const char *topic, size_t length);

/* The job has written a record there. */
void dlq_watch_note(struct dlq_watch *watch, uint64_t topic, int32_t partition, int64_t offset);

/* True once for each place that was noted. */
bool dlq_watch_take(struct dlq_watch *watch, uint64_t topic, int32_t partition, int64_t offset);

/* Reads what came in since the last look; returns how many records of the job have come back so far. NATS away: the rest at the next look. */
uint64_t dlq_watch_look(struct dlq_watch *watch);

#endif
