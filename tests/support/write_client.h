/* Asking tarry by HTTP to change something, in tests: one request, its status, its JSON. What is no answer fails the running cmocka test, but for write_client_try. */
#ifndef TARRY_TESTS_SUPPORT_WRITE_CLIENT_H
#define TARRY_TESTS_SUPPORT_WRITE_CLIENT_H

#include <stdbool.h>
#include <stdint.h>

struct cJSON;

struct write_client_answer {
    int status; /* 0: none */
    struct cJSON *document; /* NULL: no answer */
    int64_t took_ms;
};

/* body: NULL for none. key: of the Idempotency-Key; NULL: none. Any thread. Free it. */
struct write_client_answer write_client_try(int port, const char *method, const char *path, const char *key, const char *body);

/* The same; it must be answered, with `status`, and where that is an error with this code (else `result` is compared; NULL: neither). */
struct write_client_answer write_client_expect(int port, const char *method, const char *path, const char *body, int status, const char *said);

/* As write_client_expect, freed at once. */
void write_client_check(int port, const char *method, const char *path, const char *body, int status, const char *said);

/* A member, "a.b" of an object in an object; NULL (or -1): it is not there or of another kind. Borrowed. */
const char *write_client_text(const struct write_client_answer *answer, const char *name);
double write_client_number(const struct write_client_answer *answer, const char *name);

void write_client_free(struct write_client_answer *answer);

#endif
