/*
 * Whose a partition is: which one a key or an id belongs to, whether this instance has it, and who else does. Worker threads of API_WRITERS.
 */
#ifndef TARRY_OPS_API_OWNER_H
#define TARRY_OPS_API_OWNER_H

#include "ops/api.h"
#include "ops/api_question.h"

struct cJSON;

#define API_OWNER_ALL SIZE_MAX

/* The index of the source that is named, or of the only one. Absent, and there are several: API_OWNER_ALL when `all` allows that. Only sources with the dialect tarry can be written into. False: the
 * request is answered (404 `not_found`, 400 `bad_parameter` with the names, 422 `source_without_tarry_dialect`). */
bool api_owner_source(struct http_request *request, const struct api *api, struct span name, bool all, size_t *source);

/* How many partitions a source has. 0: answered with 503 `unavailable`, or 404. */
int32_t api_owner_partitions(struct http_request *request, struct api *api, size_t source);

/* The `partition` that is named beside a source, -1: none. `source` is what api_owner_source gave; with_key: a key is named too, which would say another one. False: the request is answered with 400
 * `bad_parameter`. Whether the source has so many is not looked at. */
bool api_owner_partition(struct http_request *request, size_t source, bool with_key, int64_t *partition);

/* This instance's partition, open. NULL: the request is answered, with 421 `not_owner`, its `owner` (null: it has no `advertise`) and `partition`, or with 503 while nobody can take it. */
const struct api_question_partition *
api_owner_place(struct http_request *request, struct api *api, const struct api_question_here *here, size_t source, int32_t partition);

/* Answers with 503 `unavailable`, to be tried again. */
void api_owner_unavailable(struct http_request *request, const char *why);

/* Adds {"topic", "partition", "result": result, "owner": "host:port"|null} to a list; asks Kafka, but once in a few seconds. */
void api_owner_add_elsewhere(struct cJSON *list, struct http_request *request, struct api *api, size_t source, int32_t partition, const char *result);

/* Milliseconds that are left for a call that waits, `most` at most; 0: no time. */
int api_owner_left_ms(const struct http_request *request, int most);

#endif
