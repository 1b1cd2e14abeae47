/* A job's record as a document: what stands in it is its writer's affair, and comes out again as it was. Pure. */
#ifndef TARRY_DLQ_JOBS_RECORD_H
#define TARRY_DLQ_JOBS_RECORD_H

#include "base/span.h"

struct cJSON;

/* Its object; NULL: it is none. Whole numbers of up to 2^53 print as they were read, which cJSON's own do not beyond 15 digits; they are raw texts in it. Free with cJSON_Delete. O(length). */
struct cJSON *jobs_record_read(struct span bytes);

/* Its state; "unknown" when it says none, or the document is NULL. Borrowed. */
const char *jobs_record_state(const struct cJSON *record);

#endif
