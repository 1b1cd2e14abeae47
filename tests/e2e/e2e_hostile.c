/* Every bad form becomes a dead letter, whole and with its reason, once; its neighbours are on time. */
#include <inttypes.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <setjmp.h>

#include <cmocka.h>

#include "base/memory.h"
#include "tests/support/await.h"
#include "tests/support/scene.h"
#include "tests/support/scene_letters.h"

#define BAD_HEADERS_MAX 4
#define NEIGHBOUR_DELAY_MS 1500
#define ON_TIME_MS 3000
#define DEEP 100000
#define LONG_ID 5000

struct bad {
    const char
        *headers[BAD_HEADERS_MAX]; /* "name=value"; the value "<null>" stands for a null, "<long>" for LONG_ID bytes */
    const char *value;             /* "<deep>": DEEP brackets */
    size_t value_length;           /* 0: up to the NUL */
    const char *reasons;           /* those that are right, each between bars */
};

#define BAD_TIME_HEADER(text)                                                                                          \
    {                                                                                                                  \
        {"tarry-delay=" text}, "x", 0, "|bad_time|"                                                                    \
    }

/* -------------------------------------------------------------------------------------------------- headers */

static const struct bad bad_headers[] = {
    {{NULL}, "x", 0, "|no_time|"},
    BAD_TIME_HEADER("soon"),
    BAD_TIME_HEADER(""),
    BAD_TIME_HEADER("1.5"),
    BAD_TIME_HEADER("-5"),
    BAD_TIME_HEADER("+5"),
    BAD_TIME_HEADER(" 5"),
    BAD_TIME_HEADER("5 "),
    BAD_TIME_HEADER("1e9"),
    BAD_TIME_HEADER("0x10"),
    BAD_TIME_HEADER("<null>"),
    BAD_TIME_HEADER("5x"),
    BAD_TIME_HEADER("h"),
    BAD_TIME_HEADER("18446744073709551616"),
    BAD_TIME_HEADER("99999999999999999999999999999999"),
    {{"tarry-delay=9223372036854775807"}, "x", 0, "|bad_time|too_far|"},
    {{"delay_ms=1e3"}, "x", 0, "|bad_time|"},
    {{"tarry-delay=1000", "tarry-delay=60000"}, "x", 0, "|ambiguous|"},
    {{"tarry-delay=1000", "delay_ms=1000"}, "x", 0, "|ambiguous|"},
    {{"tarry-delay=1000", "tarry-at=2026-12-01T00:00:00Z"}, "x", 0, "|ambiguous|"},
    {{"tarry-delay=1000", "tarry-id=a", "tarry-id=a"}, "x", 0, "|ambiguous|"},
    {{"tarry-at=1790000000"}, "x", 0, "|seconds|"},
    {{"tarry-at=tomorrow"}, "x", 0, "|bad_time|"},
    {{"tarry-at=2026-12-01T00:00:00"}, "x", 0, "|bad_time|"},
    {{"tarry-at=2026-02-30T00:00:00Z"}, "x", 0, "|bad_time|"},
    {{"tarry-at=9999-01-01T00:00:00Z"}, "x", 0, "|too_far|"},
    {{"tarry-delay=400d"}, "x", 0, "|too_far|"},
    {{"tarry-delay=1000", "tarry-topic="}, "x", 0, "|bad_target|"},
    {{"tarry-delay=1000", "tarry-topic=a topic"}, "x", 0, "|bad_target|"},
    {{"tarry-delay=1000", "tarry-topic=.."}, "x", 0, "|bad_target|"},
    {{"tarry-delay=1000", "tarry-topic=nobody-allowed-this"}, "x", 0, "|target_not_allowed|"},
    {{"tarry-delay=1000", "tarry-partition=one"}, "x", 0, "|bad_target|"},
    {{"tarry-delay=1000", "tarry-id="}, "x", 0, "|bad_id|"},
    {{"tarry-delay=1000", "tarry-id=<long>"}, "x", 0, "|bad_id|"},
    {{"tarry-cron=* * * * *"}, "x", 0, "|bad_id|"},
    {{"tarry-every=5s"}, "x", 0, "|bad_id|"},
    {{"tarry-delay=1000", "tarry-action=cancel"}, "x", 0, "|bad_id|"},
    {{"tarry-delay=1000", "tarry-if-exists=reject"}, "x", 0, "|bad_id|"},
    {{"tarry-delay=1000", "tarry-id=a", "tarry-action=end"}, "x", 0, "|unsupported|"},
    {{"tarry-delay=1000", "tarry-expires=1h"}, "x", 0, "|bad_time|"},
    {{"tarry-id=a", "tarry-cron=* * * *"}, "x", 0, "|bad_schedule|"},
    {{"tarry-id=a", "tarry-cron=61 * * * *"}, "x", 0, "|bad_schedule|"},
    {{"tarry-id=a", "tarry-cron=0 0 30 2 *"}, "x", 0, "|bad_schedule|"},
    {{"tarry-id=a", "tarry-cron=@every 5s"}, "x", 0, "|bad_schedule|"},
    {{"tarry-id=a", "tarry-cron=<null>"}, "x", 0, "|bad_schedule|"},
    {{"tarry-id=a", "tarry-cron=<long>"}, "x", 0, "|bad_schedule|"},
    {{"tarry-id=a", "tarry-cron=* * * * *", "tarry-tz=../../etc/passwd"}, "x", 0, "|bad_schedule|"},
    {{"tarry-id=a", "tarry-cron=* * * * *", "tarry-tz=Europe/Atlantis"}, "x", 0, "|bad_schedule|"},
    {{"tarry-id=a", "tarry-every=999ms"}, "x", 0, "|bad_schedule|"},
    {{"tarry-id=a", "tarry-every=1s", "tarry-count=0"}, "x", 0, "|bad_schedule|"},
};

