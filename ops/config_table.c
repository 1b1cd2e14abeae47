#include "ops/config_table.h"

#include <stdio.h>
#include <string.h>

struct absent {
    const char *path;
    const char *why;
};

static const struct absent ABSENT[] = {
    {"nats", "this version does not use NATS: remove it"},
    {"dlq", "this version has no dead-letter stream: remove it; what fails goes to the source's refused_topic"},
    {"nack", "this version does not read consumers' failures: remove it"},
    {"history", "this version keeps no history topic: remove it"},
    {"metrics", "this version has no settings of metrics: remove it"},
    {"sources[].dedupe", "this version does not look for duplicates: remove it"},
    {"sources[].max_lateness", "this version delivers late records always (late: fire): remove it"},
    {"targets[].rate", "this version does not limit rates: remove it; max_in_flight bounds what is unacknowledged"},
    {"targets[].retry", "this version sends again for as long as a target is away: remove it"},
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

const char *config_table_section_name(enum config_section section)
{
    switch (section) {
    case CONFIG_SECTION_SOURCE:
        return "sources";
    case CONFIG_SECTION_TARGET:
        return "targets";
    case CONFIG_SECTION_TOP:
        break;
    }
    return NULL;
}

static struct config_table_name path_with(const struct config_key *key, const char *index)
{
    struct config_table_name name;
    const char *section = config_table_section_name(key->section);
    if (section == NULL) {
        snprintf(name.text, sizeof name.text, "%s", key->path);
    } else {
        snprintf(name.text, sizeof name.text, "%s[%s].%s", section, index, key->path);
    }
    return name;
}

struct config_table_name config_table_path(const struct config_key *key)
{
    return path_with(key, "");
}

struct config_table_name config_table_path_at(const struct config_key *key, size_t index)
{
    char number[24];
    snprintf(number, sizeof number, "%zu", index);
    return path_with(key, number);
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
