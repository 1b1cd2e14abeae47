#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cmocka.h>

#include "bridge/mock_cluster.h"
#include "bridge/sink.h"
#include "support/kafka_client.h"
#include "support/sink_watch.h"

#define SECONDS 1000

static const char *const out_topic[] = {"out", NULL};

struct fixture {
    struct mock_cluster *cluster;
    const char *bootstrap;
    struct sink_watch watch;
};

static int set_up(void **state)
{
    struct fixture *fixture = calloc(1, sizeof *fixture);
    struct error error;
    assert_true(mock_cluster_open(1, &fixture->cluster, &error));
    fixture->bootstrap = mock_cluster_bootstrap(fixture->cluster);
    assert_true(mock_cluster_create_topic(fixture->cluster, "out", 3, &error));
    assert_true(mock_cluster_create_topic(fixture->cluster, "other", 1, &error));
    *state = fixture;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *fixture = *state;
    sink_watch_close(&fixture->watch);
    mock_cluster_close(fixture->cluster);
    free(fixture);
    return 0;
}

static struct sink_watch *open_watch(struct fixture *fixture, const char *const *properties)
{
    sink_watch_open(&fixture->watch, fixture->bootstrap, properties);
    return &fixture->watch;
}

static void test_delivers_with_output_headers(void **state)
{
    struct fixture *fixture = *state;
    struct sink_watch *watch = open_watch(fixture, NULL);
    const struct record_header headers[] = {
        {span_of_text("a"), span_of_text("1")},          {span_of_text("tarry-delay"), span_of_text("5s")},
        {span_of_text("a"), SPAN_ABSENT},                {span_of_text("delay_ms"), span_of_text("5")},
        {span_of_text("b"), span_of_text("")},           {span_of_text("tarry-source"), span_of_text("old")},
        {span_of_text("traceparent"), {(const uint8_t *)"\0\xff\n", 3}},
    };
    struct sink_watch_row row = {.target = "out", .partition = 2, .key = span_of_text("k"), .value = span_of_text("v"), .headers = headers,
                                 .header_count = 7, .offset = 41, .due_ms = 1700000000000};
    sink_watch_send(watch, &row, OUTPUT_HEADERS_TARRY);
    const struct sink_report *report = sink_watch_until(watch, 1, 20 * SECONDS);
    assert_true(report->delivered);
    assert_int_equal(report->partition, 2);
    assert_int_equal(report->offset, 0);
    assert_string_equal(report->error, "");
    assert_int_equal(report->target_hash, sink_target_hash(span_of_text("out")));

    struct kafka_client_records records = kafka_client_read_all(fixture->bootstrap, out_topic);
    assert_int_equal(records.count, 1);
    const struct record *record = &records.items[0].record;
    assert_true(span_equal(record->key, span_of_text("k")));
    assert_true(span_equal(record->value, span_of_text("v")));
    const struct record_header expected[] = {
        headers[0], headers[2], headers[4], headers[6], {span_of_text("tarry-id"), span_of_text("in/1/41")},
        {span_of_text("tarry-due"), span_of_text("1700000000000")}, {span_of_text("tarry-source"), span_of_text("in/1/41")},
    };
    assert_int_equal(record->header_count, 7);
    for (size_t i = 0; i < 7; i++) {
        assert_true(span_equal(record->headers[i].name, expected[i].name));
        assert_true(span_equal(record->headers[i].value, expected[i].value));
    }
    kafka_client_records_free(&records);
}

static void test_style_none_and_own_id(void **state)
{
    struct fixture *fixture = *state;
    struct sink_watch *watch = open_watch(fixture, NULL);
    const struct record_header headers[] = {{span_of_text("x"), span_of_text("y")}, {span_of_text("tarry-id"), span_of_text("mine")}};
    struct sink_watch_row row = {.target = "out", .partition = 0, .headers = headers, .header_count = 2, .id = span_of_text("mine")};
    sink_watch_send(watch, &row, OUTPUT_HEADERS_NONE);
    sink_watch_until(watch, 1, 20 * SECONDS);
    sink_watch_send(watch, &row, OUTPUT_HEADERS_TARRY);
    sink_watch_until(watch, 2, 20 * SECONDS);
    struct kafka_client_records records = kafka_client_read_all(fixture->bootstrap, out_topic);
    assert_int_equal(records.count, 2);
    assert_null(records.items[0].record.key.data);
    assert_null(records.items[0].record.value.data);
    assert_int_equal(records.items[0].record.header_count, 1);
    assert_int_equal(records.items[1].record.header_count, 4);
    assert_string_equal(kafka_client_header_text(&records.items[1], "tarry-id"), "mine");
    kafka_client_records_free(&records);
}

