/*
 * docs/openapi.yaml and a running tarry: check_server.py asks, this program makes what it asks about: letters, jobs, a second instance, a NATS that is away.
 */
#include <setjmp.h>
#include <spawn.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <cmocka.h>

#include "dlq/jobs.h"
#include "tests/support/nats_letters.h"
#include "tests/support/scene_dlq.h"
#include "tests/support/scene_instance.h"
#include "tests/support/temp.h"

#define TOKEN "0123456789abcdef0123456789abcdef"
#define LETTER_ID "broken order"
#define JOBS "replay-1,replay-2"
#define ASSIGN_MS 60000

static const struct scene_options options = {
    .partitions = 2,
    .shared_input = true,
    .letters = true,
    .kafka = "consumer: {session.timeout.ms: 6000, heartbeat.interval.ms: 500}",
    .targets = "[{name: out, match: \"@-out\"}, {name: missing, match: \"@-missing\", retry: {max_deliver: 0}}]",
    .more = "unknown_topic_grace: 1s",
};

/* ------------------------------------------------------------------------------------------------ the check */

static void check(const struct scene *scene, const char *phase)
{
    char address[64];
    char *python = getenv("PYTHON");
    char *script = getenv("CHECK_SERVER");
    pid_t pid;
    int status = -1;
    if (python == NULL || script == NULL) {
        fail_msg("PYTHON and CHECK_SERVER are not set: ctest does");
        return;
    }
    (void)snprintf(address, sizeof address, "127.0.0.1:%d", scene->http_port);
    assert_int_equal(setenv("ADDRESS", address, 1), 0);
    assert_int_equal(setenv("TOKEN", TOKEN, 1), 0);
    assert_int_equal(setenv("LETTER_ID", LETTER_ID, 1), 0);
    assert_int_equal(setenv("JOBS", JOBS, 1), 0);
    char *const arguments[] = {python, script, (char *)(uintptr_t)phase, NULL};
    assert_int_equal(posix_spawn(&pid, python, NULL, NULL, arguments, environ), 0);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

/* ------------------------------------------------------------------------------------------------ what is there */

static void write_token(const struct scene *scene)
{
    char *path = temp_path(scene->folder, "token");
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(TOKEN "\n", file) >= 0);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(chmod(path, S_IRUSR | S_IWUSR), 0);
    assert_int_equal(setenv("TARRY_HTTP_TOKEN_FILE", path, 1), 0);
    free(path);
}

/* One that was refused, and one whose target is not there. */
static void make_letters(struct scene *scene, struct nats_client *client)
{
    char missing[SCENE_DLQ_TOPIC_SIZE];
    scene_dlq_topic(scene, "missing", missing);
    scene_send_apart(scene, &(struct scene_event){.delay_ms = 1, .delay_header = "no-such-header", .key = span_of_text("k"), .value = span_of_text("v")});
    scene_send_apart(scene, &(struct scene_event){.delay_ms = 1, .key = span_of_text("k"), .value = span_of_text("v"), .id = span_of_text(LETTER_ID), .target = missing});
    scene_flush(scene);
    scene_dlq_await_count(scene, client, LETTER_PARKED, 2);
}

static void make_job(struct scene *scene, struct link *link, const char *id)
{
    char prefix[SCENE_NAME_MAX + 2];
    const struct streams_options streams = {.stream = scene->dlq_stream, .parked_stream = scene->parked_stream, .prefix = prefix};
    char json[500];
    uint64_t revision = 0;
    struct error error;
    (void)snprintf(prefix, sizeof prefix, "%s.", scene->subject_prefix); /* as the configuration is read */
    (void)snprintf(json, sizeof json,
                   "{\"id\":\"%s\",\"verb\":\"replay\",\"state\":\"running\",\"runner\":\"c0ffee0123456789\",\"filter\":[],\"options\":[],\"waiting\":null,"
                   "\"parked\":{\"first\":1,\"last\":2,\"messages\":2,\"created_ms\":1796000000000},\"counts\":{\"done\":0,\"failed\":0,\"skipped\":0,\"gone\":0},"
                   "\"started_ms\":1796000000000,\"updated_ms\":1796000000000}",
                   id);
    if (!jobs_put(link, &streams, id, span_of_text(json), &revision, &error)) {
        fail_msg("no job: %s", error.text);
    }
}

static void the_server_is_what_the_file_says(void **state)
{
    (void)state;
    struct scene *scene = scene_open("openapi", &options);
    struct nats_client *client = nats_client_open(scene->nats_url);
    struct link *link = nats_letters_link(scene->nats_url);
    write_token(scene);
    scene_start(scene);
    make_letters(scene, client);
    make_job(scene, link, "replay-1");
    make_job(scene, link, "replay-2");
    check(scene, "main");
    nats_server_stop(scene_nats());
    check(scene, "away");
    nats_server_restart(scene_nats());
    struct scene_instance *other = scene_instance_add(scene, "other", &options);
    scene_instance_start(other);
    scene_instance_await_partitions(other, 1, ASSIGN_MS);
    tarry_process_wait_ready(scene->process, ASSIGN_MS);
    check(scene, "two");
    scene_instance_stop(other);
    scene_stop(scene);
    link_close(link);
    nats_client_close(client);
    scene_close(scene);
    (void)unsetenv("TARRY_HTTP_TOKEN_FILE");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(the_server_is_what_the_file_says, scene_teardown),
    };
    return cmocka_run_group_tests(tests, scene_group_setup, scene_group_teardown);
}
