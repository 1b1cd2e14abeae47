/*
 * Lists of a real tarry on a real Kafka: thousands of events, paged through while others leave and new ones come. Each that is pending all the time is shown once;
 * filters, paused and recurring ones; and what is cancelled is gone.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <setjmp.h>

#include <cjson/cJSON.h>
#include <cmocka.h>

#include "base/memory.h"
#include "tests/support/await.h"
#include "tests/support/http_client.h"
#include "tests/support/http_get.h"
#include "tests/support/scene_schedules.h"

#define PARTITIONS 2
#define STAYING 5000
#define LEAVING 1000
#define COMING 10 /* of each page */
#define PAGE_MS 40  /* between two pages: checkpoints are written meanwhile */
#define HOUR_MS INT64_C(3600000)
#define BODY_BYTES ((size_t)4 << 20)
#define ANSWER_MS 30000
#define IN_TIME_MS 30000

static const struct scene_options options = {
    .partitions = PARTITIONS,
    .shared_input = true,
    .targets = "[{name: slow, match: \"@-slow\"}]",
    .outs = {"@-slow"},
    .more = "transaction_timeout: 5s",
};

/* ---------------------------------------------------------------------------------------------------- asking */

static struct cJSON *get(const struct scene *scene, const char *path, int status)
{
    char *body = memory_new(BODY_BYTES, 1);
    int answered = http_get(scene->http_port, path, ANSWER_MS, body, BODY_BYTES);
    if (answered != status) {
        fail_msg("GET %s: %d %s", path, answered, body);
    }
    struct cJSON *answer = cJSON_Parse(body);
    assert_non_null(answer);
    free(body);
    return answer;
}

static const char *text_of(const struct cJSON *object, const char *name)
{
    const struct cJSON *member = cJSON_GetObjectItemCaseSensitive(object, name);
    return cJSON_IsString(member) ? member->valuestring : NULL;
}

static int64_t number_of(const struct cJSON *object, const char *name)
{
    const struct cJSON *member = cJSON_GetObjectItemCaseSensitive(object, name);
    assert_true(cJSON_IsNumber(member));
    return (int64_t)member->valuedouble;
}

/* What stands on all pages of this path, which has a query. Called once for each item. */
typedef void item_fn(const struct cJSON *item, void *context);

struct paging {
    struct scene *scene;
    const char *path;
    item_fn *each;
    void *context;
    void (*between)(struct paging *paging); /* two pages; NULL: nothing */
    int pages;
    int64_t last_due_ms;
    size_t items;
};

static void page_through(struct paging *paging)
{
    char path[1024];
    char cursor[512] = "";
    (void)snprintf(path, sizeof(path), "%s", paging->path);
    for (bool more = true; more; paging->pages++) {
        struct cJSON *answer = get(paging->scene, path, 200);
        const struct cJSON *item = NULL;
        cJSON_ArrayForEach(item, cJSON_GetObjectItemCaseSensitive(answer, "items"))
        {
            paging->items++;
            if (paging->each != NULL) {
                paging->each(item, paging->context);
            }
        }
        more = text_of(answer, "next_cursor") != NULL;
        (void)snprintf(cursor, sizeof(cursor), "%s", more ? text_of(answer, "next_cursor") : "");
        (void)snprintf(path, sizeof(path), "%s&cursor=%s", paging->path, cursor);
        cJSON_Delete(answer);
        if (paging->between != NULL) {
            paging->between(paging);
        }
    }
}

static size_t count_of(struct scene *scene, const char *path)
{
    struct paging paging = {.scene = scene, .path = path};
    page_through(&paging);
    return paging.items;
}

/* --------------------------------------------------------------------------------------- all while they come and go */

struct seen {
    struct scene *scene;
    int staying[STAYING];
    int others;
    int64_t last_due_ms;
    int coming;
};

static void note(const struct cJSON *item, void *context)
{
    struct seen *seen = context;
    const char *id = text_of(item, "id");
    int64_t due_ms = number_of(item, "due_ms");
    assert_non_null(id);
    assert_string_equal(text_of(item, "kind"), "message");
    assert_true(due_ms >= seen->last_due_ms);
    seen->last_due_ms = due_ms;
    if (strncmp(id, "s-", 2) == 0) {
        long number = strtol(id + 2, NULL, 10);
        assert_true(number >= 0 && number < STAYING);
        seen->staying[number]++;
    } else {
        seen->others++;
    }
}

static void send_event(struct scene *scene, int number, const char *prefix, int64_t due_ms)
{
    char id[32];
    (void)snprintf(id, sizeof(id), "%s-%d", prefix, number);
    SCENE_SCHEDULE(scene, number % PARTITIONS, id, "tarry-id", id, "tarry-at", scene_schedules_text(due_ms));
}

