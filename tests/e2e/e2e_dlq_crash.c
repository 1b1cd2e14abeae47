/*
 * A thousand records at fault, and kill -9 of tarry and of nats-server at every stage of their way: while letters are made, while they are redelivered, while
 * they are delivered at last. None is lost: each ends as a parked letter or in its target. Doubles are those that at_least_once owns up to, and no others.
 */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/await.h"
#include "tests/support/scene_dlq.h"
#include "tests/support/scene_letters.h"

#define RECORDS 1000
#define IN_FLIGHT 256 /* redeliveries that may be under way when tarry is killed: ops/redelivery_state.h */
#define SPREAD_MS 4   /* between two due times: so that a kill meets them at half */
#define SETTLE_MS 60000

#define COMMON                                                                                                                                  \
    .kafka = "consumer: {session.timeout.ms: 4000, heartbeat.interval.ms: 500}", .shared_input = true, .letters = true, .dlq = "retry_later: 1s",     \
    .targets = "[{name: late, match: \"@-late\", retry: {max_deliver: 2, backoff: 4s, factor: 1, jitter: 0}}]"
#define MORE "\nunknown_topic_grace: 300ms\ntransaction_timeout: 5s"

static const struct scene_options at_least_once = {COMMON, .more = "delivery: at_least_once" MORE};
static const struct scene_options exactly_once = {COMMON, .more = "delivery: exactly_once" MORE};

struct crash {
    struct scene *scene;
    struct nats_client *client;
    char topic[SCENE_DLQ_TOPIC_SIZE];
    uint64_t least;
};

static void send_all(struct crash *crash)
{
    for (int i = 0; i < RECORDS; i++) {
        char id[16];
        snprintf(id, sizeof(id), "%d", i);
        scene_send_apart(crash->scene, &(struct scene_event){.delay_ms = 500 + i * SPREAD_MS,
                                                             .target = crash->topic,
                                                             .key = span_of_text(id),
                                                             .value = span_of_text(id),
                                                             .id = span_of_text(id)});
    }
    scene_flush(crash->scene);
}

/* ------------------------------------------------------------------------------------------------- where they are */

/* How often each record stands in a place. */
struct places {
    unsigned waiting[RECORDS];
    unsigned parked[RECORDS];
    unsigned target[RECORDS];
};

static unsigned number_of(struct span id)
{
    char text[16];
    snprintf(text, sizeof(text), "%.*s", (int)id.length, id.data == NULL ? "x" : (const char *)id.data);
    unsigned long number = strtoul(text, NULL, 10);
    assert_true(number < RECORDS);
    return (unsigned)number;
}

static void count_letters(struct crash *crash, enum letter_state state, unsigned *counts)
{
    struct scene_letters letters = scene_letters_read(crash->scene, state);
    for (size_t i = 0; i < letters.count; i++) {
        counts[number_of(letters.items[i].letter.schedule_id)]++;
        assert_true(span_equal(letters.items[i].letter.record.value, letters.items[i].letter.schedule_id));
    }
    scene_letters_free(&letters);
}

static void count_records(struct crash *crash, unsigned *counts)
{
    const char *const topics[] = {crash->topic, NULL};
    struct kafka_client_records records = kafka_client_read_all(crash->scene->bootstrap, topics);
    for (size_t i = 0; i < records.count; i++) {
        counts[number_of(records.items[i].record.value)]++;
        scene_dlq_assert_header(&records.items[i], "tarry-id", kafka_client_header_text(&records.items[i], "tarry-id"));
    }
    kafka_client_records_free(&records);
}

static size_t count_distinct(const unsigned *a, const unsigned *b)
{
    size_t count = 0;
    for (size_t i = 0; i < RECORDS; i++) {
        count += a[i] > 0 || b[i] > 0;
    }
    return count;
}

static size_t count_repeats(const unsigned *counts)
{
    size_t repeats = 0;
    for (size_t i = 0; i < RECORDS; i++) {
        repeats += counts[i] > 1 ? counts[i] - 1 : 0;
    }
    return repeats;
}

static size_t count_in_both(const struct places *places)
{
    size_t count = 0;
    for (size_t i = 0; i < RECORDS; i++) {
        count += places->parked[i] > 0 && places->target[i] > 0;
    }
    return count;
}

