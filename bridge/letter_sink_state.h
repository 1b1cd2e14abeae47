/* Room-internal: what the two files of the letter sink share. */
#ifndef TARRY_BRIDGE_LETTER_SINK_STATE_H
#define TARRY_BRIDGE_LETTER_SINK_STATE_H

#include <librdkafka/rdkafka.h>

#include "bridge/letter_sink.h"

#define LETTER_SINK_WAYS 2

struct letter_sink_producer {
    struct letter_sink *sink;
    rd_kafka_t *handle; /* NULL: not opened */
    bool alone;         /* sends each record in a batch of its own */
};

struct letter_sink {
    struct letter_sink_producer producers[LETTER_SINK_WAYS]; /* with transactions only the first, which then is alone */
    struct kafka_property *properties;
    size_t property_count;
    char *client;
    char *transactional_id; /* NULL: no transactions */
    int64_t transaction_timeout_ms;
    int64_t send_timeout_ms;
    int64_t linger_ms;
    bool (*stopped)(void *context); /* NULL: never */
    void *stopped_context;
    size_t pending;    /* taken, and not yet polled */
    struct letter_sink_report *reports; /* made by callbacks, not yet polled: a ring */
    size_t report_first;
    size_t report_count;
    size_t report_room;
    size_t sent;       /* in this transaction */
    bool purged;       /* this transaction has failed, and its rest was thrown out */
};

/* Opens one of the producers. ERROR_INVALID. */
bool letter_sink_open_way(struct letter_sink *sink, size_t way, struct error *error);

/* Serves callbacks for at most timeout_ms. */
void letter_sink_serve(struct letter_sink *sink, int64_t timeout_ms);

/* Forgets the reports that were not polled. */
void letter_sink_drop_reports(struct letter_sink *sink);

/* Fills in what a code says of a record. */
void letter_sink_judge(struct letter_sink_report *report, rd_kafka_resp_err_t code);

#include "bridge/letter_sink_transaction.h" /* last: it speaks of what stands above */

#endif
