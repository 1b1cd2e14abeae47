#include "cli/json_line.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>

#include "base/memory.h"
#include "base/text.h"
#include "cli/base64.h"

#define ENCODING_SIZE 64

/* A character of 2 or 3 bytes as its number: more is never a control. */
static unsigned number_of(const uint8_t *bytes, size_t length)
{
    return length == 2 ? (bytes[0] & 0x1fU) << 6 | (bytes[1] & 0x3fU) : (bytes[0] & 0x0fU) << 12 | (bytes[1] & 0x3fU) << 6 | (bytes[2] & 0x3fU);
}

/* By base/text.h, which decides what a terminal gets to see. */
static bool is_shown_as_it_is(const uint8_t *bytes, size_t length)
{
    char shown[TEXT_ESCAPE_MAX + 1];
    size_t written = text_printable((struct span){bytes, length}, shown, sizeof shown);
    return *bytes == '\\' || (written == length && memcmp(shown, bytes, length) == 0);
}

static void escape(struct span text, struct buffer *line)
{
    for (size_t at = 0; at < text.length;) {
        const uint8_t *bytes = text.data + at;
        size_t length = text_utf8_length(bytes, text.length - at);
        if (length == 0) {
            buffer_add_text(line, "\\ufffd");
            length = 1;
        } else if (is_shown_as_it_is(bytes, length)) {
            buffer_add(line, bytes, length);
        } else {
            buffer_add_format(line, "\\u%04x", length == 1 ? bytes[0] : number_of(bytes, length));
        }
        at += length;
    }
}

void json_line_write(const struct cJSON *document, bool terminal, struct buffer *line)
{
    char *text = cJSON_PrintUnformatted(document);
    if (text == NULL) {
        return;
    }
    if (terminal) {
        escape(span_of_text(text), line);
    } else {
        buffer_add_text(line, text);
    }
    cJSON_free(text);
}

void json_line_add_bytes(struct cJSON *object, const char *name, struct span bytes)
{
    char encoding[ENCODING_SIZE];
    struct buffer text = buffer_new(bytes.length * 2 + 8);
    if (bytes.data == NULL) {
        (void)cJSON_AddNullToObject(object, name);
        return;
    }
    bool plain = text_is_utf8(bytes) && (bytes.length == 0 || memchr(bytes.data, '\0', bytes.length) == NULL);
    if (plain) {
        buffer_add_span(&text, bytes);
    } else {
        base64_write(bytes, &text);
    }
    buffer_add(&text, "", 1);
    (void)cJSON_AddStringToObject(object, name, (const char *)text.data);
    if (!plain) {
        (void)snprintf(encoding, sizeof encoding, "%s_encoding", name);
        (void)cJSON_AddStringToObject(object, encoding, "base64");
    }
    buffer_free(&text);
}
