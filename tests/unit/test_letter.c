#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/memory.h"
#include "base/text.h"
#include "base/packed.h"
#include "dlq/letter_record.h"
#include "dlq/letter_time.h"
#include "support/sample_letter.h"

#define SEEDS 2000

struct encoded {
    uint8_t *bytes;
    struct span span;
};

/* Encodes behind something that is there, and gives the letter's bytes in a room of exactly their length, so that a sanitizer sees what reads outside. */
static struct encoded encoded(const struct letter *letter)
{
    struct buffer buffer = buffer_new(1 << 20);
    struct error error = {0};
    buffer_add_text(&buffer, "before");
    assert_true(letter_encode(&buffer, letter, &error));
    size_t length = buffer.length - 6;
    uint8_t *bytes = memory_new(length, 1);
    memcpy(bytes, buffer.data + 6, length);
    buffer_free(&buffer);
    return (struct encoded){bytes, {bytes, length}};
}

static void assert_round_trip(const struct letter *letter)
{
    struct encoded encoding = encoded(letter);
    struct letter read;
    struct error error = {0};
    assert_true(letter_decode(encoding.span, &read, &error));
    sample_letter_assert_same(letter, &read);
    free(encoding.bytes);
}

static void any_letter_reads_back(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        struct random random = random_new(seed);
        struct sample_letter sample;
        sample_letter_fill(&sample, &random);
        assert_round_trip(&sample.letter);
        sample_letter_free(&sample);
    }
}

static void times_beyond_the_calendar_are_written_as_its_end(void **state)
{
    (void)state;
    struct letter letter = sample_letter_plain();
    letter.first_failure_ms = -2;
    letter.last_failure_ms = INT64_MIN;
    letter.not_before_ms = INT64_MAX;
    struct encoded encoding = encoded(&letter);
    struct letter read;
    struct error error = {0};
    assert_true(letter_decode(encoding.span, &read, &error));
    assert_int_equal(read.first_failure_ms, -1);
    assert_int_equal(read.last_failure_ms, -1);
    assert_int_equal(read.not_before_ms, LETTER_TIME_LAST_MS);
    free(encoding.bytes);
}

/* The letter's bytes, where one time stands in place of another of the same length. */
static struct buffer forged(const struct letter *letter, int64_t old_ms, int64_t new_ms)
{
    struct buffer from = buffer_new(20);
    struct buffer to = buffer_new(20);
    struct buffer bytes = buffer_new(1 << 20);
    packed_put_signed(&from, old_ms);
    packed_put_signed(&to, new_ms);
    assert_int_equal(from.length, to.length);
    assert_true(letter_encode(&bytes, letter, NULL));
    uint8_t *place = memmem(bytes.data, bytes.length, from.data, from.length);
    assert_non_null(place);
    memcpy(place, to.data, to.length);
    bytes.length -= 8; /* the checksum */
    assert_true(letter_record_finish(&bytes, 0, NULL));
    buffer_free(&from);
    buffer_free(&to);
    return bytes;
}

static void times_beyond_the_calendar_are_damage(void **state)
{
    (void)state;
    struct letter letter = sample_letter_plain();
    struct letter read;
    struct error error = {0};
    letter.not_before_ms = LETTER_TIME_LAST_MS;
    struct buffer within = forged(&letter, LETTER_TIME_LAST_MS, LETTER_TIME_LAST_MS - 1);
    struct buffer beyond = forged(&letter, LETTER_TIME_LAST_MS, LETTER_TIME_LAST_MS + 1);
    assert_true(letter_decode(buffer_span(&within), &read, &error));
    assert_int_equal(read.not_before_ms, LETTER_TIME_LAST_MS - 1);
    assert_false(letter_decode(buffer_span(&beyond), &read, &error));
    assert_int_equal(error.code, ERROR_CORRUPT);
    buffer_free(&within);
    buffer_free(&beyond);
}

