/* Who waits for what becomes of a record of the API, with the real core: no broker, no store, the turns taken by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"
#include "bridge/refusal.h"
#include "ops/daemon_state.h"
#include "tests/support/daemon_scene.h"

#define WALL_MS INT64_C(1800000000000)
#define HOUR_MS INT64_C(3600000)

static struct config_target targets[] = {{.name = "mail", .match = "mail", .max_in_flight = 10}};
static struct config_source sources[] = {{.topic = "in"}};
static struct config config = {.group = "g", .targets = targets, .target_count = 1, .sources = sources, .source_count = 1};
static const struct target_list allowed = {.default_lane = LANES_DEFAULT};

/* ------------------------------------------------------------------------------------------------- an owner */

static void act(struct daemon *daemon, const struct command *command)
{
    const struct partition *partition = partitions_at(&daemon->partitions, command->slot);
    if (command->kind == COMMAND_OUTCOME) {
        daemon_outcomes_take(daemon, partition, &command->as.outcome);
    } else if (command->kind == COMMAND_COMMIT) {
        daemon_input(daemon, INPUT_COMMIT_DONE, partition)->as.commit = COMMIT_ACKNOWLEDGED;
    }
}

static void turns(struct daemon *daemon, int count)
{
    for (int i = 0; i < count; i++) {
        daemon->now.mono.ms += 200;
        daemon->now.wall.ms += 200;
        daemon_scene_step(daemon, act);
        daemon_watch_stepped(daemon);
    }
}

static int begin(void **state)
{
    struct error error;
    struct daemon *daemon = daemon_scene_new(&config, (struct now){{WALL_MS}, {1000}});
    metrics_label_add(daemon->metrics, METRICS_LABEL_SOURCE, "in");
    daemon->sources = memory_new(1, sizeof(*daemon->sources));
    daemon->sources[0].rules = (struct decode_rules){.dialects = dialect_tarry_alone, .dialect_count = 1, .topic = "in", .targets = &allowed, .max_delay_ms = 1000 * HOUR_MS,
                                                     .default_delay_ms = -1, .default_target = "out"};
    assert_true(daemon_outcomes_open(daemon, &error));
    daemon_scene_gain(daemon, "in", 0, 0, NULL);
    daemon_scene_gain(daemon, "in", 1, 0, NULL);
    turns(daemon, 1);
    *state = daemon;
    return 0;
}

static int end(void **state)
{
    struct daemon *daemon = *state;
    daemon_watch_close(daemon);
    daemon_outcomes_close(daemon);
    free(daemon->sources);
    free(daemon->crons);
    daemon_scene_free(daemon);
    return 0;
}

/* ------------------------------------------------------------------------------------------------- records */

struct wish {
    int32_t partition;
    int64_t offset;
    const char *word; /* NULL: none */
    const char *id;   /* NULL: none */
    int64_t due_ms;
    bool cancel;
    bool conditional;
    bool recurs;
    int64_t root; /* 0: none, as no record of these has that offset */
    int64_t dedupe_ms;
};

