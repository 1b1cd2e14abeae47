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
    while (await_mono_ms() < stopped_ms + OUTAGE_MS) {
        assert_int_equal(tarry_process_get(scene->process, "/livez", NULL, 0), 200);
        await_pause_ms(1000);
    }
    kafka_broker_restart(scene_broker());
    tarry_process_wait_ready(scene->process, 60000);
    assert_true(scene_await_all(scene, 60000));
    struct kafka_client_records refused = scene_read_refused(scene);
    assert_int_equal(refused.count, 0);
    kafka_client_records_free(&refused);
    scene_finish(scene, 1000, true); /* what was acknowledged as the broker went, but not to us, comes again */
}

/* --------------------------------------------------------------------------------------------------- targets */

static const struct scene_options with_late_lane = {
    .targets = "[{name: late, match: \"@-late*\"}]",
    .more = "unknown_topic_grace: 20s",
};

static const struct scene_options with_short_grace = {
    .targets = "[{name: late, match: \"@-late*\"}]",
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
    struct kafka_client_records refused = scene_read_refused(scene);
    assert_int_equal(refused.count, 0);
    kafka_client_records_free(&refused);
    scene_stop(scene);
    scene_read(scene);
    scene_read_topic(scene, late);
    ledger_assert(scene->ledger, false);
    scene_close(scene);
}

static void
assert_refused_whole(const struct scene *scene, const struct kafka_client_record *letter, const char *target)
{
    char offset[32];
    snprintf(offset, sizeof(offset), "%" PRId64, (int64_t)0);
    assert_string_equal(kafka_client_header_text(letter, "__dlq.errors.reason"), "unknown_target");
    assert_string_equal(kafka_client_header_text(letter, "__dlq.errors.topic"), scene->in);
    assert_string_equal(kafka_client_header_text(letter, "__dlq.errors.partition"), "0");
    assert_string_equal(kafka_client_header_text(letter, "__dlq.errors.offset"), offset);
    assert_string_equal(kafka_client_header_text(letter, "__dlq.errors.group"), scene->prefix);
    fprintf(stderr, "refused: %s\n", kafka_client_header_text(letter, "__dlq.errors.message"));
    assert_non_null(strstr(kafka_client_header_text(letter, "__dlq.errors.message"), target));
    assert_string_equal(kafka_client_header_text(letter, "tarry-topic"), target);
    assert_string_equal(kafka_client_header_text(letter, "tarry-delay"), "500");
    assert_true(span_equals_text(letter->record.key, "k"));
    assert_true(span_equals_text(letter->record.value, "for a target"));
}

static void missing_beyond_the_grace_is_refused(void **state)
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
    scene->next_offset[0]++;     /* it has to end in the refused topic, so the ledger does not know it */
    send_to(scene, there, 1000); /* behind it in the same lane */
    scene_flush(scene);
    assert_true(scene_await_all(scene, 30000));
    struct kafka_client_records refused = scene_await_refused(scene, 1, 60000);
    assert_refused_whole(scene, &refused.items[0], never);
    kafka_client_records_free(&refused);
    scene_send_delay(scene, 0, 500, true);
    send_to(scene, there, 500); /* the lane goes on */
    scene_flush(scene);
    assert_true(scene_await_all(scene, 10000));
    refused = scene_read_refused(scene);
    assert_int_equal(refused.count, 1); /* once */
    kafka_client_records_free(&refused);
    assert_true(tarry_process_metric(scene->process, "tarry_records_refused_total", "unknown_target") == 1);
    scene_finish(scene, 1000, false);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(missing_target_holds_its_lane_only, scene_teardown),
        cmocka_unit_test_teardown(missing_beyond_the_grace_is_refused, scene_teardown),
        cmocka_unit_test_teardown(broker_stopped_while_records_come_due, scene_teardown),
    };
    return cmocka_run_group_tests(tests, scene_group_setup, scene_group_teardown);
}
