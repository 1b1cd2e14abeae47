#include "bridge/due.h"

#include "base/checked.h"
#include "bridge/delay_text.h"
#include "bridge/json_text.h"
#include "bridge/refusal.h"
#include "bridge/time_text.h"

#define ESCAPED_TIME_MAX 64 /* a longer text is no time, escaped or not */

/* Where a time was found, for the words of a refusal. */
struct wish {
    const char *place; /* "header" or "envelope field" */
    struct span name;
    struct span shown;
    bool absolute;
    bool seconds; /* it was written in seconds */
    int64_t ms;
};

static bool refuse(const struct wish *wish, enum refusal_reason reason, const char *remedy, struct refusal *refusal)
{
    return refusal_set(refusal, reason, "%s %s is %s: %s", wish->place, refusal_show(wish->name).text,
                       refusal_show(wish->shown).text, remedy);
}

static bool has_timestamp(const struct record *record)
{
    return record->timestamp != RECORD_TIMESTAMP_NONE && record->timestamp_ms >= 0;
}

/* --- the four places a time can stand in --- */

static bool accept(enum decimal_result result, const struct wish *wish, const char *remedy, struct refusal *refusal)
{
    if (result == DECIMAL_READ) {
        return true;
    }
    return refuse(wish, REFUSAL_BAD_TIME, result == DECIMAL_TOO_LARGE ? "the number is beyond 2^63 - 1: give a smaller one" : remedy,
                  refusal);
}

static struct wish wish_of(const struct dialect_controls *controls, enum dialect_field field, bool absolute)
{
    const struct record_header *header = &controls->headers[field];
    return (struct wish){"header", header->name, header->value, absolute, controls->forms[field] == DIALECT_FORM_S, 0};
}

static enum decimal_result read_seconds(struct span text, int64_t *ms)
{
    enum decimal_result result = decimal_parse(text, ms);
    return result == DECIMAL_READ && !checked_mul_i64(*ms, 1000, ms) ? DECIMAL_TOO_LARGE : result;
}

enum decimal_result due_read_span(const struct dialect_controls *controls, enum dialect_field field, int64_t *ms)
{
    struct span text = controls->headers[field].value;
    int64_t number = 0;
    enum decimal_result result = controls->forms[field] == DIALECT_FORM_S    ? read_seconds(text, &number)
                                 : controls->forms[field] == DIALECT_FORM_MS ? decimal_parse(text, &number)
                                                                             : delay_text_parse(text, &number);
    if (result == DECIMAL_READ) {
        *ms = number;
    }
    return result;
}

static const char *remedy_of(enum dialect_form form, bool absolute)
{
    switch (form) {
    case DIALECT_FORM_S:
        return absolute ? "give whole epoch seconds, digits alone" : "give whole seconds, digits alone";
    case DIALECT_FORM_MS:
        return absolute ? "give whole epoch milliseconds, digits alone" : "give whole milliseconds, digits alone";
    case DIALECT_FORM_OWN:
    case DIALECT_FORM_TOMBSTONE:
    default:
        return absolute ? "give RFC 3339 with a zone (2030-01-31T12:00:00Z) or whole epoch milliseconds"
                        : "give whole milliseconds (30000) or units (1h30m: d h m s ms), without sign, blank, fraction or exponent";
    }
}

static bool read_delay_header(const struct dialect_controls *controls, struct wish *wish, struct refusal *refusal)
{
    *wish = wish_of(controls, DIALECT_DELAY, false);
    return accept(due_read_span(controls, DIALECT_DELAY, &wish->ms), wish, remedy_of(controls->forms[DIALECT_DELAY], false), refusal);
}

static bool
read_at_header(const struct dialect_controls *controls, enum dialect_field field, struct wish *wish, struct refusal *refusal)
{
    enum dialect_form form = controls->forms[field];
    *wish = wish_of(controls, field, true);
    if (form == DIALECT_FORM_OWN && time_text_parse(wish->shown, &wish->ms)) {
        return true;
    }
    return accept(form == DIALECT_FORM_S ? read_seconds(wish->shown, &wish->ms) : decimal_parse(wish->shown, &wish->ms), wish, remedy_of(form, true),
                  refusal);
}

