#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "bridge/kafka_conf.h"
#include "ops/config.h"
#include "ops/config_kafka.h"
#include "ops/config_node.h"
#include "ops/config_table.h"

struct printer {
    const struct config *config;
    bool effective;
    struct buffer *out;
    char group[64]; /* "nats.tls" while its keys are printed */
    bool first;     /* the next key is the first of its list entry */
};

static bool plain(const char *text)
{
    static const char first[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/";
    static const char rest[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-";
    return text[0] != '\0' && strspn(text, first) > 0 && text[strspn(text, rest)] == '\0';
}

static void print_scalar(struct buffer *out, const char *text)
{
    if (plain(text)) {
        buffer_add_text(out, text);
        return;
    }
    buffer_add_text(out, "\"");
    for (const char *at = text; *at != '\0'; at++) {
        unsigned char byte = (unsigned char)*at;
        if (byte == '"' || byte == '\\') {
            buffer_add_format(out, "\\%c", byte);
        } else if (byte < ' ' || byte == 0x7F) {
            buffer_add_format(out, "\\x%02x", (unsigned)byte);
        } else {
            buffer_add(out, at, 1);
        }
    }
    buffer_add_text(out, "\"");
}

static void print_origin(struct buffer *out, const struct config_entry *entry)
{
    char name[256];
    if (entry == NULL) {
        buffer_add_text(out, "  # default\n");
        return;
    }
    struct config_place place = entry->node->place;
    text_printable(span_of_text(place.name), name, sizeof name);
    if (place.origin == CONFIG_ORIGIN_FILE) {
        buffer_add_format(out, "  # %s:%zu\n", name, place.line);
    } else {
        buffer_add_format(out, "  # %s %s\n", place.origin == CONFIG_ORIGIN_FLAG ? "flag" : "environment", name);
    }
}

static void print_indent(struct printer *printer, bool in_list, int depth)
{
    if (in_list) {
        buffer_add_text(printer->out, printer->first ? "  - " : "    ");
        printer->first = false;
    }
    buffer_add_format(printer->out, "%*s", 2 * depth, "");
}

/* Indentation, the lines of the groups that begin, the dash of a new list entry, and the key. */
static void print_name(struct printer *printer, const struct config_key *key, bool in_list)
{
    const char *name = key->path;
    int depth = 0;
    for (const char *dot; (dot = strchr(name, '.')) != NULL; name = dot + 1, depth++) {
        size_t length = (size_t)(dot - key->path);
        bool open = strncmp(key->path, printer->group, length) == 0 &&
                    (printer->group[length] == '\0' || printer->group[length] == '.');
        if (!open) {
            print_indent(printer, in_list, depth);
            buffer_add_format(printer->out, "%.*s:\n", (int)(dot - name), name);
            snprintf(printer->group, sizeof printer->group, "%.*s", (int)length, key->path);
        }
    }
    snprintf(printer->group, sizeof printer->group, "%.*s", name == key->path ? 0 : (int)(name - key->path - 1), key->path);
    print_indent(printer, in_list, depth);
    buffer_add_format(printer->out, "%s:", name);
}

static void print_pairs(struct printer *printer,
                        const struct config_map *map,
                        const struct config_entry *given,
                        const char *indent,
                        bool secrets)
{
    for (size_t i = 0; i < map->count; i++) {
        const char *name = map->items[i].name;
        size_t length = strlen(name);
        bool from_file = length > 5 && strcmp(name + length - 5, "_file") == 0;
        buffer_add_text(printer->out, indent);
        print_scalar(printer->out, name);
        buffer_add_text(printer->out, ": ");
        print_scalar(printer->out, secrets && kafka_conf_secret(name) && !from_file ? "***" : map->items[i].value);
        print_origin(printer->out, given == NULL ? NULL : config_node_find(given->node, name));
    }
}

static void print_map(struct printer *printer,
                      const struct config_key *key,
                      const struct config_map *map,
                      const struct config_entry *entry)
{
    print_name(printer, key, true);
    buffer_add_text(printer->out, map->count == 0 ? " {}\n" : "\n");
    print_pairs(printer, map, entry, "      ", false);
}

/* kafka with its two inner maps: the names of properties have dots, so they are no groups. */
static void print_kafka(struct printer *printer)
{
    static const char *const names[] = {"kafka", "producer", "consumer"};
    for (size_t group = 0; group < CONFIG_KAFKA_GROUPS; group++) {
        const struct config_map *map = &printer->config->kafka_given[group];
        const struct config_entry *entry = config_node_at(printer->config->tree, NULL, 0, config_kafka_group(group));
        if (entry != NULL && (group == 0 || map->count > 0)) {
            buffer_add_format(printer->out, "%s%s:\n", group == 0 ? "" : "  ", names[group]);
            print_pairs(printer, map, entry, group == 0 ? "  " : "    ", true);
        }
    }
    printer->group[0] = '\0';
}

static void print_names(struct buffer *out, const struct config_names *names)
{
    buffer_add_text(out, " [");
    for (size_t i = 0; i < names->count; i++) {
        buffer_add_text(out, i == 0 ? "" : ", ");
        print_scalar(out, names->items[i]);
    }
    buffer_add_text(out, "]");
}

static void print_key(struct printer *printer, const struct config_key *key, size_t index, const void *base)
{
    const char *section = config_table_section_name(key->section);
    const struct config_entry *entry = config_node_at(printer->config->tree, section, index, key->path);
    const void *field = (const char *)base + key->offset;
    if (entry == NULL && !printer->effective) {
        return;
    }
    if (key->type == CONFIG_TYPE_MAP) {
        if (entry != NULL) {
            print_map(printer, key, field, entry);
        }
        return;
    }
    if (key->type == CONFIG_TYPE_NAMES) {
        print_name(printer, key, section != NULL);
        print_names(printer->out, field);
        print_origin(printer->out, entry);
        return;
    }
    const char *text = entry != NULL ? entry->node->text : key->fallback; /* NULL: it has none */
    if (text != NULL) {
        print_name(printer, key, section != NULL);
        buffer_add_text(printer->out, " ");
        print_scalar(printer->out, text);
        print_origin(printer->out, entry);
    }
}

static void print_section(struct printer *printer, enum config_section section, size_t index, const void *base)
{
    size_t count;
    const struct config_key *keys = config_table_keys(&count);
    printer->first = !config_table_named(section);
    printer->group[0] = '\0';
    for (size_t i = 0; i < count; i++) {
        if (keys[i].section == section) {
            print_key(printer, &keys[i], index, base);
        }
    }
}

static void print_list(struct printer *printer, const struct config_key *key)
{
    const struct config *config = printer->config;
    const struct config_list *list = config_table_list(key->path);
    const char *items = config_table_items(list, config);
    size_t count = config_table_item_count(list, config);
    if (count == 0) {
        if (printer->effective) {
            buffer_add_format(printer->out, "%s: %s  # default\n", key->path, list->named ? "{}" : "[]");
        }
        return;
    }
    buffer_add_format(printer->out, "%s:\n", key->path);
    for (size_t i = 0; i < count; i++) {
        const char *item = items + i * list->entry_size;
        if (list->named) {
            buffer_add_text(printer->out, "  ");
            print_scalar(printer->out, *(const char *const *)(const void *)item);
            buffer_add_text(printer->out, ":\n");
        }
        print_section(printer, list->section, i, item);
    }
    printer->group[0] = '\0';
}

void config_show(const struct config *config, bool effective, struct buffer *out)
{
    struct printer printer = {.config = config, .effective = effective, .out = out};
    size_t count;
    const struct config_key *keys = config_table_keys(&count);
    for (size_t i = 0; i < count && keys[i].section == CONFIG_SECTION_TOP; i++) {
        if (keys[i].type == CONFIG_TYPE_LIST || keys[i].type == CONFIG_TYPE_NAMED) {
            print_list(&printer, &keys[i]);
        } else if (strcmp(keys[i].path, "kafka") == 0) {
            print_kafka(&printer);
        } else if (keys[i].type != CONFIG_TYPE_PROPERTIES) {
            print_key(&printer, &keys[i], 0, config);
        }
    }
}
