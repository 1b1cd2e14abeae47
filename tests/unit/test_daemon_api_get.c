/* What the owner says of one event, of the targets, of what comes due and of all numbers: with the real core, no broker, no store, the steps taken by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>
#include <cmocka.h>

#include "base/memory.h"
#include "bridge/row.h"
#include "ops/api.h"
#include "ops/daemon_api_get.h"
#include "ops/daemon_state.h"
#include "ops/http_owner.h"
#include "tests/support/daemon_scene.h"
#include "tests/support/list_scene.h"

#define WALL_MS INT64_C(1800000000000) /* the beginning of an hour */
#define MINUTE_MS INT64_C(60000)
#define HOUR_MS INT64_C(3600000)
#define MAIL 3

static struct config_target targets[] = {{.name = "mail", .match = "mail-*", .max_in_flight = 10, .rate_per_s = 50}};
static struct config_source sources[] = {{.topic = "in"}, {.topic = "other"}};
static struct config config = {.group = "g", .targets = targets, .target_count = 1, .sources = sources, .source_count = 2};

static void step(struct daemon *daemon)
{
    daemon_scene_step(daemon, NULL);
}

static struct partition *gain(struct daemon *daemon, const char *topic, int32_t number, size_t source, int64_t catch_up_to)
{
    return daemon_scene_gain(daemon, topic, number, source, &(struct input_slot_gained){.catch_up_to = catch_up_to});
}

static void read_record(struct daemon *daemon, const struct partition *partition, int64_t offset, const char *id, int64_t due_ms, lane_index lane, struct span row)
{
    struct input_record *taken = daemon_scene_read(daemon, partition, id, row);
    taken->offset = offset;
    taken->due_ms = due_ms;
    taken->lane = lane;
}

/* in-0, in-1 and other-0; in-2 is being opened. */
static int begin(void **state)
{
    struct daemon *daemon = daemon_scene_new(&config, (struct now){{WALL_MS}, {100000}});
    daemon->started_wall_ms = WALL_MS - 90000;
    daemon->outcomes.history = history_new(100, 1 << 20);
    metrics_label_add(daemon->metrics, METRICS_LABEL_SOURCE, "in");
    metrics_label_add(daemon->metrics, METRICS_LABEL_SOURCE, "other");
    gain(daemon, "in", 0, 0, 0);
    gain(daemon, "in", 1, 0, 0);
    gain(daemon, "other", 0, 1, 0);
    step(daemon);
    *state = daemon;
    return 0;
}

static int end(void **state)
{
    struct daemon *daemon = *state;
    history_free(daemon->outcomes.history);
    daemon_scene_free(daemon);
    return 0;
}

static const struct partition *partition_of(const struct daemon *daemon, const char *topic, int32_t number)
{
    return partitions_find(&daemon->partitions, topic, number);
}

static void refresh(void *context)
{
    struct daemon *daemon = context;
    metrics_set(daemon->metrics, METRIC_PENDING, 0, METRICS_TIER_MEMORY, 2);
    metrics_set(daemon->metrics, METRIC_PENDING, 1, METRICS_TIER_DISK, 5);
}

static struct http_owner_view view_of(struct daemon *daemon)
{
    return (struct http_owner_view){.now = daemon->now, .metrics = daemon->metrics, .refresh = refresh, .context = daemon};
}

/* ------------------------------------------------------------------------------------------------- one event */

static struct daemon_api_get *ask(struct daemon *daemon, const char *id, const char *topic)
{
    struct daemon_api_get *question = daemon_api_get_new(span_of_text(id), topic);
    struct http_owner_view view = view_of(daemon);
    question->call.run(&question->call, &view);
    return question;
}

