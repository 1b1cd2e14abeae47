/*
 * The connection to NATS: made again whenever it ends (at once, then every 2 s), told in words when it is down.
 *
 * link_open does not wait for a server: it is found whenever it comes, also after hours. All calls, any thread. No secret reaches a text.
 */
#ifndef TARRY_DLQ_LINK_H
#define TARRY_DLQ_LINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct link_options {
    const char *url;  /* one or more, separated by commas: nats://, tls:// */
    const char *name; /* of the connection, for the server's monitoring */
    /* NULL: none. The secrets are values, already read. */
    const char *user;
    const char *password;
    const char *token;
    const char *credentials_file; /* JWT and seed */
    const char *tls_ca_file;
    const char *tls_certificate_file;
    const char *tls_key_file;
};

struct link;

/* ERROR_INVALID: an option that nats.c refuses (named). Else there is a link, up or not yet. */
bool link_open(const struct link_options *options, struct link **link, struct error *error);

/* Waits up to timeout_ms for the link to be up. ERROR_UNAVAILABLE with the reason. */
bool link_wait(struct link *link, int64_t timeout_ms, struct error *error);

/* True: connected now. False: `text` says what is wrong ("no server at ...", "authorisation refused"). text may be NULL. */
bool link_up(struct link *link, char *text, size_t size);

/* The greatest body the server takes, 0: not known yet. Not the owner thread: it may wait some seconds behind a write that does not get on. */
int64_t link_max_payload(struct link *link);

/* Closes and frees, bounded by some seconds. NULL is allowed. Nothing that uses the link may live on. */
void link_close(struct link *link);

#endif
