#include <cjson/cJSON.h>
#include <stdlib.h>
#include <string.h>

#include "ops/config.h"
#include "ops/config_table.h"

static cJSON *object_of_type(const char *type)
{
    cJSON *object = cJSON_CreateObject();
    cJSON_AddStringToObject(object, "type", type);
    return object;
}

/* A map whose keys are those in its "properties" and no others. */
static cJSON *closed_map(void)
{
    cJSON *map = object_of_type("object");
    cJSON_AddFalseToObject(map, "additionalProperties");
    cJSON_AddObjectToObject(map, "properties");
    return map;
}

static cJSON *text_of_pattern(const char *pattern)
{
    cJSON *text = object_of_type("string");
    cJSON_AddStringToObject(text, "pattern", pattern);
    return text;
}

static void add_words(cJSON *schema, const char *choices)
{
    cJSON *words = cJSON_AddArrayToObject(schema, "enum");
    for (const char *word = choices; word != NULL; word = strchr(word, '|') == NULL ? NULL : strchr(word, '|') + 1) {
        char text[64];
        size_t length = strcspn(word, "|");
        memcpy(text, word, length < sizeof text ? length : sizeof text - 1);
        text[length < sizeof text ? length : sizeof text - 1] = '\0';
        cJSON_AddItemToArray(words, cJSON_CreateString(text));
    }
}

/* A map of any names to texts; editors may take true and 5 for other types than text. */
static cJSON *open_map(const struct config_key *key)
{
    cJSON *map = object_of_type("object");
    cJSON *value = cJSON_AddObjectToObject(map, "additionalProperties");
    const char *const types[] = {"string", "number", "boolean"};
    cJSON_AddItemToObject(value, "type", cJSON_CreateStringArray(types, key->type == CONFIG_TYPE_MAP ? 1 : 3));
    if (key->choices != NULL) {
        cJSON *names = cJSON_AddObjectToObject(map, "propertyNames");
        add_words(names, key->choices);
    }
    if (key->type == CONFIG_TYPE_PROPERTIES) {
        cJSON_AddObjectToObject(map, "properties");
    }
    return map;
}

static cJSON *number(const struct config_key *key)
{
    cJSON *schema = object_of_type("integer");
    cJSON_AddNumberToObject(schema, "minimum", (double)key->least);
    cJSON_AddNumberToObject(schema, "maximum", (double)key->most);
    return schema;
}

static cJSON *fraction(const struct config_key *key)
{
    cJSON *schema = object_of_type("number");
    cJSON_AddNumberToObject(schema, "minimum", (double)key->least / 100.0);
    cJSON_AddNumberToObject(schema, "maximum", (double)key->most / 100.0);
    return schema;
}

static cJSON *words(const struct config_key *key)
{
    cJSON *schema = object_of_type("string");
    add_words(schema, key->choices);
    return schema;
}

static cJSON *names(void)
{
    cJSON *schema = object_of_type("array");
    cJSON_AddItemToObject(schema, "items", object_of_type("string"));
    return schema;
}

/* Whole numbers may be written without quotes. */
static cJSON *text_or_number(const char *pattern)
{
    cJSON *schema = text_of_pattern(pattern);
    const char *const types[] = {"string", "integer"};
    cJSON_ReplaceItemInObjectCaseSensitive(schema, "type", cJSON_CreateStringArray(types, 2));
    return schema;
}

/* A list of maps; or, named, a map of names to maps. */
static cJSON *entries(bool named)
{
    cJSON *schema = object_of_type(named ? "object" : "array");
    cJSON_AddItemToObject(schema, named ? "additionalProperties" : "items", closed_map());
    return schema;
}

static cJSON *schema_of(const struct config_key *key)
{
    switch (key->type) {
    case CONFIG_TYPE_NAME:
        return text_of_pattern("^[a-zA-Z0-9._-]+$");
    case CONFIG_TYPE_LANE:
        return text_of_pattern("^[a-zA-Z0-9-][a-zA-Z0-9_-]{0,47}$");
    case CONFIG_TYPE_TOPIC:
        return text_of_pattern("^[a-zA-Z0-9._-]{1,249}$");
    case CONFIG_TYPE_PATTERN:
        return text_of_pattern("^[a-zA-Z0-9._*-]{1,249}$");
    case CONFIG_TYPE_ADDRESS:
        return text_of_pattern("^.+:[0-9]{1,5}$");
    case CONFIG_TYPE_PATH:
    case CONFIG_TYPE_TEXT:
        return object_of_type("string");
    case CONFIG_TYPE_SERVERS:
        return text_of_pattern("^(nats|tls)://[^@/, ]+(,(nats|tls)://[^@/, ]+)*$");
    case CONFIG_TYPE_STREAM:
        return text_of_pattern("^[a-zA-Z0-9_-]+$");
    case CONFIG_TYPE_SUBJECT:
        return text_of_pattern("^([a-zA-Z0-9_-]+(\\.[a-zA-Z0-9_-]+)*\\.?)?$");
    case CONFIG_TYPE_BOOL:
        return object_of_type("boolean");
    case CONFIG_TYPE_COUNT:
    case CONFIG_TYPE_TIMES:
        return number(key);
    case CONFIG_TYPE_PERCENT:
        return fraction(key);
    case CONFIG_TYPE_DURATION:
        return text_of_pattern("^([0-9]+d)?([0-9]+h)?([0-9]+m)?([0-9]+s)?([0-9]+ms)?$");
    case CONFIG_TYPE_SIZE:
        return text_or_number("^[0-9]+([KMGT]iB|[kKMGT]B)?$");
    case CONFIG_TYPE_RATE:
        return text_or_number("^[0-9]+(/[smh])?$");
    case CONFIG_TYPE_CHOICE:
        return words(key);
    case CONFIG_TYPE_NAMES:
        return names();
    case CONFIG_TYPE_MAP:
    case CONFIG_TYPE_PROPERTIES:
        return open_map(key);
    case CONFIG_TYPE_LIST:
    case CONFIG_TYPE_NAMED:
        break;
    }
    return entries(key->type == CONFIG_TYPE_NAMED);
}

