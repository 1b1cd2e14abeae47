/*
 * A strict JSON scanner that finds spans: where a value begins and ends in the bytes as they came.
 *
 * RFC 8259 over a run of bytes with a length (no NUL is needed, and none is special): bad UTF-8, lone surrogates,
 * raw control characters, unknown escapes, numbers outside the grammar and a byte order mark are refused. Nothing is
 * allocated, nothing is recursive, and no number is converted: a payload goes out byte for byte.
 */
#ifndef TARRY_BRIDGE_JSON_SCAN_H
#define TARRY_BRIDGE_JSON_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/span.h"

#define JSON_SCAN_DEPTH_MAX 512 /* objects and arrays inside each other, the outermost counted */

enum json_scan_kind {
    JSON_SCAN_MISSING, /* no value at all: what a zeroed struct says */
    JSON_SCAN_NULL,
    JSON_SCAN_BOOL,
    JSON_SCAN_INTEGER, /* a number without fraction and exponent */
    JSON_SCAN_NUMBER,  /* any other number */
    JSON_SCAN_STRING,
    JSON_SCAN_ARRAY,
    JSON_SCAN_OBJECT,
};

struct json_scan_value {
    enum json_scan_kind kind;
    bool escaped;     /* a string with at least one backslash: its text is not its bytes */
    struct span span; /* its bytes, quotes and brackets included; borrowed from the text */
};

/* A place in a text. Zero-cost to make; copy it to come back. */
struct json_scan {
    const uint8_t *first;
    const uint8_t *at;
    const uint8_t *end;
    const char *trouble; /* what is wrong at `at`, once something is; a short clause for a person */
    bool inside;         /* at least one member of the entered object was taken */
    unsigned depth;
    uint64_t objects[JSON_SCAN_DEPTH_MAX / 64]; /* per level: 1 = object, 0 = array */
};

enum json_scan_step { JSON_SCAN_MEMBER, JSON_SCAN_END, JSON_SCAN_FAILED };

/* Starts at the first byte of `text` (absent counts as empty). */
void json_scan_begin(struct json_scan *scan, struct span text);

/* Takes one value of any kind, with the blanks before it. False: scan->trouble and json_scan_position say what and
 * where. O(bytes taken). */
bool json_scan_value(struct json_scan *scan, struct json_scan_value *value);

/* Takes the opening brace of the outermost object, whose members json_scan_member then gives one by one. False: see
 * trouble. */
bool json_scan_enter(struct json_scan *scan);

/* The next member: its name (a STRING) and value; or the end of the object; or trouble. Duplicate names are the
 * caller's affair. */
enum json_scan_step
json_scan_member(struct json_scan *scan, struct json_scan_value *name, struct json_scan_value *value);

/* True when only blanks are left. */
bool json_scan_finish(struct json_scan *scan);

/* Bytes before the place of trouble. */
size_t json_scan_position(const struct json_scan *scan);

#endif
