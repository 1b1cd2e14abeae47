/* The demo's judgement: what counts as early, altered, repeated, missing; and the playground it looks through. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cli/demo_broker.h"
#include "cli/demo_events.h"
#include "cli/demo_summary.h"
#include "ops/clock.h"

#define GOOD 10
#define TIMEOUT_MS 20000

struct fixture {
    struct demo_broker broker;
    struct playground *playground;
    struct demo_events events;
    struct demo_event *sent; /* the events as they were before anything arrived */
    char *printed;
};

/* One broker for all: starting and ending it takes seconds. */
static int group_setup(void **state)
{
    struct fixture *fixture = calloc(1, sizeof *fixture);
    struct error error = {0};
    assert_true(demo_broker_open(&fixture->broker, NULL, &error));
    const struct playground_options options = {.bootstrap = fixture->broker.bootstrap,
                                               .topics = fixture->broker.topics,
                                               .topic_count = DEMO_BROKER_INVOICES,
                                               .fetch_wait_ms = 2,
                                               .wake_fd = -1};
    assert_true(playground_open(&options, &fixture->playground, &error));
    fixture->events = demo_events_new(GOOD, DEMO_EVENTS_WRONG_COUNT);
    assert_true(demo_events_send(&fixture->events, &fixture->broker, fixture->playground, &error));
    fixture->sent = calloc(fixture->events.count, sizeof *fixture->sent);
    memcpy(fixture->sent, fixture->events.items, fixture->events.count * sizeof *fixture->sent);
    *state = fixture;
    return 0;
}

static int setup(void **state)
{
    struct fixture *fixture = *state;
    memcpy(fixture->events.items, fixture->sent, fixture->events.count * sizeof *fixture->sent);
    fixture->events.finished = 0;
    return 0;
}

static int group_teardown(void **state)
{
    struct fixture *fixture = *state;
    playground_close(fixture->playground);
    assert_true(demo_broker_close(&fixture->broker, false, NULL));
    demo_events_free(&fixture->events);
    free(fixture->sent);
    free(fixture->printed);
    free(fixture);
    return 0;
}

/* As tarry would send it on. */
static struct playground_arrival
arrival_of(const struct fixture *fixture, const struct demo_event *event, struct record_header *header)
{
    *header = (struct record_header){span_of_text("trace"), span_of_text(event->key)};
    struct span value = {(const uint8_t *)event->value + event->payload_at, event->payload_length};
    return (struct playground_arrival){.topic = fixture->broker.names[event->target],
                                       .record = {.key = span_of_text(event->key),
                                                  .value = value,
                                                  .headers = header,
                                                  .header_count = 1,
                                                  .timestamp = RECORD_TIMESTAMP_CREATE,
                                                  .timestamp_ms = event->due_ms}};
}

/* As tarry would park it. */
static struct letter letter_of(const struct demo_event *event)
{
    return (struct letter){.reason = LETTER_REASON_BAD_TIME,
                           .error = span_of_text("because"),
                           .record = {.key = span_of_text(event->key), .value = span_of_text(event->value)}};
}

static void arrive(struct fixture *fixture, struct demo_event *event)
{
    struct record_header header;
    struct demo_event *taken = NULL;
    if (demo_events_is_wrong(event)) {
        struct letter letter = letter_of(event);
        taken = demo_events_take_letter(&fixture->events, &letter, event->due_ms + 3);
    } else {
        struct playground_arrival arrival = arrival_of(fixture, event, &header);
        taken = demo_events_take(&fixture->events, &fixture->broker, &arrival, event->due_ms + 3);
    }
    assert_ptr_equal(taken, event);
}

static void arrive_all(struct fixture *fixture, size_t but)
{
    for (size_t i = 0; i < fixture->events.count; i++) {
        if (i != but) {
            arrive(fixture, &fixture->events.items[i]);
        }
    }
}

static bool print(struct fixture *fixture)
{
    size_t size = 0;
    free(fixture->printed);
    FILE *file = open_memstream(&fixture->printed, &size);
    bool good = demo_summary_print(&fixture->events, file);
    fclose(file);
    return good;
}

