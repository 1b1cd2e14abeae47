/* Errors as values: see error.h. */
#include "base/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

bool error_set(struct error *error, enum error_code code, const char *format, ...)
{
    if (error == NULL) {
        return false;
    }
    /* Formatted aside first: an argument may be the old text of the same error. */
    char text[ERROR_TEXT_MAX];
    va_list arguments;
    va_start(arguments, format);
    if (vsnprintf(text, sizeof(text), format, arguments) < 0) {
        text[0] = '\0';
    }
    va_end(arguments);
    error->code = code;
    memcpy(error->text, text, sizeof(text));
    return false;
}

bool error_prefix(struct error *error, const char *format, ...)
{
    if (error == NULL) {
        return false;
    }
    char old[ERROR_TEXT_MAX];
    memcpy(old, error->text, sizeof(old));
    old[sizeof(old) - 1] = '\0';

    char prefix[ERROR_TEXT_MAX];
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(prefix, sizeof(prefix), format, arguments);
    va_end(arguments);
    if (length < 0) {
        return false;
    }
    /* Joined by hand: the text is cut at its end, as the header promises. */
    const char *parts[] = {prefix, ": ", old};
    size_t used = 0;
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
        size_t part = strlen(parts[i]);
        size_t room = sizeof(error->text) - 1 - used;
        part = part < room ? part : room;
        memcpy(error->text + used, parts[i], part);
        used += part;
    }
    error->text[used] = '\0';
    return false;
}
