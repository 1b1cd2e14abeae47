/* One event as it is answered: with a real store, a real core and an owner thread that is asked; no HTTP, no broker. By id out of the checkpoint: e2e_api_reads.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>
#include <cmocka.h>

#include "base/memory.h"
#include "ops/api.h"
#include "ops/api_question.h"
#include "ops/clock.h"
#include "ops/daemon_state.h"
#include "tests/support/api_scene.h"
#include "tests/support/daemon_scene.h"

#define NOW LIST_SCENE_NOW
#define HOUR_MS INT64_C(3600000)

/* Partition 0 of a, with what is in the store; more is read before the owner begins. */
static struct partition *gain(struct api_scene *scene, int64_t behind)
{
    list_scene_write(scene->list);
    struct partition *partition = api_scene_gain(scene, 0, behind);
    daemon_scene_step(scene->daemon, NULL);
    return partition;
}

/* An event with this id and value is read. */
static void read_event(struct api_scene *scene, const struct partition *partition, int64_t offset, const char *id, struct span value)
{
    struct buffer bytes = buffer_new((size_t)16 << 20);
    struct error error;
    struct record record = {.key = span_of_text("k"), .value = value, .offset = offset, .timestamp_ms = NOW, .timestamp = RECORD_TIMESTAMP_CREATE};
    struct decoded decoded = {.due_ms = NOW + HOUR_MS,
                              .target = span_of_text("orders"),
                              .partition = -1,
                              .key = span_of_text("k"),
                              .value = value,
                              .id = span_of_text(id),
                              .root = -1,
                              .expires_ms = -1,
                              .recurrence = {.until_ms = -1}};
    assert_true(row_encode(&bytes, &record, &decoded, &error));
    struct input_record *taken = daemon_scene_read(scene->daemon, partition, id, buffer_span(&bytes));
    taken->offset = offset;
    taken->due_ms = NOW + HOUR_MS;
    taken->lane = 3;
    daemon_scene_step(scene->daemon, NULL);
    buffer_free(&bytes);
}

/* ------------------------------------------------------------------------------------------------- asking */

static const struct cJSON *ask(struct api_scene *scene, const char *id, const char *source, unsigned status)
{
    struct http_request *request = api_scene_request();
    request->parameter = span_of_text(id);
    if (source != NULL) {
        request->query[request->query_count++] = (struct http_request_pair){span_of_text("source"), span_of_text(source)};
    }
    api_get_message(request, &scene->api);
    const struct cJSON *answer = api_scene_take(scene, request);
    assert_int_equal(scene->status, status);
    return answer;
}

static const char *text_of(const struct cJSON *object, const char *name)
{
    const char *text = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(object, name));
    return text == NULL ? "" : text;
}

static const char *place_of(const struct list_scene_row *row)
{
    static char text[64];
    (void)snprintf(text, sizeof(text), "a/0/%lld", (long long)row->offset);
    return text;
}

static void test_by_place_from_the_checkpoint(void **state)
{
    struct api_scene *scene = *state;
    struct list_scene_row *first = list_scene_add(scene->list, 0, NOW + HOUR_MS);
    struct list_scene_row *refused = list_scene_add(scene->list, 0, NOW + HOUR_MS);
    struct list_scene_row *coarse = list_scene_add(scene->list, 0, NOW + 50 * HOUR_MS);
    refused->lane = LIST_SCENE_REFUSED;
    coarse->level = 2;
    coarse->lane = LIST_SCENE_ORDERS;
    gain(scene, 0);
    api_scene_start(scene);
    const struct cJSON *answer = ask(scene, place_of(first), NULL, 200);
    assert_string_equal(text_of(answer, "state"), "pending");
    assert_string_equal(text_of(cJSON_GetObjectItemCaseSensitive(answer, "target"), "lane"), "default");
    answer = ask(scene, place_of(coarse), "a", 200);
    assert_string_equal(text_of(cJSON_GetObjectItemCaseSensitive(answer, "target"), "lane"), "orders");
    (void)ask(scene, place_of(refused), NULL, 404);
    (void)ask(scene, place_of(coarse), "b", 404); /* of another source */
    (void)ask(scene, "a/0/4000", NULL, 404);
    (void)ask(scene, "a/1/0", NULL, 404); /* not here */
    (void)ask(scene, "a/0/x", NULL, 404);
    (void)ask(scene, "a/0/99999999999999999999", NULL, 404);
    (void)ask(scene, "/", NULL, 404);
}

