/* Making the API's parts from the daemon's, and taking them down in order. Owner thread. */
#ifndef TARRY_OPS_API_OPEN_H
#define TARRY_OPS_API_OPEN_H

#include <stdbool.h>

#include "base/error.h"

struct api;
struct daemon;

/* Fills daemon->api and starts its workers. The daemon's mailbox, store, steering and compiled sources are there. False: ERROR_SYSTEM, or a property that librdkafka refuses; what was made is freed by
 * api_open_free. */
bool api_open(struct daemon *daemon, struct error *error);

/* Writes are refused from here on (503 `stopping`): the daemon ends. NULL is fine. */
void api_open_refuse_writes(struct api *api);

/* No handler runs after this. The owner's mailbox is closed, and steering has answered all: who waits for either has been told. NULL is fine. */
void api_open_stop(struct api *api);

/* After http_stop. NULL is fine. */
void api_open_free(struct api *api);

#endif
