/* Lists as they are answered: with a real store, a real core and an owner thread that is asked; no HTTP, no broker. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>
#include <cmocka.h>

#include "base/memory.h"
#include "bridge/time_text.h"
#include "ops/api.h"
#include "ops/daemon_state.h"
#include "ops/api_event.h"
#include "tests/support/api_scene.h"
#include "tests/support/daemon_scene.h"

#define NOW LIST_SCENE_NOW
#define HOUR_MS INT64_C(3600000)

/* Nothing is due yet. */
static int begin(void **state)
{
    (void)api_scene_setup(state);
    struct api_scene *scene = *state;
    scene->daemon->now.wall.ms -= HOUR_MS;
    return 0;
}

/* What was added is written, and the core has these partitions with what is in the store. */
static void gain(struct api_scene *scene, size_t places)
{
    list_scene_write(scene->list);
    for (size_t i = 0; i < places; i++) {
        api_scene_gain(scene, i, 0);
    }
    daemon_scene_step(scene->daemon, NULL);
    api_scene_start(scene);
}

/* A cancel of a row's id is read, so that the row ends; its checkpoint does not know yet. */
static void cancel(struct api_scene *scene, const struct list_scene_row *row)
{
    struct record_id id = {9, (uint64_t)row->offset + 1};
    struct partition *partition = partitions_at(&scene->daemon->partitions, row->place);
    daemon_input(scene->daemon, INPUT_RECORD, partition)->as.record = (struct input_record){
        .offset = 100000 + row->offset,
        .cancel = true,
        .root = -1,
        .id = id,
        .found = {.offset = row->offset, .due_ms = row->due_ms, .root = -1, .bytes = (uint32_t)row->length, .lane = (lane_index)row->lane}};
    daemon_scene_step(scene->daemon, NULL);
}

/* ---------------------------------------------------------------------------------------------- requests */

/* "name=value&name=value": borrowed as it stands, nothing is decoded. */
static void add_query(struct http_request *request, const char *query)
{
    while (*query != '\0') {
        size_t name = strcspn(query, "=");
        size_t value = strcspn(query + name + 1, "&");
        request->query[request->query_count++] = (struct http_request_pair){{(const uint8_t *)query, name}, {(const uint8_t *)query + name + 1, value}};
        query += name + 1 + value;
        query += *query == '&';
    }
}

static const struct cJSON *ask(struct api_scene *scene, bool schedules, const char *query)
{
    struct http_request *request = api_scene_request();
    add_query(request, query);
    if (schedules) {
        api_list_schedules(request, &scene->api);
    } else {
        api_list_messages(request, &scene->api);
    }
    return api_scene_take(scene, request);
}

static const struct cJSON *items_of(const struct cJSON *answer)
{
    return cJSON_GetObjectItemCaseSensitive(answer, "items");
}

static const char *text_of(const struct cJSON *object, const char *name)
{
    const struct cJSON *member = cJSON_GetObjectItemCaseSensitive(object, name);
    return cJSON_IsString(member) ? member->valuestring : NULL;
}

static int64_t offset_of(const struct cJSON *item)
{
    return (int64_t)cJSON_GetObjectItemCaseSensitive(cJSON_GetObjectItemCaseSensitive(item, "source"), "offset")->valuedouble;
}

/* The offsets of the only page, from the least to the greatest; -1 ends them. */
static void expect(struct api_scene *scene, bool schedules, const char *query, const int64_t *offsets)
{
    const struct cJSON *answer = ask(scene, schedules, query);
    assert_int_equal(scene->status, 200);
    const struct cJSON *item = NULL;
    size_t at = 0;
    cJSON_ArrayForEach(item, items_of(answer))
    {
        assert_int_equal(offset_of(item), offsets[at]);
        at++;
    }
    assert_int_equal(offsets[at], -1);
    assert_null(text_of(answer, "next_cursor"));
    assert_true(cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(answer, "complete")));
    assert_non_null(text_of(answer, "as_of"));
}

#define EXPECT(scene, schedules, query, ...) expect(scene, schedules, query, (const int64_t[]){__VA_ARGS__})

