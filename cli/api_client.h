/*
 * Asks a daemon over HTTP, by TCP or by its socket (docs/http.md).
 *
 * Which daemon: --server, else TARRY_SERVER, else http://127.0.0.1:7411. Its token: the file of --token-file, else of TARRY_TOKEN_FILE, else none. The token is
 * sent as a header and goes nowhere else: into no error, no log, no argument, and not to where an answer leads, but for the rule below. No redirect is followed, no
 * proxy used, no netrc read.
 *
 * "Not mine" (421 not_owner) names the instance that owns a partition. The error says so, and whom to ask; with `follow` that one is asked, once, with the same scheme
 * and the same token: only a person can know that the network in between may carry it.
 *
 * One thread. Times out; never asks a person.
 */
#ifndef TARRY_CLI_API_CLIENT_H
#define TARRY_CLI_API_CLIENT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buffer.h"
#include "cli/api_client_answer.h"

#define API_CLIENT_TIMEOUT_MS 30000 /* longer than a daemon waits for Kafka and then for itself */

struct api_client;

struct api_client_options {
    const char *verb;       /* for messages: "list" */
    const char *server;     /* NULL: TARRY_SERVER or the default */
    const char *token_file; /* NULL: TARRY_TOKEN_FILE or none */
    int64_t timeout_ms;     /* of one request; 0: API_CLIENT_TIMEOUT_MS */
    bool follow;            /* asks the instance that a daemon names as a partition's owner */
};

/* Reads addresses and the token; asks nobody yet. 0 and *client, or the code to exit with (2: the address, 78: the token's file), told. */
int api_client_open(const struct api_client_options *options, struct api_client **client);

/* Wipes the token. NULL is fine. */
void api_client_close(struct api_client *client);

struct api_client_request {
    const char *method;          /* "GET", "POST", "DELETE" */
    const char *path;            /* from "/api/..." or "/readyz" on, encoded (cli/api_client_path.h) */
    const char *body;            /* JSON; NULL: none */
    const char *accept;          /* NULL: JSON */
    const char *idempotency_key; /* NULL: none. With one, a request whose answer was lost is sent again, twice at most */
};

/*
 * Asks, and waits. `answer` is filled in any case (api_client_answer_free it): 0 with a JSON object in it; else the code to exit with and the words for a person
 * in answer->message, not yet told (api_client_say): 69 not reachable, busy or no answer in time, 4 not let in, 3 not found, 2 the daemon refuses what was
 * given, else 1.
 */
int api_client_call(struct api_client *client, const struct api_client_request *request, struct api_client_answer *answer);

/* GET, told when it fails. */
int api_client_get(struct api_client *client, const char *path, struct api_client_answer *answer);

/* Says answer->message as "tarry VERB: ..." and returns answer->code. */
int api_client_say(const struct api_client *client, const struct api_client_answer *answer);

/* The address that is asked, for messages. Borrowed. */
const char *api_client_shown(const struct api_client *client);

/* Bytes of a stream as they come. False: end it. */
typedef bool api_client_on_bytes(void *context, const void *bytes, size_t count);

/* Whether to go on; asked once a second at least. */
typedef bool api_client_go_on(void *context);

/*
 * GETs text/event-stream and gives its bytes to `on_bytes` until the stream ends, nothing comes for API_CLIENT_SILENT_S, or one of the two says so. last_id: NULL or the
 * Last-Event-ID. `answer` as above, with code 0 when the daemon had answered 200 and so may be asked again for what follows.
 */
#define API_CLIENT_SILENT_S 45L /* a daemon says "still here" each 15 s */
int api_client_stream(struct api_client *client, const char *path, const char *last_id, api_client_on_bytes *on_bytes, api_client_go_on *go_on, void *context,
                      struct api_client_answer *answer);

#endif
