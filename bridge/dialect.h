/* The dialect `tarry`: which headers are ours, and what a record's headers ask for. Values are only collected here,
 * not read. */
#ifndef TARRY_BRIDGE_DIALECT_H
#define TARRY_BRIDGE_DIALECT_H

#include "bridge/decode.h"

enum dialect_field {
    DIALECT_DELAY, /* tarry-delay, or its alias delay_ms */
    DIALECT_AT,
    DIALECT_TOPIC,
    DIALECT_KEY,
    DIALECT_PARTITION,
    DIALECT_ID,
    DIALECT_ACTION,
    DIALECT_FIELDS, /* count */
};

/* One bit a field in `given`: a given header may still have a null (absent) value. */
struct dialect_controls {
    unsigned given;
    struct record_header headers[DIALECT_FIELDS]; /* meaningful where given */
};

static inline bool dialect_given(const struct dialect_controls *controls, enum dialect_field field)
{
    return (controls->given >> field & 1U) != 0;
}

/* The fields that say when and where: of no account when both are decided already. */
#define DIALECT_WHEN_AND_WHERE (1U << DIALECT_DELAY | 1U << DIALECT_AT | 1U << DIALECT_TOPIC | 1U << DIALECT_PARTITION)

/* Collects the control headers in one pass, less the fields whose bits are in `ignored`. *controls is zeroed by the caller. False: *refusal says why
 * (AMBIGUOUS: one was given twice;
 * UNSUPPORTED: a tarry- header or action that this version does not act on). O(headers). Any thread. */
bool dialect_read(const struct record *record, unsigned ignored, struct dialect_controls *controls, struct refusal *refusal);

/* True for every name of ours: "tarry-" and anything after it, and delay_ms. Case counts. */
bool dialect_owns(struct span name);

#endif
