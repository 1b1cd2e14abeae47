/* Who may use /api/: the token, the Host header against DNS rebinding, and what keeps pages of other sites from writing. */
#ifndef TARRY_OPS_HTTP_GUARD_H
#define TARRY_OPS_HTTP_GUARD_H

#include <stdbool.h>

#include "base/error.h"

/* True when `authorization` (the header's value, may be NULL) is "Bearer TOKEN" with this token. The time it takes
 * tells nothing of the token but its length. Pure. */
bool http_guard_bearer(const char *authorization, const char *token);

/* True when the Host header's value names this machine: localhost, 127.0.0.1 or [::1], with or without a port. NULL
 * does not. A page of another site whose name was pointed at loopback sends its own name here. Pure. */
bool http_guard_local_host(const char *host);

/* True when Origin (NULL: none was sent) is this server's: http or https, and the same as Host. Pure. */
bool http_guard_same_origin(const char *origin, const char *host);

/* True when Sec-Fetch-Site (NULL: none was sent) says that no other site is behind it. Pure. */
bool http_guard_same_site(const char *fetch_site);

/* True for application/json, with or without parameters. Pure. */
bool http_guard_is_json(const char *content_type);

#define HTTP_GUARD_TOKEN_LEAST 16
#define HTTP_GUARD_TOKEN_MOST 4096

/* Reads a token: one line of printable ASCII without blanks, blanks and line ends around it left out. Warns in the log
 * when others can read the file. NULL: the text names file and remedy, never the content. Free the result with
 * http_guard_token_free. */
char *http_guard_token_read(const char *path, struct error *error);

/* Wipes, then frees. NULL is fine. */
void http_guard_token_free(char *token);

#endif
