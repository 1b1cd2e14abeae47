/* A second opinion on JSON, written the other way round from bridge/json_scan.c: recursive, by the grammar of RFC
 * 8259. And a maker of random documents. */
#ifndef TARRY_TESTS_SUPPORT_JSON_ORACLE_H
#define TARRY_TESTS_SUPPORT_JSON_ORACLE_H

#include <stdbool.h>

#include "base/buffer.h"
#include "base/random.h"

/* True when all of `text` is one strict JSON value with blanks around it, nested at most `depth_most` deep. */
bool json_oracle_valid(struct span text, int depth_most);

/* Appends a random valid value, nested at most `depth` deep, without blanks around it (but with some inside). */
void json_oracle_make(struct random *random, int depth, struct buffer *out);

#endif
