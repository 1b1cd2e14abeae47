#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cjson/cJSON.h>
#include <cmocka.h>

#include "base/memory.h"
#include "base/text.h"
#include "dlq/letter_json.h"
#include "dlq/letter_time.h"
#include "support/sample_letter.h"

#define SEEDS 2000
#define ROOM_MAX (1 << 20)
#define MINIMAL "{\"origin\":{\"topic\":\"t\"}}"

static bool read_text(const char *text, size_t length, struct buffer *room, struct letter *letter, enum letter_state *state, struct error *error)
{
    uint8_t *exact = memory_new(length, 1); /* so that a sanitizer sees what reads outside */
    memcpy(exact, text, length);
    bool read = letter_json_read((struct span){exact, length}, room, letter, state, error);
    free(exact);
    return read;
}

static void assert_json(const struct buffer *out)
{
    char *text = memory_text(out->data, out->length);
    cJSON *root = cJSON_Parse(text);
    assert_non_null(root);
    assert_true(text_is_utf8(buffer_span(out)));
    assert_null(memchr(out->data, '\n', out->length));
    cJSON_Delete(root);
    free(text);
}

static void any_letter_reads_back(void **test_state)
{
    (void)test_state;
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        struct random random = random_new(seed);
        struct sample_letter sample;
        struct buffer out = buffer_new(ROOM_MAX);
        struct buffer room = buffer_new(ROOM_MAX);
        struct letter read;
        enum letter_state wanted = seed % 2 == 0 ? LETTER_WAITING : LETTER_PARKED;
        enum letter_state state;
        struct error error = {0};
        sample_letter_fill(&sample, &random);
        assert_true(letter_json_write(&out, &sample.letter, wanted, true, &error));
        assert_json(&out);
        if (!read_text((const char *)out.data, out.length, &room, &read, &state, &error)) {
            fail_msg("seed %llu: %s", (unsigned long long)seed, error.text);
        }
        assert_int_equal(state, wanted);
        sample_letter_assert_same(&sample.letter, &read);
        buffer_free(&out);
        buffer_free(&room);
        sample_letter_free(&sample);
    }
}

static void assert_written(const struct letter *letter, bool payload, const char *wanted)
{
    struct buffer out = buffer_new(ROOM_MAX);
    struct error error = {0};
    assert_true(letter_json_write(&out, letter, LETTER_PARKED, payload, &error));
    buffer_add(&out, "", 1);
    assert_string_equal((const char *)out.data, wanted);
    buffer_free(&out);
}

static void it_looks_as_documented(void **state)
{
    (void)state;
    struct letter letter = sample_letter_plain();
    struct buffer headers = buffer_new(1000);
    memset(letter.id, 'a', LETTER_ID_SIZE - 1);
    letter_add_header(&headers, span_of_text("n\"1"), span_of_text("a\tb"));
    letter_add_header(&headers, span_of_text(""), SPAN_ABSENT);
    letter_add_header(&headers, span_of_text("\x7f"), (struct span){(const uint8_t *)"\0\xff", 2});
    letter.record.headers = buffer_span(&headers);
    letter.record.key = SPAN_ABSENT;
    letter.record.value = span_of_text("k\xc3\xa4se");
    letter.due_ms = -1;
    letter.not_before_ms = INT64_MAX;
#define START                                                                                                                                            \
    "{\"id\":\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\",\"state\":\"parked\",\"target\":\"orders\",\"reason\":\"undeliverable\","                             \
    "\"error\":\"Broker: Message size too large\",\"attempt\":1,\"replays\":0,\"first_failure\":\"2026-01-01T00:00:00.000Z\","                          \
    "\"last_failure\":\"2026-01-01T00:00:00.001Z\",\"not_before\":9223372036854775807,"                                                                  \
    "\"origin\":{\"topic\":\"delays\",\"partition\":3,\"offset\":9007199254740993,\"timestamp\":\"2025-12-31T23:58:20.000Z\"},"                         \
    "\"group\":\"tarry\",\"schedule_id\":null,\"due\":null,\"target_partition\":null"
    assert_written(&letter, false, START "}");
    assert_written(&letter, true,
                   START ",\"key\":null,\"value\":{\"encoding\":\"utf8\",\"data\":\"k\xc3\xa4se\"},\"headers\":["
                         "{\"name\":{\"encoding\":\"utf8\",\"data\":\"n\\\"1\"},\"value\":{\"encoding\":\"utf8\",\"data\":\"a\\tb\"}},"
                         "{\"name\":{\"encoding\":\"utf8\",\"data\":\"\"},\"value\":null},"
                         "{\"name\":{\"encoding\":\"base64\",\"data\":\"fw==\"},\"value\":{\"encoding\":\"base64\",\"data\":\"AP8=\"}}]}");
    buffer_free(&headers);
}

