/* The headers of copies forward: read back under other rules they mean what they meant (R6). */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>
#include <librdkafka/rdkafka.h>

#include "bridge/sink_headers.h"
#include "support/sample_record.h"

/* A record, and the headers of its copy. */
struct copy {
    struct buffer row;
    rd_kafka_headers_t *headers;
    struct sample sample; /* the copy as it is read: offset 9 */
};

static void close_copy(struct copy *copy)
{
    rd_kafka_headers_destroy(copy->headers);
    buffer_free(&copy->row);
}

/* decoded: NULL for a record that is refused with *refusal. */
static void open_copy_later(
    struct copy *copy, const struct record *record, const struct decoded *decoded, const struct refusal *refusal, int64_t due_ms)
{
    struct sink_origin origin = {.topic = "in", .partition = 1, .offset = record->offset, .due_ms = due_ms};
    struct error error;
    struct row row;
    copy->row = buffer_new(1 << 16);
    assert_true(decoded != NULL ? row_encode(&copy->row, record, decoded, &error) : row_encode_refused(&copy->row, record, refusal, &error));
    assert_true(row_decode(buffer_span(&copy->row), &row, &error));
    copy->headers = sink_headers_copied(&row, &origin, NULL);
    assert_non_null(copy->headers);
    sample_begin(&copy->sample, "k", "v");
    copy->sample.record.offset = record->offset + 2;
    copy->sample.record.timestamp_ms = SAMPLE_TIMESTAMP_MS + 86400000;
    const char *name;
    const void *value;
    size_t size;
    for (size_t i = 0; rd_kafka_header_get_all(copy->headers, i, &name, &value, &size) == RD_KAFKA_RESP_ERR_NO_ERROR; i++) {
        sample_add_bytes(&copy->sample, name, (struct span){value, size});
    }
}

/* Copied as it is: not to wait for longer. */
static void open_copy(struct copy *copy, const struct record *record, const struct decoded *decoded, const struct refusal *refusal)
{
    open_copy_later(copy, record, decoded, refusal, decoded != NULL ? decoded->due_ms : DUE_SINCE_EVER);
    assert_int_equal(decode_not_before(&copy->sample.record), DUE_SINCE_EVER);
}

static size_t count_of(const struct copy *copy, const char *name)
{
    size_t count = 0;
    for (size_t i = 0; i < copy->sample.record.header_count; i++) {
        count += span_equals_text(copy->sample.headers[i].name, name);
    }
    return count;
}

/* The value of its one tarry-root. */
static void assert_root(const struct copy *copy, const char *expected)
{
    size_t count = 0;
    for (size_t i = 0; i < copy->sample.record.header_count; i++) {
        if (span_equals_text(copy->sample.headers[i].name, "tarry-root")) {
            struct span value = copy->sample.headers[i].value;
            if (!span_equals_text(value, expected)) {
                fail_msg("%.*s, not %s", (int)value.length, (const char *)value.data, expected);
            }
            count++;
        }
    }
    assert_int_equal(count, 1);
}

static struct decode_rules other_rules(void)
{
    static const struct target_pattern patterns[] = {{"*", 3}};
    static const struct target_list targets = {patterns, 1, NULL, 0, 0};
    struct decode_rules rules = sample_rules();
    rules.default_target = "another";
    rules.default_delay_ms = 1;
    rules.max_delay_ms = 1;
    rules.envelope = true;
    rules.targets = &targets;
    return rules;
}

static struct decoded decode(const struct decode_rules *rules, const struct sample *sample)
{
    struct decoded decoded;
    struct refusal refusal;
    if (!decode_record(rules, &sample->record, &decoded, &refusal)) {
        fail_msg("%s", refusal.text);
    }
    return decoded;
}

/* Copied, read under other rules, copied again and read again: the same record, due then and to go there. */
static void copies_keep_due_time_and_target(void **state)
{
    static const char *const partitions[] = {NULL, "0", "2147483647"};
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        struct decode_rules rules = sample_rules();
        struct decode_rules others = other_rules();
        struct sample sample;
        struct copy first;
        struct copy second;
        char expected[100];
        sample_begin(&sample, "k", "v");
        sample_add(&sample, "mine", "kept");
        rules.default_delay_ms = 30000;
        if (i > 0) {
            sample_add(&sample, "tarry-partition", partitions[i]);
        }
        struct decoded decoded = decode(&rules, &sample);
        open_copy(&first, &sample.record, &decoded, NULL);
        snprintf(expected, sizeof(expected), "7:%" PRId64 ":%" PRId64 ":events%s%s", SAMPLE_TIMESTAMP_MS, SAMPLE_TIMESTAMP_MS + 30000, i > 0 ? ":" : "",
                 i > 0 ? partitions[i] : "");
        assert_root(&first, expected);
        struct decoded again = decode(&others, &first.sample);
        open_copy(&second, &first.sample.record, &again, NULL);
        assert_root(&second, expected);
        again = decode(&others, &second.sample);
        assert_int_equal(again.root, 7);
        assert_int_equal(again.root_timestamp_ms, SAMPLE_TIMESTAMP_MS);
        assert_int_equal(again.due_ms, decoded.due_ms);
        assert_int_equal(again.partition, decoded.partition);
        assert_true(span_equals_text(again.target, "events"));
        assert_int_equal(again.lane, 3);
        assert_int_equal(second.sample.record.header_count, sample.record.header_count + 1);
        close_copy(&first);
        close_copy(&second);
    }
}

