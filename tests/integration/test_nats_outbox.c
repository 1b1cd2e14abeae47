/* The outbox: every letter put is reported, whatever JetStream does, and what is reported kept stands there. */
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cmocka.h>

#include "dlq/outbox.h"
#include "tests/support/await.h"
#include "tests/support/nats_client.h"
#include "tests/support/nats_letters.h"
#include "tests/support/nats_server.h"

#define WAIT_MS 30000

struct scene {
    struct nats_server *server;
    struct nats_client *client; /* NULL until the server runs */
    struct link *link;
    struct outbox *outbox;
    int wake_fd;
    size_t kept;
    size_t full;
    size_t unavailable;
    size_t other;
    uint64_t tokens; /* sum of those reported */
    char error[256]; /* the last one */
};

static void open_outbox(struct scene *scene, size_t letters_max, size_t bytes_max, int64_t timeout_ms)
{
    struct link_options link = {.url = nats_server_url(scene->server)};
    assert_true(link_open(&link, &scene->link, NULL));
    struct outbox_options options = {scene->link, nats_letters_options(), letters_max, bytes_max, timeout_ms, scene->wake_fd};
    options.streams.max_bytes = 16 << 20;
    assert_true(outbox_open(&options, &scene->outbox, NULL));
}

static int open_scene(void **state)
{
    struct scene *scene = calloc(1, sizeof *scene);
    scene->server = nats_server_start(NULL);
    scene->client = nats_client_open(nats_server_url(scene->server));
    scene->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    *state = scene;
    return 0;
}

static int close_scene(void **state)
{
    struct scene *scene = *state;
    outbox_close(scene->outbox);
    link_close(scene->link);
    nats_client_close(scene->client);
    nats_server_free(scene->server);
    close(scene->wake_fd);
    free(scene);
    return 0;
}

static void take(struct scene *scene)
{
    struct outbox_report reports[64];
    size_t count = 0;
    while ((count = outbox_take(scene->outbox, reports, 64)) > 0) {
        for (size_t i = 0; i < count; i++) {
            scene->tokens += (uintptr_t)reports[i].token;
            scene->kept += reports[i].result == MAILER_KEPT;
            scene->full += reports[i].result == MAILER_FULL;
            scene->unavailable += reports[i].result == MAILER_UNAVAILABLE;
            scene->other += reports[i].result == MAILER_REFUSED;
            if (reports[i].result != MAILER_KEPT) {
                memcpy(scene->error, reports[i].error, sizeof scene->error);
            }
        }
    }
}

static size_t reported(const struct scene *scene)
{
    return scene->kept + scene->full + scene->unavailable + scene->other;
}

/* Sleeps on the wake fd alone: a report that does not wake us is one too few. */
static void await_reports(struct scene *scene, size_t count)
{
    int64_t limit_ms = await_mono_ms() + WAIT_MS;
    take(scene);
    while (reported(scene) < count && await_mono_ms() < limit_ms) {
        struct pollfd wake = {.fd = scene->wake_fd, .events = POLLIN};
        if (poll(&wake, 1, WAIT_MS) > 0) {
            uint64_t times = 0;
            assert_int_equal(read(scene->wake_fd, &times, sizeof times), sizeof times);
        }
        take(scene);
    }
    assert_int_equal(reported(scene), count);
}

static bool put(struct scene *scene, uint64_t n, size_t value_bytes)
{
    struct letter letter = nats_letters_one(n, value_bytes);
    return outbox_put(scene->outbox, &letter, LETTER_WAITING, (void *)(uintptr_t)n);
}

static bool is_ready(void *context)
{
    struct outbox_status status;
    outbox_status(context, &status);
    return status.ready;
}

static bool is_not_ready(void *context)
{
    return !is_ready(context);
}

