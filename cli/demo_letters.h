/*
 * The demo's dead letters: a private nats-server, and a look at the streams in it as letters come.
 *
 * One thread. Looking changes nothing in the streams (dlq/reader.h).
 */
#ifndef TARRY_CLI_DEMO_LETTERS_H
#define TARRY_CLI_DEMO_LETTERS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "cli/demo_child.h"
#include "cli/demo_place.h"
#include "dlq/letter.h"
#include "dlq/link.h"
#include "dlq/reader.h"

struct demo_letters {
    struct demo_child server;
    char url[48]; /* "": there is no nats-server */
    struct link *link;
    struct reader *readers[2]; /* by enum letter_state; NULL: to be opened */
    uint64_t next[2];          /* sequences */
};

/* Starts the nats-server `program`, JetStream's files in the place's folder, on a free port of 127.0.0.1, and makes a link to it, which is not up yet.
 * ERROR_SYSTEM, ERROR_INVALID. On failure, too, demo_letters_close is due. */
bool demo_letters_open(struct demo_letters *letters, const char *program, const struct demo_place *place, struct error *error);

/* True: NATS is there. Else *error says why not yet. Waits up to timeout_ms. */
bool demo_letters_ready(struct demo_letters *letters, int timeout_ms, struct error *error);

/* The next letter that came into a stream, waiting ones first; false: none now. It borrows until the next call. Blocks for moments. */
bool demo_letters_next(struct demo_letters *letters, struct letter *letter, enum letter_state *state);

/* How many letters of this state stand there now. ERROR_UNAVAILABLE, ERROR_NOT_FOUND. */
bool demo_letters_count(struct demo_letters *letters, enum letter_state state, uint64_t *count, struct error *error);

/* Ends the nats-server. False: it did not end as it should. Nothing to do (true) when none was started. */
bool demo_letters_close(struct demo_letters *letters, struct error *error);

#endif