static void test_it_is_found_where_it_is(void **state)
{
    struct daemon *daemon = *state;
    read_record(daemon, partition_of(daemon, "in", 1), 7, "a", WALL_MS + HOUR_MS, MAIL, span_of_text("row of a"));
    step(daemon);
    struct daemon_api_get *question = ask(daemon, "a", NULL);
    assert_true(question->found);
    assert_string_equal(question->at.topic, "in");
    assert_int_equal(question->at.partition, 1);
    assert_int_equal(question->event.state, CORE_EVENT_PENDING);
    assert_int_equal(question->event.key.offset, 7);
    assert_string_equal(question->lane, "mail");
    assert_int_equal(question->row_length, 8);
    assert_memory_equal(question->row, "row of a", 8);
    assert_int_equal(question->also_count, 0);
    assert_int_equal(question->here_count, 3);
    assert_null(question->unready);
    daemon_api_get_free(question);
    question = ask(daemon, "a", "other"); /* of another source */
    assert_false(question->found);
    assert_int_equal(question->here_count, 1);
    daemon_api_get_free(question);
}

static void test_of_several_the_least_place_counts(void **state)
{
    struct daemon *daemon = *state;
    read_record(daemon, partition_of(daemon, "other", 0), 1, "a", WALL_MS + HOUR_MS, 0, span_of_text("other"));
    read_record(daemon, partition_of(daemon, "in", 1), 2, "a", WALL_MS + HOUR_MS, 0, span_of_text("in 1"));
    read_record(daemon, partition_of(daemon, "in", 0), 3, "a", WALL_MS + HOUR_MS, 0, span_of_text("in 0"));
    step(daemon);
    struct daemon_api_get *question = ask(daemon, "a", NULL);
    assert_true(question->found);
    assert_memory_equal(question->row, "in 0", 4);
    assert_int_equal(question->also_count, 2);
    daemon_api_get_free(question);
}

/* Its row is large in whatever part. */
static void read_large(struct daemon *daemon, const char *id, int64_t offset, size_t key_bytes, size_t value_bytes, size_t header_bytes)
{
    size_t most = key_bytes > value_bytes ? key_bytes : value_bytes;
    most = most > header_bytes ? most : header_bytes;
    uint8_t *bytes = memory_new(most + 1, 1);
    struct buffer row = buffer_new((size_t)32 << 20);
    struct error error;
    struct record_header headers[] = {{span_of_text("first"), span_of_text("1")}, {span_of_text("long"), {bytes, header_bytes}}};
    struct record record = {.key = {bytes, key_bytes}, .value = {bytes, value_bytes}, .headers = headers, .header_count = 2, .offset = offset, .timestamp_ms = WALL_MS};
    struct decoded decoded = {.due_ms = WALL_MS + HOUR_MS,
                              .target = span_of_text("mail-x"),
                              .partition = -1,
                              .key = record.key,
                              .value = record.value,
                              .id = span_of_text(id),
                              .root = -1,
                              .expires_ms = -1,
                              .recurrence = {.kind = DECODE_RECURRENCE_CRON, .cron = span_of_text("0 0 * * *"), .zone = span_of_text("Europe/Berlin"), .until_ms = -1}};
    assert_true(row_encode(&row, &record, &decoded, &error));
    read_record(daemon, partition_of(daemon, "in", 0), offset, id, WALL_MS + HOUR_MS, MAIL, buffer_span(&row));
    step(daemon);
    buffer_free(&row);
    free(bytes);
}

static void test_of_a_large_row_all_but_the_value_is_copied(void **state)
{
    read_large(*state, "a", 7, 3, DAEMON_API_GET_ROW_MOST, 5);
    struct daemon_api_get *question = ask(*state, "a", NULL);
    assert_true(question->found && question->row == NULL && question->row_length == 0);
    const struct row *row = &question->brief->row;
    assert_string_equal(question->lane, "mail");
    assert_true(span_equals_text(row->decoded.id, "a") && span_equals_text(row->decoded.target, "mail-x"));
    assert_true(span_equals_text(row->decoded.recurrence.cron, "0 0 * * *") && span_equals_text(row->decoded.recurrence.zone, "Europe/Berlin"));
    assert_int_equal(row->record.offset, 7);
    assert_memory_equal(row->decoded.key.data, "\0\0\0", 3);
    assert_int_equal(row->decoded.value.length, DAEMON_API_GET_ROW_MOST);
    struct span rest = row->headers;
    struct record_header header;
    bool damaged = false;
    assert_true(row_next_header(&rest, &header, &damaged) && span_equals_text(header.value, "1"));
    assert_true(row_next_header(&rest, &header, &damaged) && header.value.length == 5);
    assert_false(row_next_header(&rest, &header, &damaged) || damaged || question->brief->cut);
    daemon_api_get_free(question);
}