/* As intake reads it: the row, and the hook. */
static void read_record(struct daemon *daemon, const struct wish *wish)
{
    struct partition *partition = partitions_find(&daemon->partitions, "in", wish->partition);
    struct error error;
    struct buffer row = buffer_new(1 << 16);
    struct record record = {.offset = wish->offset, .timestamp_ms = WALL_MS, .timestamp = RECORD_TIMESTAMP_CREATE};
    struct decoded decoded = {.action = wish->cancel ? DECODE_CANCEL : DECODE_SCHEDULE, .due_ms = wish->due_ms, .target = span_of_text("out"), .lane = LANES_DEFAULT,
                              .partition = -1, .id = span_of_text(wish->id), .request = span_of_text(wish->word), .root = wish->root > 0 ? wish->root : -1,
                              .root_timestamp_ms = -1, .expires_ms = -1, .conditional = wish->conditional, .undecided = wish->conditional};
    decoded.recurrence.until_ms = -1;
    if (wish->recurs) {
        decoded.recurrence.kind = DECODE_RECURRENCE_EVERY;
        decoded.recurrence.every_ms = HOUR_MS;
    }
    struct input_record taken = {.offset = wish->offset, .timestamp_ms = WALL_MS, .root = decoded.root, .cancel = wish->cancel, .conditional = wish->conditional,
                                 .lane = decoded.undecided ? LANES_UNDECIDED : LANES_DEFAULT, .due_ms = decoded.undecided ? DUE_SINCE_EVER : wish->due_ms,
                                 .id = daemon_ids_hash(daemon, decoded.id), .found = {.offset = -1, .root = -1}, .dedupe_ms = wish->dedupe_ms, .dedupe_due_ms = wish->due_ms};
    if (wish->id != NULL) {
        daemon_outcomes_read(daemon, partition, wish->offset, decoded.id);
    }
    daemon_watch_read(daemon, partition, &taken, &decoded);
    if (!wish->cancel) {
        assert_true(row_encode(&row, &record, &decoded, &error));
        taken.bytes = (uint32_t)row.length;
        taken.ref = arena_add(&daemon->arena, buffer_span(&row));
    }
    buffer_free(&row);
    daemon_input(daemon, INPUT_RECORD, partition)->as.record = taken;
}

#define READ(daemon, ...) read_record(daemon, &(struct wish){__VA_ARGS__})

/* ------------------------------------------------------------------------------------------------- who waits */

static struct request_watch *watch_for(struct daemon *daemon, const char *word, const char *id, size_t count)
{
    struct request_watch_place places[2];
    for (size_t i = 0; i < count; i++) {
        const struct partition *partition = partitions_find(&daemon->partitions, "in", (int32_t)i);
        places[i] = (struct request_watch_place){.slot = partition->slot, .epoch = partition->epoch, .partition = (int32_t)i};
    }
    struct request_watch *watch = request_watch_new(span_of_text(word), span_of_text(id), places, count);
    assert_true(daemon_watch_add(daemon, watch));
    return watch;
}

static bool is_over(struct request_watch *watch)
{
    return request_watch_wait(watch, (struct mono_ms){0}, NULL, NULL);
}

static struct request_watch_place place_of(struct request_watch *watch)
{
    struct request_watch_place place;
    request_watch_copy(watch, &place, NULL);
    return place;
}

static void test_scheduled(void **state)
{
    struct daemon *daemon = *state;
    struct request_watch *watch = watch_for(daemon, "w", "a", 1);
    READ(daemon, .word = "other", .id = "b", .due_ms = WALL_MS + HOUR_MS, .offset = 0);
    turns(daemon, 1);
    assert_false(is_over(watch));
    READ(daemon, .word = "w", .id = "a", .due_ms = WALL_MS + HOUR_MS, .offset = 1);
    assert_false(is_over(watch)); /* the step may let it fall */
    turns(daemon, 1);
    assert_true(is_over(watch));
    struct request_watch_place place = place_of(watch);
    assert_int_equal(place.end, REQUEST_WATCH_SCHEDULED);
    assert_int_equal(place.offset, 1);
    assert_int_equal(place.due_ms, WALL_MS + HOUR_MS);
    request_watch_drop(watch);
    turns(daemon, 1);
    assert_int_equal(daemon->watches.count, 0); /* nobody waits any more */
}

static void test_refused(void **state)
{
    struct daemon *daemon = *state;
    struct request_watch *watch = watch_for(daemon, "w", "a", 1);
    const struct partition *partition = partitions_find(&daemon->partitions, "in", 0);
    struct record_header header = {span_of_text("tarry-request"), span_of_text("w")};
    struct record record = {.headers = &header, .header_count = 1, .offset = 3};
    struct refusal refusal;
    struct request_watch_place place;
    refusal_set(&refusal, REFUSAL_NO_TIME, "no time");
    daemon_watch_refused(daemon, partitions_find(&daemon->partitions, "in", 1), &record, &refusal);
    assert_false(is_over(watch)); /* in a partition where nobody waits for it */
    daemon_watch_refused(daemon, partition, &record, &refusal);
    assert_true(is_over(watch));
    request_watch_copy(watch, &place, &refusal);
    assert_int_equal(place.end, REQUEST_WATCH_REFUSED);
    assert_int_equal(place.offset, 3);
    assert_int_equal(refusal.reason, REFUSAL_NO_TIME);
    assert_string_equal(refusal.text, "no time");
    request_watch_drop(watch);
}

