/* A Kafka record, borrowed: valid as long as the message it was read from. */
#ifndef TARRY_BRIDGE_RECORD_H
#define TARRY_BRIDGE_RECORD_H

#include <stddef.h>
#include <stdint.h>

#include "base/span.h"

struct record_header {
    struct span name;  /* never absent */
    struct span value; /* absent: a null header value */
};

enum record_timestamp { RECORD_TIMESTAMP_NONE, RECORD_TIMESTAMP_CREATE, RECORD_TIMESTAMP_APPEND };

struct record {
    struct span key;   /* absent: null */
    struct span value; /* absent: null */
    const struct record_header *headers; /* in order, repeats and all */
    size_t header_count;
    int64_t offset;
    int32_t partition; /* of its topic */
    int64_t timestamp_ms; /* -1 when timestamp is NONE */
    enum record_timestamp timestamp;
};

#endif