static void test_filters(void **state)
{
    struct api_scene *scene = *state;
    struct list_scene *list = scene->list;
    for (int i = 0; i < 6; i++) {
        struct list_scene_row *row = list_scene_add(list, (uint32_t)(i % 3), NOW + i * 1000);
        (void)snprintf(row->id, sizeof(row->id), "%s-%d", i < 3 ? "low" : "high", i);
    }
    list->rows[2].every = true;
    list->rows[3].paused = true;
    list->rows[3].due_ms = TIME_TEXT_LAST_MS;
    list->rows[3].level = 3;
    list->rows[4].lane = LIST_SCENE_ORDERS;
    list->rows[4].target = "orders";
    list_scene_add(list, 0, DUE_SINCE_EVER)->lane = LIST_SCENE_REFUSED;
    list_scene_add(list, 0, DUE_SINCE_EVER)->lane = LIST_SCENE_UNDECIDED;
    gain(scene, 3);
    EXPECT(scene, false, "", 7, 0, 1, 4, 5, 3, -1);
    EXPECT(scene, true, "", 2, -1);
    EXPECT(scene, false, "source=a", 7, 0, 1, 4, 3, -1);
    EXPECT(scene, false, "source=b&partition=0", 5, -1);
    EXPECT(scene, false, "partition=1", 1, 4, -1);
    EXPECT(scene, false, "target=orders", 4, -1);
    EXPECT(scene, false, "lane=orders", 4, -1);
    EXPECT(scene, false, "lane=_refused", -1);
    EXPECT(scene, false, "id_prefix=high", 4, 5, 3, -1);
    EXPECT(scene, false, "state=paused", 3, -1);
    EXPECT(scene, false, "state=pending", 0, 1, 4, 5, -1);
    EXPECT(scene, false, "state=undecided", 7, -1);
    EXPECT(scene, false, "due_from=1800000001000&due_to=1800000005000", 1, 4, -1);
    EXPECT(scene, false, "due_from=2027-01-15T08:00:05Z", 5, -1);
    EXPECT(scene, false, "state=pending&source=b&id_prefix=low", -1);
}

/* What has ended since the checkpoint is left out, and the page filled with what comes behind it. */
static void test_ended_rows(void **state)
{
    struct api_scene *scene = *state;
    for (int i = 0; i < 400; i++) {
        (void)list_scene_add(scene->list, 0, NOW + i * 100);
    }
    gain(scene, 1);
    for (int i = 0; i < 300; i++) {
        if (i != 7) {
            cancel(scene, &scene->list->rows[i]);
        }
    }
    const struct cJSON *answer = ask(scene, false, "limit=5");
    assert_int_equal(cJSON_GetArraySize(items_of(answer)), 5);
    assert_int_equal(offset_of(cJSON_GetArrayItem(items_of(answer), 0)), 7);
    for (int i = 1; i < 5; i++) {
        assert_int_equal(offset_of(cJSON_GetArrayItem(items_of(answer), i)), 299 + i);
    }
    assert_non_null(text_of(answer, "next_cursor"));
}

/* All pages, by their cursors: each once. */
static void test_pages(void **state)
{
    struct api_scene *scene = *state;
    bool seen[LIST_SCENE_ROWS] = {false};
    char query[API_LIST_PLACE_TOPIC_MAX + 400] = "limit=7";
    int pages = 0;
    for (int i = 0; i < 100; i++) {
        list_scene_add(scene->list, (uint32_t)(i % 3), NOW + i / 10 * 1000)->level = (uint8_t)(i % 4);
    }
    gain(scene, 3);
    for (const char *next = ""; next != NULL; pages++) {
        const struct cJSON *answer = ask(scene, false, query);
        const struct cJSON *item = NULL;
        assert_int_equal(scene->status, 200);
        cJSON_ArrayForEach(item, items_of(answer))
        {
            assert_false(seen[offset_of(item)]);
            seen[offset_of(item)] = true;
        }
        next = text_of(answer, "next_cursor");
        (void)snprintf(query, sizeof(query), "limit=7&cursor=%s", next != NULL ? next : "");
    }
    assert_int_equal(pages, 15);
    for (int i = 0; i < 100; i++) {
        assert_true(seen[i]);
    }
}

/* Of another instance's partitions nothing is shown, even if the checkpoint still has rows of them. */
static void test_elsewhere(void **state)
{
    struct api_scene *scene = *state;
    for (int i = 0; i < 6; i++) {
        (void)list_scene_add(scene->list, (uint32_t)(i % 3), NOW + i * 1000);
    }
    gain(scene, 2);
    EXPECT(scene, false, "", 0, 1, 3, 4, -1);
}

static void test_payloads(void **state)
{
    struct api_scene *scene = *state;
    (void)list_scene_add(scene->list, 0, NOW);
    gain(scene, 1);
    const struct cJSON *item = cJSON_GetArrayItem(items_of(ask(scene, false, "")), 0);
    assert_null(text_of(item, "value"));
    item = cJSON_GetArrayItem(items_of(ask(scene, false, "payload=true")), 0);
    assert_string_equal(text_of(item, "value"), "value");
    assert_string_equal(text_of(item, "state"), "pending");
    scene->api.payloads = CONFIG_PAYLOADS_MASKED;
    item = cJSON_GetArrayItem(items_of(ask(scene, false, "payload=true")), 0);
    assert_null(text_of(item, "value"));
    assert_string_equal(text_of(item, "payloads"), "masked");
}

