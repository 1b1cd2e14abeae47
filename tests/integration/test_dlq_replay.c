/* `tarry dlq replay`, the program, with a real Kafka and a real nats-server: what it sends, in which order, what it leaves. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/kafka_topics.h"
#include "tests/support/replay_scene.h"

static struct replay_scene *const scene = &replay_scene_shared;

static void add(struct buffer *headers, const char *name, const char *value)
{
    letter_add_header(headers, span_of_text(name), value == NULL ? SPAN_ABSENT : span_of_text(value));
}

static void assert_header(const struct kafka_client_record *record, size_t nth, const char *name, struct span value)
{
    assert_true(nth < record->record.header_count);
    assert_true(span_equals_text(record->record.headers[nth].name, name));
    assert_true(span_equal(record->record.headers[nth].value, value));
}

/* ------------------------------------------------------------------------------------------------------- what goes */

static void a_dry_run_says_what_it_would_do_and_does_nothing(void **state)
{
    (void)state;
    replay_scene_topic(scene, "dry", 1, NULL);
    replay_scene_fill(scene, "dry", 0, 3, LETTER_PARKED);
    replay_scene_fill(scene, "dry", 3, 2, LETTER_WAITING);
    assert_int_equal(replay_scene_run(scene, "replay"), 0);
    assert_int_equal(replay_scene_number(scene, "letters"), 3);
    assert_non_null(strstr(scene->output, "\"targets\":[{\"target\":\"dry\",\"to\":\"dry\",\"letters\":3}]"));
    assert_non_null(strstr(scene->output, "\"example\":{\"id\":\""));
    assert_int_equal(replay_scene_run(scene, "replay --to dry2 -o table"), 0);
    assert_non_null(strstr(scene->output, "would replay 3 letters"));
    assert_non_null(strstr(scene->output, "nothing was done"));
    assert_int_equal(replay_scene_parked(scene), 3);
    assert_int_equal(replay_scene_waiting(scene), 2);
    struct kafka_client_records records = replay_scene_records(scene, "dry");
    assert_int_equal(records.count, 0);
    kafka_client_records_free(&records);
    assert_int_equal(nats_client_consumers(scene->client, "TARRY_PARKED"), 0);
    assert_int_equal(nats_client_count(scene->client, "TARRY_DLQ_JOBS", NULL), 0);
}

static void waiting_letters_are_the_daemons_until_they_are_parked(void **state)
{
    (void)state;
    replay_scene_topic(scene, "waiting", 1, NULL);
    replay_scene_fill(scene, "waiting", 0, 3, LETTER_WAITING);
    assert_int_equal(replay_scene_run(scene, "replay --state waiting"), 2);
    assert_int_equal(replay_scene_run(scene, "replay --state parked --state waiting --execute"), 2);
    assert_non_null(strstr(scene->errors, "park them first"));
    assert_int_equal(replay_scene_waiting(scene), 3);
    assert_int_equal(replay_scene_run(scene, "park --target waiting --execute"), 0);
    assert_int_equal(replay_scene_run(scene, "replay --target waiting --execute"), 0);
    assert_int_equal(replay_scene_number(scene, "replayed"), 3);
    assert_int_equal(replay_scene_waiting(scene) + replay_scene_parked(scene), 0);
    struct kafka_client_records records = replay_scene_records(scene, "waiting");
    assert_int_equal(records.count, 3);
    kafka_client_records_free(&records);
}

