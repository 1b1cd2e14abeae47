/*
 * One request as the handlers see it, and the room for its answer.
 *
 * It belongs to one side at a time (ops/mailbox.h): to the HTTP thread until it is posted, then to whoever answers it, the owner or a worker
 * (ops/http_route.h says which), then to the HTTP thread again.
 */
#ifndef TARRY_OPS_HTTP_REQUEST_H
#define TARRY_OPS_HTTP_REQUEST_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buffer.h"
#include "base/span.h"
#include "base/time_types.h"
#include "ops/metrics.h"
#include "ops/owner_call.h"

#define HTTP_REQUEST_BODY_MOST ((size_t)64 * 1024 * 1024) /* of an answer */
#define HTTP_REQUEST_UPLOAD_MOST ((size_t)2 * 1024 * 1024) /* of a request: 413 beyond */
#define HTTP_REQUEST_QUERY_MOST 32                         /* parameters: 400 beyond */
#define HTTP_REQUEST_KEY_MOST 255                          /* bytes of an Idempotency-Key */
#define HTTP_REQUEST_ACTOR_SIZE 96

struct http_route;

/* The HTTP thread's own totals; they travel with each request, so that the owner can expose them without a lock. */
struct http_request_counts {
    uint64_t answered[METRICS_METHODS][METRICS_STATUSES];
};

struct http_request_pair {
    struct span name; /* percent-decoded; any bytes */
    struct span value;
};

struct http_request {
    struct owner_call call; /* first: the mailbox's payload is an owner_call */
    const struct http_route *route;
    struct http_request_counts counts;
    /* The request. Spans borrow from `text`, which the request owns: */
    char *text;
    struct span parameter; /* what stands for {id} or {name} in the route's path, percent-decoded; absent: the path has none */
    struct http_request_pair query[HTTP_REQUEST_QUERY_MOST];
    size_t query_count;
    struct span idempotency_key; /* absent: none was sent */
    struct buffer upload;        /* the body; empty: none */
    struct mono_ms deadline;     /* the client is told 503 or 504 then: no write begins later, and all waits end by it */
    char actor[HTTP_REQUEST_ACTOR_SIZE]; /* who asks, for the audit: "token", "uid 1000", "loopback". Never a secret */
    /* The answer: */
    unsigned status;           /* one of those of http_route_status; 500 until it is set */
    const char *content_type;  /* static */
    const char *allow_retry_s; /* static text for Retry-After; NULL: none */
    struct buffer body;
};

/* Never NULL; text, upload and body are empty. `run` is called by whoever takes it from a mailbox. */
struct http_request *http_request_new(const struct http_route *route, const struct http_request_counts *counts);

/* A mailbox_free_fn. Wipes nothing: a token never gets in here. */
void http_request_free(void *request);

/* The first value of a query parameter; absent: it was not given. Pure, O(parameters). */
struct span http_request_query(const struct http_request *request, const char *name);

#endif
