/* Everything a loaded configuration owns (nodes, texts, arrays) in one place, freed at once. Small and few: not for hot
 * paths. */
#ifndef TARRY_OPS_CONFIG_ARENA_H
#define TARRY_OPS_CONFIG_ARENA_H

#include <stddef.h>

struct config_arena {
    void **blocks;
    size_t count;
    size_t room;
};

/* Zeroed room for count * size bytes, valid until config_arena_free. Never NULL. */
void *config_arena_new(struct config_arena *arena, size_t count, size_t size) __attribute__((returns_nonnull));

/* Copies `length` bytes and adds a NUL. Never NULL. */
const char *config_arena_text(struct config_arena *arena, const void *bytes, size_t length)
    __attribute__((returns_nonnull));

/* Formats into the arena. Never NULL. */
const char *config_arena_format(struct config_arena *arena, const char *format, ...)
    __attribute__((format(printf, 2, 3), returns_nonnull));

/* Frees all blocks; the arena is empty and usable again. */
void config_arena_free(struct config_arena *arena);

#endif
