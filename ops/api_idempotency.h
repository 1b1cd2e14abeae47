/*
 * Idempotency-Key: the answers to the latest requests that had one, so that a repetition gets the same answer and nothing is written twice.
 *
 * In memory, and bounded: the oldest answers give way, never a request that is under way or of which it is not known whether it stands. What a restart forgets is looked for
 * among what is pending (api_schedule.c).
 */
#ifndef TARRY_OPS_API_IDEMPOTENCY_H
#define TARRY_OPS_API_IDEMPOTENCY_H

#include <stdbool.h>

#include "base/buffer.h"
#include "base/span.h"
#include "base/time_types.h"

#define API_IDEMPOTENCY_ANSWERS 10000
#define API_IDEMPOTENCY_BYTES ((size_t)32 << 20) /* of the answers kept */
#define API_IDEMPOTENCY_NONCE_SIZE 33            /* 32 hexadecimal digits and a NUL */

struct api_idempotency;

/* `answers`: 1 to 1,000,000 are kept. Never NULL. */
struct api_idempotency *api_idempotency_new(size_t answers);

/* No thread may use it any more. NULL is fine. */
void api_idempotency_free(struct api_idempotency *idempotency);

/* The name of a request: the same for the same method, path and key. Pure. */
void api_idempotency_nonce(const char *method, const char *path, struct span key, char nonce[API_IDEMPOTENCY_NONCE_SIZE]);

enum api_idempotency_state {
    API_IDEMPOTENCY_NEW,      /* under way now: end it with one of the calls below */
    API_IDEMPOTENCY_RUNNING,  /* another one of this name is under way */
    API_IDEMPOTENCY_REUSED,   /* the name stood for another body */
    API_IDEMPOTENCY_ANSWERED, /* *status, and `body` (cleared before) */
    API_IDEMPOTENCY_UNKNOWN,  /* as NEW, but an earlier one may stand, or come to stand until *until: look before it is written, and do not write before that */
    API_IDEMPOTENCY_FULL,     /* too many are under way or not known: try later */
};

/* Any thread, as all below. Expected O(1). */
enum api_idempotency_state
api_idempotency_begin(struct api_idempotency *idempotency, const char *nonce, struct span request, unsigned *status, struct buffer *body, struct mono_ms *until);

/* This was the answer. */
void api_idempotency_keep(struct api_idempotency *idempotency, const char *nonce, unsigned status, struct span body);

/* Nothing was written: the next one of this name begins anew. */
void api_idempotency_forget(struct api_idempotency *idempotency, const char *nonce);

/* Nobody knows. TIME_NEVER: and nobody can find out. */
void api_idempotency_unknown(struct api_idempotency *idempotency, const char *nonce, struct mono_ms until);

#endif