static void test_large_headers_and_keys_are_cut(void **state)
{
    read_large(*state, "a", 7, 3, 5, 2 * DAEMON_API_GET_ROW_MOST);
    struct daemon_api_get *question = ask(*state, "a", NULL);
    assert_true(question->brief->cut);
    assert_int_equal(question->brief->row.headers.length, API_ROW_BRIEF_MOST - 3);
    daemon_api_get_free(question);
    read_large(*state, "b", 8, API_ROW_BRIEF_MOST + 1, 5, 5);
    question = ask(*state, "b", NULL);
    assert_int_equal(question->brief->row.decoded.key.length, API_ROW_BRIEF_MOST + 1);
    assert_false(question->brief->cut);
    daemon_api_get_free(question);
}

static void test_a_large_row_that_does_not_read_back(void **state)
{
    struct daemon *daemon = *state;
    uint8_t *large = memory_new(DAEMON_API_GET_ROW_MOST + 1, 1);
    memset(large, 0xff, DAEMON_API_GET_ROW_MOST + 1);
    read_record(daemon, partition_of(daemon, "in", 0), 0, "a", WALL_MS + HOUR_MS, 0, (struct span){large, DAEMON_API_GET_ROW_MOST + 1});
    step(daemon);
    struct daemon_api_get *question = ask(daemon, "a", NULL);
    assert_true(question->done && question->failure.code != ERROR_NONE);
    daemon_api_get_free(question);
    free(large);
}

/* A store that knows nothing of the slot stands for one that does not read. */
static void test_a_store_that_does_not_read_ends_nothing(void **state)
{
    struct daemon *daemon = *state;
    struct list_scene *scene = list_scene_new();
    struct partition *partition = gain(daemon, "in", 3, 0, 0);
    assert_true(partition->slot >= LIST_SCENE_PLACES);
    partition->has_ids = true;
    daemon->store = scene->store;
    step(daemon);
    struct daemon_api_get *question = ask(daemon, "a", NULL);
    assert_true(question->done && !question->found);
    assert_non_null(strstr(question->failure.text, "partition 3 of in"));
    assert_non_null(strstr(question->failure.text, "not bound"));
    assert_false(daemon->failed);
    daemon_api_get_free(question);
    (void)daemon_ids_find(daemon, partition, daemon_ids_hash(daemon, span_of_text("a"))); /* of the intake, which decides by it */
    assert_true(daemon->failed);
    daemon->store = NULL;
    list_scene_free(scene);
}

/* A turn of the owner is short, however many partitions there are; what stands last in one turn and first in another is one answer. */
static void test_many_partitions_take_several_turns(void **state)
{
    struct daemon *daemon = *state;
    struct http_owner_view view = view_of(daemon);
    for (int32_t i = 0; i < 2 * DAEMON_API_GET_AT_ONCE; i++) {
        gain(daemon, "in", 10 + i, 0, 0);
    }
    step(daemon);
    read_record(daemon, partition_of(daemon, "other", 0), 1, "a", WALL_MS + HOUR_MS, 0, span_of_text("other"));
    read_record(daemon, partition_of(daemon, "in", 137), 2, "a", WALL_MS + HOUR_MS, MAIL, span_of_text("in 137"));
    step(daemon);
    struct history_event event = {.id = span_of_text("a"), .source_topic = span_of_text("in"), .due_ms = WALL_MS, .outcome = HISTORY_DELIVERED};
    history_add(daemon->outcomes.history, &event);
    struct daemon_api_get *question = daemon_api_get_new(span_of_text("a"), NULL);
    for (size_t turn = 1; turn <= 2; turn++) {
        question->call.run(&question->call, &view);
        assert_false(question->done);
        assert_int_equal(question->here_count, turn * DAEMON_API_GET_AT_ONCE);
        assert_memory_equal(question->row, "other", 5);
        assert_int_equal(question->history_count, 0);
    }
    question->call.run(&question->call, &view);
    assert_true(question->done);
    assert_int_equal(question->here_count, 2 * DAEMON_API_GET_AT_ONCE + 3);
    assert_int_equal(question->at.partition, 137); /* the least place */
    assert_memory_equal(question->row, "in 137", 6);
    assert_string_equal(question->lane, "mail");
    assert_int_equal(question->also_count, 1);
    assert_string_equal(question->also[0].topic, "other");
    assert_int_equal(question->history_count, 1);
    daemon_api_get_free(question);
}