static void letters_are_kept_and_reported(void **state)
{
    struct scene *scene = *state;
    open_outbox(scene, 1000, 8 << 20, 10000);
    assert_true(await_condition(is_ready, scene->outbox, WAIT_MS));
    struct outbox_status status;
    outbox_status(scene->outbox, &status);
    assert_true(status.findings.made);
    assert_int_equal(status.findings.count, 0);
    for (uint64_t n = 1; n <= 500; n++) {
        assert_true(put(scene, n, 300));
    }
    await_reports(scene, 500);
    assert_int_equal(scene->kept, 500);
    assert_int_equal(scene->tokens, 500 * 501 / 2);
    assert_int_equal(nats_client_count(scene->client, "TARRY_DLQ", NULL), 500);
}

static bool counts_ten(void *context)
{
    struct outbox_status status;
    outbox_status(context, &status);
    return status.waiting == 10 && status.parked == 1 && status.bytes > 3000 && status.oldest_waiting_ms > 1600000000000 && status.oldest_parked_ms > 0;
}

static void the_status_counts_what_stands_there(void **state)
{
    struct scene *scene = *state;
    open_outbox(scene, 1000, 8 << 20, 10000); /* put before the link is up */
    for (uint64_t n = 1; n <= 10; n++) {
        assert_true(put(scene, n, 300));
    }
    struct letter letter = nats_letters_one(11, 300);
    assert_true(outbox_put(scene->outbox, &letter, LETTER_PARKED, NULL));
    await_reports(scene, 11);
    assert_true(await_condition(counts_ten, scene->outbox, WAIT_MS));
}

static void a_letter_is_a_copy(void **state)
{
    struct scene *scene = *state;
    open_outbox(scene, 10, 8 << 20, 10000);
    char value[] = "what was put";
    struct letter letter = nats_letters_one(1, 0);
    letter.record.value = span_of_text(value);
    letter.record.key = SPAN_ABSENT;
    letter.error = (struct span){(const uint8_t *)"", 0};
    assert_true(outbox_put(scene->outbox, &letter, LETTER_WAITING, NULL));
    memset(value, '?', sizeof value - 1);
    await_reports(scene, 1);
    assert_int_equal(scene->kept, 1);
    natsMsg *message = nats_client_message(scene->client, "TARRY_DLQ", nats_client_first(scene->client, "TARRY_DLQ"));
    struct letter read;
    assert_true(letter_decode((struct span){(const uint8_t *)natsMsg_GetData(message), (size_t)natsMsg_GetDataLength(message)}, &read, NULL));
    assert_true(span_equals_text(read.record.value, "what was put"));
    assert_true(read.record.key.data == NULL);
    natsMsg_Destroy(message);
}

static void it_has_bounds(void **state)
{
    struct scene *scene = *state;
    nats_server_stop(scene->server);
    open_outbox(scene, 3, 100000, 1000);
    assert_true(put(scene, 1, 200000)); /* one is always let in */
    await_reports(scene, 1);
    assert_true(put(scene, 2, 10));
    await_reports(scene, 2);
    nats_server_restart(scene->server);
    assert_true(await_condition(is_ready, scene->outbox, WAIT_MS));
    nats_server_freeze(scene->server);
    assert_true(put(scene, 3, 60000));
    assert_false(put(scene, 4, 60000));
    assert_true(put(scene, 4, 10));
    assert_true(put(scene, 5, 10));
    assert_false(put(scene, 6, 10));
    nats_server_thaw(scene->server);
    await_reports(scene, 5);
    assert_true(put(scene, 6, 10));
    await_reports(scene, 6);
}

