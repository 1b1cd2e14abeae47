#include "ops/config_node.h"

#include <stdio.h>
#include <string.h>

struct config_node *config_node_new(struct config_arena *arena, enum config_node_kind kind, struct config_place place)
{
    struct config_node *node = config_arena_new(arena, 1, sizeof *node);
    node->kind = kind;
    node->place = place;
    node->text = "";
    return node;
}

struct config_node *config_node_scalar(struct config_arena *arena, const char *text, struct config_place place)
{
    struct config_node *node = config_node_new(arena, CONFIG_NODE_SCALAR, place);
    node->text = config_arena_text(arena, text, strlen(text));
    return node;
}

void config_node_add(struct config_arena *arena,
                     struct config_node *node,
                     const char *name,
                     struct config_place place,
                     struct config_node *child)
{
    if (node->count == node->room) {
        size_t room = node->room == 0 ? 8 : node->room * 2;
        struct config_entry *entries = config_arena_new(arena, room, sizeof *entries);
        if (node->count > 0) {
            memcpy(entries, node->entries, node->count * sizeof *entries);
        }
        node->entries = entries;
        node->room = room;
    }
    node->entries[node->count] = (struct config_entry){name, place, child};
    node->count += 1;
}

struct config_entry *config_node_find(const struct config_node *node, const char *name)
{
    if (node == NULL || node->kind != CONFIG_NODE_MAP) {
        return NULL;
    }
    for (size_t i = 0; i < node->count; i++) {
        if (strcmp(node->entries[i].name, name) == 0) {
            return &node->entries[i];
        }
    }
    return NULL;
}

struct config_entry *config_node_at(const struct config_node *root, const char *section, size_t index, const char *path)
{
    const struct config_node *node = root;
    if (section != NULL) {
        const struct config_entry *list = config_node_find(root, section);
        if (list == NULL || (list->node->kind != CONFIG_NODE_LIST && list->node->kind != CONFIG_NODE_MAP) || index >= list->node->count) {
            return NULL;
        }
        node = list->node->entries[index].node;
    }
    struct config_entry *entry = NULL;
    for (const char *at = path; at != NULL; at = strchr(at, '.') == NULL ? NULL : strchr(at, '.') + 1) {
        char name[128];
        snprintf(name, sizeof name, "%.*s", (int)strcspn(at, "."), at);
        entry = config_node_find(node, name);
        node = entry == NULL ? NULL : entry->node;
    }
    return entry;
}

struct config_place_text config_node_place_text(struct config_place place)
{
    struct config_place_text text = {""};
    if (place.origin == CONFIG_ORIGIN_FILE) {
        snprintf(text.text, sizeof text.text, "%s:%zu:%zu", place.name, place.line, place.column);
    } else if (place.name != NULL) {
        snprintf(text.text, sizeof text.text, "%s", place.name);
    }
    return text;
}

struct config_place_text config_node_place_at(const struct config_node *root, const char *section, size_t index, const char *path)
{
    const struct config_entry *entry = config_node_at(root, section, index, path);
    return config_node_place_text(entry != NULL ? entry->place : root->place);
}
