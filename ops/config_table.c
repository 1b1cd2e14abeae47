#include "ops/config_table.h"

#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "ops/config.h"

struct absent {
    const char *path;
    const char *why;
};

static const struct absent ABSENT[] = {
    {"metrics", "this version has no settings of metrics: remove it"},
    {"nats.password", "secrets never stand in the file: name a file that holds it, nats.password_file"},
    {"nats.token", "secrets never stand in the file: name a file that holds it, nats.token_file"},
    {"sources[].refused_topic", "what cannot be understood or delivered becomes a dead letter in JetStream (nats.url, dlq.stream), to be seen and "
                                "replayed with `tarry dlq`: remove it"},
    {"targets[].send_timeout", "a timeout for each target is not possible in this version: set message.timeout.ms "
                               "under kafka.producer, for all targets"},
};

const struct config_key *config_table_find(enum config_section section, const char *path)
{
    size_t count;
    const struct config_key *keys = config_table_keys(&count);
    for (size_t i = 0; i < count; i++) {
        if (keys[i].section == section && strcmp(keys[i].path, path) == 0) {
            return &keys[i];
        }
    }
    return NULL;
}

bool config_table_is_group(enum config_section section, const char *path)
{
    size_t length = strlen(path);
    size_t count;
    const struct config_key *keys = config_table_keys(&count);
    for (size_t i = 0; i < count; i++) {
        if (keys[i].section == section && strncmp(keys[i].path, path, length) == 0 && keys[i].path[length] == '.') {
            return true;
        }
    }
    return false;
}

#define LIST(name, section, items, count, entry) {name, false, section, offsetof(struct config, items), offsetof(struct config, count), sizeof(entry)}
#define NAMED(name, section, items, count, entry) {name, true, section, offsetof(struct config, items), offsetof(struct config, count), sizeof(entry)}

static const struct config_list LISTS[] = {
    LIST("sources", CONFIG_SECTION_SOURCE, sources, source_count, struct config_source),
    LIST("targets", CONFIG_SECTION_TARGET, targets, target_count, struct config_target),
    LIST("nack", CONFIG_SECTION_NACK, nacks, nack_count, struct config_nack),
    NAMED("dialects", CONFIG_SECTION_DIALECT, dialects, dialect_count, struct config_dialect),
};

const struct config_list *config_table_lists(size_t *count)
{
    *count = sizeof LISTS / sizeof LISTS[0];
    return LISTS;
}

const struct config_list *config_table_list(const char *name)
{
    const struct config_list *list = LISTS;
    while (strcmp(list->name, name) != 0) {
        list++;
    }
    return list;
}

void *config_table_items(const struct config_list *list, const struct config *config)
{
    void *items;
    memcpy(&items, (const char *)config + list->items_offset, sizeof items);
    return items;
}

size_t config_table_item_count(const struct config_list *list, const struct config *config)
{
    size_t count;
    memcpy(&count, (const char *)config + list->count_offset, sizeof count);
    return count;
}

const char *config_table_section_name(enum config_section section)
{
    return section == CONFIG_SECTION_TOP ? NULL : LISTS[section - 1].name;
}

bool config_table_named(enum config_section section)
{
    return section != CONFIG_SECTION_TOP && LISTS[section - 1].named;
}

/* `entry` is an index, or a name. */
static struct config_table_name prefix_with(enum config_section section, const char *entry)
{
    struct config_table_name prefix = {""};
    if (section != CONFIG_SECTION_TOP) {
        snprintf(prefix.text, sizeof prefix.text, config_table_named(section) ? "%s.%.60s." : "%s[%.60s].", config_table_section_name(section), entry);
    }
    return prefix;
}

struct config_table_name config_table_prefix(enum config_section section, size_t index, const char *name)
{
    char entry[64];
    if (config_table_named(section) && name != NULL) {
        text_printable(span_of_text(name), entry, sizeof entry);
    } else {
        snprintf(entry, sizeof entry, "%zu", index);
    }
    return prefix_with(section, entry);
}

static struct config_table_name joined(struct config_table_name prefix, const char *path)
{
    size_t length = strlen(prefix.text);
    snprintf(prefix.text + length, sizeof prefix.text - length, "%s", path);
    return prefix;
}

struct config_table_name config_table_path(const struct config_key *key)
{
    return joined(prefix_with(key->section, config_table_named(key->section) ? "<name>" : ""), key->path);
}

struct config_table_name config_table_path_at(const struct config_key *key, size_t index, const char *name)
{
    return joined(config_table_prefix(key->section, index, name), key->path);
}

static struct config_table_name environment_with(const struct config_key *key, const char *index)
{
    struct config_table_name name;
    const char *section = config_table_section_name(key->section);
    if (section == NULL) {
        snprintf(name.text, sizeof name.text, "TARRY_%s", key->path);
    } else {
        snprintf(name.text, sizeof name.text, "TARRY_%s_%s_%s", section, index, key->path);
    }
    for (char *at = name.text; *at != '\0'; at++) {
        if (*at >= 'a' && *at <= 'z') {
            *at = (char)(*at - 'a' + 'A');
        } else if (*at == '.' || *at == '-') {
            *at = '_';
        }
    }
    return name;
}

struct config_table_name config_table_environment(const struct config_key *key)
{
    struct config_table_name name = environment_with(key, "#");
    char *mark = strchr(name.text, '#');
    if (mark != NULL) {
        char rest[CONFIG_TABLE_NAME_MAX];
        snprintf(rest, sizeof rest, "%s", mark + 1);
        snprintf(mark, sizeof name.text - (size_t)(mark - name.text), "<n>%s", rest);
    }
    return name;
}

struct config_table_name config_table_environment_at(const struct config_key *key, size_t index)
{
    char number[24];
    snprintf(number, sizeof number, "%zu", index);
    return environment_with(key, number);
}

const char *config_table_absent(const char *path)
{
    for (size_t i = 0; i < sizeof ABSENT / sizeof ABSENT[0]; i++) {
        if (strcmp(ABSENT[i].path, path) == 0) {
            return ABSENT[i].why;
        }
    }
    return NULL;
}
