/* Which paths there are, and who may ask for them. Pure. */
#ifndef TARRY_OPS_HTTP_ROUTE_H
#define TARRY_OPS_HTTP_ROUTE_H

#include <stdbool.h>

#include "ops/http_request.h"

struct http_route {
    const char *path;
    enum http_request_kind kind;
};

/* The route of an exact path, or NULL. */
const struct http_route *http_route_find(const char *path);

/* True for paths under /api/, also unknown ones: token and Host are checked there, before anything is said about what
 * exists. */
bool http_route_guarded(const char *path);

/* The label index of a method's name; METRICS_METHOD_OTHER for what is none of the known. */
enum metrics_method http_route_method(const char *name);

/* The label index of a status that we answer with. */
enum metrics_status http_route_status(unsigned status);

#endif
