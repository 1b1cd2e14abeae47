/*
 * Any record through decode_record and, when it is accepted, through a row and back.
 *
 * The input is a record in a small form of its own: flags, then parts of one length byte each: header name, header
 * value (255: null), ... ended by a name of length 255; what is left is the value.
 */
#include <string.h>

#include "base/text.h"
#include "bridge/outgoing.h"
#include "fuzz/fuzz.h"
#include "support/sample_record.h"

static struct span take(struct span *rest)
{
    if (rest->length == 0 || rest->data[0] == 255) {
        rest->data += rest->length > 0;
        rest->length -= rest->length > 0;
        return SPAN_ABSENT;
    }
    size_t length = rest->data[0];
    length = length < rest->length ? length : rest->length - 1;
    struct span part = {rest->data + 1, length};
    rest->data += 1 + length;
    rest->length -= 1 + length;
    return part;
}

static void build(struct sample *sample, struct span rest, unsigned flags)
{
    sample_begin(sample, "key", "");
    while (sample->record.header_count < SAMPLE_HEADERS_MAX) {
        struct span name = take(&rest);
        if (name.data == NULL) {
            break;
        }
        sample->headers[sample->record.header_count++] = (struct record_header){name, take(&rest)};
    }
    sample->record.value = (flags & 1) != 0 ? SPAN_ABSENT : rest;
    if ((flags & 2) != 0) {
        sample->record.timestamp = RECORD_TIMESTAMP_NONE;
        sample->record.timestamp_ms = -1;
    }
}

/* Bits 32 and 64: other dialects beside tarry, 128: spread. */
static struct decode_rules rules_of(unsigned flags)
{
    static const char *const names[] = {"tarry", "etf1", "karafka", "rabbitmq", "rocketmq", "activemq"};
    static const struct dialect *on[6];
    struct decode_rules rules = sample_rules();
    for (size_t i = 0; i < 6; i++) {
        on[i] = dialect_preset(span_of_text(names[i]));
    }
    rules.dialects = on;
    rules.dialect_count = (flags & 64) != 0 ? 6 : (flags & 32) != 0 ? 2 : 1;
    rules.spread_ms = (flags & 128) != 0 ? 10000 : 0;
    rules.envelope = (flags & 4) != 0;
    rules.envelope_whole = (flags & 8) != 0;
    rules.default_delay_ms = (flags & 16) != 0 ? 60000 : -1;
    return rules;
}

static void check_recurrence(const struct decoded *decoded)
{
    const struct decoded_recurrence *recurrence = &decoded->recurrence;
    FUZZ_CHECK(recurrence->kind == DECODE_RECURRENCE_NONE || decoded->id.length >= 1);
    FUZZ_CHECK(recurrence->kind == DECODE_RECURRENCE_EVERY ? recurrence->every_ms >= DECODE_EVERY_LEAST_MS : recurrence->every_ms == 0);
    FUZZ_CHECK((recurrence->kind == DECODE_RECURRENCE_CRON) == (recurrence->cron.length >= 1));
    FUZZ_CHECK(recurrence->cron.length <= DECODE_CRON_MAX && recurrence->zone.length <= DECODE_ZONE_MAX);
    FUZZ_CHECK(recurrence->until_ms == -1 || (recurrence->until_ms > 0 && recurrence->until_ms <= INT64_C(253402300799999)));
    FUZZ_CHECK(recurrence->count >= 0 && recurrence->count <= DECODE_COUNT_MOST && recurrence->runs >= 0 && recurrence->runs <= DECODE_COUNT_MOST);
    FUZZ_CHECK(decoded->expires_ms == -1 || (decoded->expires_ms > 0 && decoded->expires_ms <= INT64_C(253402300799999)));
    FUZZ_CHECK(!decoded->conditional || (decoded->undecided && decoded->id.length >= 1));
    FUZZ_CHECK(!decoded->undecided || decoded->conditional || (recurrence->kind == DECODE_RECURRENCE_CRON && decoded->due_ms == DUE_SINCE_EVER));
}

/* A decision that the row keeps is one that a reader of it gets. */
static bool same_extras(const struct decoded *a, const struct decoded *b)
{
    const struct decoded_recurrence *one = &a->recurrence;
    const struct decoded_recurrence *other = &b->recurrence;
    return a->expires_ms == b->expires_ms && a->conditional == b->conditional && a->undecided == b->undecided && a->paused == b->paused &&
           one->kind == other->kind && one->every_ms == other->every_ms && span_equal(one->cron, other->cron) && span_equal(one->zone, other->zone) &&
           one->until_ms == other->until_ms && one->count == other->count && one->runs == other->runs;
}