static void a_full_buffer_is_left_as_it_was(void **state)
{
    (void)state;
    struct letter letter = sample_letter_plain();
    struct error error = {0};
    struct buffer out = buffer_new(100);
    buffer_add_text(&out, "before");
    assert_false(letter_json_write(&out, &letter, LETTER_WAITING, true, &error));
    assert_int_equal(error.code, ERROR_FULL);
    assert_int_equal(out.length, 6);
    buffer_free(&out);
}

static void what_is_not_given_has_a_default(void **test_state)
{
    (void)test_state;
    struct buffer room = buffer_new(ROOM_MAX);
    struct letter read;
    enum letter_state state = LETTER_PARKED;
    struct error error = {0};
    assert_true(read_text(" \t\r\n" MINIMAL "\n", strlen(MINIMAL) + 5, &room, &read, &state, &error));
    const struct letter wanted = {.attempt = 1,
                                  .first_failure_ms = -1,
                                  .last_failure_ms = -1,
                                  .not_before_ms = -1,
                                  .target_partition = -1,
                                  .origin = {span_of_text("t"), -1, -1, -1},
                                  .due_ms = -1};
    sample_letter_assert_same(&wanted, &read);
    assert_int_equal(state, LETTER_WAITING);
    buffer_free(&room);
}

