/* One event as JSON: state, times, recurrence, and what payloads are shown. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>
#include <cmocka.h>

#include "base/memory.h"
#include "bridge/time_text.h"
#include "ops/api_event.h"
#include "ops/json.h"

#define NOW INT64_C(1800000000000) /* 2027-01-15T08:00:00Z */
#define NOW_TEXT "2027-01-15T08:00:00.000Z"

/* An event under test: its row is encoded and read back, as it is in production. */
struct sample {
    struct record_header headers[4];
    struct record record;
    struct decoded decoded;
    struct api_event event;
    struct buffer bytes;
    struct row row;
    struct cJSON *json;
    size_t cost; /* of the latest */
};

static struct sample *sample_new(void)
{
    struct sample *sample = memory_new(1, sizeof(*sample));
    sample->record = (struct record){.key = span_of_text("k"), .value = span_of_text("hello"), .headers = sample->headers, .offset = 42, .timestamp_ms = -1};
    sample->decoded = (struct decoded){.due_ms = NOW,
                                       .target = span_of_text("orders"),
                                       .partition = -1,
                                       .key = span_of_text("k"),
                                       .value = span_of_text("hello"),
                                       .id = span_of_text("order-1"),
                                       .root = -1,
                                       .root_timestamp_ms = -1,
                                       .expires_ms = -1,
                                       .recurrence = {.until_ms = -1}};
    sample->event = (struct api_event){.topic = "delays", .partition = 3, .due_ms = NOW, .lane = "default", .state = CORE_EVENT_PENDING, .shows_payload = true};
    return sample;
}

static void sample_free(struct sample *sample)
{
    cJSON_Delete(sample->json);
    buffer_free(&sample->bytes);
    free(sample);
}

static struct cJSON *make(struct sample *sample)
{
    struct error error = {0};
    buffer_free(&sample->bytes);
    cJSON_Delete(sample->json);
    sample->bytes = buffer_new(8 << 20);
    assert_true(row_encode(&sample->bytes, &sample->record, &sample->decoded, &error));
    assert_true(row_decode(buffer_span(&sample->bytes), &sample->row, &error));
    sample->event.row = &sample->row;
    sample->json = json_object();
    sample->cost = api_event_add(sample->json, &sample->event);
    return sample->json;
}

static void assert_text(const struct cJSON *object, const char *name, const char *text)
{
    const struct cJSON *member = cJSON_GetObjectItemCaseSensitive(object, name);
    if (text == NULL) {
        assert_true(cJSON_IsNull(member));
        return;
    }
    assert_true(cJSON_IsString(member));
    assert_string_equal(member->valuestring, text);
}

static void assert_number(const struct cJSON *object, const char *name, int64_t number)
{
    const struct cJSON *member = cJSON_GetObjectItemCaseSensitive(object, name);
    assert_true(cJSON_IsNumber(member));
    assert_true(member->valuedouble == (double)number);
}

static void assert_none(const struct cJSON *object, const char *name)
{
    assert_null(cJSON_GetObjectItemCaseSensitive(object, name));
}

static const struct cJSON *member(const struct cJSON *object, const char *name)
{
    const struct cJSON *found = cJSON_GetObjectItemCaseSensitive(object, name);
    assert_non_null(found);
    return found;
}

static void a_message(void **state)
{
    struct sample *sample = sample_new();
    struct cJSON *json = make(sample);
    assert_text(json, "id", "order-1");
    assert_text(json, "kind", "message");
    assert_text(json, "state", "pending");
    assert_text(json, "due", NOW_TEXT);
    assert_number(json, "due_ms", NOW);
    assert_text(member(json, "source"), "topic", "delays");
    assert_number(member(json, "source"), "partition", 3);
    assert_number(member(json, "source"), "offset", 42);
    assert_number(json, "root_offset", 42);
    assert_text(member(json, "target"), "topic", "orders");
    assert_text(member(json, "target"), "partition", NULL);
    assert_text(member(json, "target"), "lane", "default");
    assert_text(json, "payloads", "full");
    assert_text(json, "key", "k");
    assert_text(json, "value", "hello");
    assert_number(json, "value_bytes", 5);
    const char *const absent[] = {"recurrence", "expires", "retry_at", "resume_due", "cut"};
    for (size_t i = 0; i < sizeof(absent) / sizeof(absent[0]); i++) {
        assert_none(json, absent[i]);
    }
    sample->decoded.id = SPAN_ABSENT;
    sample->decoded.partition = 7;
    sample->decoded.root = 11;
    sample->decoded.expires_ms = NOW + 1000;
    json = make(sample);
    assert_text(json, "id", NULL);
    assert_number(member(json, "target"), "partition", 7);
    assert_number(json, "root_offset", 11);
    assert_number(json, "expires_ms", NOW + 1000);
    sample_free(sample);
    (void)state;
}

