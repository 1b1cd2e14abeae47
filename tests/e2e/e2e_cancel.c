/*
 * Cancel, replace and reject against the clock: ten thousand cancels that arrive when their events come due, and controls that are sent with the event, while tarry
 * is down, after a restart, after a lost disk and after the due time. What was cancelled never goes out, what went out was not cancelled, and the history says which.
 */
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
#include "tests/support/scene_schedules.h"
#include "tests/support/temp.h"

#define PARTITIONS 4
#define RACES 10000
#define RACE_A_MS 1       /* one a millisecond */
#define RACE_FIRST_MS 4000
#define LEADS_MS 8        /* a cancel is sent so long before the due time at most: the way to tarry takes some of it */
#define BULK 2000
#define IN_TIME_MS 30000
#define LONG_ID 4096

#define COMMON                                                                                                                                   \
    .partitions = PARTITIONS, .shared_input = true, .outs = {SCENE_SCHEDULES_HISTORY_OUT},                                                       \
    .kafka = "consumer: {session.timeout.ms: 6000, heartbeat.interval.ms: 500}"

static const struct scene_options at_least_once = {COMMON, .more = "delivery: at_least_once\ntransaction_timeout: 5s\n" SCENE_SCHEDULES_HISTORY};
static const struct scene_options exactly_once = {COMMON, .more = "delivery: exactly_once\ntransaction_timeout: 5s\n" SCENE_SCHEDULES_HISTORY};

/* ---------------------------------------------------------------------------------------------------- nothing left */

struct metric_sum {
    struct tarry_process *process;
    double wanted;
};

static double answers_of(struct tarry_process *process)
{
    return tarry_process_metric(process, "tarry_cancelled_total", NULL) + tarry_process_metric(process, "tarry_too_late_total", NULL) +
           tarry_process_metric(process, "tarry_not_found_total", NULL);
}

static bool all_answered(void *context)
{
    const struct metric_sum *sum = context;
    return answers_of(sum->process) >= sum->wanted;
}

static int64_t low_of(const char *metadata)
{
    const char *low = strstr(metadata, "low=");
    return low == NULL ? -1 : strtoll(low + 4, NULL, 10);
}

/* What is done is said to be done, up to the last record of each partition. */
static bool all_said(void *context)
{
    const struct scene *scene = context;
    bool all = true;
    for (int32_t partition = 0; all && partition < scene->partitions; partition++) {
        char metadata[KAFKA_CLIENT_METADATA_MAX];
        int64_t low;
        int64_t high;
        kafka_client_watermarks(scene->bootstrap, scene->in, partition, &low, &high);
        int64_t committed = kafka_client_committed(scene->bootstrap, scene->prefix, scene->in, partition, metadata);
        all = high == 0 || (committed >= high && low_of(metadata) >= high);
    }
    return all;
}

static void assert_nothing_left(struct scene *scene)
{
    static const char *const gauges[] = {"tarry_pending", "tarry_pending_bytes", "tarry_overdue", "tarry_in_flight"};
    for (size_t i = 0; i < sizeof(gauges) / sizeof(gauges[0]); i++) {
        scene_schedules_await_metric_is(scene->process, gauges[i], NULL, 0);
    }
    scene_schedules_await_metric_is(scene->process, "tarry_next_due_timestamp_seconds", NULL, -1); /* nothing is next: there is no such sample */
    if (!await_condition(all_said, scene, IN_TIME_MS)) {
        fail_msg("the committed positions do not come to the ends of their partitions");
    }
}

/* -------------------------------------------------------------------------------------------------------- races */

struct race {
    int64_t offset;        /* of the event */
    int64_t cancel_offset;
    unsigned fired;
    unsigned delivered; /* told */
    unsigned cancelled;
    unsigned too_late;
    unsigned not_found;
};

static void send_race(struct kafka_client_producer *producer, const struct scene *scene, size_t number, const char *name, const char *text, int64_t *offset)
{
    char id[16];
    snprintf(id, sizeof(id), "r-%zu", number);
    struct record_header headers[] = {{span_of_text("tarry-id"), span_of_text(id)}, {span_of_text(name), span_of_text(text)}};
    kafka_client_produce_noting(producer, scene->in,
                                &(struct kafka_client_output){.partition = (int32_t)(number % PARTITIONS), .value = span_of_text(id), .headers = headers, .header_count = 2},
                                offset);
}

