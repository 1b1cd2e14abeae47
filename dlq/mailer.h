/*
 * Publishing letters, and waiting until JetStream has them.
 *
 * A batch is published at once and its acknowledgements are collected; each letter has a result of its own. A publish that was not answered (also because the
 * connection was lost, or no leader was there) is sent again with the same Nats-Msg-Id until the timeout. An acknowledgement marked duplicate counts only if
 * the message it names still stands there and is a letter of the same failure and record (its times may differ: a failure found again after a restart is
 * put down with later ones); else it is published once more under a fresh id. Records too large for one message are stored apart first, unless the letter
 * says that they stand there (parts > 0). One thread at a time.
 */
#ifndef TARRY_DLQ_MAILER_H
#define TARRY_DLQ_MAILER_H

#include "dlq/letter.h"
#include "dlq/link.h"
#include "dlq/streams.h"

struct mailer;

/* Never NULL. The link and the options' strings outlive it. */
struct mailer *mailer_new(struct link *link, const struct streams_options *options);
void mailer_free(struct mailer *mailer);

enum mailer_result {
    MAILER_KEPT,        /* JetStream has it on disk */
    MAILER_FULL,        /* the stream is at its limit: later */
    MAILER_UNAVAILABLE, /* no server, no answer, no stream: later. It may be there all the same: publish the same letter again */
    MAILER_REFUSED,     /* JetStream will not take this letter (error says why) */
};

struct mailer_item {
    const struct letter *letter;
    enum letter_state state;
    enum mailer_result result;
    bool duplicate;    /* it was there already */
    uint64_t sequence; /* kept only */
    char error[256];   /* not kept only */
};

/* Fills in the results. Blocks, at most timeout_ms (some more when one stops answering in the middle). With the link down when it
 * begins it returns at once; a link lost in the middle is waited for. */
void mailer_post(struct mailer *mailer, struct mailer_item *items, size_t count, int64_t timeout_ms);

/* Removes what stands apart for these letters' ids, once nothing refers to it: after the last letter of that id has gone. Not found is no error. */
bool mailer_forget_large(struct mailer *mailer, const char *id, struct error *error);

#endif
