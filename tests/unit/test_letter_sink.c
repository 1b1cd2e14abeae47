/* A wait for a transaction coordinator that is not there ends when the caller is to stop, long before its time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "bridge/kafka_handle.h"
#include "bridge/letter_sink.h"

#define WAIT_MS 300000

static bool third_time(void *context)
{
    int *asked = context;
    return ++*asked >= 3;
}

static void a_wait_ends_when_stopped(void **state)
{
    (void)state;
    int asked = 0;
    const struct kafka_property nobody = {.name = "bootstrap.servers", .value = "127.0.0.1:1"};
    const struct letter_sink_options options = {.properties = &nobody,
                                                .property_count = 1,
                                                .client = "test",
                                                .transactional_id = "test.letters",
                                                .transaction_timeout_ms = 60000,
                                                .send_timeout_ms = 10000,
                                                .stopped = third_time,
                                                .stopped_context = &asked};
    struct letter_sink *sink = NULL;
    struct error error = {0};
    assert_true(letter_sink_open(&options, &sink, &error));
    int64_t begin_ms = kafka_handle_clock_ms();
    assert_false(letter_sink_settle(sink, WAIT_MS, &error));
    assert_true(kafka_handle_clock_ms() - begin_ms < WAIT_MS / 2);
    assert_int_equal(asked, 3);
    assert_int_equal(error.code, ERROR_UNAVAILABLE);
    letter_sink_close(sink);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_wait_ends_when_stopped)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
