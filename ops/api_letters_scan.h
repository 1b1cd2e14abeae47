/*
 * Going over the letters for one request: waiting ones, then parked ones, each in their stream's order, from a cursor on, as they stood at the start.
 *
 * Changes nothing: no durable consumer, no acknowledgement. Bounded by time; what is left over then a cursor names. The worker of API_LETTERS alone.
 */
#ifndef TARRY_OPS_API_LETTERS_SCAN_H
#define TARRY_OPS_API_LETTERS_SCAN_H

#include "dlq/letter.h"
#include "ops/api.h"
#include "ops/api_letters_cursor.h"

struct link;

/* Which letters. Members together mean all of them. */
struct api_letters_filter {
    bool wants[2];             /* by enum letter_state */
    int reason;                /* enum letter_reason; -1: any */
    struct span target;        /* a topic, or _refused; absent: any */
    struct span id;            /* of the letter, or its schedule id; absent: any */
};

enum api_letters_scan_result {
    API_LETTERS_SCAN_ALL,    /* there is nothing behind */
    API_LETTERS_SCAN_ENOUGH, /* the visitor had enough; scan->next goes on behind the last one */
    API_LETTERS_SCAN_PART,   /* time was up; scan->next goes on */
    API_LETTERS_SCAN_FAILED, /* answered */
};

struct api_letters_scan {
    struct http_request *request;
    struct api *api;
    struct link *link;
    struct api_letters_filter filter;
    struct api_letters_cursor next; /* where to begin; afterwards, where to go on */
    int64_t time_ms;                /* how long to look; the request's deadline ends it, too */
    /* Gets each matching letter, borrowed until it returns, and the bytes of its message; false: enough. */
    bool (*visit)(void *visitor, enum letter_state state, const struct letter *letter, size_t bytes);
    void *visitor;
    uint64_t seen;    /* messages that were looked at */
    uint64_t damaged; /* of them, no letters that can be read */
};

/* The query's state, reason, target and cursor. False: answered with 400. The scan borrows from the request. */
bool api_letters_scan_read(struct api_letters_scan *scan);

enum api_letters_scan_result api_letters_scan_run(struct api_letters_scan *scan);

#endif