static void test_by_place(void **state)
{
    struct daemon *daemon = *state;
    read_record(daemon, partition_of(daemon, "in", 1), 7, "a", WALL_MS + HOUR_MS, MAIL, span_of_text("row"));
    step(daemon);
    struct daemon_api_get *question = daemon_api_get_new(span_of_text("in/1/7"), NULL);
    struct http_owner_view view = view_of(daemon);
    question->at = (struct api_list_place){"in", 1};
    question->offset = 7;
    question->call.run(&question->call, &view);
    assert_true(question->found && question->row_length == 3 && question->event.state == CORE_EVENT_PENDING);
    daemon_api_get_free(question);
    question = daemon_api_get_new(span_of_text("in/1/8"), NULL);
    question->at = (struct api_list_place){"in", 1};
    question->offset = 8;
    question->call.run(&question->call, &view);
    assert_false(question->found);
    daemon_api_get_free(question);
}

static void test_what_is_not_read_yet_is_not_known(void **state)
{
    struct daemon *daemon = *state;
    gain(daemon, "in", 3, 0, 10);
    step(daemon);
    struct daemon_api_get *question = ask(daemon, "a", NULL);
    assert_false(question->found);
    assert_non_null(question->unready);
    assert_int_equal(question->unready->partition, 3);
    daemon_api_get_free(question);
    question = ask(daemon, "a", "other");
    assert_null(question->unready);
    daemon_api_get_free(question);
    daemon_input(daemon, INPUT_POSITION, partition_of(daemon, "in", 3))->as.position.offset = 10;
    step(daemon);
    partitions_add(&daemon->partitions, "in", 4, 0); /* being opened */
    question = ask(daemon, "a", NULL);
    assert_non_null(question->unready);
    assert_int_equal(question->unready->partition, 4);
    assert_int_equal(question->here_count, 4);
    daemon_api_get_free(question);
}

static void test_history_is_copied_and_of_the_source(void **state)
{
    struct daemon *daemon = *state;
    for (int i = 0; i < 50; i++) {
        struct history_event event = {.id = span_of_text("a"),
                                      .source_topic = span_of_text(i % 2 == 0 ? "in" : "other"),
                                      .source_offset = i,
                                      .due_ms = WALL_MS,
                                      .outcome = HISTORY_DELIVERED,
                                      .target = span_of_text("mail-x")};
        history_add(daemon->outcomes.history, &event);
    }
    struct daemon_api_get *of_all = ask(daemon, "a", NULL);
    struct daemon_api_get *of_one = ask(daemon, "a", "in");
    history_free(daemon->outcomes.history);
    daemon->outcomes.history = history_new(1, 1 << 20);
    assert_int_equal(of_all->history_count, DAEMON_API_GET_HISTORY);
    assert_int_equal(of_all->history[0].source_offset, 49);
    assert_int_equal(of_one->history_count, DAEMON_API_GET_HISTORY);
    assert_int_equal(of_one->history[0].source_offset, 48);
    assert_int_equal(of_one->history[19].source_offset, 10);
    assert_true(span_equals_text(of_one->history[19].id, "a") && span_equals_text(of_one->history[19].target, "mail-x") &&
                span_equals_text(of_one->history[19].source_topic, "in"));
    daemon_api_get_free(of_all);
    daemon_api_get_free(of_one);
}

