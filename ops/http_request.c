/* Requests to the owner: see http_request.h. */
#include "ops/http_request.h"

#include <stdlib.h>

#include "base/memory.h"

struct http_request *http_request_new(enum http_request_kind kind, const struct http_request_counts *counts)
{
    struct http_request *request = memory_new(1, sizeof(*request));
    request->kind = kind;
    request->counts = *counts;
    request->status = 500;
    request->content_type = "application/json";
    request->body = buffer_new(HTTP_REQUEST_BODY_MOST);
    return request;
}

void http_request_free(void *request)
{
    struct http_request *own = request;
    buffer_free(&own->body);
    free(own);
}