static void with_no_server_letters_come_back_within_moments(void **state)
{
    struct scene *scene = *state;
    nats_server_stop(scene->server);
    open_outbox(scene, 1000, 8 << 20, 5000);
    int64_t before_ms = await_mono_ms();
    for (uint64_t n = 1; n <= 20; n++) {
        assert_true(put(scene, n, 300));
    }
    await_reports(scene, 20);
    assert_true(await_mono_ms() - before_ms < 5000);
    assert_int_equal(scene->unavailable, 20);
    assert_non_null(strstr(scene->error, "NATS"));
    struct outbox_status status;
    outbox_status(scene->outbox, &status);
    assert_false(status.ready);
    assert_non_null(strstr(status.text, nats_server_address(scene->server)));
    /* the server comes after us: all goes well without more ado */
    nats_server_restart(scene->server);
    assert_true(await_condition(is_ready, scene->outbox, WAIT_MS));
    for (uint64_t n = 1; n <= 20; n++) {
        assert_true(put(scene, n, 300));
    }
    await_reports(scene, 40);
    assert_int_equal(scene->kept, 20);
}

static void restarts_while_letters_flow_double_nothing(void **state)
{
    struct scene *scene = *state;
    open_outbox(scene, 100, 8 << 20, 5000);
    bool done[2001] = {false};
    size_t left = 2000;
    uint64_t next = 1;
    size_t under_way = 0;
    int64_t limit_ms = await_mono_ms() + 120000;
    size_t restarts = 0;
    while (left > 0 && await_mono_ms() < limit_ms) {
        for (size_t tried = 0; tried < 2000; tried++, next = next % 2000 + 1) {
            if (!done[next] && under_way < 100) {
                done[next] = put(scene, next, 500); /* taken back below when it is not kept */
                under_way += done[next];
            }
        }
        struct outbox_report reports[100];
        size_t count = outbox_take(scene->outbox, reports, 100);
        for (size_t i = 0; i < count; i++) {
            done[(uintptr_t)reports[i].token] = reports[i].result == MAILER_KEPT;
            left -= reports[i].result == MAILER_KEPT;
        }
        under_way -= count;
        if (restarts < 5 && left < 2000 - restarts * 300) {
            restarts++;
            nats_server_kill(scene->server);
            nats_server_restart_soon(scene->server);
        } else if (count == 0) {
            await_pause_ms(5);
        }
    }
    assert_int_equal(left, 0);
    assert_int_equal(restarts, 5);
    assert_int_equal(nats_client_count(scene->client, "TARRY_DLQ", NULL), 2000);
}

static void a_stream_deleted_under_us_is_made_again(void **state)
{
    struct scene *scene = *state;
    open_outbox(scene, 100, 8 << 20, 2000);
    assert_true(await_condition(is_ready, scene->outbox, WAIT_MS));
    nats_client_delete_stream(scene->client, "TARRY_DLQ");
    int64_t limit_ms = await_mono_ms() + WAIT_MS;
    size_t tries = 0;
    while (scene->kept == 0 && await_mono_ms() < limit_ms) {
        assert_true(put(scene, 1, 100));
        await_reports(scene, ++tries);
    }
    assert_int_equal(scene->kept, 1);
    assert_int_equal(nats_client_count(scene->client, "TARRY_DLQ", NULL), 1);
}

static void edit_small(jsStreamConfig *config)
{
    config->MaxBytes = 65536;
}

static void a_full_stream_is_told_and_forgotten(void **state)
{
    struct scene *scene = *state;
    open_outbox(scene, 200, 8 << 20, 5000);
    assert_true(await_condition(is_ready, scene->outbox, WAIT_MS));
    nats_client_edit(scene->client, "TARRY_DLQ", edit_small);
    for (uint64_t n = 1; n <= 100; n++) {
        assert_true(put(scene, n, 2000));
    }
    await_reports(scene, 100);
    assert_true(scene->full > 0);
    assert_int_equal(scene->full + scene->kept, 100);
    struct outbox_status status;
    outbox_status(scene->outbox, &status);
    assert_false(status.ready);
    assert_non_null(strstr(status.text, "maximum bytes"));
    assert_non_null(strstr(status.text, "dlq.max_bytes"));
    /* without a letter that tries it: somebody takes letters out */
    await_pause_ms(4000); /* it looks at the full stream first */
    outbox_status(scene->outbox, &status);
    assert_false(status.ready);
    nats_client_purge(scene->client, "TARRY_DLQ", NULL);
    assert_true(await_condition(is_ready, scene->outbox, WAIT_MS));
    for (uint64_t n = 201; n <= 210; n++) {
        assert_true(put(scene, n, 2000));
    }
    size_t kept = scene->kept;
    await_reports(scene, 110);
    assert_int_equal(scene->kept, kept + 10);
}