/* ------------------------------------------------------------------------------------------------- documents */

typedef void handler(struct http_request *request, const struct http_owner_view *view);

/* The answer to a query of up to two parameters. Free with cJSON_Delete. */
static cJSON *answer(struct daemon *daemon, handler *handle, unsigned status, const char *const *query)
{
    static const struct http_request_counts none;
    struct http_request *request = http_request_new(NULL, &none);
    struct http_owner_view view = view_of(daemon);
    for (size_t i = 0; query != NULL && query[i] != NULL; i += 2) {
        request->query[request->query_count++] = (struct http_request_pair){span_of_text(query[i]), span_of_text(query[i + 1])};
    }
    handle(request, &view);
    assert_int_equal(request->status, status);
    cJSON *document = cJSON_ParseWithLength((const char *)request->body.data, request->body.length);
    assert_non_null(document);
    http_request_free(request);
    return document;
}

static double number_of(const cJSON *object, const char *name)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, name);
    assert_true(cJSON_IsNumber(item));
    return item->valuedouble;
}

static const char *text_of(const cJSON *object, const char *name)
{
    return cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(object, name));
}

static cJSON *item_of(const cJSON *document, int index)
{
    return cJSON_GetArrayItem(cJSON_GetObjectItemCaseSensitive(document, "items"), index);
}

static void test_forecast(void **state)
{
    struct daemon *daemon = *state;
    daemon->now.wall.ms = WALL_MS + 90000;
    for (int64_t i = 0; i < 10; i++) {
        read_record(daemon, partition_of(daemon, "in", (int32_t)(i % 2)), i, NULL, WALL_MS + i * MINUTE_MS, i < 5 ? 0 : MAIL, span_of_text("row"));
    }
    read_record(daemon, partition_of(daemon, "other", 0), 0, NULL, WALL_MS + 3 * MINUTE_MS, 0, span_of_text("row"));
    read_record(daemon, partition_of(daemon, "other", 0), 1, NULL, WALL_MS + 9 * HOUR_MS, 0, span_of_text("row"));
    read_record(daemon, partition_of(daemon, "other", 0), 2, NULL, RECURRENCE_LAST_MS, 0, span_of_text("row"));
    read_record(daemon, partition_of(daemon, "other", 0), 3, NULL, WALL_MS, LANES_REFUSED, span_of_text("row")); /* is to come for nobody */
    step(daemon);
    cJSON *document = answer(daemon, api_forecast, 200, (const char *const[]){"unit", "minute", "count", "6", NULL});
    const double wanted[] = {0, 1, 2, 1, 1, 1};
    assert_string_equal(text_of(document, "from"), "2027-01-15T08:01:30.000Z");
    assert_int_equal(number_of(document, "overdue"), 2);
    for (int i = 0; i < 6; i++) {
        assert_int_equal(number_of(item_of(document, i), "count"), wanted[i]);
        assert_true(cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(item_of(document, i), "exact")));
        assert_true(number_of(item_of(document, i), "to_ms") == (double)(WALL_MS + (2 + i) * MINUTE_MS));
    }
    assert_int_equal(number_of(document, "later"), 4);
    assert_int_equal(number_of(document, "paused"), 1);
    cJSON_Delete(document);
    document = answer(daemon, api_forecast, 200, (const char *const[]){"target", "mail", "source", "in", NULL});
    assert_string_equal(text_of(document, "unit"), "hour");
    assert_int_equal(cJSON_GetArraySize(cJSON_GetObjectItemCaseSensitive(document, "items")), 24);
    assert_int_equal(number_of(item_of(document, 0), "count"), 5);
    assert_int_equal(number_of(document, "overdue"), 0);
    cJSON_Delete(document);
}

