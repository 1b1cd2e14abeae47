/* A place in the lists of dead letters, as text that clients send back as it is. Pure. */
#ifndef TARRY_OPS_API_LETTERS_CURSOR_H
#define TARRY_OPS_API_LETTERS_CURSOR_H

#include <stdbool.h>
#include <stdint.h>

#include "base/span.h"
#include "dlq/letter.h"

#define API_LETTERS_CURSOR_SIZE 72

struct api_letters_cursor {
    enum letter_state state; /* whose stream */
    int64_t sequence;        /* to go on at; 0: at its first message */
    int64_t created_ms;      /* of that stream, so that a sequence names nothing in another one of its name; 0: not known */
};

/* Letters, digits and dots. */
void api_letters_cursor_text(const struct api_letters_cursor *cursor, char text[API_LETTERS_CURSOR_SIZE]);

/* False: it was not written here, or was cut or changed. */
bool api_letters_cursor_read(struct span text, struct api_letters_cursor *cursor);

#endif
