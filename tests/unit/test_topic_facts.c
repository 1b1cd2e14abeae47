/* What a topic's configuration may do to events, and how that is said. The brokers' side: tests/integration/test_kafka_isolation.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "bridge/mock_cluster.h"
#include "bridge/topic_facts.h"

#define DAY_MS INT64_C(86400000)

static const struct topic_facts kafka_defaults = {
    .retention_ms = 7 * DAY_MS, .retention_bytes = -1, .max_message_bytes = 1048588, .deletes = true};

struct judged {
    char texts[TOPIC_FACTS_WARNINGS_MAX][320];
    size_t count;
};

static struct judged judge(const struct topic_facts *facts, bool copies_forward)
{
    struct judged judged = {.count = 0};
    judged.count = topic_facts_warnings(facts, "delayed", 366 * DAY_MS, copies_forward, judged.texts);
    assert_true(judged.count <= TOPIC_FACTS_WARNINGS_MAX);
    for (size_t i = 0; i < judged.count; i++) {
        assert_true(strncmp(judged.texts[i], "topic delayed: ", 15) == 0);
    }
    return judged;
}

static void expect_one(const struct topic_facts *facts, bool copies_forward, const char *setting, const char *remedy)
{
    struct judged judged = judge(facts, copies_forward);
    assert_int_equal(judged.count, 1);
    assert_non_null(strstr(judged.texts[0], setting));
    assert_non_null(strstr(judged.texts[0], remedy));
}

static void expect_none(const struct topic_facts *facts, bool copies_forward)
{
    struct judged judged = judge(facts, copies_forward);
    if (judged.count != 0) {
        fail_msg("%s", judged.texts[0]);
    }
}

static void defaults_with_copies_are_silent(void **state)
{
    (void)state;
    expect_none(&kafka_defaults, true);
}

static void retention_without_copies(void **state)
{
    (void)state;
    struct topic_facts facts = kafka_defaults;
    expect_one(&facts, false, "retention.ms=604800000", "copy_forward.enabled: true");
    facts.retention_ms = 366 * DAY_MS - 1;
    expect_one(&facts, false, "31622400000 ms", "Raise retention.ms");
    facts.retention_ms = 366 * DAY_MS;
    expect_none(&facts, false);
    facts.retention_ms = -1;
    expect_none(&facts, false);
    facts.retention_ms = 0;
    expect_one(&facts, false, "retention.ms=0 ", "Raise retention.ms");
}

static void retention_with_copies(void **state)
{
    (void)state;
    struct topic_facts facts = kafka_defaults;
    facts.retention_ms = 3600000;
    expect_none(&facts, true);
    facts.retention_ms = 3599999;
    expect_one(&facts, true, "retention.ms=3599999", "Raise retention.ms");
    facts.retention_ms = -1;
    expect_none(&facts, true);
}

static void retention_by_size(void **state)
{
    (void)state;
    struct topic_facts facts = kafka_defaults;
    facts.retention_bytes = 1073741824;
    expect_one(&facts, true, "retention.bytes=1073741824", "retention.bytes=-1");
    facts.retention_bytes = 0;
    expect_one(&facts, true, "retention.bytes=0", "retention.bytes=-1");
}

static void compaction(void **state)
{
    (void)state;
    struct topic_facts facts = kafka_defaults;
    facts.compacts = true;
    expect_one(&facts, true, "cleanup.policy=compact,delete", "cleanup.policy=delete");
    facts.deletes = false;
    expect_one(&facts, true, "cleanup.policy=compact:", "cleanup.policy=delete");
    facts.retention_ms = 5; /* nothing is deleted by age */
    facts.retention_bytes = 5;
    expect_one(&facts, false, "cleanup.policy=compact:", "cleanup.policy=delete");
    facts.compacts = false;
    expect_none(&facts, false);
    expect_none(&facts, true);
}

static void the_brokers_clock(void **state)
{
    (void)state;
    struct topic_facts facts = kafka_defaults;
    facts.log_append_time = true;
    expect_one(&facts, true, "message.timestamp.type=LogAppendTime", "CreateTime");
}

static void sizes(void **state)
{
    (void)state;
    struct topic_facts facts = kafka_defaults;
    facts.max_message_bytes = 1048587;
    expect_one(&facts, true, "max.message.bytes=1048587", "Raise max.message.bytes");
    expect_none(&(struct topic_facts){.retention_ms = -1, .retention_bytes = -1, .max_message_bytes = 1000, .deletes = true}, false);
    facts.max_message_bytes = -1;
    expect_none(&facts, true);
}

/* All at once, with the longest name and numbers: each is whole. */
static void the_longest_texts_are_whole(void **state)
{
    (void)state;
    char topic[250];
    memset(topic, 'n', 249);
    topic[249] = '\0';
    for (int copies = 0; copies < 2; copies++) {
        struct topic_facts facts = {.retention_ms = copies != 0 ? 3599999 : INT64_MAX - 1, .retention_bytes = INT64_MAX, .max_message_bytes = 1048587,
                                    .deletes = true, .compacts = true, .log_append_time = true};
        char texts[TOPIC_FACTS_WARNINGS_MAX][320];
        size_t count = topic_facts_warnings(&facts, topic, INT64_MAX, copies != 0, texts);
        assert_int_equal(count, copies != 0 ? 5 : 4);
        for (size_t i = 0; i < count; i++) {
            assert_true(strlen(texts[i]) < 319);
        }
    }
}

/* A source on these brokers, for its questions alone. */
static struct source *open_source(const char *brokers)
{
    const struct kafka_property properties[] = {{"bootstrap.servers", brokers}};
    const char *const topics[] = {"in"};
    struct source_options options = {.properties = properties, .property_count = 1, .group = "g", .instance = "facts", .topics = topics, .topic_count = 1, .wake_fd = -1};
    struct source *source = NULL;
    struct error error;
    assert_true(source_open(&options, &source, &error));
    return source;
}

/* Such as the cluster of `tarry demo`: no answer to be had, now or later. */
static void a_broker_that_knows_no_such_question(void **state)
{
    (void)state;
    struct mock_cluster *cluster = NULL;
    struct error error;
    assert_true(mock_cluster_open(1, &cluster, &error));
    struct source *source = open_source(mock_cluster_bootstrap(cluster));
    struct topic_facts facts;
    assert_false(topic_facts_read(source, "in", 10000, &facts, &error));
    assert_int_equal(error.code, ERROR_INVALID);
    assert_non_null(strstr(error.text, "topic in"));
    source_close(source);
    mock_cluster_close(cluster);
}

static void no_broker(void **state)
{
    (void)state;
    struct source *source = open_source("127.0.0.1:1");
    struct topic_facts facts;
    struct error error;
    assert_false(topic_facts_read(source, "in", 300, &facts, &error));
    assert_int_equal(error.code, ERROR_UNAVAILABLE);
    source_close(source);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(defaults_with_copies_are_silent),
        cmocka_unit_test(retention_without_copies),
        cmocka_unit_test(retention_with_copies),
        cmocka_unit_test(retention_by_size),
        cmocka_unit_test(compaction),
        cmocka_unit_test(the_brokers_clock),
        cmocka_unit_test(sizes),
        cmocka_unit_test(the_longest_texts_are_whole),
        cmocka_unit_test(a_broker_that_knows_no_such_question),
        cmocka_unit_test(no_broker),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