static void test_duplicate(void **state)
{
    struct daemon *daemon = *state;
    READ(daemon, .id = "a", .due_ms = WALL_MS - 5, .offset = 0, .dedupe_ms = HOUR_MS); /* it came due before the next one was written */
    turns(daemon, 1);
    struct request_watch *watch = watch_for(daemon, "w", "a", 1);
    READ(daemon, .word = "w", .id = "a", .due_ms = WALL_MS + HOUR_MS / 2, .offset = 1, .dedupe_ms = HOUR_MS);
    turns(daemon, 1);
    assert_true(is_over(watch));
    assert_int_equal(place_of(watch).end, REQUEST_WATCH_DUPLICATE);
    request_watch_drop(watch);
}

static void test_conditional(void **state)
{
    struct daemon *daemon = *state;
    struct request_watch *watch = watch_for(daemon, "w", "a", 1);
    READ(daemon, .word = "w", .id = "a", .due_ms = WALL_MS + HOUR_MS, .offset = 1, .conditional = true);
    turns(daemon, 1);
    assert_false(is_over(watch));
    READ(daemon, .word = "w", .id = "a", .due_ms = WALL_MS + HOUR_MS, .offset = 2, .root = 1); /* what was decided, read back, with all its headers */
    assert_true(is_over(watch));
    assert_int_equal(place_of(watch).end, REQUEST_WATCH_SCHEDULED);
    assert_int_equal(place_of(watch).offset, 1);
    assert_int_equal(place_of(watch).due_ms, WALL_MS + HOUR_MS);
    request_watch_drop(watch);
}

static void tell(struct daemon *daemon, enum outcome outcome, int64_t control, int64_t event)
{
    const struct command_outcome told = {.outcome = outcome, .control_offset = control, .event_offset = event, .event_due_ms = WALL_MS, .by_cancel = true};
    daemon_outcomes_take(daemon, partitions_find(&daemon->partitions, "in", 0), &told);
}

static void test_what_ends_undecided_ones(void **state)
{
    static const enum request_watch_end ends[OUTCOME_COUNT] = {
        [OUTCOME_REJECTED] = REQUEST_WATCH_EXISTS,    [OUTCOME_DROPPED] = REQUEST_WATCH_DROPPED,  [OUTCOME_DUPLICATE] = REQUEST_WATCH_DUPLICATE,
        [OUTCOME_CANCELLED] = REQUEST_WATCH_DROPPED,  [OUTCOME_REPLACED] = REQUEST_WATCH_DROPPED, [OUTCOME_SKIPPED] = REQUEST_WATCH_DROPPED,
    };
    struct daemon *daemon = *state;
    for (int outcome = 0; outcome < OUTCOME_COUNT; outcome++) {
        if (ends[outcome] == REQUEST_WATCH_OPEN) {
            continue;
        }
        struct request_watch *watch = watch_for(daemon, "w", "a", 1);
        READ(daemon, .word = "w", .id = "a", .due_ms = WALL_MS + HOUR_MS, .offset = outcome, .conditional = true);
        turns(daemon, 1);
        tell(daemon, (enum outcome)outcome, 99, outcome + 50);
        assert_false(is_over(watch)); /* of another one */
        tell(daemon, (enum outcome)outcome, 99, outcome);
        assert_true(is_over(watch));
        assert_int_equal(place_of(watch).end, ends[outcome]);
        request_watch_drop(watch);
        turns(daemon, 1);
    }
}