static void a_replay_keeps_key_value_and_headers(void **state)
{
    (void)state;
    static const uint8_t binary[] = {0x1b, '[', '2', 'J', 0, 0xff, 0xfe, '\r', '\n'};
    struct span bytes = {binary, sizeof binary};
    struct buffer headers = buffer_new(10000);
    add(&headers, "a", "1");
    add(&headers, "__dlq.errors.message", "an older failure");
    add(&headers, "a", "2");
    add(&headers, "null", NULL);
    add(&headers, "empty", "");
    letter_add_header(&headers, span_of_text("binary"), bytes);
    add(&headers, "kafka_dlt-exception-message", "another");
    add(&headers, "tarry-redelivery", "3");
    add(&headers, "delay_ms", "60000");
    replay_scene_topic(scene, "whole", 3, NULL);
    struct letter letter = replay_scene_letter("whole", 7);
    letter.record.key = bytes;
    letter.record.value = bytes;
    letter.record.headers = buffer_span(&headers);
    letter.target_partition = 2;
    replay_scene_post(scene, &letter, LETTER_PARKED);
    letter = replay_scene_letter("whole", 8);
    letter.record.key = SPAN_ABSENT;
    letter.record.value = SPAN_ABSENT;
    letter.target_partition = 1;
    replay_scene_post(scene, &letter, LETTER_PARKED);
    assert_int_equal(replay_scene_run(scene, "replay --target whole --execute"), 0);
    assert_int_equal(replay_scene_number(scene, "replayed"), 2);
    assert_int_equal(replay_scene_parked(scene), 0);
    struct kafka_client_records records = replay_scene_records(scene, "whole");
    assert_int_equal(records.count, 2);
    const struct kafka_client_record *null = records.items[0].partition == 1 ? &records.items[0] : &records.items[1];
    const struct kafka_client_record *whole = records.items[0].partition == 1 ? &records.items[1] : &records.items[0];
    assert_int_equal(null->partition, 1);
    assert_null(null->record.key.data);
    assert_null(null->record.value.data);
    assert_int_equal(whole->partition, 2);
    assert_true(span_equal(whole->record.key, bytes));
    assert_true(span_equal(whole->record.value, bytes));
    assert_header(whole, 0, "a", span_of_text("1"));
    assert_header(whole, 1, "a", span_of_text("2"));
    assert_header(whole, 2, "null", SPAN_ABSENT);
    assert_header(whole, 3, "empty", span_of_text(""));
    assert_header(whole, 4, "binary", bytes);
    assert_header(whole, 5, "delay_ms", span_of_text("60000"));
    assert_header(whole, 6, "__dlq.errors.topic", span_of_text("delays"));
    assert_header(whole, 7, "__dlq.errors.partition", span_of_text("0"));
    assert_header(whole, 8, "__dlq.errors.offset", span_of_text("7"));
    assert_header(whole, 9, "__dlq.errors.group", span_of_text("tarry"));
    assert_header(whole, 10, "__dlq.errors.message", span_of_text("the topic does not exist"));
    assert_header(whole, 11, "tarry-replays", span_of_text("1"));
    assert_int_equal(whole->record.header_count, 12);
    kafka_client_records_free(&records);
    buffer_free(&headers);
}

static void another_topic_and_headers_can_be_given(void **state)
{
    (void)state;
    struct buffer headers = buffer_new(10000);
    replay_scene_topic(scene, "elsewhere", 1, NULL);
    add(&headers, "a", "1");
    add(&headers, "b", "2");
    add(&headers, "a", "3");
    struct letter letter = replay_scene_letter("nowhere", 1);
    letter.record.headers = buffer_span(&headers);
    letter.target_partition = 5;
    replay_scene_post(scene, &letter, LETTER_PARKED);
    assert_int_equal(replay_scene_run(scene, "replay --to elsewhere --set-header 'a=x y' --set-header c= --execute"), 0);
    struct kafka_client_records records = replay_scene_records(scene, "elsewhere");
    assert_int_equal(records.count, 1);
    assert_header(&records.items[0], 0, "b", span_of_text("2"));
    assert_int_equal(kafka_client_header_count(&records.items[0], "a"), 1);
    assert_string_equal(kafka_client_header_text(&records.items[0], "a"), "x y");
    assert_string_equal(kafka_client_header_text(&records.items[0], "c"), "");
    kafka_client_records_free(&records);
    buffer_free(&headers);
}

