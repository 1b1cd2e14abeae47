#include "ops/config_override.h"

#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "ops/config_near.h"
#include "ops/config_table.h"

/* The one value that a path or a variable names. */
struct spot {
    const struct config_key *key; /* NULL: none */
    size_t index;                 /* of the list entry, when the key is in a section */
    const char *name;             /* within a map: the entry's name; else NULL */
};

static void put(struct config_arena *arena, struct config_node *map, const char *name, struct config_node *value)
{
    struct config_entry *entry = config_node_find(map, name);
    if (entry == NULL) {
        config_node_add(arena, map, config_arena_text(arena, name, strlen(name)), value->place, value);
    } else {
        entry->node = value;
        entry->place = value->place;
    }
}

/* The child of that name and kind, made when absent; NULL when the file has something else there (that will be
 * complained of). */
static struct config_node *child(struct config_arena *arena,
                                 struct config_node *map,
                                 const char *name,
                                 enum config_node_kind kind,
                                 struct config_place place)
{
    const struct config_entry *entry = config_node_find(map, name);
    if (entry != NULL) {
        return entry->node->kind == kind ? entry->node : NULL;
    }
    struct config_node *node = config_node_new(arena, kind, place);
    put(arena, map, name, node);
    return node;
}

/* The map that a spot's key stands in: the tree, or its entry of the list. */
static struct config_node *scope_of(struct config_arena *arena,
                                    struct config_node *tree,
                                    const struct spot *spot,
                                    struct config_place place,
                                    struct config_problems *problems)
{
    const char *section = config_table_section_name(spot->key->section);
    if (section == NULL) {
        return tree;
    }
    struct config_node *list = child(arena, tree, section, CONFIG_NODE_LIST, place);
    if (list == NULL) {
        return NULL;
    }
    if (spot->index > list->count) {
        config_problems_error(problems, place.name, "%s has %zu entries: the next index is %zu", section, list->count,
                              list->count);
        return NULL;
    }
    if (spot->index == list->count) {
        config_node_add(arena, list, NULL, place, config_node_new(arena, CONFIG_NODE_MAP, place));
    }
    struct config_node *item = list->entries[spot->index].node;
    return item->kind == CONFIG_NODE_MAP ? item : NULL;
}

static void set(struct config_arena *arena,
                struct config_node *tree,
                const struct spot *spot,
                const char *value,
                struct config_place place,
                struct config_problems *problems)
{
    if (!text_is_utf8(span_of_text(value))) {
        config_problems_error(problems, place.name, "is not UTF-8 text");
        return;
    }
    struct config_node *map = scope_of(arena, tree, spot, place, problems);
    const char *at = spot->key->path;
    char name[CONFIG_TABLE_NAME_MAX];
    for (size_t length; map != NULL && at[length = strcspn(at, ".")] == '.'; at += length + 1) {
        snprintf(name, sizeof name, "%.*s", (int)length, at);
        map = child(arena, map, name, CONFIG_NODE_MAP, place);
    }
    if (map != NULL && spot->name != NULL) {
        map = child(arena, map, at, CONFIG_NODE_MAP, place);
        at = spot->name;
    }
    if (map != NULL) {
        put(arena, map, at, config_node_scalar(arena, value, place));
    }
}

/* Takes "sources[2]." or "sources.2." off the front of a path. */
static enum config_section take_section(const char **path, size_t *index)
{
    size_t count;
    const struct config_list *lists = config_table_lists(&count);
    for (size_t i = 0; i < count; i++) {
        const char *name = lists[i].name;
        size_t length = strlen(name);
        const char *at = *path + length;
        if (lists[i].named || strncmp(*path, name, length) != 0 || (*at != '.' && *at != '[')) {
            continue;
        }
        bool bracket = *at == '[';
        size_t number = 0;
        size_t digits = 0;
        for (at++; *at >= '0' && *at <= '9' && digits < 5; at++, digits++) {
            number = number * 10 + (size_t)(*at - '0');
        }
        at += bracket && *at == ']' ? 1 : 0;
        if (digits > 0 && *at == '.' && (at[-1] == ']') == bracket) {
            *path = at + 1;
            *index = number;
            return lists[i].section;
        }
    }
    return CONFIG_SECTION_TOP;
}

/* The key a path names, or the map key with the longest path that it begins with. */
static struct spot spot_of_path(const char *path)
{
    struct spot spot = {0};
    const char *rest = path;
    enum config_section section = take_section(&rest, &spot.index);
    size_t count;
    const struct config_key *keys = config_table_keys(&count);
    size_t longest = 0;
    for (size_t i = 0; i < count; i++) {
        size_t length = strlen(keys[i].path);
        bool map = keys[i].type == CONFIG_TYPE_MAP || keys[i].type == CONFIG_TYPE_PROPERTIES;
        if (keys[i].section != section || strncmp(keys[i].path, rest, length) != 0 ||
            keys[i].type == CONFIG_TYPE_LIST || keys[i].type == CONFIG_TYPE_NAMED) {
            continue;
        }
        if (!map && rest[length] == '\0') {
            spot.key = &keys[i];
            spot.name = NULL;
            return spot;
        }
        if (map && rest[length] == '.' && rest[length + 1] != '\0' && length > longest) {
            longest = length;
            spot.key = &keys[i];
            spot.name = rest + length + 1;
        }
    }
    return spot;
}

