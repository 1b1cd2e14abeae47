/* See http_request.h. */
#include "ops/http_request.h"

#include <stdlib.h>

#include "base/memory.h"
#include "ops/http_owner.h"

struct http_request *http_request_new(const struct http_route *route, const struct http_request_counts *counts)
{
    struct http_request *request = memory_new(1, sizeof(*request));
    request->call.run = http_owner_run;
    request->route = route;
    request->counts = *counts;
    request->parameter = SPAN_ABSENT;
    request->idempotency_key = SPAN_ABSENT;
    request->upload = buffer_new(HTTP_REQUEST_UPLOAD_MOST);
    request->deadline.ms = TIME_NEVER;
    request->status = 500;
    request->content_type = "application/json";
    request->body = buffer_new(HTTP_REQUEST_BODY_MOST);
    return request;
}

void http_request_free(void *request)
{
    struct http_request *own = request;
    buffer_free(&own->upload);
    buffer_free(&own->body);
    free(own->text);
    free(own);
}

struct span http_request_query(const struct http_request *request, const char *name)
{
    for (size_t i = 0; i < request->query_count; i++) {
        if (span_equals_text(request->query[i].name, name)) {
            return request->query[i].value;
        }
    }
    return SPAN_ABSENT;
}
