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

static bool same_field(const struct config_key *key, const void *a, const void *b)
{
    switch (key->type) {
    case CONFIG_TYPE_NAME:
    case CONFIG_TYPE_LANE:
    case CONFIG_TYPE_TOPIC:
    case CONFIG_TYPE_PATTERN:
    case CONFIG_TYPE_ADDRESS:
    case CONFIG_TYPE_PATH:
        return same_text(*(const char *const *)a, *(const char *const *)b);
    case CONFIG_TYPE_BOOL:
        return *(const bool *)a == *(const bool *)b;
    case CONFIG_TYPE_COUNT:
    case CONFIG_TYPE_DURATION:
    case CONFIG_TYPE_SIZE:
        return *(const int64_t *)a == *(const int64_t *)b;
    case CONFIG_TYPE_CHOICE:
    case CONFIG_TYPE_CHOICES:
        return memcmp(a, b, sizeof(unsigned)) == 0;
    case CONFIG_TYPE_MAP:
        return same_map(a, b);
    case CONFIG_TYPE_PROPERTIES:
    case CONFIG_TYPE_LIST:
        break;
    }
    return true; /* compared by what they resolve to, and entry by entry */
}

static void
compare_fields(struct config_changes *changes, enum config_section section, size_t index, const void *a, const void *b)
{
    size_t count;
    const struct config_key *keys = config_table_keys(&count);
    for (size_t i = 0; i < count; i++) {
        const struct config_key *key = &keys[i];
        if (key->section == section && !same_field(key, (const char *)a + key->offset, (const char *)b + key->offset)) {
            add(changes, config_table_path_at(key, index).text, key->reloadable);
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

static void compare_sources(struct config_changes *changes, const struct config *a, const struct config *b)
{
    bool same = a->source_count == b->source_count;
    for (size_t i = 0; same && i < a->source_count; i++) {
        same = same_text(a->sources[i].topic, b->sources[i].topic);
    }
    if (!same) {
        add(changes, "sources", false);
    }
    for (size_t i = 0; same && i < a->source_count; i++) {
        compare_fields(changes, CONFIG_SECTION_SOURCE, i, &a->sources[i], &b->sources[i]);
    }
}

static void compare_targets(struct config_changes *changes, const struct config *a, const struct config *b)
{
    bool same = a->target_count == b->target_count;
    for (size_t i = 0; same && i < a->target_count; i++) {
        same = same_text(a->targets[i].name, b->targets[i].name);
    }
    if (!same) {
        add(changes, "targets", false);
    }
    for (size_t i = 0; same && i < a->target_count; i++) {
        compare_fields(changes, CONFIG_SECTION_TARGET, i, &a->targets[i], &b->targets[i]);
    }
}

struct config_changes config_diff(const struct config *before, const struct config *after)
{
    struct config_changes changes = {0};
    compare_fields(&changes, CONFIG_SECTION_TOP, 0, before, after);
    if (!same_text(before->http_token, after->http_token) &&
        same_text(before->http_token_file, after->http_token_file)) {
        add(&changes, "http.token_file", true); /* another token in the same file */
    }
    compare_properties(&changes, "kafka", &before->kafka_common, &after->kafka_common);
    compare_properties(&changes, "kafka.producer", &before->kafka_producer, &after->kafka_producer);
    compare_properties(&changes, "kafka.consumer", &before->kafka_consumer, &after->kafka_consumer);
    compare_sources(&changes, before, after);
    compare_targets(&changes, before, after);
    return changes;
}