static void bytes_that_are_no_text(void **state)
{
    struct sample *sample = sample_new();
    sample->decoded.id = (struct span){(const uint8_t *)"a\xff", 2};
    sample->decoded.value = (struct span){(const uint8_t *)"\0\1", 2};
    sample->decoded.key = SPAN_ABSENT;
    struct cJSON *json = make(sample);
    assert_text(json, "id", "Yf8=");
    assert_text(json, "id_encoding", "base64");
    assert_text(json, "value", "AAE=");
    assert_text(json, "value_encoding", "base64");
    assert_number(json, "value_bytes", 2);
    assert_text(json, "key", NULL);
    assert_none(json, "key_encoding");
    sample->decoded.value = SPAN_ABSENT;
    json = make(sample);
    assert_text(json, "value", NULL);
    assert_text(json, "value_bytes", NULL);
    assert_none(json, "cut");
    sample_free(sample);
    (void)state;
}

static void states_and_times(void **state)
{
    struct sample *sample = sample_new();
    sample->event.state = CORE_EVENT_RUNNING;
    assert_text(make(sample), "state", "running");
    sample->event.state = CORE_EVENT_MOVING;
    assert_text(make(sample), "state", "moving");
    sample->event.state = CORE_EVENT_PENDING;
    sample->event.due_ms = NOW + 60000; /* its letter could not be kept */
    struct cJSON *json = make(sample);
    assert_text(json, "due", NOW_TEXT);
    assert_number(json, "retry_at_ms", NOW + 60000);
    sample->decoded.paused = true;
    sample->decoded.root = 3;
    sample->event.due_ms = TIME_TEXT_LAST_MS;
    json = make(sample);
    assert_text(json, "state", "paused");
    assert_text(json, "due", NULL);
    assert_text(json, "due_ms", NULL);
    assert_text(json, "resume_due", NOW_TEXT);
    assert_none(json, "retry_at");
    sample_free(sample);
    (void)state;
}

static void schedules(void **state)
{
    struct sample *sample = sample_new();
    struct decoded_recurrence *recurrence = &sample->decoded.recurrence;
    recurrence->kind = DECODE_RECURRENCE_EVERY;
    recurrence->every_ms = 60000;
    struct cJSON *json = make(sample);
    assert_text(json, "kind", "schedule");
    assert_number(member(json, "recurrence"), "every_ms", 60000);
    assert_none(member(json, "recurrence"), "cron");
    assert_none(member(json, "recurrence"), "until");
    assert_none(member(json, "recurrence"), "count_left");
    recurrence->every_ms = 0;
    recurrence->kind = DECODE_RECURRENCE_CRON;
    recurrence->cron = span_of_text("0 9 * * *");
    recurrence->count = 10;
    recurrence->runs = 4;
    recurrence->until_ms = NOW + 5;
    json = make(sample);
    assert_text(member(json, "recurrence"), "cron", "0 9 * * *");
    assert_text(member(json, "recurrence"), "tz", "UTC");
    assert_number(member(json, "recurrence"), "count_left", 6);
    assert_number(member(json, "recurrence"), "until_ms", NOW + 5);
    recurrence->zone = span_of_text("Europe/Berlin");
    sample->decoded.undecided = true;
    sample->event.state = CORE_EVENT_UNDECIDED;
    json = make(sample);
    assert_text(member(json, "recurrence"), "tz", "Europe/Berlin");
    assert_text(json, "state", "undecided");
    assert_text(json, "due", NULL);
    sample_free(sample);
    (void)state;
}

