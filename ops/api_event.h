/*
 * One pending event as JSON: what lists, and whoever asks for a single one, get to see of it (EVENT in docs/openapi.yaml).
 *
 * Any thread. Payloads (key, value, headers) only as http.payloads lets them be seen.
 */
#ifndef TARRY_OPS_API_EVENT_H
#define TARRY_OPS_API_EVENT_H

#include "bridge/row.h"
#include "ops/config.h"
#include "scheduler/core.h"

#define API_EVENT_VALUE_MOST ((size_t)1 << 20) /* bytes of a key, a value or a header's value that are shown: of a longer one null, and "cut": true */
/* Headers that are shown, and bytes of their names and values together. A value beyond that is null, at a name beyond it the list ends; "cut": true. */
#define API_EVENT_HEADERS_MOST 1000
#define API_EVENT_HEADERS_BYTES_MOST (API_EVENT_VALUE_MOST + ((size_t)64 << 10))
#define API_EVENT_HEADERS_WALKED 10000 /* those that do not go out included: beyond, "cut" */
#define API_EVENT_HEADER_COST 256 /* bytes of memory that one takes beside its own */

struct cJSON;

/* What is known of it; borrowed for the call. */
struct api_event {
    const struct row *row;      /* accepted */
    const char *topic;          /* of the source */
    int32_t partition;
    int64_t due_ms;             /* of its key: when it is looked at next */
    const char *lane;           /* its name */
    enum core_event_state state; /* any but ENDED */
    const struct decode_rules *rules; /* of the source: their control headers do not go out; NULL: tarry's own alone */
    enum config_payloads payloads;
    bool shows_payload;         /* with "full": key, value and headers, too. No byte of them is read without */
    bool lacks_value;           /* the value is not at hand: null, and "cut": true */
    bool lacks_headers;         /* there are more than are at hand: "cut": true */
};

/* Adds its members to an object. What is paused or undecided has no due time: null; the former one's own is resume_due. What waits because its letter could not be
 * kept has retry_at. Headers that do not read back end the list of headers ("cut"). O(length of what is shown + API_EVENT_HEADERS_WALKED). Returns what it shows of the
 * payload, in bytes, with API_EVENT_HEADER_COST for each header: whoever shows many stops somewhere. */
size_t api_event_add(struct cJSON *object, const struct api_event *event);

#endif
