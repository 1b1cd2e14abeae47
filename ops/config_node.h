/* A configuration as given: a small tree of texts, each with the place it came from. Built from YAML, then overlaid by
 * environment and flags, then typed by the table (config_apply.c). All memory belongs to an arena. */
#ifndef TARRY_OPS_CONFIG_NODE_H
#define TARRY_OPS_CONFIG_NODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ops/config_arena.h"

enum config_origin { CONFIG_ORIGIN_DEFAULT, CONFIG_ORIGIN_FILE, CONFIG_ORIGIN_ENVIRONMENT, CONFIG_ORIGIN_FLAG };

struct config_place {
    enum config_origin origin;
    const char *name; /* file, environment variable, or flag; NULL for a default */
    size_t line;      /* from 1; files only */
    size_t column;    /* from 1, in characters */
};

enum config_node_kind {
    CONFIG_NODE_SCALAR,
    CONFIG_NODE_MAP,
    CONFIG_NODE_LIST,
    CONFIG_NODE_BROKEN, /* its problem has been told: nothing more to say about it */
};

struct config_entry {
    const char *name;          /* NULL in a list */
    struct config_place place; /* of the name, in a list of the value */
    struct config_node *node;
};

struct config_node {
    enum config_node_kind kind;
    struct config_place place;
    const char *text; /* scalars only */
    bool quoted;      /* was written in quotes: an empty one was meant */
    struct config_entry *entries;
    size_t count;
    size_t room;
};

/* A node without entries, its text "". Never NULL. */
struct config_node *config_node_new(struct config_arena *arena, enum config_node_kind kind, struct config_place place);

/* A scalar; the text is copied. Never NULL. */
struct config_node *config_node_scalar(struct config_arena *arena, const char *text, struct config_place place);

/* Adds an entry at the end; the name (NULL in lists) is borrowed from the arena. */
void config_node_add(struct config_arena *arena,
                     struct config_node *node,
                     const char *name,
                     struct config_place place,
                     struct config_node *child);

/* The entry of that name in a map, or NULL: also when `node` is NULL or no map. O(entries). */
struct config_entry *config_node_find(const struct config_node *node, const char *name);

/* The entry at a dotted path, within entry `index` of the list (or map of maps) `section` when that is not NULL; NULL when it is not
 * there. */
struct config_entry *
config_node_at(const struct config_node *root, const char *section, size_t index, const char *path);

#define CONFIG_PLACE_TEXT_MAX 512

/* "FILE:LINE:COLUMN", the variable's name, the flag, or "" for a default; cut at CONFIG_PLACE_TEXT_MAX - 1 bytes. */
struct config_place_text {
    char text[CONFIG_PLACE_TEXT_MAX];
};
struct config_place_text config_node_place_text(struct config_place place);

/* The place of the entry that config_node_at finds, else of the whole tree. */
struct config_place_text config_node_place_at(const struct config_node *root, const char *section, size_t index, const char *path);

#endif
