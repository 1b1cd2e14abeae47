/* Answers: see http_reply.h. */
#include "ops/http_reply.h"

#include <microhttpd.h>

#include "base/buffer.h"

#define PROBLEM_MOST 1024

struct header {
    const char *name;
    const char *value;
};

/* Nothing here is a page: no browser shall guess, frame, keep or share it. */
static const struct header common[] = {
    {"Cache-Control", "no-store"},      {"X-Content-Type-Options", "nosniff"},
    {"X-Frame-Options", "DENY"},        {"Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'"},
    {"Referrer-Policy", "no-referrer"}, {"Cross-Origin-Resource-Policy", "same-origin"},
};

static bool send_with(struct MHD_Connection *connection,
                      unsigned status,
                      const char *content_type,
                      struct span body,
                      const struct header *extra)
{
    /* MUST_COPY: the library never writes to it, whatever its prototype says. */
    union {
        const uint8_t *given;
        void *taken;
    } bytes = {.given = body.data};
    struct MHD_Response *response = MHD_create_response_from_buffer(body.length, bytes.taken, MHD_RESPMEM_MUST_COPY);
    if (response == NULL) {
        return false;
    }
    bool done = MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, content_type) == MHD_YES;
    for (size_t i = 0; done && i < sizeof(common) / sizeof(common[0]); i++) {
        done = MHD_add_response_header(response, common[i].name, common[i].value) == MHD_YES;
    }
    if (done && extra != NULL) {
        done = MHD_add_response_header(response, extra->name, extra->value) == MHD_YES;
    }
    done = done && MHD_queue_response(connection, status, response) == MHD_YES;
    MHD_destroy_response(response);
    return done;
}

bool http_reply_send(struct MHD_Connection *connection, unsigned status, const char *content_type, struct span body)
{
    return send_with(connection, status, content_type, body, NULL);
}

bool http_reply_problem(struct MHD_Connection *connection, enum http_problem problem)
{
    static const struct header allow = {"Allow", "GET, HEAD"};
    static const struct header challenge = {"WWW-Authenticate", "Bearer realm=\"tarry\""};
    const struct header *extra = NULL;
    if (problem == HTTP_PROBLEM_METHOD_NOT_ALLOWED) {
        extra = &allow;
    } else if (problem == HTTP_PROBLEM_UNAUTHORIZED) {
        extra = &challenge;
    }
    struct buffer body = buffer_new(PROBLEM_MOST);
    http_problem_json(problem, &body);
    bool done =
        send_with(connection, http_problem_status(problem), HTTP_PROBLEM_CONTENT_TYPE, buffer_span(&body), extra);
    buffer_free(&body);
    return done;
}
