/* Allocation that does not fail: it ends the process with a message instead. Bounded queues keep us far from it. */
#ifndef TARRY_BASE_MEMORY_H
#define TARRY_BASE_MEMORY_H

#include <stddef.h>

/* Like calloc: zeroed room for count * size bytes (overflow checked, 0 gives a valid pointer). Free with free().
 * Never NULL. */
void *memory_new(size_t count, size_t size) __attribute__((malloc, returns_nonnull, warn_unused_result));

/* Like reallocarray; new bytes are not zeroed. Never NULL. */
void *memory_resize(void *old, size_t count, size_t size) __attribute__((returns_nonnull, warn_unused_result));

/* Copies `length` bytes and adds a NUL. Never NULL. */
char *memory_text(const void *bytes, size_t length) __attribute__((returns_nonnull, warn_unused_result));

#endif
