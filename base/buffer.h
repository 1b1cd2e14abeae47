/* A growable run of bytes with a bound of its own. Past the bound nothing is added and `full` stays set: check it
 * once at the end. */
#ifndef TARRY_BASE_BUFFER_H
#define TARRY_BASE_BUFFER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/span.h"

struct buffer {
    uint8_t *data;
    size_t length;
    size_t capacity;
    size_t most; /* never longer than this */
    bool full;   /* something did not fit */
};

/* Empty, nothing allocated yet. */
struct buffer buffer_new(size_t most);

/* Frees the bytes; the buffer is empty and usable again. */
void buffer_free(struct buffer *buffer);

/* Empty again, keeps its room. */
void buffer_clear(struct buffer *buffer);

/* Makes `count` bytes of room at the end and returns them (to be written by the caller), or NULL when it would
 * exceed `most`. */
uint8_t *buffer_extend(struct buffer *buffer, size_t count);

void buffer_add(struct buffer *buffer, const void *bytes, size_t count);
void buffer_add_span(struct buffer *buffer, struct span span);
void buffer_add_text(struct buffer *buffer, const char *text);
void buffer_add_format(struct buffer *buffer, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The bytes so far: borrowed, valid until the next change. Never absent. */
struct span buffer_span(const struct buffer *buffer);

#endif
