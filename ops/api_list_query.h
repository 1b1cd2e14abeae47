/* What a request for a list asks for. Worker threads. */
#ifndef TARRY_OPS_API_LIST_QUERY_H
#define TARRY_OPS_API_LIST_QUERY_H

#include "ops/api.h"
#include "ops/api_list_cursor.h"
#include "ops/api_list_filter.h"

#define API_LIST_QUERY_LIMIT_MOST 1000
#define API_LIST_QUERY_LIMIT_USUAL 50

struct api_list_query {
    struct api_list_filter filter; /* its spans borrow from the request */
    struct api_list_cursor after;
    size_t limit;
    bool payload;
};

/* False: the request is answered with 400 `bad_parameter`, which names the parameter, what was given and what is expected. */
bool api_list_query_read(struct http_request *request, const struct api *api, bool schedules, int64_t now_ms, struct api_list_query *query);

#endif