static void take_out(void *context, struct span name, struct span value)
{
    const struct decode_rules *rules = context;
    (void)value;
    FUZZ_CHECK(name.data != NULL);
    FUZZ_CHECK(!dialect_owned(rules->dialects, rules->dialect_count, name));
}

/* Nothing that is a control header goes out. */
static void check_out(const struct row *row)
{
    struct decode_rules rules = rules_of(64);
    struct sink_origin origin = {"in", 0, 7, row->decoded.due_ms, &rules};
    FUZZ_CHECK(outgoing_accepted(row, &origin, OUTPUT_HEADERS_NONE, take_out, &rules));
}

static void check_row(const struct sample *sample, const struct decoded *decoded, const struct refusal *refusal)
{
    struct buffer buffer = buffer_new(1 << 26);
    struct error error;
    struct row row;
    bool wrote = refusal == NULL ? row_encode(&buffer, &sample->record, decoded, &error)
                                 : row_encode_refused(&buffer, &sample->record, refusal, &error);
    FUZZ_CHECK(wrote);
    FUZZ_CHECK(row_decode(buffer_span(&buffer), &row, &error));
    FUZZ_CHECK(span_equal(row.record.value, sample->record.value));
    FUZZ_CHECK(row.record.header_count == sample->record.header_count);
    struct decode_root root;
    struct refusal unreadable;
    FUZZ_CHECK(decode_root(&sample->record, &root, &unreadable) || refusal != NULL);
    FUZZ_CHECK(row.root == root.offset && row.root_timestamp_ms == root.timestamp_ms);
    if (refusal == NULL) {
        FUZZ_CHECK(span_equal(row.decoded.value, decoded->value) && span_equal(row.decoded.id, decoded->id));
        FUZZ_CHECK(span_equal(row.decoded.target, decoded->target) && row.decoded.due_ms == decoded->due_ms);
        FUZZ_CHECK(same_extras(&row.decoded, decoded));
        check_out(&row);
    }
    buffer_free(&buffer);
}

/* What was decided is kept, and opens nothing. */
static void check_decision(const struct decode_rules *rules, const struct sample *sample, const struct decoded *decoded, enum refusal_reason reason)
{
    struct decode_root root;
    struct refusal unreadable;
    lane_index lane;
    FUZZ_CHECK(decoded == NULL || (target_lane(rules->targets, decoded->target, &lane) && lane == decoded->lane));
    if (!decode_root(&sample->record, &root, &unreadable) || !root.decided) {
        return;
    }
    if (decoded != NULL) {
        FUZZ_CHECK(decoded->due_ms == root.due_ms && decoded->partition == root.partition && span_equal(decoded->target, root.target));
    } else {
        static const unsigned may = 1U << REFUSAL_TARGET_NOT_ALLOWED | 1U << REFUSAL_UNSUPPORTED | 1U << REFUSAL_AMBIGUOUS | 1U << REFUSAL_BAD_ID |
                                    1U << REFUSAL_BAD_SCHEDULE | 1U << REFUSAL_BAD_TIME | 1U << REFUSAL_SECONDS | 1U << REFUSAL_TOO_FAR;
        FUZZ_CHECK((may >> reason & 1U) != 0); /* of the last four: how it comes again, and when it expires, is read as ever */
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct decoded decoded;
    struct refusal refusal;
    struct sample sample;
    unsigned flags = size == 0 ? 0 : data[0];
    struct decode_rules rules = rules_of(flags);
    size_t skipped = size == 0 ? 0 : 1;
    build(&sample, (struct span){size == 0 ? (const uint8_t *)"" : data + skipped, size - skipped}, flags);
    bool accepted = decode_record(&rules, &sample.record, &decoded, &refusal);
    if (accepted && decoded.action == DECODE_CANCEL) {
        FUZZ_CHECK(decoded.id.length >= 1 && decoded.id.length <= DECODE_ID_MAX && decoded.target.data == NULL);
    } else if (accepted) {
        check_recurrence(&decoded);
        FUZZ_CHECK(decoded.due_ms >= 0 && decoded.due_ms <= INT64_C(253402300799999));
        FUZZ_CHECK(target_name_valid(decoded.target));
        check_decision(&rules, &sample, &decoded, REFUSAL_NONE);
        check_row(&sample, &decoded, NULL);
    } else {
        FUZZ_CHECK(refusal.reason > REFUSAL_NONE && refusal.reason < REFUSAL_REASONS);
        FUZZ_CHECK(refusal.text[0] != '\0' && text_is_utf8(span_of_text(refusal.text)));
        check_decision(&rules, &sample, NULL, refusal.reason);
        check_row(&sample, NULL, &refusal);
    }
    return 0;
}
