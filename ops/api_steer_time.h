/* The bodies of requests that steer: none, or a time. Worker threads. */
#ifndef TARRY_OPS_API_STEER_TIME_H
#define TARRY_OPS_API_STEER_TIME_H

#include "ops/http_request.h"

/* True: the body is empty or {}. False: answered with 400. */
bool api_steer_time_none(struct http_request *request);

/* {"at": RFC 3339 or ms} or {"in": duration or ms}: the moment, before the last one of the year 9999, which stands for paused. False: answered with 400. */
bool api_steer_time_read(struct http_request *request, int64_t *due_ms);

#endif
