/* What a record's headers ask for, by the dialects that are on (dialect.h). Values are only collected here, not read, but for the action. */
#ifndef TARRY_BRIDGE_DIALECT_READ_H
#define TARRY_BRIDGE_DIALECT_READ_H

#include "bridge/decode.h"

/* One bit a field in `given`: a given header may still have a null (absent) value. */
struct dialect_controls {
    unsigned given;
    struct record_header headers[DIALECT_FIELDS]; /* meaningful where given */
    enum dialect_form forms[DIALECT_FIELDS];      /* of their values */
    const struct record_header *places[DIALECT_FIELDS]; /* where in the record they stand */
    bool id_from_key;    /* habits of a dialect that the record is of */
    bool null_is_cancel;
    bool cancel; /* an action is given, and it cancels */
};

static inline bool dialect_given(const struct dialect_controls *controls, enum dialect_field field)
{
    return (controls->given >> field & 1U) != 0;
}

/* The fields that say what is to be done, when and where: of no account when that is decided already. */
#define DIALECT_DECIDED                                                                                                \
    (1U << DIALECT_DELAY | 1U << DIALECT_AT | 1U << DIALECT_TOPIC | 1U << DIALECT_PARTITION | 1U << DIALECT_ACTION | 1U << DIALECT_IF_EXISTS)

/* Collects the control headers in one pass, less those of DIALECT_DECIDED when `decided`. *controls is zeroed by the caller. False: *refusal says why
 * (AMBIGUOUS: a field is given twice, by one header or two, in one dialect or two; UNSUPPORTED: a header or action that tarry does not act on).
 * O(headers * dialects). Any thread. */
bool dialect_read(const struct decode_rules *rules, const struct record *record, bool decided, struct dialect_controls *controls, struct refusal *refusal);

#endif
