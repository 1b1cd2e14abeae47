#include "ops/config_apply.h"

#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "ops/config_near.h"
#include "ops/config_set.h"
#include "ops/config_table.h"

/* The struct that is being filled: the configuration itself, or one entry of a list. */
struct scope {
    struct config *config;
    struct config_problems *problems;
    enum config_section section;
    size_t index;
    const char *name; /* of an entry of a map; else NULL */
    void *base;
};

static void *field_of(const struct scope *scope, const struct config_key *key)
{
    return (char *)scope->base + key->offset;
}

static void complain(const struct scope *scope,
                     const struct config_key *key,
                     const struct config_node *node,
                     const struct error *error)
{
    bool secret = key->type == CONFIG_TYPE_SERVERS && strchr(node->text, '@') != NULL; /* user:password@ */
    config_problems_error(scope->problems, config_node_place_text(node->place).text, "%s: %s %s",
                          config_table_path_at(key, scope->index, scope->name).text, config_value_show(secret ? "***" : node->text).text,
                          error->text);
}

static void set_names(const struct scope *scope, const struct config_key *key, const struct config_node *list)
{
    const char **items = config_arena_new(&scope->config->arena, list->count + 1, sizeof *items);
    size_t count = 0;
    for (size_t i = 0; i < list->count; i++) {
        const struct config_node *item = list->entries[i].node;
        static const struct error error = {ERROR_INVALID, "expects a list of plain words"};
        if (item->kind == CONFIG_NODE_SCALAR) {
            items[count++] = item->text;
        } else if (item->kind != CONFIG_NODE_BROKEN) {
            complain(scope, key, item, &error);
        }
    }
    *(struct config_names *)field_of(scope, key) = (struct config_names){items, count};
}

static void set_defaults(const struct scope *scope)
{
    size_t count;
    const struct config_key *keys = config_table_keys(&count);
    for (size_t i = 0; i < count; i++) {
        const struct config_key *key = &keys[i];
        if (key->section != scope->section) {
            continue;
        }
        if (key->fallback == NULL && key->type == CONFIG_TYPE_DURATION) {
            *(int64_t *)field_of(scope, key) = -1;
        } else if (key->fallback != NULL && key->type == CONFIG_TYPE_NAMES) {
            config_set_names(key->fallback, &scope->config->arena, field_of(scope, key));
        } else if (key->fallback != NULL) {
            (void)config_set_scalar(key, key->fallback, field_of(scope, key),
                                    NULL); /* tests prove that each default is legal */
        }
    }
}

static void expect(const struct scope *scope, const char *path, const struct config_node *node, const char *what)
{
    bool empty = node->kind == CONFIG_NODE_SCALAR && node->text[0] == '\0' && !node->quoted;
    const char *kind = node->kind == CONFIG_NODE_MAP    ? "a map"
                       : node->kind == CONFIG_NODE_LIST ? "a list"
                                                        : "a single text";
    config_problems_error(scope->problems, config_node_place_text(node->place).text, "%s%.100s: expects %s, not %s; %s",
                          config_table_prefix(scope->section, scope->index, scope->name).text, path, what, empty ? "nothing" : kind,
                          empty ? "give it, or remove the key" : "see tarry.yaml(5)");
}

static bool legal_name(const struct config_key *key, const char *name)
{
    unsigned index;
    return key->choices == NULL || config_value_choice(name, key->choices, &index, NULL);
}

/* Whether an entry of a map is one to keep; else it has been complained of. */
static bool map_entry_fits(const struct scope *scope, const struct config_key *key, const struct config_entry *entry)
{
    const struct config_node *node = entry->node;
    struct config_table_name path = config_table_path_at(key, scope->index, scope->name);
    char shown[CONFIG_TABLE_NAME_MAX + 128];
    if (!legal_name(key, entry->name)) {
        config_problems_error(scope->problems, config_node_place_text(entry->place).text, "%s: %s is none of %s",
                              path.text, config_value_show(entry->name).text, key->choices);
        return false;
    }
    if (node->kind == CONFIG_NODE_BROKEN) {
        return false;
    }
    if (node->kind != CONFIG_NODE_SCALAR || (node->text[0] == '\0' && !node->quoted)) {
        char name[64];
        text_printable(span_of_text(entry->name), name, sizeof name);
        snprintf(shown, sizeof shown, "%s.%s", key->path, name);
        expect(scope, shown, node,
               key->type == CONFIG_TYPE_PROPERTIES
                   ? "a single text (names of librdkafka are written whole: bootstrap.servers)"
                   : "a single text");
        return false;
    }
    return true;
}

static void set_map(const struct scope *scope, const struct config_key *key, const struct config_node *node)
{
    struct config_pair *items = config_arena_new(&scope->config->arena, node->count, sizeof *items);
    size_t count = 0;
    for (size_t i = 0; i < node->count; i++) {
        const struct config_entry *entry = &node->entries[i];
        char path[CONFIG_TABLE_NAME_MAX];
        snprintf(path, sizeof path, "%s.%.100s", key->path, entry->name);
        bool other_key = config_table_find(scope->section, path) != NULL; /* kafka.producer within kafka */
        if (!other_key && map_entry_fits(scope, key, entry)) {
            items[count] = (struct config_pair){entry->name, entry->node->text};
            count += 1;
        }
    }
    *(struct config_map *)field_of(scope, key) = (struct config_map){items, count};
}

