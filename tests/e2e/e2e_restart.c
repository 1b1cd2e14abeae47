/* Ends and new starts: everything overdue at the start, SIGTERM in a burst, twice, while loading, and with the broker
 * away. */
#include <inttypes.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <setjmp.h>

#include <cmocka.h>

#include <signal.h>

#include "tests/support/await.h"
#include "tests/support/claims.h"
#include "tests/support/scene.h"

#define PARTITIONS 4
#define RECORDS 5000
#define SHUTDOWN_MOST_MS 6000 /* shutdown_timeout and a second */

static void send_spread(struct scene *scene, int count, int64_t from_ms, int64_t spread_ms)
{
    for (int i = 0; i < count; i++) {
        scene_send_delay(scene, i % scene->partitions, from_ms + (int64_t)(i * 7919 % count) * spread_ms / count, true);
    }
    scene_flush(scene);
}

static bool all_read(void *context)
{
    struct scene *scene = context;
    return tarry_process_metric(scene->process, "tarry_records_read_total", NULL) >=
           (double)ledger_sent_count(scene->ledger);
}

/* Records are read, tarry ends before any is due, and starts again when all are overdue. */
static void start_overdue(const char *name, bool softly)
{
    struct scene *scene = scene_open(name, &(struct scene_options){.partitions = PARTITIONS});
    scene_start(scene);
    send_spread(scene, RECORDS, 6000, 2000);
    int64_t sent_ms = await_mono_ms();
    assert_true(await_condition(all_read, scene, 5000));
    softly ? scene_stop(scene) : scene_kill(scene);
    await_pause_ms(sent_ms + 8500 - await_mono_ms());
    send_spread(scene, 500, 0, 200); /* and some that it has never seen */
    await_pause_ms(300);
    scene_start(scene);
    scene_finish(scene, 30000, false);
}

static void all_overdue_after_sigterm(void **state)
{
    (void)state;
    start_overdue("overdue", true);
}

static void all_overdue_after_a_kill(void **state)
{
    (void)state;
    start_overdue("overduekill", false);
}

/* 0 missing, 0 double: what was acknowledged before the end is committed before the end. */
static void sigterm_in_a_burst(void **state)
{
    (void)state;
    struct scene *scene = scene_open("burst", &(struct scene_options){.partitions = PARTITIONS});
    struct claims claims = {.done = 0};
    scene_start(scene);
    send_spread(scene, 20000, 4000, 1500);
    assert_true(scene_await_count(scene, 1000, 30000));
    scene_stop(scene);
    claims_check(scene, &claims);
    fprintf(stderr, "%zu had come out at SIGTERM\n", ledger_received_count(scene->ledger));
    assert_int_equal(claims.done, ledger_received_count(scene->ledger));
    scene_start(scene);
    await_pause_ms(100);
    scene_stop(scene); /* again, within a second of the start */
    scene_start(scene);
    scene_finish(scene, 60000, false);
}

static void sigterm_while_loading(void **state)
{
    (void)state;
    struct scene *scene = scene_open("loading", &(struct scene_options){.partitions = PARTITIONS});
    scene_start(scene);
    send_spread(scene, RECORDS, 9000, 1000);
    assert_true(await_condition(all_read, scene, 8000));
    scene_stop(scene);
    for (int i = 0; i < 5; i++) {
        scene_launch(scene, NULL);
        await_pause_ms(20 + i * 60);
        int code = tarry_process_stop(scene->process, SHUTDOWN_MOST_MS);
        assert_true(code == 0 || code == 128 + SIGTERM); /* the latter: it came before main had begun */
    }
    scene_start(scene);
    scene_finish(scene, 30000, false);
}

/* With the broker away nothing can be committed: it ends in time all the same, and a second signal ends it at once. */
static void sigterm_with_the_broker_down(void **state)
{
    (void)state;
    struct scene *scene = scene_open("alone", &(struct scene_options){.partitions = 1});
    scene_start(scene);
    send_spread(scene, 200, 3000, 1000);
    assert_true(await_condition(all_read, scene, 3000));
    kafka_broker_stop(scene_broker());
    await_pause_ms(4000); /* they come due */
    /* the timeout, and then up to 5 s for each of librdkafka's clients, which may wait for the broker */
    int code = tarry_process_stop(scene->process, SHUTDOWN_MOST_MS + 10000);
    fprintf(stderr, "exit code %d with the broker down\n", code);
    assert_int_equal(code, 0);
    scene_launch(scene, NULL); /* starts without a broker too, and waits for it */
    tarry_process_wait_not_ready(scene->process, 10000);
    tarry_process_signal(scene->process, SIGTERM);
    await_pause_ms(100);
    if (tarry_process_running(scene->process)) {
        tarry_process_signal(scene->process, SIGTERM);
    }
    tarry_process_wait_exit(scene->process, 2000);
    kafka_broker_restart(scene_broker());
    scene_start(scene);
    scene_finish(scene, 30000, true);
}

static void second_sigterm_ends_it_at_once(void **state)
{
    (void)state;
    struct scene *scene = scene_open("twice", &(struct scene_options){.partitions = 1});
    scene_start(scene);
    send_spread(scene, 200, 2000, 500);
    assert_true(await_condition(all_read, scene, 2000));
    kafka_broker_freeze(scene_broker()); /* nothing in flight will be answered */
    await_pause_ms(3000);
    tarry_process_signal(scene->process, SIGTERM);
    await_pause_ms(300);
    tarry_process_signal(scene->process, SIGTERM);
    tarry_process_wait_exit(scene->process, 1000);
    kafka_broker_thaw(scene_broker());
    scene_start(scene);
    scene_finish(scene, 30000, true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(all_overdue_after_sigterm, scene_teardown),
        cmocka_unit_test_teardown(all_overdue_after_a_kill, scene_teardown),
        cmocka_unit_test_teardown(sigterm_in_a_burst, scene_teardown),
        cmocka_unit_test_teardown(sigterm_while_loading, scene_teardown),
        cmocka_unit_test_teardown(second_sigterm_ends_it_at_once, scene_teardown),
        cmocka_unit_test_teardown(sigterm_with_the_broker_down, scene_teardown),
    };
    return cmocka_run_group_tests(tests, scene_group_setup, scene_group_teardown);
}
