/* The producer of the API's records, against librdkafka's mock cluster. Whose a partition is: tests/e2e/e2e_api_owners.c, as the mock cluster describes no groups. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/thread.h"
#include "bridge/mock_cluster.h"
#include "bridge/request_sink_state.h"
#include "support/await.h"
#include "support/kafka_client.h"

#define SECONDS 1000

enum { CODE_TOO_LARGE = 10, CODE_UNAUTHORIZED = 29 };

struct fixture {
    struct mock_cluster *cluster;
    const char *bootstrap;
    struct request_sink *sink;
};

static bool try_open(struct fixture *fixture, const char *name, const char *value, struct error *error)
{
    const struct kafka_property properties[] = {{"bootstrap.servers", fixture->bootstrap}, {name, value}};
    const struct request_sink_options options = {properties, name == NULL ? 1 : 2, "i-0", "group"};
    return request_sink_open(&options, &fixture->sink, error);
}

static int set_up(void **state)
{
    struct fixture *fixture = calloc(1, sizeof *fixture);
    struct error error;
    assert_true(mock_cluster_open(1, &fixture->cluster, &error));
    fixture->bootstrap = mock_cluster_bootstrap(fixture->cluster);
    assert_true(mock_cluster_create_topic(fixture->cluster, "in", 5, &error));
    assert_true(try_open(fixture, NULL, NULL, &error));
    *state = fixture;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *fixture = *state;
    request_sink_close(fixture->sink);
    mock_cluster_close(fixture->cluster);
    free(fixture);
    return 0;
}

static struct mono_ms in_ms(int64_t ms)
{
    return (struct mono_ms){await_mono_ms() + ms};
}

static struct request_sink_record to(int32_t partition, const char *value)
{
    return (struct request_sink_record){.topic = "in", .partition = partition, .key = SPAN_ABSENT, .value = span_of_text(value)};
}

static enum request_sink_result send_one(struct fixture *fixture, int32_t partition, const char *value)
{
    struct request_sink_record record = to(partition, value);
    struct request_sink_answer answer;
    struct error error;
    if (!request_sink_send(fixture->sink, &record, 1, in_ms(20 * SECONDS), &answer, &error)) {
        fail_msg("%s", error.text);
    }
    return answer.result;
}

static void test_written_as_they_are(void **state)
{
    static const char *const topics[] = {"in", NULL};
    struct fixture *fixture = *state;
    struct request_sink_answer answers[3];
    struct error error;
    const struct record_header headers[] = {{span_of_text("a"), span_of_text("1")}, {span_of_text("a"), SPAN_ABSENT}, {span_of_text("b"), span_of_text("")},
                                            {span_of_text("c"), {(const uint8_t *)"\0\xff\n", 3}}};
    const struct request_sink_record records[] = {
        {"in", 4, span_of_text("k"), span_of_text("v"), headers, 4}, {"in", 4, SPAN_ABSENT, SPAN_ABSENT, NULL, 0}, {"in", 0, span_of_text(""), span_of_text(""), NULL, 0}};
    assert_true(request_sink_send(fixture->sink, records, 3, in_ms(20 * SECONDS), answers, &error));
    for (int i = 0; i < 3; i++) {
        assert_int_equal(answers[i].result, REQUEST_SINK_WRITTEN);
        assert_int_equal(answers[i].offset, i == 1 ? 1 : 0);
        assert_string_equal(answers[i].text, "");
    }
    struct kafka_client_records read = kafka_client_read_all(fixture->bootstrap, topics);
    assert_int_equal(read.count, 3);
    for (size_t i = 0; i < read.count; i++) {
        const struct kafka_client_record *item = &read.items[i];
        const struct request_sink_record *sent = &records[item->partition == 0 ? 2 : item->record.offset];
        assert_true(span_equal(item->record.key, sent->key) && span_equal(item->record.value, sent->value));
        assert_int_equal(item->record.header_count, sent->header_count);
        for (size_t h = 0; h < sent->header_count; h++) {
            assert_true(span_equal(item->record.headers[h].name, sent->headers[h].name) && span_equal(item->record.headers[h].value, sent->headers[h].value));
        }
    }
    kafka_client_records_free(&read);
}

static void test_what_can_never_be_written(void **state)
{
    struct fixture *fixture = *state;
    mock_cluster_fail(fixture->cluster, MOCK_CLUSTER_PRODUCE, CODE_TOO_LARGE, 1);
    assert_int_equal(send_one(fixture, 0, "v"), REQUEST_SINK_NEVER);
    assert_int_equal(send_one(fixture, 0, "v"), REQUEST_SINK_WRITTEN);
    assert_int_equal(send_one(fixture, 9, "v"), REQUEST_SINK_NEVER); /* no such partition */
    mock_cluster_fail(fixture->cluster, MOCK_CLUSTER_PRODUCE, CODE_UNAUTHORIZED, 1);
    assert_int_equal(send_one(fixture, 1, "v"), REQUEST_SINK_NEVER); /* last: librdkafka remembers that until its next metadata */
}

