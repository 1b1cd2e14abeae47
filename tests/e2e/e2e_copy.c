/*
 * Copy forward (R6), in both modes of delivery: a record of next month does not hold back where a start with an empty disk has to read from, while
 * thousands are fired through and the process is killed again and again. What was copied comes out once, under its own identity.
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

#include "tests/support/await.h"
#include "tests/support/scene.h"
#include "tests/support/temp.h"

#define SPAN 1000 /* as configured */
#define WAVE 1500
#define WAVES 4
#define MONTH_MS INT64_C(2592000000)
#define SOON_MS 14000
#define OUT_MS 60000
#define COPIED_MS 20000

#define CONSUMER .kafka = "consumer: {session.timeout.ms: 4000, heartbeat.interval.ms: 500}"

static const struct scene_options at_least = {
    CONSUMER, .shared_input = true, .more = "copy_forward: {span: 1000}\ntransaction_timeout: 3s"};
static const struct scene_options exactly = {
    CONSUMER, .shared_input = true, .more = "copy_forward: {span: 1000}\ntransaction_timeout: 3s\ndelivery: exactly_once"};

/* Without an id of its own, so that its place is its identity. */
static void send_at(struct scene *scene, int64_t due_ms, const char *value, const char *id)
{
    static const struct record_header own[] = {{{(const uint8_t *)"mine", 4}, {(const uint8_t *)"kept", 4}}};
    scene_send(scene, &(struct scene_event){.due_ms = due_ms,
                                            .key = span_of_text("key"),
                                            .value = span_of_text(value),
                                            .id = id == NULL ? SPAN_ABSENT : span_of_text(id),
                                            .headers = own,
                                            .header_count = 1});
}

static bool span_is_short(void *context)
{
    struct scene *scene = context;
    double span = tarry_process_metric(scene->process, "tarry_log_span", NULL);
    return span >= 0 && span <= SPAN;
}

static void fire_a_wave(struct scene *scene)
{
    for (int i = 0; i < WAVE; i++) {
        scene_send_delay(scene, 0, i % 500, false);
    }
    scene_flush(scene);
}

/* How many of the copies in `records` are of the record whose value this is; each must be whole, and name the record that was written first, its due
 * time and its target. */
static size_t count_copies(const struct scene *scene, const struct kafka_client_records *records, const char *value)
{
    char root[96 + SCENE_NAME_MAX] = "";
    char due[32] = "";
    size_t count = 0;
    for (size_t i = 0; i < records->count; i++) {
        const struct kafka_client_record *item = &records->items[i];
        if (!span_equals_text(item->record.value, value)) {
            continue;
        }
        if (root[0] == '\0') { /* the first is the original */
            snprintf(due, sizeof(due), "%s", kafka_client_header_text(item, "tarry-at"));
            snprintf(root, sizeof(root), "%" PRId64 ":%" PRId64 ":%s:%s", item->record.offset, item->record.timestamp_ms, due, scene->out);
            assert_null(kafka_client_header_text(item, "tarry-root"));
            continue;
        }
        assert_int_equal(kafka_client_header_count(item, "tarry-root"), 1);
        assert_string_equal(kafka_client_header_text(item, "tarry-root"), root);
        assert_string_equal(kafka_client_header_text(item, "tarry-at"), due);
        assert_string_equal(kafka_client_header_text(item, "mine"), "kept");
        assert_true(span_equals_text(item->record.key, "key"));
        count++;
    }
    assert_true(root[0] != '\0');
    return count;
}

static void assert_copied(struct scene *scene)
{
    static const char *const values[] = {"of next month", "soon", "soon with an id"};
    const char *const topics[] = {scene->in, NULL};
    struct kafka_client_records records = kafka_client_read_all(scene->bootstrap, topics);
    for (size_t i = 0; i < 3; i++) {
        size_t copies = count_copies(scene, &records, values[i]);
        fprintf(stderr, "\"%s\": %zu copies\n", values[i], copies);
        assert_true(copies >= 2 && copies <= (size_t)WAVES * 4);
    }
    kafka_client_records_free(&records);
}

static size_t count_outputs(const struct scene *scene, const char *value)
{
    size_t count = 0;
    for (size_t i = 0; i < scene->outputs.count; i++) {
        count += span_equals_text(scene->outputs.items[i].record.value, value);
    }
    return count;
}

