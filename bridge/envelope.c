#include "bridge/envelope.h"

#include "bridge/json_text.h"
#include "bridge/refusal.h"

/* The names seen so far, to find one given twice: compared as texts, since "\u0069d" is "id". */
struct seen {
    size_t count;
    uint32_t hashes[ENVELOPE_MEMBERS_MAX];
    struct json_scan_value names[ENVELOPE_MEMBERS_MAX];
};

const char *envelope_field_name(const struct decode_rules *rules, enum envelope_field field)
{
    static const char *const defaults[ENVELOPE_FIELDS] = {"type", "payload", "delay_ms", "deliver_at", "target", "id"};
    const char *const configured[ENVELOPE_FIELDS] = {rules->field_type,     rules->field_payload,
                                                     rules->field_delay_ms, rules->field_deliver_at,
                                                     rules->field_target,   rules->field_id};
    return configured[field] == NULL ? defaults[field] : configured[field];
}

static bool refuse_json(const struct json_scan *scan, struct refusal *refusal)
{
    return refusal_set(refusal, REFUSAL_BAD_ENVELOPE, "the value is not a strict JSON object, which a source with envelope: true takes alone: %s, at byte %zu of %zu",
                       scan->trouble, json_scan_position(scan), (size_t)(scan->end - scan->first));
}

static bool note_name(struct seen *seen, const struct json_scan_value *name, struct refusal *refusal)
{
    uint32_t hash = json_text_hash(name);
    for (size_t i = 0; i < seen->count; i++) {
        if (seen->hashes[i] == hash && json_text_same(&seen->names[i], name)) {
            return refusal_set(refusal, REFUSAL_BAD_ENVELOPE, "the envelope has two members named %s",
                               refusal_show(json_text_inner(name)).text);
        }
    }
    if (seen->count == ENVELOPE_MEMBERS_MAX) {
        return refusal_set(refusal, REFUSAL_BAD_ENVELOPE, "the envelope has more than %d members",
                           ENVELOPE_MEMBERS_MAX);
    }
    seen->hashes[seen->count] = hash;
    seen->names[seen->count] = *name;
    seen->count++;
    return true;
}

static void keep_field(const struct decode_rules *rules,
                       const struct json_scan_value *name,
                       const struct json_scan_value *value,
                       struct envelope *envelope)
{
    for (int field = 0; field < ENVELOPE_FIELDS; field++) {
        if (!json_text_is(name, envelope_field_name(rules, (enum envelope_field)field))) {
            continue;
        }
        if (value->kind != JSON_SCAN_NULL || field == ENVELOPE_PAYLOAD) {
            envelope->fields[field] = *value;
        }
        return;
    }
}

static bool check_string(const struct decode_rules *rules,
                         const struct envelope *envelope,
                         enum envelope_field field,
                         struct refusal *refusal)
{
    enum json_scan_kind kind = envelope->fields[field].kind;
    if (kind == JSON_SCAN_MISSING || kind == JSON_SCAN_STRING) {
        return true;
    }
    return refusal_set(refusal, REFUSAL_BAD_ENVELOPE, "the envelope's %s must be a string",
                       refusal_show(span_of_text(envelope_field_name(rules, field))).text);
}

bool envelope_read(const struct decode_rules *rules,
                   struct span value,
                   struct envelope *envelope,
                   struct refusal *refusal)
{
    struct json_scan scan;
    struct json_scan_value name;
    struct json_scan_value member;
    struct seen seen;
    seen.count = 0; /* the arrays are as long as the count says: not cleared for each record */
    json_scan_begin(&scan, value);
    if (!json_scan_enter(&scan)) {
        return refuse_json(&scan, refusal);
    }
    enum json_scan_step step = json_scan_member(&scan, &name, &member);
    while (step == JSON_SCAN_MEMBER) {
        if (!note_name(&seen, &name, refusal)) {
            return false;
        }
        keep_field(rules, &name, &member, envelope);
        step = json_scan_member(&scan, &name, &member);
    }
    if (step == JSON_SCAN_FAILED || !json_scan_finish(&scan)) {
        return refuse_json(&scan, refusal);
    }
    return true;
}

bool envelope_check_types(const struct decode_rules *rules, const struct envelope *envelope, struct refusal *refusal)
{
    return check_string(rules, envelope, ENVELOPE_TYPE, refusal) &&
           check_string(rules, envelope, ENVELOPE_TARGET, refusal) &&
           check_string(rules, envelope, ENVELOPE_ID, refusal);
}