static void test_unknown_topic_is_said_soon(void **state)
{
    struct fixture *fixture = *state;
    mock_cluster_topic_error(fixture->cluster, "nowhere", 3);
    struct sink_watch *watch = open_watch(fixture, NULL);
    struct sink_watch_row row = {.target = "nowhere", .partition = -1};
    sink_watch_send(watch, &row, OUTPUT_HEADERS_TARRY);
    const struct sink_report *report = sink_watch_until(watch, 1, 10 * SECONDS);
    assert_false(report->delivered);
    assert_int_equal(report->failure, DELIVERY_UNKNOWN_TOPIC);
    assert_int_equal(report->target_hash, sink_target_hash(span_of_text("nowhere")));
    assert_string_not_equal(report->error, "");
    /* and again at once, as the client knows by now; then it is made and found within the refresh */
    sink_watch_send(watch, &row, OUTPUT_HEADERS_TARRY);
    assert_int_equal(sink_watch_until(watch, 2, 10 * SECONDS)->failure, DELIVERY_UNKNOWN_TOPIC);
    mock_cluster_topic_error(fixture->cluster, "nowhere", 0);
    bool delivered = false;
    for (size_t i = 3; i < 60 && !delivered; i++) {
        sink_watch_send(watch, &row, OUTPUT_HEADERS_TARRY);
        delivered = sink_watch_until(watch, i, 10 * SECONDS)->delivered;
        poll(NULL, 0, 200); /* as the core does: it waits between two tries */
    }
    assert_true(delivered);
}

static void test_partition_that_is_not_there(void **state)
{
    struct fixture *fixture = *state;
    struct sink_watch *watch = open_watch(fixture, NULL);
    struct sink_watch_row good = {.target = "out", .partition = 0};
    sink_watch_send(watch, &good, OUTPUT_HEADERS_TARRY);
    assert_true(sink_watch_until(watch, 1, 20 * SECONDS)->delivered);
    struct sink_watch_row bad = {.target = "out", .partition = 99};
    sink_watch_send(watch, &bad, OUTPUT_HEADERS_TARRY);
    assert_int_equal(sink_watch_until(watch, 2, 20 * SECONDS)->failure, DELIVERY_FAULT);
}

static void test_illegal_target(void **state)
{
    struct fixture *fixture = *state;
    struct sink_watch *watch = open_watch(fixture, NULL);
    char name[400];
    memset(name, 'x', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    struct sink_watch_row row = {.target = name, .partition = -1};
    sink_watch_send(watch, &row, OUTPUT_HEADERS_TARRY);
    const struct sink_report *report = sink_watch_until(watch, 1, SECONDS);
    assert_false(report->delivered);
    assert_int_equal(report->failure, DELIVERY_FAULT);
}

/* One record is refused by the broker: those beside it in the batch are delivered all the same. */
static void test_batch_is_taken_apart(void **state)
{
    struct fixture *fixture = *state;
    struct sink_watch *watch = open_watch(fixture, (const char *const[]){"linger.ms=200", NULL});
    /* the batch, and then one of its records, sent alone */
    mock_cluster_fail(fixture->cluster, MOCK_CLUSTER_PRODUCE, 10 /* MSG_SIZE_TOO_LARGE */, 2);
    struct sink_watch_row row = {.target = "out", .partition = 1, .value = span_of_text("v")};
    const struct record_header headers[] = {{span_of_text("h"), SPAN_ABSENT}};
    row.headers = headers;
    row.header_count = 1;
    for (int i = 0; i < 10; i++) {
        sink_watch_send(watch, &row, OUTPUT_HEADERS_TARRY);
    }
    sink_watch_until(watch, 10, 30 * SECONDS);
    size_t delivered = 0;
    for (size_t i = 0; i < 10; i++) {
        delivered += watch->reports[i].delivered;
        assert_true(watch->reports[i].delivered || watch->reports[i].failure == DELIVERY_FAULT);
    }
    assert_int_equal(delivered, 9);
    struct kafka_client_records records = kafka_client_read_all(fixture->bootstrap, out_topic);
    assert_int_equal(records.count, 9);
    assert_int_equal(records.items[0].record.header_count, 4);
    assert_null(records.items[0].record.headers[0].value.data);
    kafka_client_records_free(&records);
    size_t messages = 1;
    size_t bytes = 1;
    sink_queue(watch->sink, &messages, &bytes);
    assert_int_equal(messages, 0);
    assert_int_equal(bytes, 0);
}

static void test_error_codes(void **state)
{
    static const struct {
        int code;
        unsigned requests; /* that are answered so: a refused batch of one is asked about again, alone, the first time */
        enum delivery_failure failure;
        const char *reason;
    } cases[] = {
        {44 /* POLICY_VIOLATION */, 2, DELIVERY_FAULT, "invalid"},
        {87 /* INVALID_RECORD */, 1, DELIVERY_FAULT, "invalid"},
        {18 /* RECORD_LIST_TOO_LARGE */, 1, DELIVERY_FAULT, "too_large"},
        {43 /* UNSUPPORTED_FOR_MESSAGE_FORMAT */, 1, DELIVERY_FAULT, "undeliverable"},
        {32 /* INVALID_TIMESTAMP */, 1, DELIVERY_RETRIABLE, NULL},
        {76 /* UNSUPPORTED_COMPRESSION_TYPE */, 1, DELIVERY_RETRIABLE, NULL},
        {29 /* TOPIC_AUTHORIZATION_FAILED: the client remembers it until its next metadata, so last */, 1, DELIVERY_FAULT,
         "not_authorised"},
    };
    struct fixture *fixture = *state;
    struct sink_watch *watch = open_watch(fixture, NULL);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        mock_cluster_fail(fixture->cluster, MOCK_CLUSTER_PRODUCE, cases[i].code, cases[i].requests);
        struct sink_watch_row row = {.target = "other", .partition = 0};
        sink_watch_send(watch, &row, OUTPUT_HEADERS_TARRY);
        const struct sink_report *report = sink_watch_until(watch, i + 1, 20 * SECONDS);
        assert_false(report->delivered);
        if (report->failure != cases[i].failure) {
            fail_msg("code %d came back as %d: %s", cases[i].code, (int)report->failure, report->error);
        }
        if (cases[i].reason != NULL) {
            assert_string_equal(report->reason, cases[i].reason);
        }
    }
}

