#include "support/sample_letter.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#include "dlq/letter_time.h"

#define PIECES_MAX (64 * 1024)

static int64_t any_number(struct random *random)
{
    static const int64_t extremes[] = {-1, 0, 1, INT64_MAX, INT64_MIN, (INT64_C(1) << 53) + 1, -62135596800000, 253402300799999, 1767225600000};
    const size_t count = sizeof(extremes) / sizeof(extremes[0]);
    size_t which = random_below(random, count + 2);
    return which < count ? extremes[which] : which == count ? random_between(random, 0, 4102444800000) : (int64_t)random_next(random);
}

static int32_t any_partition(struct random *random)
{
    static const int32_t extremes[] = {-1, 0, 7, INT32_MAX};
    return extremes[random_below(random, sizeof(extremes) / sizeof(extremes[0]))];
}

/* The buffer never moves: its room is taken at first. */
static struct span keep(struct sample_letter *sample, const void *bytes, size_t length)
{
    uint8_t *room = buffer_extend(&sample->bytes, length + 1);
    assert_non_null(room);
    if (length > 0) {
        memcpy(room, bytes, length);
    }
    return (struct span){room, length};
}

static struct span any_bytes(struct sample_letter *sample, struct random *random, bool may_be_null)
{
    static const char *const texts[] = {"", "plain", "two\nlines\t\r", "k\xc3\xa4se \xf0\x9f\xa7\x80 \xe2\x80\xa8", "\"\\/\b\f", "\xff\xfe", "\xc0\x80",
                                        "\xed\xa0\x80", "{\"a\": 1e400}", "cut \xf0\x9f\xa7", "\x7f", "\xc2\x85"};
    const size_t count = sizeof(texts) / sizeof(texts[0]);
    uint8_t noise[64];
    size_t which = random_below(random, count + 3);
    if (which < count) {
        return keep(sample, texts[which], strlen(texts[which]));
    }
    if (may_be_null && which == count) {
        return SPAN_ABSENT;
    }
    size_t length = random_below(random, sizeof(noise) + 1);
    random_fill(random, noise, length);
    return keep(sample, noise, length);
}

static int64_t any_time(struct random *random)
{
    const int64_t times[] = {-1, 0, LETTER_TIME_LAST_MS, random_between(random, -1, LETTER_TIME_LAST_MS)};
    return times[random_below(random, 4)];
}

void sample_letter_fill(struct sample_letter *sample, struct random *random)
{
    sample->bytes = buffer_new(PIECES_MAX);
    sample->headers = buffer_new(PIECES_MAX);
    assert_non_null(buffer_extend(&sample->bytes, PIECES_MAX));
    buffer_clear(&sample->bytes);
    struct letter *letter = &sample->letter;
    memset(letter, 0, sizeof(*letter));
    letter->origin = (struct letter_origin){any_bytes(sample, random, false), any_partition(random), any_number(random), any_number(random)};
    letter_id(letter->id, SPAN_ABSENT, SPAN_ABSENT, &letter->origin, random_next(random));
    letter->reason = (enum letter_reason)random_below(random, LETTER_REASONS);
    letter_set_error(letter, any_bytes(sample, random, true), sample->error);
    letter->attempt = (uint32_t)random_next(random);
    letter->replays = (uint32_t)random_below(random, 3);
    letter->first_failure_ms = any_time(random);
    letter->last_failure_ms = any_time(random);
    letter->not_before_ms = any_time(random);
    letter->target = any_bytes(sample, random, true);
    letter->target_partition = any_partition(random);
    letter->group = any_bytes(sample, random, true);
    letter->schedule_id = any_bytes(sample, random, true);
    letter->due_ms = any_number(random);
    letter->record.key = any_bytes(sample, random, true);
    letter->record.value = any_bytes(sample, random, true);
    for (size_t i = random_below(random, 5); i > 0; i--) {
        struct span name = any_bytes(sample, random, false);
        struct span value = any_bytes(sample, random, true);
        letter_add_header(&sample->headers, name, value);
        if (random_below(random, 3) == 0) {
            letter_add_header(&sample->headers, name, SPAN_ABSENT);
        }
    }
    letter->record.headers = buffer_span(&sample->headers);
}

void sample_letter_free(struct sample_letter *sample)
{
    buffer_free(&sample->bytes);
    buffer_free(&sample->headers);
}

struct letter sample_letter_plain(void)
{
    struct letter letter = {
        .reason = LETTER_REASON_UNDELIVERABLE,
        .error = span_of_text("Broker: Message size too large"),
        .attempt = 1,
        .first_failure_ms = 1767225600000,
        .last_failure_ms = 1767225600001,
        .not_before_ms = 1767225601000,
        .target = span_of_text("orders"),
        .target_partition = -1,
        .origin = {span_of_text("delays"), 3, 9007199254740993, 1767225500000},
        .group = span_of_text("tarry"),
        .due_ms = 1767225599999,
        .record = {span_of_text("key"), span_of_text("value"), SPAN_ABSENT},
    };
    letter_id(letter.id, span_of_text("cluster"), letter.group, &letter.origin, 0);
    return letter;
}

static void assert_same_headers(struct span a, struct span b)
{
    struct span name_a, name_b, value_a, value_b;
    while (letter_next_header(&a, &name_a, &value_a)) {
        assert_true(letter_next_header(&b, &name_b, &value_b));
        assert_true(span_equal(name_a, name_b));
        assert_true(span_equal(value_a, value_b));
    }
    assert_false(letter_next_header(&b, &name_b, &value_b));
}

void sample_letter_assert_same(const struct letter *a, const struct letter *b)
{
    assert_string_equal(a->id, b->id);
    assert_int_equal(a->reason, b->reason);
    assert_int_equal(a->error.length, b->error.length);
    assert_memory_equal(a->error.data == NULL ? (const void *)"" : a->error.data, b->error.data == NULL ? (const void *)"" : b->error.data, a->error.length);
    assert_int_equal(a->attempt, b->attempt);
    assert_int_equal(a->replays, b->replays);
    assert_int_equal(a->first_failure_ms, b->first_failure_ms);
    assert_int_equal(a->last_failure_ms, b->last_failure_ms);
    assert_int_equal(a->not_before_ms, b->not_before_ms);
    assert_true(span_equal(a->target, b->target));
    assert_int_equal(a->target_partition, b->target_partition);
    assert_true(span_equal(a->origin.topic, b->origin.topic));
    assert_int_equal(a->origin.partition, b->origin.partition);
    assert_int_equal(a->origin.offset, b->origin.offset);
    assert_int_equal(a->origin.timestamp_ms, b->origin.timestamp_ms);
    assert_true(span_equal(a->group, b->group));
    assert_true(span_equal(a->schedule_id, b->schedule_id));
    assert_int_equal(a->due_ms, b->due_ms);
    assert_int_equal(a->parts, b->parts);
    assert_int_equal(a->parts_bytes, b->parts_bytes);
    assert_int_equal(a->parts_hash, b->parts_hash);
    assert_true(span_equal(a->record.key, b->record.key));
    assert_true(span_equal(a->record.value, b->record.value));
    assert_same_headers(a->record.headers, b->record.headers);
}
