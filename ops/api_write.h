/* One write of the API from its beginning to its answer: what schedule, cancel and steering have in common. Worker threads of API_WRITERS. */
#ifndef TARRY_OPS_API_WRITE_H
#define TARRY_OPS_API_WRITE_H

#include "ops/api.h"
#include "ops/api_idempotency.h"
#include "ops/api_question.h"

#define API_WRITE_LEAST_MS 2000  /* no write begins with less left */
#define API_WRITE_READ_MS 10000  /* for the owner to have read it */
#define API_WRITE_ANSWER_MS 300  /* for the answer itself */

struct api_write {
    struct http_request *request;
    struct api *api;
    const char *action; /* static: "schedule", ... */
    const char *what;   /* static: "id" or "target" */
    struct span subject;
    const char *result; /* static; of the audit. NULL: as the status says */
    char word[API_IDEMPOTENCY_NONCE_SIZE];
};

/* True when there is time for a write to begin; else answered with 503 `unavailable`. */
bool api_write_in_time(struct api_write *write);

/* 503 `unavailable`: nothing was written. */
void api_write_unavailable(struct api_write *write, const char *why);

/* 500 `unreadable`: what the checkpoint has of the event cannot be read, so nothing was written. */
void api_write_unreadable(struct api_write *write, const char *why);

/* A problem whose code is the audit's result. */
void api_write_problem(struct api_write *write, unsigned status, const char *code, const char *title, const char *detail, struct cJSON *members);

/* 422 `refused`, with the reason and decode's own words. `offset` of the record that is read as refused: -1: it was not written. */
void api_write_refused(struct api_write *write, const struct refusal *refusal, int64_t offset);

/* A random word by which a record is known again (32 hexadecimal digits). */
void api_write_random_word(char word[API_IDEMPOTENCY_NONCE_SIZE]);

/* The moment by which Kafka must have said something. */
struct mono_ms api_write_send_deadline(const struct api_write *write);

/* Waits for the watch; what is known then is in it. */
void api_write_wait(struct api_write *write, struct request_watch *watch);

/* Has the owner wait for what is about to be written. True: begin->result is BEGUN, THERE or REFUSED. False: answered. */
bool api_write_begin(struct api_write *write, const struct api_question_write *question, struct api_question_begin *begin);

/* The audit's entry; the last call. */
void api_write_end(struct api_write *write);

#endif
