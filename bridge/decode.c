#include "bridge/decode.h"

#include <inttypes.h>

#include "bridge/decimal.h"
#include "bridge/decode_recurrence.h"
#include "bridge/decode_request.h"
#include "bridge/due.h"
#include "bridge/json_text.h"
#include "bridge/refusal.h"
#include "bridge/time_text.h"

#define TARGET_MAX 249

/* Texts that an envelope wrote with escapes, unescaped: they have no place in the record. One of each per thread is
 * enough, since what decode_record returns is valid until its next call (bridge/decode.h). */
static _Thread_local struct {
    uint8_t id[DECODE_ID_MAX];
    uint8_t target[TARGET_MAX];
} unescaped;

/* Everything that was found in one record. */
struct findings {
    const struct decode_rules *rules;
    const struct record *record;
    struct decode_root root;
    struct dialect_controls controls;
    struct envelope envelope;
};

/* The text of an envelope's string: its own bytes, or written to `room`. False: it is longer than `size`. */
static bool field_text(const struct json_scan_value *string, uint8_t *room, size_t size, struct span *text)
{
    size_t length = 0;
    if (!string->escaped) {
        *text = json_text_inner(string);
        return true;
    }
    if (!json_text_copy(string, room, size, &length)) {
        return false;
    }
    *text = (struct span){room, length};
    return true;
}

/* --- target --- */

static const char *route_of(const struct decode_rules *rules, const struct json_scan_value *type)
{
    for (size_t i = 0; i < rules->route_count; i++) {
        if (json_text_is(type, rules->routes[i].type)) {
            return rules->routes[i].target;
        }
    }
    return NULL;
}

/* A type without a route goes the way of no type: to default_target. */
static bool find_rule_target(const struct findings *findings, struct span *target, struct refusal *refusal)
{
    const struct decode_rules *rules = findings->rules;
    const char *name = NULL;
    bool typed = envelope_has(&findings->envelope, ENVELOPE_TYPE);
    if (typed) {
        name = route_of(rules, &findings->envelope.fields[ENVELOPE_TYPE]);
    }
    name = name == NULL ? rules->default_target : name;
    if (name != NULL) {
        *target = span_of_text(name);
        return true;
    }
    if (typed) {
        return refusal_set(refusal, REFUSAL_NO_TARGET,
                           "type %s has no route: add one, or a default_target, to the source",
                           refusal_show(json_text_inner(&findings->envelope.fields[ENVELOPE_TYPE])).text);
    }
    bool field = rules->envelope && !refusal_has_header(rules, DIALECT_TOPIC);
    return refusal_set(refusal, REFUSAL_NO_TARGET, "the record names no target: give %s %s, or set default_target for the source",
                       field ? "envelope field" : "header",
                       (field ? refusal_show(span_of_text(envelope_field_name(rules, ENVELOPE_TARGET))) : refusal_header(rules, DIALECT_TOPIC)).text);
}

static bool find_target(const struct findings *findings, struct span *target, struct refusal *refusal)
{
    if (findings->root.decided) {
        *target = findings->root.target;
        return true;
    }
    if (dialect_given(&findings->controls, DIALECT_TOPIC)) {
        *target = findings->controls.headers[DIALECT_TOPIC].value;
        return true;
    }
    if (!envelope_has(&findings->envelope, ENVELOPE_TARGET)) {
        return find_rule_target(findings, target, refusal);
    }
    const struct json_scan_value *field = &findings->envelope.fields[ENVELOPE_TARGET];
    if (field_text(field, unescaped.target, TARGET_MAX, target)) {
        return true;
    }
    return refusal_set(refusal, REFUSAL_BAD_TARGET, "the target is longer than %d bytes", TARGET_MAX);
}

/* A target that was decided long ago must be allowed now, too: anybody can write the header that names it, and where an operator wants nothing to
 * go nothing goes. */