/* Nobody there: it is known that it was not written, when librdkafka has given up. */
static void test_without_a_broker(void **state)
{
    struct fixture *fixture = *state;
    assert_int_equal(send_one(fixture, 0, "v"), REQUEST_SINK_WRITTEN);
    mock_cluster_broker_down(fixture->cluster, 1, true);
    int64_t begun_ms = await_mono_ms();
    assert_int_equal(send_one(fixture, 0, "v"), REQUEST_SINK_FAILED);
    assert_true(await_mono_ms() - begun_ms >= REQUEST_SINK_TIMEOUT_MS - 1000);
    mock_cluster_broker_down(fixture->cluster, 1, false);
    assert_int_equal(send_one(fixture, 0, "v"), REQUEST_SINK_WRITTEN);
}

/* The answer comes after the deadline: nobody knows by then. The call's memory is gone when it comes. */
static void test_no_word_by_the_deadline(void **state)
{
    struct fixture *fixture = *state;
    struct request_sink_record record = to(0, "v");
    struct request_sink_answer answer;
    struct error error;
    assert_int_equal(send_one(fixture, 0, "v"), REQUEST_SINK_WRITTEN);
    mock_cluster_delay(fixture->cluster, 1, 1500);
    assert_true(request_sink_send(fixture->sink, &record, 1, in_ms(300), &answer, &error));
    assert_int_equal(answer.result, REQUEST_SINK_UNKNOWN);
    assert_true(answer.text[0] != '\0');
    mock_cluster_delay(fixture->cluster, 1, 0);
    assert_int_equal(send_one(fixture, 0, "v"), REQUEST_SINK_WRITTEN);
}

/* ------------------------------------------------------------------------------------------------- its end */

struct sender {
    struct fixture *fixture;
    pthread_t thread;
    enum request_sink_result result;
    int64_t took_ms;
};

static void *run(void *context)
{
    struct sender *sender = context;
    int64_t begun_ms = await_mono_ms();
    sender->result = send_one(sender->fixture, 0, "v");
    sender->took_ms = await_mono_ms() - begun_ms;
    return NULL;
}

static void test_woken(void **state)
{
    struct fixture *fixture = *state;
    struct sender sender = {.fixture = fixture};
    struct error error;
    char address[300];
    assert_int_equal(send_one(fixture, 0, "v"), REQUEST_SINK_WRITTEN);
    mock_cluster_delay(fixture->cluster, 1, 6000);
    assert_true(thread_start(&sender.thread, run, &sender));
    await_pause_ms(300); /* it is waiting by then; if not, it is told that tarry stops, which fails it */
    request_sink_wake(fixture->sink);
    pthread_join(sender.thread, NULL);
    assert_int_equal(sender.result, REQUEST_SINK_UNKNOWN);
    assert_true(sender.took_ms < 5000);
    struct request_sink_record record = to(0, "v");
    struct request_sink_answer answer;
    assert_false(request_sink_send(fixture->sink, &record, 1, in_ms(SECONDS), &answer, &error));
    assert_int_equal(error.code, ERROR_UNAVAILABLE);
    assert_int_equal(request_sink_partitions(fixture->sink, "other", SECONDS, &error), 0);
    assert_int_equal(error.code, ERROR_UNAVAILABLE);
    assert_false(request_sink_owner(fixture->sink, "in", 0, SECONDS, address, sizeof address, &error));
    assert_int_equal(error.code, ERROR_UNAVAILABLE);
}

