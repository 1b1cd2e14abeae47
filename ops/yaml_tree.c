#include "ops/yaml_tree.h"

#include <string.h>
#include <yaml.h>

#include "ops/config_value.h"

struct reader {
    yaml_parser_t parser;
    struct span bytes;
    const char *file;
    struct config_arena *arena;
    struct config_problems *problems;
    size_t nodes;
};

static struct config_place place_of(const struct reader *reader, yaml_mark_t mark)
{
    return (struct config_place){CONFIG_ORIGIN_FILE, reader->file, mark.line + 1, mark.column + 1};
}

static void complain(struct reader *reader, struct config_place place, const char *text)
{
    config_problems_error(reader->problems, config_node_place_text(place).text, "%s", text);
}

/* libyaml's reader knows a byte offset only. */
static struct config_place place_of_offset(const struct reader *reader, size_t offset)
{
    struct config_place place = {CONFIG_ORIGIN_FILE, reader->file, 1, 1};
    for (size_t i = 0; i < offset && i < reader->bytes.length; i++) {
        bool new_line = reader->bytes.data[i] == '\n';
        place.line += new_line ? 1 : 0;
        place.column = new_line ? 1 : place.column + 1;
    }
    return place;
}

static void complain_of_syntax(struct reader *reader)
{
    const yaml_parser_t *parser = &reader->parser;
    const char *problem = parser->problem == NULL ? "out of memory" : parser->problem;
    if (parser->error == YAML_READER_ERROR) {
        struct config_place place = place_of_offset(reader, parser->problem_offset);
        config_problems_error(reader->problems, config_node_place_text(place).text,
                              "not readable: %s; the file must be plain UTF-8 text", problem);
        return;
    }
    config_problems_error(reader->problems, config_node_place_text(place_of(reader, parser->problem_mark)).text,
                          "not YAML: %s%s%s; check indentation, quotes and brackets here and on the line before",
                          parser->context == NULL ? "" : parser->context, parser->context == NULL ? "" : ", ", problem);
}

static bool next(struct reader *reader, yaml_event_t *event)
{
    if (yaml_parser_parse(&reader->parser, event) == 0) {
        complain_of_syntax(reader);
        return false;
    }
    return true;
}

static const yaml_char_t *anchor_of(const yaml_event_t *event)
{
    if (event->type == YAML_SCALAR_EVENT) {
        return event->data.scalar.anchor;
    }
    return event->type == YAML_MAPPING_START_EVENT ? event->data.mapping_start.anchor
                                                   : event->data.sequence_start.anchor;
}

static const yaml_char_t *tag_of(const yaml_event_t *event)
{
    if (event->type == YAML_SCALAR_EVENT) {
        return event->data.scalar.tag;
    }
    return event->type == YAML_MAPPING_START_EVENT ? event->data.mapping_start.tag : event->data.sequence_start.tag;
}

/* What is legal YAML and not allowed here; the walk goes on. */
static bool allowed(struct reader *reader, const yaml_event_t *event)
{
    struct config_place place = place_of(reader, event->start_mark);
    if (event->type == YAML_ALIAS_EVENT) {
        complain(reader, place, "aliases (*name) are not allowed: write the value out");
        return false;
    }
    if (anchor_of(event) != NULL) {
        complain(reader, place,
                 "anchors (&name) are not allowed: remove it, and write the value out where it is needed");
        return false;
    }
    if (tag_of(event) != NULL) {
        complain(reader, place, "tags (!name) are not allowed: remove it; every key has its one type");
        return false;
    }
    return true;
}

static bool within_bounds(struct reader *reader, const yaml_event_t *event, size_t depth)
{
    reader->nodes += 1;
    if (reader->nodes > YAML_TREE_NODES_MAX) {
        config_problems_error(reader->problems, config_node_place_text(place_of(reader, event->start_mark)).text,
                              "more than %d keys and values: this is no configuration of tarry", YAML_TREE_NODES_MAX);
        return false;
    }
    if (depth > YAML_TREE_DEPTH_MAX) {
        config_problems_error(reader->problems, config_node_place_text(place_of(reader, event->start_mark)).text,
                              "nested deeper than %d: no key of tarry is", YAML_TREE_DEPTH_MAX);
        return false;
    }
    return true;
}

static struct config_node *read_node(struct reader *reader, const yaml_event_t *event, size_t depth);

/* NULL: complained, stop. */
static struct config_node *read_next(struct reader *reader, size_t depth)
{
    yaml_event_t event;
    if (!next(reader, &event)) {
        return NULL;
    }
    struct config_node *node = read_node(reader, &event, depth);
    yaml_event_delete(&event);
    return node;
}

static struct config_node *read_scalar(struct reader *reader, const yaml_event_t *event, struct config_place place)
{
    const char *text = (const char *)event->data.scalar.value;
    size_t length = event->data.scalar.length;
    if (memchr(text, '\0', length) != NULL) {
        complain(reader, place, "has a NUL character inside: remove it");
        return config_node_new(reader->arena, CONFIG_NODE_BROKEN, place);
    }
    struct config_node *node = config_node_new(reader->arena, CONFIG_NODE_SCALAR, place);
    node->text = config_arena_text(reader->arena, text, length);
    node->quoted = event->data.scalar.style != YAML_PLAIN_SCALAR_STYLE;
    return node;
}