/* Events one millisecond after the other, and for each a cancel that is sent shortly before. */
static void send_races(const struct scene *scene, struct race *races)
{
    static const char *const at_once[] = {"linger.ms=0", NULL};
    struct kafka_client_producer *producer = kafka_client_producer_open(scene->bootstrap, at_once);
    int64_t first_ms = await_wall_ms() + RACE_FIRST_MS;
    for (size_t i = 0; i < RACES; i++) {
        send_race(producer, scene, i, "tarry-at", scene_schedules_text(first_ms + (int64_t)i * RACE_A_MS), &races[i].offset);
    }
    kafka_client_flush(producer);
    for (size_t i = 0; i < RACES; i++) {
        int64_t at_ms = first_ms + (int64_t)i * RACE_A_MS - (int64_t)(i * 7 % LEADS_MS);
        while (await_wall_ms() < at_ms) { /* the moment is what is tested */
            await_pause_ms(1);
        }
        send_race(producer, scene, i, "tarry-action", "cancel", &races[i].cancel_offset);
    }
    kafka_client_flush(producer);
    kafka_client_producer_close(producer);
}

/* From a record of the input topic to its race. */
static struct race **races_by_offset(struct race *races, int64_t *room)
{
    *room = 0;
    for (size_t i = 0; i < RACES; i++) {
        int64_t last = races[i].offset > races[i].cancel_offset ? races[i].offset : races[i].cancel_offset;
        assert_true(races[i].offset >= 0 && races[i].cancel_offset >= 0);
        *room = last >= *room ? last + 1 : *room;
    }
    struct race **found = memory_new((size_t)*room * PARTITIONS, sizeof(struct race *));
    for (size_t i = 0; i < RACES; i++) {
        found[(size_t)races[i].offset * PARTITIONS + i % PARTITIONS] = &races[i];
        found[(size_t)races[i].cancel_offset * PARTITIONS + i % PARTITIONS] = &races[i];
    }
    return found;
}

/* An answer names the event, or if there is none the cancel. */
static void count_answers(const struct scene *scene, struct race *races)
{
    int64_t room;
    struct race **found = races_by_offset(races, &room);
    struct scene_schedules_outcomes outcomes = scene_schedules_outcomes(scene);
    size_t nameless = 0;
    for (size_t i = 0; i < outcomes.count; i++) {
        const struct scene_schedules_outcome *item = &outcomes.items[i];
        assert_true(item->offset >= 0 && item->offset < room);
        struct race *race = found[(size_t)item->offset * PARTITIONS + (size_t)item->partition];
        assert_non_null(race);
        nameless += item->id == NULL;
        if (item->id != NULL) {
            assert_int_equal(strtoul(item->id + 2, NULL, 10), race - races);
        }
        race->delivered += strcmp(item->outcome, "delivered") == 0;
        race->cancelled += strcmp(item->outcome, "cancelled") == 0;
        race->too_late += strcmp(item->outcome, "too_late") == 0;
        race->not_found += strcmp(item->outcome, "not_found") == 0;
    }
    fprintf(stderr, "%zu outcomes, %zu of them without their id\n", outcomes.count, nameless);
    scene_schedules_outcomes_free(&outcomes);
    free(found);
}

static void count_fired(const struct scene *scene, struct race *races)
{
    for (size_t i = 0; i < scene->outputs.count; i++) {
        const struct kafka_client_record *item = &scene->outputs.items[i];
        if (strcmp(item->topic, scene->out) == 0) {
            size_t number = strtoul(kafka_client_header_text(item, "tarry-id") + 2, NULL, 10);
            assert_true(number < RACES);
            races[number].fired++;
        }
    }
}

static void check_races(const struct race *races)
{
    size_t fired = 0;
    size_t too_late = 0;
    for (size_t i = 0; i < RACES; i++) {
        const struct race *race = &races[i];
        bool fine = race->fired <= 1 && race->cancelled + race->too_late + race->not_found == 1 && race->fired + race->cancelled == 1 &&
                    race->delivered == race->fired;
        if (!fine) {
            fail_msg("r-%zu: out %u times; told %u times that it went out, %u times that it was cancelled, %u too late, %u not found", i, race->fired, race->delivered, race->cancelled, race->too_late,
                     race->not_found);
        }
        fired += race->fired;
        too_late += race->too_late;
    }
    fprintf(stderr, "of %d %zu went out (%zu of them under way when the cancel came), %zu were cancelled\n", RACES, fired, too_late, RACES - fired);
    assert_true(fired > 0 && fired < RACES); /* else nothing was raced */
}

