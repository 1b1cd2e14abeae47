/* Outcomes as JSON, and the latest ones in memory against a list that is searched from its end. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>
#include <cmocka.h>

#include "base/random.h"
#include "dlq/letter_text.h"
#include "ops/history.h"

static const struct history_event delivered = {
    .source_topic = {(const uint8_t *)"delays", 6},
    .source_partition = 3,
    .source_offset = INT64_C(9007199254740993),
    .due_ms = INT64_C(1769860800000),
    .outcome = HISTORY_DELIVERED,
    .at_ms = INT64_C(1769860800004),
    .target = {(const uint8_t *)"orders", 6},
    .target_partition = 0,
    .target_offset = 7,
    .lateness_ms = 4,
};

static void expect_json(const struct history_event *event, const char *expected)
{
    struct buffer out = buffer_new(100000);
    struct error error;
    assert_true(history_json(&out, event, &error));
    buffer_add(&out, "", 1);
    assert_string_equal((const char *)out.data, expected);
    buffer_free(&out);
}

/* ------------------------------------------------------------------------------------------------- JSON */

static void test_json_of_a_delivery(void **state)
{
    (void)state;
    struct history_event event = delivered;
    event.id = span_of_text("order-123");
    expect_json(&event, "{\"id\":\"order-123\",\"source\":{\"topic\":\"delays\",\"partition\":3,\"offset\":9007199254740993},"
                        "\"due\":\"2026-01-31T12:00:00.000Z\",\"outcome\":\"delivered\",\"at\":\"2026-01-31T12:00:00.004Z\","
                        "\"target\":{\"topic\":\"orders\",\"partition\":0,\"offset\":7},\"lateness_ms\":4}");
}

static void test_json_of_what_is_not_known(void **state)
{
    (void)state;
    const struct history_event event = {.source_topic = span_of_text("delays"), .source_offset = -1, .due_ms = -1, .outcome = HISTORY_NOT_FOUND,
                                        .at_ms = INT64_MAX, .target_partition = -1, .target_offset = -1, .lateness_ms = -1};
    expect_json(&event, "{\"id\":null,\"source\":{\"topic\":\"delays\",\"partition\":0,\"offset\":null},\"due\":null,\"outcome\":\"not_found\","
                        "\"at\":9223372036854775807,\"target\":null,\"lateness_ms\":null}");
    struct history_event letter = delivered;
    letter.id = span_of_text("");
    letter.outcome = HISTORY_LETTER;
    letter.due_ms = INT64_MIN;
    letter.target_partition = -1;
    letter.target_offset = -1;
    letter.lateness_ms = -1;
    expect_json(&letter, "{\"id\":\"\",\"source\":{\"topic\":\"delays\",\"partition\":3,\"offset\":9007199254740993},\"due\":-9223372036854775808,"
                         "\"outcome\":\"letter\",\"at\":\"2026-01-31T12:00:00.004Z\",\"target\":{\"topic\":\"orders\",\"partition\":null,\"offset\":null},"
                         "\"lateness_ms\":null}");
}

/* Whatever an id is made of, the JSON says exactly that. */
static void expect_id(struct span id)
{
    struct history_event event = delivered;
    struct buffer out = buffer_new(100000);
    struct buffer bytes = buffer_new(100000);
    struct error error;
    event.id = id;
    assert_true(history_json(&out, &event, &error));
    assert_null(memchr(out.data, '\n', out.length));
    cJSON *read = cJSON_ParseWithLength((const char *)out.data, out.length);
    if (read == NULL) {
        fail_msg("no JSON: %.*s", (int)out.length, (const char *)out.data);
    }
    const char *text = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(read, "id"));
    const char *encoding = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(read, "id_encoding"));
    assert_non_null(text);
    if (encoding == NULL) {
        buffer_add_text(&bytes, text);
    } else {
        assert_string_equal(encoding, "base64");
        assert_true(letter_text_decode_base64(&bytes, span_of_text(text)));
    }
    assert_int_equal(bytes.length, id.length);
    assert_true(id.length == 0 || memcmp(bytes.data, id.data, id.length) == 0);
    assert_string_equal(cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(read, "outcome")), "delivered");
    cJSON_Delete(read);
    buffer_free(&bytes);
    buffer_free(&out);
}

