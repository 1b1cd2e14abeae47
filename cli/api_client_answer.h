/* What a daemon answered, and what that means: an exit code and words. Pure. */
#ifndef TARRY_CLI_API_CLIENT_ANSWER_H
#define TARRY_CLI_API_CLIENT_ANSWER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buffer.h"

#define API_CLIENT_ANSWER_MAX ((size_t)64 * 1024 * 1024)
#define API_CLIENT_ANSWER_MESSAGE_SIZE 1024

struct cJSON;

struct api_client_answer {
    int code;           /* VERBS_EXIT_... */
    long status;        /* of HTTP; 0: there was no answer */
    struct buffer body; /* as it came */
    struct cJSON *json; /* the object; NULL: it is none */
    char message[API_CLIENT_ANSWER_MESSAGE_SIZE]; /* printable, without a line end; "" with code 0 */
};

struct api_client_answer api_client_answer_new(void);
/* Without body, status and json again. */
void api_client_answer_clear(struct api_client_answer *answer);
void api_client_answer_free(struct api_client_answer *answer);

/* Reads body and status, sets json, code and message. `shown`: who answered. */
void api_client_answer_judge(struct api_client_answer *answer, const char *shown);

/* Sets code and message (made printable). */
void api_client_answer_set(struct api_client_answer *answer, int code, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* The `code` of a problem; "" when it is none. Borrowed. */
const char *api_client_answer_problem(const struct api_client_answer *answer);

/* Members of objects, with no surprise: a text, "" or -1 or false when it is absent or of another kind. Borrowed. */
const char *api_client_answer_text(const struct cJSON *object, const char *name);
double api_client_answer_number(const struct cJSON *object, const char *name, double otherwise);
bool api_client_answer_true(const struct cJSON *object, const char *name);
const struct cJSON *api_client_answer_member(const struct cJSON *object, const char *name);

/* As a whole number; `otherwise` when it is absent, or beyond 2^53. */
int64_t api_client_answer_whole(const struct cJSON *object, const char *name, int64_t otherwise);

/* Appends the bytes of a member that may be base64 ("<name>_encoding"). False: it is absent, null, or no such thing. */
bool api_client_answer_bytes(const struct cJSON *object, const char *name, struct buffer *bytes);

#endif
