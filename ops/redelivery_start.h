/* Room-internal: Becoming the one who redelivers, and ceasing to be. Included by redelivery_state.h. */
#ifndef TARRY_OPS_REDELIVERY_START_H
#define TARRY_OPS_REDELIVERY_START_H

#include "ops/redelivery_state.h"

/* Fences, removes what is known to be done with, reads the stream. False: later again; redelivery_start_let_go was not called. */
bool redelivery_start_begin(struct redelivery *redelivery, struct error *error);

/* Ends what is under way, and forgets all but what is owed. */
void redelivery_start_let_go(struct redelivery *redelivery);

#endif
