/* The request target's percent-encoding: what a path's parameter and the query mean. Pure. */
#ifndef TARRY_OPS_HTTP_URI_H
#define TARRY_OPS_HTTP_URI_H

#include <stdbool.h>

#include "base/span.h"
#include "ops/http_request.h"

enum http_uri_result {
    HTTP_URI_READ,
    HTTP_URI_BAD_PERCENT, /* a % without two hexadecimal digits behind it */
    HTTP_URI_DOTS,        /* the parameter is "." or "..": nothing has such a name, and what proxies make of it is anybody's guess */
    HTTP_URI_TOO_MANY,    /* more than HTTP_REQUEST_QUERY_MOST parameters */
};

/* Decodes the parameter (absent: none) and the query (the text behind '?'; NULL: none) into request->text, parameter and query, and copies the Idempotency-Key (NULL: none), which is not
 * encoded. In a query '+' is a blank; a parameter without '=' has an empty value. request->text is NULL before. Anything but HTTP_URI_READ: 400. O(length). */
enum http_uri_result http_uri_read(struct http_request *request, struct span parameter, const char *query, const char *idempotency_key);

#endif
