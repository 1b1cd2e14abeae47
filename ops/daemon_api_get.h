/*
 * What the owner knows of one event, for whoever asks for it: where it is and how it stands, and what became of it lately.
 *
 * A question for api_ask: it owns all that it has, as whoever asked may have gone. `run` is of the owner thread, everything else of the worker that asks. A turn of the owner looks into
 * DAEMON_API_GET_AT_ONCE partitions; until `done` the same question is asked on.
 */
#ifndef TARRY_OPS_DAEMON_API_GET_H
#define TARRY_OPS_DAEMON_API_GET_H

#include "base/span.h"
#include "ops/api_list_place.h"
#include "ops/api_row_brief.h"
#include "ops/history.h"
#include "ops/owner_call.h"
#include "scheduler/core.h"
#include "scheduler/metadata.h"

#define DAEMON_API_GET_HISTORY 20
#define DAEMON_API_GET_ALSO 100
#define DAEMON_API_GET_ROW_MOST ((size_t)1 << 20) /* bytes of a row that the owner copies: of a longer one what is beside the value */
#define DAEMON_API_GET_AT_ONCE 64 /* partitions, each with a look-up in the checkpoint: some 100 us, and reads of the disk where pages are not in memory */

struct daemon_api_get {
    struct owner_call call;
    /* Asked: */
    uint8_t *id;
    size_t id_length;
    char topic[API_LIST_PLACE_TOPIC_MAX + 1]; /* of the source; "": any */
    int64_t offset;              /* -1: by id; else by the place `at` and this: of what is in no checkpoint yet */
    slot_index from;             /* where the next turn goes on */
    /* Answered: */
    bool done;                   /* nothing is left to ask for */
    struct error failure;        /* the checkpoint, or the row, does not read back: nothing else counts. ERROR_NONE: it does */
    bool found;
    struct api_list_place at;    /* the least place that has it: what is not moving before what is */
    struct core_event event;     /* its ref counts for nothing */
    char lane[METADATA_LANE_NAME_MAX + 1]; /* "": not known, and its row neither: it is moving */
    struct record_id hash;       /* of the id */
    uint8_t *row;                /* its bytes, where memory has them and they are no more than DAEMON_API_GET_ROW_MOST */
    size_t row_length;           /* of `row` */
    struct api_row_brief *brief; /* of a longer one, where memory has it. Neither: its row is in the store, or it is moving */
    struct api_list_place *also; /* further ones that have the id; at most DAEMON_API_GET_ALSO */
    size_t also_count;
    struct api_list_place *here; /* partitions that were asked */
    size_t here_count;
    bool no_cluster;             /* no broker has answered since the start: nothing is known */
    struct api_list_place *unready; /* given to this instance, and not read up to their end: what is there is not known yet. One of them; NULL: none */
    struct history_event history[DAEMON_API_GET_HISTORY]; /* newest first, of the topic if there is one; texts are the question's own */
    size_t history_count;
    uint8_t *history_texts;
    int64_t started_ms;
};

/* By id, copied. `topic` NULL: of any source. */
struct daemon_api_get *daemon_api_get_new(struct span id, const char *topic);

/* A mailbox_free_fn. */
void daemon_api_get_free(void *question);

#endif