static bool decide_target(const struct findings *findings, struct decoded *made, struct refusal *refusal)
{
    if (!find_target(findings, &made->target, refusal)) {
        return false;
    }
    if (!target_name_valid(made->target)) {
        return refusal_set(refusal, REFUSAL_BAD_TARGET,
                           "target %s is no topic name: 1 to 249 of a-z A-Z 0-9 . _ - (not . or ..)",
                           refusal_show(made->target).text);
    }
    if (!target_lane(findings->rules->targets, made->target, &made->lane)) {
        return refusal_set(refusal, REFUSAL_TARGET_NOT_ALLOWED,
                           "target %s matches no entry of targets in the configuration: add one to allow it",
                           refusal_show(made->target).text);
    }
    return true;
}

static bool decide_partition(const struct findings *findings, struct decoded *made, struct refusal *refusal)
{
    int64_t number = 0;
    if (findings->root.decided) {
        made->partition = findings->root.partition;
        return true;
    }
    if (!dialect_given(&findings->controls, DIALECT_PARTITION)) {
        return true;
    }
    const struct record_header *header = &findings->controls.headers[DIALECT_PARTITION];
    if (decimal_parse(header->value, &number) != DECIMAL_READ || number > INT32_MAX) {
        return refusal_set(refusal, REFUSAL_BAD_TARGET, "header %s is %s: give a decimal number, 0 to 2147483647", refusal_show(header->name).text,
                           refusal_show(header->value).text);
    }
    made->partition = (int32_t)number;
    return true;
}

/* --- key, id, value --- */

static void decide_key(const struct findings *findings, struct decoded *made)
{
    if (dialect_given(&findings->controls, DIALECT_KEY)) {
        made->key = findings->controls.headers[DIALECT_KEY].value;
    }
}

/* The text of the envelope's id. False: it is longer than an id may be, or (of a re-append) no string. */
static bool find_field_id(const struct findings *findings, struct span *id)
{
    const struct json_scan_value *field = &findings->envelope.fields[ENVELOPE_ID];
    return field->kind == JSON_SCAN_STRING && field_text(field, unescaped.id, DECODE_ID_MAX, id);
}

/* Where the id stands: a header, the envelope, or (a habit of some dialects) the record's key. *fits is false of an envelope's that cannot be one. */
static const char *find_id(const struct findings *findings, struct span *id, bool *fits)
{
    *fits = true;
    if (dialect_given(&findings->controls, DIALECT_ID)) {
        *id = findings->controls.headers[DIALECT_ID].value;
        return "the header";
    }
    if (envelope_has(&findings->envelope, ENVELOPE_ID)) {
        *fits = find_field_id(findings, id);
        return "the envelope's id";
    }
    if (findings->controls.id_from_key && findings->record->key.data != NULL) {
        *id = findings->record->key;
        return "the record's key, which is its id in this dialect,";
    }
    return NULL;
}

static bool decide_id(const struct findings *findings, struct decoded *made, struct refusal *refusal)
{
    bool fits;
    const char *place = find_id(findings, &made->id, &fits);
    if (place == NULL || (fits && made->id.length >= 1 && made->id.length <= DECODE_ID_MAX)) {
        return true;
    }
    made->id = SPAN_ABSENT;
    if (findings->root.decided && !dialect_given(&findings->controls, DIALECT_ID)) {
        return true; /* that field was no id when the record was accepted */
    }
    if (dialect_given(&findings->controls, DIALECT_ID)) {
        return refusal_set(refusal, REFUSAL_BAD_ID, "header %s must have 1 to %d bytes", refusal_show(findings->controls.headers[DIALECT_ID].name).text,
                           DECODE_ID_MAX);
    }
    return refusal_set(refusal, REFUSAL_BAD_ID, "%s must have 1 to %d bytes", place, DECODE_ID_MAX);
}

static bool refuse_without_id(const struct findings *findings, const char *what, struct refusal *refusal)
{
    const struct decode_rules *rules = findings->rules;
    if (refusal_has_header(rules, DIALECT_ID) || (!findings->controls.id_from_key && !rules->envelope)) {
        return refusal_set(refusal, REFUSAL_BAD_ID, "%s: give header %s", what, refusal_header(rules, DIALECT_ID).text);
    }
    if (findings->controls.id_from_key) {
        return refusal_set(refusal, REFUSAL_BAD_ID, "%s: give the record a key, which is its id in this dialect", what);
    }
    return refusal_set(refusal, REFUSAL_BAD_ID, "%s: give envelope field %s", what,
                       refusal_show(span_of_text(envelope_field_name(rules, ENVELOPE_ID))).text);
}