static void a_delay_goes_by_way_of_the_delay_topic(void **state)
{
    (void)state;
    struct buffer headers = buffer_new(10000);
    add(&headers, "tarry-id", "order-1");
    add(&headers, "tarry-due", "123");
    add(&headers, "mine", "yes");
    struct letter letter = replay_scene_letter("late", 1);
    letter.record.headers = buffer_span(&headers);
    letter.schedule_id = span_of_text("order-1");
    letter.target_partition = 3;
    replay_scene_post(scene, &letter, LETTER_PARKED);
    /* A refused one names no target: it goes back to where it came from, with what it asked for. */
    buffer_clear(&headers);
    add(&headers, "tarry-at", "yesterday");
    add(&headers, "tarry-topic", "late");
    struct letter refused = replay_scene_letter("late", 2);
    refused.target = SPAN_ABSENT;
    refused.record.headers = buffer_span(&headers);
    replay_scene_post(scene, &refused, LETTER_PARKED);
    assert_int_equal(replay_scene_run(scene, "replay --delay 90s --execute"), 0);
    struct kafka_client_records records = replay_scene_records(scene, "delays");
    assert_int_equal(records.count, 2);
    const struct kafka_client_record *first = &records.items[0];
    assert_string_equal(kafka_client_header_text(first, "tarry-delay"), "90000");
    assert_string_equal(kafka_client_header_text(first, "tarry-topic"), "late");
    assert_string_equal(kafka_client_header_text(first, "tarry-partition"), "3");
    assert_string_equal(kafka_client_header_text(first, "tarry-id"), letter.id); /* as order-1 it would replace what is pending of that id */
    assert_string_equal(kafka_client_header_text(first, "mine"), "yes");
    assert_string_equal(kafka_client_header_text(first, "tarry-replays"), "1");
    assert_null(kafka_client_header_text(first, "tarry-due"));
    assert_string_equal(kafka_client_header_text(&records.items[1], "tarry-delay"), "90000");
    assert_string_equal(kafka_client_header_text(&records.items[1], "tarry-topic"), "late");
    assert_null(kafka_client_header_text(&records.items[1], "tarry-at"));
    kafka_client_records_free(&records);
    buffer_free(&headers);
}

static void order_is_kept_for_each_key(void **state)
{
    (void)state;
    replay_scene_topic(scene, "ordered", 3, NULL);
    for (unsigned n = 0; n < 100; n++) { /* one after the other: in known order */
        struct letter letter = replay_scene_letter("ordered", n);
        replay_scene_post(scene, &letter, LETTER_PARKED);
    }
    assert_int_equal(replay_scene_run(scene, "replay --target ordered --execute"), 0);
    struct kafka_client_records records = replay_scene_records(scene, "ordered");
    assert_int_equal(records.count, 100);
    int64_t last[5] = {-1, -1, -1, -1, -1};
    for (size_t i = 0; i < records.count; i++) {
        const struct record *record = &records.items[i].record;
        char text[32];
        snprintf(text, sizeof text, "%.*s", (int)record->value.length, (const char *)record->value.data);
        int64_t n = strtoll(text + strlen("value-"), NULL, 10);
        assert_true(n > last[n % 5]);
        last[n % 5] = n;
    }
    kafka_client_records_free(&records);
    assert_int_equal(replay_scene_parked(scene), 0);
}

static void a_limit_takes_the_first(void **state)
{
    (void)state;
    replay_scene_topic(scene, "limited", 1, NULL);
    replay_scene_fill(scene, "limited", 0, 30, LETTER_PARKED);
    assert_int_equal(replay_scene_run(scene, "replay --limit 7 --execute"), 0);
    assert_int_equal(replay_scene_number(scene, "replayed"), 7);
    assert_int_equal(replay_scene_parked(scene), 23);
    assert_int_equal(replay_scene_run(scene, "replay --id nothing-of-that-id --execute"), 3);
    assert_int_equal(replay_scene_parked(scene), 23);
}

