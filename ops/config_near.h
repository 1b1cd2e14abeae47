/* Did you mean ...? */
#ifndef TARRY_OPS_CONFIG_NEAR_H
#define TARRY_OPS_CONFIG_NEAR_H

#include <stdbool.h>
#include <stddef.h>

#define CONFIG_NEAR_LENGTH_MAX 64 /* longer names are near to nothing */

/* Edits between two texts: insertions, deletions, replacements, swaps of neighbours. SIZE_MAX when one is longer than
 * CONFIG_NEAR_LENGTH_MAX. O(length * length). */
size_t config_near_distance(const char *a, const char *b);

/* True when `candidate` is so near to `name` that it may have been meant: at most a third of its length, at least 1, in
 * edits. */
bool config_near_is(const char *name, const char *candidate, size_t *distance);

#endif