/* Without a time in a zone that this host lacks, for example. */
static void test_an_undecided_one_becomes_a_letter(void **state)
{
    struct daemon *daemon = *state;
    struct refusal refusal;
    struct request_watch_place place;
    const struct partition *partition = partitions_find(&daemon->partitions, "in", 0);
    struct request_watch *watch = watch_for(daemon, "w", "a", 1);
    READ(daemon, .word = "w", .id = "a", .due_ms = WALL_MS + HOUR_MS, .offset = 4, .conditional = true);
    turns(daemon, 1);
    struct in_flight_told *told = memory_new(1, sizeof(*told));
    told->offset = 4;
    struct in_flight_item item = {.slot = partition->slot, .epoch = partition->epoch, .as_letter = true, .told = told};
    daemon_watch_letter(daemon, &item);
    request_watch_copy(watch, &place, &refusal);
    assert_int_equal(place.end, REQUEST_WATCH_REFUSED);
    assert_int_equal(refusal.reason, REFUSAL_BAD_SCHEDULE);
    free(told);
    request_watch_drop(watch);
}

/* ------------------------------------------------------------------------------------------------- cancels */

static void test_cancelled_in_one_of_two(void **state)
{
    struct daemon *daemon = *state;
    struct request_watch_place places[2];
    READ(daemon, .partition = 1, .id = "a", .due_ms = WALL_MS + HOUR_MS, .offset = 0);
    turns(daemon, 1);
    struct request_watch *watch = watch_for(daemon, "w", "a", 2);
    READ(daemon, .partition = 0, .word = "w", .id = "a", .offset = 0, .cancel = true);
    turns(daemon, 10);
    assert_false(is_over(watch));
    READ(daemon, .partition = 1, .word = "w", .id = "a", .offset = 1, .cancel = true);
    turns(daemon, 10);
    assert_true(is_over(watch));
    request_watch_copy(watch, places, NULL);
    assert_int_equal(places[0].end, REQUEST_WATCH_NOT_FOUND);
    assert_int_equal(places[1].end, REQUEST_WATCH_CANCELLED);
    request_watch_drop(watch);
}

static struct request_watch_place cancel_again(struct daemon *daemon, int64_t offset)
{
    struct request_watch *watch = watch_for(daemon, "w", "a", 1);
    READ(daemon, .word = "w", .id = "a", .offset = offset, .cancel = true);
    turns(daemon, 10);
    assert_true(is_over(watch));
    struct request_watch_place place = place_of(watch);
    request_watch_drop(watch);
    turns(daemon, 1);
    return place;
}

static void note(struct daemon *daemon, enum history_outcome outcome, int64_t at_ms, const char *topic)
{
    history_add(daemon->outcomes.history, &(struct history_event){.id = span_of_text("a"), .source_topic = span_of_text(topic), .source_partition = 0, .source_offset = 1,
                                                                  .due_ms = at_ms, .outcome = outcome, .at_ms = at_ms});
}

/* What is known of an id that is not pending, as it was before this answer. */
static void test_what_was_before(void **state)
{
    struct daemon *daemon = *state;
    int64_t offset = 0;
    assert_int_equal(cancel_again(daemon, offset++).end, REQUEST_WATCH_NOT_FOUND);
    note(daemon, HISTORY_DELIVERED, WALL_MS + 7, "elsewhere");
    assert_int_equal(cancel_again(daemon, offset++).end, REQUEST_WATCH_NOT_FOUND);
    note(daemon, HISTORY_DELIVERED, WALL_MS + 7, "in");
    note(daemon, HISTORY_FINISHED, WALL_MS + 8, "in");
    for (int i = 0; i < 2; i++) { /* the second time the first one's "not found" is the last that history says */
        struct request_watch_place place = cancel_again(daemon, offset++);
        assert_int_equal(place.end, REQUEST_WATCH_DELIVERED);
        assert_int_equal(place.at_ms, WALL_MS + 7);
    }
    READ(daemon, .id = "a", .due_ms = WALL_MS + 100 * HOUR_MS, .offset = offset++);
    assert_int_equal(cancel_again(daemon, offset++).end, REQUEST_WATCH_CANCELLED);
    assert_int_equal(cancel_again(daemon, offset++).end, REQUEST_WATCH_ALREADY);
    assert_int_equal(cancel_again(daemon, offset++).end, REQUEST_WATCH_ALREADY);
    note(daemon, HISTORY_LETTER, WALL_MS + 9, "in");
    assert_int_equal(cancel_again(daemon, offset++).end, REQUEST_WATCH_NOT_FOUND);
}