static void null_and_empty_stay_apart(void **state)
{
    static const char *const texts[] = {NULL, "", "x"};
    (void)state;
    for (size_t i = 0; i < 27; i++) {
        struct letter letter = sample_letter_plain();
        struct buffer headers = buffer_new(100);
        letter.record.key = span_of_text(texts[i % 3]);
        letter.record.value = span_of_text(texts[i / 3 % 3]);
        letter_add_header(&headers, span_of_text(""), span_of_text(texts[i / 9]));
        letter_add_header(&headers, span_of_text(""), span_of_text(texts[i / 9]));
        letter.record.headers = buffer_span(&headers);
        assert_round_trip(&letter);
        buffer_free(&headers);
    }
}

static void a_letter_whose_record_stands_apart_has_none(void **state)
{
    (void)state;
    struct letter letter = sample_letter_plain();
    letter.parts = 3;
    letter.parts_bytes = UINT64_MAX;
    letter.parts_hash = 0x123456789abcdef0;
    struct encoded encoding = encoded(&letter);
    struct letter read;
    struct error error = {0};
    assert_true(letter_decode(encoding.span, &read, &error));
    assert_null(read.record.key.data);
    assert_null(read.record.value.data);
    letter.record = (struct letter_record){0};
    sample_letter_assert_same(&letter, &read);
    free(encoding.bytes);
}

static void a_record_apart_reads_back(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        struct random random = random_new(seed);
        struct sample_letter sample;
        struct buffer buffer = buffer_new(1 << 20);
        struct letter read = {0};
        struct error error = {0};
        sample_letter_fill(&sample, &random);
        assert_true(letter_encode_record(&buffer, &sample.letter.record, &error));
        assert_true(letter_decode_record(buffer_span(&buffer), &read.record, &error));
        struct letter record_only = {.record = sample.letter.record};
        sample_letter_assert_same(&record_only, &read);
        buffer.data[random_below(&random, buffer.length)] ^= (uint8_t)(1U << random_below(&random, 8));
        assert_false(letter_decode_record(buffer_span(&buffer), &read.record, &error));
        buffer_free(&buffer);
        sample_letter_free(&sample);
    }
}

static void damage_is_found(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 20; seed++) {
        struct random random = random_new(seed);
        struct sample_letter sample;
        struct letter read;
        struct error error = {0};
        sample_letter_fill(&sample, &random);
        struct encoded encoding = encoded(&sample.letter);
        for (size_t length = 0; length < encoding.span.length; length++) {
            uint8_t *cut = memory_new(length, 1);
            memcpy(cut, encoding.bytes, length);
            assert_false(letter_decode((struct span){cut, length}, &read, &error));
            assert_int_equal(error.code, ERROR_CORRUPT);
            free(cut);
        }
        for (size_t bit = 0; bit < 8 * encoding.span.length; bit++) {
            uint8_t *byte = encoding.bytes + bit / 8;
            *byte ^= (uint8_t)(1U << bit % 8);
            assert_false(letter_decode(encoding.span, &read, &error));
            assert_true(error.code == ERROR_CORRUPT || (bit < 8 && error.code == ERROR_TOO_NEW));
            *byte ^= (uint8_t)(1U << bit % 8);
        }
        assert_true(letter_decode(encoding.span, &read, &error));
        free(encoding.bytes);
        sample_letter_free(&sample);
    }
}

static void a_newer_format_is_called_so(void **state)
{
    (void)state;
    struct letter letter = sample_letter_plain();
    struct encoded encoding = encoded(&letter);
    struct error error = {0};
    encoding.bytes[0] = LETTER_VERSION + 1;
    assert_false(letter_decode(encoding.span, &letter, &error));
    assert_int_equal(error.code, ERROR_TOO_NEW);
    assert_non_null(strstr(error.text, "format 2"));
    free(encoding.bytes);
}

static void what_would_not_read_back_is_not_written(void **state)
{
    (void)state;
    struct buffer buffer = buffer_new(1 << 20);
    struct error error = {0};
    struct letter letter = sample_letter_plain();
    letter.error = span_of_text("\xff");
    assert_false(letter_encode(&buffer, &letter, &error));
    assert_int_equal(error.code, ERROR_INVALID);
    letter = sample_letter_plain();
    letter.record.headers = span_of_text("\x05" "ab");
    assert_false(letter_encode(&buffer, &letter, &error));
    assert_false(letter_encode_record(&buffer, &letter.record, &error));
    letter = sample_letter_plain();
    letter.id[31] = 'X';
    assert_false(letter_encode(&buffer, &letter, &error));
    assert_non_null(strstr(error.text, "hex"));
    assert_int_equal(buffer.length, 0);
    buffer_free(&buffer);
}

