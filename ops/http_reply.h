/* Answers handed to libmicrohttpd. HTTP thread. Used by http*.c only. */
#ifndef TARRY_OPS_HTTP_REPLY_H
#define TARRY_OPS_HTTP_REPLY_H

#include <stdbool.h>

#include "base/span.h"
#include "ops/http_problem.h"

struct MHD_Connection;

/* Queues an answer with the headers that every answer bears. `body` is copied. False: no memory, the connection has to
 * be closed. */
bool http_reply_send(struct MHD_Connection *connection, unsigned status, const char *content_type, struct span body);

/* Queues a problem, with Allow or WWW-Authenticate where they belong. */
bool http_reply_problem(struct MHD_Connection *connection, enum http_problem problem);

#endif
