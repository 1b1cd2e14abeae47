/* Whether a record means what was asked for; see api_record.h. */
#include <inttypes.h>

#include "bridge/delay_text.h"
#include "bridge/refusal.h"
#include "bridge/time_text.h"
#include "ops/api_record.h"

/* Where it will stand is not known yet; what depends on that is compared with the same. */
#define OFFSET_SUPPOSED 0

static struct record record_of(const struct api_record *record, int32_t partition, int64_t now_ms)
{
    return (struct record){.key = record->key,
                           .value = record->value,
                           .headers = record->headers,
                           .header_count = record->header_count,
                           .offset = OFFSET_SUPPOSED,
                           .partition = partition,
                           .timestamp_ms = now_ms,
                           .timestamp = RECORD_TIMESTAMP_CREATE};
}

static bool other(struct refusal *refusal, const char *what)
{
    return refusal_set(refusal, REFUSAL_AMBIGUOUS,
                       "with the rules of this source the record would mean another %s than was asked for: what its value (envelope) or its headers say goes before", what);
}

/* Controls of every dialect are the API's to write. */
static bool check_headers(const struct api_record *record, const struct decode_rules *rules, struct refusal *refusal)
{
    for (size_t i = 0; i < record->own_count; i++) {
        struct span name = record->headers[i].name;
        if (dialect_owned(rules->dialects, rules->dialect_count, name)) {
            return refusal_set(refusal, REFUSAL_UNSUPPORTED, "header %s is a control header of this source: use the members of the body (at, in, id, ...) instead",
                               refusal_show(name).text);
        }
    }
    return true;
}

/* When it was asked to be due; false: neither at nor in say so. */
static bool wanted_due(const struct api_record *record, int64_t now_ms, int64_t *due_ms)
{
    int64_t number = 0;
    if (record->at.data != NULL) {
        return decimal_parse(record->at, due_ms) == DECIMAL_READ || time_text_parse(record->at, due_ms);
    }
    if (record->in.data != NULL && delay_text_parse(record->in, &number) == DECIMAL_READ) {
        *due_ms = now_ms + number; /* within max_delay, as it was decoded */
        return true;
    }
    return false;
}

static bool check_due(const struct api_record *record, const struct decode_rules *rules, int32_t partition, int64_t now_ms, const struct decoded *decoded)
{
    int64_t due_ms = 0;
    if (!wanted_due(record, now_ms, &due_ms)) {
        return true;
    }
    due_ms += decode_spread_offset_ms(rules, decoded->id, partition, OFFSET_SUPPOSED);
    return decoded->due_ms == (due_ms > TIME_TEXT_LAST_MS ? TIME_TEXT_LAST_MS : due_ms);
}

static bool is_same(const struct api_record *record, const struct decode_rules *rules, const struct decoded *decoded, struct refusal *refusal)
{
    struct span key = record->out_key_given ? record->out_key : record->key;
    bool recurs = decoded->recurrence.kind != DECODE_RECURRENCE_NONE;
    if (recurs != record->recurring || decoded->conditional != record->conditional || decoded->root >= 0) {
        return other(refusal, "kind of event");
    }
    if (record->topic.data != NULL && !span_equal(decoded->target, record->topic)) {
        return other(refusal, "target");
    }
    if (decoded->partition != record->partition || !span_equal(decoded->key, key)) {
        return other(refusal, "key or partition of the target");
    }
    return rules->envelope || span_equal(decoded->value, record->value) || other(refusal, "value");
}

bool api_record_check(const struct api_record *record, const struct decode_rules *rules, int32_t partition, int64_t now_ms, struct decoded *decoded, struct refusal *refusal)
{
    struct record made = record_of(record, partition, now_ms);
    if (!check_headers(record, rules, refusal) || !decode_record(rules, &made, decoded, refusal)) {
        return false;
    }
    bool cancel = record->document == NULL;
    if ((decoded->action == DECODE_CANCEL) != cancel) {
        return other(refusal, "action");
    }
    if (!span_equal(decoded->id, record->id) || !decode_request_valid(decoded->request)) {
        return other(refusal, "id");
    }
    return cancel || (is_same(record, rules, decoded, refusal) && (check_due(record, rules, partition, now_ms, decoded) || other(refusal, "time")));
}

struct request_sink_record api_record_sent(const struct api_record *record, const char *topic, int32_t partition)
{
    return (struct request_sink_record){topic, partition, record->key, record->value, record->headers, record->header_count};
}
