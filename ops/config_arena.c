#include "ops/config_arena.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

static void remember(struct config_arena *arena, void *block)
{
    if (arena->count == arena->room) {
        arena->room = arena->room == 0 ? 64 : arena->room * 2;
        arena->blocks = memory_resize(arena->blocks, arena->room, sizeof *arena->blocks);
    }
    arena->blocks[arena->count] = block;
    arena->count += 1;
}

void *config_arena_new(struct config_arena *arena, size_t count, size_t size)
{
    void *block = memory_new(count, size);
    remember(arena, block);
    return block;
}

const char *config_arena_text(struct config_arena *arena, const void *bytes, size_t length)
{
    char *text = memory_text(bytes, length);
    remember(arena, text);
    return text;
}

const char *config_arena_format(struct config_arena *arena, const char *format, ...)
{
    char text[1024];
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (length < 0) {
        text[0] = '\0';
    }
    return config_arena_text(arena, text, strlen(text));
}

void config_arena_free(struct config_arena *arena)
{
    for (size_t i = 0; i < arena->count; i++) {
        free(arena->blocks[i]);
    }
    free(arena->blocks);
    *arena = (struct config_arena){0};
}