/* An empty disk: what is read is what stands behind the last copies, not all that was ever fired through. */
static void take_over_without_a_disk(struct scene *scene)
{
    scene_stop(scene);
    temp_empty(scene->store_path);
    scene_start(scene);
    double read = tarry_process_metric(scene->process, "tarry_records_read_total", NULL);
    fprintf(stderr, "%.0f records were read for a start without a disk\n", read);
    assert_true(read >= 3 && read <= SPAN);
}

static void copied_forward(const char *name, const struct scene_options *options, bool repeats)
{
    struct scene *scene = scene_open(name, options);
    scene_start(scene);
    int64_t soon_ms = await_wall_ms() + SOON_MS;
    send_at(scene, await_wall_ms() + MONTH_MS, "of next month", NULL);
    send_at(scene, soon_ms, "soon", NULL);
    send_at(scene, soon_ms, "soon with an id", "theirs");
    for (int wave = 1; wave <= WAVES; wave++) {
        fire_a_wave(scene);
        if (wave % 2 == 0) {
            await_pause_ms(100 * wave); /* amidst firing and copying */
            scene_kill(scene);
            scene_start(scene);
        }
        assert_true(scene_await_count(scene, (size_t)wave * WAVE, OUT_MS));
        assert_true(await_condition(span_is_short, scene, COPIED_MS));
    }
    take_over_without_a_disk(scene);
    int64_t left_ms = soon_ms - await_wall_ms();
    fprintf(stderr, "%" PRId64 " ms before the copies are due\n", left_ms);
    if (left_ms <= 0) {
        fail_msg("the machine is too slow for this test: the copies were due before all was set up");
    }
    assert_copied(scene);
    assert_true(scene_await_count(scene, ledger_sent_count(scene->ledger) - 1, OUT_MS));
    assert_true(await_condition(span_is_short, scene, COPIED_MS));
    scene_stop(scene);
    scene_read(scene);
    assert_int_equal(count_outputs(scene, "soon"), 1);
    assert_int_equal(count_outputs(scene, "soon with an id"), 1);
    assert_int_equal(count_outputs(scene, "of next month"), 0);
    assert_int_equal(ledger_violations(scene->ledger, LEDGER_MISSING), 1);
    for (int kind = repeats ? LEDGER_EARLY : LEDGER_REPEATED; kind < LEDGER_KINDS; kind++) {
        assert_int_equal(ledger_violations(scene->ledger, (enum ledger_violation)kind), 0);
    }
    scene_close(scene);
}

static void exactly_once(void **state)
{
    (void)state;
    copied_forward("copyexact", &exactly, false);
}

static void at_least_once(void **state)
{
    (void)state;
    copied_forward("copy", &at_least, true);
}

/* ------------------------------------------------------------------------------------------------ retention */

#define KEPT "retention.ms=16000"
#define LONG_MS 15000

static bool is_copied(void *context)
{
    struct scene *scene = context;
    return tarry_process_metric(scene->process, "tarry_reappended_total", "copy") >= 10;
}

/* At half of the topic's retention.ms pending records are written again; what they were may then leave the topic, with the disk lost. */
static void before_retention_takes_it(void **state)
{
    (void)state;
    static const char *const settings[] = {KEPT, NULL};
    struct scene *scene = scene_open(
        "retention", &(struct scene_options){CONSUMER, .shared_input = true, .in_settings = settings, .more = "delivery: exactly_once\ntransaction_timeout: 3s"});
    scene_start(scene);
    int64_t due_ms = await_wall_ms() + LONG_MS;
    for (int i = 0; i < 10; i++) {
        char value[32];
        snprintf(value, sizeof(value), "number %d", i);
        send_at(scene, due_ms + i, value, NULL);
    }
    scene_flush(scene);
    assert_true(await_condition(is_copied, scene, LONG_MS));
    scene_stop(scene);
    temp_empty(scene->store_path);
    kafka_topics_delete_records(scene->bootstrap, scene->in, 0, 10); /* the originals */
    scene_start(scene);
    assert_int_equal(tarry_process_log_count(scene->process, "have left the topic"), 0);
    scene_finish(scene, OUT_MS, false);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(exactly_once, scene_teardown),
        cmocka_unit_test_teardown(at_least_once, scene_teardown),
        cmocka_unit_test_teardown(before_retention_takes_it, scene_teardown),
    };
    return cmocka_run_group_tests(tests, scene_group_setup, scene_group_teardown);
}