static void apply_map(const struct scope *scope, const struct config_node *map, const char *prefix);
static void apply_entries(const struct scope *scope, const struct config_key *key, const struct config_node *list);

static void apply_properties(const struct scope *scope, const struct config_key *key, const struct config_node *node)
{
    set_map(scope, key, node);
    for (size_t i = 0; i < node->count; i++) {
        char path[CONFIG_TABLE_NAME_MAX];
        snprintf(path, sizeof path, "%s.%.100s", key->path, node->entries[i].name);
        const struct config_key *inner = config_table_find(scope->section, path);
        const struct config_node *child = node->entries[i].node;
        if (inner != NULL && child->kind == CONFIG_NODE_MAP) {
            set_map(scope, inner, child);
        } else if (inner != NULL && child->kind != CONFIG_NODE_BROKEN) {
            expect(scope, path, child, "a map");
        }
    }
}

static void apply_scalar(const struct scope *scope, const struct config_key *key, const struct config_node *node)
{
    struct error error = {ERROR_NONE, ""};
    if (node->kind != CONFIG_NODE_SCALAR ||
        (node->text[0] == '\0' && !node->quoted && node->place.origin == CONFIG_ORIGIN_FILE)) {
        expect(scope, key->path, node, "a single text");
    } else if (!config_set_scalar(key, node->text, field_of(scope, key), &error)) {
        complain(scope, key, node, &error);
    }
}

static void apply_names(const struct scope *scope, const struct config_key *key, const struct config_node *node)
{
    if (node->kind == CONFIG_NODE_LIST) {
        set_names(scope, key, node);
    } else if (node->kind != CONFIG_NODE_SCALAR || node->place.origin == CONFIG_ORIGIN_FILE) {
        expect(scope, key->path, node, "a list, as [tarry]");
    } else {
        config_set_names(node->text, &scope->config->arena, field_of(scope, key));
    }
}

static void apply_key(const struct scope *scope, const struct config_key *key, const struct config_node *node)
{
    if (node->kind == CONFIG_NODE_BROKEN) {
        return;
    }
    if (key->type == CONFIG_TYPE_LIST || key->type == CONFIG_TYPE_NAMED) {
        bool named = key->type == CONFIG_TYPE_NAMED;
        if (node->kind == (named ? CONFIG_NODE_MAP : CONFIG_NODE_LIST)) {
            apply_entries(scope, key, node);
        } else {
            expect(scope, key->path, node, named ? "a map of maps" : "a list of maps");
        }
    } else if (key->type == CONFIG_TYPE_MAP || key->type == CONFIG_TYPE_PROPERTIES) {
        if (node->kind != CONFIG_NODE_MAP) {
            expect(scope, key->path, node, "a map");
        } else if (key->type == CONFIG_TYPE_MAP) {
            set_map(scope, key, node);
        } else {
            apply_properties(scope, key, node);
        }
    } else if (key->type == CONFIG_TYPE_NAMES) {
        apply_names(scope, key, node);
    } else {
        apply_scalar(scope, key, node);
    }
}

/* The nearest name that may stand below `prefix`, "" when none is near. */
static struct config_table_name near_name(enum config_section section, const char *prefix, const char *name)
{
    struct config_table_name nearest = {""};
    size_t least = SIZE_MAX;
    size_t count;
    const struct config_key *keys = config_table_keys(&count);
    size_t prefix_length = strlen(prefix);
    for (size_t i = 0; i < count; i++) {
        struct config_table_name candidate;
        size_t distance;
        if (keys[i].section != section || strncmp(keys[i].path, prefix, prefix_length) != 0) {
            continue;
        }
        const char *rest = keys[i].path + prefix_length;
        snprintf(candidate.text, sizeof candidate.text, "%.*s", (int)strcspn(rest, "."), rest);
        if (config_near_is(name, candidate.text, &distance) && distance < least) {
            least = distance;
            nearest = candidate;
        }
    }
    return nearest;
}