/* Control headers do not go out, so they are not shown: tarry's, and those of the source's own dialects. */
static void headers(void **state)
{
    struct sample *sample = sample_new();
    sample->headers[0] = (struct record_header){span_of_text("tarry-due"), span_of_text("1")};
    sample->headers[1] = (struct record_header){span_of_text("trace"), span_of_text("t1")};
    sample->headers[2] = (struct record_header){span_of_text("trace"), SPAN_ABSENT};
    sample->headers[3] = (struct record_header){span_of_text("tarry-request"), span_of_text("n")};
    sample->record.header_count = 4;
    for (int i = 0; i < 2; i++) {
        struct decode_rules rules = {.dialects = dialect_tarry_alone, .dialect_count = 1};
        sample->event.rules = i == 0 ? NULL : &rules;
        const struct cJSON *shown = member(make(sample), "headers");
        assert_int_equal(cJSON_GetArraySize(shown), 2);
        assert_text(cJSON_GetArrayItem(shown, 0), "name", "trace");
        assert_text(cJSON_GetArrayItem(shown, 0), "value", "t1");
        assert_text(cJSON_GetArrayItem(shown, 1), "value", NULL);
    }
    sample_free(sample);
    (void)state;
}

/* No byte of a payload anywhere in it, unless it is asked for and allowed. */
static void payloads_are_kept_back(void **state)
{
    static const struct {
        enum config_payloads payloads;
        bool shows;
        bool counts;
        const char *name;
    } cases[] = {{CONFIG_PAYLOADS_FULL, false, true, "full"}, {CONFIG_PAYLOADS_MASKED, true, true, "masked"}, {CONFIG_PAYLOADS_OFF, true, false, "off"}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct sample *sample = sample_new();
        sample->record.key = sample->decoded.key = span_of_text("secret-key");
        sample->record.value = sample->decoded.value = span_of_text("secret-value");
        sample->headers[0] = (struct record_header){span_of_text("secret-name"), span_of_text("secret-header")};
        sample->record.header_count = 1;
        sample->event.payloads = cases[i].payloads;
        sample->event.shows_payload = cases[i].shows;
        struct cJSON *json = make(sample);
        char *text = cJSON_PrintUnformatted(json);
        assert_null(strstr(text, "secret"));
        assert_text(json, "payloads", cases[i].name);
        assert_true((cJSON_GetObjectItemCaseSensitive(json, "value_bytes") != NULL) == cases[i].counts);
        cJSON_free(text);
        sample_free(sample);
    }
    (void)state;
}

static void long_values_are_cut(void **state)
{
    struct sample *sample = sample_new();
    uint8_t *bytes = memory_new(API_EVENT_VALUE_MOST + 1, 1);
    memset(bytes, 'x', API_EVENT_VALUE_MOST + 1);
    sample->record.value = sample->decoded.value = (struct span){bytes, API_EVENT_VALUE_MOST};
    struct cJSON *json = make(sample);
    assert_int_equal(strlen(member(json, "value")->valuestring), API_EVENT_VALUE_MOST);
    assert_none(json, "cut");
    sample->record.value = sample->decoded.value = (struct span){bytes, API_EVENT_VALUE_MOST + 1};
    json = make(sample);
    assert_text(json, "value", NULL);
    assert_true(cJSON_IsTrue(member(json, "cut")));
    assert_number(json, "value_bytes", (int64_t)API_EVENT_VALUE_MOST + 1);
    sample->record.value = sample->decoded.value = span_of_text("here");
    sample->event.lacks_value = true;
    json = make(sample);
    assert_text(json, "value", NULL);
    assert_true(cJSON_IsTrue(member(json, "cut")));
    assert_text(json, "key", "k");
    free(bytes);
    sample_free(sample);
    (void)state;
}

/* A record of many megabytes may be headers alone, of a few bytes each: what is shown of them is bounded in number and in bytes. */
static void many_headers_are_cut(void **state)
{
    size_t count = 100 * API_EVENT_HEADERS_MOST;
    struct record_header *many = memory_new(count, sizeof(*many));
    for (size_t i = 0; i < count; i++) {
        many[i] = (struct record_header){span_of_text("h"), span_of_text("v")};
    }
    struct sample *sample = sample_new();
    sample->record.headers = many;
    sample->record.header_count = API_EVENT_HEADERS_MOST;
    struct cJSON *json = make(sample);
    assert_int_equal(cJSON_GetArraySize(member(json, "headers")), API_EVENT_HEADERS_MOST);
    assert_none(json, "cut");
    sample->record.header_count = count;
    json = make(sample);
    assert_int_equal(cJSON_GetArraySize(member(json, "headers")), API_EVENT_HEADERS_MOST);
    assert_true(cJSON_IsTrue(member(json, "cut")));
    free(many);
    sample_free(sample);
    (void)state;
}

