/*
 * What the API's writers ask the owner (api_ask), as calls that wait for the answer. Worker threads.
 */
#ifndef TARRY_OPS_API_QUESTION_H
#define TARRY_OPS_API_QUESTION_H

#include "base/error.h"
#include "ops/api.h"
#include "ops/request_watch.h"

struct api_question_partition {
    size_t source; /* index into api->sources */
    int32_t number;
    slot_index slot;
    uint32_t epoch;
    bool open; /* read and carried out; else given to this instance and not (or no more) so */
};

struct api_question_here {
    struct api_question_partition *items;
    size_t count;
};

/* Which partitions this instance has now. True: the caller frees it. False: ERROR_UNAVAILABLE: no write may begin (Kafka is away, tarry stops or does not answer). */
bool api_question_here(struct api *api, struct mono_ms deadline, struct api_question_here *here, struct error *error);
void api_question_here_free(struct api_question_here *here);

/* NULL: it is not this instance's. O(count). */
const struct api_question_partition *api_question_find(const struct api_question_here *here, size_t source, int32_t number);

/* What is about to be written; borrowed for the call. */
struct api_question_write {
    struct span word; /* header tarry-request */
    struct span id;   /* absent: none */
    const struct api_question_partition *const *places;
    size_t count;     /* 1 to REQUEST_WATCH_PLACES_MAX */
    const struct decoded_recurrence *recurrence; /* NULL: it is a cancel */
    bool look_first;  /* it may be there already: a repetition */
    bool own_id;      /* the id is of this very request: what the history says of it counts, too */
};

enum api_question_begun {
    API_QUESTION_BEGUN,   /* `watch` waits for it; drop it */
    API_QUESTION_THERE,   /* it is pending, or was delivered: offset, due_ms (-1: not known) */
    API_QUESTION_MOVING,  /* something of its id is just being written again: ask again */
    API_QUESTION_REFUSED, /* its schedule means nothing: refusal */
    API_QUESTION_GONE,    /* a partition is no more here */
    API_QUESTION_FULL,    /* too many wait */
};

struct api_question_begin {
    enum api_question_begun result;
    struct request_watch *watch;
    int64_t offset;
    int64_t due_ms;
    struct refusal refusal;
};

/* Before records are written: has the owner wait for them. False: ERROR_UNAVAILABLE; ERROR_CORRUPT: what the checkpoint has of the id cannot be read, with look_first. */
bool api_question_begin(struct api *api, const struct api_question_write *write, struct mono_ms deadline, struct api_question_begin *begin, struct error *error);

/* When the event of this id in this partition is due now: -1 when that is not known (any more, or it is being written again). False: ERROR_UNAVAILABLE, ERROR_CORRUPT. */
bool api_question_due(struct api *api, size_t source, int32_t partition, struct span id, struct mono_ms deadline, int64_t *due_ms, bool *moving, struct error *error);

#endif
