/* What is answered of an event that is not pending here, and of which nothing is remembered either. Worker threads. */
#ifndef TARRY_OPS_API_GET_ABSENT_H
#define TARRY_OPS_API_GET_ABSENT_H

#include "ops/api.h"
#include "ops/api_get_elsewhere.h"
#include "ops/daemon_api_get.h"

struct cJSON;

/* 503 `not_ready`: question->no_cluster, or a partition that is not read up to its end (question->unready). */
void api_get_absent_not_ready(struct http_request *request, const struct daemon_api_get *question);

/* 404 `not_found`: how much was asked, what is remembered, and where else it may be. `topic` NULL: any. `members` is consumed. */
void api_get_absent_not_found(
    struct http_request *request, const struct daemon_api_get *question, const char *topic, const struct api_get_elsewhere *elsewhere, struct cJSON *members);

#endif
