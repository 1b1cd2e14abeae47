/* The user's own example, literally: a payment timeout of 30 seconds, and one of a second, arrive at their route on
 * time. */
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

#define ON_TIME_MS 2000 /* generous: the machine is shared */

#define PAYLOAD "{\"order_id\":\"order-123\",\"timeout_at\":\"2026-11-29T15:00:00Z\"}"
#define EXAMPLE "{\"type\":\"PAYMENT_TIMEOUT\",\"payload\":" PAYLOAD ",\"retry_count\":0}"

static const struct scene_options payments = {
    .in = "delayed-event",
    .source = "envelope: true, routes: {PAYMENT_TIMEOUT: @-payments}",
    .outs = {"@-payments"},
};

static void
send_timeout(struct scene *scene, const char *route, const char *delay_header, int64_t delay_ms, const char *value)
{
    scene_send(scene, &(struct scene_event){.delay_header = delay_header,
                                            .delay_ms = delay_ms,
                                            .route = route,
                                            .ordered = true,
                                            .key = span_of_text("order-123"),
                                            .value = span_of_text(value),
                                            .payload = span_of_text(PAYLOAD)});
}

static void payment_timeout_arrives_at_its_route(void **state)
{
    (void)state;
    struct scene *scene = scene_open("example", &payments);
    char route[SCENE_NAME_MAX + 16];
    snprintf(route, sizeof(route), "%s-payments", scene->prefix);
    scene_start(scene);
    send_timeout(scene, route, "delay_ms", 30000, EXAMPLE);
    send_timeout(scene, route, "delay_ms", 1000, EXAMPLE);
    send_timeout(scene, route, "tarry-delay", 2000, EXAMPLE);
    send_timeout(scene, route, "", 3000, "{\"type\":\"PAYMENT_TIMEOUT\",\"delay_ms\":3000,\"payload\":" PAYLOAD "}");
    scene_flush(scene);
    assert_true(scene_await_count(scene, 3, 15000));
    assert_int_equal(ledger_received_count(scene->ledger), 3); /* the one of 30 s is not among them: never early */
    assert_true(scene_await_all(scene, 45000));
    assert_true(ledger_lateness_max_ms(scene->ledger) < ON_TIME_MS);
    scene_finish(scene, 1000, false);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(payment_timeout_arrives_at_its_route, scene_teardown),
    };
    return cmocka_run_group_tests(tests, scene_group_setup, scene_group_teardown);
}
