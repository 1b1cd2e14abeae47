/* What comes again, as the daemon works it out: a zone that this host lacks, an end by expiry, copies that count when they are committed. No broker, no store. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"
#include "bridge/time_text.h"
#include "ops/daemon_state.h"

#define WALL_MS INT64_C(1795961574000)
#define SECOND_MS INT64_C(1000)

static struct partition partition = {.topic = "in", .slot = 0, .epoch = 1};

struct scene {
    struct daemon *daemon;
    struct daemon_source source;
};

static int begin(void **state)
{
    struct scene *scene = memory_new(1, sizeof(*scene));
    scene->source = (struct daemon_source){.misfire = recurrence_misfire_default};
    scene->daemon = memory_new(1, sizeof(*scene->daemon));
    scene->daemon->zones = zones_new("/nonexistent");
    scene->daemon->sources = &scene->source;
    scene->daemon->metrics = metrics_new();
    scene->daemon->now = (struct now){{WALL_MS}, {1000}};
    *state = scene;
    return 0;
}

static int end(void **state)
{
    struct scene *scene = *state;
    zones_free(scene->daemon->zones);
    metrics_free(scene->daemon->metrics);
    free(scene->daemon->crons);
    free(scene->daemon->copies.items);
    free(scene->daemon);
    free(scene);
    return 0;
}

/* A cron of that zone (NULL: none); `every_ms` above 0: every so often instead. */
static struct row row_of(const char *zone, int64_t every_ms)
{
    struct row row = {.root = -1, .root_timestamp_ms = -1, .record = {.timestamp_ms = WALL_MS}};
    row.decoded = (struct decoded){.id = span_of_text("a"), .root = -1, .expires_ms = -1, .undecided = every_ms == 0};
    row.decoded.due_ms = every_ms == 0 ? DUE_SINCE_EVER : WALL_MS;
    row.decoded.recurrence = (struct decoded_recurrence){
        .kind = every_ms == 0 ? DECODE_RECURRENCE_CRON : DECODE_RECURRENCE_EVERY,
        .cron = every_ms == 0 ? span_of_text("0 9 * * *") : SPAN_ABSENT,
        .zone = span_of_text(zone),
        .every_ms = every_ms,
        .until_ms = -1,
    };
    return row;
}

/* A lane must not depend on the host: only what is wrong for everybody is refused when it is read. */
static void test_a_missing_zone_is_no_reason_to_refuse(void **state)
{
    struct scene *scene = *state;
    struct refusal refusal = {REFUSAL_NONE, ""};
    struct row row = row_of("Europe/Atlantis", 0);
    int64_t due_ms = -1;
    assert_true(daemon_schedules_check(scene->daemon, &row.decoded, &refusal));
    assert_false(daemon_schedules_first(scene->daemon, &partition, &row, 5, &due_ms)); /* it is missed when it is needed */
    row.decoded.recurrence.zone = SPAN_ABSENT;
    assert_true(daemon_schedules_first(scene->daemon, &partition, &row, 5, &due_ms));
    assert_true(due_ms > WALL_MS);
    row.decoded.recurrence.cron = span_of_text("0 0 30 2 *");
    assert_false(daemon_schedules_check(scene->daemon, &row.decoded, &refusal));
    assert_int_equal(refusal.reason, REFUSAL_BAD_SCHEDULE);
}

static void test_every_knows_no_zone(void **state)
{
    struct scene *scene = *state;
    struct row row = row_of("Europe/Atlantis", SECOND_MS);
    struct recurrence_step step;
    assert_true(daemon_schedules_step(scene->daemon, &partition, &row, 5, &step));
    assert_true(step.fire && !step.finished);
    assert_int_equal(step.next_due_ms, WALL_MS + SECOND_MS);
}

