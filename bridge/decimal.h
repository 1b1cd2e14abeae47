/* Decimal numbers as people write them in headers: digits and nothing else. The same in every locale. */
#ifndef TARRY_BRIDGE_DECIMAL_H
#define TARRY_BRIDGE_DECIMAL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/span.h"

enum decimal_result {
    DECIMAL_READ,
    DECIMAL_NOT_DIGITS, /* absent, empty, or a byte that is not 0 to 9 (a sign, a blank, a point, an exponent) */
    DECIMAL_TOO_LARGE,  /* beyond 2^63 - 1 */
};

/* Reads all of `text` as one number, leading zeros allowed. *number is written only for DECIMAL_READ. O(length). Any
 * thread. */
enum decimal_result decimal_parse(struct span text, int64_t *number);

/* True when there is at least one byte and every byte is a digit. */
bool decimal_only_digits(struct span text);

#endif
