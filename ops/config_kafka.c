#include "ops/config_kafka.h"

#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "bridge/kafka_conf.h"
#include "ops/config_file.h"
#include "ops/config_node.h"

#define NAME_MAX_BYTES 100

enum group { GROUP_COMMON, GROUP_PRODUCER, GROUP_CONSUMER };

bool config_kafka_confidential(const char *name)
{
    bool harmless =
        strstr(name, "username") != NULL ||
        (strstr(name, "oauthbearer") != NULL && strstr(name, "secret") == NULL && strstr(name, "config") == NULL);
    return kafka_conf_secret(name) && !harmless;
}

const char *config_kafka_group(size_t group)
{
    static const char *const groups[CONFIG_KAFKA_GROUPS] = {"kafka", "kafka.producer", "kafka.consumer"};
    return groups[group];
}

/* One property under its way into the arrays. */
struct property {
    struct config *config;
    const struct config_hooks *hooks;
    struct config_problems *problems;
    size_t group;
    const char *written; /* the name as written, perhaps with _file */
    const char *name;    /* librdkafka's */
    const char *value;
    struct config_place place;
};

static void complain(const struct property *property, const char *text)
{
    config_problems_error(property->problems, config_node_place_text(property->place).text, "%s.%s: %s",
                          config_kafka_group(property->group), property->written, text);
}

static bool name_valid(const char *name)
{
    size_t length = strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789._-");
    return length > 0 && name[length] == '\0' && length <= NAME_MAX_BYTES;
}

static struct config_place place_of(const struct config *config, size_t group, const char *name)
{
    const struct config_entry *map = config_node_at(config->tree, NULL, 0, config_kafka_group(group));
    const struct config_entry *entry = map == NULL ? NULL : config_node_find(map->node, name);
    return entry == NULL ? (struct config_place){0} : entry->place;
}

static bool given(const struct config_map *map, const char *name)
{
    for (size_t i = 0; i < map->count; i++) {
        if (strcmp(map->items[i].name, name) == 0) {
            return true;
        }
    }
    return false;
}

/* A name with _file behind it: the value is what the file holds. */
static bool read_secret(struct property *property)
{
    struct error error = {ERROR_NONE, ""};
    bool open_to_all = false;
    if (!kafka_conf_secret(property->name)) {
        complain(property, "only secrets can be read from a file; write the property itself");
        return false;
    }
    if (given(&property->config->kafka_given[property->group], property->name)) {
        complain(property, "given both with and without _file: remove one");
        return false;
    }
    const char *path = property->value;
    if (!config_file_secret(path, &property->config->arena, &property->value, &open_to_all, &error)) {
        error_prefix(&error, "file %s", config_value_show(path).text);
        complain(property, error.text);
        return false;
    }
    if (open_to_all) {
        config_problems_warning(property->problems, config_node_place_text(property->place).text,
                                "%s.%s: anybody on this machine can read %s: chmod 600",
                                config_kafka_group(property->group), property->written, config_value_show(path).text);
    }
    return true;
}

static void warn_of_flag(const struct property *property)
{
    if (config_kafka_confidential(property->name) && property->name == property->written &&
        property->place.origin == CONFIG_ORIGIN_FLAG) {
        config_problems_warning(property->problems, config_node_place_text(property->place).text,
                                "%s.%s: a secret on the command line can be seen by all: use %s_file",
                                config_kafka_group(property->group), property->written, property->written);
    }
}

static bool check_property(const struct property *property)
{
    const struct config_hooks *hooks = property->hooks;
    const char *reason = hooks->property_refused == NULL ? NULL : hooks->property_refused(property->name);
    struct error error = {ERROR_NONE, ""};
    if (reason != NULL) {
        snprintf(error.text, sizeof error.text, "may not be set: %s", reason);
        complain(property, error.text);
        return false;
    }
    if (hooks->property_check == NULL || hooks->property_check(property->name, property->value, &error)) {
        return true;
    }
    char words[ERROR_TEXT_MAX];
    text_printable(span_of_text(error.text), words, sizeof words); /* librdkafka repeats the value in them */
    complain(property, kafka_conf_secret(property->name)
                           ? "librdkafka refuses it or its value (not shown: it is a secret)"
                           : words);
    return false;
}