static void cancel_when_due(const struct scene_options *options)
{
    struct scene *scene = scene_open("race", options);
    struct race *races = memory_new(RACES, sizeof(*races));
    scene_start(scene);
    send_races(scene, races);
    struct metric_sum sum = {scene->process, RACES};
    assert_true(await_condition(all_answered, &sum, IN_TIME_MS));
    assert_nothing_left(scene);
    assert_true(answers_of(scene->process) == RACES); /* whole numbers */
    assert_true(tarry_process_metric(scene->process, "tarry_history_dropped_total", NULL) == 0);
    scene_stop(scene); /* and what is on its way to the history topic is there */
    scene_schedules_read(scene);
    scene_schedules_assert_never_early(scene);
    count_answers(scene, races);
    count_fired(scene, races);
    check_races(races);
    free(races);
    scene_close(scene);
}

/* --------------------------------------------------------------------------------------------------- N and N */

/* As many cancels as events: nothing is left of them. Half of the cancels stand in the batch of their events, half come when those are on disk. */
static void all_cancelled(const struct scene_options *options)
{
    struct scene *scene = scene_open("bulk", options);
    char id[16];
    scene_start(scene);
    for (int i = 0; i < BULK; i++) {
        snprintf(id, sizeof(id), "b-%d", i);
        SCENE_SCHEDULE(scene, i % PARTITIONS, "bulk", "tarry-id", id, "tarry-delay", "1h");
        if (i % 2 == 0) {
            SCENE_SCHEDULE(scene, i % PARTITIONS, "", "tarry-id", id, "tarry-action", "cancel");
        }
    }
    kafka_client_flush(scene->producer);
    scene_schedules_await_metric_is(scene->process, "tarry_pending", NULL, BULK * 0.5);
    for (int i = 1; i < BULK; i += 2) {
        snprintf(id, sizeof(id), "b-%d", i);
        SCENE_SCHEDULE(scene, i % PARTITIONS, "", "tarry-id", id, "tarry-action", "cancel");
    }
    kafka_client_flush(scene->producer);
    scene_schedules_await_metric_is(scene->process, "tarry_cancelled_total", NULL, BULK);
    assert_nothing_left(scene);
    scene_stop(scene);
    scene_schedules_read(scene);
    assert_int_equal(scene_schedules_count(scene, "bulk"), 0);
    assert_int_equal(scene_schedules_told(scene, NULL, "cancelled"), BULK);
    scene_close(scene);
}

/* ------------------------------------------------------------------------------------------------- restarts */

/* With an id of any bytes. `name` and `text`: one header more. */
static void send_binary(struct scene *scene, struct span id, const char *value, const char *name, const char *text)
{
    struct record_header headers[] = {{span_of_text("tarry-id"), id}, {span_of_text(name), span_of_text(text)}};
    kafka_client_produce(scene->producer, scene->in,
                         &(struct kafka_client_output){.partition = 1, .value = span_of_text(value), .headers = headers, .header_count = 2});
}

static void lose_disk_and_start(struct scene *scene)
{
    scene_kill(scene);
    temp_empty(scene->store_path);
    scene_start(scene);
}

static void send_before(struct scene *scene, struct span one, struct span many)
{
    SCENE_SCHEDULE(scene, 0, "in one batch", "tarry-id", "batch", "tarry-delay", "1500ms");
    SCENE_SCHEDULE(scene, 0, "", "tarry-id", "batch", "tarry-action", "cancel");
    SCENE_SCHEDULE(scene, 1, "after the restart", "tarry-id", "after", "tarry-delay", "12s");
    send_binary(scene, one, "of one byte", "tarry-delay", "12s");
    send_binary(scene, many, "of many bytes", "tarry-delay", "12s");
    SCENE_SCHEDULE(scene, 2, "replaced", "tarry-id", "replaced", "tarry-delay", "12s");
    SCENE_SCHEDULE(scene, 3, "first", "tarry-id", "first", "tarry-delay", "12s", "tarry-if-exists", "reject");
    SCENE_SCHEDULE(scene, 3, "kept", "tarry-id", "kept", "tarry-delay", "12s");
    SCENE_SCHEDULE(scene, 3, "long", "tarry-id", "long", "tarry-delay", "1h");
    kafka_client_flush(scene->producer);
    scene_schedules_await_told(scene, "batch", "cancelled", 1);
    scene_schedules_await_metric_is(scene->process, "tarry_reappended_total", "why=\"decided\"", 1); /* "first" is accepted */
}

