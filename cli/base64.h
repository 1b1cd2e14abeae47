/* Base64 (RFC 4648, with padding), for bytes that an argument cannot hold. Pure. */
#ifndef TARRY_CLI_BASE64_H
#define TARRY_CLI_BASE64_H

#include <stdbool.h>

#include "base/buffer.h"
#include "base/span.h"

/* Appends the text of `bytes`. */
void base64_write(struct span bytes, struct buffer *text);

/* Appends the bytes of `text`. False: it is not exactly what base64_write writes for any bytes; what was appended is to be thrown away. */
bool base64_read(struct span text, struct buffer *bytes);

#endif
