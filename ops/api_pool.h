/* The threads that let handlers of the API answer (ops/api.h): for those that make and end them. */
#ifndef TARRY_OPS_API_POOL_H
#define TARRY_OPS_API_POOL_H

#include "ops/api.h"

/* Whoever waits in a handler stops waiting (api_stopping). Any thread; once. Before api_pool_stop, and before what they wait for is closed. */
void api_pool_hurry(struct api *api);

/* After api_pool_stop, and after the HTTP server, whose tickets lie in the mailboxes. */
void api_pool_free(struct api *api);

#endif