/* ------------------------------------------------------------------------------------------------- envelopes */

#define BAD_ENVELOPE(text)                                                                                             \
    {                                                                                                                  \
        {NULL}, text, sizeof(text) - 1, "|bad_envelope|"                                                               \
    }
#define BAD_ENVELOPE_TIME(text)                                                                                        \
    {                                                                                                                  \
        {NULL}, "{\"payload\":1,\"delay_ms\":" text "}", 0, "|bad_time|bad_envelope|"                                  \
    }

static const struct bad bad_envelopes[] = {
    BAD_ENVELOPE("{"),
    BAD_ENVELOPE("not json"),
    BAD_ENVELOPE("[1]"),
    BAD_ENVELOPE("\"text\""),
    BAD_ENVELOPE("7"),
    BAD_ENVELOPE("{\"payload\":1,\"delay_ms\":1}{}"),
    BAD_ENVELOPE("{\"payload\":1,\"delay_ms\":1}\0junk"),
    BAD_ENVELOPE("{\"payload\":1,\"delay_ms\":1} x"),
    BAD_ENVELOPE("\xef\xbb\xbf{\"payload\":1,\"delay_ms\":1}"),
    BAD_ENVELOPE("{\"payload\":1,\"delay_ms\":1000,\"delay_ms\":60000}"),
    BAD_ENVELOPE("{\"payload\":1,\"delay_ms\":1,\"type\":7}"),
    BAD_ENVELOPE("{\"payload\":1,\"delay_ms\":1,}"),
    BAD_ENVELOPE("{\"payload\":\"\xc0\x80\",\"delay_ms\":1}"),
    BAD_ENVELOPE("{\"payload\":\"\xff\",\"delay_ms\":1}"),
    BAD_ENVELOPE("{\"payload\":\"\\uzzzz\",\"delay_ms\":1}"),
    BAD_ENVELOPE("{\"payload\":\"\x01\",\"delay_ms\":1}"),
    BAD_ENVELOPE("{\"payload\":01,\"delay_ms\":1}"),
    BAD_ENVELOPE("{'payload':1,'delay_ms':1}"),
    {{NULL}, "<deep>", 0, "|bad_envelope|"},
    BAD_ENVELOPE_TIME("1.5"),
    BAD_ENVELOPE_TIME("1e3"),
    BAD_ENVELOPE_TIME("-5"),
    BAD_ENVELOPE_TIME("true"),
    BAD_ENVELOPE_TIME("[]"),
    BAD_ENVELOPE_TIME("\"soon\""),
    BAD_ENVELOPE_TIME("1e400"),
    {{NULL}, "{\"payload\":1,\"delay_ms\":99999999999999}", 0, "|too_far|"},
    {{NULL}, "{\"payload\":1,\"deliver_at\":1790000000}", 0, "|seconds|"},
    {{NULL}, "{\"payload\":1,\"delay_ms\":1,\"deliver_at\":1790000000000}", 0, "|ambiguous|"},
    {{"tarry-delay=5000"}, "{\"payload\":1,\"delay_ms\":1}", 0, "|ambiguous|"},
    {{NULL}, "{\"payload\":1}", 0, "|no_time|"},
    {{NULL}, "{\"payload\":1,\"delay_ms\":1,\"target\":\"nobody-allowed-this\"}", 0, "|target_not_allowed|"},
    {{NULL}, "{\"payload\":1,\"delay_ms\":1,\"id\":\"\"}", 0, "|bad_id|bad_envelope|"},
};

