/* What the history says of an event that is pending no more; and numbers for the answers: a rate, the bounds of a histogram, the clock. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cjson/cJSON.h>
#include <cmocka.h>

#include "ops/api_get_past.h"
#include "ops/clock_kernel.h"
#include "ops/json.h"
#include "ops/metrics.h"
#include "ops/recent_rate.h"

#define AT INT64_C(1800000000000)

static struct history_event event_of(enum history_outcome outcome)
{
    return (struct history_event){.id = span_of_text("a"),
                                  .source_topic = span_of_text("in"),
                                  .source_partition = 3,
                                  .source_offset = 42,
                                  .due_ms = outcome == HISTORY_FINISHED ? -1 : AT,
                                  .outcome = outcome,
                                  .at_ms = AT + 4,
                                  .target = outcome == HISTORY_DELIVERED ? span_of_text("out") : SPAN_ABSENT,
                                  .target_partition = outcome == HISTORY_DELIVERED ? 1 : -1,
                                  .target_offset = -1,
                                  .lateness_ms = -1};
}

/* The state of what has these outcomes, newest first; NULL: none tells of it. Free with cJSON_Delete. */
static cJSON *tell(const enum history_outcome *outcomes, size_t count, bool schedule)
{
    struct history_event events[8];
    cJSON *document = json_object();
    for (size_t i = 0; i < count; i++) {
        events[i] = event_of(outcomes[i]);
    }
    if (!api_get_past_event(document, events, count, schedule)) {
        assert_null(document->child);
        cJSON_Delete(document);
        return NULL;
    }
    api_get_past_history(document, events, count);
    return document;
}

static const char *text_of(const cJSON *object, const char *name)
{
    return cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(object, name));
}

static void expect_state(const char *state, bool schedule, size_t count, const enum history_outcome *outcomes)
{
    cJSON *document = tell(outcomes, count, schedule);
    assert_non_null(document);
    assert_string_equal(text_of(document, "state"), state);
    assert_int_equal(cJSON_GetArraySize(cJSON_GetObjectItemCaseSensitive(document, "history")), (int)count);
    cJSON_Delete(document);
}

#define EXPECT(state, schedule, ...)                                                                                                             \
    expect_state(state, schedule, sizeof((enum history_outcome[]){__VA_ARGS__}) / sizeof(enum history_outcome), (enum history_outcome[]){__VA_ARGS__})

static void test_state_of_a_message(void **state)
{
    (void)state;
    EXPECT("delivered", false, HISTORY_DELIVERED);
    EXPECT("cancelled", false, HISTORY_CANCELLED);
    EXPECT("letter", false, HISTORY_LETTER, HISTORY_MOVED);
    EXPECT("expired", false, HISTORY_EXPIRED);
    EXPECT("delivered", false, HISTORY_NOT_FOUND, HISTORY_TOO_LATE, HISTORY_DELIVERED); /* controls came too late */
    EXPECT("delivered", false, HISTORY_DUPLICATE, HISTORY_DELIVERED);
    EXPECT("rejected", false, HISTORY_REJECTED);
    EXPECT("delivered", false, HISTORY_TOO_LATE);
    EXPECT("cancelled", false, HISTORY_CANCELLED, HISTORY_DELIVERED); /* a later one of its id */
}

static void test_state_of_a_schedule(void **state)
{
    (void)state;
    EXPECT("stopped", true, HISTORY_CANCELLED);
    EXPECT("stopped", false, HISTORY_CANCELLED, HISTORY_NEXT, HISTORY_DELIVERED); /* the history shows that it came again */
    EXPECT("finished", false, HISTORY_FINISHED, HISTORY_DELIVERED);
    EXPECT("stopped", false, HISTORY_SKIPPED, HISTORY_TOO_LATE, HISTORY_NEXT);
    EXPECT("next", true, HISTORY_NEXT, HISTORY_DELIVERED); /* it went on, and is not here */
    EXPECT("paused", true, HISTORY_PAUSED);
}

static void test_nothing_is_known(void **state)
{
    (void)state;
    const enum history_outcome nothing[] = {HISTORY_NOT_FOUND};
    assert_null(tell(nothing, 1, false));
    assert_null(tell(nothing, 0, false));
}

