/* Rows of what expires, comes again, is undecided or paused: version 3 of the row. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/memory.h"
#include "base/random.h"
#include "bridge/row.h"
#include "bridge/time_text.h"
#include "support/sample_record.h"

static void assert_same_extras(const struct decoded *a, const struct decoded *b)
{
    assert_int_equal(a->expires_ms, b->expires_ms);
    assert_int_equal(a->conditional, b->conditional);
    assert_int_equal(a->undecided, b->undecided);
    assert_int_equal(a->paused, b->paused);
    assert_int_equal(a->recurrence.kind, b->recurrence.kind);
    assert_int_equal(a->recurrence.every_ms, b->recurrence.every_ms);
    assert_true(span_equal(a->recurrence.cron, b->recurrence.cron));
    assert_true(span_equal(a->recurrence.zone, b->recurrence.zone));
    assert_int_equal(a->recurrence.until_ms, b->recurrence.until_ms);
    assert_int_equal(a->recurrence.count, b->recurrence.count);
    assert_int_equal(a->recurrence.runs, b->recurrence.runs);
}

/* Encodes; the row's bytes in room of their exact size, to be freed. */
static struct span encode(const struct sample *sample, const struct decoded *decoded)
{
    struct buffer buffer = buffer_new(1 << 20);
    struct error error;
    assert_true(row_encode(&buffer, &sample->record, decoded, &error));
    uint8_t *bytes = memory_new(buffer.length, 1);
    memcpy(bytes, buffer.data, buffer.length);
    struct span row = {bytes, buffer.length};
    buffer_free(&buffer);
    return row;
}

static void free_row(struct span bytes)
{
    free((void *)(uintptr_t)bytes.data);
}

static void decode(struct sample *sample, const char *const *headers, struct decoded *decoded)
{
    struct decode_rules rules = sample_rules();
    struct refusal refusal;
    sample_begin(sample, "k", "v");
    for (; headers[0] != NULL; headers += 2) {
        sample_add(sample, headers[0], headers[1]);
    }
    if (!decode_record(&rules, &sample->record, decoded, &refusal)) {
        fail_msg("%s", refusal.text);
    }
}

static void assert_version(const char *const *headers, uint8_t version)
{
    struct sample sample;
    struct decoded decoded;
    struct error error;
    struct row row;
    decode(&sample, headers, &decoded);
    struct span bytes = encode(&sample, &decoded);
    assert_int_equal(bytes.data[0], version);
    assert_true(row_decode(bytes, &row, &error));
    assert_same_extras(&row.decoded, &decoded);
    assert_int_equal(row.decoded.due_ms, decoded.due_ms);
    assert_true(span_equal(row.decoded.id, decoded.id));
    assert_int_equal(row.root, decoded.root);
    row.decoded.key = decoded.key; /* where they stand is part of the row */
    row.decoded.value = decoded.value;
    struct span again = encode(&sample, &row.decoded);
    assert_true(span_equal(again, bytes));
    free_row(again);
    free_row(bytes);
}

#define ROOT "3:1795961500000:1795961505000:events"
#define HEADERS(...) ((const char *const[]){__VA_ARGS__, NULL})

static void the_earliest_version_that_can_hold_it(void **state)
{
    (void)state;
    assert_version(HEADERS("tarry-delay", "1s"), 1);
    assert_version(HEADERS("tarry-delay", "1s", "tarry-id", "a", "tarry-if-exists", "replace", "tarry-action", "schedule"), 1);
    assert_version(HEADERS("tarry-delay", "1s", "tarry-root", ROOT), 2);
    assert_version(HEADERS("tarry-delay", "1s", "tarry-root", ROOT, "tarry-runs", "3"), 2);
    assert_version(HEADERS("tarry-delay", "1s", "tarry-expires", "1795969999000"), 3);
    assert_version(HEADERS("tarry-delay", "1s", "tarry-id", "a", "tarry-if-exists", "reject"), 3);
    assert_version(HEADERS("tarry-id", "a", "tarry-every", "1m"), 3);
    assert_version(HEADERS("tarry-id", "a", "tarry-cron", "0 9 * * *"), 3);
    assert_version(HEADERS("tarry-id", "a", "tarry-cron", "0 9 * * *", "tarry-tz", "Europe/Berlin", "tarry-until", "1799969999000", "tarry-count", "9", "tarry-expires",
                           "1795969999000", "tarry-if-exists", "reject"),
                   3);
    assert_version(HEADERS("tarry-id", "a", "tarry-every", "1m", "tarry-root", ROOT, "tarry-runs", "3"), 3);
    assert_version(HEADERS("tarry-id", "a", "tarry-root", ROOT, "tarry-not-before", "253402300799999"), 3);
}