/* Makes one written pair a property; false when it has been complained of. */
static bool resolve(struct property *property)
{
    size_t length = strlen(property->written);
    bool from_file = length > 5 && strcmp(property->written + length - 5, "_file") == 0;
    if (!name_valid(property->written)) {
        config_problems_error(property->problems, config_node_place_text(property->place).text,
                              "%s.%s: no name of librdkafka's: they are lower-case words with dots",
                              config_kafka_group(property->group), config_value_show(property->written).text);
        return false;
    }
    property->name = property->written;
    if (from_file) {
        property->name = config_arena_text(&property->config->arena, property->written, length - 5);
        if (!read_secret(property)) {
            return false;
        }
    }
    warn_of_flag(property);
    return check_property(property);
}

static struct config_properties
resolve_group(struct config *config, size_t group, const struct config_hooks *hooks, struct config_problems *problems)
{
    const struct config_map *map = &config->kafka_given[group];
    struct kafka_property *items = config_arena_new(&config->arena, map->count, sizeof *items);
    size_t count = 0;
    for (size_t i = 0; i < map->count; i++) {
        const char *written = map->items[i].name;
        struct property property = {
            config, hooks, problems, group, written, written, map->items[i].value, place_of(config, group, written)};
        if (resolve(&property)) {
            items[count] = (struct kafka_property){property.name, property.value};
            count += 1;
        }
    }
    return (struct config_properties){items, count, count};
}

static const char *value_of(const struct config_properties *properties, const char *name)
{
    for (size_t i = 0; i < properties->count; i++) {
        if (strcmp(properties->items[i].name, name) == 0) {
            return properties->items[i].value;
        }
    }
    return NULL;
}

/* The common ones that are not overruled, then the own ones. */
static struct config_properties
merge(struct config *config, const struct config_properties *common, const struct config_properties *own)
{
    struct kafka_property *items = config_arena_new(&config->arena, common->count + own->count, sizeof *items);
    size_t count = 0;
    for (size_t i = 0; i < common->count; i++) {
        if (value_of(own, common->items[i].name) == NULL) {
            items[count] = common->items[i];
            count += 1;
        }
    }
    for (size_t i = 0; i < own->count; i++) {
        items[count] = own->items[i];
        count += 1;
    }
    return (struct config_properties){items, count, own->count};
}

static void check_servers(const struct config *config, struct config_problems *problems)
{
    const struct config_map *common = &config->kafka_given[GROUP_COMMON];
    if (!given(common, "bootstrap.servers") && !given(common, "metadata.broker.list")) {
        const struct config_entry *entry = config_node_at(config->tree, NULL, 0, "kafka");
        struct config_place place = entry == NULL ? config->tree->place : entry->place;
        config_problems_error(problems, config_node_place_text(place).text,
                              "kafka.bootstrap.servers: missing; name at least one broker, for example `kafka: "
                              "{bootstrap.servers: \"localhost:9092\"}`");
    }
}

void config_kafka_resolve(struct config *config, const struct config_hooks *hooks, struct config_problems *problems)
{
    config->kafka_common = resolve_group(config, GROUP_COMMON, hooks, problems);
    struct config_properties producer = resolve_group(config, GROUP_PRODUCER, hooks, problems);
    struct config_properties consumer = resolve_group(config, GROUP_CONSUMER, hooks, problems);
    config->kafka_producer = merge(config, &config->kafka_common, &producer);
    config->kafka_consumer = merge(config, &config->kafka_common, &consumer);
    check_servers(config, problems);
}
