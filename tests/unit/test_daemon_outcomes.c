/* What the history tells of controls and of refused records: the record that a person wrote, its id, and why. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"
#include "ops/daemon_state.h"

#define WALL_MS INT64_C(1800000000000)

static struct config config = {.group = "g"};

static int begin(void **state)
{
    struct error error;
    struct daemon *daemon = memory_new(1, sizeof(*daemon));
    daemon->config = &config;
    daemon->now = (struct now){{WALL_MS}, {1000}};
    daemon->metrics = metrics_new();
    metrics_label_add(daemon->metrics, METRICS_LABEL_SOURCE, "in");
    metrics_label_add(daemon->metrics, METRICS_LABEL_TARGET, "default");
    for (int reason = 0; reason < LETTER_REASONS; reason++) {
        metrics_label_add(daemon->metrics, METRICS_LABEL_REASON, letter_reason_name((enum letter_reason)reason));
    }
    assert_true(daemon_outcomes_open(daemon, &error));
    daemon->feed = event_feed_new(&error);
    assert_non_null(daemon->feed);
    partitions_add(&daemon->partitions, "in", 2, 0);
    *state = daemon;
    return 0;
}

static int end(void **state)
{
    struct daemon *daemon = *state;
    daemon_outcomes_close(daemon);
    event_feed_free(daemon->feed);
    metrics_free(daemon->metrics);
    partitions_free(&daemon->partitions);
    free(daemon);
    return 0;
}

/* A record with id "a" was read; the checkpoint knew `found`. */
static void read_one(struct daemon *daemon, int64_t offset, int64_t root, struct stored_event found)
{
    const struct partition *partition = partitions_at(&daemon->partitions, 0);
    struct input_record taken = {.offset = offset, .root = root, .found = found};
    daemon_outcomes_read(daemon, partition, offset, span_of_text("a"));
    daemon_outcomes_root(daemon, partition, &taken);
}

static struct history_event told(struct daemon *daemon, int64_t control, int64_t event_offset)
{
    struct command_outcome outcome = {OUTCOME_CANCELLED, control, event_offset, WALL_MS, true};
    struct history_event event;
    daemon_outcomes_take(daemon, partitions_at(&daemon->partitions, 0), &outcome);
    assert_int_equal(history_state(daemon->outcomes.history, span_of_text("a"), &event, 1), 1);
    return event;
}

static const struct stored_event none = {.offset = -1, .root = -1};

static void test_the_record_that_a_person_wrote(void **state)
{
    struct daemon *daemon = *state;
    read_one(daemon, 5, -1, none);
    read_one(daemon, 6, -1, none); /* the cancel */
    assert_int_equal(told(daemon, 6, 5).source_offset, 5);
    read_one(daemon, 9, 5, none); /* a re-append of it */
    assert_int_equal(told(daemon, 6, 9).source_offset, 5);
    read_one(daemon, 20, -1, (struct stored_event){.offset = 17, .root = 3}); /* one that ends what only the checkpoint knew */
    assert_int_equal(told(daemon, 20, 17).source_offset, 3);
    read_one(daemon, 21, -1, (struct stored_event){.offset = 18, .root = -1});
    assert_int_equal(told(daemon, 21, 18).source_offset, 18);
    assert_int_equal(told(daemon, 21, 19).source_offset, 19); /* nothing is known of it */
    assert_int_equal(told(daemon, 21, -1).source_offset, 21); /* of the control itself */
}

/* What a refused record's row has: its headers. */
static struct span row_of(struct buffer *bytes, const char *id)
{
    struct record_header headers[] = {{span_of_text("x"), span_of_text("y")}, {span_of_text("tarry-id"), span_of_text(id)}};
    struct record record = {.partition = 2, .offset = 40, .key = {NULL, 0}, .value = span_of_text("v"), .headers = headers, .header_count = 2};
    struct refusal refusal = {.reason = REFUSAL_BAD_TIME, .text = "not a time"};
    struct error error;
    assert_true(row_encode_refused(bytes, &record, &refusal, &error));
    return buffer_span(bytes);
}

static void test_a_refused_record_has_its_id_and_why(void **state)
{
    struct daemon *daemon = *state;
    struct event_feed_filter all = {SPAN_ABSENT, SPAN_ABSENT, SPAN_ABSENT};
    struct event_feed_reader *reader;
    struct buffer bytes = buffer_new(4096);
    struct buffer lines = buffer_new(4096);
    struct error error;
    struct row row;
    assert_true(row_decode(row_of(&bytes, "order-1"), &row, &error));
    assert_true(row.refused);
    assert_true(event_feed_open(daemon->feed, SPAN_ABSENT, &all, &reader, &error));
    struct in_flight_item *item = in_flight_take(&daemon->in_flight);
    item->epoch = partitions_at(&daemon->partitions, 0)->epoch;
    item->as_letter = true;
    item->refused = true;
    item->reason = LETTER_REASON_BAD_TIME;
    item->told = daemon_outcomes_note(daemon, &row, 40);
    assert_non_null(item->told);
    daemon_outcomes_settled(daemon, item);
    assert_true(event_feed_read(reader, 4096, &lines));
    buffer_add(&lines, "", 1);
    assert_non_null(strstr((const char *)lines.data, "\"id\":\"order-1\",\"source\":{\"topic\":\"in\",\"partition\":2,\"offset\":40}"));
    assert_non_null(strstr((const char *)lines.data, "\"outcome\":\"letter\""));
    assert_non_null(strstr((const char *)lines.data, "\"reason\":\"bad_time\""));
    struct history_event event; /* it never was an event of that id */
    assert_int_equal(history_state(daemon->outcomes.history, span_of_text("order-1"), &event, 1), 0);
    in_flight_give(&daemon->in_flight, item);
    in_flight_free(&daemon->in_flight);
    event_feed_close(reader);
    buffer_free(&bytes);
    buffer_free(&lines);
}

static void test_an_id_that_can_be_none_is_none(void **state)
{
    struct daemon *daemon = *state;
    struct buffer bytes = buffer_new(4096);
    struct error error;
    struct row row;
    assert_true(row_decode(row_of(&bytes, ""), &row, &error));
    assert_null(daemon_outcomes_note(daemon, &row, 40)); /* and nobody watches */
    buffer_free(&bytes);
}

int main(void)
{
#define TEST(function) cmocka_unit_test_setup_teardown(function, begin, end)
    const struct CMUnitTest tests[] = {
        TEST(test_the_record_that_a_person_wrote),
        TEST(test_a_refused_record_has_its_id_and_why),
        TEST(test_an_id_that_can_be_none_is_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
