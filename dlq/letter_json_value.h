/*
 * Values of a letter in JSON, as cJSON parsed them from what letter_json_scan made. Room-internal. Pure.
 *
 * Each reads one kind; false: ERROR_INVALID says what is wanted instead (not which field it is: the caller puts that before it). Bytes and texts are kept in
 * `to`, which has room for them and does not move.
 */
#ifndef TARRY_DLQ_LETTER_JSON_VALUE_H
#define TARRY_DLQ_LETTER_JSON_VALUE_H

#include "base/buffer.h"
#include "base/error.h"

struct cJSON;

/* NULL: it is no text. */
const char *letter_json_value_string(const struct cJSON *item);

/* {"encoding": ..., "data": ...}, or null. */
bool letter_json_value_bytes(const struct cJSON *item, struct buffer *to, struct span *bytes, struct error *error);

/* A text, or bytes. */
bool letter_json_value_text(const struct cJSON *item, struct buffer *to, struct span *text, struct error *error);

/* A text fit for letter.error. */
bool letter_json_value_error(const struct cJSON *item, struct buffer *to, struct span *text, struct error *error);

/* A moment, a number of milliseconds, or null (-1). */
bool letter_json_value_time(const struct cJSON *item, int64_t *time_ms, struct error *error);

/* Whole numbers; null is -1 but for counts, which must be there. */
bool letter_json_value_number(const struct cJSON *item, int64_t *number, struct error *error);
bool letter_json_value_partition(const struct cJSON *item, int32_t *partition, struct error *error);
bool letter_json_value_count(const struct cJSON *item, uint32_t *count, struct error *error);

#endif
