/* The JSON envelope: a record's value that says itself what it is, when and where it goes, around a payload. */
#ifndef TARRY_BRIDGE_ENVELOPE_H
#define TARRY_BRIDGE_ENVELOPE_H

#include "bridge/decode.h"
#include "bridge/json_scan.h"

#define ENVELOPE_MEMBERS_MAX 256 /* of the outermost object; inside the payload there is no such limit */

enum envelope_field {
    ENVELOPE_TYPE,
    ENVELOPE_PAYLOAD,
    ENVELOPE_DELAY_MS,
    ENVELOPE_DELIVER_AT,
    ENVELOPE_TARGET,
    ENVELOPE_ID,
    ENVELOPE_FIELDS, /* count. retry_count is not among them: it is carried, and nothing depends on it */
};

/* Kind MISSING: not there, or null (but for the payload, whose null is a payload). Spans borrow from the record's
 * value. */
struct envelope {
    struct json_scan_value fields[ENVELOPE_FIELDS];
};

static inline bool envelope_has(const struct envelope *envelope, enum envelope_field field)
{
    return envelope->fields[field].kind != JSON_SCAN_MISSING;
}

/* The name that the field goes by in the records: the configured one, else the default. Never NULL. */
const char *envelope_field_name(const struct decode_rules *rules, enum envelope_field field);

/* Reads the outermost object of `value`. *envelope is zeroed by the caller. False: *refusal says why (BAD_ENVELOPE).
 * Of what types the fields are is not looked at. O(bytes) and no allocation. Any thread. */
bool envelope_read(const struct decode_rules *rules,
                   struct span value,
                   struct envelope *envelope,
                   struct refusal *refusal);

/* Whether type, target and id, where given, are strings; times are the caller's affair. False: *refusal says why (BAD_ENVELOPE). Any thread. */
bool envelope_check_types(const struct decode_rules *rules, const struct envelope *envelope, struct refusal *refusal);

#endif