static void expect(struct fixture *fixture, bool good, const char *text)
{
    assert_int_equal(print(fixture), good);
    if (strstr(fixture->printed, text) == NULL) {
        fail_msg("'%s' is not in:\n%s", text, fixture->printed);
    }
}

static void test_all_well(void **state)
{
    struct fixture *fixture = *state;
    arrive_all(fixture, SIZE_MAX);
    assert_int_equal(fixture->events.finished, fixture->events.count);
    expect(fixture, true, "10 of 10 left, 0 early; 2 of 2 wrong ones refused");
    expect(fixture, true, "lateness: min 3 ms, median 3 ms, max 3 ms");
    expect(fixture, true, "wrong-001, bad_time: because");
}

static void test_missing(void **state)
{
    struct fixture *fixture = *state;
    arrive_all(fixture, 4);
    expect(fixture, false, "9 of 10 left");
}

static void test_wrong_one_missing(void **state)
{
    struct fixture *fixture = *state;
    arrive_all(fixture, 0);
    expect(fixture, false, "1 of 2 wrong ones refused");
}

static void test_early(void **state)
{
    struct fixture *fixture = *state;
    struct record_header header;
    struct demo_event *event = &fixture->events.items[5];
    struct playground_arrival arrival = arrival_of(fixture, event, &header);
    arrive_all(fixture, 5);
    (void)demo_events_take(&fixture->events, &fixture->broker, &arrival, event->due_ms - 1);
    expect(fixture, false, "10 of 10 left, 1 early");
    expect(fixture, false, "min -1 ms");
}

static void test_early_by_its_timestamp(void **state)
{
    struct fixture *fixture = *state;
    struct record_header header;
    struct demo_event *event = &fixture->events.items[5];
    struct playground_arrival arrival = arrival_of(fixture, event, &header);
    arrival.record.timestamp_ms = event->due_ms - 1;
    arrive_all(fixture, 5);
    (void)demo_events_take(&fixture->events, &fixture->broker, &arrival, event->due_ms + 1);
    expect(fixture, false, "1 early");
}

static void test_altered(void **state)
{
    struct fixture *fixture = *state;
    struct record_header header;
    struct demo_event *event = &fixture->events.items[5];
    struct playground_arrival arrival = arrival_of(fixture, event, &header);
    arrival.record.value.length--;
    arrive_all(fixture, 5);
    (void)demo_events_take(&fixture->events, &fixture->broker, &arrival, event->due_ms);
    expect(fixture, false, "not as they should be (bytes or topic): 1");
}

static void test_good_one_refused(void **state)
{
    struct fixture *fixture = *state;
    struct demo_event *event = &fixture->events.items[5];
    struct letter letter = letter_of(event);
    arrive_all(fixture, 5);
    assert_ptr_equal(demo_events_take_letter(&fixture->events, &letter, event->due_ms), event);
    assert_int_equal(event->state, DEMO_EVENTS_REFUSED);
    expect(fixture, false, "9 of 10 left");
}

/* A wrong one is to be kept whole, and to have no target. */
static void test_letter_altered(void **state)
{
    struct fixture *fixture = *state;
    struct letter letter = letter_of(&fixture->events.items[0]);
    arrive_all(fixture, 0);
    letter.record.value.length--;
    (void)demo_events_take_letter(&fixture->events, &letter, 0);
    expect(fixture, false, "not as they should be (bytes or topic): 1");
}

static void test_letter_with_target(void **state)
{
    struct fixture *fixture = *state;
    struct letter letter = letter_of(&fixture->events.items[0]);
    arrive_all(fixture, 0);
    letter.target = span_of_text("somewhere");
    (void)demo_events_take_letter(&fixture->events, &letter, 0);
    expect(fixture, false, "not as they should be (bytes or topic): 1");
}

static void test_wrong_one_delivered(void **state)
{
    struct fixture *fixture = *state;
    struct record_header header;
    struct demo_event *event = &fixture->events.items[0];
    struct playground_arrival arrival = arrival_of(fixture, event, &header);
    arrival.topic = fixture->broker.names[DEMO_BROKER_EVENTS];
    arrive_all(fixture, 0);
    (void)demo_events_take(&fixture->events, &fixture->broker, &arrival, event->due_ms);
    expect(fixture, false, "1 of 2 wrong ones refused");
}