/* Who is to be found again must have a name. */
static bool check_id(const struct findings *findings, const struct decoded *made, struct refusal *refusal)
{
    if (made->id.data != NULL) {
        return true;
    }
    if (made->recurrence.kind != DECODE_RECURRENCE_NONE) {
        return refuse_without_id(findings, "a record that comes again has no id, and nobody could ever cancel it", refusal);
    }
    return !made->conditional || refuse_without_id(findings, "tarry-if-exists: reject asks about an id, and there is none", refusal);
}

static bool decide_value(const struct findings *findings, struct decoded *made, struct refusal *refusal)
{
    const struct decode_rules *rules = findings->rules;
    if (rules->envelope_whole) {
        return true;
    }
    if (!envelope_has(&findings->envelope, ENVELOPE_PAYLOAD)) {
        return refusal_set(refusal, REFUSAL_BAD_ENVELOPE, "the envelope has no %s: what is to go out stands there; or set envelope_out: whole",
                           refusal_show(span_of_text(envelope_field_name(rules, ENVELOPE_PAYLOAD))).text);
    }
    made->value = findings->envelope.fields[ENVELOPE_PAYLOAD].span;
    return true;
}

/* The value and what it says. Of a re-append only the payload and the id count of an envelope; one that is none by today's rules goes out as it
 * is, since it was accepted once. */
static bool decide_body(struct findings *findings, struct decoded *made, struct refusal *refusal)
{
    const struct decode_rules *rules = findings->rules;
    if (!rules->envelope || findings->record->value.data == NULL) {
        return true;
    }
    bool decided = findings->root.decided;
    if (envelope_read(rules, findings->record->value, &findings->envelope, refusal) &&
        (decided || envelope_check_types(rules, &findings->envelope, refusal)) && decide_value(findings, made, refusal)) {
        return true;
    }
    findings->envelope = (struct envelope){0};
    return decided;
}

/* --- time --- */

/* What times count from: of a re-append, the record that a person wrote. */
static struct record base_of(const struct findings *findings)
{
    struct record base = *findings->record;
    if (findings->root.offset >= 0) {
        base.timestamp_ms = findings->root.timestamp_ms;
        base.timestamp = base.timestamp_ms < 0 ? RECORD_TIMESTAMP_NONE : RECORD_TIMESTAMP_CREATE;
    }
    return base;
}

static bool check_until(const struct decoded *made, struct refusal *refusal)
{
    const struct decoded_recurrence *recurrence = &made->recurrence;
    return recurrence->kind == DECODE_RECURRENCE_NONE || recurrence->until_ms < 0 || made->due_ms <= recurrence->until_ms ||
           refusal_set(refusal, REFUSAL_BAD_SCHEDULE, "the time until which it comes again is before the first firing, at %" PRId64 " ms: it would never fire", made->due_ms);
}

static bool decide_due(const struct findings *findings, struct decoded *made, struct refusal *refusal)
{
    if (findings->root.decided) {
        made->due_ms = findings->root.due_ms;
        return true;
    }
    const struct record base = base_of(findings);
    return due_decide(findings->rules, &base, &findings->controls, &findings->envelope, &made->recurrence, &made->due_ms, refusal);
}

/* The record's own place, or of a re-append that of the record which a person wrote. */
static void spread(const struct findings *findings, struct decoded *made)
{
    int64_t offset = made->root >= 0 ? made->root : findings->record->offset;
    if (!findings->root.decided && made->due_ms != DUE_SINCE_EVER) {
        made->due_ms += decode_spread_offset_ms(findings->rules, made->id, findings->record->partition, offset);
        made->due_ms = made->due_ms > TIME_TEXT_LAST_MS ? TIME_TEXT_LAST_MS : made->due_ms;
    }
}

/* --- what else is asked for --- */

static bool decide_recurrence(const struct findings *findings, struct decoded *made, struct refusal *refusal)
{
    bool decided = findings->root.decided;
    if (!decode_recurrence_read(findings->rules, &findings->controls, decided, &made->recurrence, refusal)) {
        return false;
    }
    if (decided && made->recurrence.kind != DECODE_RECURRENCE_NONE) {
        made->recurrence.runs = decode_runs(findings->record);
    }
    return true;
}

