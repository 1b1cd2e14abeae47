#include "ops/config_check.h"

#include <stdio.h>
#include <string.h>

#include "bridge/target.h"
#include "ops/config_check_dlq.h"
#include "ops/config_check_kafka.h"
#include "ops/config_check_schedule.h"
#include "ops/config_node.h"
#include "ops/lanes.h"
#include "scheduler/metadata.h"

struct check {
    const struct config *config;
    struct config_problems *problems;
};

/* The place of a key, else of the list entry it belongs in, else of the whole. */
static struct config_place_text place_of(const struct check *check, const char *section, size_t index, const char *path)
{
    const struct config_node *tree = check->config->tree;
    const struct config_entry *entry = config_node_at(tree, section, index, path);
    if (entry != NULL) {
        return config_node_place_text(entry->place);
    }
    const struct config_entry *list = section == NULL ? NULL : config_node_find(tree, section);
    bool in_list = list != NULL && list->node->kind == CONFIG_NODE_LIST && index < list->node->count;
    return config_node_place_text(in_list ? list->node->entries[index].place : tree->place);
}

static bool same(const char *a, const char *b)
{
    return a != NULL && b != NULL && strcmp(a, b) == 0;
}

static void check_topics(const struct check *check, size_t index)
{
    const struct config *config = check->config;
    const struct config_source *source = &config->sources[index];
    for (size_t i = 0; i < index; i++) {
        if (same(config->sources[i].topic, source->topic)) {
            config_problems_error(check->problems, place_of(check, "sources", index, "topic").text,
                                  "sources[%zu].topic: %s is sources[%zu] too: name each topic once", index,
                                  source->topic, i);
        }
    }
}

/* It may be meant (two delays, one after the other), hence a warning only. What goes out says no time: there it needs a default_delay, or is refused. */
static void warn_of_source(const struct check *check, size_t index, const char *key, const char *target)
{
    const struct config *config = check->config;
    for (size_t i = 0; i < config->source_count; i++) {
        if (i != index && same(config->sources[i].topic, target) && !same(target, config->sources[index].topic)) {
            config_problems_warning(check->problems, place_of(check, "sources", index, key).text,
                                    "sources[%zu].%s: %s is sources[%zu].topic: what is delivered there is read as a record to be delayed again, and without "
                                    "a default_delay there refused; choose another topic, unless that is meant",
                                    index, key, config_value_show(target).text, i);
            return;
        }
    }
}

static void check_loops(const struct check *check, size_t index)
{
    const struct config_source *source = &check->config->sources[index];
    if (same(source->default_target, source->topic)) {
        config_problems_error(check->problems, place_of(check, "sources", index, "default_target").text,
                              "sources[%zu].default_target: %s is the source itself: its records would go round for "
                              "ever; choose another topic",
                              index, source->topic);
    }
    warn_of_source(check, index, "default_target", source->default_target);
    for (size_t i = 0; i < source->routes.count; i++) {
        const struct config_pair *route = &source->routes.items[i];
        if (!target_name_valid(span_of_text(route->value))) {
            config_problems_error(check->problems, place_of(check, "sources", index, "routes").text,
                                  "sources[%zu].routes: %s is not a topic", index,
                                  config_value_show(route->value).text);
        } else if (same(route->value, source->topic)) {
            config_problems_error(check->problems, place_of(check, "sources", index, "routes").text,
                                  "sources[%zu].routes: %s leads to the source itself: its records would go round for "
                                  "ever; choose another topic",
                                  index, config_value_show(route->name).text);
        }
        warn_of_source(check, index, "routes", route->value);
    }
}

static void check_fields(const struct check *check, size_t index)
{
    const struct config_map *fields = &check->config->sources[index].fields;
    static const char *const names[] = {"type", "payload", "delay_ms", "deliver_at", "target", "id", "retry_count"};
    size_t count = sizeof names / sizeof names[0];
    for (size_t i = 0; i < fields->count; i++) {
        if (fields->items[i].value[0] == '\0') {
            config_problems_error(check->problems, place_of(check, "sources", index, "fields").text,
                                  "sources[%zu].fields: %s is mapped to nothing: give a name", index,
                                  fields->items[i].name);
        }
    }
    for (size_t i = 0; i < count; i++) {
        for (size_t j = i + 1; j < count; j++) {
            const char *name = config_source_field(&check->config->sources[index], names[i]);
            if (same(name, config_source_field(&check->config->sources[index], names[j]))) {
                config_problems_error(check->problems, place_of(check, "sources", index, "fields").text,
                                      "sources[%zu].fields: %s and %s are both called %s: give each a name of its own",
                                      index, names[i], names[j], config_value_show(name).text);
            }
        }
    }
}

static void check_envelope(const struct check *check, size_t index)
{
    static const char *const dependent[] = {"envelope_out", "fields", "routes"};
    const struct config_source *source = &check->config->sources[index];
    for (size_t i = 0; i < sizeof dependent / sizeof dependent[0] && !source->envelope; i++) {
        const struct config_entry *entry = config_node_at(check->config->tree, "sources", index, dependent[i]);
        bool the_default =
            source->envelope_out == CONFIG_ENVELOPE_OUT_PAYLOAD && strcmp(dependent[i], "envelope_out") == 0;
        if (entry != NULL && !the_default) {
            config_problems_error(
                check->problems, config_node_place_text(entry->place).text,
                "sources[%zu].%s: has no effect without an envelope: add envelope: true, or remove it", index,
                dependent[i]);
        }
    }
    if (!source->envelope && source->dialects.count == 0) {
        config_problems_error(check->problems, place_of(check, "sources", index, "dialects").text,
                              "sources[%zu].dialects: neither a dialect nor an envelope: no record could be "
                              "understood; write dialects: [tarry] or envelope: true",
                              index);
    }
}