static void test_members(void **state)
{
    (void)state;
    const enum history_outcome outcomes[] = {HISTORY_FINISHED, HISTORY_DELIVERED};
    cJSON *document = tell(outcomes, 2, false);
    assert_string_equal(text_of(document, "id"), "a");
    assert_string_equal(text_of(document, "kind"), "schedule");
    assert_string_equal(text_of(document, "due"), "2027-01-15T08:00:00.000Z"); /* FINISHED has none: the one before it */
    assert_string_equal(text_of(document, "ended"), "2027-01-15T08:00:00.004Z");
    assert_true(cJSON_IsNull(cJSON_GetObjectItemCaseSensitive(document, "target")));
    const cJSON *source = cJSON_GetObjectItemCaseSensitive(document, "source");
    assert_string_equal(text_of(source, "topic"), "in");
    assert_int_equal(cJSON_GetNumberValue(cJSON_GetObjectItemCaseSensitive(source, "partition")), 3);
    assert_int_equal(cJSON_GetNumberValue(cJSON_GetObjectItemCaseSensitive(source, "offset")), 42);
    struct buffer printed = buffer_new(4096);
    json_print(document, &printed);
    buffer_add(&printed, "", 1);
    assert_non_null(strstr((const char *)printed.data, "\"outcome\":\"delivered\",\"at\":\"2027-01-15T08:00:00.004Z\",\"target\":{\"topic\":\"out\",\"partition\":1"));
    buffer_free(&printed);
}

static void test_rate_of_the_last_seconds(void **state)
{
    (void)state;
    struct recent_rate rate = {.first_s = 0};
    assert_true(recent_rate_per_s(&rate, 5000) == 0);
    recent_rate_add(&rate, 100500, 30);
    assert_true(recent_rate_per_s(&rate, 100900) == 0); /* its second is not over */
    assert_true(recent_rate_per_s(&rate, 101100) == 30);
    assert_true(recent_rate_per_s(&rate, 103000) == 10); /* since the first one */
    for (int64_t second = 101; second < 130; second++) {
        recent_rate_add(&rate, second * 1000, 7);
        recent_rate_add(&rate, second * 1000 + 999, 3);
    }
    assert_true(recent_rate_per_s(&rate, 130000) == 10);
    assert_true(recent_rate_per_s(&rate, 130999) == 10);
    assert_true(recent_rate_per_s(&rate, 135000) == 5); /* half of the ten seconds are quiet */
    assert_true(recent_rate_per_s(&rate, 140000) == 0);
    assert_true(recent_rate_per_s(&rate, 100000000) == 0);
}

static void test_bounds_of_a_histogram(void **state)
{
    (void)state;
    struct metrics *metrics = metrics_new();
    size_t one = metrics_label_add(metrics, METRICS_LABEL_TARGET, "one");
    size_t two = metrics_label_add(metrics, METRICS_LABEL_TARGET, "two");
    assert_true(isnan(metrics_quantile(metrics, METRIC_LATENESS_SECONDS, 0.5)));
    for (int i = 0; i < 98; i++) {
        metrics_observe(metrics, METRIC_LATENESS_SECONDS, i % 2 == 0 ? one : two, 0, 0.0015);
    }
    metrics_observe(metrics, METRIC_LATENESS_SECONDS, two, 0, 0.04);
    metrics_observe(metrics, METRIC_LATENESS_SECONDS, two, 0, 0.09);
    assert_true(metrics_quantile(metrics, METRIC_LATENESS_SECONDS, 0.5) == 0.002);
    assert_true(metrics_quantile(metrics, METRIC_LATENESS_SECONDS, 0.99) == 0.05);
    assert_true(metrics_quantile(metrics, METRIC_LATENESS_SECONDS, 1) == 0.1);
    metrics_observe(metrics, METRIC_LATENESS_SECONDS, one, 0, 1e9);
    assert_true(isinf(metrics_quantile(metrics, METRIC_LATENESS_SECONDS, 1)));
    metrics_free(metrics);
}

static void test_the_kernel_is_asked(void **state)
{
    (void)state;
    struct clock_kernel sync = clock_kernel_read();
    assert_true(sync.known || (!sync.synchronised && sync.offset_seconds == 0));
    assert_true(fabs(sync.offset_seconds) < 10); /* it slews no more than half a second */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_state_of_a_message),
        cmocka_unit_test(test_state_of_a_schedule),
        cmocka_unit_test(test_nothing_is_known),
        cmocka_unit_test(test_members),
        cmocka_unit_test(test_rate_of_the_last_seconds),
        cmocka_unit_test(test_bounds_of_a_histogram),
        cmocka_unit_test(test_the_kernel_is_asked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
