/*
 * Where a daemon is, as people and daemons write it: http://host[:port][/path], https://..., host[:port], [::1]:7411, unix:PATH. Pure.
 */
#ifndef TARRY_CLI_API_CLIENT_ADDRESS_H
#define TARRY_CLI_API_CLIENT_ADDRESS_H

#include <stdbool.h>

#include "base/error.h"

#define API_CLIENT_ADDRESS_DEFAULT "http://127.0.0.1:7411"
#define API_CLIENT_ADDRESS_PORT 7411 /* without a scheme; with one it is the scheme's own (80, 443) */
#define API_CLIENT_ADDRESS_MAX 512

struct api_client_address {
    char url[API_CLIENT_ADDRESS_MAX + 32];       /* "http://host:port", without a slash at its end; paths are appended */
    char socket_path[API_CLIENT_ADDRESS_MAX + 1]; /* "": none */
    char shown[API_CLIENT_ADDRESS_MAX + 32];     /* for messages; printable */
    bool https;
};

/* ERROR_INVALID: what is wrong, and an example. A name or password within a URL is refused, and not repeated. */
bool api_client_address_parse(const char *text, struct api_client_address *address, struct error *error);

/* What another daemon said is an address: HOST:PORT alone, taken with the scheme of `asked`. False: it is none. */
bool api_client_address_owner(const struct api_client_address *asked, const char *owner, struct api_client_address *address);

#endif
