#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/memory.h"
#include "base/random.h"
#include "bridge/row.h"
#include "support/sample_record.h"

static void assert_same_header(const struct record_header *a, const struct record_header *b)
{
    assert_true(span_equal(a->name, b->name));
    assert_true(span_equal(a->value, b->value));
}

static void assert_same_record(const struct record *record, const struct row *row)
{
    struct span rest = row->headers;
    struct record_header header;
    bool damaged = false;
    assert_true(span_equal(record->key, row->record.key));
    assert_true(span_equal(record->value, row->record.value));
    assert_int_equal(record->offset, row->record.offset);
    assert_int_equal(record->timestamp, row->record.timestamp);
    assert_int_equal(record->timestamp_ms, row->record.timestamp_ms);
    assert_int_equal(record->header_count, row->record.header_count);
    assert_null(row->record.headers);
    for (size_t i = 0; i < record->header_count; i++) {
        assert_true(row_next_header(&rest, &header, &damaged));
        assert_same_header(&record->headers[i], &header);
    }
    assert_false(row_next_header(&rest, &header, &damaged));
    assert_false(damaged);
}

static void assert_round_trip(const struct record *record, const struct decoded *decoded)
{
    struct buffer buffer = buffer_new(1 << 20);
    struct error error;
    struct row row;
    buffer_add_text(&buffer, "before"); /* rows are appended */
    assert_true(row_encode(&buffer, record, decoded, &error));
    size_t length = buffer.length - 6;
    uint8_t *bytes = memory_new(length, 1);
    memcpy(bytes, buffer.data + 6, length);
    buffer_free(&buffer);
    assert_true(row_decode((struct span){bytes, length}, &row, &error));
    assert_false(row.refused);
    assert_same_record(record, &row);
    assert_int_equal(row.decoded.due_ms, decoded->due_ms);
    assert_int_equal(row.decoded.partition, decoded->partition);
    assert_int_equal(row.decoded.lane, 0);
    assert_true(span_equal(row.decoded.target, decoded->target));
    assert_true(span_equal(row.decoded.key, decoded->key));
    assert_true(span_equal(row.decoded.value, decoded->value));
    assert_true(span_equal(row.decoded.id, decoded->id));
    assert_int_equal(row.decoded.root, decoded->root);
    assert_int_equal(row.decoded.root_timestamp_ms, decoded->root_timestamp_ms);
    assert_int_equal(row.root, decoded->root);
    assert_int_equal(row.root_timestamp_ms, decoded->root_timestamp_ms);
    free(bytes);
}

static struct decoded plain_decoded(const struct record *record)
{
    return (struct decoded){.due_ms = SAMPLE_TIMESTAMP_MS + 5,
                            .target = span_of_text("events"),
                            .partition = -1,
                            .key = record->key,
                            .value = record->value,
                            .root = -1,
                            .root_timestamp_ms = -1};
}

static void null_and_empty_stay_apart(void **state)
{
    static const char *const texts[] = {NULL, "", "x"};
    (void)state;
    for (int i = 0; i < 81; i++) {
        struct sample sample;
        sample_begin(&sample, texts[i % 3], texts[i / 3 % 3]);
        sample_add(&sample, "h", texts[i / 9 % 3]);
        sample_add(&sample, "", texts[i / 27]);
        struct decoded decoded = plain_decoded(&sample.record);
        assert_round_trip(&sample.record, &decoded);
        decoded.key = span_of_text(texts[i / 9 % 3]);
        decoded.value = span_of_text(texts[i / 27]);
        assert_round_trip(&sample.record, &decoded);
    }
}

static void numbers_at_their_ends(void **state)
{
    static const int64_t numbers[] = {INT64_MIN, -1, 0, 1, 63, 64, 127, 128, 16383, 16384, INT64_MAX};
    struct sample sample;
    (void)state;
    sample_begin(&sample, "k", "v");
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
        struct decoded decoded = plain_decoded(&sample.record);
        sample.record.offset = numbers[i];
        sample.record.timestamp_ms = numbers[i];
        decoded.due_ms = numbers[i];
        assert_round_trip(&sample.record, &decoded);
    }
    static const int32_t partitions[] = {-1, 0, 1, INT32_MAX};
    for (size_t i = 0; i < 4; i++) {
        struct decoded decoded = plain_decoded(&sample.record);
        decoded.partition = partitions[i];
        assert_round_trip(&sample.record, &decoded);
    }
    for (int kind = RECORD_TIMESTAMP_NONE; kind <= RECORD_TIMESTAMP_APPEND; kind++) {
        struct decoded decoded = plain_decoded(&sample.record);
        sample.record.timestamp = (enum record_timestamp)kind;
        sample.record.timestamp_ms = kind == RECORD_TIMESTAMP_NONE ? -1 : SAMPLE_TIMESTAMP_MS;
        assert_round_trip(&sample.record, &decoded);
    }
}

