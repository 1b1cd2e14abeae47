/*
 * A span is a borrowed run of bytes: it owns nothing and is as valid as what it points into.
 * data == NULL is "absent" (a Kafka null); length 0 with data != NULL is "empty". The two are never confused.
 */
#ifndef TARRY_BASE_SPAN_H
#define TARRY_BASE_SPAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct span {
    const uint8_t *data;
    size_t length;
};

#define SPAN_ABSENT ((struct span){NULL, 0})

/* Borrows a NUL-terminated text, without its NUL. NULL gives an absent span. */
static inline struct span span_of_text(const char *text)
{
    return (struct span){(const uint8_t *)text, text == NULL ? 0 : strlen(text)};
}

/* True when both are absent, or both present with the same bytes. O(length). */
static inline bool span_equal(struct span a, struct span b)
{
    if (a.data == NULL || b.data == NULL) {
        return a.data == b.data;
    }
    return a.length == b.length && (a.length == 0 || memcmp(a.data, b.data, a.length) == 0);
}

static inline bool span_equals_text(struct span a, const char *text)
{
    return a.data != NULL && span_equal(a, span_of_text(text));
}

#endif