/* Byte by byte: rows of this version must be read for ever. */
static void golden(void **state)
{
    struct sample sample;
    struct decoded decoded;
    struct error error;
    struct row row;
    (void)state;
    decode(&sample,
           HEADERS("tarry-id", "a", "tarry-cron", "@daily", "tarry-tz", "UTC", "tarry-until", "1799969999000", "tarry-count", "9", "tarry-expires", "1795969999000"), &decoded);
    sample.record.header_count = 0; /* they stand in the row as well, and would only make it longer */
    struct span bytes = encode(&sample, &decoded);
    static const uint8_t golden_row[] = {
        0x03, 0x4e, 0x0e, 0xe0, 0xc9, 0xb6, 0xfa, 0xc4, 0x68, 0x01, 0x6b, 0x01, 0x76, 0x10, 0x00, 0x00,
        0x06, 0x65, 0x76, 0x65, 0x6e, 0x74, 0x73, 0x01, 0x61, 0x5d, 0xb0, 0x82, 0xbb, 0x82, 0xc5, 0x68,
        0x06, 0x40, 0x64, 0x61, 0x69, 0x6c, 0x79, 0x03, 0x55, 0x54, 0x43, 0xb0, 0xa2, 0x94, 0xe9, 0xe2,
        0x68, 0x12, 0x00, 0x00,
    };
    assert_int_equal(bytes.length, sizeof golden_row);
    assert_memory_equal(bytes.data, golden_row, sizeof golden_row);
    assert_true(row_decode((struct span){golden_row, sizeof golden_row}, &row, &error));
    assert_same_extras(&row.decoded, &decoded);
    free_row(bytes);
}

static void anything_round_trips(void **state)
{
    static uint8_t cron[DECODE_CRON_MAX];
    static uint8_t zone[DECODE_ZONE_MAX];
    struct random random = random_new(31);
    struct sample sample;
    struct decoded decoded;
    (void)state;
    decode(&sample, HEADERS("tarry-delay", "1s", "tarry-id", "a"), &decoded);
    for (int round = 0; round < 20000; round++) {
        struct decoded made = decoded;
        struct error error;
        struct row row;
        struct decoded_recurrence *recurrence = &made.recurrence;
        made.expires_ms = random_below(&random, 2) == 0 ? -1 : 1 + (int64_t)random_below(&random, TIME_TEXT_LAST_MS);
        made.conditional = random_below(&random, 2) == 0;
        made.undecided = random_below(&random, 2) == 0;
        made.paused = random_below(&random, 4) == 0;
        made.root = (int64_t)random_below(&random, 8) - 1;
        recurrence->kind = (enum decode_recurrence_kind)random_below(&random, 3);
        if (recurrence->kind != DECODE_RECURRENCE_NONE) {
            bool every = recurrence->kind == DECODE_RECURRENCE_EVERY;
            recurrence->every_ms = every ? DECODE_EVERY_LEAST_MS + (int64_t)random_below(&random, SAMPLE_MAX_DELAY_MS) : 0;
            recurrence->cron = every ? SPAN_ABSENT : (struct span){cron, 1 + (size_t)random_below(&random, DECODE_CRON_MAX)};
            recurrence->zone = random_below(&random, 2) == 0 ? SPAN_ABSENT : (struct span){zone, 1 + (size_t)random_below(&random, DECODE_ZONE_MAX)};
            recurrence->until_ms = random_below(&random, 2) == 0 ? -1 : 1 + (int64_t)random_below(&random, TIME_TEXT_LAST_MS);
            recurrence->count = (int64_t)random_below(&random, DECODE_COUNT_MOST + 1);
            recurrence->runs = (int64_t)random_below(&random, DECODE_COUNT_MOST + 1);
        }
        made.root = made.root >= 7 ? 6 : made.root;
        struct span bytes = encode(&sample, &made);
        assert_true(row_decode(bytes, &row, &error));
        assert_same_extras(&row.decoded, &made);
        assert_int_equal(row.record.header_count, sample.record.header_count);
        free_row(bytes);
    }
}

static void damaged_ones_are_never_read_beyond(void **state)
{
    struct random random = random_new(5);
    struct sample sample;
    struct decoded decoded;
    struct error error;
    (void)state;
    decode(&sample, HEADERS("tarry-id", "a", "tarry-cron", "0 9 * * *", "tarry-tz", "UTC", "tarry-until", "1799969999000", "tarry-count", "9"), &decoded);
    struct span whole = encode(&sample, &decoded);
    for (size_t length = 0; length < whole.length; length++) {
        struct row row;
        uint8_t *cut = memory_new(length, 1);
        memcpy(cut, whole.data, length);
        bool damaged = false;
        struct record_header header;
        if (row_decode((struct span){cut, length}, &row, &error)) {
            while (row_next_header(&row.headers, &header, &damaged)) {
            }
            assert_true(damaged || length < whole.length);
        }
        free(cut);
    }
    for (int round = 0; round < 100000; round++) {
        uint8_t *bytes = memory_new(whole.length, 1);
        struct row row;
        memcpy(bytes, whole.data, whole.length);
        for (uint64_t i = 1 + random_below(&random, 3); i > 0; i--) {
            bytes[random_below(&random, whole.length)] = (uint8_t)random_next(&random);
        }
        if (row_decode((struct span){bytes, whole.length}, &row, &error) && !row.refused) {
            const struct decoded_recurrence *recurrence = &row.decoded.recurrence;
            assert_true(recurrence->count >= 0 && recurrence->runs >= 0 && recurrence->until_ms >= -1 && row.decoded.expires_ms >= -1);
            assert_true(recurrence->kind != DECODE_RECURRENCE_CRON || (recurrence->cron.length >= 1 && recurrence->cron.length <= DECODE_CRON_MAX));
        }
        free(bytes);
    }
    free_row(whole);
}

