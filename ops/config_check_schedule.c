#include "ops/config_check_schedule.h"

#include <stdio.h>
#include <string.h>

#include "bridge/decode.h"
#include "bridge/dialect.h"
#include "bridge/target.h"
#include "ops/config_near.h"
#include "ops/config_node.h"
#include "ops/config_table.h"

#define NAME_MAX_BYTES 48 /* of a dialect */

struct check {
    const struct config *config;
    struct config_problems *problems;
};

static bool same(const char *a, const char *b)
{
    return a != NULL && b != NULL && strcmp(a, b) == 0;
}

/* Keeps `candidate` when it is nearer to `name` than what was kept. */
static void nearer(const char *name, const char *candidate, const char **nearest, size_t *least)
{
    size_t distance;
    if (config_near_is(name, candidate, &distance) && distance < *least) {
        *least = distance;
        *nearest = candidate;
    }
}

/* ------------------------------------------------------------------------------------------------- dialects */

static bool is_own(const struct config *config, const char *name)
{
    for (size_t i = 0; i < config->dialect_count; i++) {
        if (same(config->dialects[i].name, name)) {
            return true;
        }
    }
    return false;
}

static void complain_unknown(const struct check *check, size_t index, const char *name)
{
    const struct config *config = check->config;
    const char *nearest = NULL;
    size_t least = SIZE_MAX;
    for (size_t i = 0; dialect_preset_name(i) != NULL; i++) {
        nearer(name, dialect_preset_name(i), &nearest, &least);
    }
    for (size_t i = 0; i < config->dialect_count; i++) {
        nearer(name, config->dialects[i].name, &nearest, &least);
    }
    config_problems_error(check->problems, config_node_place_at(check->config->tree, "sources", index, "dialects").text,
                          "sources[%zu].dialects: %s is neither tarry, etf1, karafka, rabbitmq, rocketmq, activemq nor a name under the key "
                          "dialects%s%.60s%s",
                          index, config_value_show(name).text, nearest == NULL ? "" : "; did you mean ", nearest == NULL ? "" : nearest,
                          nearest == NULL ? "" : "?");
}

static void check_names(const struct check *check, size_t index)
{
    const struct config_names *names = &check->config->sources[index].dialects;
    if (names->count > DIALECTS_MAX) {
        config_problems_error(check->problems, config_node_place_at(check->config->tree, "sources", index, "dialects").text,
                              "sources[%zu].dialects: %zu of them, %d are the most: remove some, or join your own ones", index, names->count,
                              DIALECTS_MAX);
    }
    for (size_t i = 0; i < names->count; i++) {
        if (dialect_preset(span_of_text(names->items[i])) == NULL && !is_own(check->config, names->items[i])) {
            complain_unknown(check, index, names->items[i]);
        }
        for (size_t j = 0; j < i; j++) {
            if (same(names->items[i], names->items[j])) {
                config_problems_error(check->problems, config_node_place_at(check->config->tree, "sources", index, "dialects").text, "sources[%zu].dialects: %s stands in it twice",
                                      index, config_value_show(names->items[i]).text);
            }
        }
    }
}

static void complain_meaning(const struct check *check, size_t index, const struct config_pair *header)
{
    const char *nearest = NULL;
    size_t least = SIZE_MAX;
    for (size_t i = 0; dialect_meaning_name(i) != NULL; i++) {
        nearer(header->value, dialect_meaning_name(i), &nearest, &least);
    }
    config_problems_error(check->problems, config_node_place_at(check->config->tree, "dialects", index, "headers").text,
                          "dialects.%.60s.headers: %s says %s, which is no meaning of a header: %s%s%s", check->config->dialects[index].name,
                          config_value_show(header->name).text, config_value_show(header->value).text,
                          nearest == NULL ? "write for example delay_ms, at, topic or id; docs/configuration.md lists all" : "did you mean ",
                          nearest == NULL ? "" : nearest, nearest == NULL ? "" : "?");
}

static void check_headers(const struct check *check, size_t index)
{
    const struct config_dialect *dialect = &check->config->dialects[index];
    struct config_place_text place = config_node_place_at(check->config->tree, "dialects", index, "headers");
    if (dialect->headers.count > DIALECT_ENTRIES_MAX) {
        config_problems_error(check->problems, place.text, "dialects.%.60s.headers: %zu headers, %d are the most", dialect->name,
                              dialect->headers.count, DIALECT_ENTRIES_MAX);
    }
    if (dialect->headers.count == 0 && config_node_at(check->config->tree, "dialects", index, "headers") != NULL) {
        config_problems_error(check->problems, place.text,
                              "dialects.%.60s.headers: names no header, so no record could be of it: name one, as {X-Delay: delay_ms}",
                              dialect->name);
    }
    for (size_t i = 0; i < dialect->headers.count; i++) {
        const struct config_pair *header = &dialect->headers.items[i];
        struct dialect_entry entry;
        size_t length = strlen(header->name);
        if (length == 0 || length > DIALECT_HEADER_MAX) {
            config_problems_error(check->problems, place.text, "dialects.%.60s.headers: %s is not the name of a header: write 1 to %d bytes",
                                  dialect->name, config_value_show(header->name).text, DIALECT_HEADER_MAX);
        } else if (decode_is_control_header(span_of_text(header->name))) {
            config_problems_error(check->problems, place.text, "dialects.%.60s.headers: %s is tarry's own: switch it on by `tarry` in sources[].dialects",
                                  dialect->name, config_value_show(header->name).text);
        }
        if (!dialect_meaning(span_of_text(header->value), &entry)) {
            complain_meaning(check, index, header);
        }
    }
}

