/*
 * The owner thread's way to JetStream: a bounded queue, a thread that posts (mailer.h), and reports back.
 *
 * The thread also makes and checks the streams, again after every reconnection and every failure, so that a stream deleted under us is found. With the link
 * down, a stream full or unusable, letters are reported as not kept within moments; nothing waits for ever. (Opened, it gives the first connection a second.)
 */
#ifndef TARRY_DLQ_OUTBOX_H
#define TARRY_DLQ_OUTBOX_H

#include "dlq/mailer.h"

struct outbox;

struct outbox_options {
    struct link *link;              /* outlives it */
    struct streams_options streams; /* its strings outlive it */
    size_t letters_max;             /* put and not yet taken back as reports */
    size_t bytes_max;               /* of their encoded bytes; one letter is always let in */
    int64_t timeout_ms;             /* for one post */
    int wake_fd;                    /* made readable when there is a report or the state changed; -1: none */
};

bool outbox_open(const struct outbox_options *options, struct outbox **outbox, struct error *error);

/* Copies the letter. False: no room now; there will be when reports were taken. */
bool outbox_put(struct outbox *outbox, const struct letter *letter, enum letter_state state, void *token);

struct outbox_report {
    void *token;
    enum mailer_result result;
    bool duplicate;
    char error[256];
};

size_t outbox_take(struct outbox *outbox, struct outbox_report *reports, size_t most);

/* What is known of JetStream, for health and metrics. */
struct outbox_status {
    bool ready;           /* streams are there and usable, the last post went well */
    char text[512];       /* not ready: why, with the remedy */
    uint64_t waiting;     /* messages in the dead-letter stream, as last asked (every few seconds) */
    uint64_t parked;
    uint64_t bytes;       /* of both */
    int64_t oldest_waiting_ms; /* when stored, wall clock; -1: none */
    int64_t oldest_parked_ms;
    struct streams_findings findings; /* of the last check */
};
void outbox_status(struct outbox *outbox, struct outbox_status *status);

/* Ends the thread within about timeout_ms of the options; what was not answered is not reported. NULL is allowed. */
void outbox_close(struct outbox *outbox);

#endif
