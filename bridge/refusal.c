#include "bridge/refusal.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/text.h"

static const char *const names[REFUSAL_REASONS] = {
    [REFUSAL_NONE] = "none",
    [REFUSAL_NO_TIME] = "no_time",
    [REFUSAL_BAD_TIME] = "bad_time",
    [REFUSAL_AMBIGUOUS] = "ambiguous",
    [REFUSAL_TOO_FAR] = "too_far",
    [REFUSAL_SECONDS] = "seconds",
    [REFUSAL_NO_TIMESTAMP] = "no_timestamp",
    [REFUSAL_NO_TARGET] = "no_target",
    [REFUSAL_TARGET_NOT_ALLOWED] = "target_not_allowed",
    [REFUSAL_BAD_TARGET] = "bad_target",
    [REFUSAL_BAD_ENVELOPE] = "bad_envelope",
    [REFUSAL_BAD_ID] = "bad_id",
    [REFUSAL_UNSUPPORTED] = "unsupported",
    [REFUSAL_TOO_LARGE] = "too_large",
    [REFUSAL_UNKNOWN_TARGET] = "unknown_target",
    [REFUSAL_UNDELIVERABLE] = "undeliverable",
    [REFUSAL_BAD_ROOT] = "bad_root",
    [REFUSAL_BAD_SCHEDULE] = "bad_schedule",
};

const char *refusal_name(enum refusal_reason reason)
{
    return (unsigned)reason < REFUSAL_REASONS ? names[reason] : "unknown";
}

struct refusal_shown refusal_show(struct span bytes)
{
    struct refusal_shown shown = {"null"};
    if (bytes.data == NULL) {
        return shown;
    }
    shown.text[0] = '"';
    size_t length = 1 + text_printable(bytes, shown.text + 1, sizeof(shown.text) - 2);
    shown.text[length] = '"';
    shown.text[length + 1] = '\0';
    return shown;
}

/* NULL: the dialect has none. Names with the dialect's prefix come before its bare ones, which are aliases. */
static const char *header_of(const struct dialect *dialect, enum dialect_field field)
{
    for (size_t i = dialect->prefix == NULL ? 0 : dialect->bare; i < dialect->count; i++) {
        if (dialect->entries[i].field == field) {
            return dialect->entries[i].header;
        }
    }
    return NULL;
}

static const char *find_header(const struct decode_rules *rules, enum dialect_field field)
{
    const char *found = NULL;
    for (size_t i = 0; i < rules->dialect_count; i++) {
        const char *header = header_of(rules->dialects[i], field);
        found = header != NULL && (found == NULL || rules->dialects[i] == dialect_tarry_alone[0]) ? header : found;
    }
    return found;
}

bool refusal_has_header(const struct decode_rules *rules, enum dialect_field field)
{
    return find_header(rules, field) != NULL;
}

struct refusal_shown refusal_header(const struct decode_rules *rules, enum dialect_field field)
{
    struct refusal_shown shown;
    const char *header = find_header(rules, field);
    if (header == NULL) {
        (void)snprintf(shown.text, sizeof(shown.text), "%s (dialect tarry, which is not on here)", header_of(dialect_tarry_alone[0], field));
    } else {
        (void)text_printable(span_of_text(header), shown.text, sizeof(shown.text));
    }
    return shown;
}

/* A cut may have gone through a character: its rest goes too. */
static void trim_to_utf8(char *text)
{
    size_t length = strlen(text);
    while (!text_is_utf8((struct span){(const uint8_t *)text, length})) {
        text[--length] = '\0';
    }
}

bool refusal_set(struct refusal *refusal, enum refusal_reason reason, const char *format, ...)
{
    va_list arguments;
    refusal->reason = reason;
    va_start(arguments, format);
    (void)vsnprintf(refusal->text, sizeof(refusal->text), format, arguments);
    va_end(arguments);
    trim_to_utf8(refusal->text);
    return false;
}
