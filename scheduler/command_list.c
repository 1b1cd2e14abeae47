#include "scheduler/command_list.h"

#include <stdlib.h>

#include "base/memory.h"

struct command *command_list_add(struct command_list *list, enum command_kind kind, const struct slot *slot)
{
    if (list->count == list->capacity) {
        list->capacity = list->capacity == 0 ? 64 : list->capacity * 2;
        list->items = memory_resize(list->items, list->capacity, sizeof(*list->items));
    }
    struct command *command = &list->items[list->count++];
    *command = (struct command){.kind = kind};
    if (slot != NULL) {
        command->slot = slot->index;
        command->epoch = slot->epoch;
    }
    return command;
}

void command_list_release(struct command_list *list, row_ref ref)
{
    if (list->release_count == list->release_capacity) {
        list->release_capacity = list->release_capacity == 0 ? 64 : list->release_capacity * 2;
        list->releases = memory_resize(list->releases, list->release_capacity, sizeof(*list->releases));
    }
    list->releases[list->release_count++] = ref;
}

void command_list_clear(struct command_list *list)
{
    list->count = 0;
    list->release_count = 0;
}

void command_list_take(struct command_list *list, struct command_list *from)
{
    command_list_clear(list);
    for (size_t i = 0; i < from->count; i++) {
        *command_list_add(list, from->items[i].kind, NULL) = from->items[i];
    }
    command_list_clear(from);
}

void command_list_free(struct command_list *list)
{
    free(list->items);
    free(list->releases);
    *list = (struct command_list){0};
}