static void test_full_queue_is_back_pressure(void **state)
{
    struct fixture *fixture = *state;
    struct sink_watch *watch = open_watch(fixture, (const char *const[]){"queue.buffering.max.messages=10", "linger.ms=50", NULL});
    struct sink_watch_row row = {.target = "out", .partition = 0, .value = span_of_text("12345")};
    size_t full = 0;
    size_t taken = 0;
    while (taken < 500) {
        enum sink_result result = sink_watch_try(watch, &row, OUTPUT_HEADERS_TARRY);
        assert_int_not_equal(result, SINK_FAILED);
        full += result == SINK_FULL;
        taken += result == SINK_TAKEN;
        if (result == SINK_FULL) {
            size_t messages = 0;
            size_t bytes = 0;
            sink_queue(watch->sink, &messages, &bytes);
            assert_true(messages > 0);
            assert_int_equal(bytes, messages * 5);
            sink_watch_until(watch, watch->count + 1, 20 * SECONDS);
        }
    }
    sink_watch_until(watch, 500, 20 * SECONDS);
    assert_true(full > 0);
    for (size_t i = 0; i < 500; i++) {
        assert_true(watch->reports[i].delivered);
    }
}

/* A record that cannot fit into the local queue at all must not look like one that may fit later. */
static void test_larger_than_the_queue(void **state)
{
    struct fixture *fixture = *state;
    struct sink_watch *watch = open_watch(fixture, (const char *const[]){"queue.buffering.max.kbytes=1", NULL});
    static char value[5000];
    memset(value, 'v', sizeof value - 1);
    struct sink_watch_row row = {.target = "out", .partition = 0, .value = span_of_text(value)};
    sink_watch_send(watch, &row, OUTPUT_HEADERS_TARRY);
    const struct sink_report *report = sink_watch_until(watch, 1, SECONDS);
    assert_false(report->delivered);
    assert_int_equal(report->failure, DELIVERY_FAULT);
}

/* Broker away beyond the timeout: retriable, and quick to close. */
static void test_outage(void **state)
{
    struct fixture *fixture = *state;
    struct sink_watch *watch = open_watch(fixture, (const char *const[]){"message.timeout.ms=1500", NULL});
    struct sink_watch_row row = {.target = "out", .partition = 0};
    sink_watch_send(watch, &row, OUTPUT_HEADERS_TARRY);
    assert_true(sink_watch_until(watch, 1, 20 * SECONDS)->delivered);
    mock_cluster_broker_down(fixture->cluster, 1, true);
    sink_watch_send(watch, &row, OUTPUT_HEADERS_TARRY);
    const struct sink_report *report = sink_watch_until(watch, 2, 20 * SECONDS);
    assert_false(report->delivered);
    assert_int_equal(report->failure, DELIVERY_RETRIABLE);
    char text[256];
    assert_false(sink_fatal(watch->sink, text, sizeof text));
    sink_watch_send(watch, &row, OUTPUT_HEADERS_TARRY);
    int64_t before = source_watch_clock();
    sink_watch_close(watch);
    assert_true(source_watch_clock() - before < 6 * SECONDS);
}

