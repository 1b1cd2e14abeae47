/* Names of reasons: see letter_reason.h. */
#include "dlq/letter_reason.h"

#include <stddef.h>

static const char *const names[] = {
    [LETTER_REASON_UNKNOWN] = "unknown",
    [LETTER_REASON_NO_TIME] = "no_time",
    [LETTER_REASON_BAD_TIME] = "bad_time",
    [LETTER_REASON_AMBIGUOUS] = "ambiguous",
    [LETTER_REASON_TOO_FAR] = "too_far",
    [LETTER_REASON_SECONDS] = "seconds",
    [LETTER_REASON_NO_TIMESTAMP] = "no_timestamp",
    [LETTER_REASON_NO_TARGET] = "no_target",
    [LETTER_REASON_TARGET_NOT_ALLOWED] = "target_not_allowed",
    [LETTER_REASON_BAD_TARGET] = "bad_target",
    [LETTER_REASON_BAD_ENVELOPE] = "bad_envelope",
    [LETTER_REASON_BAD_ID] = "bad_id",
    [LETTER_REASON_UNSUPPORTED] = "unsupported",
    [LETTER_REASON_TOO_LARGE] = "too_large",
    [LETTER_REASON_UNKNOWN_TARGET] = "unknown_target",
    [LETTER_REASON_UNDELIVERABLE] = "undeliverable",
    [LETTER_REASON_BAD_ROOT] = "bad_root",
    [LETTER_REASON_NOT_AUTHORISED] = "not_authorised",
    [LETTER_REASON_INVALID] = "invalid",
    [LETTER_REASON_CONSUMER_FAILED] = "consumer_failed",
    [LETTER_REASON_BAD_NACK] = "bad_nack",
    [LETTER_REASON_BAD_SCHEDULE] = "bad_schedule",
    [LETTER_REASON_EXPIRED] = "expired",
    [LETTER_REASON_LATE] = "late",
    [LETTER_REASON_NOT_REAPPENDED] = "not_reappended",
};

_Static_assert(sizeof(names) / sizeof(names[0]) == LETTER_REASONS, "each reason has a name");

const char *letter_reason_name(enum letter_reason reason)
{
    return names[(unsigned)reason < LETTER_REASONS ? reason : LETTER_REASON_UNKNOWN];
}

bool letter_reason_of(struct span name, enum letter_reason *reason)
{
    for (unsigned i = 0; i < LETTER_REASONS; i++) {
        if (span_equals_text(name, names[i])) {
            *reason = (enum letter_reason)i;
            return true;
        }
    }
    *reason = LETTER_REASON_UNKNOWN;
    return false;
}