/* Each is refused, and the error has the word. */
static const struct {
    const char *text, *word;
} wrong_cases[] = {
    {"", "no JSON"},
    {"x", "no JSON"},
    {"[]", "an object"},
    {"1", "an object"},
    {"null", "an object"},
    {"{}", "origin: topic"},
    {MINIMAL "x", "no JSON"},
    {MINIMAL MINIMAL, "no JSON"},
    {"{\"origin\":{\"topic\":\"t\"}", "no JSON"},
    {"{\"origin\":{\"topic\":\"t\"},}", "no JSON"},
    {"{\"origin\":{\"topic\":null}}", "origin: topic"},
    {"{\"origin\":{\"topic\":1}}", "origin: topic: "},
    {"{\"origin\":{\"topic\":\"t\",\"offset\":9223372036854775808}}", "origin: offset: a whole number from -9223372036854775808 to 9223372036854775807"},
    {"{\"origin\":{\"topic\":\"t\",\"offset\":1.0}}", "origin: offset: "},
    {"{\"origin\":{\"topic\":\"t\",\"offset\":1e3}}", "origin: offset: "},
    {"{\"origin\":{\"topic\":\"t\",\"offset\":01}}", "origin: offset: "},
    {"{\"origin\":{\"topic\":\"t\",\"offset\":-}}", "origin: offset: "},
    {"{\"origin\":{\"topic\":\"t\",\"offset\":\"1\"}}", "origin: offset: "},
    {"{\"origin\":{\"topic\":\"t\",\"offset\":+1}}", "no JSON"},
    {"{\"origin\":{\"topic\":\"t\",\"offset\":NaN}}", "no JSON"},
    {"{\"origin\":{\"topic\":\"t\",\"partition\":2147483648}}", "origin: partition: "},
    {"{\"origin\":{\"topic\":\"t\",\"timestamp\":\"2026-02-30T00:00:00.000Z\"}}", "origin: timestamp: a moment"},
    {"{\"origin\":{\"topic\":\"t\",\"x\":1}}", "origin: x: there is no such field"},
    {"{\"origin\":[]}", "origin: an object"},
    {"{\"attempt\":1,\"attempt\":1}", "attempt: it stands there twice"},
    {"{\"Attempt\":1}", "Attempt: there is no such field"},
    {"{\"attempt\":-1}", "attempt: "},
    {"{\"attempt\":4294967296}", "attempt: "},
    {"{\"attempt\":null}", "attempt: "},
    {"{1:2}", "there is no such field"},
    {"{\"\":2}", "there is no such field"},
    {"{\"id\":\"x\"}", "id: 32 hex"},
    {"{\"id\":\"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA\"}", "id: 32 hex"},
    {"{\"state\":\"gone\"}", "state: "},
    {"{\"state\":null}", "state: "},
    {"{\"reason\":\"why\"}", "reason: "},
    {"{\"error\":{\"encoding\":\"base64\",\"data\":\"/w==\"}}", "error: "},
    {"{\"key\":\"text\"}", "key: {"},
    {"{\"key\":{}}", "key: {"},
    {"{\"key\":{\"data\":\"\"}}", "key: {"},
    {"{\"key\":{\"encoding\":\"utf8\",\"data\":1}}", "key: "},
    {"{\"key\":{\"encoding\":\"utf8\",\"data\":null}}", "key: "},
    {"{\"key\":{\"encoding\":\"utf8\",\"data\":\"\",\"data\":\"\"}}", "key: "},
    {"{\"key\":{\"encoding\":\"hex\",\"data\":\"\"}}", "key: encoding: "},
    {"{\"value\":{\"encoding\":\"base64\",\"data\":\"AA\"}}", "value: data: no base64"},
    {"{\"value\":{\"encoding\":\"base64\",\"data\":\"AA=A\"}}", "value: data: no base64"},
    {"{\"value\":{\"encoding\":\"base64\",\"data\":\"A===\"}}", "value: data: no base64"},
    {"{\"value\":{\"encoding\":\"base64\",\"data\":\"====\"}}", "value: data: no base64"},
    {"{\"value\":{\"encoding\":\"base64\",\"data\":\"AB==\"}}", "value: data: no base64"},
    {"{\"value\":{\"encoding\":\"base64\",\"data\":\"AAB=\"}}", "value: data: no base64"},
    {"{\"value\":{\"encoding\":\"base64\",\"data\":\"AA==AAAA\"}}", "value: data: no base64"},
    {"{\"value\":{\"encoding\":\"base64\",\"data\":\"AA \\n\"}}", "value: data: no base64"},
    {"{\"value\":{\"encoding\":\"utf8\",\"data\":\"a\\u0000b\"}}", "\\u0000"},
    {"{\"value\":{\"encoding\":\"utf8\",\"data\":\"\\uzzzz\"}}", "\\u"},
    {"{\"value\":{\"encoding\":\"utf8\",\"data\":\"\\ud800\"}}", "no JSON"},
    {"{\"value\":{\"encoding\":\"utf8\",\"data\":\"\\udc00\"}}", "no JSON"},
    {"{\"value\":{\"encoding\":\"utf8\",\"data\":\"\\x41\"}}", "no JSON"},
    {"{\"value\":{\"encoding\":\"utf8\",\"data\":\"a\nb\"}}", "control character"},
    {"{\"value\":{\"encoding\":\"utf8\",\"data\":\"\xff\"}}", "UTF-8"},
    {"{\"origin\":{\"topic\":\"t\"}\x01}", "control character"},
    {"{\"value", "without an end"},
    {"{\"value\\", "without an end"},
    {"{\"headers\":{}}", "headers: a list"},
    {"{\"headers\":[1]}", "headers: [0]: "},
    {"{\"headers\":[{\"name\":null,\"value\":null}]}", "headers: [0]: "},
    {"{\"headers\":[{\"name\":{\"encoding\":\"utf8\",\"data\":\"\"}}]}", "headers: [0]: "},
    {"{\"headers\":[{\"name\":{\"encoding\":\"utf8\",\"data\":\"\"},\"value\":null},{\"name\":1,\"value\":null}]}", "headers: [1]: name: "},
};

