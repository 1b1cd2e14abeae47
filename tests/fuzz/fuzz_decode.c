/*
 * Any record through decode_record and, when it is accepted, through a row and back.
 *
 * The input is a record in a small form of its own: flags, then parts of one length byte each: header name, header
 * value (255: null), ... ended by a name of length 255; what is left is the value.
 */
#include <string.h>

#include "base/text.h"
#include "bridge/row.h"
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
        FUZZ_CHECK(reason == REFUSAL_TARGET_NOT_ALLOWED || reason == REFUSAL_UNSUPPORTED || reason == REFUSAL_AMBIGUOUS || reason == REFUSAL_BAD_ID);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct decode_rules rules = sample_rules();
    struct decoded decoded;
    struct refusal refusal;
    struct sample sample;
    unsigned flags = size == 0 ? 0 : data[0];
    size_t skipped = size == 0 ? 0 : 1;
    rules.envelope = (flags & 4) != 0;
    rules.envelope_whole = (flags & 8) != 0;
    rules.default_delay_ms = (flags & 16) != 0 ? 60000 : -1;
    build(&sample, (struct span){size == 0 ? (const uint8_t *)"" : data + skipped, size - skipped}, flags);
    if (decode_record(&rules, &sample.record, &decoded, &refusal)) {
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
