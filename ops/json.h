/* Building small JSON documents with cJSON, with no failure to handle (memory ends the process, as everywhere) and no
 * invalid UTF-8. Owner thread or any other: documents are not shared. */
#ifndef TARRY_OPS_JSON_H
#define TARRY_OPS_JSON_H

#include <stdbool.h>

#include "base/buffer.h"

struct cJSON;

/* A new empty object; json_print frees it. Never NULL. */
struct cJSON *json_object(void);

/* Each adds to an object or array, which owns what is added. Texts are copied; what is not UTF-8 in them becomes
 * U+FFFD. */
struct cJSON *json_add_object(struct cJSON *object, const char *name);
struct cJSON *json_add_array(struct cJSON *object, const char *name);
struct cJSON *json_object_in_array(struct cJSON *array);
void json_add_text(struct cJSON *object, const char *name, const char *text);
void json_add_number(struct cJSON *object, const char *name, double number);
void json_add_bool(struct cJSON *object, const char *name, bool value);
void json_add_text_in_array(struct cJSON *array, const char *text);

/* Adds the document and a line feed to `buffer` and frees the document. */
void json_print(struct cJSON *document, struct buffer *buffer);

#endif