static void many_and_large_headers(void **state)
{
    static uint8_t large[30 * 1024];
    struct random random = random_new(2);
    struct sample sample;
    (void)state;
    random_fill(&random, large, sizeof(large));
    sample_begin(&sample, "k", "v");
    for (int i = 0; i < 200; i++) {
        sample_add_bytes(&sample, i % 3 == 0 ? "repeated" : "other", (struct span){large + i, (size_t)i % 7});
    }
    sample_add_bytes(&sample, "large", (struct span){large, sizeof(large)});
    struct decoded decoded = plain_decoded(&sample.record);
    assert_round_trip(&sample.record, &decoded);
}

static struct span random_span(struct random *random, uint8_t *room, size_t most)
{
    size_t length = (size_t)random_below(random, most);
    random_fill(random, room, length);
    return random_below(random, 5) == 0 ? SPAN_ABSENT : (struct span){room, length};
}

/* Property: whatever the record and what was made of it, the row gives both back, and no cut of it is ever read
 * beyond its end. */
static void anything_round_trips(void **state)
{
    struct random random = random_new(99);
    (void)state;
    for (int round = 0; round < 5000; round++) {
        static uint8_t room[8][300];
        struct sample sample;
        sample_begin(&sample, "", "");
        sample.record.key = random_span(&random, room[0], 40);
        sample.record.value = random_span(&random, room[1], 300);
        for (uint64_t count = random_below(&random, 4); count > 0; count--) {
            sample_add_bytes(&sample, "name", random_span(&random, room[2 + count], 200));
        }
        struct decoded decoded = plain_decoded(&sample.record);
        decoded.id = random_span(&random, room[6], 30);
        if (random_below(&random, 2) == 0) {
            decoded.key = random_span(&random, room[7], 30);
        }
        if (sample.record.value.data != NULL && random_below(&random, 2) == 0) {
            size_t from = (size_t)random_below(&random, sample.record.value.length + 1);
            decoded.value = (struct span){sample.record.value.data + from,
                                          (size_t)random_below(&random, sample.record.value.length - from + 1)};
        }
        assert_round_trip(&sample.record, &decoded);
    }
}

static void refused_rows(void **state)
{
    struct buffer buffer = buffer_new(1 << 16);
    struct refusal refusal = {REFUSAL_BAD_TIME, "header \"delay_ms\" is \"x\": give milliseconds"};
    struct error error;
    struct sample sample;
    struct row row;
    (void)state;
    sample_begin(&sample, "k", NULL);
    sample_add(&sample, "delay_ms", "x");
    sample_add(&sample, "delay_ms", NULL);
    assert_true(row_encode_refused(&buffer, &sample.record, &refusal, &error));
    assert_true(row_decode(buffer_span(&buffer), &row, &error));
    assert_true(row.refused);
    assert_int_equal(row.refusal.reason, REFUSAL_BAD_TIME);
    assert_string_equal(row.refusal.text, refusal.text);
    assert_same_record(&sample.record, &row);
    buffer_clear(&buffer);
    memset(refusal.text, 'x', sizeof(refusal.text) - 1);
    refusal.text[sizeof(refusal.text) - 1] = '\0';
    assert_true(row_encode_refused(&buffer, &sample.record, &refusal, &error));
    assert_true(row_decode(buffer_span(&buffer), &row, &error));
    assert_string_equal(row.refusal.text, refusal.text);
    buffer_free(&buffer);
}

static void roots(void **state)
{
    static const int64_t timestamps[] = {-1, 0, SAMPLE_TIMESTAMP_MS, INT64_MAX};
    struct sample sample;
    (void)state;
    sample_begin(&sample, "k", "v");
    struct decoded decoded = plain_decoded(&sample.record);
    for (size_t i = 0; i < 4; i++) {
        decoded.root_timestamp_ms = timestamps[i];
        for (decoded.root = 0; decoded.root < sample.record.offset; decoded.root++) {
            assert_round_trip(&sample.record, &decoded);
        }
        sample.record.offset = INT64_MAX;
        decoded.root = INT64_MAX - 1;
        assert_round_trip(&sample.record, &decoded);
        sample.record.offset = 7;
    }
}

