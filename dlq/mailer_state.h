/* What the files of the mailer share. Room-internal. */
#ifndef TARRY_DLQ_MAILER_STATE_H
#define TARRY_DLQ_MAILER_STATE_H

#include <nats/nats.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"
#include "dlq/link_spent.h"
#include "dlq/link_state.h"
#include "dlq/mailer.h"

struct mailer {
    struct link *link;
    const struct streams_options *options;
    char large[STREAMS_NAME_SIZE];
    struct link_session *session; /* NULL: none held */
    natsSubscription *answers;    /* of this session: "<inbox>.*" */
    char inbox[128];
    uint64_t ended;     /* number of the last session found ended */
    uint64_t call;      /* numbers dispatches: an answer to an earlier one never counts for a later one */
    struct buffer body; /* the letter being sent */
    struct link_spent spent; /* published, and answers read */
};

enum mailer_stage { MAILER_STAGE_UNSENT, MAILER_STAGE_SENT, MAILER_STAGE_DONE };

/* One message to be kept: a letter, or a part of a record that stands apart. */
struct mailer_message {
    const struct letter *letter; /* of a part: the one that refers to it */
    enum letter_state state;
    int64_t part;      /* -1: the letter itself; else below 2^32 */
    struct span bytes; /* of the part */
    uint32_t nth;      /* published afresh so often */
    enum mailer_stage stage;
    int64_t again_ms;  /* sent: unanswered until then, it is sent again */
    size_t in_flight_bytes;
    struct mailer_item *item; /* where the result goes */
};

/* Publishes and collects until all are done or the time is over; results are in the items. */
void mailer_dispatch(struct mailer *mailer, struct mailer_message *messages, size_t count, int64_t end_ms);

/* Holds a living session and its inbox; waits for one until end_ms. False: ERROR_UNAVAILABLE. */
bool mailer_session_ready(struct mailer *mailer, int64_t end_ms, struct error *error);
void mailer_session_drop(struct mailer *mailer);

/* What JetStream says of one publish. */
struct mailer_answer {
    enum { MAILER_ANSWER_KEPT, MAILER_ANSWER_DUPLICATE, MAILER_ANSWER_LATER, MAILER_ANSWER_FAILED } kind;
    enum mailer_result result; /* failed only */
    uint64_t sequence;         /* kept and duplicate */
    char text[200];            /* later and failed */
};
void mailer_answer_read(const char *bytes, size_t length, struct mailer_answer *answer);

/* Nats-Msg-Id and stream of a message. */
#define MAILER_ID_SIZE 128

enum mailer_standing { MAILER_STANDS, MAILER_GONE, MAILER_STANDING_UNKNOWN };

/* Whether what took this message's id still stands at `sequence` and says the same. Asks JetStream. */
enum mailer_standing mailer_verify(struct mailer *mailer, const struct mailer_message *message, uint64_t sequence, int64_t end_ms);

/* Whether this part stands at its subject already, byte for byte. Asks JetStream; GONE: it does not. UNKNOWN: error is set, ERROR_UNAVAILABLE. */
enum mailer_standing mailer_verify_part(struct mailer *mailer, const struct mailer_message *message, int64_t end_ms, struct error *error);

/* Bytes of a body that are left free below the server's max_payload, for NATS headers. */
#define MAILER_HEADROOM 1024

/* True when the letter's bytes may not fit into one message of `most` bytes. */
bool mailer_large_is(const struct letter *letter, int64_t most);

/* Stores the record of item->letter apart and fills in `letter`, a copy of it that says so. Parts that stand there already are not stored again: JetStream
 * knows an id for minutes, and a letter may be tried for days. False: the item has its result. */
bool mailer_large_store(struct mailer *mailer, struct mailer_item *item, int64_t most, int64_t end_ms, struct letter *letter);

#include "dlq/mailer_verify.h" /* last: it speaks of what stands above */

#endif
