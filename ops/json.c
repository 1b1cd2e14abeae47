/* JSON documents: see json.h. */
#include "ops/json.h"

#include <cjson/cJSON.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"

/* cJSON says NULL or false when there is no memory. memory_new(SIZE_MAX) is how this program ends then. */
static cJSON *checked(cJSON *item)
{
    return item != NULL ? item : memory_new(SIZE_MAX, 1);
}

/* A copy in which each byte that is not UTF-8 became U+FFFD (three bytes). Free it. */
static char *clean(const char *text)
{
    const uint8_t *bytes = (const uint8_t *)text;
    size_t length = strlen(text);
    char *copy = memory_new(length * 3 + 1, 1);
    size_t written = 0;
    for (size_t at = 0; at < length;) {
        size_t count = text_utf8_length(bytes + at, length - at);
        memcpy(copy + written, count > 0 ? text + at : "\xEF\xBF\xBD", count > 0 ? count : 3);
        written += count > 0 ? count : 3;
        at += count > 0 ? count : 1;
    }
    return copy;
}

/* Takes `item`. */
static void attach(cJSON *object, const char *name, cJSON *item)
{
    char *copy = clean(name);
    (void)checked(cJSON_AddItemToObject(object, copy, checked(item)) != 0 ? item : NULL);
    free(copy);
}

static cJSON *text_item(const char *text)
{
    char *copy = clean(text);
    cJSON *item = checked(cJSON_CreateString(copy));
    free(copy);
    return item;
}

struct cJSON *json_object(void)
{
    return checked(cJSON_CreateObject());
}

struct cJSON *json_add_object(struct cJSON *object, const char *name)
{
    cJSON *item = json_object();
    attach(object, name, item);
    return item;
}

struct cJSON *json_add_array(struct cJSON *object, const char *name)
{
    cJSON *item = checked(cJSON_CreateArray());
    attach(object, name, item);
    return item;
}

struct cJSON *json_object_in_array(struct cJSON *array)
{
    cJSON *item = json_object();
    (void)cJSON_AddItemToArray(array, item);
    return item;
}

void json_add_text(struct cJSON *object, const char *name, const char *text)
{
    attach(object, name, text_item(text));
}

void json_add_number(struct cJSON *object, const char *name, double number)
{
    /* JSON has no NaN and no infinity. */
    attach(object, name, isfinite(number) ? cJSON_CreateNumber(number) : cJSON_CreateNull());
}

void json_add_bool(struct cJSON *object, const char *name, bool value)
{
    attach(object, name, cJSON_CreateBool(value ? 1 : 0));
}

void json_add_text_in_array(struct cJSON *array, const char *text)
{
    (void)cJSON_AddItemToArray(array, text_item(text));
}

void json_print(struct cJSON *document, struct buffer *buffer)
{
    char *text = cJSON_PrintUnformatted(document);
    buffer_add_text(buffer, text != NULL ? text : memory_new(SIZE_MAX, 1));
    buffer_add_text(buffer, "\n");
    cJSON_free(text);
    cJSON_Delete(document);
}