/* More than librdkafka's queue holds is refused as a whole. */
static void test_too_much(void **state)
{
    struct fixture *fixture = *state;
    struct error error;
    size_t count = 4097;
    struct request_sink_record *records = calloc(count, sizeof *records);
    struct request_sink_answer *answers = calloc(count, sizeof *answers);
    for (size_t i = 0; i < count; i++) {
        records[i] = to((int32_t)(i % 5), "v");
    }
    assert_false(request_sink_send(fixture->sink, records, count, in_ms(20 * SECONDS), answers, &error));
    assert_int_equal(error.code, ERROR_FULL);
    assert_true(request_sink_send(fixture->sink, records, 1024, in_ms(20 * SECONDS), answers, &error));
    for (size_t i = 0; i < 1024; i++) {
        assert_int_equal(answers[i].result, REQUEST_SINK_WRITTEN);
        assert_int_equal(answers[i].offset, i / 5);
    }
    free(records);
    free(answers);
}

static void test_settings(void **state)
{
    struct fixture fixture = *(struct fixture *)*state;
    struct error error;
    assert_false(try_open(&fixture, "no.such.property", "1", &error));
    assert_int_equal(error.code, ERROR_INVALID);
    assert_non_null(strstr(error.text, "no.such.property"));
    assert_false(try_open(&fixture, "acks", "1", &error));
    assert_int_equal(error.code, ERROR_INVALID);
}

/* ------------------------------------------------------------------------------------------------- partitions and owners */

static void test_partitions(void **state)
{
    struct fixture *fixture = *state;
    struct error error;
    assert_int_equal(request_sink_partitions(fixture->sink, "in", 10 * SECONDS, &error), 5);
    mock_cluster_broker_down(fixture->cluster, 1, true);
    assert_int_equal(request_sink_partitions(fixture->sink, "in", 10 * SECONDS, &error), 5); /* asked a moment ago */
    assert_int_equal(request_sink_partitions(fixture->sink, "other", 300, &error), 0);
    assert_int_equal(error.code, ERROR_UNAVAILABLE);
}

/* The mock cluster describes no groups, as a broker that does not answer: asked for many, that is waited for once. */
static void test_owners_that_nobody_tells(void **state)
{
    struct fixture *fixture = *state;
    struct error error;
    char address[300];
    int64_t begun_ms = await_mono_ms();
    for (int32_t i = 0; i < 1000; i++) {
        assert_false(request_sink_owner(fixture->sink, "in", i, 500, address, sizeof address, &error));
        assert_int_equal(error.code, ERROR_UNAVAILABLE);
    }
    assert_true(await_mono_ms() - begun_ms < 20000);
}

/* As Apache Kafka's own tests have it: Utils.murmur2, its sign bit off, modulo. */
static void test_partition_of(void **state)
{
    static const struct {
        const char *key;
        int32_t hash;
    } known[] = {{"21", -973932308}, {"foobar", -790332482}, {"a-little-bit-long-string", -985981536}, {"a-little-bit-longer-string", -1486304829},
                 {"lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8", -58897971}, {"abc", 479470107}};
    (void)state;
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        for (int32_t partitions = 1; partitions < 100; partitions += 7) {
            assert_int_equal(request_sink_partition_of(span_of_text(known[i].key), partitions), (known[i].hash & INT32_MAX) % partitions);
        }
    }
    assert_true(request_sink_partition_of(span_of_text(""), 3) >= 0);
}