static bool decide_expiry(const struct findings *findings, struct decoded *made, struct refusal *refusal)
{
    return !dialect_given(&findings->controls, DIALECT_EXPIRES) ||
           due_read_moment(&findings->controls, DIALECT_EXPIRES, &made->expires_ms, refusal);
}

static bool decide_condition(const struct findings *findings, struct decoded *made, struct refusal *refusal)
{
    const struct record_header *header = &findings->controls.headers[DIALECT_IF_EXISTS];
    if (dialect_given(&findings->controls, DIALECT_IF_EXISTS)) {
        made->conditional = span_equals_text(header->value, "reject");
        if (!made->conditional && !span_equals_text(header->value, "replace")) {
            return refusal_set(refusal, REFUSAL_UNSUPPORTED, "header %s is %s: give \"replace\" or \"reject\"", refusal_show(header->name).text,
                               refusal_show(header->value).text);
        }
    }
    made->undecided = made->conditional || (!findings->root.decided && made->due_ms == DUE_SINCE_EVER); /* anybody can write a root that decides 0 */
    return true;
}

static bool is_cancel(const struct findings *findings)
{
    if (findings->root.decided) {
        return false;
    }
    return dialect_given(&findings->controls, DIALECT_ACTION) ? findings->controls.cancel
                                                              : findings->controls.null_is_cancel && findings->record->value.data == NULL;
}

/* Only the id counts: what else stands in the record may be whatever it likes. */
static bool decide_cancel(struct findings *findings, struct decoded *made, struct refusal *refusal)
{
    struct refusal unreadable;
    const struct record *record = findings->record;
    made->action = DECODE_CANCEL;
    if (findings->rules->envelope && record->value.data != NULL && !envelope_read(findings->rules, record->value, &findings->envelope, &unreadable)) {
        findings->envelope = (struct envelope){0};
    }
    if (!decide_id(findings, made, refusal) || !decode_request_read(&findings->controls, true, &made->request, refusal)) {
        return false;
    }
    return made->id.data != NULL || refuse_without_id(findings, "a cancel names no id", refusal);
}

static bool decide_schedule(struct findings *findings, struct decoded *made, struct refusal *refusal)
{
    if (!decide_body(findings, made, refusal) || !decide_recurrence(findings, made, refusal) || !decide_due(findings, made, refusal) ||
        !decide_target(findings, made, refusal) || !decide_partition(findings, made, refusal) || !decide_id(findings, made, refusal) ||
        !decide_expiry(findings, made, refusal) || !decide_condition(findings, made, refusal) ||
        !decode_request_read(&findings->controls, findings->root.decided, &made->request, refusal) || !check_id(findings, made, refusal)) {
        return false;
    }
    decide_key(findings, made);
    spread(findings, made);
    return findings->root.decided || check_until(made, refusal); /* of the time that it is due, spread included */
}

static bool is_paused(const struct findings *findings)
{
    return findings->root.offset >= 0 && decode_not_before(findings->record) == TIME_TEXT_LAST_MS;
}

bool decode_record(const struct decode_rules *rules,
                   const struct record *record,
                   struct decoded *decoded,
                   struct refusal *refusal)
{
    struct findings findings = {.rules = rules, .record = record};
    struct decoded made = {.partition = -1, .key = record->key, .value = record->value, .id = SPAN_ABSENT, .request = SPAN_ABSENT, .expires_ms = -1};
    made.recurrence = decode_recurrence_none();
    if (!decode_root(record, &findings.root, refusal)) {
        return false;
    }
    made.root = findings.root.offset;
    made.root_timestamp_ms = findings.root.timestamp_ms;
    if (!dialect_read(rules, record, findings.root.decided, &findings.controls, refusal) ||
        !(is_cancel(&findings) ? decide_cancel(&findings, &made, refusal) : decide_schedule(&findings, &made, refusal))) {
        return false;
    }
    made.paused = is_paused(&findings);
    *decoded = made;
    return true;
}

bool decode_is_control_header(struct span name)
{
    return dialect_owned(NULL, 0, name);
}