static void complain_unknown(const struct scope *scope, const struct config_entry *entry, const char *prefix)
{
    const char *section = config_table_section_name(scope->section);
    struct config_table_name before = config_table_prefix(scope->section, scope->index, scope->name);
    struct config_table_name whole;
    snprintf(whole.text, sizeof whole.text, "%s%s%s%.60s", section == NULL ? "" : section, section == NULL ? "" : "[].",
             prefix, entry->name);
    char name[64];
    text_printable(span_of_text(entry->name), name, sizeof name);
    const char *absent = config_table_absent(whole.text);
    struct config_place_text at = config_node_place_text(entry->place);
    const char *place = at.text;
    struct config_table_name nearest = near_name(scope->section, prefix, entry->name);
    if (absent != NULL) {
        config_problems_error(scope->problems, place, "%s%s%s: unknown key: %s", before.text, prefix, entry->name,
                              absent);
    } else if (config_table_find(scope->section, entry->name) != NULL) {
        config_problems_error(scope->problems, place, "%s: write it nested, `%.*s:` and below it the rest", entry->name,
                              (int)strcspn(entry->name, "."), entry->name);
    } else if (nearest.text[0] != '\0') {
        config_problems_error(scope->problems, place, "%s%s%s: unknown key; did you mean %s?", before.text, prefix,
                              name, nearest.text);
    } else {
        config_problems_error(scope->problems, place,
                              "%s%s%s: unknown key: remove it; `tarry config schema --markdown` lists all keys",
                              before.text, prefix, name);
    }
}

static void apply_map(const struct scope *scope, const struct config_node *map, const char *prefix)
{
    for (size_t i = 0; i < map->count; i++) {
        const struct config_entry *entry = &map->entries[i];
        char path[CONFIG_TABLE_NAME_MAX];
        int length = snprintf(path, sizeof path - 1, "%s%s", prefix, entry->name);
        bool whole = length >= 0 && (size_t)length < sizeof path - 1 && strchr(entry->name, '.') == NULL;
        const struct config_key *key = whole ? config_table_find(scope->section, path) : NULL;
        if (key != NULL) {
            apply_key(scope, key, entry->node);
        } else if (!whole || !config_table_is_group(scope->section, path)) {
            complain_unknown(scope, entry, prefix);
        } else if (entry->node->kind == CONFIG_NODE_MAP) {
            path[length] = '.';
            path[length + 1] = '\0';
            apply_map(scope, entry->node, path);
        } else if (entry->node->kind != CONFIG_NODE_BROKEN) {
            expect(scope, path, entry->node, "a map");
        }
    }
}

static const char *missing_remedy(const struct config_key *key)
{
    if (key->type == CONFIG_TYPE_NAME) {
        return "; give each process of the group a name of its own that stays over restarts, for example tarry-0 (or "
               "set TARRY_INSTANCE to a stable host name)";
    }
    return key->type == CONFIG_TYPE_LIST
               ? "; name at least one topic to read, for example `sources: [{topic: delayed-event}]`"
               : "";
}

static void check_required(const struct scope *scope, const struct config_node *node)
{
    size_t count;
    const struct config_key *keys = config_table_keys(&count);
    for (size_t i = 0; i < count; i++) {
        if (keys[i].section != scope->section || !keys[i].required) {
            continue;
        }
        const struct config_entry *entry = config_node_at(node, NULL, 0, keys[i].path);
        bool empty_list = entry != NULL && entry->node->kind == CONFIG_NODE_LIST && entry->node->count == 0;
        if (entry == NULL || empty_list) {
            config_problems_error(scope->problems, config_node_place_text(node->place).text, "%s: missing%s",
                                  config_table_path_at(&keys[i], scope->index, scope->name).text, missing_remedy(&keys[i]));
        }
    }
}

static void apply_scope(const struct scope *scope, const struct config_node *node)
{
    set_defaults(scope);
    apply_map(scope, node, "");
    check_required(scope, node);
}

/* A list of maps, or a map of maps: the entries' names are their first field. */
static void apply_entries(const struct scope *scope, const struct config_key *key, const struct config_node *list)
{
    struct config *config = scope->config;
    const struct config_list *of = config_table_list(key->path);
    char *items = config_arena_new(&config->arena, list->count, of->entry_size);
    void *field = (char *)config + of->items_offset;
    memcpy(field, &items, sizeof items);
    field = (char *)config + of->count_offset;
    memcpy(field, &list->count, sizeof list->count);
    for (size_t i = 0; i < list->count; i++) {
        const struct config_node *item = list->entries[i].node;
        struct scope inner = {config, scope->problems, of->section, i, list->entries[i].name, items + i * of->entry_size};
        if (of->named) {
            memcpy(inner.base, &inner.name, sizeof inner.name);
        }
        if (item->kind == CONFIG_NODE_MAP) {
            apply_scope(&inner, item);
        } else if (item->kind != CONFIG_NODE_BROKEN) {
            struct config_table_name path = config_table_prefix(of->section, i, inner.name);
            path.text[strlen(path.text) - 1] = '\0';
            expect(scope, path.text, item, "a map");
        }
    }
}

void config_apply(const struct config_node *tree, struct config *config, struct config_problems *problems)
{
    struct scope scope = {config, problems, CONFIG_SECTION_TOP, 0, NULL, config};
    apply_scope(&scope, tree);
    const char *prefix = config->dlq_subject_prefix == NULL ? "" : config->dlq_subject_prefix;
    bool dotted = prefix[0] == '\0' || prefix[strlen(prefix) - 1] == '.';
    config->dlq_subject_prefix = dotted ? prefix : config_arena_format(&config->arena, "%s.", prefix);
}
