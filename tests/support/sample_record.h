/* Records and rules for the tests of decoding, built in a line each. */
#ifndef TARRY_TESTS_SUPPORT_SAMPLE_RECORD_H
#define TARRY_TESTS_SUPPORT_SAMPLE_RECORD_H

#include "bridge/decode.h"

#define SAMPLE_TIMESTAMP_MS INT64_C(1795961574000)
#define SAMPLE_MAX_DELAY_MS (INT64_C(366) * 86400000)
#define SAMPLE_HEADERS_MAX 300

struct sample {
    struct record record;
    struct record_header headers[SAMPLE_HEADERS_MAX];
};

/* A record at offset 7 with CreateTime SAMPLE_TIMESTAMP_MS and no headers; NULL is null. Not to be copied: it points
 * into itself. */
void sample_begin(struct sample *sample, const char *key, const char *value);

/* Adds a header; a NULL value is null. */
void sample_add(struct sample *sample, const char *name, const char *value);
void sample_add_bytes(struct sample *sample, const char *name, struct span value);

/* Dialect tarry, no envelope, route PAYMENT_TIMEOUT -> payments, default_target events, max_delay 366d, no
 * default_delay; allowed are orders.* (lane 1), late-* (lane 2), events and payments (lane 0). */
struct decode_rules sample_rules(void);

#endif