static void test_by_id_from_memory(void **state)
{
    struct api_scene *scene = *state;
    struct partition *partition = gain(scene, 0);
    read_event(scene, partition, 7, "order/1", span_of_text("hello"));
    api_scene_start(scene);
    const struct cJSON *answer = ask(scene, "order/1", NULL, 200);
    assert_string_equal(text_of(answer, "id"), "order/1");
    assert_string_equal(text_of(answer, "value"), "hello");
    assert_string_equal(text_of(answer, "state"), "pending");
    assert_string_equal(text_of(cJSON_GetObjectItemCaseSensitive(answer, "target"), "lane"), "orders");
    assert_int_equal(cJSON_GetArraySize(cJSON_GetObjectItemCaseSensitive(answer, "history")), 0);
    answer = ask(scene, "a/0/7", NULL, 200); /* its place */
    assert_string_equal(text_of(answer, "id"), "order/1");
}

/* Its value is not copied. */
static void test_a_large_one(void **state)
{
    struct api_scene *scene = *state;
    struct partition *partition = gain(scene, 0);
    uint8_t *large = memory_new((size_t)2 << 20, 1);
    read_event(scene, partition, 7, "large", (struct span){large, (size_t)2 << 20});
    api_scene_start(scene);
    const struct cJSON *answer = ask(scene, "large", NULL, 200);
    assert_true(cJSON_IsNull(cJSON_GetObjectItemCaseSensitive(answer, "value")));
    assert_true(cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(answer, "cut")));
    assert_string_equal(text_of(answer, "key"), "k");
    assert_int_equal(cJSON_GetObjectItemCaseSensitive(answer, "value_bytes")->valuedouble, 2 << 20);
    assert_true(atomic_load(&scene->asked) <= 1); /* nothing was waited for */
    answer = ask(scene, "a/0/7", NULL, 200);
    assert_true(cJSON_IsNull(cJSON_GetObjectItemCaseSensitive(answer, "value")));
    free(large);
}

static void test_what_does_not_read_back(void **state)
{
    struct api_scene *scene = *state;
    struct partition *partition = gain(scene, 0);
    daemon_scene_read(scene->daemon, partition, "a", span_of_text("bad"))->due_ms = NOW + HOUR_MS;
    daemon_scene_step(scene->daemon, NULL);
    api_scene_start(scene);
    assert_string_equal(text_of(ask(scene, "a", NULL, 500), "code"), "unreadable");
}

static void test_not_read_to_the_end(void **state)
{
    struct api_scene *scene = *state;
    gain(scene, 10);
    struct history_event event = {.id = span_of_text("done"), .source_topic = span_of_text("a"), .due_ms = NOW, .outcome = HISTORY_DELIVERED, .at_ms = NOW};
    history_add(scene->daemon->outcomes.history, &event);
    api_scene_start(scene);
    assert_string_equal(text_of(ask(scene, "a", NULL, 503), "code"), "not_ready");
    assert_string_equal(text_of(ask(scene, "done", NULL, 200), "state"), "delivered"); /* that is known all the same */
    assert_string_equal(text_of(ask(scene, "done", "b", 404), "code"), "not_found"); /* no partition of it is awaited */
}

/* A person has it moved, and that is not read back: its place is known, but not its new one. */
static void test_moving_for_long(void **state)
{
    struct api_scene *scene = *state;
    struct partition *partition = gain(scene, 0);
    read_event(scene, partition, 7, "a", span_of_text("v"));
    daemon_input(scene->daemon, INPUT_STEER, partition)->as.steer =
        (struct input_steer){.token = 1, .due_ms = NOW + 2 * HOUR_MS, .id = daemon_ids_hash(scene->daemon, span_of_text("a")), .found = {.offset = -1}};
    daemon_scene_step(scene->daemon, NULL); /* its transaction is not answered */
    api_scene_start(scene);
    const struct cJSON *answer = ask(scene, "a", NULL, 200);
    assert_string_equal(text_of(answer, "state"), "moving");
    assert_string_equal(text_of(answer, "value"), "v");
    assert_true(atomic_load(&scene->asked) <= 300 / 20 + 2); /* for some 300 ms: a reader sleeps meanwhile */
}

