#include "bridge/decode_recurrence.h"

#include "bridge/decimal.h"
#include "bridge/due.h"
#include "bridge/refusal.h"

struct decoded_recurrence decode_recurrence_none(void)
{
    return (struct decoded_recurrence){.cron = SPAN_ABSENT, .zone = SPAN_ABSENT, .until_ms = -1};
}

static bool refuse(const struct record_header *header, enum refusal_reason reason, const char *remedy, struct refusal *refusal)
{
    return refusal_set(refusal, reason, "header %s is %s: %s", refusal_show(header->name).text, refusal_show(header->value).text, remedy);
}

static bool is_printable(uint8_t byte)
{
    return byte >= ' ' && byte <= '~';
}

static bool is_of_zone(uint8_t byte)
{
    return (byte >= 'A' && byte <= 'Z') || (byte >= 'a' && byte <= 'z') || (byte >= '0' && byte <= '9') || byte == '_' || byte == '+' || byte == '/' ||
           byte == '-';
}

static bool consists_of(struct span text, size_t most, bool allowed(uint8_t byte))
{
    for (size_t i = 0; i < text.length; i++) {
        if (!allowed(text.data[i])) {
            return false;
        }
    }
    return text.length >= 1 && text.length <= most;
}

static bool read_cron(const struct dialect_controls *controls, struct decoded_recurrence *recurrence, struct refusal *refusal)
{
    const struct record_header *header = &controls->headers[DIALECT_CRON];
    recurrence->kind = DECODE_RECURRENCE_CRON;
    recurrence->cron = header->value;
    return consists_of(header->value, DECODE_CRON_MAX, is_printable) ||
           refuse(header, REFUSAL_BAD_SCHEDULE, "give a cron expression of 5 to 7 fields (0 9 * * MON-FRI), at most 256 bytes", refusal);
}

static const char *remedy_of_every(enum dialect_form form)
{
    switch (form) {
    case DIALECT_FORM_S:
        return "give whole seconds, 1 at least, digits alone";
    case DIALECT_FORM_MS:
        return "give whole milliseconds, 1000 at least, digits alone";
    case DIALECT_FORM_OWN:
    case DIALECT_FORM_TOMBSTONE:
    default:
        return "give a span of 1 second at least, as 10m or 1h30m: units are d h m s ms, and a bare number is milliseconds";
    }
}

static bool read_every(const struct decode_rules *rules,
                       const struct dialect_controls *controls,
                       bool decided,
                       struct decoded_recurrence *recurrence,
                       struct refusal *refusal)
{
    const struct record_header *header = &controls->headers[DIALECT_EVERY];
    recurrence->kind = DECODE_RECURRENCE_EVERY;
    if (due_read_span(controls, DIALECT_EVERY, &recurrence->every_ms) != DECIMAL_READ || recurrence->every_ms < DECODE_EVERY_LEAST_MS) {
        return refuse(header, REFUSAL_BAD_SCHEDULE, remedy_of_every(controls->forms[DIALECT_EVERY]), refusal);
    }
    return decided || recurrence->every_ms <= rules->max_delay_ms || due_refuse_beyond(rules, header->name, header->value, refusal);
}

static bool read_zone(const struct dialect_controls *controls, struct decoded_recurrence *recurrence, struct refusal *refusal)
{
    const struct record_header *header = &controls->headers[DIALECT_TZ];
    if (!dialect_given(controls, DIALECT_TZ)) {
        return true;
    }
    recurrence->zone = header->value;
    return consists_of(header->value, DECODE_ZONE_MAX, is_of_zone) ||
           refuse(header, REFUSAL_BAD_SCHEDULE, "give the name of an IANA zone, as Europe/Berlin", refusal);
}

static bool read_count(const struct dialect_controls *controls, struct decoded_recurrence *recurrence, struct refusal *refusal)
{
    const struct record_header *header = &controls->headers[DIALECT_COUNT];
    if (!dialect_given(controls, DIALECT_COUNT)) {
        return true;
    }
    bool read = decimal_parse(header->value, &recurrence->count) == DECIMAL_READ;
    return (read && recurrence->count >= 1 && recurrence->count <= DECODE_COUNT_MOST) ||
           refuse(header, REFUSAL_BAD_SCHEDULE, "give a decimal number of firings, 1 to 1000000000000", refusal);
}

/* What says how something comes again, of what does not. */
static bool refuse_alone(const struct decode_rules *rules, const struct dialect_controls *controls, struct refusal *refusal)
{
    static const enum dialect_field fields[] = {DIALECT_TZ, DIALECT_UNTIL, DIALECT_COUNT};
    for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
        if (dialect_given(controls, fields[i])) {
            const struct record_header *header = &controls->headers[fields[i]];
            bool cron = refusal_has_header(rules, DIALECT_CRON) || !refusal_has_header(rules, DIALECT_EVERY);
            bool every = refusal_has_header(rules, DIALECT_EVERY);
            return refusal_set(refusal, REFUSAL_UNSUPPORTED, "header %s is %s: it says nothing of a record that comes once: add %s%s%s, or leave it out",
                               refusal_show(header->name).text, refusal_show(header->value).text, cron ? refusal_header(rules, DIALECT_CRON).text : "",
                               cron && every ? " or " : "", every ? refusal_header(rules, DIALECT_EVERY).text : "");
        }
    }
    return true;
}

bool decode_recurrence_read(const struct decode_rules *rules,
                            const struct dialect_controls *controls,
                            bool decided,
                            struct decoded_recurrence *recurrence,
                            struct refusal *refusal)
{
    bool cron = dialect_given(controls, DIALECT_CRON);
    bool every = dialect_given(controls, DIALECT_EVERY);
    *recurrence = decode_recurrence_none();
    if (!cron && !every) {
        return refuse_alone(rules, controls, refusal);
    }
    if (cron && every) {
        return refusal_set(refusal, REFUSAL_AMBIGUOUS, "headers %s and %s both say how it comes again: give one of them",
                           refusal_show(controls->headers[DIALECT_CRON].name).text, refusal_show(controls->headers[DIALECT_EVERY].name).text);
    }
    return (cron ? read_cron(controls, recurrence, refusal) : read_every(rules, controls, decided, recurrence, refusal)) &&
           read_zone(controls, recurrence, refusal) && read_count(controls, recurrence, refusal) &&
           (!dialect_given(controls, DIALECT_UNTIL) || due_read_moment(controls, DIALECT_UNTIL, &recurrence->until_ms, refusal));
}
