/* Prints the server's table of routes, "METHOD PATH ACCESS" a line, for check_routes.py. */
#include <stdio.h>

#include "ops/http_route.h"

int main(void)
{
    static const char *const methods[METRICS_METHODS] = {
        [METRICS_METHOD_GET] = "GET", [METRICS_METHOD_HEAD] = "HEAD",     [METRICS_METHOD_POST] = "POST",
        [METRICS_METHOD_PUT] = "PUT", [METRICS_METHOD_DELETE] = "DELETE", [METRICS_METHOD_OPTIONS] = "OPTIONS"};
    static const char *const access[] = {[HTTP_ACCESS_OPEN] = "open", [HTTP_ACCESS_READ] = "read", [HTTP_ACCESS_WRITE] = "write"};
    size_t count;
    const struct http_route *routes = http_route_all(&count);
    for (size_t i = 0; i < count; i++) {
        printf("%s %s %s\n", methods[routes[i].method], routes[i].path, access[routes[i].access]);
    }
    return 0;
}
