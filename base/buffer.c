/* A growable run of bytes with a bound of its own: see buffer.h. */
#include "base/buffer.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

#define LEAST_CAPACITY 64

struct buffer buffer_new(size_t most)
{
    return (struct buffer){.most = most};
}

void buffer_free(struct buffer *buffer)
{
    free(buffer->data);
    *buffer = buffer_new(buffer->most);
}

void buffer_clear(struct buffer *buffer)
{
    buffer->length = 0;
    buffer->full = false;
}

/* Doubles until `needed` fits, so that adding is O(1) on the average, but not beyond the bound. */
static size_t next_capacity(const struct buffer *buffer, size_t needed)
{
    size_t capacity = buffer->capacity < LEAST_CAPACITY ? LEAST_CAPACITY : buffer->capacity;
    while (capacity < needed) {
        capacity = capacity > buffer->most / 2 ? buffer->most : capacity * 2;
    }
    return capacity < buffer->most ? capacity : buffer->most;
}

uint8_t *buffer_extend(struct buffer *buffer, size_t count)
{
    /* `full` is sticky: what follows a gap must not be added, as the caller looks only once, at the end. */
    if (buffer->full || count > buffer->most - buffer->length) {
        buffer->full = true;
        return NULL;
    }
    size_t needed = buffer->length + count;
    if (needed > buffer->capacity || buffer->data == NULL) {
        size_t capacity = next_capacity(buffer, needed);
        buffer->data = memory_resize(buffer->data, capacity, 1);
        buffer->capacity = capacity;
    }
    uint8_t *room = buffer->data + buffer->length;
    buffer->length = needed;
    return room;
}

void buffer_add(struct buffer *buffer, const void *bytes, size_t count)
{
    if (count == 0) {
        return;
    }
    uint8_t *room = buffer_extend(buffer, count);
    if (room != NULL) {
        memcpy(room, bytes, count);
    }
}

void buffer_add_span(struct buffer *buffer, struct span span)
{
    buffer_add(buffer, span.data, span.length);
}

void buffer_add_text(struct buffer *buffer, const char *text)
{
    buffer_add(buffer, text, strlen(text));
}

void buffer_add_format(struct buffer *buffer, const char *format, ...)
{
    char text[256];
    va_list arguments;
    va_start(arguments, format);
    va_list again;
    va_copy(again, arguments);
    int length = vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    if (length < 0) {
        buffer->full = true;
    } else if ((size_t)length < sizeof(text)) {
        buffer_add(buffer, text, (size_t)length);
    } else {
        /* vsnprintf needs room for its NUL, which the buffer may not have: format aside. */
        size_t room = (size_t)length + 1;
        char *longer = memory_new(room, 1);
        (void)vsnprintf(longer, room, format, again);
        buffer_add(buffer, longer, (size_t)length);
        free(longer);
    }
    va_end(again);
}

struct span buffer_span(const struct buffer *buffer)
{
    static const uint8_t nothing[1];
    return (struct span){buffer->data == NULL ? nothing : buffer->data, buffer->length};
}