static void many_go_fast_and_all(void **state)
{
    (void)state;
    replay_scene_topic(scene, "many", 3, NULL);
    replay_scene_fill(scene, "many", 0, 10000, LETTER_PARKED);
    assert_int_equal(replay_scene_run(scene, "replay --target many --execute"), 0);
    assert_int_equal(replay_scene_number(scene, "replayed"), 10000);
    assert_int_equal(replay_scene_parked(scene), 0);
    struct kafka_client_records records = replay_scene_records(scene, "many");
    assert_int_equal(records.count, 10000);
    kafka_client_records_free(&records);
}

/* -------------------------------------------------------------------------------------------------- failing again */

/* A topic that takes nothing larger than some bytes, and a letter that is. */
static const char *const narrow[] = {"max.message.bytes=1000", NULL};
static uint8_t large[5000];

static void post_unfit(const char *topic, unsigned n)
{
    struct letter letter = replay_scene_letter(topic, n);
    for (size_t i = 0; i < sizeof large; i++) {
        large[i] = (uint8_t)(i * 131 + i / 251 * 17 + i * i / 7);
    }
    letter.record.value = (struct span){large, sizeof large};
    replay_scene_post(scene, &letter, LETTER_PARKED);
}

static void five_that_fail_again_stay_five(void **state)
{
    (void)state;
    replay_scene_topic(scene, "narrow", 1, narrow);
    for (unsigned n = 0; n < 5; n++) {
        post_unfit("narrow", n);
    }
    for (unsigned round = 1; round <= 3; round++) {
        assert_int_equal(replay_scene_run(scene, "replay --target narrow --execute"), 3);
        assert_int_equal(replay_scene_number(scene, "replayed"), 0);
        assert_int_equal(replay_scene_number(scene, "failed"), 5);
        assert_int_equal(replay_scene_parked(scene), 5);
        struct buffer bytes;
        struct letter letter = replay_scene_read(scene, LETTER_PARKED, 0, &bytes);
        assert_int_equal(letter.replays, round);
        assert_int_equal(letter.attempt, 1);
        assert_true(letter.error.length > 0 && !span_equals_text(letter.error, "the topic does not exist"));
        assert_true(letter.last_failure_ms > letter.first_failure_ms);
        assert_true(span_equal(letter.record.value, (struct span){large, sizeof large}));
        assert_int_equal(letter.reason, LETTER_REASON_UNKNOWN_TARGET);
        buffer_free(&bytes);
    }
    assert_int_equal(replay_scene_run(scene, "replay --target narrow --max-replays 3 --execute"), 3);
    assert_int_equal(replay_scene_number(scene, "failed"), 0);
    assert_int_equal(replay_scene_number(scene, "skipped"), 5);
    assert_int_equal(replay_scene_parked(scene), 5);
}

static void nothing_grows_with_each_round(void **state)
{
    (void)state;
    struct buffer bytes;
    size_t second = 0;
    replay_scene_topic(scene, "rounds", 1, narrow);
    post_unfit("rounds", 1);
    for (unsigned round = 1; round <= 50; round++) {
        assert_int_equal(replay_scene_run(scene, "replay --target rounds --max-replays 100 --execute"), 3);
        assert_int_equal(replay_scene_parked(scene), 1);
        struct letter letter = replay_scene_read(scene, LETTER_PARKED, 0, &bytes);
        assert_int_equal(letter.replays, round);
        second = round == 2 ? bytes.length : second;
        assert_true(round < 2 || bytes.length <= second + 1); /* the number of rounds itself may take a byte more */
        buffer_free(&bytes);
    }
}

