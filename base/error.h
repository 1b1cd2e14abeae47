/*
 * Errors are values: a code for the program, a text for a person.
 *
 * A function that can fail returns bool (true = done) and takes `struct error *error` last. On false the error is
 * filled, outputs are untouched. The text names the thing, the value and the remedy, and never a secret.
 */
#ifndef TARRY_BASE_ERROR_H
#define TARRY_BASE_ERROR_H

#include <stdbool.h>

enum error_code {
    ERROR_NONE,
    ERROR_INVALID,     /* what was given is wrong: tell its author */
    ERROR_NOT_FOUND,
    ERROR_FULL,        /* disk, map or queue: try again when there is room */
    ERROR_BUSY,        /* somebody else holds it */
    ERROR_UNAVAILABLE, /* the other side is away: try again */
    ERROR_TOO_NEW,     /* written by a newer version */
    ERROR_CORRUPT,     /* what was stored does not read back */
    ERROR_FENCED,      /* another instance of this name took over: exit */
    ERROR_MEMORY,
    ERROR_SYSTEM,      /* an OS call failed; the text has errno's words */
};

#define ERROR_TEXT_MAX 512

struct error {
    enum error_code code;
    char text[ERROR_TEXT_MAX];
};

/* Fills `error` (cut at ERROR_TEXT_MAX - 1 bytes, always terminated) and returns false, so that a failing function can
 * end with `return error_set(...)`. NULL is allowed: nobody wants to know. */
bool error_set(struct error *error, enum error_code code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Puts "prefix: " before the text that is there, and returns false. */
bool error_prefix(struct error *error, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