static void a_full_buffer_is_left_as_it_was(void **state)
{
    (void)state;
    struct letter letter = sample_letter_plain();
    struct encoded encoding = encoded(&letter);
    struct error error = {0};
    for (size_t most = 0; most < encoding.span.length; most++) {
        struct buffer buffer = buffer_new(most);
        assert_false(letter_encode(&buffer, &letter, &error));
        assert_int_equal(error.code, ERROR_FULL);
        assert_int_equal(buffer.length, 0);
        buffer_free(&buffer);
    }
    free(encoding.bytes);
}

static void ids_are_stable_and_differ(void **state)
{
    (void)state;
    const struct letter_origin origin = {span_of_text("ab"), 1, 2, 3};
    char ids[9][LETTER_ID_SIZE];
    struct letter_origin other = origin;
    letter_id(ids[0], span_of_text("c"), span_of_text("g"), &origin, 0);
    letter_id(ids[1], span_of_text("cg"), span_of_text(""), &origin, 0);
    letter_id(ids[2], span_of_text("c"), SPAN_ABSENT, &origin, 0);
    letter_id(ids[3], span_of_text("c"), span_of_text("g"), &origin, 1);
    other.offset = 1;
    letter_id(ids[4], span_of_text("c"), span_of_text("g"), &other, 0);
    other = origin;
    other.partition = 2;
    letter_id(ids[5], span_of_text("c"), span_of_text("g"), &other, 0);
    other = origin;
    other.timestamp_ms = -1;
    letter_id(ids[6], span_of_text("c"), span_of_text("g"), &other, 0);
    other = origin;
    other.topic = span_of_text("b");
    letter_id(ids[7], span_of_text("c"), span_of_text("ga"), &other, 0);
    letter_id(ids[8], span_of_text("c"), span_of_text("g"), &origin, 0);
    /* As published: a changed hash would make a second letter of the same failure after an upgrade. */
    assert_string_equal(ids[0], "4f621d7cb648070f606eddfe1d39525c");
    assert_string_equal(ids[8], ids[0]);
    for (size_t i = 0; i < 8; i++) {
        assert_int_equal(strlen(ids[i]), LETTER_ID_SIZE - 1);
        assert_int_equal(strspn(ids[i], "0123456789abcdef"), LETTER_ID_SIZE - 1);
        for (size_t j = 0; j < i; j++) {
            assert_string_not_equal(ids[i], ids[j]);
        }
    }
}

static void message_ids_tell_failures_apart(void **state)
{
    (void)state;
    char texts[6][LETTER_MESSAGE_ID_SIZE];
    struct letter letter = sample_letter_plain();
    letter_message_id(&letter, LETTER_WAITING, 0, texts[0]);
    letter_message_id(&letter, LETTER_WAITING, 1, texts[1]);
    letter_message_id(&letter, LETTER_PARKED, 0, texts[2]);
    letter.attempt = 11;
    letter_message_id(&letter, LETTER_WAITING, 0, texts[3]);
    letter.attempt = 1;
    letter.replays = 1;
    letter_message_id(&letter, LETTER_WAITING, 0, texts[4]);
    letter.attempt = letter.replays = UINT32_MAX;
    letter_message_id(&letter, LETTER_PARKED, UINT32_MAX, texts[5]);
    assert_int_equal(strlen(texts[5]), 32 + 1 + 10 + 1 + 10 + 2 + 1 + 10);
    for (size_t i = 0; i < 6; i++) {
        for (size_t j = 0; j < i; j++) {
            assert_string_not_equal(texts[i], texts[j]);
        }
    }
    letter = sample_letter_plain();
    letter_message_id(&letter, LETTER_WAITING, 0, texts[1]);
    assert_string_equal(texts[0], texts[1]);
}