static void a_large_record_is_whole_and_leaves_nothing_behind(void **state)
{
    (void)state;
    const char *const wide[] = {"max.message.bytes=10000000", NULL};
    size_t length = 3u << 20;
    uint8_t *value = malloc(length);
    assert_non_null(value);
    for (size_t i = 0; i < length; i++) {
        value[i] = (uint8_t)(i * 2654435761u >> 13);
    }
    replay_scene_topic(scene, "wide", 1, wide);
    struct letter letter = replay_scene_letter("wide", 1);
    letter.record.value = (struct span){value, length};
    replay_scene_post(scene, &letter, LETTER_PARKED);
    replay_scene_fill(scene, "wide", 2, 3, LETTER_PARKED);
    assert_true(replay_scene_large(scene) > 0);
    assert_int_equal(replay_scene_run(scene, "replay --target wide --execute"), 0);
    struct kafka_client_records records = replay_scene_records(scene, "wide");
    assert_int_equal(records.count, 4);
    assert_true(span_equal(records.items[0].record.value, (struct span){value, length}));
    kafka_client_records_free(&records);
    assert_int_equal(replay_scene_parked(scene), 0);
    assert_int_equal(replay_scene_large(scene), 0);
    /* One that fails again keeps its record. */
    letter = replay_scene_letter("narrow", 77);
    letter.record.value = (struct span){value, length};
    replay_scene_post(scene, &letter, LETTER_PARKED);
    assert_int_equal(replay_scene_run(scene, "replay --target narrow --execute"), 3);
    assert_int_equal(replay_scene_parked(scene), 1);
    assert_true(replay_scene_large(scene) > 0);
    assert_int_equal(replay_scene_run(scene, "replay --to wide --execute"), 0);
    assert_int_equal(replay_scene_large(scene), 0);
    records = replay_scene_records(scene, "wide");
    assert_int_equal(records.count, 5);
    assert_true(span_equal(records.items[4].record.value, (struct span){value, length}));
    kafka_client_records_free(&records);
    free(value);
}

static void wrong_flags_are_told(void **state)
{
    (void)state;
    static const char *const wrong[] = {
        "replay --rate 0", "replay --rate fast", "replay --ramp 1m", "replay --spread 1m --rate 5", "replay --stop-after 100%",
        "replay --stop-after x", "replay --max-replays 0", "replay --to a/b", "replay --set-header novalue", "replay --delay 5", "replay --bogus",
        "replay extra", "park --state parked", "purge --execute", "jobs pause", "jobs bogus x",
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        assert_int_equal(replay_scene_run(scene, wrong[i]), 2);
        assert_true(scene->errors[0] != '\0');
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(a_dry_run_says_what_it_would_do_and_does_nothing, replay_scene_fixture_empty),
        cmocka_unit_test_setup(waiting_letters_are_the_daemons_until_they_are_parked, replay_scene_fixture_empty),
        cmocka_unit_test_setup(a_replay_keeps_key_value_and_headers, replay_scene_fixture_empty),
        cmocka_unit_test_setup(another_topic_and_headers_can_be_given, replay_scene_fixture_empty),
        cmocka_unit_test_setup(a_delay_goes_by_way_of_the_delay_topic, replay_scene_fixture_empty),
        cmocka_unit_test_setup(order_is_kept_for_each_key, replay_scene_fixture_empty),
        cmocka_unit_test_setup(a_limit_takes_the_first, replay_scene_fixture_empty),
        cmocka_unit_test_setup(many_go_fast_and_all, replay_scene_fixture_empty),
        cmocka_unit_test_setup(five_that_fail_again_stay_five, replay_scene_fixture_empty),
        cmocka_unit_test_setup(nothing_grows_with_each_round, replay_scene_fixture_empty),
        cmocka_unit_test_setup(a_large_record_is_whole_and_leaves_nothing_behind, replay_scene_fixture_empty),
        cmocka_unit_test_setup(wrong_flags_are_told, replay_scene_fixture_empty),
    };
    return cmocka_run_group_tests(tests, replay_scene_fixture_open, replay_scene_fixture_close);
}