/* Nor are any number of those that are not shown walked over for one that is. */
static void walking_headers_is_bounded(void **state)
{
    size_t count = API_EVENT_HEADERS_WALKED + 1;
    struct record_header *many = memory_new(count, sizeof(*many));
    for (size_t i = 0; i < count; i++) {
        many[i] = (struct record_header){span_of_text("tarry-due"), span_of_text("1")};
    }
    struct sample *sample = sample_new();
    sample->record.headers = many;
    sample->record.header_count = count;
    for (size_t at = count - 2; at < count; at++) {
        many[at].name = span_of_text("shown");
        struct cJSON *json = make(sample);
        assert_int_equal(cJSON_GetArraySize(member(json, "headers")), 1);
        assert_true(cJSON_IsTrue(member(json, "cut"))); /* the one behind it */
    }
    free(many);
    sample_free(sample);
    (void)state;
}

static void long_headers_are_cut(void **state)
{
    struct sample *sample = sample_new();
    uint8_t *bytes = memory_new(API_EVENT_HEADERS_BYTES_MOST + 1, 1);
    memset(bytes, 'x', API_EVENT_HEADERS_BYTES_MOST + 1);
    struct span whole = {bytes, API_EVENT_VALUE_MOST};
    struct span longer = {bytes, API_EVENT_VALUE_MOST + 1};
    struct span longest = {bytes, API_EVENT_HEADERS_BYTES_MOST + 1};
    sample->headers[0] = (struct record_header){span_of_text("a"), longer};
    sample->headers[1] = (struct record_header){span_of_text("b"), whole};
    sample->headers[2] = (struct record_header){span_of_text("c"), whole}; /* together with the one before too much */
    sample->headers[3] = (struct record_header){span_of_text("d"), span_of_text("1")};
    sample->record.header_count = 4;
    struct cJSON *json = make(sample);
    const struct cJSON *headers = member(json, "headers");
    assert_int_equal(cJSON_GetArraySize(headers), 4);
    assert_text(cJSON_GetArrayItem(headers, 0), "value", NULL);
    assert_int_equal(strlen(member(cJSON_GetArrayItem(headers, 1), "value")->valuestring), API_EVENT_VALUE_MOST);
    assert_text(cJSON_GetArrayItem(headers, 2), "value", NULL);
    assert_text(cJSON_GetArrayItem(headers, 3), "value", "1");
    assert_true(cJSON_IsTrue(member(json, "cut")));
    sample->headers[1] = (struct record_header){longest, span_of_text("1")}; /* a name that is too long ends the list: half of it is no name */
    json = make(sample);
    assert_int_equal(cJSON_GetArraySize(member(json, "headers")), 1);
    assert_true(cJSON_IsTrue(member(json, "cut")));
    free(bytes);
    sample_free(sample);
    (void)state;
}

/* What a page is charged with: the bytes that are shown, not those that are there. */
static void cost_of_what_is_shown(void **state)
{
    struct sample *sample = sample_new();
    uint8_t *bytes = memory_new(API_EVENT_VALUE_MOST + 1, 1);
    (void)make(sample);
    assert_int_equal(sample->cost, 6);
    sample->headers[0] = (struct record_header){span_of_text("ab"), span_of_text("c")};
    sample->record.header_count = 1;
    (void)make(sample);
    assert_int_equal(sample->cost, 9 + API_EVENT_HEADER_COST);
    sample->record.value = sample->decoded.value = (struct span){bytes, API_EVENT_VALUE_MOST + 1};
    (void)make(sample);
    assert_int_equal(sample->cost, 4 + API_EVENT_HEADER_COST);
    sample->event.payloads = CONFIG_PAYLOADS_MASKED;
    (void)make(sample);
    assert_int_equal(sample->cost, 0);
    free(bytes);
    sample_free(sample);
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_message),
        cmocka_unit_test(bytes_that_are_no_text),
        cmocka_unit_test(states_and_times),
        cmocka_unit_test(schedules),
        cmocka_unit_test(headers),
        cmocka_unit_test(payloads_are_kept_back),
        cmocka_unit_test(long_values_are_cut),
        cmocka_unit_test(many_headers_are_cut),
        cmocka_unit_test(walking_headers_is_bounded),
        cmocka_unit_test(long_headers_are_cut),
        cmocka_unit_test(cost_of_what_is_shown),
    };
    return cmocka_run_group_tests_name("api_event", tests, NULL, NULL);
}
