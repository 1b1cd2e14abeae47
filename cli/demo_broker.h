/* The broker of the demo: one in this process, or the user's; and the demo's topics in it. */
#ifndef TARRY_CLI_DEMO_BROKER_H
#define TARRY_CLI_DEMO_BROKER_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "bridge/mock_cluster.h"
#include "bridge/playground.h"

/* The first two are read by tarry, the others written. */
enum demo_broker_topic {
    DEMO_BROKER_REMINDERS, /* records with control headers */
    DEMO_BROKER_DELAYED,   /* envelopes: "delayed-event" */
    DEMO_BROKER_EVENTS,
    DEMO_BROKER_PAYMENTS,
    DEMO_BROKER_ORDERS,
    DEMO_BROKER_INVOICES, /* not there until demo_broker_make_invoices */
    DEMO_BROKER_TOPICS,
    DEMO_BROKER_NONE = DEMO_BROKER_TOPICS /* where a record that is refused goes */
};

#define DEMO_BROKER_NAME_MAX 64

struct demo_broker {
    struct mock_cluster *mock; /* NULL: the user's own broker */
    const char *bootstrap;
    char prefix[32]; /* of the topics; the name of the group, too */
    char names[DEMO_BROKER_TOPICS][DEMO_BROKER_NAME_MAX];
    struct playground_topic topics[DEMO_BROKER_TOPICS]; /* names as above */
    size_t made;                                        /* topics made so far, in order */
};

/* Starts a broker (kafka NULL) or takes the user's, whose text outlives the demo, and makes the topics but invoices, in the
 * user's broker with a random prefix. Blocks for up to some 5 s a topic. On failure, too, demo_broker_close is due. */
bool demo_broker_open(struct demo_broker *broker, const char *kafka, struct error *error);

/* Makes the topic invoices. *made false: it was there already, as the user's broker makes topics that are asked for.
 * ERROR_UNAVAILABLE, ERROR_INVALID. Blocks for up to some 5 s. */
bool demo_broker_make_invoices(struct demo_broker *broker, bool *made, struct error *error);

/* A topic's name without the prefix, "-" for none. Static. */
const char *demo_broker_short(enum demo_broker_topic topic);

/* Takes the topics away again (unless `keep`) and ends the broker if it is ours. False: topics may be left in the
 * user's broker; *error says why. */
bool demo_broker_close(struct demo_broker *broker, bool keep, struct error *error);

#endif
