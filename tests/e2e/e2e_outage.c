/* Brokers and targets that are away: an outage is waited out and is never a record's fault; a missing target holds its
 * lane only. */
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
#include "tests/support/scene_letters.h"

#define OUTAGE_MS 30000
#define RECORDS 500
#define LATE_RECORDS 50

/* ---------------------------------------------------------------------------------------------------- broker */

static void broker_stopped_while_records_come_due(void **state)
{
    (void)state;
    struct scene *scene = scene_open("outage", &(struct scene_options){.partitions = 2});
    scene_start(scene);
    for (int i = 0; i < RECORDS; i++) {
        scene_send_delay(scene, i % 2, 3000 + i * 40, true); /* due from 3 to 23 s */
    }
    scene_flush(scene);
    assert_true(scene_await_count(scene, RECORDS / 20, 15000));
    int64_t stopped_ms = await_mono_ms();
    kafka_broker_stop(scene_broker());
    tarry_process_wait_not_ready(scene->process, OUTAGE_MS);
    char reasons[2048] = "";
    assert_int_equal(tarry_process_get(scene->process, "/readyz", reasons, sizeof(reasons)), 503);
    assert_non_null(strstr(reasons, "\"code\":\"kafka_unreachable\""));
    while (await_mono_ms() < stopped_ms + OUTAGE_MS) {
        assert_int_equal(tarry_process_get(scene->process, "/livez", NULL, 0), 200);
        await_pause_ms(1000);
    }
    kafka_broker_restart(scene_broker());
    tarry_process_wait_ready(scene->process, 60000);
    assert_true(scene_await_all(scene, 60000));
    scene_assert_none_refused(scene);
    scene_finish(scene, 1000, true); /* what was acknowledged as the broker went, but not to us, comes again */
}

/* --------------------------------------------------------------------------------------------------- targets */

static const struct scene_options with_late_lane = {
    .targets = "[{name: late, match: \"@-late*\"}]",
    .more = "unknown_topic_grace: 20s",
};

static const struct scene_options with_short_grace = {
    .targets = "[{name: late, match: \"@-late*\", retry: {max_deliver: 0}}]",
    .letters = true,
    .more = "unknown_topic_grace: 3s",
    .outs = {"@-late-there"},
};

static void send_to(struct scene *scene, const char *target, int64_t delay_ms)
{
    scene_send(scene, &(struct scene_event){.delay_ms = delay_ms,
                                            .target = target,
                                            .lane = "late",
                                            .ordered = true,
                                            .key = span_of_text("k"),
                                            .value = span_of_text("for a target")});
}

static void missing_target_holds_its_lane_only(void **state)
{
    (void)state;
    struct scene *scene = scene_open("missing", &with_late_lane);
    char late[SCENE_NAME_MAX + 8];
    snprintf(late, sizeof(late), "%s-late", scene->prefix);
    scene_start(scene);
    for (int i = 0; i < LATE_RECORDS; i++) {
        send_to(scene, late, 2000 + i);
        scene_send_delay(scene, 0, 2000 + i * 60, true);
    }
    scene_flush(scene);
    assert_true(scene_await_count(scene, LATE_RECORDS, 10000)); /* the other lane is on time */
    assert_true(ledger_lateness_max_ms(scene->ledger) < 3000);
    static const char *const append_time[] = {"message.timestamp.type=LogAppendTime", NULL};
    kafka_topics_create(scene->bootstrap, late, 1, append_time);
    const char *const topics[] = {late, NULL};
    struct kafka_client_reader *reader = kafka_client_reader_open(scene->bootstrap, topics);
    struct kafka_client_records records = {NULL, 0, 0};
    assert_int_equal(kafka_client_read(reader, &records, LATE_RECORDS, 30000), LATE_RECORDS);
    kafka_client_records_free(&records);
    kafka_client_reader_close(reader);
    scene_assert_none_refused(scene);
    scene_stop(scene);
    scene_read(scene);
    scene_read_topic(scene, late);
    ledger_assert(scene->ledger, false);
    scene_close(scene);
}

/* The letter holds the record as it would have gone out. */
static void assert_letter(const struct scene *scene, const struct scene_letter *item, const char *target)
{
    const struct letter *letter = &item->letter;
    char source[SCENE_NAME_MAX + 8];
    struct span due;
    snprintf(source, sizeof(source), "%s/0/0", scene->in);
    assert_int_equal(letter->reason, LETTER_REASON_UNKNOWN_TARGET);
    assert_true(scene_letters_says(item, target));
    assert_true(span_equals_text(letter->target, target));
    assert_true(span_equals_text(letter->origin.topic, scene->in));
    assert_int_equal(letter->origin.partition, 0);
    assert_int_equal(letter->origin.offset, 0);
    assert_true(span_equals_text(letter->group, scene->prefix));
    assert_int_equal(letter->due_ms, letter->origin.timestamp_ms + 500);
    assert_int_equal(letter->attempt, 1);
    assert_int_equal(scene_letters_header(item, "tarry-due", &due), 1);
    const struct record_header headers[] = {
        {span_of_text("tarry-id"), span_of_text(source)}, {span_of_text("tarry-due"), due}, {span_of_text("tarry-source"), span_of_text(source)}};
    scene_letters_assert_record(item, span_of_text("k"), span_of_text("for a target"), headers, 3);
}

static void missing_beyond_the_grace_becomes_a_letter(void **state)
{
    (void)state;
    struct scene *scene = scene_open("nowhere", &with_short_grace);
    char never[SCENE_NAME_MAX + 16];
    char there[SCENE_NAME_MAX + 16];
    snprintf(never, sizeof(never), "%s-late-never", scene->prefix);
    snprintf(there, sizeof(there), "%s-late-there", scene->prefix);
    scene_start(scene);
    struct record_header control[] = {{span_of_text("tarry-topic"), span_of_text(never)},
                                      {span_of_text("tarry-delay"), span_of_text("500")}};
    kafka_client_produce(
        scene->producer, scene->in,
        &(struct kafka_client_output){
            .key = span_of_text("k"), .value = span_of_text("for a target"), .headers = control, .header_count = 2});
    scene->next_offset[0]++;     /* it has to become a letter, so the ledger does not know it */
    send_to(scene, there, 1000); /* behind it in the same lane */
    scene_flush(scene);
    assert_true(scene_await_all(scene, 30000));
    struct scene_letters letters = scene_letters_await(scene, LETTER_PARKED, 1, 60000);
    assert_letter(scene, &letters.items[0], never);
    scene_letters_free(&letters);
    scene_send_delay(scene, 0, 500, true);
    send_to(scene, there, 500); /* the lane goes on */
    scene_flush(scene);
    assert_true(scene_await_all(scene, 10000));
    letters = scene_letters_read(scene, LETTER_PARKED);
    assert_int_equal(letters.count, 1); /* once */
    scene_letters_free(&letters);
    assert_true(tarry_process_metric(scene->process, "tarry_records_refused_total", "unknown_target") == 1);
    scene_finish(scene, 1000, false);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(missing_target_holds_its_lane_only, scene_teardown),
        cmocka_unit_test_teardown(missing_beyond_the_grace_becomes_a_letter, scene_teardown),
        cmocka_unit_test_teardown(broker_stopped_while_records_come_due, scene_teardown),
    };
    return cmocka_run_group_tests(tests, scene_group_setup, scene_group_teardown);
}
