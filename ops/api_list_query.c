/* See api_list_query.h. */
#include "ops/api_list_query.h"

#include <stdio.h>

#include "base/text.h"

#define SHOWN 96
#define WORDS 512

static bool refuse(struct http_request *request, const char *name, struct span value, const char *expected)
{
    char shown[SHOWN];
    (void)text_printable(value, shown, sizeof(shown));
    api_answer_problem(request, 400, "bad_parameter", "Bad Request", "%s: \"%s\" is not %s", name, shown, expected);
    return false;
}

static bool read_source(struct http_request *request, const struct api *api, struct api_list_query *query)
{
    char words[WORDS] = "";
    char expected[WORDS + 64];
    size_t used = 0;
    query->filter.source = http_request_query(request, "source");
    for (size_t i = 0; i < api->source_count; i++) {
        if (span_equals_text(query->filter.source, api->sources[i].topic)) {
            return true;
        }
        int length = used < sizeof(words) ? snprintf(words + used, sizeof(words) - used, "%s%s", i == 0 ? "" : ", ", api->sources[i].topic) : 0;
        used += length > 0 ? (size_t)length : 0;
    }
    if (query->filter.source.data == NULL) {
        return true;
    }
    (void)snprintf(expected, sizeof(expected), "the topic of a source; there are: %s", words);
    return refuse(request, "source", query->filter.source, expected);
}

static bool read_numbers(struct http_request *request, struct api_list_query *query)
{
    int64_t partition;
    int64_t limit;
    if (!api_parameter_number(request, "partition", 0, INT32_MAX, -1, &partition) ||
        !api_parameter_number(request, "limit", 1, API_LIST_QUERY_LIMIT_MOST, API_LIST_QUERY_LIMIT_USUAL, &limit)) {
        return false;
    }
    query->filter.partition = (int32_t)partition;
    query->limit = (size_t)limit;
    return true;
}

static bool read_times(struct http_request *request, int64_t now_ms, struct api_list_query *query)
{
    struct api_list_filter *filter = &query->filter;
    bool from;
    bool to;
    if (!api_parameter_time(request, "due_from", now_ms, &from, &filter->due_from_ms) ||
        !api_parameter_time(request, "due_to", now_ms, &to, &filter->due_to_ms)) {
        return false;
    }
    filter->has_due = from || to;
    return true;
}

static bool read_choices(struct http_request *request, struct api_list_query *query)
{
    static const char *const states[] = {"pending", "paused", "undecided", NULL};
    static const char *const answers[] = {"false", "true", NULL};
    static const enum api_list_state meant[] = {API_LIST_STATE_PENDING, API_LIST_STATE_PAUSED, API_LIST_STATE_UNDECIDED};
    int state;
    int payload;
    if (!api_parameter_choice(request, "state", states, &state) || !api_parameter_choice(request, "payload", answers, &payload)) {
        return false;
    }
    query->filter.state = state < 0 ? API_LIST_STATE_ANY : meant[state];
    query->payload = payload == 1;
    return true;
}

static bool read_cursor(struct http_request *request, struct api_list_query *query)
{
    struct span cursor = http_request_query(request, "cursor");
    query->after = API_LIST_CURSOR_BEGIN;
    return cursor.data == NULL || api_list_cursor_read(cursor, &query->after) ||
           refuse(request, "cursor", cursor, "a next_cursor of an earlier answer: leave it out to begin anew");
}

bool api_list_query_read(struct http_request *request, const struct api *api, bool schedules, int64_t now_ms, struct api_list_query *query)
{
    static const char *const known[] = {"source", "partition", "target", "lane", "id_prefix", "due_from", "due_to", "state", "limit", "cursor", "payload", NULL};
    *query = (struct api_list_query){.filter = api_list_filter_all(schedules)};
    if (!api_parameter_known(request, known) || !read_source(request, api, query) || !read_numbers(request, query) ||
        !read_times(request, now_ms, query) || !read_choices(request, query) || !read_cursor(request, query)) {
        return false;
    }
    query->filter.target = http_request_query(request, "target");
    query->filter.lane = http_request_query(request, "lane");
    query->filter.id_prefix = http_request_query(request, "id_prefix");
    return true;
}