static void test_none_is_due_when_it_has_expired(void **state)
{
    struct scene *scene = *state;
    struct row row = row_of(NULL, SECOND_MS);
    struct recurrence_step step;
    row.decoded.expires_ms = WALL_MS + SECOND_MS + 1;
    assert_true(daemon_schedules_step(scene->daemon, &partition, &row, 5, &step));
    assert_false(step.finished);
    row.decoded.expires_ms = WALL_MS + SECOND_MS;
    assert_true(daemon_schedules_step(scene->daemon, &partition, &row, 5, &step));
    assert_true(step.fire && step.finished);
}

static enum daemon_decided make(struct scene *scene, const struct row *row, enum copy_why why, struct outgoing_again *again)
{
    const struct outgoing_again *how;
    const struct command_copy command = {.why = why, .key = {.offset = 5}, .due_ms = DUE_SINCE_EVER};
    return daemon_again_make(scene->daemon, &partition, &command, row, again, &how);
}

/* What ends because nobody can say how it goes on is told apart from what has come to its end: the one becomes a letter, the other is done. */
static void test_what_cannot_go_on_is_told_from_what_ends(void **state)
{
    static const enum copy_why whys[] = {COPY_NEXT, COPY_DECIDED, COPY_MOVED, COPY_PAUSED};
    struct scene *scene = *state;
    struct outgoing_again again;
    struct row row = row_of("Europe/Atlantis", 0);
    for (size_t i = 0; i < sizeof(whys) / sizeof(whys[0]); i++) {
        assert_int_equal(make(scene, &row, whys[i], &again), DAEMON_DECIDED_NEVER);
    }
    row.decoded.recurrence.zone = SPAN_ABSENT;
    assert_int_equal(make(scene, &row, COPY_DECIDED, &again), DAEMON_DECIDED_WRITE);
    assert_true(again.due_ms > WALL_MS);
    row = row_of(NULL, SECOND_MS);
    assert_int_equal(make(scene, &row, COPY_NEXT, &again), DAEMON_DECIDED_WRITE);
    assert_int_equal(again.due_ms, WALL_MS + SECOND_MS);
    assert_int_equal(again.runs, 1);
    row.decoded.recurrence.count = 1;
    assert_int_equal(make(scene, &row, COPY_NEXT, &again), DAEMON_DECIDED_NOTHING);
}

/* A decided one keeps its due time, were it 0: it is not decided again. */
static void test_decided_at_0_is_decided(void **state)
{
    struct scene *scene = *state;
    struct outgoing_again again;
    struct row row = row_of(NULL, 0);
    row.decoded.undecided = false;
    assert_int_equal(make(scene, &row, COPY_PAUSED, &again), DAEMON_DECIDED_WRITE);
    assert_int_equal(again.due_ms, 0);
    assert_int_equal(again.not_before_ms, TIME_TEXT_LAST_MS);
}

static double count_reappended(const struct scene *scene)
{
    return metrics_value(scene->daemon->metrics, METRIC_REAPPENDED, METRICS_WHY_NEXT, 0);
}

static void test_copies_count_when_they_are_committed(void **state)
{
    struct scene *scene = *state;
    scene->daemon->copies.items = memory_new(2, sizeof(struct daemon_copy));
    scene->daemon->copies.items[0] = (struct daemon_copy){.why = COPY_NEXT};
    scene->daemon->copies.items[1] = (struct daemon_copy){.why = COPY_NEXT};
    scene->daemon->copies.count = scene->daemon->copies.capacity = 2;
    daemon_again_end(scene->daemon, false);
    assert_true(count_reappended(scene) == 0);
    scene->daemon->copies.count = 2;
    daemon_again_end(scene->daemon, true);
    assert_true(count_reappended(scene) == 2);
    assert_int_equal(scene->daemon->copies.count, 0);
}

#define WITH(test) cmocka_unit_test_setup_teardown(test, begin, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH(test_a_missing_zone_is_no_reason_to_refuse),
        WITH(test_every_knows_no_zone),
        WITH(test_none_is_due_when_it_has_expired),
        WITH(test_what_cannot_go_on_is_told_from_what_ends),
        WITH(test_decided_at_0_is_decided),
        WITH(test_copies_count_when_they_are_committed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
