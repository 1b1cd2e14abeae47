/* The strings of json_scan: escapes, surrogate pairs, UTF-8. For json_scan.c alone. */
#ifndef TARRY_BRIDGE_JSON_STRING_H
#define TARRY_BRIDGE_JSON_STRING_H

#include "bridge/json_scan.h"

/* At the opening quote: takes the string with both quotes. *escaped is set when there was a backslash, else left.
 * False: scan->trouble says why, scan->at where. O(length). */
bool json_string_skip(struct json_scan *scan, bool *escaped);

#endif
