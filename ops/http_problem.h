/* Errors as problem+json (RFC 9457), with codes that stay. A closed set of fixed texts, so nothing of a request is
 * echoed. Pure. */
#ifndef TARRY_OPS_HTTP_PROBLEM_H
#define TARRY_OPS_HTTP_PROBLEM_H

#include "base/buffer.h"

enum http_problem {
    HTTP_PROBLEM_NOT_FOUND,          /* 404 "not_found" */
    HTTP_PROBLEM_METHOD_NOT_ALLOWED, /* 405 "method_not_allowed" */
    HTTP_PROBLEM_UNAUTHORIZED,       /* 401 "unauthorized" */
    HTTP_PROBLEM_HOST_NOT_ALLOWED,   /* 403 "host_not_allowed" */
    HTTP_PROBLEM_ORIGIN_NOT_ALLOWED, /* 403 "origin_not_allowed" */
    HTTP_PROBLEM_MEDIA_TYPE,         /* 415 "unsupported_media_type" */
    HTTP_PROBLEM_UPLOAD_TOO_LARGE,   /* 413 "payload_too_large" */
    HTTP_PROBLEM_BAD_FRAMING,        /* 400 "bad_body" */
    HTTP_PROBLEM_BAD_PERCENT,        /* 400 "bad_parameter" */
    HTTP_PROBLEM_TOO_MANY_PARAMETERS,/* 400 "bad_parameter" */
    HTTP_PROBLEM_BAD_KEY,            /* 400 "bad_parameter": of Idempotency-Key */
    HTTP_PROBLEM_NO_ANSWER,          /* 503 "scheduler_not_answering" */
    HTTP_PROBLEM_BUSY,               /* 503 "too_many_requests_waiting" */
    HTTP_PROBLEM_TOO_MANY_READERS,   /* 503 "too_many_requests_waiting": of events */
    HTTP_PROBLEM_STOPPING,           /* 503 "stopping" */
    HTTP_PROBLEM_UNKNOWN_OUTCOME,    /* 504 "unknown_outcome": of a write */
    HTTP_PROBLEM_TOO_LARGE,          /* 500 "answer_too_large" */
    HTTP_PROBLEMS,
};

#define HTTP_PROBLEM_CONTENT_TYPE "application/problem+json"
#define HTTP_PROBLEM_LIVE_TEXT "{\"status\":\"UP\"}\n" /* the one answer that is no problem */

unsigned http_problem_status(enum http_problem problem);

/* Its code: static. */
const char *http_problem_code(enum http_problem problem);

/* Adds {"type":"about:blank","title","status","code","detail"}. */
void http_problem_json(enum http_problem problem, struct buffer *buffer);

#endif
