/*
 * The text of a JSON string that json_scan found: what its bytes mean after unescaping, as UTF-8.
 *
 * Every function takes a value of kind JSON_SCAN_STRING, hence one whose escapes and UTF-8 are known to be right.
 * `\u0000` is a NUL byte of the text like any other. Any thread.
 */
#ifndef TARRY_BRIDGE_JSON_TEXT_H
#define TARRY_BRIDGE_JSON_TEXT_H

#include "bridge/json_scan.h"

/* The bytes between the quotes, borrowed. They are the text when !escaped. O(1). */
struct span json_text_inner(const struct json_scan_value *string);

/* Writes the text to `to`. False when it is longer than `room`: then *length is not written. O(length). */
bool json_text_copy(const struct json_scan_value *string, uint8_t *to, size_t room, size_t *length);

/* True when the texts are the same, however they are escaped. O(length). */
bool json_text_same(const struct json_scan_value *a, const struct json_scan_value *b);

/* True when the text is `plain` (UTF-8, NUL-terminated). O(length), cheap when the first bytes differ. */
bool json_text_is(const struct json_scan_value *string, const char *plain);

/* A hash of the text: same text, same hash. To compare quickly in one process, not for keeping. O(length). */
uint32_t json_text_hash(const struct json_scan_value *string);

#endif
