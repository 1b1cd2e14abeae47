/* Answers handed to libmicrohttpd. HTTP thread. Used by http*.c only. */
#ifndef TARRY_OPS_HTTP_REPLY_H
#define TARRY_OPS_HTTP_REPLY_H

#include <stdbool.h>

#include "base/buffer.h"
#include "ops/http_problem.h"

struct MHD_Connection;

/* What an answer says besides its body. Texts are borrowed for the call; NULL: no such header. */
struct http_reply {
    unsigned status;
    const char *content_type;
    const char *allow;
    const char *retry_after;
    bool challenge; /* WWW-Authenticate */
};

/* Queues an answer with the headers that every answer bears. Takes over the bytes of `body`, which is empty afterwards. False: no memory, the connection has to be closed. */
bool http_reply_send(struct MHD_Connection *connection, const struct http_reply *reply, struct buffer *body);

/* Queues a problem; `allow`: of HTTP_PROBLEM_METHOD_NOT_ALLOWED, else NULL. */
bool http_reply_problem(struct MHD_Connection *connection, enum http_problem problem, const char *allow);

struct MHD_Response;

/* Queues an answer whose body is made otherwise; takes over the response (NULL: there was no memory). */
bool http_reply_response(struct MHD_Connection *connection, const struct http_reply *reply, struct MHD_Response *response);

#endif
