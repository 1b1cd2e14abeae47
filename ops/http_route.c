/* Routes: see http_route.h. */
#include "ops/http_route.h"

#include <string.h>

static const struct http_route routes[] = {
    {"/livez", HTTP_REQUEST_LIVE},       {"/healthz", HTTP_REQUEST_LIVE},         {"/readyz", HTTP_REQUEST_READY},
    {"/health", HTTP_REQUEST_HEALTH},    {"/status", HTTP_REQUEST_HEALTH},        {"/metrics", HTTP_REQUEST_METRICS},
    {"/api/v1/info", HTTP_REQUEST_INFO}, {"/api/v1/config", HTTP_REQUEST_CONFIG},
};

const struct http_route *http_route_find(const char *path)
{
    for (size_t i = 0; i < sizeof(routes) / sizeof(routes[0]); i++) {
        if (strcmp(routes[i].path, path) == 0) {
            return &routes[i];
        }
    }
    return NULL;
}

bool http_route_guarded(const char *path)
{
    return strncmp(path, "/api/", 5) == 0;
}

enum metrics_method http_route_method(const char *name)
{
    static const char *const names[METRICS_METHOD_OTHER] = {
        [METRICS_METHOD_GET] = "GET", [METRICS_METHOD_HEAD] = "HEAD",     [METRICS_METHOD_POST] = "POST",
        [METRICS_METHOD_PUT] = "PUT", [METRICS_METHOD_DELETE] = "DELETE", [METRICS_METHOD_OPTIONS] = "OPTIONS"};
    for (size_t i = 0; i < METRICS_METHOD_OTHER; i++) {
        if (strcmp(names[i], name) == 0) {
            return (enum metrics_method)i;
        }
    }
    return METRICS_METHOD_OTHER;
}

enum metrics_status http_route_status(unsigned status)
{
    static const unsigned codes[METRICS_STATUSES] = {
        [METRICS_STATUS_200] = 200, [METRICS_STATUS_401] = 401, [METRICS_STATUS_403] = 403, [METRICS_STATUS_404] = 404,
        [METRICS_STATUS_405] = 405, [METRICS_STATUS_500] = 500, [METRICS_STATUS_503] = 503};
    for (size_t i = 0; i < METRICS_STATUSES; i++) {
        if (codes[i] == status) {
            return (enum metrics_status)i;
        }
    }
    return METRICS_STATUS_500;
}