/* A row whose extras are these bytes, and which has no headers. */
static bool reads_with(const struct sample *sample, const uint8_t *extras, size_t length)
{
    struct decoded decoded = {.due_ms = 5, .target = span_of_text("events"), .partition = -1, .root = -1, .root_timestamp_ms = -1, .conditional = true};
    struct error error;
    struct row row;
    struct span bytes = encode(sample, &decoded);
    size_t before = bytes.length - 2; /* what it has, and the count of headers */
    uint8_t *made = memory_new(before + length + 1, 1);
    memcpy(made, bytes.data, before);
    memcpy(made + before, extras, length);
    made[before + length] = 0;
    bool good = row_decode((struct span){made, before + length + 1}, &row, &error);
    free(made);
    free_row(bytes);
    return good;
}

/* What no tarry wrote is damage: extras without anything in them, both kinds or an empty text, an end or a zone of what does not come again. */
static void impossible_extras(void **state)
{
    static const struct {
        uint8_t bytes[12];
        size_t length;
        bool good;
    } cases[] = {
        {{32}, 1, true},
        {{32 | 64 | 128}, 1, true},
        {{0}, 1, false},
        {{1, 2}, 2, true},                               /* expires at 1 */
        {{1, 0}, 2, false},                              /* at 0 */
        {{1, 1}, 2, false},                              /* at -1 */
        {{2, 0xd0, 0x0f, 0, 0}, 5, true},                /* every 1,000 ms, count and runs */
        {{2, 0xce, 0x0f, 0, 0}, 5, false},               /* every 999 ms */
        {{2, 0xd0, 0x0f, 2, 4}, 5, true},
        {{2, 0xd0, 0x0f, 1, 0}, 5, false},               /* a count of -1 */
        {{2, 0xd0, 0x0f, 0, 1}, 5, false},               /* runs of -1 */
        {{4, 1, '*', 0, 0}, 5, true},
        {{4, 0, 0, 0}, 4, false},                        /* an empty cron */
        {{2 | 4, 0xd0, 0x0f, 1, '*', 0, 0}, 7, false},   /* both kinds */
        {{4 | 8, 1, '*', 1, 'Z', 0, 0}, 7, true},
        {{4 | 8, 1, '*', 0, 0, 0}, 6, false},            /* an empty zone */
        {{8 | 32, 1, 'Z'}, 3, false},                    /* a zone alone */
        {{16 | 32, 2}, 2, false},                        /* an end alone */
        {{4 | 16, 1, '*', 2, 0, 0}, 6, true},
        {{4 | 16, 1, '*', 0, 0, 0}, 6, false},           /* an end at 0 */
    };
    struct sample sample;
    (void)state;
    sample_begin(&sample, NULL, "v");
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        if (reads_with(&sample, cases[i].bytes, cases[i].length) != cases[i].good) {
            fail_msg("case %zu", i);
        }
    }
}

/* Extras of a refused record, or in an earlier version. */
static void extras_where_none_can_be(void **state)
{
    struct refusal refusal = {REFUSAL_BAD_SCHEDULE, "bad"};
    struct buffer buffer = buffer_new(1 << 16);
    struct sample sample;
    struct decoded decoded;
    struct error error;
    struct row row;
    (void)state;
    sample_begin(&sample, "k", "v");
    assert_true(row_encode_refused(&buffer, &sample.record, &refusal, &error) && row_decode(buffer_span(&buffer), &row, &error));
    buffer.data[0] = 3;
    assert_true(row_decode(buffer_span(&buffer), &row, &error));
    buffer.data[1] |= 64;
    assert_false(row_decode(buffer_span(&buffer), &row, &error));
    decode(&sample, HEADERS("tarry-id", "a", "tarry-delay", "1s", "tarry-expires", "1795969999000"), &decoded);
    for (uint8_t version = 1; version < ROW_VERSION; version++) {
        buffer_clear(&buffer);
        assert_true(row_encode(&buffer, &sample.record, &decoded, &error));
        buffer.data[0] = version;
        assert_false(row_decode(buffer_span(&buffer), &row, &error));
        assert_int_equal(error.code, ERROR_CORRUPT);
    }
    buffer_free(&buffer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_earliest_version_that_can_hold_it), cmocka_unit_test(golden),
        cmocka_unit_test(anything_round_trips),                  cmocka_unit_test(damaged_ones_are_never_read_beyond),
        cmocka_unit_test(impossible_extras),                     cmocka_unit_test(extras_where_none_can_be),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