static void test_addresses(void **state)
{
    static const char *const good[][2] = {{"tarry-a@10.0.0.7:8080", "10.0.0.7:8080"}, {"tarry-a@b@node-1.example:80", "node-1.example:80"},
                                          {"tarry-x@[2001:db8::1]:65535", "[2001:db8::1]:65535"}, {"tarry-x@host_1:1", "host_1:1"}};
    static const char *const none[] = {"tarry-a", "a@host:1", "tarry-a@", "tarry-a@host", "tarry-a@:80", "tarry-a@host:", "tarry-a@host:0", "tarry-a@host:65536",
                                       "tarry-a@host:80x", "tarry-a@host:-1", "tarry-a@host:+80", "tarry-a@ho st:80", "tarry-a@host\r\nX: y:80", "tarry-a@http://h:80",
                                       "tarry-a@u:p@h/x:80", "tarry-a@[::1:80", "tarry-a@::1:80", "tarry-a@[]:80", "tarry-a@[x]:80", "tarry-a@host:0000080", "", NULL};
    char address[REQUEST_SINK_ADDRESS_SIZE];
    char small[8];
    (void)state;
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        request_sink_owner_address(good[i][0], address, sizeof address);
        assert_string_equal(address, good[i][1]);
    }
    for (size_t i = 0; i < sizeof none / sizeof none[0]; i++) {
        request_sink_owner_address(none[i], address, sizeof address);
        assert_string_equal(address, "");
    }
    request_sink_owner_address(good[0][0], small, sizeof small);
    assert_string_equal(small, "");
}

/* Version 1, two topics: "in" with 1 and 2, "x" with 7, and user data. */
static const uint8_t assignment[] = {0, 1, 0, 0, 0, 2, 0, 2, 'i', 'n', 0, 0, 0, 2, 0, 0, 0, 1, 0, 0, 0, 2, 0, 1, 'x', 0, 0, 0, 1, 0, 0, 0, 7, 0xff, 0xff, 0xff, 0xff};

static void test_assignments(void **state)
{
    struct fixture *fixture = *state;
    struct request_sink_owners owners = {0};
    request_sink_owner_read(fixture->sink, "tarry-other@host:1", (struct span){assignment, sizeof assignment}, &owners);
    assert_int_equal(owners.count, 3);
    assert_string_equal(owners.items[1].topic, "in");
    assert_string_equal(owners.items[2].topic, "x");
    assert_true(owners.items[1].partition == 2 && owners.items[2].partition == 7 && !owners.items[0].own);
    assert_string_equal(owners.items[2].address, "host:1");
    request_sink_owner_forget(&owners);
    static const char *const own[] = {"tarry-i-0", "tarry-i-0@host:1"};
    static const char *const others[] = {"tarry-i-01", "tarry-i-0@x@host:1", "i-0", "tarry-", "", NULL};
    for (size_t i = 0; i < 2; i++) {
        request_sink_owner_read(fixture->sink, own[i], (struct span){assignment, sizeof assignment}, &owners);
        assert_true(owners.items[0].own);
        request_sink_owner_forget(&owners);
    }
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        request_sink_owner_read(fixture->sink, others[i], (struct span){assignment, sizeof assignment}, &owners);
        assert_false(owners.items[0].own);
        request_sink_owner_forget(&owners);
    }
}

/* A member writes what it likes: cut anywhere, or with any byte changed, it is read within its bounds. */
static void test_hostile_assignments(void **state)
{
    struct fixture *fixture = *state;
    for (size_t length = 0; length <= sizeof assignment; length++) {
        uint8_t *exact = malloc(length + 1);
        memcpy(exact, assignment, length);
        for (size_t at = 0; at < length; at++) {
            for (int value = 0; value < 256; value += 51) {
                struct request_sink_owners owners = {0};
                exact[at] = (uint8_t)value;
                uint8_t *tight = malloc(length);
                memcpy(tight, exact, length);
                request_sink_owner_read(fixture->sink, "tarry-x@h:1", (struct span){tight, length}, &owners);
                assert_true(owners.count <= length);
                request_sink_owner_forget(&owners);
                free(tight);
            }
            exact[at] = assignment[at];
        }
        free(exact);
    }
}

#define WITH(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH(test_written_as_they_are), WITH(test_what_can_never_be_written), WITH(test_without_a_broker), WITH(test_no_word_by_the_deadline),
        WITH(test_woken),               WITH(test_too_much),                  WITH(test_settings),         WITH(test_partitions),
        WITH(test_owners_that_nobody_tells), WITH(test_assignments), WITH(test_hostile_assignments),
        cmocka_unit_test(test_partition_of), cmocka_unit_test(test_addresses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
