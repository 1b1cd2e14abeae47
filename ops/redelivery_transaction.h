/* Room-internal: Exactly once: batches of letters as transactions. Included by redelivery_state.h. */
#ifndef TARRY_OPS_REDELIVERY_TRANSACTION_H
#define TARRY_OPS_REDELIVERY_TRANSACTION_H

#include "ops/redelivery_state.h"

/* One batch, from taking to settling. False: begin anew. */
bool redelivery_transaction(struct redelivery *redelivery, struct error *error);

/* Reads from the committed text what was surely delivered, into `owed`. */
bool redelivery_transaction_recall(struct redelivery *redelivery, struct error *error);

#endif
