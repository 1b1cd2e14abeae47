/*
 * What every verb of `tarry dlq` works with: the configuration, the connection to NATS, the names of the streams.
 *
 * The configuration is the daemon's own (-c FILE, TARRY_CONFIG, TARRY_... and --set, as `tarry serve`); what only a daemon needs (instance, sources, http.*,
 * store.*) may be missing or wrong. Messages go to stderr as "tarry dlq list: ...". One thread.
 */
#ifndef TARRY_CLI_DLQ_CONTEXT_H
#define TARRY_CLI_DLQ_CONTEXT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "cli/options.h"
#include "dlq/letter.h"
#include "dlq/link.h"
#include "dlq/streams.h"
#include "ops/letter_options.h"

#define DLQ_CONTEXT_TIMEOUT_MS 10000 /* for one request to NATS, and for the connection to come up */

struct dlq_context {
    struct options options;
    struct config *config; /* from dlq_context_load on */
    struct link *link;     /* from dlq_context_open on, as what follows */
    struct streams_options streams;
    char owner[LETTER_OPTIONS_OWNER_SIZE]; /* what streams.owner points to, once dlq_context_own has found it out */
    char large[STREAMS_NAME_SIZE];
    char jobs[STREAMS_NAME_SIZE];
};

/* `verb` is for messages and outlives the context: "dlq list". */
struct dlq_context dlq_context_new(const char *verb);

/* Takes -c, --config, --set or --log-level with its value at argv[*index]; as options_take. argv outlives the context. */
enum options_result dlq_context_take(struct dlq_context *context, int argc, char **argv, int *index);

/* Loads the configuration. 0, or the code to exit with (78), told. */
int dlq_context_load(struct dlq_context *context);

/* Loads the configuration unless that was done, connects, and waits until NATS is there. 0, or the code to exit with, told: 78, 4 (NATS refuses us), 69 (it
 * cannot be reached). Makes no stream. */
int dlq_context_open(struct dlq_context *context);

/*
 * Before the first change, after dlq_context_open: makes sure that the streams are not another owner's, and makes those that are absent. Asks Kafka which
 * cluster it is; when it does not answer (some seconds), that is told and the owner is not compared: what is done on NATS alone has to be possible then, too.
 * 0, or the code to exit with, told. Again: nothing is done.
 */
int dlq_context_own(struct dlq_context *context);

/* Closes and frees; any state, any number of times. */
void dlq_context_close(struct dlq_context *context);

/* The stream in which letters of this state stand. Borrowed. */
const char *dlq_context_stream(const struct dlq_context *context, enum letter_state state);

/* "waiting" or "parked". */
const char *dlq_context_state_name(enum letter_state state);

/* Says that an argument is not understood, and where help is; returns VERBS_EXIT_USAGE. */
int dlq_context_usage(const struct dlq_context *context, const char *argument);

/* Says on stderr "tarry dlq VERB: ..." with a line end. */
void dlq_context_say(const struct dlq_context *context, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* True when the server is there and does not let us: by the words of dlq/link. Trying again will not help. */
bool dlq_context_refused(const struct error *error);

/* Says a failure and returns the code to exit with: 69 for ERROR_UNAVAILABLE (4 when NATS refuses us), 3 for ERROR_NOT_FOUND, else 1. */
int dlq_context_failed(const struct dlq_context *context, const struct error *error);

#endif
