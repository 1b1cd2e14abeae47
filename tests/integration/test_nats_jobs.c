/* Replay jobs in their stream. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "dlq/jobs.h"
#include "dlq/streams.h"
#include "tests/support/await.h"
#include "tests/support/nats_client.h"
#include "tests/support/nats_letters.h"
#include "tests/support/nats_server.h"

#define WAIT_MS 20000

struct scene {
    struct nats_server *server;
    struct nats_client *client;
    struct link *link;
    struct streams_options options;
    struct error error;
};

static int open_scene(void **state)
{
    struct scene *scene = calloc(1, sizeof *scene);
    scene->server = nats_server_start(NULL);
    scene->client = nats_client_open(nats_server_url(scene->server));
    scene->link = nats_letters_link(nats_server_url(scene->server));
    scene->options = nats_letters_options();
    *state = scene;
    return 0;
}

static int close_scene(void **state)
{
    struct scene *scene = *state;
    link_close(scene->link);
    nats_client_close(scene->client);
    nats_server_free(scene->server);
    free(scene);
    return 0;
}

struct listed {
    size_t count;
    size_t most;
    char ids[8][JOBS_ID_MAX + 1];
};

static bool note_job(const struct jobs_job *job, void *context)
{
    struct listed *listed = context;
    assert_true(listed->count < 8);
    assert_true(job->written_ms > 0);
    assert_true(job->revision > 0);
    snprintf(listed->ids[listed->count++], JOBS_ID_MAX + 1, "%s", job->id);
    return listed->count < listed->most;
}

static void jobs_are_written_from_what_was_read(void **state)
{
    struct scene *scene = *state;
    struct error *error = &scene->error;
    uint64_t revision = 0;
    assert_false(jobs_put(scene->link, &scene->options, "a", span_of_text("{}"), &revision, error));
    assert_true(error->code == ERROR_NOT_FOUND || error->code == ERROR_UNAVAILABLE);
    nats_letters_streams(scene->link, &scene->options);
    assert_true(jobs_put(scene->link, &scene->options, "a", span_of_text("{\"n\":1}"), &revision, error));
    uint64_t first = revision;
    assert_true(first > 0);
    assert_true(jobs_put(scene->link, &scene->options, "a", span_of_text("{\"n\":2}"), &revision, error));
    assert_true(revision > first);
    uint64_t stale = first;
    assert_false(jobs_put(scene->link, &scene->options, "a", span_of_text("{\"n\":3}"), &stale, error));
    assert_int_equal(error->code, ERROR_BUSY);
    assert_int_equal(stale, first);
    uint64_t none = 0;
    assert_false(jobs_put(scene->link, &scene->options, "a", span_of_text("{}"), &none, error));
    assert_int_equal(error->code, ERROR_BUSY);
    struct buffer bytes = buffer_new(1024);
    uint64_t read = 0;
    assert_true(jobs_get(scene->link, &scene->options, "a", &bytes, &read, error));
    assert_int_equal(read, revision);
    assert_true(span_equals_text(buffer_span(&bytes), "{\"n\":2}"));
    assert_false(jobs_get(scene->link, &scene->options, "b", &bytes, &read, error));
    assert_int_equal(error->code, ERROR_NOT_FOUND);
    buffer_free(&bytes);
    assert_int_equal(nats_client_count(scene->client, "TARRY_DLQ_JOBS", NULL), 1);
}

static bool no_consumers(void *context)
{
    return nats_client_consumers(context, "TARRY_DLQ_JOBS") == 0;
}

static void jobs_are_listed_by_their_last_writing(void **state)
{
    struct scene *scene = *state;
    nats_letters_streams(scene->link, &scene->options);
    struct listed listed = {.most = 8};
    assert_true(jobs_list(scene->link, &scene->options, note_job, &listed, &scene->error));
    assert_int_equal(listed.count, 0);
    static const char *const ids[] = {"a", "b-1", "C_2"};
    uint64_t revisions[3] = {0};
    for (int i = 0; i < 3; i++) {
        assert_true(jobs_put(scene->link, &scene->options, ids[i], span_of_text("{}"), &revisions[i], &scene->error));
    }
    assert_true(jobs_put(scene->link, &scene->options, "a", span_of_text("{}"), &revisions[0], &scene->error));
    if (!jobs_list(scene->link, &scene->options, note_job, &listed, &scene->error)) {
        fail_msg("%s", scene->error.text);
    }
    assert_int_equal(listed.count, 3);
    assert_string_equal(listed.ids[0], "b-1");
    assert_string_equal(listed.ids[1], "C_2");
    assert_string_equal(listed.ids[2], "a");
    listed = (struct listed){.most = 1};
    assert_true(jobs_list(scene->link, &scene->options, note_job, &listed, &scene->error));
    assert_int_equal(listed.count, 1);
    assert_true(await_condition(no_consumers, scene->client, WAIT_MS)); /* they are taken away without waiting */
}

static void ids_of_jobs_are_no_subjects(void **state)
{
    struct scene *scene = *state;
    nats_letters_streams(scene->link, &scene->options);
    static const char *const wrong[] = {"", "*", ">", "a.b", "a b", "a\nb", "\xff", "01234567890123456789012345678901234567890123456789012345678901234"};
    struct buffer bytes = buffer_new(64);
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        uint64_t revision = 0;
        assert_false(jobs_put(scene->link, &scene->options, wrong[i], span_of_text("{}"), &revision, &scene->error));
        assert_int_equal(scene->error.code, ERROR_INVALID);
        assert_false(jobs_get(scene->link, &scene->options, wrong[i], &bytes, &revision, &scene->error));
        assert_int_equal(scene->error.code, ERROR_INVALID);
    }
    buffer_free(&bytes);
    assert_int_equal(nats_client_count(scene->client, "TARRY_DLQ_JOBS", NULL), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(jobs_are_written_from_what_was_read, open_scene, close_scene),
        cmocka_unit_test_setup_teardown(jobs_are_listed_by_their_last_writing, open_scene, close_scene),
        cmocka_unit_test_setup_teardown(ids_of_jobs_are_no_subjects, open_scene, close_scene),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
