/* Room-internal: What became of what was under way. Included by redelivery_state.h. */
#ifndef TARRY_OPS_REDELIVERY_SETTLE_H
#define TARRY_OPS_REDELIVERY_SETTLE_H

#include "ops/redelivery_state.h"

/* Takes reports, waiting at most timeout_ms for the first. */
void redelivery_settle_collect(struct redelivery *redelivery, int64_t timeout_ms);

/* What this flight holds in memory of its message and record. */
size_t redelivery_settle_bytes(const struct redelivery_flight *flight);

size_t redelivery_settle_count(const struct redelivery *redelivery, enum redelivery_step step);

void redelivery_settle_free(struct redelivery_flight *flight);

/* True when nothing is under way but what stands. */
bool redelivery_settle_is_idle(const struct redelivery *redelivery);

/* What one report says. */
void redelivery_settle_judge(struct redelivery *redelivery, struct redelivery_flight *flight, const struct letter_sink_report *report);

/* The letter in the flight becomes what is to be posted now that it failed. */
void redelivery_settle_next_letter(struct redelivery *redelivery, struct redelivery_flight *flight, const char *error);

/* Notes a message to be removed. */
void redelivery_settle_owe(struct redelivery *redelivery, uint64_t sequence);

/* Removes what is owed. False: some could not be. */
bool redelivery_settle_pay(struct redelivery *redelivery, struct error *error);

/* Posts next letters, removes what is done with, puts back what is not. False: JetStream could not be asked to remove. */
bool redelivery_settle(struct redelivery *redelivery, struct error *error);

#endif
