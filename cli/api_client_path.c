#include "cli/api_client_path.h"

#include <string.h>

static bool is_unreserved(uint8_t byte)
{
    return byte != '\0' && strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_~", byte) != NULL;
}

static void encode(struct buffer *path, struct span bytes, bool dots)
{
    for (size_t i = 0; i < bytes.length; i++) {
        if (is_unreserved(bytes.data[i]) || (bytes.data[i] == '.' && !dots)) {
            buffer_add(path, bytes.data + i, 1);
        } else {
            buffer_add_format(path, "%%%02X", bytes.data[i]);
        }
    }
}

void api_client_path_segment(struct buffer *path, struct span bytes)
{
    bool dots = span_equals_text(bytes, ".") || span_equals_text(bytes, "..");
    buffer_add_text(path, "/");
    encode(path, bytes, dots);
}

void api_client_path_query(struct buffer *path, const char *name, const char *value)
{
    if (value == NULL) {
        return;
    }
    bool first = path->length == 0 || memchr(path->data, '?', path->length) == NULL;
    buffer_add_format(path, "%s%s=", first ? "?" : "&", name);
    encode(path, span_of_text(value), false);
}

const char *api_client_path_text(struct buffer *path)
{
    buffer_add(path, "", 1);
    return path->full ? NULL : (const char *)path->data;
}