static void what_is_wrong_is_named(void **test_state)
{
    (void)test_state;
    for (size_t i = 0; i < sizeof(wrong_cases) / sizeof(wrong_cases[0]); i++) {
        struct buffer room = buffer_new(ROOM_MAX);
        struct letter read;
        enum letter_state state;
        struct error error = {0};
        bool fine = read_text(wrong_cases[i].text, strlen(wrong_cases[i].text), &room, &read, &state, &error);
        if (fine || error.code != ERROR_INVALID || strstr(error.text, wrong_cases[i].word) == NULL) {
            fail_msg("%s: wanted \"%s\", got \"%s\"", wrong_cases[i].text, wrong_cases[i].word, fine ? "(read)" : error.text);
        }
        buffer_free(&room);
    }
}

static void texts_with_escapes_are_read(void **test_state)
{
    static const char text[] = "{\"origin\":{\"topic\":\"\\u0061\\/\\\"\\\\\\u00e4\\ud83e\\uddc0\\b\"},\"target\":{\"encoding\":\"base64\",\"data\":\"\"},"
                               "\"attempt\":4294967295,\"due\":-9223372036854775808,\"not_before\":null}";
    (void)test_state;
    struct buffer room = buffer_new(ROOM_MAX);
    struct letter read;
    enum letter_state state;
    struct error error = {0};
    assert_true(read_text(text, sizeof(text) - 1, &room, &read, &state, &error));
    assert_true(span_equals_text(read.origin.topic, "a/\"\\\xc3\xa4\xf0\x9f\xa7\x80\b"));
    assert_true(span_equals_text(read.target, ""));
    assert_int_equal(read.attempt, UINT32_MAX);
    assert_int_equal(read.due_ms, INT64_MIN);
    buffer_free(&room);
}

static void assert_refused_quickly(const struct buffer *text)
{
    struct buffer room = buffer_new(4 * ROOM_MAX);
    struct letter read;
    enum letter_state state;
    struct error error = {0};
    assert_false(letter_json_read(buffer_span(text), &room, &read, &state, &error));
    assert_int_equal(error.code, ERROR_INVALID);
    buffer_free(&room);
}

static void repeat(struct buffer *text, const char *piece)
{
    while (text->length + strlen(piece) < ROOM_MAX) {
        buffer_add_text(text, piece);
    }
}

static void what_is_made_to_hurt_is_refused(void **state)
{
    static const char *const pieces[] = {"[", "{\"a\":", "[],", "1,", "\"\",", "\\", "{\"value\":", "-", "0", "\"\\"};
    (void)state;
    for (size_t i = 0; i < sizeof(pieces) / sizeof(pieces[0]); i++) {
        struct buffer text = buffer_new(2 * ROOM_MAX);
        repeat(&text, pieces[i]);
        assert_refused_quickly(&text);
        buffer_clear(&text);
        buffer_add_text(&text, "{\"headers\":[");
        repeat(&text, pieces[i]);
        assert_refused_quickly(&text);
        buffer_free(&text);
    }
}

static void too_little_room_is_said(void **test_state)
{
    (void)test_state;
    struct buffer room = buffer_new(strlen(MINIMAL) + LETTER_JSON_ROOM - 1);
    struct letter read;
    enum letter_state state;
    struct error error = {0};
    assert_false(read_text(MINIMAL, strlen(MINIMAL), &room, &read, &state, &error));
    assert_int_equal(error.code, ERROR_FULL);
    buffer_free(&room);
}

/* The worst ratio of what is kept to its text: nothing but the smallest headers. */
static void many_small_headers_fit_the_room(void **test_state)
{
    (void)test_state;
    struct letter letter = sample_letter_plain();
    struct buffer headers = buffer_new(ROOM_MAX);
    struct buffer out = buffer_new(16 * ROOM_MAX);
    for (int i = 0; i < 10000; i++) {
        letter_add_header(&headers, span_of_text(""), SPAN_ABSENT);
    }
    letter.record = (struct letter_record){SPAN_ABSENT, SPAN_ABSENT, buffer_span(&headers)};
    struct error error = {0};
    assert_true(letter_json_write(&out, &letter, LETTER_WAITING, true, &error));
    struct buffer room = buffer_new(out.length + LETTER_JSON_ROOM);
    struct letter read;
    enum letter_state state;
    assert_true(letter_json_read(buffer_span(&out), &room, &read, &state, &error));
    sample_letter_assert_same(&letter, &read);
    buffer_free(&headers);
    buffer_free(&out);
    buffer_free(&room);
}

