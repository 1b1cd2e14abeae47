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

static bool refuse_beyond(const struct decode_rules *rules, const struct wish *wish, const char *what, struct refusal *refusal)
{
    char most[DELAY_TEXT_MAX];
    delay_text_write(rules->max_delay_ms, most);
    return refusal_set(refusal, REFUSAL_TOO_FAR, "%s %s is %s: %s the source's max_delay, %s", wish->place, refusal_show(wish->name).text,
                       refusal_show(wish->shown).text, what, most);
}

bool due_refuse_beyond(const struct decode_rules *rules, struct span name, struct span shown, struct refusal *refusal)
{
    const struct wish wish = {.place = "header", .name = name, .shown = shown};
    return refuse_beyond(rules, &wish, "beyond", refusal);
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

static bool refuse_no_time(const struct decode_rules *rules, struct refusal *refusal)
{
    static const char format[] = "the record names no time: give %s %s%s%s, or set default_delay for the source";
    bool delay = refusal_has_header(rules, DIALECT_DELAY);
    bool at = refusal_has_header(rules, DIALECT_AT);
    if (!delay && !at && rules->envelope) {
        return refusal_set(refusal, REFUSAL_NO_TIME, format, "envelope field", refusal_show(span_of_text(envelope_field_name(rules, ENVELOPE_DELAY_MS))).text,
                           " or ", refusal_show(span_of_text(envelope_field_name(rules, ENVELOPE_DELIVER_AT))).text);
    }
    return refusal_set(refusal, REFUSAL_NO_TIME, format, "header", refusal_header(rules, delay || !at ? DIALECT_DELAY : DIALECT_AT).text,
                       delay && at ? " or " : "", delay && at ? refusal_header(rules, DIALECT_AT).text : "");
}

/* Names the first two: who takes those out finds the next. */
static bool
refuse_times(const struct decode_rules *rules, const struct dialect_controls *controls, const struct envelope *envelope, struct refusal *refusal)
{
    const struct {
        bool given;
        const char *place;
        struct span name;
    } all[] = {
        {dialect_given(controls, DIALECT_DELAY), "header", controls->headers[DIALECT_DELAY].name},
        {dialect_given(controls, DIALECT_AT), "header", controls->headers[DIALECT_AT].name},
        {envelope_has(envelope, ENVELOPE_DELAY_MS), "envelope field", span_of_text(envelope_field_name(rules, ENVELOPE_DELAY_MS))},
        {envelope_has(envelope, ENVELOPE_DELIVER_AT), "envelope field", span_of_text(envelope_field_name(rules, ENVELOPE_DELIVER_AT))},
    };
    size_t found[sizeof(all) / sizeof(all[0])];
    size_t count = 0;
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
        found[count] = i;
        count += all[i].given;
    }
    return refusal_set(refusal, REFUSAL_AMBIGUOUS, "more than one time is given (%s %s, %s %s%s): give one", all[found[0]].place,
                       refusal_show(all[found[0]].name).text, all[found[1]].place, refusal_show(all[found[1]].name).text, count > 2 ? "..." : "");
}

static bool find_wish(const struct decode_rules *rules,
                      const struct dialect_controls *controls,
                      const struct envelope *envelope,
                      const struct decoded_recurrence *recurrence,
                      struct wish *wish,
                      struct refusal *refusal)
{
    if (times_given(controls, envelope) > 1) {
        return refuse_times(rules, controls, envelope, refusal);
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
        return refuse_no_time(rules, refusal);
    }
    *wish = (struct wish){"setting", span_of_text("default_delay"), span_of_text("used"), false, false, rules->default_delay_ms};
    return true;
}

/* --- the bounds --- */

/* Where a producer of this source can write a moment. */
static struct refusal_shown moment_of(const struct decode_rules *rules)
{
    return !refusal_has_header(rules, DIALECT_AT) && rules->envelope ? refusal_show(span_of_text(envelope_field_name(rules, ENVELOPE_DELIVER_AT)))
                                                                     : refusal_header(rules, DIALECT_AT);
}

static bool apply_relative(const struct decode_rules *rules,
                           const struct record *record,
                           const struct wish *wish,
                           int64_t *due_ms,
                           struct refusal *refusal)
{
    int64_t due = 0;
    if (wish->ms > rules->max_delay_ms) {
        return refuse_beyond(rules, wish, "beyond", refusal);
    }
    if (!has_timestamp(record)) {
        return refusal_set(refusal, REFUSAL_NO_TIMESTAMP, "%s %s is %s: the record has no timestamp to count from: give %s instead", wish->place,
                           refusal_show(wish->name).text, refusal_show(wish->shown).text, moment_of(rules).text);
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
        return refuse_beyond(rules, wish, "further from the record's timestamp than", refusal);
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