static void assert_error(const char *text, size_t length, const char *wanted)
{
    char room[LETTER_ERROR_MAX];
    struct letter letter = {0};
    letter_set_error(&letter, (struct span){(const uint8_t *)text, length}, room);
    assert_int_equal(letter.error.length, strlen(wanted));
    assert_memory_equal(letter.error.data, wanted, letter.error.length);
}

static void error_texts_are_clean_and_cut_at_a_character(void **state)
{
    (void)state;
    char room[LETTER_ERROR_MAX];
    char text[2 * LETTER_ERROR_MAX];
    struct letter letter = {0};
    assert_error("", 0, "");
    assert_error("plain \xc3\xa4 \xf0\x9f\xa7\x80", 13, "plain \xc3\xa4 \xf0\x9f\xa7\x80");
    assert_error("a\nb\0c\x7f\xc2\x85\x1b[2J", 12, "a?b?c??" "?[2J");
    assert_error("\xff\xc0\x80" "x\xe2\x82", 6, "???x??");
    letter_set_error(&letter, SPAN_ABSENT, room);
    assert_int_equal(letter.error.length, 0);
    for (size_t shift = 0; shift < 4; shift++) {
        memset(text, 'x', shift);
        for (size_t i = shift; i + 4 <= sizeof(text); i += 4) {
            memcpy(text + i, "\xf0\x9f\xa7\x80", 4);
        }
        letter_set_error(&letter, (struct span){(const uint8_t *)text, shift + 4 * ((sizeof(text) - shift) / 4)}, room);
        assert_int_equal(letter.error.length, shift + 4 * ((LETTER_ERROR_MAX - shift) / 4));
        assert_true(text_is_utf8(letter.error));
    }
    memset(text, 'x', sizeof(text));
    letter_set_error(&letter, (struct span){(const uint8_t *)text, sizeof(text)}, room);
    assert_int_equal(letter.error.length, LETTER_ERROR_MAX);
}

static void reasons_have_names_of_their_own(void **state)
{
    (void)state;
    enum letter_reason reason = LETTER_REASON_BAD_NACK;
    for (unsigned i = 0; i < LETTER_REASONS; i++) {
        const char *name = letter_reason_name((enum letter_reason)i);
        assert_true(strlen(name) > 0 && strlen(name) == strspn(name, "abcdefghijklmnopqrstuvwxyz_"));
        assert_true(letter_reason_of(span_of_text(name), &reason));
        assert_int_equal(reason, i);
    }
    assert_string_equal(letter_reason_name((enum letter_reason)LETTER_REASONS), "unknown");
    assert_string_equal(letter_reason_name((enum letter_reason)-1), "unknown");
    assert_false(letter_reason_of(span_of_text("No_time"), &reason));
    assert_int_equal(reason, LETTER_REASON_UNKNOWN);
    assert_false(letter_reason_of(SPAN_ABSENT, &reason));
}

static void walking_damaged_headers_ends(void **state)
{
    (void)state;
    struct span headers = span_of_text("\x01" "a\x02" "b\x05" "c");
    struct span name, value;
    assert_true(letter_next_header(&headers, &name, &value));
    assert_true(span_equals_text(name, "a"));
    assert_true(span_equals_text(value, "b"));
    assert_false(letter_next_header(&headers, &name, &value));
    assert_int_equal(headers.length, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_letter_reads_back),
        cmocka_unit_test(times_beyond_the_calendar_are_written_as_its_end),
        cmocka_unit_test(times_beyond_the_calendar_are_damage),
        cmocka_unit_test(null_and_empty_stay_apart),
        cmocka_unit_test(a_letter_whose_record_stands_apart_has_none),
        cmocka_unit_test(a_record_apart_reads_back),
        cmocka_unit_test(damage_is_found),
        cmocka_unit_test(a_newer_format_is_called_so),
        cmocka_unit_test(what_would_not_read_back_is_not_written),
        cmocka_unit_test(a_full_buffer_is_left_as_it_was),
        cmocka_unit_test(ids_are_stable_and_differ),
        cmocka_unit_test(message_ids_tell_failures_apart),
        cmocka_unit_test(error_texts_are_clean_and_cut_at_a_character),
        cmocka_unit_test(reasons_have_names_of_their_own),
        cmocka_unit_test(walking_damaged_headers_ends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
