/* Room-internal: What a transaction of letters tells the rest of the letter sink. Included by letter_sink_state.h. */
#ifndef TARRY_BRIDGE_LETTER_SINK_TRANSACTION_H
#define TARRY_BRIDGE_LETTER_SINK_TRANSACTION_H

#include "bridge/letter_sink_state.h"

/* Why the failed transaction failed first; false: it has not. */
bool letter_sink_transaction_cause(const struct letter_sink *sink, rd_kafka_resp_err_t *code, char *words, size_t size);

#endif