/* ---------------------------------------------------------------------------------------- one record, made up */

struct made {
    struct record_header headers[BAD_HEADERS_MAX];
    size_t header_count;
    struct span key;
    struct span value;
    char names[BAD_HEADERS_MAX][64];
    char long_text[LONG_ID];
    char *deep;
};

static struct span special_value(struct made *made, const char *text)
{
    if (strcmp(text, "<null>") == 0) {
        return SPAN_ABSENT;
    }
    return strcmp(text, "<long>") == 0 ? (struct span){(const uint8_t *)made->long_text, LONG_ID} : span_of_text(text);
}

static void make(struct made *made, const struct bad *bad)
{
    memset(made, 0, sizeof(*made));
    memset(made->long_text, 'i', LONG_ID);
    made->key = span_of_text("bad");
    for (size_t i = 0; i < BAD_HEADERS_MAX && bad->headers[i] != NULL; i++) {
        const char *middle = strchr(bad->headers[i], '=');
        snprintf(made->names[i], sizeof(made->names[i]), "%.*s", (int)(middle - bad->headers[i]), bad->headers[i]);
        made->headers[made->header_count++] =
            (struct record_header){span_of_text(made->names[i]), special_value(made, middle + 1)};
    }
    if (strcmp(bad->value, "<deep>") == 0) {
        made->deep = memory_new(DEEP, 1);
        memset(made->deep, '[', DEEP);
        made->value = (struct span){(const uint8_t *)made->deep, DEEP};
        return;
    }
    size_t length = bad->value_length == 0 ? strlen(bad->value) : bad->value_length;
    made->value = (struct span){(const uint8_t *)bad->value, length};
}

static void send_bad(struct scene *scene, const struct bad *bad)
{
    struct made made;
    make(&made, bad);
    kafka_client_produce(
        scene->producer, scene->in,
        &(struct kafka_client_output){
            .key = made.key, .value = made.value, .headers = made.headers, .header_count = made.header_count});
    scene->next_offset[0]++;
    free(made.deep);
}

/* The letter holds the record whole: key, value, its own headers, and nothing else. */
static void check_letter(const struct scene *scene, const struct bad *bad, const struct scene_letter *item)
{
    const struct letter *letter = &item->letter;
    struct made made;
    char text[64];
    make(&made, bad);
    scene_letters_assert_record(item, made.key, made.value, made.headers, made.header_count);
    assert_true(span_equals_text(letter->origin.topic, scene->in));
    assert_true(span_equals_text(letter->group, scene->prefix));
    assert_null(letter->target.data);
    snprintf(text, sizeof(text), "|%s|", letter_reason_name(letter->reason));
    if (strstr(bad->reasons, text) == NULL) {
        fail_msg("offset %" PRId64 " (%s, value %.60s): reason %s, not one of %s", letter->origin.offset, bad->headers[0], bad->value, text,
                 bad->reasons);
    }
    assert_true(letter->error.length > 5);
    free(made.deep);
}

static void check_letters(struct scene *scene, const struct bad *bad, size_t count)
{
    struct scene_letters letters = scene_letters_read(scene, LETTER_PARKED);
    bool *seen = memory_new(count, sizeof(*seen));
    assert_int_equal(letters.count, count);
    for (size_t i = 0; i < count; i++) {
        int64_t offset = letters.items[i].letter.origin.offset;
        assert_true(offset >= 0 && offset % 2 == 0 && offset / 2 < (int64_t)count); /* every other record was a neighbour */
        assert_false(seen[offset / 2]);
        seen[offset / 2] = true;
        check_letter(scene, &bad[offset / 2], &letters.items[i]);
    }
    free(seen);
    scene_letters_free(&letters);
}

struct expected {
    struct scene *scene;
    double refused;
};

static bool refused_reached(void *context)
{
    struct expected *expected = context;
    return tarry_process_metric(expected->scene->process, "tarry_records_refused_total", NULL) >= expected->refused;
}