/* ------------------------------------------------------------------------------------------------- moments to strike */

static bool are_made(void *context)
{
    const struct crash *crash = context;
    return scene_dlq_count(crash->scene, crash->client, LETTER_WAITING) + scene_dlq_count(crash->scene, crash->client, LETTER_PARKED) >= crash->least;
}

static void await_letters(struct crash *crash, uint64_t least)
{
    crash->least = least;
    if (!await_condition(are_made, crash, SETTLE_MS)) {
        fail_msg("%" PRIu64 " letters are not made", least);
    }
}

static bool are_delivered(void *context)
{
    const struct crash *crash = context;
    return scene_dlq_records(crash->scene, crash->topic) >= (int64_t)crash->least;
}

/* Until each is parked or delivered, and no letter waits. */
static void await_end(struct crash *crash, struct places *places)
{
    int64_t limit_ms = await_mono_ms() + SETTLE_MS;
    for (;;) {
        *places = (struct places){0};
        count_letters(crash, LETTER_WAITING, places->waiting);
        count_letters(crash, LETTER_PARKED, places->parked);
        count_records(crash, places->target);
        size_t waiting = count_distinct(places->waiting, places->waiting);
        size_t ended = count_distinct(places->parked, places->target);
        if (waiting == 0 && ended == RECORDS) {
            return;
        }
        if (await_mono_ms() > limit_ms) {
            fail_msg("%zu of %d are parked or delivered, %zu letters wait", ended, RECORDS, waiting);
        }
        await_pause_ms(200);
    }
}

/* All have had their first delivery, which is committed; what is repeated from now on is redelivery alone. */
static void await_first_deliveries(struct crash *crash)
{
    struct places places = {0};
    await_letters(crash, RECORDS);
    scene_dlq_await_no_lag(crash->scene);
    count_letters(crash, LETTER_WAITING, places.waiting);
    count_letters(crash, LETTER_PARKED, places.parked);
    assert_int_equal(count_distinct(places.waiting, places.parked), RECORDS);
}

static void strike(const char *name, const struct scene_options *options, bool exact)
{
    struct crash crash = {.scene = scene_open(name, options)};
    struct scene *scene = crash.scene;
    struct places places;
    crash.client = nats_client_open(scene->nats_url);
    scene_dlq_topic(scene, "late", crash.topic);
    scene_start(scene);
    scene_dlq_await_running(scene);
    send_all(&crash);
    await_letters(&crash, RECORDS / 2);
    scene_kill(scene); /* while letters are made */
    scene_start(scene);
    await_letters(&crash, RECORDS * 3 / 4);
    nats_server_kill(scene_nats());
    nats_server_restart(scene_nats());
    await_first_deliveries(&crash);
    scene_dlq_await_count(scene, crash.client, LETTER_PARKED, 50);
    scene_kill(scene); /* while they are redelivered in vain */
    kafka_topics_create(scene->bootstrap, crash.topic, 1, NULL);
    scene_start(scene);
    crash.least = 50;
    assert_true(await_condition(are_delivered, &crash, SETTLE_MS));
    scene_kill(scene); /* while they are delivered */
    scene_start(scene);
    await_end(&crash, &places);
    assert_true(count_distinct(places.target, places.target) > 0 && count_distinct(places.parked, places.parked) > 0);
    print_message("%s: %zu parked, %zu delivered; doubles: %zu parked, %zu delivered, %zu in both\n", name, count_distinct(places.parked, places.parked),
                  count_distinct(places.target, places.target), count_repeats(places.parked), count_repeats(places.target), count_in_both(&places));
    assert_int_equal(count_repeats(places.parked), 0);
    assert_int_equal(count_in_both(&places), 0);
    assert_true(count_repeats(places.target) <= (exact ? 0 : IN_FLIGHT));
    nats_client_close(crash.client);
    scene_stop(scene);
    scene_close(scene);
}

static void killed_at_least_once(void **state)
{
    (void)state;
    strike("crash", &at_least_once, false);
}

static void killed_exactly_once(void **state)
{
    (void)state;
    strike("crashex", &exactly_once, true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(killed_at_least_once, scene_teardown),
        cmocka_unit_test_teardown(killed_exactly_once, scene_teardown),
    };
    return cmocka_run_group_tests(tests, scene_group_setup, scene_group_teardown);
}