static void check_dialect(const struct check *check, size_t index)
{
    const struct config *config = check->config;
    const char *name = config->dialects[index].name;
    struct config_place_text place = config_node_place_at(check->config->tree, NULL, 0, "dialects");
    bool used = false;
    for (size_t i = 0; i < config->source_count; i++) {
        used = used || config_source_speaks(&config->sources[i], name);
    }
    if (!config_value_name(name, NAME_MAX_BYTES, NULL)) {
        config_problems_error(check->problems, place.text, "dialects: %s is not a name: write 1 to %d letters, digits, dots, underscores and hyphens",
                              config_value_show(name).text, NAME_MAX_BYTES);
    } else if (dialect_preset(span_of_text(name)) != NULL) {
        config_problems_error(check->problems, place.text, "dialects: %s is the name of a built-in one: choose another, and switch both on", name);
    } else if (!used) {
        config_problems_warning(check->problems, place.text, "dialects.%s: no source speaks it: add it to sources[].dialects, or remove it", name);
    }
    check_headers(check, index);
}

/* ------------------------------------------------------------------------------------------------- lateness */

static void check_lateness(const struct check *check, size_t index)
{
    const struct config_source *source = &check->config->sources[index];
    if (source->late != FIRING_LATE_FIRE && source->max_lateness_ms < 0) {
        config_problems_error(check->problems, config_node_place_at(check->config->tree, "sources", index, "late").text,
                              "sources[%zu].late: how late is too late? Give max_lateness, for example max_lateness: 1h", index);
    } else if (source->late == FIRING_LATE_FIRE && config_node_at(check->config->tree, "sources", index, "max_lateness") != NULL) {
        config_problems_warning(check->problems, config_node_place_at(check->config->tree, "sources", index, "max_lateness").text,
                                "sources[%zu].max_lateness: has no effect with late: fire: add late: letter or late: drop, or remove it", index);
    }
    if (source->spread_ms > source->misfire_after_ms) {
        config_problems_warning(check->problems, config_node_place_at(check->config->tree, "sources", index, "spread").text,
                                "sources[%zu].spread: longer than misfire_after: occurrences that lie closer together than that are spread over each "
                                "other; raise misfire_after, or lower it",
                                index);
    }
}

/* ------------------------------------------------------------------------------------------------- history */

static bool is_target(const struct config *config, const char *topic)
{
    for (size_t i = 0; i < config->source_count; i++) {
        const struct config_source *source = &config->sources[i];
        bool found = same(source->default_target, topic);
        for (size_t r = 0; !found && r < source->routes.count; r++) {
            found = same(source->routes.items[r].value, topic);
        }
        if (found) {
            return true;
        }
    }
    for (size_t i = 0; i < config->target_count; i++) {
        if (config->targets[i].match != NULL && !same(config->targets[i].match, "*") &&
            target_glob_match(config->targets[i].match, span_of_text(topic))) {
            return true;
        }
    }
    return false;
}

static void check_history(const struct check *check)
{
    const struct config *config = check->config;
    const char *topic = config->history_topic;
    struct config_place_text place = config_node_place_at(check->config->tree, NULL, 0, "history.topic");
    for (size_t i = 0; topic != NULL && i < config->source_count; i++) {
        if (same(config->sources[i].topic, topic)) {
            config_problems_error(check->problems, place.text,
                                  "history.topic: %s is sources[%zu].topic: what was written there would be read as records to be delayed, for ever; "
                                  "choose another topic",
                                  topic, i);
            return;
        }
    }
    if (topic != NULL && is_target(config, topic)) {
        config_problems_warning(check->problems, place.text,
                                "history.topic: %s is a target, too: its consumers get outcomes between their records; choose another topic", topic);
    }
}

void config_check_schedule(const struct config *config, struct config_problems *problems)
{
    struct check check = {config, problems};
    for (size_t i = 0; i < config->source_count; i++) {
        check_names(&check, i);
        check_lateness(&check, i);
    }
    for (size_t i = 0; i < config->dialect_count; i++) {
        check_dialect(&check, i);
    }
    check_history(&check);
}
