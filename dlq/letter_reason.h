/* Why a record failed: a closed set, of stable names (labels, filters, the field `reason`). */
#ifndef TARRY_DLQ_LETTER_REASON_H
#define TARRY_DLQ_LETTER_REASON_H

#include <stdbool.h>

#include "base/span.h"

/* Letters keep the numbers: new ones come last. The first ones bear the names of bridge/decode.h's refusals. */
enum letter_reason {
    LETTER_REASON_UNKNOWN, /* of a newer version, or unreadable */
    LETTER_REASON_NO_TIME,
    LETTER_REASON_BAD_TIME,
    LETTER_REASON_AMBIGUOUS,
    LETTER_REASON_TOO_FAR,
    LETTER_REASON_SECONDS,
    LETTER_REASON_NO_TIMESTAMP,
    LETTER_REASON_NO_TARGET,
    LETTER_REASON_TARGET_NOT_ALLOWED,
    LETTER_REASON_BAD_TARGET,
    LETTER_REASON_BAD_ENVELOPE,
    LETTER_REASON_BAD_ID,
    LETTER_REASON_UNSUPPORTED,
    LETTER_REASON_TOO_LARGE,
    LETTER_REASON_UNKNOWN_TARGET,  /* the topic does not exist after its grace */
    LETTER_REASON_UNDELIVERABLE,   /* the broker will never take this record there */
    LETTER_REASON_BAD_ROOT,
    LETTER_REASON_NOT_AUTHORISED,  /* the target's ACLs */
    LETTER_REASON_INVALID,         /* the broker calls the record invalid */
    LETTER_REASON_CONSUMER_FAILED, /* a consumer could not process it (nack) */
    LETTER_REASON_BAD_NACK,        /* a nack that says not where its record failed */
    LETTER_REASON_BAD_SCHEDULE,    /* a recurrence that is none, or dates that never come */
    LETTER_REASON_EXPIRED,         /* its turn came when its tarry-expires had passed */
    LETTER_REASON_LATE,            /* its turn came more than max_lateness after its due time */
    LETTER_REASON_NOT_REAPPENDED,  /* its next occurrence, or its decided form, can never be written to its own partition */
    LETTER_REASONS,                /* count */
};

/* Its name: "no_time", ... "unknown" for what is out of range. Never NULL. */
const char *letter_reason_name(enum letter_reason reason);

/* The reason of that name; LETTER_REASON_UNKNOWN and false: there is none. */
bool letter_reason_of(struct span name, enum letter_reason *reason);

#endif
