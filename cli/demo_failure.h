/*
 * The records of the demo that fail: due for a topic that is not there, so that each becomes a letter, is redelivered in vain, parked, and replayed when the
 * topic is there. What became of each, and whether that is what should have.
 */
#ifndef TARRY_CLI_DEMO_FAILURE_H
#define TARRY_CLI_DEMO_FAILURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/error.h"
#include "bridge/playground.h"
#include "cli/demo_broker.h"
#include "dlq/letter.h"

#define DEMO_FAILURE_COUNT 3
#define DEMO_FAILURE_DELAY_MS 500

struct demo_invoice {
    char key[32];
    char value[128];
    int64_t sent_ms;
    bool parked;
    bool hurried; /* its redeliveries came before their time, or not all of them came */
    bool altered; /* letter or record: not the bytes that were sent, or without the headers that tell what happened */
    unsigned arrivals;
};

struct demo_failure {
    struct demo_invoice items[DEMO_FAILURE_COUNT];
    int64_t began_ms; /* wall clock */
    size_t parked;
    size_t arrived;
};

struct demo_failure demo_failure_new(void);

/* Produces them and waits until the broker has them. ERROR_UNAVAILABLE, ERROR_INVALID, ERROR_FULL. Blocks for up to 5 s. */
bool demo_failure_send(struct demo_failure *failure, const struct demo_broker *broker, struct playground *playground, struct error *error);

/* Takes in a letter that came into a stream, and says it on `file`, if it is one of theirs. */
void demo_failure_take_letter(struct demo_failure *failure, const struct letter *letter, enum letter_state state, FILE *file);

/* The same for a record that arrived in their topic. */
void demo_failure_take_arrival(struct demo_failure *failure, const struct record *record, FILE *file);

/* Says what was shown. True: all of them failed, were redelivered with backoff, parked, and arrived after the replay, once and as they were sent. */
bool demo_failure_conclude(const struct demo_failure *failure, FILE *file);

#endif
