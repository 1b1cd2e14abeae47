/* Delays at the edges of wheels of every common size, among twenty thousand others: never early, never a lap late. */
#include <inttypes.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <setjmp.h>

#include <cmocka.h>

#include "tests/support/scene.h"

#define EACH 20
#define OTHERS 20000
#define LAP_LATE_MS                                                                                                    \
    3000 /* far less than a lap of any wheel that would be missed unseen, far more than a busy machine */

static const int64_t edges_ms[] = {1,    2,    9,    10,    11,    63,    64,    65,    99,    100,   101,   255,  256,
                                   257,  511,  512,  513,   999,   1000,  1001,  1023,  1024,  1025,  4095,  4096, 4097,
                                   8191, 8192, 8193, 16383, 16384, 16385, 59999, 60000, 60001, 65535, 65536, 65537};

static void wheel_edges(void **state)
{
    (void)state;
    struct scene *scene = scene_open("wheel", &(struct scene_options){.partitions = 2});
    scene_start(scene);
    for (int i = 0; i < OTHERS; i++) {
        scene_send_delay(scene, i % 2, 3600 * 1000 + i, false);
    }
    scene_flush(scene);
    size_t expected = 0;
    for (int round = 0; round < EACH; round++) {
        for (size_t i = 0; i < sizeof(edges_ms) / sizeof(edges_ms[0]); i++) {
            scene_send_delay(scene, (int32_t)(i % 2), edges_ms[i], edges_ms[i] >= 2000);
            expected++;
        }
        scene_flush(scene);
    }
    assert_true(scene_await_count(scene, expected, 120000));
    scene_stop(scene);
    scene_read(scene);
    fprintf(stderr, "lateness: mean %.1f ms, most %" PRId64 " ms\n", ledger_lateness_mean_ms(scene->ledger),
            ledger_lateness_max_ms(scene->ledger));
    assert_true(ledger_lateness_max_ms(scene->ledger) < LAP_LATE_MS);
    assert_int_equal(ledger_received_count(scene->ledger), expected);
    for (int kind = LEDGER_REPEATED; kind < LEDGER_KINDS; kind++) {
        assert_int_equal(ledger_violations(scene->ledger, (enum ledger_violation)kind), 0);
    }
    scene_close(scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(wheel_edges, scene_teardown),
    };
    return cmocka_run_group_tests(tests, scene_group_setup, scene_group_teardown);
}
