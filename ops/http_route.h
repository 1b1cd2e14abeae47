/*
 * Which paths there are, who may ask for them, and who answers: one table, from which routing, `Allow` and the test that holds docs/openapi.yaml
 * against the server are made. Pure.
 */
#ifndef TARRY_OPS_HTTP_ROUTE_H
#define TARRY_OPS_HTTP_ROUTE_H

#include <stdbool.h>

#include "ops/http_request.h"

struct api;

enum http_access {
    HTTP_ACCESS_OPEN,  /* no token: health and metrics */
    HTTP_ACCESS_READ,  /* token, where one is set; Host checked on loopback */
    HTTP_ACCESS_WRITE, /* that, and no foreign Origin, and a body that is application/json */
};

enum http_answerer {
    HTTP_ANSWERER_OWNER,  /* within one turn */
    HTTP_ANSWERER_READER, /* workers (ops/api.h), which may wait: for the disk and the owner, */
    HTTP_ANSWERER_WRITER, /* for Kafka too, */
    HTTP_ANSWERER_LETTERS, /* for JetStream */
    HTTP_ANSWERER_STREAM, /* server-sent events: the HTTP thread itself, from ops/event_feed.h */
};

struct http_route {
    enum metrics_method method; /* GET answers HEAD, too */
    const char *path;           /* "/api/v1/messages/{id}": one {parameter} at most, which may be any segment. Static */
    enum http_access access;
    enum http_answerer answerer;
    int wait_ms; /* how long the HTTP thread waits for the answer; 0: its usual time */
    void (*owner)(struct http_request *request, const struct http_owner_view *view); /* of HTTP_ANSWERER_OWNER */
    void (*worker)(struct http_request *request, struct api *api);                   /* of the three kinds of workers */
    const char *meaning; /* one line, for docs/http.md */
};

/* All of them (http_route_table.c). */
const struct http_route *http_route_all(size_t *count);

enum http_route_match { HTTP_ROUTE_FOUND, HTTP_ROUTE_NO_PATH, HTTP_ROUTE_NO_METHOD };

/* The route of a raw path (still percent-encoded, without the query) and method, and its parameter, still encoded. Nothing is normalised: "//", "/./" and "/../" match
 * nothing, and an encoded slash stays within its segment. HTTP_ROUTE_NO_METHOD: *route is one of the same path. */
enum http_route_match http_route_find(const char *path, enum metrics_method method, const struct http_route **route, struct span *parameter);

/* "GET, HEAD, POST": the methods of the path of `route`, into text. */
void http_route_allow(const struct http_route *route, char *text, size_t size);

/* True for paths under /api/, also unknown ones: token and Host are checked there, before anything is said about what
 * exists. */
bool http_route_guarded(const char *path);

/* The label index of a method's name; METRICS_METHOD_OTHER for what is none of the known. */
enum metrics_method http_route_method(const char *name);

/* The label index of a status that we answer with. */
enum metrics_status http_route_status(unsigned status);

#endif