/* The default in the type that YAML editors expect. */
static cJSON *default_of(const struct config_key *key)
{
    int64_t count;
    bool truth;
    bool whole = key->type == CONFIG_TYPE_COUNT || key->type == CONFIG_TYPE_TIMES;
    if (whole && config_value_count(key->fallback, &count, NULL)) {
        return cJSON_CreateNumber((double)count);
    }
    if (key->type == CONFIG_TYPE_PERCENT && config_value_percent(key->fallback, &count, NULL)) {
        return cJSON_CreateNumber((double)count / 100.0);
    }
    if (key->type == CONFIG_TYPE_BOOL && config_value_bool(key->fallback, &truth, NULL)) {
        return cJSON_CreateBool(truth);
    }
    if (key->type == CONFIG_TYPE_NAMES) {
        const char *const one[] = {key->fallback};
        return cJSON_CreateStringArray(one, 1);
    }
    return cJSON_CreateString(key->fallback);
}

/* The "properties" in which a path's last name stands; groups on the way are made. */
static cJSON *properties_for(cJSON *properties, const char *path, const char **leaf)
{
    *leaf = path;
    for (const char *dot = strchr(path, '.'); dot != NULL; dot = strchr(*leaf, '.')) {
        char name[64];
        size_t length = (size_t)(dot - *leaf);
        memcpy(name, *leaf, length < sizeof name ? length : sizeof name - 1);
        name[length < sizeof name ? length : sizeof name - 1] = '\0';
        cJSON *group = cJSON_GetObjectItemCaseSensitive(properties, name);
        if (group == NULL) {
            group = closed_map();
            cJSON_AddItemToObject(properties, name, group);
        }
        properties = cJSON_GetObjectItemCaseSensitive(group, "properties");
        *leaf = dot + 1;
    }
    return properties;
}

static void add_key(cJSON *map, const struct config_key *key)
{
    const char *leaf;
    cJSON *properties = properties_for(cJSON_GetObjectItemCaseSensitive(map, "properties"), key->path, &leaf);
    cJSON *schema = schema_of(key);
    cJSON_AddStringToObject(schema, "description", key->meaning);
    if (key->fallback != NULL) {
        cJSON_AddItemToObject(schema, "default", default_of(key));
    }
    cJSON_AddBoolToObject(schema, "x-reloadable", key->reloadable);
    cJSON_AddItemToObject(properties, leaf, schema);
    if (key->required) {
        cJSON *required = cJSON_GetObjectItemCaseSensitive(map, "required");
        required = required == NULL ? cJSON_AddArrayToObject(map, "required") : required;
        cJSON_AddItemToArray(required, cJSON_CreateString(key->path));
    }
}

/* The map that a section's keys go into. */
static cJSON *map_of(cJSON *top, enum config_section section)
{
    const char *name = config_table_section_name(section);
    if (name == NULL) {
        return top;
    }
    const cJSON *list = cJSON_GetObjectItemCaseSensitive(cJSON_GetObjectItemCaseSensitive(top, "properties"), name);
    return cJSON_GetObjectItemCaseSensitive(list, config_table_named(section) ? "additionalProperties" : "items");
}

void config_schema_json(struct buffer *out)
{
    size_t count;
    const struct config_key *keys = config_table_keys(&count);
    cJSON *top = closed_map();
    cJSON_AddStringToObject(top, "$schema", "https://json-schema.org/draft/2020-12/schema");
    cJSON_AddStringToObject(top, "title", "tarry.yaml");
    for (size_t i = 0; i < count; i++) {
        add_key(map_of(top, keys[i].section), &keys[i]);
    }
    char *text = cJSON_Print(top);
    if (text != NULL) {
        buffer_add_text(out, text);
        buffer_add_text(out, "\n");
    }
    cJSON_free(text);
    cJSON_Delete(top);
}
