/* What the files of the link share, and nobody else. */
#ifndef TARRY_DLQ_LINK_INNER_H
#define TARRY_DLQ_LINK_INNER_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

#include "dlq/link_state.h"

#define LINK_INNER_TEXT 256

/* What must never be seen in a text: passwords, tokens, and what stands before '@' in an address. Set once, then read by any thread. */
struct link_secrets {
    char **texts;
    size_t count;
};

struct link {
    pthread_mutex_t lock;
    pthread_cond_t changed; /* a session came or ended, or the end was asked for; on the monotonic clock */
    pthread_t thread;
    natsOptions *options;
    struct link_secrets secrets;
    char *hosts; /* addresses without users, for texts */
    /* Under the lock: */
    struct link_session *session; /* NULL: down */
    char trouble[LINK_INNER_TEXT]; /* why it is down */
    uint64_t made;   /* sessions so far */
    size_t living;   /* sessions not yet freed */
    bool stop;
};

struct link_session {
    struct link *link;
    natsConnection *connection;
    jsCtx *jetstream;
    uint64_t number;
    /* Under the link's lock: */
    unsigned holds; /* one of them the closed callback's, which comes exactly once */
    bool ended;
    char complaint[LINK_INNER_TEXT]; /* the server's last one */
    natsSubscription **left; /* not destroyed yet: see link_session_unsubscribe */
    size_t left_count;
};

/* Overwrites secrets in `text` by '*'. */
void link_text_hide(const struct link_secrets *secrets, char *text);
void link_text_keep_secret(struct link_secrets *secrets, const char *secret); /* NULL: none */
void link_text_forget(struct link_secrets *secrets);

/* nats.c's words for the failure that this thread's last call on it ended in. Valid until the next call. */
const char *link_text_words(natsStatus status);

/* Why no connection came about, from the status and the words of natsConnection_Connect in this thread. */
void link_text_connect(const struct link *link, natsStatus status, char text[LINK_INNER_TEXT]);

/* nats.c's options from ours, with secrets and hosts noted in `link`. */
bool link_options_set(struct link *link, const struct link_options *options, struct error *error);

/* Tries every address once, some seconds each at most. False: `text` says why. Link thread. */
bool link_session_open(struct link *link, struct link_session **session, char text[LINK_INNER_TEXT]);

/* Closes its connection and gives back the link's own hold. */
void link_session_end(struct link_session *session);

/* For natsOptions_SetErrorHandler and natsOptions_SetClosedCB. */
void link_session_complained(natsConnection *connection, natsSubscription *subscription, natsStatus status, void *session);
void link_session_closed(natsConnection *connection, void *session);

#endif
