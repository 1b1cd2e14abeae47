#include "bridge/dialect_read.h"

#include "bridge/refusal.h"

static bool refuse_repeat(const struct record_header *first, const struct record_header *second, struct refusal *refusal)
{
    if (span_equal(first->name, second->name)) {
        return refusal_set(refusal, REFUSAL_AMBIGUOUS, "header %s is given more than once: give it once", refusal_show(first->name).text);
    }
    return refusal_set(refusal, REFUSAL_AMBIGUOUS, "headers %s and %s mean the same: give one of them", refusal_show(first->name).text,
                       refusal_show(second->name).text);
}

static bool add(struct dialect_controls *controls, const struct dialect_entry *entry, const struct record_header *header, struct refusal *refusal)
{
    enum dialect_field field = entry->field;
    if (!dialect_given(controls, field)) {
        controls->given |= 1U << field;
        controls->headers[field] = *header;
        controls->places[field] = header;
        controls->forms[field] = entry->form;
        return true;
    }
    if (controls->places[field] != header) {
        return refuse_repeat(&controls->headers[field], header, refusal);
    }
    /* the same header, known to two dialects */
    return controls->forms[field] == entry->form ||
           refusal_set(refusal, REFUSAL_AMBIGUOUS, "header %s has other units in one of the source's dialects than in another: leave one of these out",
                       refusal_show(header->name).text);
}

/* One header as one dialect knows it. *spoken: it says something in that dialect. */
static bool take(const struct dialect *dialect,
                 const struct record_header *header,
                 bool decided,
                 struct dialect_controls *controls,
                 bool *spoken,
                 struct refusal *refusal)
{
    const struct dialect_entry *entry = dialect_find(dialect, header->name);
    if (entry == NULL) {
        return !dialect_prefixed(dialect, header->name) ||
               refusal_set(refusal, REFUSAL_UNSUPPORTED, "header %s: this version of tarry does not act on it; leave it out",
                           refusal_show(header->name).text);
    }
    if (entry->field == DIALECT_REFUSED && !decided) {
        return refusal_set(refusal, REFUSAL_UNSUPPORTED, "header %s: %s", refusal_show(header->name).text,
                           entry->remedy == NULL ? "tarry does not act on it; leave it out" : entry->remedy);
    }
    if (entry->field >= DIALECT_FIELDS) {
        return true;
    }
    *spoken = true;
    return (decided && (DIALECT_DECIDED >> entry->field & 1U) != 0) || add(controls, entry, header, refusal);
}

static bool read_action(struct dialect_controls *controls, struct refusal *refusal)
{
    if (!dialect_given(controls, DIALECT_ACTION)) {
        return true;
    }
    const struct record_header *action = &controls->headers[DIALECT_ACTION];
    bool tombstone = controls->forms[DIALECT_ACTION] == DIALECT_FORM_TOMBSTONE;
    controls->cancel = span_equals_text(action->value, "cancel") || (tombstone && span_equals_text(action->value, "tombstone"));
    return controls->cancel || span_equals_text(action->value, "schedule") ||
           refusal_set(refusal, REFUSAL_UNSUPPORTED, "header %s is %s: give \"schedule\" or \"cancel\"", refusal_show(action->name).text,
                       refusal_show(action->value).text);
}

/* A record without any header of a dialect is of each that is on. */
static void adopt_habits(const struct decode_rules *rules, uint64_t spoken, struct dialect_controls *controls)
{
    for (size_t i = 0; i < rules->dialect_count; i++) {
        if (spoken == 0 || (spoken >> i & 1U) != 0) {
            controls->id_from_key = controls->id_from_key || rules->dialects[i]->id_from_key;
            controls->null_is_cancel = controls->null_is_cancel || rules->dialects[i]->null_is_cancel;
        }
    }
}

bool dialect_read(const struct decode_rules *rules, const struct record *record, bool decided, struct dialect_controls *controls, struct refusal *refusal)
{
    uint64_t spoken_by = 0;
    for (size_t i = 0; i < record->header_count; i++) {
        for (size_t d = 0; d < rules->dialect_count; d++) {
            bool spoken = false;
            if (!dialect_may_know(rules->dialects[d], record->headers[i].name)) {
                continue;
            }
            if (!take(rules->dialects[d], &record->headers[i], decided, controls, &spoken, refusal)) {
                return false;
            }
            spoken_by |= (uint64_t)spoken << d;
        }
    }
    adopt_habits(rules, spoken_by, controls);
    return read_action(controls, refusal);
}