/* A JSON number is read by its digits: no double comes near it. A sign makes it none of ours. */
static bool
read_integer(const struct json_scan_value *value, struct wish *wish, const char *remedy, struct refusal *refusal)
{
    bool integer = value->kind == JSON_SCAN_INTEGER;
    return accept(integer ? decimal_parse(value->span, &wish->ms) : DECIMAL_NOT_DIGITS, wish, remedy, refusal);
}

static struct wish
envelope_wish(const struct decode_rules *rules, const struct envelope *envelope, enum envelope_field field)
{
    const struct json_scan_value *value = &envelope->fields[field];
    struct span shown = value->kind == JSON_SCAN_STRING ? json_text_inner(value) : value->span;
    return (struct wish){"envelope field", span_of_text(envelope_field_name(rules, field)), shown,
                         field == ENVELOPE_DELIVER_AT, false, 0};
}

static bool read_delay_field(const struct decode_rules *rules,
                             const struct envelope *envelope,
                             struct wish *wish,
                             struct refusal *refusal)
{
    *wish = envelope_wish(rules, envelope, ENVELOPE_DELAY_MS);
    return read_integer(&envelope->fields[ENVELOPE_DELAY_MS], wish,
                        "give a JSON integer of milliseconds, not negative, no string, fraction or exponent", refusal);
}

static bool read_at_field(const struct decode_rules *rules,
                          const struct envelope *envelope,
                          struct wish *wish,
                          struct refusal *refusal)
{
    static const char remedy[] = "give an RFC 3339 string with a zone or a JSON integer of epoch milliseconds";
    const struct json_scan_value *value = &envelope->fields[ENVELOPE_DELIVER_AT];
    uint8_t text[ESCAPED_TIME_MAX];
    size_t length = 0;
    *wish = envelope_wish(rules, envelope, ENVELOPE_DELIVER_AT);
    if (value->kind != JSON_SCAN_STRING) {
        return read_integer(value, wish, remedy, refusal);
    }
    /* Some writers of JSON escape the plus sign of the zone. */
    if (json_text_copy(value, text, sizeof(text), &length) && time_text_parse((struct span){text, length}, &wish->ms)) {
        return true;
    }
    return refuse(wish, REFUSAL_BAD_TIME, remedy, refusal);
}

static unsigned times_given(const struct dialect_controls *controls, const struct envelope *envelope)
{
    return (unsigned)dialect_given(controls, DIALECT_DELAY) + (unsigned)dialect_given(controls, DIALECT_AT) +
           (unsigned)envelope_has(envelope, ENVELOPE_DELAY_MS) + (unsigned)envelope_has(envelope, ENVELOPE_DELIVER_AT);
}

static bool find_wish(const struct decode_rules *rules,
                      const struct dialect_controls *controls,
                      const struct envelope *envelope,
                      const struct decoded_recurrence *recurrence,
                      struct wish *wish,
                      struct refusal *refusal)
{
    if (times_given(controls, envelope) > 1) {
        return refusal_set(refusal, REFUSAL_AMBIGUOUS,
                           "more than one time is given (headers tarry-delay, delay_ms, tarry-at or a dialect's, the envelope's time "
                           "fields): give one");
    }
    if (dialect_given(controls, DIALECT_DELAY)) {
        return read_delay_header(controls, wish, refusal);
    }
    if (dialect_given(controls, DIALECT_AT)) {
        return read_at_header(controls, DIALECT_AT, wish, refusal);
    }
    if (envelope_has(envelope, ENVELOPE_DELAY_MS)) {
        return read_delay_field(rules, envelope, wish, refusal);
    }
    if (envelope_has(envelope, ENVELOPE_DELIVER_AT)) {
        return read_at_field(rules, envelope, wish, refusal);
    }
    if (recurrence->kind == DECODE_RECURRENCE_EVERY) {
        *wish = wish_of(controls, DIALECT_EVERY, false);
        wish->ms = recurrence->every_ms;
        return true;
    }
    if (rules->default_delay_ms < 0) {
        return refusal_set(
            refusal, REFUSAL_NO_TIME,
            "the record names no time: give header tarry-delay or tarry-at, or set default_delay for the source");
    }
    *wish = (struct wish){"setting", span_of_text("default_delay"), span_of_text("used"), false, false, rules->default_delay_ms};
    return true;
}