/* The longest of everything is written whole. */
static void the_longest_root(void **state)
{
    struct sample sample;
    struct copy copy;
    char target[250];
    char expected[400];
    (void)state;
    memset(target, 't', sizeof(target) - 1);
    target[249] = '\0';
    sample_begin(&sample, "k", "v");
    sample.record.offset = INT64_MAX - 2;
    struct decoded decoded = {.due_ms = INT64_C(253402300799999), .target = span_of_text(target), .partition = INT32_MAX, .root = INT64_MAX - 3,
                              .root_timestamp_ms = INT64_MAX};
    open_copy(&copy, &sample.record, &decoded, NULL);
    snprintf(expected, sizeof(expected), "9223372036854775804:9223372036854775807:253402300799999:%s:2147483647", target);
    assert_root(&copy, expected);
    struct decode_rules others = other_rules();
    assert_int_equal(decode(&others, &copy.sample).partition, INT32_MAX);
    close_copy(&copy);
}

/* Of a refused record nothing was decided; or something was, when it was accepted once: that stands. */
static void refused_ones(void **state)
{
    static const struct {
        const char *before;
        const char *after;
    } cases[] = {{NULL, "7:1795961574000"}, {"3:77", "3:77"}, {"3:-1:1795961575000:gone:4", "3:-1:1795961575000:gone:4"}};
    struct refusal refusal = {REFUSAL_TARGET_NOT_ALLOWED, "not allowed"};
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        struct sample sample;
        struct copy copy;
        sample_begin(&sample, "k", "v");
        sample_add(&sample, "mine", "kept");
        if (cases[i].before != NULL) {
            sample_add(&sample, "tarry-root", cases[i].before);
        }
        open_copy(&copy, &sample.record, NULL, &refusal);
        assert_root(&copy, cases[i].after);
        close_copy(&copy);
    }
}

/* Allowed again, it goes where it was to go; not where others go today. */
static void a_refused_target_is_never_replaced(void **state)
{
    struct decode_rules rules = sample_rules();
    struct decode_rules others = other_rules();
    struct decoded decoded;
    struct refusal refusal;
    struct sample sample;
    struct copy copy;
    (void)state;
    rules.default_delay_ms = 1;
    sample_begin(&sample, "k", "v");
    sample_add(&sample, "tarry-root", "3:-1:1795961575000:gone");
    assert_false(decode_record(&rules, &sample.record, &decoded, &refusal));
    open_copy(&copy, &sample.record, NULL, &refusal);
    assert_false(decode_record(&rules, &copy.sample.record, &decoded, &refusal));
    assert_int_equal(refusal.reason, REFUSAL_TARGET_NOT_ALLOWED);
    decoded = decode(&others, &copy.sample);
    assert_true(span_equals_text(decoded.target, "gone"));
    assert_int_equal(decoded.due_ms, INT64_C(1795961575000));
    close_copy(&copy);
}

/* Its row has no body: written again it would be an empty event for whoever has a default time and target. */
static void what_is_too_large_stays_refused(void **state)
{
    struct refusal refusal = {REFUSAL_TOO_LARGE, "too large"};
    struct decode_rules rules = sample_rules();
    struct decoded decoded;
    struct sample sample;
    struct copy copy;
    (void)state;
    rules.default_delay_ms = 1;
    sample_begin(&sample, "k", "v");
    open_copy(&copy, &sample.record, NULL, &refusal);
    assert_false(decode_record(&rules, &copy.sample.record, &decoded, &refusal));
    assert_int_equal(refusal.reason, REFUSAL_BAD_ROOT);
    close_copy(&copy);
}

/* Written again as its letter could not be kept, time and again: to be looked at later, and still due when it was, with one header that says so. */
static void what_waits_for_its_letter_keeps_its_due_time(void **state)
{
    struct decode_rules rules = sample_rules();
    struct sample sample;
    (void)state;
    rules.default_delay_ms = 30000;
    sample_begin(&sample, "k", "v");
    struct decoded decoded = decode(&rules, &sample);
    int64_t due_ms = decoded.due_ms;
    struct copy copies[3];
    const struct record *record = &sample.record;
    for (int i = 0; i < 3; i++) {
        open_copy_later(&copies[i], record, &decoded, NULL, due_ms + 60000 * (i + 1));
        record = &copies[i].sample.record;
        decoded = decode(&rules, &copies[i].sample);
        assert_int_equal(decoded.due_ms, due_ms);
        assert_int_equal(decoded.root, 7);
        assert_int_equal(decode_not_before(record), due_ms + 60000 * (i + 1));
        assert_int_equal(record->header_count, sample.record.header_count + 2);
    }
    struct copy forward; /* copied forward while it waits: the same */
    open_copy_later(&forward, record, &decoded, NULL, due_ms + 180000);
    assert_int_equal(decode_not_before(&forward.sample.record), due_ms + 180000);
    close_copy(&forward);
    for (int i = 0; i < 3; i++) {
        close_copy(&copies[i]);
    }
}

