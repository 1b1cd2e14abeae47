/* See http_route.h. */
#include "ops/http_route.h"

#include <stdio.h>
#include <string.h>

/* Where the segment ends that begins at `text`. */
static size_t segment_length(const char *text)
{
    return strcspn(text, "/");
}

static bool is_dots(const char *text, size_t length)
{
    return (length == 1 && text[0] == '.') || (length == 2 && text[0] == '.' && text[1] == '.');
}

/* `parameter` is absent for a pattern without one. */
static bool matches(const char *pattern, const char *path, struct span *parameter)
{
    *parameter = SPAN_ABSENT;
    for (;;) {
        size_t wanted = segment_length(pattern);
        size_t given = segment_length(path);
        if (pattern[0] == '{') {
            *parameter = (struct span){(const uint8_t *)path, given};
            if (given == 0 || is_dots(path, given)) {
                return false;
            }
        } else if (wanted != given || memcmp(pattern, path, given) != 0) {
            return false;
        }
        pattern += wanted;
        path += given;
        if (*pattern == '\0' || *path == '\0') {
            return *pattern == *path;
        }
        pattern++;
        path++;
    }
}

static bool answers(const struct http_route *route, enum metrics_method method)
{
    return route->method == method || (route->method == METRICS_METHOD_GET && method == METRICS_METHOD_HEAD);
}

/* The path of the first match decides: a row with a parameter does not stand in for a method that the row without one lacks. */
enum http_route_match http_route_find(const char *path, enum metrics_method method, const struct http_route **route, struct span *parameter)
{
    size_t count;
    const struct http_route *routes = http_route_all(&count);
    const struct http_route *same_path = NULL;
    for (size_t i = 0; i < count; i++) {
        if (same_path != NULL ? strcmp(routes[i].path, same_path->path) != 0 : !matches(routes[i].path, path, parameter)) {
            continue;
        }
        same_path = &routes[i];
        if (answers(&routes[i], method)) {
            *route = &routes[i];
            return HTTP_ROUTE_FOUND;
        }
    }
    if (same_path == NULL) {
        return HTTP_ROUTE_NO_PATH;
    }
    *route = same_path;
    return HTTP_ROUTE_NO_METHOD;
}

static const char *const method_names[METRICS_METHOD_OTHER] = {
    [METRICS_METHOD_GET] = "GET", [METRICS_METHOD_HEAD] = "HEAD",     [METRICS_METHOD_POST] = "POST",
    [METRICS_METHOD_PUT] = "PUT", [METRICS_METHOD_DELETE] = "DELETE", [METRICS_METHOD_OPTIONS] = "OPTIONS"};

void http_route_allow(const struct http_route *route, char *text, size_t size)
{
    size_t count;
    size_t used = 0;
    const struct http_route *routes = http_route_all(&count);
    text[0] = '\0';
    for (size_t i = 0; i < count; i++) {
        if (strcmp(routes[i].path, route->path) != 0 || used >= size) {
            continue;
        }
        int length = snprintf(text + used, size - used, "%s%s%s", used == 0 ? "" : ", ", method_names[routes[i].method],
                              routes[i].method == METRICS_METHOD_GET ? ", HEAD" : "");
        used += length > 0 ? (size_t)length : 0;
    }
}

bool http_route_guarded(const char *path)
{
    return strncmp(path, "/api/", 5) == 0;
}

enum metrics_method http_route_method(const char *name)
{
    for (size_t i = 0; i < METRICS_METHOD_OTHER; i++) {
        if (strcmp(method_names[i], name) == 0) {
            return (enum metrics_method)i;
        }
    }
    return METRICS_METHOD_OTHER;
}

enum metrics_status http_route_status(unsigned status)
{
    static const unsigned codes[METRICS_STATUSES] = {
        [METRICS_STATUS_200] = 200, [METRICS_STATUS_201] = 201, [METRICS_STATUS_202] = 202, [METRICS_STATUS_400] = 400,
        [METRICS_STATUS_401] = 401, [METRICS_STATUS_403] = 403, [METRICS_STATUS_404] = 404, [METRICS_STATUS_405] = 405,
        [METRICS_STATUS_409] = 409, [METRICS_STATUS_413] = 413, [METRICS_STATUS_415] = 415, [METRICS_STATUS_421] = 421,
        [METRICS_STATUS_422] = 422, [METRICS_STATUS_500] = 500, [METRICS_STATUS_502] = 502, [METRICS_STATUS_503] = 503,
        [METRICS_STATUS_504] = 504};
    for (size_t i = 0; i < METRICS_STATUSES; i++) {
        if (codes[i] == status) {
            return (enum metrics_status)i;
        }
    }
    return METRICS_STATUS_500;
}
