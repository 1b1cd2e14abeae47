/* "parked.1796000000017.1796000000000.9f3a11c2": state, sequence, the stream's creation, and a check for those who copy half of it. */
#include "ops/api_letters_cursor.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "dlq/letter_json.h"
#include "dlq/letter_text.h"

static uint32_t check_of(const char *text)
{
    uint32_t hash = UINT32_C(2166136261); /* FNV-1a */
    for (; *text != '\0'; text++) {
        hash = (hash ^ (uint8_t)*text) * UINT32_C(16777619);
    }
    return hash;
}

void api_letters_cursor_text(const struct api_letters_cursor *cursor, char text[API_LETTERS_CURSOR_SIZE])
{
    char place[API_LETTERS_CURSOR_SIZE - 9];
    (void)snprintf(place, sizeof place, "%s.%" PRId64 ".%" PRId64, letter_json_state(cursor->state), cursor->sequence, cursor->created_ms);
    (void)snprintf(text, API_LETTERS_CURSOR_SIZE, "%s.%08" PRIx32, place, check_of(place));
}

/* What stands up to the next dot, which is taken off. */
static struct span take(struct span *rest)
{
    const uint8_t *dot = rest->length == 0 ? NULL : memchr(rest->data, '.', rest->length);
    size_t length = dot == NULL ? rest->length : (size_t)(dot - rest->data);
    struct span part = {rest->data, length};
    size_t taken = dot == NULL ? length : length + 1;
    *rest = (struct span){rest->data + taken, rest->length - taken};
    return part;
}

bool api_letters_cursor_read(struct span text, struct api_letters_cursor *cursor)
{
    char again[API_LETTERS_CURSOR_SIZE];
    struct api_letters_cursor made = {0};
    if (text.data == NULL || text.length >= sizeof again) {
        return false;
    }
    struct span rest = text;
    made.state = span_equals_text(take(&rest), letter_json_state(LETTER_PARKED)) ? LETTER_PARKED : LETTER_WAITING;
    bool read = letter_text_number(take(&rest), 0, INT64_MAX, &made.sequence) && letter_text_number(take(&rest), 0, INT64_MAX, &made.created_ms);
    if (!read) {
        return false;
    }
    api_letters_cursor_text(&made, again); /* there is one text only for each place */
    if (!span_equals_text(text, again)) {
        return false;
    }
    *cursor = made;
    return true;
}
