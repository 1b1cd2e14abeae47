/* What the HTTP thread asks the owner through the mailbox, and the room for the answer. */
#ifndef TARRY_OPS_HTTP_REQUEST_H
#define TARRY_OPS_HTTP_REQUEST_H

#include <stdint.h>

#include "base/buffer.h"
#include "ops/metrics.h"

enum http_request_kind {
    HTTP_REQUEST_LIVE,
    HTTP_REQUEST_READY,
    HTTP_REQUEST_HEALTH,
    HTTP_REQUEST_METRICS,
    HTTP_REQUEST_INFO,
    HTTP_REQUEST_CONFIG,
};

#define HTTP_REQUEST_BODY_MOST ((size_t)64 * 1024 * 1024)

/* The HTTP thread's own totals; they travel with each request, so that the owner can expose them without a lock. */
struct http_request_counts {
    uint64_t answered[METRICS_METHODS][METRICS_STATUSES];
};

struct http_request {
    enum http_request_kind kind;
    struct http_request_counts counts;
    /* The answer: */
    unsigned status;          /* 200, 404, 500 or 503 */
    const char *content_type; /* static */
    struct buffer body;
};

/* Never NULL. */
struct http_request *http_request_new(enum http_request_kind kind, const struct http_request_counts *counts);

/* A mailbox_free_fn. */
void http_request_free(void *request);

#endif
