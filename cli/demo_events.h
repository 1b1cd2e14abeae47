/* What the demo produces, and what became of each record. */
#ifndef TARRY_CLI_DEMO_EVENTS_H
#define TARRY_CLI_DEMO_EVENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "bridge/playground.h"
#include "cli/demo_broker.h"
#include "dlq/letter.h"

enum demo_events_form {
    DEMO_EVENTS_DELAY,    /* header tarry-delay: 750ms */
    DEMO_EVENTS_EXAMPLE,  /* envelope with type, header delay_ms: the route chooses the target */
    DEMO_EVENTS_AT,       /* headers tarry-at (epoch ms) and tarry-topic */
    DEMO_EVENTS_DELAY_MS, /* header delay_ms: 2000 */
    DEMO_EVENTS_ENVELOPE, /* the envelope's own field delay_ms */
    DEMO_EVENTS_FORMS,
    DEMO_EVENTS_WRONG_DELAY = DEMO_EVENTS_FORMS, /* a delay that is none: to be refused */
    DEMO_EVENTS_WRONG_JSON,                      /* an envelope that ends too early: so is it */
};

enum demo_events_state { DEMO_EVENTS_WAITING, DEMO_EVENTS_LEFT, DEMO_EVENTS_REFUSED };

struct demo_event {
    enum demo_events_form form;
    enum demo_broker_topic source;
    enum demo_broker_topic target; /* where it belongs: NONE for a wrong one, which becomes a dead letter */
    int64_t delay_ms;
    int64_t sent_ms; /* its Kafka timestamp */
    int64_t due_ms;
    char key[32];
    char value[256];
    size_t payload_at; /* within value: what has to come out */
    size_t payload_length;
    char header[16]; /* the header that names the time, "" for none */
    char header_value[24];

    enum demo_events_state state;
    int64_t arrived_ms; /* at the demo's consumer of the target topic, or as a letter */
    unsigned arrivals;
    bool early;       /* it arrived, or carries a timestamp from, before its due time */
    bool altered;     /* not the bytes it should have, or in another topic */
    char reason[320]; /* why it was refused, in tarry's words */
};

struct demo_events {
    struct demo_event *items; /* the wrong ones, then by due time once they are sent */
    size_t count;             /* the wrong ones included */
    size_t wrong;
    size_t finished;          /* left or refused */
};

#define DEMO_EVENTS_WRONG_COUNT 2

/* `good` records of all forms in turn with delays of 50 ms to 5 s, always the same ones, and the first `wrong` (at most
 * DEMO_EVENTS_WRONG_COUNT) of the wrong ones. Free with demo_events_free. */
struct demo_events demo_events_new(size_t good, size_t wrong);

void demo_events_free(struct demo_events *events);

bool demo_events_is_wrong(const struct demo_event *event);

/* Produces all, and waits until the broker has them; first the wrong ones and those with the longest delays, so that a client's
 * first connection is not taken for lateness. ERROR_UNAVAILABLE, ERROR_INVALID, ERROR_FULL. Blocks for up to 10 s. */
bool demo_events_send(struct demo_events *events,
                      const struct demo_broker *broker,
                      struct playground *playground,
                      struct error *error);

/* Takes in what came from a target topic at now_ms: the event whose record it is, or NULL when it is none of ours. */
struct demo_event *demo_events_take(struct demo_events *events,
                                    const struct demo_broker *broker,
                                    const struct playground_arrival *arrival,
                                    int64_t now_ms);

/* The same for a parked letter: of a record that was refused when it was read. */
struct demo_event *demo_events_take_letter(struct demo_events *events, const struct letter *letter, int64_t now_ms);

/* What names its time, for a person: "tarry-delay: 750ms". */
void demo_events_say_form(const struct demo_event *event, char *text, size_t size);

#endif