static void test_repeated_and_foreign(void **state)
{
    struct fixture *fixture = *state;
    struct record_header header;
    struct demo_event *event = &fixture->events.items[5];
    struct playground_arrival arrival = arrival_of(fixture, event, &header);
    arrive_all(fixture, SIZE_MAX);
    (void)demo_events_take(&fixture->events, &fixture->broker, &arrival, event->due_ms + 900);
    assert_int_equal(event->arrived_ms, event->due_ms + 3);
    expect(fixture, true, "delivered more than once: 1");
    arrival.record.key = SPAN_ABSENT;
    assert_null(demo_events_take(&fixture->events, &fixture->broker, &arrival, 0));
    struct letter letter = {.record = {.key = span_of_text("invoice-001")}};
    assert_null(demo_events_take_letter(&fixture->events, &letter, 0));
}

/* What was produced stands in the source topics as it was meant: with its time, its headers, its bytes. */
static void test_produced(void **state)
{
    struct fixture *fixture = *state;
    struct playground_arrival arrival;
    size_t count = 0;
    int64_t limit_ms = clock_mono().ms + TIMEOUT_MS;
    while (count < GOOD + DEMO_EVENTS_WRONG_COUNT && clock_mono().ms < limit_ms) {
        if (!playground_poll(fixture->playground, &arrival)) {
            continue;
        }
        const struct demo_event *event = NULL;
        for (size_t i = 0; i < fixture->events.count; i++) {
            event =
                span_equals_text(arrival.record.key, fixture->events.items[i].key) ? &fixture->events.items[i] : event;
        }
        assert_non_null(event);
        assert_string_equal(arrival.topic, fixture->broker.names[event->source]);
        assert_true(span_equals_text(arrival.record.value, event->value));
        assert_int_equal(arrival.record.timestamp_ms, event->sent_ms);
        assert_true(span_equals_text(arrival.record.headers[0].value, event->key));
        assert_int_equal(arrival.record.header_count, 1 + (event->header[0] != '\0') + (event->form == DEMO_EVENTS_AT));
        count++;
    }
    assert_int_equal(count, GOOD + DEMO_EVENTS_WRONG_COUNT);
    assert_false(playground_poll(fixture->playground, &arrival));
}

/* The shortest and the longest delay are always among them, the order is by due time, and every form is there. */
static void test_plan(void **state)
{
    struct fixture *fixture = *state;
    const struct demo_event *items = fixture->events.items;
    unsigned forms = 0;
    assert_int_equal(fixture->events.count, GOOD + DEMO_EVENTS_WRONG_COUNT);
    assert_int_equal(items[DEMO_EVENTS_WRONG_COUNT].delay_ms, 50);
    assert_int_equal(items[fixture->events.count - 1].delay_ms, 5000);
    for (size_t i = 0; i < fixture->events.count; i++) {
        forms |= 1U << items[i].form;
        assert_int_equal(demo_events_is_wrong(&items[i]), i < DEMO_EVENTS_WRONG_COUNT);
        assert_true(i <= DEMO_EVENTS_WRONG_COUNT || items[i].due_ms >= items[i - 1].due_ms);
    }
    assert_int_equal(forms, (1U << (DEMO_EVENTS_FORMS + DEMO_EVENTS_WRONG_COUNT)) - 1);
}

#define CASE(name) cmocka_unit_test_setup(name, setup)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(test_all_well),
        CASE(test_missing),
        CASE(test_wrong_one_missing),
        CASE(test_early),
        CASE(test_early_by_its_timestamp),
        CASE(test_altered),
        CASE(test_good_one_refused),
        CASE(test_letter_altered),
        CASE(test_letter_with_target),
        CASE(test_wrong_one_delivered),
        CASE(test_repeated_and_foreign),
        CASE(test_produced),
        CASE(test_plan),
    };
    return cmocka_run_group_tests(tests, group_setup, group_teardown);
}