static void more_come(struct paging *paging)
{
    struct seen *seen = paging->context;
    int64_t now_ms = await_wall_ms();
    for (int i = 0; i < COMING; i++, seen->coming++) {
        send_event(paging->scene, seen->coming, "c", now_ms + (i % 2 == 0 ? 300 : HOUR_MS + seen->coming * INT64_C(7919000) % (40 * HOUR_MS)));
    }
    await_pause_ms(PAGE_MS);
}

static bool is_listed(void *context)
{
    return count_of(context, "/api/v1/messages?id_prefix=last-") == PARTITIONS;
}

static bool leaving_are_listed(void *context)
{
    return count_of(context, "/api/v1/messages?id_prefix=l-999") == 1;
}

/* What was sent last is in the checkpoint, so everything is. */
static void await_listed(struct scene *scene)
{
    for (int i = 0; i < PARTITIONS; i++) {
        send_event(scene, i, "last", await_wall_ms() + 50 * HOUR_MS);
    }
    scene_flush(scene);
    if (!await_condition(is_listed, scene, IN_TIME_MS)) {
        fail_msg("what was sent is not listed");
    }
}

/* Some within the same millisecond; over minutes and over days, so in buckets of several levels. */
static int64_t due_of(int64_t now_ms, int number)
{
    return now_ms + HOUR_MS + (number % 3 == 0 ? (int64_t)(number / 30) * 1000 : (int64_t)number * 30000);
}

static void send_all(struct scene *scene)
{
    int64_t now_ms = await_wall_ms();
    for (int i = 0; i < STAYING; i++) {
        send_event(scene, i, "s", due_of(now_ms, i));
    }
    await_listed(scene);
    now_ms = await_wall_ms();
    for (int i = 0; i < LEAVING; i++) {
        send_event(scene, i, "l", now_ms + 1200 + i * 2);
    }
    scene_flush(scene);
    if (!await_condition(leaving_are_listed, scene, IN_TIME_MS)) {
        fail_msg("what is about to leave is not listed");
    }
}

static void pages_while_they_come_and_go(struct scene *scene)
{
    struct seen *seen = memory_new(1, sizeof(*seen));
    struct paging paging = {.scene = scene, .path = "/api/v1/messages?limit=100", .each = note, .context = seen, .between = more_come};
    page_through(&paging);
    scene_flush(scene);
    assert_true(paging.pages > STAYING / 100);
    assert_true(seen->others > 0);
    for (int i = 0; i < STAYING; i++) {
        if (seen->staying[i] != 1) {
            fail_msg("s-%d was listed %d times", i, seen->staying[i]);
        }
    }
    scene_schedules_read(scene);
    assert_true(scene->outputs.count >= LEAVING / 4); /* they did leave meanwhile */
    print_message("%d pages with %d others; %zu left meanwhile\n", paging.pages, seen->others, scene->outputs.count);
    free(seen);
}

/* ------------------------------------------------------------------------------------------------------- filters */

static void filters_hold(struct scene *scene)
{
    char path[256];
    assert_int_equal(count_of(scene, "/api/v1/messages?limit=1000&id_prefix=s-"), STAYING);
    assert_int_equal(count_of(scene, "/api/v1/messages?limit=1000&id_prefix=s-&partition=0"), STAYING / 2);
    assert_int_equal(count_of(scene, "/api/v1/messages?limit=1000&id_prefix=s-&state=paused"), 0);
    assert_int_equal(count_of(scene, "/api/v1/schedules?id_prefix=s-"), 0);
    (void)snprintf(path, sizeof(path), "/api/v1/messages?limit=1000&id_prefix=last-&due_from=49h&due_to=51h&source=%s", scene->in);
    assert_int_equal(count_of(scene, path), PARTITIONS);
    assert_int_equal(count_of(scene, "/api/v1/messages?id_prefix=last-&due_to=49h"), 0);
    cJSON_Delete(get(scene, "/api/v1/messages?source=no-such", 400));
    cJSON_Delete(get(scene, "/api/v1/messages?cursor=bad", 400));
}