/* A refused re-append is copied forward too, and is still that person's record. */
static void refused_rows_keep_their_root(void **state)
{
    static const struct {
        const char *value;
        int64_t root;
        int64_t timestamp_ms;
    } cases[] = {{"3:1795961500000", 3, INT64_C(1795961500000)}, {"0:-1", 0, -1}, {"3:4:5:t:6", 3, 4}, {"7:5", -1, -1}, {"x", -1, -1}, {NULL, -1, -1}};
    struct refusal refusal = {REFUSAL_BAD_TIME, "header \"delay_ms\" is \"x\": give milliseconds"};
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct buffer buffer = buffer_new(1 << 16);
        struct sample sample;
        struct error error;
        struct row row;
        sample_begin(&sample, "k", "v");
        sample_add(&sample, "tarry-root", cases[i].value);
        assert_true(row_encode_refused(&buffer, &sample.record, &refusal, &error));
        assert_true(row_decode(buffer_span(&buffer), &row, &error));
        assert_true(row.refused);
        assert_int_equal(row.root, cases[i].root);
        assert_int_equal(row.root_timestamp_ms, cases[i].timestamp_ms);
        assert_same_record(&sample.record, &row);
        buffer_free(&buffer);
    }
}

static void a_row_is_little_more_than_its_record(void **state)
{
    struct buffer buffer = buffer_new(1 << 16);
    struct sample sample;
    struct error error;
    (void)state;
    sample_begin(&sample, "order-123", "{\"delay_ms\":1,\"payload\":{\"order_id\":\"order-123\"}}");
    sample.record.offset = 100000000;
    sample_add(&sample, "delay_ms", "30000");
    struct decoded decoded = plain_decoded(&sample.record);
    decoded.value.data += 24;
    decoded.value.length -= 25;
    size_t bare = sample.record.key.length + sample.record.value.length + 13 + decoded.target.length;
    assert_true(row_encode(&buffer, &sample.record, &decoded, &error));
    assert_in_range(buffer.length, bare, bare + 32);
    buffer_free(&buffer);
}

static void a_full_buffer_is_said(void **state)
{
    struct buffer buffer = buffer_new(20);
    struct sample sample;
    struct error error;
    (void)state;
    sample_begin(&sample, "key", "a value that is longer");
    struct decoded decoded = plain_decoded(&sample.record);
    assert_false(row_encode(&buffer, &sample.record, &decoded, &error));
    assert_int_equal(error.code, ERROR_FULL);
    assert_int_equal(buffer.length, 0);
    buffer_free(&buffer);
}

/* Reads every header too; returns true when all of it was sound. In room of the exact size. */
static bool read_all(const uint8_t *from, size_t length, struct error *error)
{
    uint8_t *bytes = memory_new(length, 1);
    struct record_header header;
    struct row row;
    bool damaged = false;
    size_t count = 0;
    memcpy(bytes, from, length);
    bool good = row_decode((struct span){bytes, length}, &row, error);
    if (good) {
        while (row_next_header(&row.headers, &header, &damaged)) {
            assert_non_null(header.name.data);
            count++;
        }
        good = !damaged && count == row.record.header_count;
    }
    free(bytes);
    return good;
}

static void damaged_rows_are_never_read_beyond(void **state)
{
    struct random random = random_new(4);
    struct buffer buffer = buffer_new(1 << 16);
    struct sample sample;
    struct error error;
    (void)state;
    sample_begin(&sample, "key", "value");
    sample_add(&sample, "one", "1");
    sample_add(&sample, "two", NULL);
    struct decoded decoded = plain_decoded(&sample.record);
    decoded.id = span_of_text("id");
    decoded.value.length = 2;
    assert_true(row_encode(&buffer, &sample.record, &decoded, &error));
    for (size_t length = 0; length < buffer.length; length++) {
        assert_false(read_all(buffer.data, length, &error));
    }
    assert_true(read_all(buffer.data, buffer.length, &error));
    for (int round = 0; round < 100000; round++) {
        uint8_t bytes[128];
        memcpy(bytes, buffer.data, buffer.length);
        for (uint64_t i = random_below(&random, 4); i > 0; i--) {
            bytes[random_below(&random, buffer.length)] = (uint8_t)random_next(&random);
        }
        (void)read_all(bytes, buffer.length, &error);
    }
    buffer_free(&buffer);
}

