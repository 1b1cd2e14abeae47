/* See api_steer_time.h. */
#include "ops/api_steer_time.h"

#include <cjson/cJSON.h>

#include "bridge/delay_text.h"
#include "bridge/due.h"
#include "bridge/time_text.h"
#include "ops/api.h"
#include "ops/clock.h"

#define WHOLE_MOST 9007199254740991.0 /* JSON's numbers are exact so far */

bool api_steer_time_none(struct http_request *request)
{
    static const char *const none[] = {NULL};
    struct cJSON *body = request->upload.length == 0 ? NULL : api_parameter_body(request, none);
    bool empty = request->upload.length == 0 || body != NULL;
    cJSON_Delete(body);
    return empty;
}

static bool bad_time(struct http_request *request, const char *member, const char *expected)
{
    api_answer_problem(request, 400, "bad_body", "Bad Request", "%s: give %s", member, expected);
    return false;
}

static bool read_at(struct http_request *request, const struct cJSON *at, int64_t *due_ms)
{
    const char *text = cJSON_GetStringValue(at);
    bool number = cJSON_IsNumber(at) && at->valuedouble > 0 && at->valuedouble <= WHOLE_MOST && at->valuedouble == (double)(int64_t)at->valuedouble;
    if (number) {
        *due_ms = (int64_t)at->valuedouble;
    }
    if (!number && (text == NULL || (!time_text_parse(span_of_text(text), due_ms) && decimal_parse(span_of_text(text), due_ms) != DECIMAL_READ))) {
        return bad_time(request, "at", "a time with its zone (2027-01-31T09:00:00Z), or milliseconds since 1970");
    }
    if (*due_ms < DUE_LEAST_MS || *due_ms >= TIME_TEXT_LAST_MS) {
        return bad_time(request, "at", "milliseconds, not seconds, since 1970, and a year up to 9999");
    }
    return true;
}

static bool read_in(struct http_request *request, const struct cJSON *in, int64_t *due_ms)
{
    const char *text = cJSON_GetStringValue(in);
    int64_t delay_ms = -1;
    if (cJSON_IsNumber(in) && in->valuedouble >= 0 && in->valuedouble <= WHOLE_MOST && in->valuedouble == (double)(int64_t)in->valuedouble) {
        delay_ms = (int64_t)in->valuedouble;
    } else if (text != NULL && delay_text_parse(span_of_text(text), &delay_ms) != DECIMAL_READ) {
        delay_ms = -1;
    }
    if (delay_ms < 0) {
        return bad_time(request, "in", "how long from now: 10m, 1h30m, or milliseconds");
    }
    int64_t now_ms = clock_wall().ms;
    if (delay_ms >= TIME_TEXT_LAST_MS - now_ms) {
        return bad_time(request, "in", "less: it would be after the year 9999");
    }
    *due_ms = now_ms + delay_ms;
    return true;
}

bool api_steer_time_read(struct http_request *request, int64_t *due_ms)
{
    static const char *const members[] = {"at", "in", NULL};
    struct cJSON *body = api_parameter_body(request, members);
    if (body == NULL) {
        return false;
    }
    const struct cJSON *at = cJSON_GetObjectItemCaseSensitive(body, "at");
    const struct cJSON *in = cJSON_GetObjectItemCaseSensitive(body, "in");
    bool done = (at == NULL) == (in == NULL) ? bad_time(request, "at, in", "one of them: a time, or how long from now")
                : at != NULL                 ? read_at(request, at, due_ms)
                                             : read_in(request, in, due_ms);
    cJSON_Delete(body);
    return done;
}
