/*
 * Where a page of a list ends, as text: base64url of (due, topic, partition, offset), opaque to whoever carries it.
 *
 * It names a place in the order of the list and nothing of the store, so it stays right when rows are split into finer buckets, over a restart, and at another
 * instance. Pure, any thread.
 */
#ifndef TARRY_OPS_API_LIST_CURSOR_H
#define TARRY_OPS_API_LIST_CURSOR_H

#include <stdbool.h>

#include "base/span.h"
#include "ops/api_list_place.h"

#define API_LIST_CURSOR_TEXT_SIZE 384 /* room for the longest, with its NUL */

/* What is listed next is greater than this. An empty topic with partition and offset -1 is before all that is due then. */
struct api_list_cursor {
    int64_t due_ms; /* 0 or greater */
    struct api_list_place place;
    int64_t offset; /* -1 or greater */
};

/* Before everything. */
#define API_LIST_CURSOR_BEGIN ((struct api_list_cursor){0, {"", -1}, -1})

/* Writes it as text of [A-Za-z0-9_-]. */
void api_list_cursor_text(const struct api_list_cursor *cursor, char text[API_LIST_CURSOR_TEXT_SIZE]);

/* Reads it back; false: it is none that api_list_cursor_text wrote (cut, altered, of a later version); *cursor is untouched then. Never reads outside. */
bool api_list_cursor_read(struct span text, struct api_list_cursor *cursor);

#endif
