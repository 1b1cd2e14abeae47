/*
 * Who has changed what through the API: each change is a log event `audit` and stands in a ring of the latest ones, which /api/v1/audit shows.
 *
 * Never a payload. What was asked for and did not happen is told with the reason. A restart forgets the ring; the log has it.
 */
#ifndef TARRY_OPS_API_AUDIT_H
#define TARRY_OPS_API_AUDIT_H

#include "base/span.h"
#include "base/time_types.h"

#define API_AUDIT_ENTRIES 1000

struct api_audit;
struct cJSON;

/* Empty. Never NULL. */
struct api_audit *api_audit_new(void);

/* No thread may use it any more. NULL is fine. */
void api_audit_free(struct api_audit *audit);

/* Notes and logs one. action: "schedule", "cancel", ...; what: name of `subject` ("id", "target"); result: "scheduled", "refused", ... Static texts all three. The actor is cut, the subject
 * made printable and cut: whatever bytes are in it. Absent: null. Any thread. O(1). */
void api_audit_note(struct api_audit *audit, struct wall_ms at, const char *actor, const char *action, const char *what, struct span subject, const char *result);

/* {"items": [...]}, newest first: at, at_ms, actor, action, id or target, result. Any thread. Never NULL. */
struct cJSON *api_audit_json(struct api_audit *audit);

#endif