/* As in the scene, but with headers of two bytes. */
static void give_headers(struct list_scene_row *row, size_t count)
{
    struct buffer bytes = buffer_new(1 << 20);
    struct error error = {0};
    struct record_header *headers = memory_new(count, sizeof(*headers));
    for (size_t i = 0; i < count; i++) {
        headers[i] = (struct record_header){span_of_text("h"), span_of_text("v")};
    }
    struct record record = {.value = span_of_text("value"), .offset = row->offset, .timestamp_ms = -1, .headers = headers, .header_count = count};
    struct decoded decoded = {.due_ms = row->due_ms,
                              .target = span_of_text(row->target),
                              .partition = -1,
                              .value = record.value,
                              .root = -1,
                              .root_timestamp_ms = -1,
                              .expires_ms = -1,
                              .recurrence = {.until_ms = -1}};
    assert_true(row_encode(&bytes, &record, &decoded, &error));
    free(row->bytes);
    row->bytes = bytes.data;
    row->length = bytes.length;
    free(headers);
}

/* Rows are small, and what is shown of them is not: a page ends before all of them, and the next one goes on there. */
static void test_heavy_pages(void **state)
{
    struct api_scene *scene = *state;
    char query[API_LIST_PLACE_TOPIC_MAX + 400] = "limit=1000&payload=true";
    int shown = 0;
    int pages = 0;
    for (int i = 0; i < 100; i++) {
        (void)list_scene_add(scene->list, 0, NOW + i);
    }
    list_scene_write(scene->list);
    for (int i = 0; i < 100; i++) {
        give_headers(&scene->list->rows[i], API_EVENT_HEADERS_MOST);
        list_scene_write_again(scene->list, &scene->list->rows[i]);
    }
    gain(scene, 1);
    assert_int_equal(cJSON_GetArraySize(items_of(ask(scene, false, "limit=1000"))), 100);
    for (const char *next = ""; next != NULL; pages++) {
        const struct cJSON *answer = ask(scene, false, query);
        assert_int_equal(scene->status, 200);
        assert_int_equal(offset_of(cJSON_GetArrayItem(items_of(answer), 0)), shown);
        shown += cJSON_GetArraySize(items_of(answer));
        next = text_of(answer, "next_cursor");
        (void)snprintf(query, sizeof(query), "limit=1000&payload=true&cursor=%s", next != NULL ? next : "");
    }
    assert_int_equal(shown, 100);
    assert_int_equal(pages, 2);
}

/* A row that does not read back will not do so in a second either. */
static void test_damaged_row(void **state)
{
    struct api_scene *scene = *state;
    struct list_scene_row *row = list_scene_add(scene->list, 0, NOW);
    list_scene_write(scene->list);
    row->bytes[0] = 0; /* no version of a row */
    list_scene_write_again(scene->list, row);
    gain(scene, 1);
    const struct cJSON *answer = ask(scene, false, "");
    assert_int_equal(scene->status, 500);
    assert_string_equal(text_of(answer, "code"), "unreadable");
}

static void test_bad_parameters(void **state)
{
    struct api_scene *scene = *state;
    static const struct {
        const char *query;
        const char *names;
    } cases[] = {{"limit=0", "limit"},           {"limit=1001", "limit"},     {"limit=x", "limit"},    {"partition=-1", "partition"},
                 {"due_from=soon", "due_from"},  {"due_to=", "due_to"},       {"state=gone", "state"}, {"payload=yes", "payload"},
                 {"cursor=AAAA", "cursor"},      {"cursor=", "cursor"},       {"source=c", "a, b"},    {"colour=red", "colour"},
                 {"limit=5&limit=6", "limit"}};
    gain(scene, 3);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const struct cJSON *answer = ask(scene, false, cases[i].query);
        assert_int_equal(scene->status, 400);
        assert_string_equal(text_of(answer, "code"), "bad_parameter");
        assert_non_null(strstr(text_of(answer, "detail"), cases[i].names));
    }
}

/* Nobody is there to be asked. */
static void test_no_owner(void **state)
{
    struct api_scene *scene = *state;
    mailbox_close(scene->api.owner);
    const struct cJSON *answer = ask(scene, false, "");
    assert_int_equal(scene->status, 503);
    assert_string_equal(text_of(answer, "code"), "unavailable");
}

#define SCENE(function) cmocka_unit_test_setup_teardown(function, begin, api_scene_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        SCENE(test_filters),
        SCENE(test_ended_rows),
        SCENE(test_pages),
        SCENE(test_elsewhere),
        SCENE(test_payloads),
        SCENE(test_heavy_pages),
        SCENE(test_damaged_row),
        SCENE(test_bad_parameters),
        SCENE(test_no_owner),
    };
    return cmocka_run_group_tests_name("api_list_answer", tests, NULL, NULL);
}