static void test_json_has_any_id(void **state)
{
    (void)state;
    uint8_t bytes[64];
    for (int byte = 0; byte < 256; byte++) {
        bytes[0] = (uint8_t)byte;
        expect_id((struct span){bytes, 1});
    }
    struct random random = random_new(1);
    for (size_t i = 0; i < 2000; i++) {
        size_t length = (size_t)random_below(&random, sizeof bytes);
        random_fill(&random, bytes, length);
        for (size_t k = 0; i % 2 == 0 && k < length; k++) {
            bytes[k] &= 0x7f;
        }
        expect_id((struct span){bytes, length});
    }
    const char *const words[] = {"", "a\"b\\c", "tab\tline\nend\r", "\xc3\xa4\xe2\x82\xac\xf0\x9f\x90\xa2", "\xc3", "\xed\xa0\x80", "</script>"};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        expect_id(span_of_text(words[i]));
    }
    struct history_event event = delivered;
    event.id = (struct span){(const uint8_t *)"\xff\x00", 2};
    struct buffer out = buffer_new(1000);
    assert_true(history_json(&out, &event, NULL));
    const char *begin = "{\"id\":\"/wA=\",\"id_encoding\":\"base64\",\"source\":";
    assert_int_equal(memcmp(out.data, begin, strlen(begin)), 0);
    buffer_free(&out);
}

static void test_json_that_does_not_fit(void **state)
{
    (void)state;
    struct history_event event = delivered;
    struct error error;
    struct buffer whole = buffer_new(100000);
    event.id = span_of_text("order-123");
    assert_true(history_json(&whole, &event, &error));
    for (size_t room = 0; room < whole.length; room++) {
        struct buffer out = buffer_new(room + 1);
        buffer_add_text(&out, "x");
        assert_false(history_json(&out, &event, &error));
        assert_int_equal(error.code, ERROR_FULL);
        assert_int_equal(out.length, 1);
        buffer_free(&out);
    }
    buffer_free(&whole);
}

static void test_each_outcome_has_a_name_of_its_own(void **state)
{
    (void)state;
    for (int i = 0; i < HISTORY_OUTCOMES; i++) {
        const char *name = history_outcome_name((enum history_outcome)i);
        assert_non_null(name);
        assert_int_equal(strspn(name, "abcdefghijklmnopqrstuvwxyz_"), strlen(name));
        for (int k = 0; k < i; k++) {
            assert_string_not_equal(name, history_outcome_name((enum history_outcome)k));
        }
    }
}

/* ------------------------------------------------------------------------------------------------- the latest ones */

static void add(struct history *history, struct span id, int64_t offset)
{
    struct history_event event = delivered;
    event.id = id;
    event.source_offset = offset;
    history_add(history, &event);
}

static void expect_size(const struct history *history, size_t expected)
{
    size_t events = 0;
    uint64_t bytes = 0;
    history_size(history, &events, &bytes);
    assert_int_equal(events, expected);
    assert_true((bytes == 0) == (events == 0));
}

static void test_newest_first(void **state)
{
    (void)state;
    struct history *history = history_new(100, 1000000);
    struct history_event events[3];
    char text[8] = "order";
    assert_int_equal(history_state(history, span_of_text("order"), events, 3), 0);
    expect_size(history, 0);
    for (int64_t offset = 0; offset < 5; offset++) {
        add(history, span_of_text(text), offset);
        add(history, span_of_text("other"), 100 + offset);
    }
    memset(text, 'x', sizeof text - 1); /* copied, not borrowed */
    assert_int_equal(history_state(history, span_of_text("order"), events, 3), 3);
    for (int64_t i = 0; i < 3; i++) {
        assert_int_equal(events[i].source_offset, 4 - i);
        assert_true(span_equals_text(events[i].id, "order"));
        assert_true(span_equals_text(events[i].source_topic, "delays"));
        assert_true(span_equals_text(events[i].target, "orders"));
        assert_int_equal(events[i].at_ms, delivered.at_ms);
    }
    assert_int_equal(history_state(history, span_of_text("order"), events, 0), 0);
    assert_int_equal(history_state(history, span_of_text("orde"), events, 3), 0);
    assert_int_equal(history_state(history, span_of_text(""), events, 3), 0);
    expect_size(history, 10);
    history_free(history);
    history_free(NULL);
}

