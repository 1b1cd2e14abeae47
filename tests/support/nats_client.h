/* A plain client of NATS for tests: what a person would do with the `nats` command. Blocks; what fails here fails the running test. */
#ifndef TARRY_TESTS_SUPPORT_NATS_CLIENT_H
#define TARRY_TESTS_SUPPORT_NATS_CLIENT_H

#include <nats/nats.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct nats_client;

/* Connects to "nats://[user:password@]127.0.0.1:port[,...]" and reconnects by itself. */
struct nats_client *nats_client_open(const char *url);
void nats_client_close(struct nats_client *client); /* NULL is allowed */

natsConnection *nats_client_connection(struct nats_client *client);
jsCtx *nats_client_jetstream(struct nats_client *client);

/* Publishes into a stream and waits for its acknowledgement; headers: "Name: value" texts, NULL-terminated, or NULL. Returns the sequence. */
uint64_t nats_client_publish(struct nats_client *client, const char *subject, const char *const *headers, const void *bytes, size_t length);

/* Makes a stream of these subjects (separated by blanks), limits retention, file storage, discard new. max_bytes -1: none. */
void nats_client_add_stream(struct nats_client *client, const char *stream, const char *subjects, int64_t max_bytes, int64_t replicas);

/* What stands there now; false: no such stream. info is freed with jsStreamInfo_Destroy. */
bool nats_client_info(struct nats_client *client, const char *stream, jsStreamInfo **info);

/* Number of messages; of those whose subject matches `filter` (NULL: all). */
uint64_t nats_client_count(struct nats_client *client, const char *stream, const char *filter);

/* The sequence of its first message, or of the one that will be the first when it is empty. */
uint64_t nats_client_first(struct nats_client *client, const char *stream);

/* `words` and the sequence of its nth message, counted from the first that is there, when there are no gaps between. Valid until the call after the next. */
const char *nats_client_place(struct nats_client *client, const char *words, const char *stream, uint64_t nth);

/* Changes the configuration: `edit` is called with a copy of the one there is. */
void nats_client_edit(struct nats_client *client, const char *stream, void (*edit)(jsStreamConfig *config));

void nats_client_purge(struct nats_client *client, const char *stream, const char *filter); /* NULL: all */
void nats_client_delete_stream(struct nats_client *client, const char *stream);
void nats_client_delete_message(struct nats_client *client, const char *stream, uint64_t sequence);

/* The message of that sequence, freed with natsMsg_Destroy; NULL: there is none. */
natsMsg *nats_client_message(struct nats_client *client, const char *stream, uint64_t sequence);

/* Number of consumers on the stream: looking must leave none behind. */
int64_t nats_client_consumers(struct nats_client *client, const char *stream);

#endif