static void lanes_and_schedules(struct scene *scene)
{
    char path[256];
    char target[SCENE_NAME_MAX + 8];
    (void)snprintf(target, sizeof(target), "%s-slow", scene->prefix);
    SCENE_SCHEDULE(scene, 0, "slow", "tarry-id", "slow-1", "tarry-delay", "2h", "tarry-topic", target);
    SCENE_SCHEDULE(scene, 0, "every", "tarry-id", "e-1", "tarry-every", "1h", "tarry-delay", "3h");
    SCENE_SCHEDULE(scene, 1, "cron", "tarry-id", "e-2", "tarry-cron", "0 0 1 1 *", "tarry-tz", "Europe/Berlin");
    (void)snprintf(path, sizeof(path), "/api/v1/messages?target=%s", target);
    scene_flush(scene);
    int64_t until_ms = await_mono_ms() + IN_TIME_MS;
    while (count_of(scene, path) != 1 || count_of(scene, "/api/v1/schedules?state=pending") != 2) {
        assert_true(await_mono_ms() < until_ms);
        await_pause_ms(50);
    }
    assert_int_equal(count_of(scene, "/api/v1/messages?lane=slow"), 1);
    assert_int_equal(count_of(scene, "/api/v1/messages?id_prefix=e-"), 0);
    struct cJSON *answer = get(scene, "/api/v1/schedules?id_prefix=e-2&payload=true", 200);
    const struct cJSON *item = cJSON_GetArrayItem(cJSON_GetObjectItemCaseSensitive(answer, "items"), 0);
    assert_string_equal(text_of(item, "kind"), "schedule");
    assert_string_equal(text_of(item, "value"), "cron");
    assert_string_equal(text_of(cJSON_GetObjectItemCaseSensitive(item, "recurrence"), "cron"), "0 0 1 1 *");
    assert_string_equal(text_of(cJSON_GetObjectItemCaseSensitive(item, "recurrence"), "tz"), "Europe/Berlin");
    cJSON_Delete(answer);
}

/* --------------------------------------------------------------------------------------------- paused and cancelled */

static void post(const struct scene *scene, const char *path)
{
    char *answer = http_client_send_body((uint16_t)scene->http_port, "POST", path, "Host: localhost\r\nContent-Type: application/json\r\n", "{}", 2);
    if (answer == NULL || http_client_status(answer) != 200) {
        fail_msg("POST %s: %s", path, answer == NULL ? "no answer" : answer);
    }
    free(answer);
}

static bool is_paused(void *context)
{
    return count_of(context, "/api/v1/messages?state=paused") == 1;
}

static void paused_ones(struct scene *scene)
{
    post(scene, "/api/v1/messages/s-7/pause");
    if (!await_condition(is_paused, scene, IN_TIME_MS)) { /* the checkpoint has it a moment later */
        fail_msg("what is paused is not listed as that");
    }
    struct cJSON *answer = get(scene, "/api/v1/messages?state=paused", 200);
    const struct cJSON *item = cJSON_GetArrayItem(cJSON_GetObjectItemCaseSensitive(answer, "items"), 0);
    assert_string_equal(text_of(item, "id"), "s-7");
    assert_string_equal(text_of(item, "state"), "paused");
    assert_null(text_of(item, "due"));
    assert_non_null(text_of(item, "resume_due"));
    cJSON_Delete(answer);
    assert_int_equal(count_of(scene, "/api/v1/messages?limit=1000&id_prefix=s-"), STAYING); /* it is not there twice */
    assert_int_equal(count_of(scene, "/api/v1/messages?limit=1000&id_prefix=s-&state=pending"), STAYING - 1);
    assert_int_equal(count_of(scene, "/api/v1/messages?limit=1000&id_prefix=s-&due_from=-1h"), STAYING - 1);
}

/* As soon as it is known to be cancelled no list has it, whatever the checkpoint says. */
static void cancelled_ones(struct scene *scene)
{
    SCENE_SCHEDULE(scene, 0, "", "tarry-id", "s-4998", "tarry-action", "cancel");
    scene_flush(scene);
    scene_schedules_await_metric(scene->process, "tarry_cancelled_total", NULL, 1);
    assert_int_equal(count_of(scene, "/api/v1/messages?id_prefix=s-4998"), 0);
    assert_int_equal(count_of(scene, "/api/v1/messages?limit=1000&id_prefix=s-"), STAYING - 1);
}

static void test_lists(void **state)
{
    (void)state;
    struct scene *scene = scene_open("list", &options);
    scene_start(scene);
    send_all(scene);
    pages_while_they_come_and_go(scene);
    filters_hold(scene);
    lanes_and_schedules(scene);
    paused_ones(scene);
    cancelled_ones(scene);
    scene_kill(scene); /* and from what is on disk alone it is the same list */
    scene_start(scene);
    await_listed(scene);
    assert_int_equal(count_of(scene, "/api/v1/messages?limit=1000&id_prefix=s-"), STAYING - 1);
    scene_stop(scene);
    scene_close(scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_lists, scene_teardown),
    };
    return cmocka_run_group_tests_name("e2e_api_list", tests, scene_group_setup, scene_group_teardown);
}