static void versions(void **state)
{
    static const uint8_t newer[] = {ROW_VERSION + 1, 0, 0};
    static const uint8_t none[] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0};
    struct error error;
    struct row row;
    (void)state;
    assert_false(row_decode((struct span){newer, sizeof(newer)}, &row, &error));
    assert_int_equal(error.code, ERROR_TOO_NEW);
    assert_false(row_decode((struct span){none, sizeof(none)}, &row, &error));
    assert_int_equal(error.code, ERROR_CORRUPT);
    assert_false(row_decode(SPAN_ABSENT, &row, &error));
    assert_int_equal(error.code, ERROR_CORRUPT);
}

/* Rows as the version before wrote them, byte by byte; and that rows of no re-append are still written so. */
static void rows_of_the_version_before(void **state)
{
    static const uint8_t accepted[] = "\x01\x08\x0e\xe0\xc9\xb6\xfa\xc4h\x03\xea\xc9\xb6\xfa\xc4h\x08\x06" "events\x01k\x03\x08" "delay_ms\x02" "5\ttarry-key\x02k"
                                      "\x0ftarry-partition\x02" "7";
    static const uint8_t refused[] = "\x01\x0f\x0e\xe0\xc9\xb6\xfa\xc4h\x00\x01v\x01\x04" "text";
    struct span first = {accepted, sizeof(accepted) - 1};
    struct span second = {refused, sizeof(refused)}; /* the NUL is its count of headers */
    struct buffer buffer = buffer_new(1 << 16);
    struct sample sample;
    struct error error;
    struct row row;
    (void)state;
    assert_true(row_decode(first, &row, &error));
    assert_false(row.refused);
    assert_int_equal(row.root, -1);
    assert_int_equal(row.root_timestamp_ms, -1);
    assert_int_equal(row.decoded.root, -1);
    assert_int_equal(row.record.offset, 7);
    assert_true(span_equals_text(row.decoded.target, "events"));
    assert_true(span_equals_text(row.decoded.key, "k"));
    sample_begin(&sample, NULL, NULL);
    sample_add(&sample, "delay_ms", "5");
    sample_add(&sample, "tarry-key", "k");
    sample_add(&sample, "tarry-partition", "7");
    assert_same_record(&sample.record, &row);
    assert_true(row_encode(&buffer, &sample.record, &row.decoded, &error));
    assert_true(span_equal(buffer_span(&buffer), first));
    assert_true(row_decode(second, &row, &error));
    assert_true(row.refused);
    assert_int_equal(row.root, -1);
    assert_string_equal(row.refusal.text, "text");
    buffer_free(&buffer);
}

/* A root that cannot be is damage, not a root. */
static void impossible_roots_are_damage(void **state)
{
    struct sample sample;
    (void)state;
    sample_begin(&sample, "k", "v");
    for (int i = 0; i < 4; i++) {
        struct buffer buffer = buffer_new(1 << 16);
        struct decoded decoded = plain_decoded(&sample.record);
        struct error error;
        struct row row;
        decoded.root = i == 0 ? 7 : i == 1 ? 8 : 6;
        decoded.root_timestamp_ms = i == 2 ? -2 : 0;
        assert_true(row_encode(&buffer, &sample.record, &decoded, &error));
        assert_int_equal(row_decode(buffer_span(&buffer), &row, &error), i == 3);
        buffer.data[0] = 1; /* the version before knew no roots */
        assert_false(row_decode(buffer_span(&buffer), &row, &error));
        buffer_free(&buffer);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(null_and_empty_stay_apart),
        cmocka_unit_test(numbers_at_their_ends),
        cmocka_unit_test(many_and_large_headers),
        cmocka_unit_test(anything_round_trips),
        cmocka_unit_test(refused_rows),
        cmocka_unit_test(roots),
        cmocka_unit_test(refused_rows_keep_their_root),
        cmocka_unit_test(rows_of_the_version_before),
        cmocka_unit_test(impossible_roots_are_damage),
        cmocka_unit_test(a_row_is_little_more_than_its_record),
        cmocka_unit_test(a_full_buffer_is_said),
        cmocka_unit_test(damaged_rows_are_never_read_beyond),
        cmocka_unit_test(versions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