/* --- the bounds --- */

static bool apply_relative(const struct decode_rules *rules,
                           const struct record *record,
                           const struct wish *wish,
                           int64_t *due_ms,
                           struct refusal *refusal)
{
    int64_t due = 0;
    if (wish->ms > rules->max_delay_ms) {
        return refuse(wish, REFUSAL_TOO_FAR, "beyond the source's max_delay", refusal);
    }
    if (!has_timestamp(record)) {
        return refuse(wish, REFUSAL_NO_TIMESTAMP, "the record has no timestamp to count from: give tarry-at instead",
                      refusal);
    }
    if (!checked_add_i64(record->timestamp_ms, wish->ms, &due) || due > TIME_TEXT_LAST_MS) {
        return refuse(wish, REFUSAL_TOO_FAR, "counted from the record's timestamp it is beyond the year 9999", refusal);
    }
    *due_ms = due;
    return true;
}

/* Whether an absolute time lies within what a person can have meant. */
static bool check_moment(const struct wish *wish, struct refusal *refusal)
{
    if (wish->ms < DUE_LEAST_MS) {
        return wish->seconds ? refuse(wish, REFUSAL_BAD_TIME, "before 1973: give epoch seconds", refusal)
                             : refuse(wish, REFUSAL_SECONDS, "before 1973, as if seconds were written where milliseconds are due", refusal);
    }
    if (wish->ms > TIME_TEXT_LAST_MS) {
        return refuse(wish, REFUSAL_TOO_FAR,
                      wish->seconds ? "beyond the year 9999: milliseconds where seconds are due?"
                                    : "beyond the year 9999: microseconds where milliseconds are due?",
                      refusal);
    }
    return true;
}

bool due_read_moment(const struct dialect_controls *controls, enum dialect_field field, int64_t *ms, struct refusal *refusal)
{
    struct wish wish;
    if (!read_at_header(controls, field, &wish, refusal) || !check_moment(&wish, refusal)) {
        return false;
    }
    *ms = wish.ms;
    return true;
}

static bool apply_absolute(const struct decode_rules *rules,
                           const struct record *record,
                           const struct wish *wish,
                           int64_t *due_ms,
                           struct refusal *refusal)
{
    if (!check_moment(wish, refusal)) {
        return false;
    }
    if (has_timestamp(record) && wish->ms - record->timestamp_ms > rules->max_delay_ms) {
        return refuse(wish, REFUSAL_TOO_FAR, "further from the record's timestamp than the source's max_delay",
                      refusal);
    }
    *due_ms = wish->ms;
    return true;
}

bool due_decide(const struct decode_rules *rules,
                const struct record *record,
                const struct dialect_controls *controls,
                const struct envelope *envelope,
                const struct decoded_recurrence *recurrence,
                int64_t *due_ms,
                struct refusal *refusal)
{
    struct wish wish = {0};
    if (recurrence->kind == DECODE_RECURRENCE_CRON && times_given(controls, envelope) == 0) {
        *due_ms = DUE_SINCE_EVER;
        return true;
    }
    if (!find_wish(rules, controls, envelope, recurrence, &wish, refusal)) {
        return false;
    }
    return wish.absolute ? apply_absolute(rules, record, &wish, due_ms, refusal)
                         : apply_relative(rules, record, &wish, due_ms, refusal);
}
