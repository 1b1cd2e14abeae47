/* Asks the child's HTTP server whether it is ready. */
#ifndef TARRY_CLI_DEMO_READY_H
#define TARRY_CLI_DEMO_READY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/* A TCP port of 127.0.0.1 on which nobody listens now. It lies below the range from which connections get theirs, so
 * that none takes it before the server does. ERROR_SYSTEM. */
bool demo_ready_port(uint16_t *port, struct error *error);

/* GET /readyz: true when it says 200. Else `text` has the answer's body, or says that there was none. Blocks for some
 * 500 ms at most. */
bool demo_ready_ask(uint16_t port, char *text, size_t size);

#endif
