/* What the files of the outbox share. Room-internal. */
#ifndef TARRY_DLQ_OUTBOX_STATE_H
#define TARRY_DLQ_OUTBOX_STATE_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dlq/outbox.h"

/* A letter put, posted, reported: in this order through three lists. */
struct outbox_entry {
    struct outbox_entry *next;
    struct letter letter; /* its spans lie behind the entry */
    size_t size;          /* what counts against bytes_max */
    enum letter_state state;
    struct outbox_report report;
};

struct outbox_list {
    struct outbox_entry *first;
    struct outbox_entry **end;
};

struct outbox {
    struct outbox_options options;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed; /* something to post, or the end; on the monotonic clock */
    /* Under the lock: */
    struct outbox_list waiting;
    struct outbox_list reports;
    size_t letters; /* in both lists and under way */
    size_t bytes;   /* of those not yet answered */
    bool stop;
    struct outbox_status status;
};

/* The thread's own. */
struct outbox_thread {
    struct outbox *outbox;
    struct mailer *mailer;
    bool checked;         /* the streams, on this connection */
    uint64_t number;      /* of that connection */
    int64_t look_ms;      /* when to ask for the streams' state again */
    bool full;            /* the last post found one full ... */
    uint64_t full_bytes;  /* ... when both held so many bytes; 0: not yet asked */
};

/* An entry with a copy of the letter. Free with free(). */
struct outbox_entry *outbox_entry_new(const struct letter *letter, enum letter_state state, void *token);

/* The thread's function; `context` is the outbox. */
void *outbox_thread_run(void *context);

#include "dlq/outbox_entry.h" /* last: it speaks of what stands above */

#endif