/* The same of refused ones: refused again for the same, or for the root that never becomes a good one; and they do not grow. */
static void refused_ones_wait_for_their_letter(void **state)
{
    static const struct {
        const char *root;
        enum refusal_reason reason;
        size_t roots;
    } cases[] = {{NULL, REFUSAL_NO_TIME, 1},
                 {"3:-1:1795961575000:gone", REFUSAL_TARGET_NOT_ALLOWED, 1},
                 {"no root", REFUSAL_BAD_ROOT, 2},
                 {"8:5", REFUSAL_BAD_ROOT, 2}};
    struct decode_rules rules = sample_rules();
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct sample sample;
        struct copy copies[3];
        sample_begin(&sample, "k", "v");
        if (cases[i].root != NULL) {
            sample_add(&sample, "tarry-root", cases[i].root);
        }
        const struct record *record = &sample.record;
        for (int j = 0; j < 3; j++) {
            struct decoded decoded;
            struct refusal refusal;
            assert_false(decode_record(&rules, record, &decoded, &refusal));
            assert_int_equal(refusal.reason, cases[i].reason);
            open_copy_later(&copies[j], record, NULL, &refusal, 60000 * (j + 1));
            record = &copies[j].sample.record;
            assert_int_equal(decode_not_before(record), 60000 * (j + 1));
            assert_int_equal(count_of(&copies[j], "tarry-root"), cases[i].roots);
            assert_int_equal(count_of(&copies[j], "tarry-not-before"), 1);
        }
        for (int j = 0; j < 3; j++) {
            close_copy(&copies[j]);
        }
    }
}

static void not_before_is_read_exactly(void **state)
{
    static const struct {
        const char *value;
        int64_t at_ms;
    } cases[] = {{"5", 5},      {"253402300799999", INT64_C(253402300799999)}, {"253402300800000", 0}, {"9223372036854775808", 0}, {"-1", 0}, {"+5", 0},
                 {"5.0", 0},    {" 5", 0},  {"", 0}, {"x", 0}};
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct sample sample;
        sample_begin(&sample, "k", "v");
        sample_add(&sample, "tarry-not-before", cases[i].value);
        assert_int_equal(decode_not_before(&sample.record), cases[i].at_ms);
    }
}

static void add_to_sample(void *context, struct span name, struct span value)
{
    struct sample *sample = context;
    sample->headers[sample->record.header_count++] = (struct record_header){name, value};
}

/* What a letter holds of a refused record: as it came, without what tarry wrote on a copy of it. */
static void a_refused_one_is_whole(void **state)
{
    static const struct {
        const char *root;
        size_t headers; /* of mine, tarry-delay, tarry-root and tarry-not-before */
    } cases[] = {{"3:77", 2}, {"no root", 3}};
    struct refusal refusal = {REFUSAL_BAD_TIME, "bad"};
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct buffer bytes = buffer_new(1 << 16);
        struct sample sample;
        struct sample out;
        struct row row;
        struct error error;
        sample_begin(&sample, "k", "v");
        sample_add(&sample, "mine", "kept");
        sample_add(&sample, "tarry-delay", "soon");
        sample_add(&sample, "tarry-root", cases[i].root);
        sample_add(&sample, "tarry-not-before", "5");
        assert_true(row_encode_refused(&bytes, &sample.record, &refusal, &error) && row_decode(buffer_span(&bytes), &row, &error));
        sample_begin(&out, "k", "v");
        assert_true(outgoing_refused(&row, add_to_sample, &out));
        assert_int_equal(out.record.header_count, cases[i].headers);
        assert_true(span_equals_text(out.headers[1].name, "tarry-delay"));
        buffer_free(&bytes);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(copies_keep_due_time_and_target),
        cmocka_unit_test(the_longest_root),
        cmocka_unit_test(refused_ones),
        cmocka_unit_test(a_refused_target_is_never_replaced),
        cmocka_unit_test(what_is_too_large_stays_refused),
        cmocka_unit_test(what_waits_for_its_letter_keeps_its_due_time),
        cmocka_unit_test(refused_ones_wait_for_their_letter),
        cmocka_unit_test(not_before_is_read_exactly),
        cmocka_unit_test(a_refused_one_is_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
