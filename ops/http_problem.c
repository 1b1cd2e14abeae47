/* problem+json: see http_problem.h. */
#include "ops/http_problem.h"

#include <assert.h>

struct problem_row {
    unsigned status;
    const char *title;
    const char *code;
    const char *detail;
};

static const struct problem_row rows[HTTP_PROBLEMS] = {
    [HTTP_PROBLEM_NOT_FOUND] = {404, "Not Found", "not_found", "There is nothing at this path."},
    [HTTP_PROBLEM_METHOD_NOT_ALLOWED] = {405, "Method Not Allowed", "method_not_allowed",
                                         "This path answers the methods of the Allow header only."},
    [HTTP_PROBLEM_UNAUTHORIZED] = {401, "Unauthorized", "unauthorized",
                                   "Send the token of http.token_file as 'Authorization: Bearer TOKEN'."},
    [HTTP_PROBLEM_HOST_NOT_ALLOWED] =
        {403, "Forbidden", "host_not_allowed",
         "This server listens on loopback and answers here to localhost, 127.0.0.1 and [::1] only."},
    [HTTP_PROBLEM_ORIGIN_NOT_ALLOWED] = {403, "Forbidden", "origin_not_allowed",
                                         "Pages of other sites may not write here: Origin and Sec-Fetch-Site have to be those of this server, or absent."},
    [HTTP_PROBLEM_MEDIA_TYPE] = {415, "Unsupported Media Type", "unsupported_media_type",
                                 "Send 'Content-Type: application/json', with an empty body, too."},
    [HTTP_PROBLEM_UPLOAD_TOO_LARGE] = {413, "Content Too Large", "payload_too_large", "The body of a request has 2 MiB at most."},
    [HTTP_PROBLEM_BAD_FRAMING] = {400, "Bad Request", "bad_body", "Say once how long the body is, by Content-Length or 'Transfer-Encoding: chunked'; send Authorization, Content-Type, Origin, Sec-Fetch-Site and Idempotency-Key once, and no header's name with a blank."},
    [HTTP_PROBLEM_BAD_PERCENT] = {400, "Bad Request", "bad_parameter",
                                  "The path or the query has a percent sign that is not followed by two hexadecimal digits; write it as %25."},
    [HTTP_PROBLEM_TOO_MANY_PARAMETERS] = {400, "Bad Request", "bad_parameter", "The query has more than 32 parameters."},
    [HTTP_PROBLEM_BAD_KEY] = {400, "Bad Request", "bad_parameter", "Idempotency-Key has 1 to 255 bytes."},
    [HTTP_PROBLEM_UNKNOWN_OUTCOME] = {504, "Gateway Timeout", "unknown_outcome",
                                      "The request was not finished in time: whether it took effect is not known. Look before you repeat it, or repeat it with the "
                                      "same Idempotency-Key."},
    [HTTP_PROBLEM_NO_ANSWER] = {503, "Service Unavailable", "scheduler_not_answering",
                                "The scheduler did not answer in time."},
    [HTTP_PROBLEM_BUSY] = {503, "Service Unavailable", "too_many_requests_waiting",
                           "Too many requests wait for the scheduler; try again later."},
    [HTTP_PROBLEM_TOO_MANY_READERS] = {503, "Service Unavailable", "too_many_requests_waiting", "16 readers follow events already; try again when one has left."},
    [HTTP_PROBLEM_STOPPING] = {503, "Service Unavailable", "stopping", "The scheduler is stopping."},
    [HTTP_PROBLEM_TOO_LARGE] = {500, "Internal Server Error", "answer_too_large",
                                "The answer is larger than the server sends."},
};

unsigned http_problem_status(enum http_problem problem)
{
    assert(problem < HTTP_PROBLEMS);
    return rows[problem].status;
}

const char *http_problem_code(enum http_problem problem)
{
    assert(problem < HTTP_PROBLEMS);
    return rows[problem].code;
}

void http_problem_json(enum http_problem problem, struct buffer *buffer)
{
    assert(problem < HTTP_PROBLEMS);
    const struct problem_row *row = &rows[problem];
    buffer_add_format(buffer,
                      "{\"type\":\"about:blank\",\"title\":\"%s\",\"status\":%u,\"code\":\"%s\",\"detail\":\"%s\"}\n",
                      row->title, row->status, row->code, row->detail);
}
