/* A filter's inside. Internal to cli/dlq_filter*.c. */
#ifndef TARRY_CLI_DLQ_FILTER_STATE_H
#define TARRY_CLI_DLQ_FILTER_STATE_H

#include <regex.h>

#include "cli/dlq_filter.h"

enum dlq_filter_kind {
    DLQ_FILTER_STATE,
    DLQ_FILTER_REASON,
    DLQ_FILTER_ERROR,
    DLQ_FILTER_TARGET,
    DLQ_FILTER_KEY,
    DLQ_FILTER_HEADER,
    DLQ_FILTER_ID,
    DLQ_FILTER_KINDS, /* count */
};

struct dlq_filter_term {
    enum dlq_filter_kind kind;
    struct span bytes; /* owned: the word, expression, topic, key, id, or the header's name */
    struct span value; /* owned: the header's value; absent: any */
    union {
        enum letter_state state;
        enum letter_reason reason;
        regex_t *expression; /* owned; by pointer, as a regex_t must not be moved */
    } as;
};

#endif
