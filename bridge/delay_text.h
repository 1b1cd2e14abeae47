/* Delays as people write them: `30000` is milliseconds, `1h30m` has units. Exact: no sign, blank, fraction or
 * exponent. */
#ifndef TARRY_BRIDGE_DELAY_TEXT_H
#define TARRY_BRIDGE_DELAY_TEXT_H

#include "bridge/decimal.h"

/* Reads a bare decimal number (milliseconds), or numbers with the units d h m s ms, each at most once and from the
 * greatest to the least. The number before a unit has no limit of its own (`90m` is fine). Leading zeros are
 * allowed. DECIMAL_NOT_DIGITS: any other form. DECIMAL_TOO_LARGE: beyond 2^63 - 1 ms. *delay_ms is written only for
 * DECIMAL_READ. O(length). Any thread. */
enum decimal_result delay_text_parse(struct span text, int64_t *delay_ms);

#define DELAY_TEXT_MAX 40 /* room for any of them, with its NUL */

/* The other way: the shortest text with units that reads as `delay_ms` (0 and more): "366d", "1h30m", "0ms". Always terminated. O(1). Any thread. */
void delay_text_write(int64_t delay_ms, char text[DELAY_TEXT_MAX]);

#endif
