#include "support/sink_scene.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#define SECONDS 1000

/* As source_members gives them: of a group, without a member of it; the mock cluster does not look. */
static void make_members(struct sink_scene *fixture)
{
    char words[256];
    fixture->client = rd_kafka_new(RD_KAFKA_PRODUCER, rd_kafka_conf_new(), words, sizeof words);
    rd_kafka_consumer_group_metadata_t *members = rd_kafka_consumer_group_metadata_new("g");
    assert_null(rd_kafka_consumer_group_metadata_write(members, &fixture->members, &fixture->members_size));
    rd_kafka_consumer_group_metadata_destroy(members);
}

int sink_scene_setup(void **state)
{
    struct sink_scene *fixture = calloc(1, sizeof *fixture);
    struct error error;
    assert_true(mock_cluster_open(1, &fixture->cluster, &error));
    fixture->bootstrap = mock_cluster_bootstrap(fixture->cluster);
    assert_true(mock_cluster_create_topic(fixture->cluster, "out", 3, &error));
    assert_true(mock_cluster_create_topic(fixture->cluster, "in", 2, &error));
    assert_true(mock_cluster_create_topic(fixture->cluster, "other", 1, &error));
    make_members(fixture);
    *state = fixture;
    return 0;
}

int sink_scene_teardown(void **state)
{
    struct sink_scene *fixture = *state;
    sink_watch_close(&fixture->watch);
    rd_kafka_mem_free(fixture->client, fixture->members);
    rd_kafka_destroy(fixture->client);
    mock_cluster_close(fixture->cluster);
    free(fixture);
    return 0;
}

struct sink_watch *sink_scene_open(struct sink_scene *fixture, const char *const *properties)
{
    sink_watch_open_transactions(&fixture->watch, fixture->bootstrap, properties, "t", true, 10 * SECONDS);
    sink_watch_ready(&fixture->watch, 30 * SECONDS);
    return &fixture->watch;
}

struct span sink_scene_members(const struct sink_scene *fixture)
{
    return (struct span){fixture->members, fixture->members_size};
}

struct sink_transaction_result sink_scene_commit(struct sink_scene *fixture)
{
    const struct sink_offset offset = {.topic = "in", .partition = 0, .offset = 7, .metadata = "m"};
    return sink_watch_end(&fixture->watch, false, &offset, 1, sink_scene_members(fixture));
}

void sink_scene_send(struct sink_watch *watch, size_t count)
{
    struct sink_watch_row row = {.target = "out", .partition = 1, .value = span_of_text("v")};
    for (size_t i = 0; i < count; i++) {
        sink_watch_send(watch, &row, OUTPUT_HEADERS_NONE);
    }
}

size_t sink_scene_count(const struct sink_watch *watch, size_t from, bool delivered, enum delivery_failure failure)
{
    size_t count = 0;
    for (size_t i = from; i < watch->count; i++) {
        count += watch->reports[i].delivered == delivered && (delivered || watch->reports[i].failure == failure);
    }
    return count;
}

void sink_scene_expect_committed(const struct sink_transaction_result *result)
{
    if (!result->committed) {
        fail_msg("aborted: %s", result->error);
    }
    assert_string_equal(result->error, "");
}
