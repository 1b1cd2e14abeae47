/* Answers: see http_reply.h. */
#include "ops/http_reply.h"

#include <microhttpd.h>

#define PROBLEM_MOST 1024

struct header {
    const char *name;
    const char *value;
};

/* Nothing here is a page: no browser shall guess, frame, keep or share it. There is no header of CORS: pages of other sites read nothing. */
static const struct header common[] = {
    {"Cache-Control", "no-store"},      {"X-Content-Type-Options", "nosniff"},
    {"X-Frame-Options", "DENY"},        {"Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'"},
    {"Referrer-Policy", "no-referrer"}, {"Cross-Origin-Resource-Policy", "same-origin"},
};

static bool add(struct MHD_Response *response, const char *name, const char *value)
{
    return value == NULL || MHD_add_response_header(response, name, value) == MHD_YES;
}

bool http_reply_response(struct MHD_Connection *connection, const struct http_reply *reply, struct MHD_Response *response)
{
    if (response == NULL) {
        return false;
    }
    bool done = add(response, MHD_HTTP_HEADER_CONTENT_TYPE, reply->content_type) && add(response, MHD_HTTP_HEADER_ALLOW, reply->allow) &&
                add(response, MHD_HTTP_HEADER_RETRY_AFTER, reply->retry_after) &&
                add(response, MHD_HTTP_HEADER_WWW_AUTHENTICATE, reply->challenge ? "Bearer realm=\"tarry\"" : NULL);
    for (size_t i = 0; done && i < sizeof(common) / sizeof(common[0]); i++) {
        done = add(response, common[i].name, common[i].value);
    }
    done = done && MHD_queue_response(connection, reply->status, response) == MHD_YES;
    MHD_destroy_response(response);
    return done;
}

bool http_reply_send(struct MHD_Connection *connection, const struct http_reply *reply, struct buffer *body)
{
    struct MHD_Response *response = MHD_create_response_from_buffer(body->length, body->data, MHD_RESPMEM_MUST_FREE);
    if (response != NULL) {
        *body = buffer_new(body->most); /* the response frees the bytes */
    }
    return http_reply_response(connection, reply, response);
}

bool http_reply_problem(struct MHD_Connection *connection, enum http_problem problem, const char *allow)
{
    struct buffer body = buffer_new(PROBLEM_MOST);
    http_problem_json(problem, &body);
    bool again = problem == HTTP_PROBLEM_BUSY || problem == HTTP_PROBLEM_TOO_MANY_READERS || problem == HTTP_PROBLEM_STOPPING;
    const struct http_reply reply = {.status = http_problem_status(problem),
                                     .content_type = HTTP_PROBLEM_CONTENT_TYPE,
                                     .allow = allow,
                                     .retry_after = again ? "1" : NULL,
                                     .challenge = problem == HTTP_PROBLEM_UNAUTHORIZED};
    bool done = http_reply_send(connection, &reply, &body);
    buffer_free(&body);
    return done;
}
