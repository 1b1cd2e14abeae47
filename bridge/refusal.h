/* How a refusal is worded (its reasons: bridge/decode.h). */
#ifndef TARRY_BRIDGE_REFUSAL_H
#define TARRY_BRIDGE_REFUSAL_H

#include "bridge/decode.h"

#define REFUSAL_SHOWN_MAX 80

/* Bytes from outside in quotes, made printable (base/text.h) and cut with "...". Absent is null, without quotes. */
struct refusal_shown {
    char text[REFUSAL_SHOWN_MAX];
};

struct refusal_shown refusal_show(struct span bytes);

/* True: a dialect of the source has a header for that field. O(entries of its dialects). Any thread. */
bool refusal_has_header(const struct decode_rules *rules, enum dialect_field field);

/* What a producer of that source writes for a field, to be named in a remedy: tarry's header where its dialect is on, else the first one of the source's own
 * dialects. Where none has one: tarry's, with the words that its dialect would have to be on. Printable, cut, without quotes. As above. */
struct refusal_shown refusal_header(const struct decode_rules *rules, enum dialect_field field);

/* Fills *refusal (the text is cut at REFUSAL_TEXT_MAX - 1 bytes, at a whole character) and returns false, so that a
 * function can end with it. Pass bytes from outside through refusal_show. Never a payload. */
bool refusal_set(struct refusal *refusal, enum refusal_reason reason, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