static void edit_age(jsStreamConfig *config)
{
    config->MaxAge = 3600LL * 1000000000;
}

static void edit_no_age(jsStreamConfig *config)
{
    config->MaxAge = 0;
}

static void an_unusable_stream_takes_no_letters(void **state)
{
    struct scene *scene = *state;
    nats_client_add_stream(scene->client, "TARRY_DLQ", "dlq.> nack.>", 16 << 20, 1);
    nats_client_edit(scene->client, "TARRY_DLQ", edit_age);
    open_outbox(scene, 100, 8 << 20, 5000);
    assert_true(put(scene, 1, 100));
    await_reports(scene, 1);
    assert_int_equal(scene->kept, 0);
    assert_non_null(strstr(scene->error, "max_age"));
    assert_int_equal(nats_client_count(scene->client, "TARRY_DLQ", NULL), 0);
    nats_client_edit(scene->client, "TARRY_DLQ", edit_no_age);
    assert_true(await_condition(is_ready, scene->outbox, WAIT_MS));
    assert_true(put(scene, 1, 100));
    await_reports(scene, 2);
    assert_int_equal(scene->kept, 1);
}

static void closing_does_not_wait_for_a_silent_server(void **state)
{
    struct scene *scene = *state;
    open_outbox(scene, 100, 8 << 20, 2000);
    assert_true(await_condition(is_ready, scene->outbox, WAIT_MS));
    nats_server_freeze(scene->server);
    for (uint64_t n = 1; n <= 50; n++) {
        assert_true(put(scene, n, 1000));
    }
    int64_t before_ms = await_mono_ms();
    outbox_close(scene->outbox);
    scene->outbox = NULL;
    assert_true(await_mono_ms() - before_ms < 15000);
    nats_server_thaw(scene->server);
}

static void a_server_that_dies_is_noticed_without_letters(void **state)
{
    struct scene *scene = *state;
    open_outbox(scene, 100, 8 << 20, 2000);
    assert_true(await_condition(is_ready, scene->outbox, WAIT_MS));
    nats_server_kill(scene->server);
    assert_true(await_condition(is_not_ready, scene->outbox, WAIT_MS));
    nats_server_restart(scene->server);
    assert_true(await_condition(is_ready, scene->outbox, WAIT_MS));
    outbox_close(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(letters_are_kept_and_reported, open_scene, close_scene),
        cmocka_unit_test_setup_teardown(the_status_counts_what_stands_there, open_scene, close_scene),
        cmocka_unit_test_setup_teardown(a_letter_is_a_copy, open_scene, close_scene),
        cmocka_unit_test_setup_teardown(it_has_bounds, open_scene, close_scene),
        cmocka_unit_test_setup_teardown(with_no_server_letters_come_back_within_moments, open_scene, close_scene),
        cmocka_unit_test_setup_teardown(restarts_while_letters_flow_double_nothing, open_scene, close_scene),
        cmocka_unit_test_setup_teardown(a_stream_deleted_under_us_is_made_again, open_scene, close_scene),
        cmocka_unit_test_setup_teardown(a_full_stream_is_told_and_forgotten, open_scene, close_scene),
        cmocka_unit_test_setup_teardown(an_unusable_stream_takes_no_letters, open_scene, close_scene),
        cmocka_unit_test_setup_teardown(closing_does_not_wait_for_a_silent_server, open_scene, close_scene),
        cmocka_unit_test_setup_teardown(a_server_that_dies_is_noticed_without_letters, open_scene, close_scene),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
