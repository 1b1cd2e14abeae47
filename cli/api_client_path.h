/* Paths and queries for the daemon, percent-encoded. Pure. */
#ifndef TARRY_CLI_API_CLIENT_PATH_H
#define TARRY_CLI_API_CLIENT_PATH_H

#include "base/buffer.h"
#include "base/span.h"

/* Longer than any that a daemon takes. */
#define API_CLIENT_PATH_MAX ((size_t)64 * 1024)

/* Appends "/" and the bytes as one segment, every one that is not unreserved encoded: so an id may hold slashes, blanks, anything. An id of "." or ".." is encoded, too:
 * nothing on the way takes it for a folder. */
void api_client_path_segment(struct buffer *path, struct span bytes);

/* Appends "?name=value", or "&name=value" behind an earlier one; nothing for a value of NULL. */
void api_client_path_query(struct buffer *path, const char *name, const char *value);

/* The path as a text, NUL-terminated, borrowed until the next change. NULL: it is longer than API_CLIENT_PATH_MAX. */
const char *api_client_path_text(struct buffer *path);

#endif