static void send_while_down(struct scene *scene, struct span one)
{
    send_binary(scene, one, "", "tarry-action", "cancel");
    SCENE_SCHEDULE(scene, 2, "replacing", "tarry-id", "replaced", "tarry-delay", "1s");
    SCENE_SCHEDULE(scene, 3, "second", "tarry-id", "first", "tarry-delay", "1s", "tarry-if-exists", "reject");
    SCENE_SCHEDULE(scene, 3, "second long", "tarry-id", "long", "tarry-delay", "1s", "tarry-if-exists", "reject");
    kafka_client_flush(scene->producer);
}

static void send_after(struct scene *scene, struct span many)
{
    send_binary(scene, many, "", "tarry-action", "cancel");
    SCENE_SCHEDULE(scene, 1, "", "tarry-id", "after", "tarry-action", "cancel");
    kafka_client_flush(scene->producer);
    scene_schedules_await_told(scene, "after", "cancelled", 1);
    scene_schedules_await_told(scene, NULL, "cancelled", 4); /* with the two of binary ids */
}

/* When all of their times have passed. */
static void assert_fired(struct scene *scene)
{
    static const char *const fired[] = {"kept", "first", "replacing"};
    static const char *const ended[] = {"in one batch", "after the restart", "of one byte", "of many bytes", "replaced", "second", "second long", "long"};
    for (size_t i = 0; i < sizeof(fired) / sizeof(fired[0]); i++) {
        scene_schedules_await(scene, fired[i], 1);
        assert_int_equal(scene_schedules_count(scene, fired[i]), 1);
    }
    for (size_t i = 0; i < sizeof(ended) / sizeof(ended[0]); i++) {
        if (scene_schedules_count(scene, ended[i]) != 0) {
            fail_msg("\"%s\" went out", ended[i]);
        }
    }
}

/* What was rejected stays so when the disk that knew it is lost; with the pending one gone the next is taken. */
static void lose_and_reject(struct scene *scene)
{
    lose_disk_and_start(scene);
    SCENE_SCHEDULE(scene, 3, "third long", "tarry-id", "long", "tarry-delay", "1s", "tarry-if-exists", "reject");
    kafka_client_flush(scene->producer);
    scene_schedules_await_told(scene, "long", "rejected", 2);
    SCENE_SCHEDULE(scene, 3, "", "tarry-id", "long", "tarry-action", "cancel");
    SCENE_SCHEDULE(scene, 3, "fourth long", "tarry-id", "long", "tarry-delay", "1s", "tarry-if-exists", "reject");
    kafka_client_flush(scene->producer);
    scene_schedules_await_told(scene, "long", "cancelled", 1);
    scene_schedules_await(scene, "fourth long", 1);
    assert_int_equal(scene_schedules_count(scene, "third long"), 0);
}

static void controls_over_restarts(const struct scene_options *options)
{
    struct scene *scene = scene_open("over", options);
    uint8_t bytes[LONG_ID];
    struct span one = {(const uint8_t *)"", 1}; /* one byte, which is 0 */
    struct span many = {bytes, sizeof(bytes)};
    for (size_t i = 0; i < sizeof(bytes); i++) {
        bytes[i] = (uint8_t)(i * 131);
    }
    scene_start(scene);
    send_before(scene, one, many);
    scene_stop(scene);
    send_while_down(scene, one);
    scene_start(scene);
    scene_schedules_await_told(scene, "first", "rejected", 1);
    scene_schedules_await_told(scene, "long", "rejected", 1);
    scene_schedules_await_told(scene, "replaced", "replaced", 1);
    send_after(scene, many);
    lose_and_reject(scene);
    assert_fired(scene);
    SCENE_SCHEDULE(scene, 3, "", "tarry-id", "kept", "tarry-action", "cancel"); /* long after its time */
    kafka_client_flush(scene->producer);
    scene_schedules_await_told(scene, "kept", "not_found", 1);
    assert_nothing_left(scene);
    scene_stop(scene);
    scene_schedules_read(scene);
    assert_fired(scene);
    scene_schedules_assert_never_early(scene);
    scene_close(scene);
}

/* -------------------------------------------------------------------------------------------------- the list */

SCENE_SCHEDULES_BOTH(race, cancel_when_due)
SCENE_SCHEDULES_BOTH(bulk, all_cancelled)
SCENE_SCHEDULES_BOTH(over, controls_over_restarts)

#define WITH(test) cmocka_unit_test_teardown(test, scene_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH(bulk_at_least_once), WITH(bulk_exactly_once), WITH(over_at_least_once), WITH(over_exactly_once), WITH(race_at_least_once), WITH(race_exactly_once),
    };
    return cmocka_run_group_tests(tests, scene_group_setup, scene_group_teardown);
}