/* Its delivery is under way: of a one-shot that is all, of what comes again the rest is ended. */
static void too_late(struct daemon *daemon, bool recurs, enum request_watch_end expected)
{
    READ(daemon, .id = "a", .due_ms = WALL_MS + 100, .offset = 0, .recurs = recurs);
    turns(daemon, 2); /* it leaves, and nobody answers */
    struct request_watch *watch = watch_for(daemon, "w", "a", 1);
    READ(daemon, .word = "w", .id = "a", .offset = 1, .cancel = true);
    turns(daemon, 1);
    tell(daemon, OUTCOME_TOO_LATE, 1, 0);
    assert_true(is_over(watch));
    assert_int_equal(place_of(watch).end, expected);
    request_watch_drop(watch);
}

static void test_too_late(void **state)
{
    too_late(*state, false, REQUEST_WATCH_TOO_LATE);
}

static void test_too_late_for_one_of_many(void **state)
{
    too_late(*state, true, REQUEST_WATCH_STOPPED);
}

/* ------------------------------------------------------------------------------------------------- ends */

static void test_lost(void **state)
{
    struct daemon *daemon = *state;
    struct request_watch *watch = watch_for(daemon, "w", "a", 1);
    struct partition *partition = partitions_find(&daemon->partitions, "in", 0);
    daemon_input(daemon, INPUT_SLOT_LOST, partition);
    partition->gained = false;
    turns(daemon, 1);
    assert_true(is_over(watch));
    assert_int_equal(place_of(watch).end, REQUEST_WATCH_LOST);
    request_watch_drop(watch);
}

static void test_table_is_bounded(void **state)
{
    struct daemon *daemon = *state;
    struct request_watch *watches[DAEMON_WATCHES_MAX];
    for (int i = 0; i < DAEMON_WATCHES_MAX; i++) {
        watches[i] = watch_for(daemon, "w", NULL, 1);
    }
    const struct request_watch_place place = {.slot = 0};
    struct request_watch *more = request_watch_new(span_of_text("w"), SPAN_ABSENT, &place, 1);
    assert_false(daemon_watch_add(daemon, more));
    request_watch_drop(more);
    request_watch_drop(more);
    for (int i = 0; i < DAEMON_WATCHES_MAX; i++) {
        request_watch_drop(watches[i]);
    }
    turns(daemon, 1);
    assert_int_equal(daemon->watches.count, 0);
}

static bool stops(const void *context)
{
    int *looks = (int *)(uintptr_t)context;
    return --*looks < 0;
}

static void test_waiting_ends(void **state)
{
    struct daemon *daemon = *state;
    struct request_watch *watch = watch_for(daemon, "w", "a", 1);
    int looks = 2;
    assert_false(request_watch_wait(watch, (struct mono_ms){clock_mono().ms + 60000}, stops, &looks)); /* the daemon ends */
    assert_false(request_watch_wait(watch, (struct mono_ms){clock_mono().ms + 50}, NULL, NULL));
    request_watch_drop(watch);
}

#define WITH(test) cmocka_unit_test_setup_teardown(test, begin, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH(test_scheduled), WITH(test_refused),         WITH(test_duplicate), WITH(test_conditional), WITH(test_what_ends_undecided_ones),
        WITH(test_an_undecided_one_becomes_a_letter),     WITH(test_cancelled_in_one_of_two),           WITH(test_what_was_before),
        WITH(test_too_late),  WITH(test_too_late_for_one_of_many),                                      WITH(test_lost),
        WITH(test_table_is_bounded),                      WITH(test_waiting_ends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
