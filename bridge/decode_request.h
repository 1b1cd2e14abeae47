/* Room-internal: header tarry-request as decode_record reads it. */
#ifndef TARRY_BRIDGE_DECODE_REQUEST_H
#define TARRY_BRIDGE_DECODE_REQUEST_H

#include "bridge/dialect_read.h"

/* Fills *request (borrowed from the record) when the header is given and valid. False: it is given and is not, REFUSAL_UNSUPPORTED; `lenient` (what was accepted once, and a cancel,
 * in which only the id counts): then it says nothing. O(1). Any thread. */
bool decode_request_read(const struct dialect_controls *controls, bool lenient, struct span *request, struct refusal *refusal);

#endif