/* Why there is no send_timeout of a target: each record times out for itself, and what is sent again comes behind what was not. */
static void test_a_timeout_costs_the_order(void **state)
{
    struct fixture *fixture = *state;
    struct sink_watch *watch = open_watch(fixture, (const char *const[]){"message.timeout.ms=4000", "reconnect.backoff.ms=20",
                                                                         "reconnect.backoff.max.ms=20", NULL});
    struct sink_watch_row row = {.target = "out", .partition = 0, .value = span_of_text("before")};
    sink_watch_send(watch, &row, OUTPUT_HEADERS_NONE);
    assert_true(sink_watch_until(watch, 1, 20 * SECONDS)->delivered);
    mock_cluster_broker_down(fixture->cluster, 1, true);
    row.value = span_of_text("first");
    sink_watch_send(watch, &row, OUTPUT_HEADERS_NONE);
    int64_t before = source_watch_clock();
    while (source_watch_clock() - before < 3000) { /* an outage, in which the next one comes due */
        sink_watch_take(watch);
        poll(NULL, 0, 10);
    }
    row.value = span_of_text("second");
    sink_watch_send(watch, &row, OUTPUT_HEADERS_NONE);
    const struct sink_report *report = sink_watch_until(watch, 2, 20 * SECONDS);
    assert_ptr_equal(report->token, (void *)2);
    assert_false(report->delivered);
    assert_int_equal(report->failure, DELIVERY_RETRIABLE);
    mock_cluster_broker_down(fixture->cluster, 1, false);
    report = sink_watch_until(watch, 3, 20 * SECONDS);
    assert_ptr_equal(report->token, (void *)3);
    assert_true(report->delivered);
    row.value = span_of_text("first");
    sink_watch_send(watch, &row, OUTPUT_HEADERS_NONE);
    assert_true(sink_watch_until(watch, 4, 20 * SECONDS)->delivered);
    struct kafka_client_records records = kafka_client_read_all(fixture->bootstrap, out_topic);
    assert_int_equal(records.count, 3);
    assert_true(span_equals_text(records.items[1].record.value, "second"));
    assert_true(span_equals_text(records.items[2].record.value, "first"));
    kafka_client_records_free(&records);
}

static void test_wakes_by_eventfd(void **state)
{
    struct fixture *fixture = *state;
    int fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    const struct kafka_property properties[] = {{"bootstrap.servers", fixture->bootstrap}};
    struct sink_options options = {.properties = properties, .property_count = 1, .instance = "i", .wake_fd = fd};
    struct error error;
    assert_true(sink_open(&options, &fixture->watch.sink, &error));
    struct sink_watch_row row = {.target = "out", .partition = 0};
    sink_watch_send(&fixture->watch, &row, OUTPUT_HEADERS_NONE);
    size_t reports = 0;
    while (reports == 0) {
        struct pollfd item = {.fd = fd, .events = POLLIN};
        assert_int_equal(poll(&item, 1, 20 * SECONDS), 1);
        uint64_t count = 0;
        assert_int_equal(read(fd, &count, sizeof count), sizeof count);
        struct sink_report report;
        reports = sink_poll(fixture->watch.sink, &report, 1);
    }
    sink_watch_close(&fixture->watch);
    close(fd);
}

static void test_refuses_properties(void **state)
{
    (void)state;
    const struct kafka_property refused[] = {{"acks", "1"}};
    const struct kafka_property contradiction[] = {{"max.in.flight.requests.per.connection", "100"}};
    struct sink_options options = {.properties = refused, .property_count = 1, .instance = "i", .wake_fd = -1};
    struct sink *sink = NULL;
    struct error error;
    assert_false(sink_open(&options, &sink, &error));
    assert_int_equal(error.code, ERROR_INVALID);
    assert_non_null(strstr(error.text, "acks"));
    options.properties = contradiction;
    assert_false(sink_open(&options, &sink, &error));
    assert_int_equal(error.code, ERROR_INVALID);
    assert_non_null(strstr(error.text, "max.in.flight"));
    sink_close(NULL);
}

#define WITH(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH(test_delivers_with_output_headers),
        WITH(test_style_none_and_own_id),
        WITH(test_unknown_topic_is_said_soon),
        WITH(test_partition_that_is_not_there),
        WITH(test_illegal_target),
        WITH(test_batch_is_taken_apart),
        WITH(test_error_codes),
        WITH(test_full_queue_is_back_pressure),
        WITH(test_larger_than_the_queue),
        WITH(test_outage),
        WITH(test_a_timeout_costs_the_order),
        WITH(test_wakes_by_eventfd),
        cmocka_unit_test(test_refuses_properties),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