static void test_forecast_of_nothing_known(void **state)
{
    struct daemon *daemon = *state;
    cJSON_Delete(answer(daemon, api_forecast, 400, (const char *const[]){"target", "nobody", NULL}));
    cJSON_Delete(answer(daemon, api_forecast, 400, (const char *const[]){"target", "_refused", NULL}));
    cJSON_Delete(answer(daemon, api_forecast, 400, (const char *const[]){"source", "nowhere", NULL}));
    cJSON_Delete(answer(daemon, api_forecast, 400, (const char *const[]){"count", "401", NULL}));
    cJSON_Delete(answer(daemon, api_forecast, 400, (const char *const[]){"unit", "week", NULL}));
    cJSON_Delete(answer(daemon, api_forecast, 400, (const char *const[]){"taget", "mail", NULL}));
}

static void pause_mail(struct daemon *daemon, const char *topic, int32_t number, bool paused)
{
    daemon_input(daemon, INPUT_LANE_PAUSE, partition_of(daemon, topic, number))->as.lane_pause = (struct input_lane_pause){MAIL, paused};
    step(daemon);
}

static void expect_mail(struct daemon *daemon, const char *state, double pending)
{
    cJSON *document = answer(daemon, api_targets_list, 200, NULL);
    const cJSON *mail = item_of(document, 1);
    assert_int_equal(cJSON_GetArraySize(cJSON_GetObjectItemCaseSensitive(document, "items")), 2);
    assert_string_equal(text_of(item_of(document, 0), "name"), "default");
    assert_string_equal(text_of(mail, "name"), "mail");
    assert_string_equal(text_of(mail, "match"), "mail-*");
    assert_string_equal(text_of(mail, "state"), state);
    assert_true(number_of(mail, "pending") == pending);
    assert_int_equal(number_of(mail, "rate_per_s"), targets[0].rate_per_s);
    assert_int_equal(number_of(mail, "max_in_flight"), targets[0].max_in_flight);
    cJSON_Delete(document);
}

static void test_targets(void **state)
{
    struct daemon *daemon = *state;
    read_record(daemon, partition_of(daemon, "in", 0), 0, NULL, WALL_MS + HOUR_MS, MAIL, span_of_text("row"));
    step(daemon);
    expect_mail(daemon, "running", 1);
    pause_mail(daemon, "in", 0, true);
    expect_mail(daemon, "paused_in_part", 1);
    pause_mail(daemon, "in", 1, true);
    pause_mail(daemon, "other", 0, true);
    expect_mail(daemon, "paused", 1);
    pause_mail(daemon, "in", 0, false);
    pause_mail(daemon, "in", 1, false);
    pause_mail(daemon, "other", 0, false);
    targets[0].rate_per_s = 70; /* as a reload has it */
    daemon->now.wall.ms += HOUR_MS;
    daemon->now.mono.ms += HOUR_MS;
    step(daemon);
    expect_mail(daemon, "running", 1);
    daemon_input(daemon, INPUT_DELIVERY_FAILED, partition_of(daemon, "in", 0))->as.delivery = (struct input_delivery){.lane = MAIL, .failure = DELIVERY_RETRIABLE};
    step(daemon);
    expect_mail(daemon, "failing", 1);
    metrics_add(daemon->metrics, METRIC_DELIVERED, MAIL, 0, 20);
    cJSON *document = answer(daemon, api_targets_list, 200, NULL);
    assert_int_equal(number_of(item_of(document, 0), "delivered"), 0);
    assert_int_equal(number_of(item_of(document, 1), "delivered"), 20);
    cJSON_Delete(document);
}

