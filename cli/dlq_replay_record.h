/*
 * The record that a replay sends for a letter: what, where to, with which headers. Pure.
 *
 * Key and value are the letter's, byte for byte. Headers are its own without those of any earlier failure, then where it failed and how often it was replayed
 * (dlq/failure_headers.h), then what --set-header asks for. With --delay it goes to a delay topic with tarry-delay, tarry-topic and tarry-partition.
 */
#ifndef TARRY_CLI_DLQ_REPLAY_RECORD_H
#define TARRY_CLI_DLQ_REPLAY_RECORD_H

#include <stdbool.h>

#include "base/buffer.h"
#include "bridge/letter_sink.h"
#include "cli/dlq_replay_options.h"
#include "dlq/letter.h"
#include "ops/config.h"

#define DLQ_REPLAY_TOPIC_SIZE 250

struct dlq_replay_record {
    const struct config *config;
    const struct dlq_replay_options *options;
    struct buffer encoded;         /* headers */
    struct record_header *headers; /* the same for the sink */
    size_t header_room;
    char topic[DLQ_REPLAY_TOPIC_SIZE];
};

/* Both outlive it. Nothing is allocated yet. */
struct dlq_replay_record dlq_replay_record_new(const struct config *config, const struct dlq_replay_options *options);
void dlq_replay_record_free(struct dlq_replay_record *maker);

/* With --delay: whether there is a delay topic that takes any record. ERROR_INVALID says what is missing. */
bool dlq_replay_record_check(const struct dlq_replay_record *maker, struct error *error);

/* The topic that it would go to in the end: --to, its target, or for a refused letter its origin. Borrowed from options or letter. */
struct span dlq_replay_record_goes_to(const struct dlq_replay_record *maker, const struct letter *letter);

/* Fills in *record, which borrows from the maker (until the next call) and the letter, whose record is loaded. ERROR_INVALID: the letter names no topic that
 * Kafka could have, or its headers are too many: it cannot be replayed without --to, or at all. */
bool dlq_replay_record_make(struct dlq_replay_record *maker, const struct letter *letter, struct letter_sink_record *record, struct error *error);

#endif
