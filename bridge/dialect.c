#include "bridge/dialect.h"

#include "bridge/refusal.h"

#define PREFIX "tarry-"
#define PREFIX_LENGTH (sizeof(PREFIX) - 1)
#define ALIAS "delay_ms"
#define ALIAS_LENGTH (sizeof(ALIAS) - 1)

enum name_class {
    NAME_FOREIGN,
    NAME_CONTROL,
    NAME_OUTPUT,  /* ours, on records that come round again; replaced or left out when they go out */
    NAME_ROOT,    /* ours, on records that we wrote again: decode_root.c reads it */
    NAME_UNKNOWN, /* ours by its prefix, and nothing we act on */
};

struct known_name {
    const char *rest; /* after the prefix */
    size_t length;
    enum name_class class;
    enum dialect_field field;
};

static const struct known_name known[] = {
    {"delay", 5, NAME_CONTROL, DIALECT_DELAY},         {"at", 2, NAME_CONTROL, DIALECT_AT},
    {"topic", 5, NAME_CONTROL, DIALECT_TOPIC},         {"key", 3, NAME_CONTROL, DIALECT_KEY},
    {"partition", 9, NAME_CONTROL, DIALECT_PARTITION}, {"id", 2, NAME_CONTROL, DIALECT_ID},
    {"action", 6, NAME_CONTROL, DIALECT_ACTION},       {"due", 3, NAME_OUTPUT, DIALECT_FIELDS},
    {"source", 6, NAME_OUTPUT, DIALECT_FIELDS},        {"root", 4, NAME_ROOT, DIALECT_FIELDS},
    {"not-before", 10, NAME_ROOT, DIALECT_FIELDS},     {"redelivery", 10, NAME_OUTPUT, DIALECT_FIELDS},
    {"replays", 7, NAME_OUTPUT, DIALECT_FIELDS},
};

static bool has_prefix(struct span name)
{
    return name.length >= PREFIX_LENGTH && name.data[0] == 't' && memcmp(name.data, PREFIX, PREFIX_LENGTH) == 0;
}

static bool is_alias(struct span name)
{
    return name.length == ALIAS_LENGTH && memcmp(name.data, ALIAS, ALIAS_LENGTH) == 0;
}

static enum name_class classify(struct span name, enum dialect_field *field)
{
    if (is_alias(name)) {
        *field = DIALECT_DELAY;
        return NAME_CONTROL;
    }
    if (!has_prefix(name)) {
        return NAME_FOREIGN;
    }
    const uint8_t *rest = name.data + PREFIX_LENGTH;
    size_t length = name.length - PREFIX_LENGTH;
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
        if (length == known[i].length && memcmp(rest, known[i].rest, length) == 0) {
            *field = known[i].field;
            return known[i].class;
        }
    }
    return NAME_UNKNOWN;
}

static bool
refuse_repeat(const struct record_header *first, const struct record_header *second, struct refusal *refusal)
{
    if (span_equal(first->name, second->name)) {
        return refusal_set(refusal, REFUSAL_AMBIGUOUS, "header %s is given more than once: give it once",
                           refusal_show(first->name).text);
    }
    return refusal_set(refusal, REFUSAL_AMBIGUOUS, "headers %s and %s mean the same: give one of them",
                       refusal_show(first->name).text, refusal_show(second->name).text);
}

static bool add(struct dialect_controls *controls,
                enum dialect_field field,
                const struct record_header *header,
                struct refusal *refusal)
{
    if (dialect_given(controls, field)) {
        return refuse_repeat(&controls->headers[field], header, refusal);
    }
    controls->given |= 1U << field;
    controls->headers[field] = *header;
    return true;
}

static bool check_action(const struct dialect_controls *controls, struct refusal *refusal)
{
    if (!dialect_given(controls, DIALECT_ACTION)) {
        return true;
    }
    struct span action = controls->headers[DIALECT_ACTION].value;
    if (span_equals_text(action, "schedule")) {
        return true;
    }
    return refusal_set(refusal, REFUSAL_UNSUPPORTED, "header tarry-action is %s: this version knows \"schedule\"",
                       refusal_show(action).text);
}

bool dialect_read(const struct record *record, unsigned ignored, struct dialect_controls *controls, struct refusal *refusal)
{
    for (size_t i = 0; i < record->header_count; i++) {
        const struct record_header *header = &record->headers[i];
        enum dialect_field field = DIALECT_FIELDS;
        enum name_class class = classify(header->name, &field);
        if (class == NAME_UNKNOWN) {
            return refusal_set(refusal, REFUSAL_UNSUPPORTED,
                               "header %s: this version of tarry does not act on it; leave it out",
                               refusal_show(header->name).text);
        }
        if (class == NAME_CONTROL && (ignored >> field & 1U) == 0 && !add(controls, field, header, refusal)) {
            return false;
        }
    }
    return check_action(controls, refusal);
}

bool dialect_owns(struct span name)
{
    return is_alias(name) || has_prefix(name);
}