static void expect_unreadable(struct api_scene *scene, const struct partition *partition)
{
    struct mono_ms deadline = {clock_mono().ms + 20000};
    struct api_question_partition place = {.number = partition->number, .slot = partition->slot, .epoch = partition->epoch, .open = true};
    const struct api_question_partition *places[] = {&place};
    struct api_question_write write = {.word = span_of_text("w"), .id = span_of_text("a"), .places = places, .count = 1, .look_first = true};
    struct api_question_begin begun;
    struct error error;
    int64_t due_ms;
    bool moving;
    assert_false(api_question_due(&scene->api, 0, partition->number, write.id, deadline, &due_ms, &moving, &error));
    assert_int_equal(error.code, ERROR_CORRUPT);
    assert_false(api_question_begin(&scene->api, &write, deadline, &begun, &error));
    assert_int_equal(error.code, ERROR_CORRUPT);
}

/* A look at a store that does not read is answered, and ends nothing. */
static void test_a_store_that_does_not_read(void **state)
{
    struct api_scene *scene = *state;
    gain(scene, 0);
    for (int32_t i = 1; i < LIST_SCENE_PLACES; i++) {
        (void)partitions_add(&scene->daemon->partitions, "a", i, 0);
    }
    struct partition *partition = daemon_scene_gain(scene->daemon, "a", LIST_SCENE_PLACES, 0, NULL); /* of which the store knows nothing */
    partition->has_ids = true;
    scene->daemon->store = scene->list->store;
    daemon_scene_step(scene->daemon, NULL);
    api_scene_start(scene);
    const struct cJSON *answer = ask(scene, "a", NULL, 500);
    assert_string_equal(text_of(answer, "code"), "unreadable");
    assert_non_null(strstr(text_of(answer, "detail"), "not bound"));
    expect_unreadable(scene, partition); /* and so it is with what writers ask */
    assert_false(scene->daemon->failed);
}

/* And the ids of what is read later are not those of a cluster without a name. */
static void test_no_broker_has_answered(void **state)
{
    struct api_scene *scene = *state;
    scene->daemon->cluster[0] = '\0';
    api_scene_start(scene);
    assert_string_equal(text_of(ask(scene, "a", NULL, 503), "code"), "not_ready");
    struct record_id before = daemon_ids_hash(scene->daemon, span_of_text("a"));
    memcpy(scene->daemon->cluster, "c", 2);
    assert_false(record_id_equal(daemon_ids_hash(scene->daemon, span_of_text("a")), before));
}

static void test_nothing_is_known(void **state)
{
    struct api_scene *scene = *state;
    char id[DECODE_ID_MAX + 2];
    gain(scene, 0);
    api_scene_start(scene);
    const struct cJSON *answer = ask(scene, "a\n\xff", NULL, 404);
    assert_string_equal(text_of(answer, "code"), "not_found");
    assert_non_null(strstr(text_of(answer, "detail"), "this instance has (1)"));
    assert_non_null(strstr(text_of(answer, "detail"), "Kafka did not say")); /* there is none here */
    assert_string_equal(text_of(ask(scene, "a", "nowhere", 400), "code"), "bad_parameter");
    memset(id, 'x', sizeof(id));
    id[DECODE_ID_MAX + 1] = '\0';
    assert_string_equal(text_of(ask(scene, id, NULL, 400), "code"), "bad_parameter");
    id[DECODE_ID_MAX] = '\0';
    (void)ask(scene, id, NULL, 404);
}

int main(void)
{
#define TEST(function) cmocka_unit_test_setup_teardown(function, api_scene_setup, api_scene_teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_by_place_from_the_checkpoint),
        TEST(test_by_id_from_memory),
        TEST(test_a_large_one),
        TEST(test_what_does_not_read_back),
        TEST(test_not_read_to_the_end),
        TEST(test_moving_for_long),
        TEST(test_a_store_that_does_not_read),
        TEST(test_no_broker_has_answered),
        TEST(test_nothing_is_known),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