static void check_source(const struct check *check, size_t index)
{
    const struct config_source *source = &check->config->sources[index];
    check_topics(check, index);
    check_loops(check, index);
    check_fields(check, index);
    check_envelope(check, index);
    if (source->default_delay_ms > source->max_delay_ms) {
        config_problems_error(check->problems, place_of(check, "sources", index, "default_delay").text,
                              "sources[%zu].default_delay: longer than max_delay: raise max_delay or lower it", index);
    }
    if (source->topic != NULL && source->default_target == NULL && source->routes.count == 0 &&
        check->config->target_count == 0) {
        config_problems_error(
            check->problems, place_of(check, "sources", index, "topic").text,
            "sources[%zu]: no record of it could go anywhere: give a default_target, routes, or targets", index);
    }
}

static void check_target(const struct check *check, size_t index)
{
    const struct config *config = check->config;
    const struct config_target *target = &config->targets[index];
    for (size_t i = 0; i < index; i++) {
        if (same(config->targets[i].name, target->name)) {
            config_problems_error(check->problems, place_of(check, "targets", index, "name").text,
                                  "targets[%zu].name: %s is targets[%zu] too: give each lane a name of its own", index,
                                  target->name, i);
        }
        if (same(config->targets[i].match, target->match)) {
            config_problems_error(
                check->problems, place_of(check, "targets", index, "match").text,
                "targets[%zu].match: \"%s\" stands in targets[%zu] already, and the first match wins: remove one",
                index, target->match, i);
        } else if (same(config->targets[i].match, "*")) {
            config_problems_warning(check->problems, place_of(check, "targets", index, "match").text,
                                    "targets[%zu].match: nothing reaches it, as targets[%zu] matches all and stands "
                                    "before it: move that to the end",
                                    index, i);
        }
    }
}

/* All lanes, each apart from the others at worst, must fit into a committed offset's metadata (R7). */
static void check_lanes(const struct check *check)
{
    const char *names[LANES_MAX];
    size_t wanted = check->config->target_count + LANES_BUILT_IN;
    size_t count = LANES_BUILT_IN;
    size_t fit = 0;
    names[LANES_DEFAULT] = LANES_DEFAULT_NAME;
    names[LANES_REFUSED] = LANES_REFUSED_NAME;
    names[LANES_UNDECIDED] = LANES_UNDECIDED_NAME;
    for (size_t i = 0; i < check->config->target_count && count < LANES_MAX; i++) {
        if (check->config->targets[i].name == NULL) {
            return; /* it has a problem of its own */
        }
        names[count] = check->config->targets[i].name;
        count += 1;
    }
    for (size_t i = LANES_BUILT_IN; i <= count && metadata_worst_case(names, i) <= METADATA_MAX; i++) {
        fit = i - LANES_BUILT_IN;
    }
    if (wanted - LANES_BUILT_IN > fit) {
        config_problems_error(check->problems, place_of(check, NULL, 0, "targets").text,
                              "targets: %zu lanes do not fit into the metadata of a committed offset (%d bytes): with "
                              "these names the first %zu do; join some by a wider match, or shorten names",
                              wanted - LANES_BUILT_IN, METADATA_MAX, fit);
    }
}

static void check_http(const struct check *check)
{
    const struct config *config = check->config;
    if (!config->http_address.loopback && config->http_token_file == NULL) {
        config_problems_error(
            check->problems, place_of(check, NULL, 0, "http.listen").text,
            "http.listen: %s can be reached from other machines: set http.token_file, or listen on 127.0.0.1",
            config_value_show(config->http_listen).text);
    }
    struct config_address address;
    if (config->advertise != NULL && config_value_address(config->advertise, &address, NULL) &&
        (address.any || address.port == 0)) {
        config_problems_error(check->problems, place_of(check, NULL, 0, "advertise").text,
                              "advertise: %s is no address that others can reach: write a host name and a port",
                              config_value_show(config->advertise).text);
    }
}

/* A warning only: who turns copies off in a hurry, by the environment or a flag, should not have to edit the file. */
static void check_copies(const struct check *check)
{
    static const char *const dependent[] = {"copy_forward.span", "copy_forward.retention_percent"};
    for (size_t i = 0; i < sizeof dependent / sizeof dependent[0] && !check->config->copy_forward; i++) {
        const struct config_entry *entry = config_node_at(check->config->tree, NULL, 0, dependent[i]);
        if (entry != NULL) {
            config_problems_warning(check->problems, config_node_place_text(entry->place).text,
                                    "%s: has no effect with copy_forward.enabled: false: remove it", dependent[i]);
        }
    }
}

void config_check(const struct config *config, struct config_problems *problems)
{
    struct check check = {config, problems};
    for (size_t i = 0; i < config->source_count; i++) {
        check_source(&check, i);
    }
    for (size_t i = 0; i < config->target_count; i++) {
        check_target(&check, i);
    }
    check_lanes(&check);
    check_http(&check);
    check_copies(&check);
    config_check_kafka(config, problems);
    config_check_dlq(config, problems);
    config_check_schedule(config, problems);
}