static void any_text_becomes_a_string(void **state)
{
    (void)state;
    struct buffer out = buffer_new(1000);
    letter_json_add_text(&out, (struct span){(const uint8_t *)"a\0\"\\\n\x1f\x7f\xc2\x85\xff\xe2\x82z", 13});
    buffer_add(&out, "", 1);
    assert_string_equal((const char *)out.data, "\"a\\u0000\\\"\\\\\\n\\u001f\\u007f\\u0085\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBDz\"");
    buffer_free(&out);
}

static void moments_read_back(void **state)
{
    (void)state;
    struct random random = random_new(7);
    char text[LETTER_TIME_SIZE];
    for (int i = 0; i < 20000; i++) {
        int64_t time_ms = random_between(&random, INT64_C(-62135596800000), INT64_C(253402300799999));
        int64_t read = 0;
        assert_true(letter_time_write(time_ms, text));
        assert_true(letter_time_read(span_of_text(text), &read));
        assert_int_equal(read, time_ms);
    }
}

static void moments_are_right(void **state)
{
    static const struct {
        int64_t time_ms;
        const char *text;
    } cases[] = {
        {0, "1970-01-01T00:00:00.000Z"},
        {-1, "1969-12-31T23:59:59.999Z"},
        {951782400000, "2000-02-29T00:00:00.000Z"},
        {951868799999, "2000-02-29T23:59:59.999Z"},
        {1767225600000, "2026-01-01T00:00:00.000Z"},
        {4107542400000, "2100-03-01T00:00:00.000Z"},
        {4107542399999, "2100-02-28T23:59:59.999Z"},
        {INT64_C(-62135596800000), "0001-01-01T00:00:00.000Z"},
        {INT64_C(253402300799999), "9999-12-31T23:59:59.999Z"},
    };
    static const char *const wrong[] = {"", "2026-01-01T00:00:00Z", "2026-01-01t00:00:00.000Z", "2026-01-01T00:00:00.000+00:00", "2026-13-01T00:00:00.000Z",
                                        "2026-00-01T00:00:00.000Z", "2025-02-29T00:00:00.000Z", "2100-02-29T00:00:00.000Z", "2026-01-00T00:00:00.000Z",
                                        "2026-01-01T24:00:00.000Z", "2026-01-01T00:60:00.000Z", "2026-01-01T00:00:60.000Z", "0000-01-01T00:00:00.000Z",
                                        "2026-01-01T00:00:00.000Z ", "2026-01-32T00:00:00.000Z"};
    (void)state;
    char text[LETTER_TIME_SIZE];
    int64_t read = 0;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        assert_true(letter_time_write(cases[i].time_ms, text));
        assert_string_equal(text, cases[i].text);
        assert_true(letter_time_read(span_of_text(text), &read));
        assert_int_equal(read, cases[i].time_ms);
    }
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        assert_false(letter_time_read(span_of_text(wrong[i]), &read));
    }
    assert_false(letter_time_read(SPAN_ABSENT, &read));
    assert_false(letter_time_write(INT64_C(253402300800000), text));
    assert_false(letter_time_write(INT64_MIN, text));
    assert_string_equal(text, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_letter_reads_back),
        cmocka_unit_test(it_looks_as_documented),
        cmocka_unit_test(a_full_buffer_is_left_as_it_was),
        cmocka_unit_test(what_is_not_given_has_a_default),
        cmocka_unit_test(what_is_wrong_is_named),
        cmocka_unit_test(texts_with_escapes_are_read),
        cmocka_unit_test(what_is_made_to_hurt_is_refused),
        cmocka_unit_test(too_little_room_is_said),
        cmocka_unit_test(many_small_headers_fit_the_room),
        cmocka_unit_test(any_text_becomes_a_string),
        cmocka_unit_test(moments_read_back),
        cmocka_unit_test(moments_are_right),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
