#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "ops/config.h"
#include "ops/config_kafka.h"
#include "ops/config_table.h"

static void add(struct config_changes *changes, const char *path, bool reloadable)
{
    changes->items = memory_resize(changes->items, changes->count + 1, sizeof *changes->items);
    struct config_change *change = &changes->items[changes->count];
    snprintf(change->path, sizeof change->path, "%s", path);
    change->reloadable = reloadable;
    changes->count += 1;
}

static bool same_text(const char *a, const char *b)
{
    return a == NULL || b == NULL ? a == b : strcmp(a, b) == 0;
}

static bool same_map(const struct config_map *a, const struct config_map *b)
{
    bool same = a->count == b->count;
    for (size_t i = 0; same && i < a->count; i++) {
        same = same_text(a->items[i].name, b->items[i].name) && same_text(a->items[i].value, b->items[i].value);
    }
    return same;
}

static bool same_names(const struct config_names *a, const struct config_names *b)
{
    bool same = a->count == b->count;
    for (size_t i = 0; same && i < a->count; i++) {
        same = same_text(a->items[i], b->items[i]);
    }
    return same;
}

static bool same_field(const struct config_key *key, const void *a, const void *b)
{
    switch (key->type) {
    case CONFIG_TYPE_NAME:
    case CONFIG_TYPE_LANE:
    case CONFIG_TYPE_TOPIC:
    case CONFIG_TYPE_PATTERN:
    case CONFIG_TYPE_ADDRESS:
    case CONFIG_TYPE_PATH:
    case CONFIG_TYPE_TEXT:
    case CONFIG_TYPE_SERVERS:
    case CONFIG_TYPE_STREAM:
    case CONFIG_TYPE_SUBJECT:
        return same_text(*(const char *const *)a, *(const char *const *)b);
    case CONFIG_TYPE_BOOL:
        return *(const bool *)a == *(const bool *)b;
    case CONFIG_TYPE_COUNT:
    case CONFIG_TYPE_DURATION:
    case CONFIG_TYPE_SIZE:
        return *(const int64_t *)a == *(const int64_t *)b;
    case CONFIG_TYPE_TIMES:
    case CONFIG_TYPE_PERCENT:
    case CONFIG_TYPE_RATE:
        return *(const uint32_t *)a == *(const uint32_t *)b;
    case CONFIG_TYPE_CHOICE:
        return memcmp(a, b, sizeof(unsigned)) == 0;
    case CONFIG_TYPE_NAMES:
        return same_names(a, b);
    case CONFIG_TYPE_MAP:
        return same_map(a, b);
    case CONFIG_TYPE_PROPERTIES:
    case CONFIG_TYPE_LIST:
    case CONFIG_TYPE_NAMED:
        break;
    }
    return true; /* compared by what they resolve to, and entry by entry */
}

/* The name of an entry of any list is its first field: topic, name, match. */
static const char *entry_name(const void *entry)
{
    return *(const char *const *)entry;
}

static void
compare_fields(struct config_changes *changes, enum config_section section, size_t index, const void *a, const void *b)
{
    size_t count;
    const struct config_key *keys = config_table_keys(&count);
    for (size_t i = 0; i < count; i++) {
        const struct config_key *key = &keys[i];
        if (key->section == section && !same_field(key, (const char *)a + key->offset, (const char *)b + key->offset)) {
            add(changes, config_table_path_at(key, index, config_table_named(section) ? entry_name(a) : NULL).text, key->reloadable);
        }
    }
}

static const char *own_value(const struct config_properties *properties, const char *name)
{
    for (size_t i = properties->count - properties->own; i < properties->count; i++) {
        if (strcmp(properties->items[i].name, name) == 0) {
            return properties->items[i].value;
        }
    }
    return NULL;
}

static void add_property(struct config_changes *changes, const char *prefix, const char *name)
{
    char path[sizeof changes->items->path];
    snprintf(path, sizeof path, "%s.%.150s", prefix, name);
    add(changes, path, false);
}

static void compare_properties(struct config_changes *changes,
                               const char *prefix,
                               const struct config_properties *before,
                               const struct config_properties *after)
{
    for (size_t i = before->count - before->own; i < before->count; i++) {
        if (!same_text(before->items[i].value, own_value(after, before->items[i].name))) {
            add_property(changes, prefix, before->items[i].name);
        }
    }
    for (size_t i = after->count - after->own; i < after->count; i++) {
        if (own_value(before, after->items[i].name) == NULL) {
            add_property(changes, prefix, after->items[i].name);
        }
    }
}

/* Entry by entry when both lists name the same things in the same order; else the list as such has changed. */
static void compare_list(struct config_changes *changes, const struct config_list *list, const struct config *a, const struct config *b)
{
    const char *before = config_table_items(list, a);
    const char *after = config_table_items(list, b);
    size_t count = config_table_item_count(list, a);
    bool same = count == config_table_item_count(list, b);
    for (size_t i = 0; same && i < count; i++) {
        same = same_text(entry_name(before + i * list->entry_size), entry_name(after + i * list->entry_size));
    }
    if (!same) {
        add(changes, list->name, false);
    }
    for (size_t i = 0; same && i < count; i++) {
        compare_fields(changes, list->section, i, before + i * list->entry_size, after + i * list->entry_size);
    }
}

/* Another secret in the same file. */
static void compare_secret(struct config_changes *changes, const char *path, const char *const files[2], const char *const secrets[2])
{
    if (!same_text(secrets[0], secrets[1]) && same_text(files[0], files[1])) {
        add(changes, path, config_table_find(CONFIG_SECTION_TOP, path)->reloadable);
    }
}

struct config_changes config_diff(const struct config *before, const struct config *after)
{
    struct config_changes changes = {0};
    compare_fields(&changes, CONFIG_SECTION_TOP, 0, before, after);
    compare_secret(&changes, "nats.password_file", (const char *const[]){before->nats_password_file, after->nats_password_file},
                   (const char *const[]){before->nats_password, after->nats_password});
    compare_secret(&changes, "nats.token_file", (const char *const[]){before->nats_token_file, after->nats_token_file},
                   (const char *const[]){before->nats_token, after->nats_token});
    compare_secret(&changes, "http.token_file", (const char *const[]){before->http_token_file, after->http_token_file},
                   (const char *const[]){before->http_token, after->http_token});
    compare_properties(&changes, "kafka", &before->kafka_common, &after->kafka_common);
    compare_properties(&changes, "kafka.producer", &before->kafka_producer, &after->kafka_producer);
    compare_properties(&changes, "kafka.consumer", &before->kafka_consumer, &after->kafka_consumer);
    size_t count;
    const struct config_list *lists = config_table_lists(&count);
    for (size_t i = 0; i < count; i++) {
        compare_list(&changes, &lists[i], before, after);
    }
    return changes;
}