static void test_what_has_no_id_is_not_kept(void **state)
{
    (void)state;
    struct history *history = history_new(10, 1000000);
    struct history_event event;
    add(history, SPAN_ABSENT, 1);
    expect_size(history, 0);
    assert_int_equal(history_state(history, SPAN_ABSENT, &event, 1), 0);
    add(history, span_of_text(""), 2); /* empty is one */
    assert_int_equal(history_state(history, span_of_text(""), &event, 1), 1);
    assert_int_equal(event.source_offset, 2);
    struct history_event bare = {.id = span_of_text("bare"), .outcome = HISTORY_CANCELLED};
    history_add(history, &bare);
    assert_int_equal(history_state(history, span_of_text("bare"), &event, 1), 1);
    assert_null(event.target.data);
    assert_null(event.source_topic.data);
    history_free(history);
}

static void test_bytes_are_bounded(void **state)
{
    (void)state;
    struct history *history = history_new(HISTORY_EVENTS_MAX, HISTORY_BYTES_MAX);
    uint8_t id[4096];
    size_t events = 0;
    uint64_t bytes = 0;
    memset(id, 'i', sizeof id);
    for (uint32_t i = 0; i < 10000; i++) {
        memcpy(id, &i, sizeof i);
        add(history, (struct span){id, sizeof id}, i);
        history_size(history, &events, &bytes);
        assert_true(bytes <= HISTORY_BYTES_MAX);
    }
    assert_true(events > 3500 && events < 4096); /* 16 MiB of them, and not one less than there is room for */
    assert_true(bytes > HISTORY_BYTES_MAX - 5000);
    struct history_event event;
    for (uint32_t i = 0; i < 10000; i++) {
        memcpy(id, &i, sizeof i);
        assert_int_equal(history_state(history, (struct span){id, sizeof id}, &event, 1), i >= 10000 - events); /* the oldest have gone */
    }
    for (uint32_t i = 0; i < HISTORY_EVENTS_MAX + 5; i++) { /* and small ones by their number */
        add(history, (struct span){(const uint8_t *)&i, sizeof i}, i);
    }
    expect_size(history, HISTORY_EVENTS_MAX);
    history_free(history);
}

static void test_larger_than_all(void **state)
{
    (void)state;
    struct history *history = history_new(10, 1000);
    static const uint8_t id[2000];
    add(history, span_of_text("a"), 1);
    add(history, (struct span){id, sizeof id}, 2);
    expect_size(history, 1);
    history_free(history);
}

#define MODEL_EVENTS 3000

/* Every id's events after every step, against all that was ever added. */
static void compare(uint64_t seed, size_t events_max, uint32_t ids)
{
    static uint32_t added[MODEL_EVENTS];
    struct history *history = history_new(events_max, 100000000);
    struct history_event events[64];
    struct random random = random_new(seed);
    for (size_t count = 0; count < MODEL_EVENTS; count++) {
        uint32_t id = random_below(&random, 4) == 0 ? 0 : (uint32_t)random_below(&random, ids); /* one of them is hot */
        added[count] = id;
        add(history, (struct span){(const uint8_t *)&id, sizeof id}, (int64_t)count);
        uint32_t asked = (uint32_t)random_below(&random, ids);
        size_t got = history_state(history, (struct span){(const uint8_t *)&asked, sizeof asked}, events, 64);
        size_t found = 0;
        for (size_t i = count + 1; i > 0 && count + 1 - i < events_max && found < 64; i--) {
            if (added[i - 1] == asked) {
                assert_true(found < got);
                assert_int_equal(events[found].source_offset, i - 1);
                found++;
            }
        }
        assert_int_equal(found, got);
        expect_size(history, count + 1 < events_max ? count + 1 : events_max);
    }
    history_free(history);
}

static void test_against_a_list(void **state)
{
    (void)state;
    const size_t sizes[] = {1, 2, 7, 100, 2999, 5000};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        compare(i + 1, sizes[i], 5);
        compare(i + 100, sizes[i], 200);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_json_of_a_delivery),
        cmocka_unit_test(test_json_of_what_is_not_known),
        cmocka_unit_test(test_json_has_any_id),
        cmocka_unit_test(test_json_that_does_not_fit),
        cmocka_unit_test(test_each_outcome_has_a_name_of_its_own),
        cmocka_unit_test(test_newest_first),
        cmocka_unit_test(test_what_has_no_id_is_not_kept),
        cmocka_unit_test(test_bytes_are_bounded),
        cmocka_unit_test(test_larger_than_all),
        cmocka_unit_test(test_against_a_list),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