static bool read_list(struct reader *reader, struct config_node *list, size_t depth)
{
    for (;;) {
        yaml_event_t event;
        if (!next(reader, &event)) {
            return false;
        }
        bool end = event.type == YAML_SEQUENCE_END_EVENT;
        struct config_node *node = end ? NULL : read_node(reader, &event, depth + 1);
        yaml_event_delete(&event);
        if (node == NULL) {
            return end;
        }
        config_node_add(reader->arena, list, NULL, node->place, node);
    }
}

/* True when the key is new and good; false after a complaint: its value is read and dropped. */
static bool key_fits(struct reader *reader, const struct config_node *map, const struct config_node *key)
{
    if (key->kind != CONFIG_NODE_SCALAR) {
        if (key->kind != CONFIG_NODE_BROKEN) {
            complain(reader, key->place, "a key must be a single text, not a map or a list");
        }
        return false;
    }
    if (!key->quoted && strcmp(key->text, "<<") == 0) {
        complain(reader, key->place, "merge keys (<<) are not allowed: write the keys out");
        return false;
    }
    const struct config_entry *first = config_node_find(map, key->text);
    if (first != NULL) {
        config_problems_error(reader->problems, config_node_place_text(key->place).text,
                              "key %s stands twice (first at line %zu): remove one", config_value_show(key->text).text,
                              first->place.line);
        return false;
    }
    return true;
}

static bool read_map(struct reader *reader, struct config_node *map, size_t depth)
{
    for (;;) {
        yaml_event_t event;
        if (!next(reader, &event)) {
            return false;
        }
        bool end = event.type == YAML_MAPPING_END_EVENT;
        struct config_node *key = end ? NULL : read_node(reader, &event, depth + 1);
        yaml_event_delete(&event);
        if (key == NULL) {
            return end;
        }
        struct config_node *value = read_next(reader, depth + 1);
        if (value == NULL) {
            return false;
        }
        if (key_fits(reader, map, key)) {
            config_node_add(reader->arena, map, key->text, key->place, value);
        }
    }
}

/* Reads the node that `event` begins. NULL: complained, stop. */
static struct config_node *read_node(struct reader *reader, const yaml_event_t *event, size_t depth)
{
    if (!within_bounds(reader, event, depth)) {
        return NULL;
    }
    struct config_place place = place_of(reader, event->start_mark);
    bool good = allowed(reader, event);
    struct config_node *node = NULL;
    if (event->type == YAML_SCALAR_EVENT) {
        node = read_scalar(reader, event, place);
    } else if (event->type == YAML_MAPPING_START_EVENT) {
        node = config_node_new(reader->arena, CONFIG_NODE_MAP, place);
        if (!read_map(reader, node, depth)) {
            return NULL;
        }
    } else if (event->type == YAML_SEQUENCE_START_EVENT) {
        node = config_node_new(reader->arena, CONFIG_NODE_LIST, place);
        if (!read_list(reader, node, depth)) {
            return NULL;
        }
    } else {
        return config_node_new(reader->arena, CONFIG_NODE_BROKEN, place); /* an alias */
    }
    if (!good) {
        node->kind = CONFIG_NODE_BROKEN;
    }
    return node;
}

/* What follows the first document's content must be its end and the stream's. */
static bool at_end(struct reader *reader)
{
    for (;;) {
        yaml_event_t event;
        if (!next(reader, &event)) {
            return false;
        }
        yaml_event_type_t type = event.type;
        struct config_place place = place_of(reader, event.start_mark);
        yaml_event_delete(&event);
        if (type == YAML_STREAM_END_EVENT) {
            return true;
        }
        if (type == YAML_DOCUMENT_START_EVENT) {
            complain(reader, place, "a second document (---) is not allowed: one file, one configuration");
            return false;
        }
    }
}

static bool read_document(struct reader *reader, struct config_node **root)
{
    for (;;) {
        yaml_event_t event;
        if (!next(reader, &event)) {
            return false;
        }
        yaml_event_type_t type = event.type;
        bool content =
            type != YAML_STREAM_START_EVENT && type != YAML_DOCUMENT_START_EVENT && type != YAML_STREAM_END_EVENT;
        struct config_node *node = content ? read_node(reader, &event, 0) : NULL;
        yaml_event_delete(&event);
        if (type == YAML_STREAM_END_EVENT) {
            struct config_place start = {CONFIG_ORIGIN_FILE, reader->file, 1, 1};
            *root = config_node_new(reader->arena, CONFIG_NODE_MAP, start);
            return true;
        }
        if (content) {
            *root = node;
            return node != NULL && at_end(reader);
        }
    }
}

bool yaml_tree_parse(struct span bytes,
                     const char *file,
                     struct config_arena *arena,
                     struct config_problems *problems,
                     struct config_node **root)
{
    struct reader reader = {.bytes = bytes, .file = file, .arena = arena, .problems = problems};
    struct config_node *node = NULL;
    if (yaml_parser_initialize(&reader.parser) == 0) {
        config_problems_error(problems, file, "out of memory");
        return false;
    }
    yaml_parser_set_encoding(&reader.parser, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&reader.parser, bytes.data == NULL ? (const uint8_t *)"" : bytes.data, bytes.length);
    bool done = read_document(&reader, &node);
    yaml_parser_delete(&reader.parser);
    if (done && node->kind != CONFIG_NODE_MAP) {
        if (node->kind != CONFIG_NODE_BROKEN) {
            complain(&reader, node->place, "must be a map of keys, for example `instance: tarry-0`");
        }
        return false;
    }
    if (done) {
        *root = node;
    }
    return done;
}