void config_override_settings(struct config_node *tree,
                              const struct config_setting *settings,
                              size_t count,
                              struct config_arena *arena,
                              struct config_problems *problems)
{
    for (size_t i = 0; i < count; i++) {
        struct spot spot = spot_of_path(settings[i].path);
        if (spot.key == NULL) {
            config_problems_error(problems, settings[i].flag,
                                  "%s names no key that a flag can set; for example store.path, sources[0].topic, "
                                  "kafka.bootstrap.servers",
                                  config_value_show(settings[i].path).text);
            continue;
        }
        const char *flag = config_arena_text(arena, settings[i].flag, strlen(settings[i].flag));
        struct config_place place = {.origin = CONFIG_ORIGIN_FLAG, .name = flag};
        set(arena, tree, &spot, settings[i].value, place, problems);
    }
}

/* SASL_PASSWORD_FILE -> sasl.password_file */
static const char *property_of(struct config_arena *arena, const char *rest)
{
    char name[CONFIG_TABLE_NAME_MAX];
    snprintf(name, sizeof name, "%s", rest);
    for (char *at = name; *at != '\0'; at++) {
        if (*at >= 'A' && *at <= 'Z') {
            *at = (char)(*at - 'A' + 'a');
        } else if (*at == '_') {
            *at = '.';
        }
    }
    size_t length = strlen(name);
    if (length > 5 && strcmp(name + length - 5, ".file") == 0) {
        name[length - 5] = '_';
    }
    return config_arena_text(arena, name, length);
}

/* The index in TARRY_SOURCES_<index>_...; false: it is no such name. */
static bool index_of(const char *name, const char *section, size_t *index)
{
    char start[CONFIG_TABLE_NAME_MAX + 1];
    struct config_key key = {.path = section, .section = CONFIG_SECTION_TOP};
    snprintf(start, sizeof start, "%s_", config_table_environment(&key).text);
    size_t length = strlen(start);
    if (strncmp(name, start, length) != 0) {
        return false;
    }
    size_t number = 0;
    size_t digits = 0;
    for (const char *at = name + length; *at >= '0' && *at <= '9' && digits < 5; at++, digits++) {
        number = number * 10 + (size_t)(*at - '0');
    }
    *index = number;
    return digits > 0;
}

static struct spot spot_of_variable(const char *name, struct config_arena *arena)
{
    struct spot spot = {0};
    size_t count;
    const struct config_key *keys = config_table_keys(&count);
    size_t longest = 0;
    for (size_t i = 0; i < count; i++) {
        const char *section = config_table_section_name(keys[i].section);
        size_t index = 0;
        if (keys[i].type == CONFIG_TYPE_LIST || keys[i].type == CONFIG_TYPE_MAP || keys[i].type == CONFIG_TYPE_NAMED || config_table_named(keys[i].section) ||
            (section != NULL && !index_of(name, section, &index))) {
            continue;
        }
        struct config_table_name full = config_table_environment_at(&keys[i], index);
        size_t length = strlen(full.text);
        bool properties = keys[i].type == CONFIG_TYPE_PROPERTIES;
        if (!properties && strcmp(full.text, name) == 0) {
            return (struct spot){&keys[i], index, NULL};
        }
        if (properties && strncmp(full.text, name, length) == 0 && name[length] == '_' && name[length + 1] != '\0' &&
            length > longest) {
            longest = length;
            spot = (struct spot){&keys[i], 0, property_of(arena, name + length + 1)};
        }
    }
    return spot;
}

/* Variables that others read or set: other verbs, and Kubernetes for a service called tarry. */
static bool not_ours(const char *name)
{
    static const char *const whole[] = {"TARRY_CONFIG", "TARRY_SERVER", "TARRY_TOKEN_FILE", "TARRY_NO_COLOR",
                                        "TARRY_PORT"};
    static const char *const starts[] = {"TARRY_PORT_", "TARRY_SERVICE_"};
    for (size_t i = 0; i < sizeof whole / sizeof whole[0]; i++) {
        if (strcmp(name, whole[i]) == 0) {
            return true;
        }
    }
    return strncmp(name, starts[0], strlen(starts[0])) == 0 || strncmp(name, starts[1], strlen(starts[1])) == 0;
}

static void warn_unknown(const char *name, struct config_problems *problems)
{
    struct config_table_name nearest = {""};
    size_t least = SIZE_MAX;
    size_t count;
    const struct config_key *keys = config_table_keys(&count);
    for (size_t i = 0; i < count; i++) {
        const char *section = config_table_section_name(keys[i].section);
        size_t index = 0;
        size_t distance;
        if (config_table_named(keys[i].section) || (section != NULL && !index_of(name, section, &index))) {
            continue;
        }
        struct config_table_name candidate = config_table_environment_at(&keys[i], index);
        if (config_near_is(name, candidate.text, &distance) && distance < least) {
            least = distance;
            nearest = candidate;
        }
    }
    config_problems_warning(problems, name, "names no key and is ignored%s%s%s",
                            nearest.text[0] == '\0' ? "" : "; did you mean ", nearest.text,
                            nearest.text[0] == '\0' ? "" : "?");
}

void config_override_environment(struct config_node *tree,
                                 const char *const *environment,
                                 struct config_arena *arena,
                                 struct config_problems *problems)
{
    for (size_t i = 0; environment != NULL && environment[i] != NULL; i++) {
        const char *equals = strchr(environment[i], '=');
        if (strncmp(environment[i], "TARRY_", 6) != 0 || equals == NULL || equals[1] == '\0') {
            continue;
        }
        const char *name = config_arena_text(arena, environment[i], (size_t)(equals - environment[i]));
        struct spot spot = spot_of_variable(name, arena);
        if (spot.key != NULL) {
            struct config_place place = {.origin = CONFIG_ORIGIN_ENVIRONMENT, .name = name};
            set(arena, tree, &spot, equals + 1, place, problems);
        } else if (!not_ours(name)) {
            warn_unknown(name, problems);
        }
    }
}