static void test_stats(void **state)
{
    struct daemon *daemon = *state;
    metrics_add(daemon->metrics, METRIC_DELIVERED, MAIL, 0, 20);
    metrics_add(daemon->metrics, METRIC_DELIVERED, 0, 0, 3);
    metrics_add(daemon->metrics, METRIC_CANCELLED, 1, 0, 4);
    metrics_observe(daemon->metrics, METRIC_LATENESS_SECONDS, MAIL, 0, 0.003);
    recent_rate_add(&daemon->outcomes.delivered, daemon->now.mono.ms - 2000, 20);
    metrics_set(daemon->metrics, METRIC_NEXT_DUE, 0, 0, (double)(WALL_MS + 1) / 1000);
    metrics_set(daemon->metrics, METRIC_LAST_DUE, 0, 0, (double)RECURRENCE_LAST_MS / 1000); /* paused */
    cJSON *document = answer(daemon, api_stats, 200, NULL);
    assert_int_equal(number_of(document, "uptime_s"), 90);
    assert_int_equal(number_of(document, "pending"), 7);
    assert_int_equal(number_of(document, "in_memory"), 2);
    assert_int_equal(number_of(document, "delivered"), 23);
    assert_int_equal(number_of(document, "cancelled"), 4);
    assert_int_equal(number_of(document, "delivered_per_s"), 10);
    assert_true(number_of(document, "next_due_ms") == (double)(WALL_MS + 1));
    assert_true(cJSON_IsNull(cJSON_GetObjectItemCaseSensitive(document, "last_due_ms")));
    const cJSON *lateness = cJSON_GetObjectItemCaseSensitive(document, "lateness");
    assert_int_equal(number_of(lateness, "p50_ms"), 5);
    const cJSON *list = cJSON_GetObjectItemCaseSensitive(document, "sources");
    assert_int_equal(cJSON_GetArraySize(list), 2);
    assert_int_equal(number_of(cJSON_GetArrayItem(list, 1), "pending"), 5);
    assert_int_equal(cJSON_GetArraySize(cJSON_GetObjectItemCaseSensitive(cJSON_GetArrayItem(list, 0), "partitions")), 2);
    assert_non_null(cJSON_GetObjectItemCaseSensitive(document, "clock"));
    cJSON_Delete(document);
    cJSON_Delete(answer(daemon, api_stats, 400, (const char *const[]){"unit", "hour", NULL}));
}

/* An instance that has no partition says so, and nothing is wrong with that. */
static void test_owns_nothing(void **state)
{
    struct daemon *daemon = *state;
    for (slot_index slot = 0; slot < 3; slot++) {
        struct partition *partition = partitions_at(&daemon->partitions, slot);
        daemon_input(daemon, INPUT_SLOT_LOST, partition);
        step(daemon);
        partitions_remove(&daemon->partitions, partition);
    }
    struct daemon_api_get *question = ask(daemon, "a", NULL);
    assert_true(!question->found && question->here_count == 0 && question->unready == NULL);
    daemon_api_get_free(question);
    expect_mail(daemon, "running", 0);
    cJSON *document = answer(daemon, api_forecast, 200, NULL);
    assert_int_equal(number_of(document, "overdue"), 0);
    cJSON_Delete(document);
    document = answer(daemon, api_stats, 200, NULL);
    assert_int_equal(cJSON_GetArraySize(cJSON_GetObjectItemCaseSensitive(cJSON_GetArrayItem(cJSON_GetObjectItemCaseSensitive(document, "sources"), 0), "partitions")), 0);
    cJSON_Delete(document);
}

int main(void)
{
#define TEST(function) cmocka_unit_test_setup_teardown(function, begin, end)
    const struct CMUnitTest tests[] = {
        TEST(test_it_is_found_where_it_is),
        TEST(test_of_several_the_least_place_counts),
        TEST(test_of_a_large_row_all_but_the_value_is_copied),
        TEST(test_large_headers_and_keys_are_cut),
        TEST(test_a_large_row_that_does_not_read_back),
        TEST(test_a_store_that_does_not_read_ends_nothing),
        TEST(test_many_partitions_take_several_turns),
        TEST(test_by_place),
        TEST(test_what_is_not_read_yet_is_not_known),
        TEST(test_history_is_copied_and_of_the_source),
        TEST(test_forecast),
        TEST(test_forecast_of_nothing_known),
        TEST(test_targets),
        TEST(test_stats),
        TEST(test_owns_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