static void
all_refused(struct scene *scene, const struct bad *bad, size_t count, const char *delay_header, const char *good_value)
{
    scene_start(scene);
    for (size_t i = 0; i < count; i++) {
        send_bad(scene, &bad[i]);
        scene_send(scene, &(struct scene_event){.delay_ms = NEIGHBOUR_DELAY_MS,
                                                .delay_header = delay_header,
                                                .ordered = true,
                                                .value = span_of_text(good_value),
                                                .payload = span_of_text("1")});
    }
    scene_flush(scene);
    assert_true(scene_await_all(scene, 30000));
    assert_true(ledger_lateness_max_ms(scene->ledger) < ON_TIME_MS);
    assert_true(await_condition(refused_reached, &(struct expected){scene, (double)count}, 10000));
    scene_stop(scene);
    check_letters(scene, bad, count);
    scene_start(scene); /* none comes a second time */
    scene_finish(scene, 1000, false);
}

static void bad_headers_become_letters(void **state)
{
    (void)state;
    struct scene *scene = scene_open("hostile", &(struct scene_options){.partitions = 1, .letters = true});
    all_refused(scene, bad_headers, sizeof(bad_headers) / sizeof(bad_headers[0]), NULL, "1");
}

static void bad_envelopes_become_letters(void **state)
{
    (void)state;
    struct scene *scene = scene_open("envelope", &(struct scene_options){.source = "envelope: true", .letters = true});
    all_refused(scene, bad_envelopes, sizeof(bad_envelopes) / sizeof(bad_envelopes[0]), "",
                "{\"type\":\"UNROUTED\",\"delay_ms\":1500,\"payload\":1}");
}

/* -------------------------------------------------------------------------------------------- other hard cases */

static void too_large_for_its_target(void **state)
{
    (void)state;
    struct scene *scene =
        scene_open("large", &(struct scene_options){.targets = "[{name: small, match: \"@-small\", retry: {max_deliver: 0}}]", .letters = true});
    static const char *const small[] = {"max.message.bytes=1000", NULL};
    char target[SCENE_NAME_MAX + 8];
    char value[5000];
    memset(value, 'v', sizeof(value));
    snprintf(target, sizeof(target), "%s-small", scene->prefix);
    kafka_topics_create(scene->bootstrap, target, 1, small);
    struct record_header control[] = {{span_of_text("tarry-topic"), span_of_text(target)},
                                      {span_of_text("tarry-delay"), span_of_text("500")}};
    scene_start(scene);
    kafka_client_produce(scene->producer, scene->in,
                         &(struct kafka_client_output){
                             .value = {(const uint8_t *)value, sizeof(value)}, .headers = control, .header_count = 2});
    scene->next_offset[0]++;
    scene_send_delay(scene, 0, 1000, true);
    scene_flush(scene);
    assert_true(scene_await_all(scene, 20000));
    struct scene_letters letters = scene_letters_await(scene, LETTER_PARKED, 1, 10000);
    assert_int_equal(letters.items[0].letter.reason, LETTER_REASON_TOO_LARGE);
    assert_int_equal(letters.items[0].letter.record.value.length, sizeof(value));
    scene_letters_free(&letters);
    assert_true(await_condition(refused_reached, &(struct expected){scene, 1}, 5000));
    scene_finish(scene, 1000, false);
}

/* 2^31 - 1, 2^31 and 2^32 ms are delays like others: nothing wraps and nothing fires now. */
static void long_delays_do_not_wrap(void **state)
{
    (void)state;
    struct scene *scene = scene_open("long", &(struct scene_options){.partitions = 1});
    scene_start(scene);
    scene_send_delay(scene, 0, INT32_MAX, false);
    scene_send_delay(scene, 0, (int64_t)INT32_MAX + 1, false);
    scene_send_delay(scene, 0, (int64_t)UINT32_MAX + 1, false);
    scene_send_delay(scene, 0, 2000, false);
    scene_flush(scene);
    assert_true(scene_await_count(scene, 1, 10000));
    scene_stop(scene);
    scene_start(scene);
    await_pause_ms(1000);
    scene_assert_none_refused(scene);
    scene_stop(scene);
    scene_read(scene);
    assert_int_equal(ledger_received_count(scene->ledger), 1);
    assert_int_equal(ledger_repeat_count(scene->ledger), 0);
    scene_close(scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(bad_headers_become_letters, scene_teardown),
        cmocka_unit_test_teardown(bad_envelopes_become_letters, scene_teardown),
        cmocka_unit_test_teardown(too_large_for_its_target, scene_teardown),
        cmocka_unit_test_teardown(long_delays_do_not_wrap, scene_teardown),
    };
    return cmocka_run_group_tests(tests, scene_group_setup, scene_group_teardown);
}
