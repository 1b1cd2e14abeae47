/*
 * The API's own connection to JetStream: made when the first request needs it, and kept. It has nothing to do with the one that letters are kept and redelivered over.
 *
 * The worker of API_LETTERS alone uses it.
 */
#ifndef TARRY_OPS_API_LETTERS_LINK_H
#define TARRY_OPS_API_LETTERS_LINK_H

#include "dlq/link.h"
#include "dlq/streams.h"
#include "ops/api.h"

#define API_LETTERS_LINK_ASK_MS 2000 /* for an answer of JetStream that takes milliseconds: a server that stands is found out so */

struct api_letters;
struct config;

/* Copies what it needs, secrets included (as they were at the start). No thread, no connection yet. Never NULL. */
struct api_letters *api_letters_link_new(const struct config *config);

/* Closes the connection, bounded by some seconds. After api_pool_stop. NULL is fine. */
void api_letters_link_free(struct api_letters *letters);

/* Names of the streams; without an owner, so nothing is ever made. Borrowed. */
const struct streams_options *api_letters_link_streams(const struct api *api);

/* The stream of letters in this state (enum letter_state). Borrowed. */
const char *api_letters_link_stream(const struct api *api, unsigned state);

/* The connection, up. NULL: answered with 503, within about a second, and at once while it is known to be away. */
struct link *api_letters_link_up(struct http_request *request, struct api *api);

/* Answers with 503: `stopping`, or `dead_letters_unavailable` with the error's words. */
void api_letters_link_unavailable(struct http_request *request, const struct api *api, const struct error *error);

/* True while there is more than spare_ms of the request's time, and the daemon goes on. */
bool api_letters_link_in_time(const struct http_request *request, const struct api *api, int64_t spare_ms);

#endif
