/*
 * Whether a request may be made at all, looked at when its headers are there and before its body: who asks, from where, for what, and in which form.
 *
 * HTTP thread. Used by http*.c only.
 */
#ifndef TARRY_OPS_HTTP_ADMIT_H
#define TARRY_OPS_HTTP_ADMIT_H

#include <stdbool.h>

#include "ops/http_clients.h"
#include "ops/http_problem.h"
#include "ops/http_request.h"
#include "ops/http_route.h"

/* What is said of a request before its body. Texts are borrowed; NULL: no such header. */
struct http_admit_head {
    enum metrics_method method;
    const char *uri; /* as it was sent */
    const char *host;
    const char *authorization;
    const char *origin;
    const char *fetch_site; /* Sec-Fetch-Site */
    const char *content_type;
    const char *content_length;
    const char *idempotency_key;
    unsigned lengths; /* how often it is said how long the body is, by Content-Length and Transfer-Encoding: 0, there is none; more than once is never right */
    unsigned hosts;   /* headers Host */
    unsigned singles; /* a bit for each that was seen of those that come once */
    bool unclear;     /* a header's name has a blank, one that decides came twice, or the encoding of the body is not `chunked`: others may understand the request in another way */
};

/* Who may come in. */
struct http_admit_rules {
    const char *token; /* NULL: none is needed */
    bool loopback;
};

struct http_admit {
    bool admitted;
    enum http_problem problem;      /* of what is not admitted */
    const struct http_route *route; /* NULL: there is no such path */
    struct http_request *request;   /* of what is admitted; the caller's */
};

/* Counts one of the request's headers: lengths, hosts, singles, unclear. `value` may be NULL. */
void http_admit_header(struct http_admit_head *head, const char *name, const char *value);

/* `client` may be NULL: a connection of which nothing is known. Through the Unix socket neither Host nor token is asked for: its mode is the access. O(routes + length). */
struct http_admit http_admit(const struct http_admit_rules *rules,
                             const struct http_clients_client *client,
                             const struct http_admit_head *head,
                             const struct http_request_counts *counts);

#endif
