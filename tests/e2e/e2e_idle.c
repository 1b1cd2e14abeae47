/* One record, then silence: it fires on time, and a process with nothing to do does nothing. */
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

#define QUIET_MS 60000
#define SETTLE_MS 5000
#define TURNS_MOST 2.0  /* a second */
#define CPU_MOST_MS 600 /* 1 % of a core */

static void nothing_to_do_is_nothing_done(void **state)
{
    (void)state;
    struct scene *scene = scene_open("idle", &(struct scene_options){.partitions = 4});
    scene_start(scene);
    scene_send_delay(scene, 1, 3000, true);
    scene_send_delay(scene, 2, 3600 * 1000, true); /* and one that waits, so that there is something to wait for */
    scene_flush(scene);
    assert_true(scene_await_count(scene, 1, 10000));
    assert_true(ledger_lateness_max_ms(scene->ledger) < 2000);
    await_pause_ms(SETTLE_MS);
    double turns = tarry_process_metric(scene->process, "tarry_turns_total", NULL);
    int64_t cpu_ms = tarry_process_cpu_ms(scene->process);
    int64_t start_ms = await_mono_ms();
    await_pause_ms(QUIET_MS);
    cpu_ms = tarry_process_cpu_ms(scene->process) - cpu_ms;
    double seconds = (double)(await_mono_ms() - start_ms) / 1000;
    double more = tarry_process_metric(scene->process, "tarry_turns_total", NULL) - turns;
    fprintf(stderr, "idle: %.2f turns/s, %" PRId64 " ms of CPU in %.1f s\n", more / seconds, cpu_ms, seconds);
    assert_true(turns > 0);
    assert_true(more / seconds <= TURNS_MOST);
    assert_true(cpu_ms <= CPU_MOST_MS);
    scene_send_delay(scene, 0, 500, true); /* and it wakes at once for an earlier one */
    scene_flush(scene);
    assert_true(scene_await_count(scene, 2, 10000));
    assert_true(ledger_lateness_max_ms(scene->ledger) < 2000);
    scene_stop(scene);
    scene_read(scene);
    assert_int_equal(ledger_violations(scene->ledger, LEDGER_MISSING), 1); /* the one of an hour */
    assert_int_equal(ledger_repeat_count(scene->ledger), 0);
    scene_close(scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(nothing_to_do_is_nothing_done, scene_teardown),
    };
    return cmocka_run_group_tests(tests, scene_group_setup, scene_group_teardown);
}
