/* Allocation that does not fail: see memory.h. The only file that calls the allocator. */
#include "base/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/checked.h"

/* Nothing useful can be done without memory, and the log in Kafka loses nothing: end, and say why. */
static _Noreturn void die(size_t count, size_t size)
{
    (void)fprintf(stderr, "tarry: out of memory (%zu x %zu bytes); give the process more, or lower its limits\n",
                  count, size);
    abort();
}

static size_t total_of(size_t count, size_t size)
{
    size_t total;
    if (!checked_mul_size(count, size, &total)) {
        die(count, size);
    }
    return total == 0 ? 1 : total;
}

void *memory_new(size_t count, size_t size)
{
    void *block = calloc(1, total_of(count, size));
    if (block == NULL) {
        die(count, size);
    }
    return block;
}

void *memory_resize(void *old, size_t count, size_t size)
{
    void *block = realloc(old, total_of(count, size));
    if (block == NULL) {
        die(count, size);
    }
    return block;
}

char *memory_text(const void *bytes, size_t length)
{
    size_t room;
    if (!checked_add_size(length, 1, &room)) {
        die(length, 1);
    }
    char *text = memory_new(room, 1);
    if (length > 0) {
        memcpy(text, bytes, length);
    }
    return text;
}
