/* A JSON document in one line, safe to be shown. Pure. */
#ifndef TARRY_CLI_JSON_LINE_H
#define TARRY_CLI_JSON_LINE_H

#include <stdbool.h>

#include "base/buffer.h"
#include "base/span.h"

struct cJSON;

/* Appends the document, compact, without a line end. `terminal`: what would upset one (DEL, C1 controls, marks that change direction or break lines, bytes that are no UTF-8)
 * becomes \uXXXX, so that it is the same JSON; C0 controls always are. */
void json_line_write(const struct cJSON *document, bool terminal, struct buffer *line);

/* Adds the bytes as a member: a text, or base64 with "<name>_encoding" when they are no UTF-8 or hold a NUL. Absent: null. */
void json_line_add_bytes(struct cJSON *object, const char *name, struct span bytes);

#endif
