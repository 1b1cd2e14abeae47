/*
 * Letters on their way to Kafka: sent in order, a bounded number at once, and handed to dlq_settle as Kafka answers for them.
 *
 * What an outage keeps from Kafka is not sent again here: it still stands in its stream. The flight says from where on (dlq_flight_trouble), and the caller
 * lets all else come home, and reads the stream again from there; so no order but the stream's is ever made.
 *
 * Letters are handed over in the order they were sent. As long as each message of the scan's subject was sent and acknowledged (`whole`), they leave their stream
 * by one request for hundreds of them; behind the first that was passed over or failed, each by its own. One thread.
 */
#ifndef TARRY_CLI_DLQ_FLIGHT_H
#define TARRY_CLI_DLQ_FLIGHT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bridge/letter_sink.h"
#include "cli/dlq_settle.h"
#include "cli/dlq_watch.h"

#define DLQ_FLIGHT_LETTERS 2000                    /* sent, and not yet out of their stream: what a kill may repeat */
#define DLQ_FLIGHT_BYTES ((size_t)64 * 1024 * 1024) /* at Kafka; one letter is always let in */

struct dlq_flight;

/* The properties, settle and watch (NULL: none) outlive it. ERROR_INVALID: a property that librdkafka refuses. */
bool dlq_flight_open(const struct letter_sink_options *sink, struct dlq_settle *settle, struct dlq_watch *watch, struct dlq_flight **flight, struct error *error);
void dlq_flight_free(struct dlq_flight *flight);

/* True: one of `bytes` can be sent now. */
bool dlq_flight_has_room(const struct dlq_flight *flight, size_t bytes);

/* Sends the record for the letter that `item` names (its way is set here). `whole`: every message of the scan's subject that stands before this letter was sent,
 * too. False: the producer's queue is full, or there is trouble: poll. */
bool dlq_flight_send(struct dlq_flight *flight, const struct dlq_settle_item *item, bool whole, const struct letter_sink_record *record);

/* Takes Kafka's answers; waits for the first of them, or for room at dlq_settle, at most timeout_ms. */
void dlq_flight_poll(struct dlq_flight *flight, int64_t timeout_ms);

/* How many are at Kafka unanswered; how many are answered for and not out of their stream yet. */
size_t dlq_flight_flying(const struct dlq_flight *flight);
size_t dlq_flight_settling(const struct dlq_flight *flight);

struct dlq_flight_counts {
    uint64_t delivered;
    uint64_t failed; /* of their own fault */
    int64_t answered_ms; /* monotonic: when Kafka last answered, or the first of those in flight was sent */
};
struct dlq_flight_counts dlq_flight_counts(const struct dlq_flight *flight);

struct dlq_flight_trouble {
    bool there;
    char text[256];
    uint64_t from[2]; /* by enum letter_state: the first sequence that is to be read again; UINT64_MAX: none */
};
const struct dlq_flight_trouble *dlq_flight_trouble(const struct dlq_flight *flight);

/* The trouble is over, or to be tried once more: nothing is in flight. With the producer spoilt, opens another. ERROR_INVALID as above. */
bool dlq_flight_again(struct dlq_flight *flight, struct error *error);

#endif
