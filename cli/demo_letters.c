#include "cli/demo_letters.h"

#include <signal.h>
#include <stdio.h>

#include "cli/demo_ready.h"
#include "dlq/streams.h"

#define ASK_MS 5000

/* The configuration's defaults. */
static const char *const streams[] = {[LETTER_WAITING] = "TARRY_DLQ", [LETTER_PARKED] = "TARRY_PARKED"};

bool demo_letters_open(struct demo_letters *letters, const char *program, const struct demo_place *place, struct error *error)
{
    uint16_t port = 0;
    char port_text[8];
    char store[DEMO_PLACE_PATH_MAX + 16];
    *letters = (struct demo_letters){0};
    if (!demo_ready_port(&port, error)) {
        return false;
    }
    snprintf(port_text, sizeof port_text, "%u", (unsigned)port);
    snprintf(letters->url, sizeof letters->url, "nats://127.0.0.1:%u", (unsigned)port);
    snprintf(store, sizeof store, "%s/nats", place->folder);
    const char *const arguments[] = {"nats-server", "--addr", "127.0.0.1", "--port", port_text, "--jetstream", "--store_dir", store, NULL};
    /* by SIGTERM nats-server 2.9 ends with 1, by SIGINT every version with 0 */
    const struct demo_child_options options = {
        .name = "nats-server", .program = program, .arguments = arguments, .log = place->nats_log, .end_signal = SIGINT};
    const struct link_options link = {.url = letters->url, .name = "tarry demo"};
    return demo_child_start(&letters->server, &options, error) && link_open(&link, &letters->link, error);
}

bool demo_letters_ready(struct demo_letters *letters, int timeout_ms, struct error *error)
{
    letters->server.answered = link_wait(letters->link, timeout_ms, error);
    return letters->server.answered;
}

/* Opens anew at its place what is not open, or failed. */
static bool read_one(struct demo_letters *letters, enum letter_state state, struct letter *letter)
{
    struct error error;
    struct reader_message message;
    struct reader **reader = &letters->readers[state];
    if (*reader == NULL && !reader_open(letters->link, streams[state], NULL, letters->next[state], reader, &error)) {
        *reader = NULL; /* there is no such stream yet */
        return false;
    }
    enum reader_result result = reader_poll(*reader, 0, &message, &error);
    if (result == READER_FAILED) {
        reader_close(*reader);
        *reader = NULL;
    }
    if (result != READER_MESSAGE) {
        return false;
    }
    letters->next[state] = message.sequence + 1;
    return letter_decode(message.bytes, letter, &error);
}

bool demo_letters_next(struct demo_letters *letters, struct letter *letter, enum letter_state *state)
{
    *state = LETTER_WAITING;
    if (letters->link == NULL || read_one(letters, LETTER_WAITING, letter)) {
        return letters->link != NULL;
    }
    *state = LETTER_PARKED;
    return read_one(letters, LETTER_PARKED, letter);
}

bool demo_letters_count(struct demo_letters *letters, enum letter_state state, uint64_t *count, struct error *error)
{
    struct streams_state known;
    if (!streams_state(letters->link, streams[state], ASK_MS, &known, error)) {
        return false;
    }
    *count = known.messages;
    return true;
}

bool demo_letters_close(struct demo_letters *letters, struct error *error)
{
    reader_close(letters->readers[LETTER_WAITING]);
    reader_close(letters->readers[LETTER_PARKED]);
    link_close(letters->link);
    bool ended = demo_child_stop(&letters->server, error);
    *letters = (struct demo_letters){0};
    return ended;
}
