/* The listening socket. */
#ifndef TARRY_OPS_HTTP_LISTEN_H
#define TARRY_OPS_HTTP_LISTEN_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

union http_listen_address {
    struct sockaddr any;
    struct sockaddr_in v4;
    struct sockaddr_in6 v6;
};

/* Reads "127.0.0.1:7411", "[::1]:7411" or "localhost:7411" (which is 127.0.0.1). Names are not resolved. False:
 * ERROR_INVALID. Pure. */
bool http_listen_parse(const char *text, union http_listen_address *address, struct error *error);

/* True when only this machine reaches the address. Pure. */
bool http_listen_is_loopback(const union http_listen_address *address);

/* Binds and listens, non-blocking; `text` is for the error. Returns the fd, which the caller closes, and the port
 * chosen, or -1: ERROR_BUSY (the address is taken), ERROR_INVALID (no such address here, or no right to it),
 * ERROR_SYSTEM. */
int http_listen_open(const union http_listen_address *address, const char *text, uint16_t *port, struct error *error);

#endif
