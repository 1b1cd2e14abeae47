/* What was overdue when its partition was gained waits behind a boundary, and holds up nothing that comes due later. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/memory.h"
#include "scheduler/bucket.h"
#include "tests/support/core_case.h"

#define OVERDUE 200
#define HOUR INT64_C(3600000)
#define BEHIND (UINT64_C(1) << 63)
#define BOUNDARY (bucket_start_ms(bucket_of(0, 0, CORE_CASE_WALL)) - 1) /* of one gained at CORE_CASE_WALL */

/* So many rows of a lane in the store, due since an hour, the last one first. */
static void store_overdue(struct core_case *test, int64_t count, lane_index lane)
{
    for (int64_t i = 0; i < count; i++) {
        core_case_store(test, i, -HOUR + 10 * (count - i), lane, 0);
    }
    test->gained.position = count;
    test->gained.stored_position = count;
    test->gained.high = count;
}

static void begin(struct core_case *test, int lanes, uint32_t rate)
{
    test->options.catch_up_per_s = rate;
    core_case_begin(test, lanes, test->gained.position);
}

/* All that can be done now is done. */
static void answer(struct core_case *test)
{
    core_case_run(test, test->wall_ms);
}

/* Answers what is asked until the core sends something. */
static void wait_for_deliveries(struct core_case *test)
{
    while (core_case_count(test, COMMAND_DELIVER) == 0) {
        if (test->transaction != 0) {
            core_case_transacted(test, TRANSACTION_COMMITTED, 0);
        }
        if (!core_case_settle_once(test)) {
            assert_true(core_case_sleep(test, test->wall_ms + 1000));
        }
    }
}

/* Everything is taken back from the core, as after a crash, but for what `frontier` says. */
static void restart(struct core_case *test, const struct partition_frontier *frontier)
{
    struct partition_frontier *kept = memory_new(1, sizeof(*kept));
    *kept = *frontier;
    core_free(test->core);
    test->gained.frontier = *kept;
    free(kept);
    test->input_count = 0;
    test->plan = NULL;
    test->transaction = 0;
    test->touched_count = 0;
}

/* Answers what is asked, from the next step on, until this record is sent, alone. */
static uint64_t sequence_of(struct core_case *test, int64_t offset)
{
    do {
        if (!core_case_settle_once(test)) {
            assert_true(core_case_sleep(test, test->wall_ms + 1000));
        }
    } while (core_case_count(test, COMMAND_DELIVER) == 0);
    core_case_expect_delivers(test, offset, offset + 1);
    return core_case_deliver(test, 0)->sequence;
}

/* The index among `fired` of this offset; fired_count: it is not there. */
static size_t fired_at(const struct core_case *test, int64_t offset)
{
    size_t i = 0;
    while (i < test->fired_count && test->fired[i] != offset) {
        i++;
    }
    return i;
}

static void expect_gone(const struct core_case *test)
{
    assert_int_equal(core_case_slot(test).lanes_behind, 0);
    assert_int_equal(core_case_slot(test).pending, 0);
    assert_int_equal(core_case_slot(test).buckets, 0);
}

/* What is overdue leaves in due order at its rate; what comes due meanwhile, read before or after the start, at its time. In the end nothing stays apart. */
static void overdue_holds_up_nothing(struct core_case *test)
{
    store_overdue(test, OVERDUE, 0);
    core_case_store(test, OVERDUE, 3000, 0, 0);
    test->gained.position = test->gained.stored_position = OVERDUE + 1;
    begin(test, 1, 10);
    answer(test);
    core_case_record(test, OVERDUE + 1, 5000, 0);
    core_case_step(test);
    answer(test);
    for (int second = 0; second < 32; second++) {
        core_case_run(test, second * 1000);
        size_t on_time = (size_t)(second >= 3) + (second >= 5);
        size_t most = (size_t)second * 10 + 1;
        most = most < OVERDUE ? most : OVERDUE;
        assert_in_range(test->fired_count - on_time, most - 1, most + 1);
        assert_int_equal(fired_at(test, OVERDUE) < test->fired_count, second >= 3);
        assert_int_equal(fired_at(test, OVERDUE + 1) < test->fired_count, second >= 5);
        if (second < 19) {
            assert_int_equal(core_case_slot(test).lanes_behind, 1);
        }
    }
    int64_t before = OVERDUE;
    for (size_t i = 0; i < test->fired_count; i++) {
        if (test->fired[i] < OVERDUE) {
            assert_int_equal(test->fired[i], before - 1); /* the last one was due first */
            before = test->fired[i];
        }
    }
    assert_int_equal(before, 0);
    expect_gone(test);
}

static void test_overdue_holds_up_nothing(void **state)
{
    overdue_holds_up_nothing(*state);
}

static void test_overdue_holds_up_nothing_exactly_once(void **state)
{
    struct core_case *test = *state;
    test->options.exactly_once = true;
    overdue_holds_up_nothing(test);
}

/* Off: one queue, no boundary in F, everything at once. */
static void test_off(void **state)
{
    struct core_case *test = *state;
    store_overdue(test, 20, 0);
    begin(test, 1, 0);
    assert_int_equal(core_case_slot(test).lanes_behind, 0);
    core_case_run(test, 0);
    assert_int_equal(test->fired_count, 20);
}

/* F names the boundary and how far the overdue ones have got; who takes over goes on with just that, whatever the clock is now, and even when it is off. */
static void test_takeover_keeps_the_boundary(void **state)
{
    struct core_case *test = *state;
    store_overdue(test, 20, 0);
    core_case_store(test, 20, 2 * HOUR, 0, 0);
    test->gained.position = test->gained.stored_position = 21;
    begin(test, 1, 10);
    core_case_run(test, 199);
    assert_int_equal(test->fired_count, 2);
    core_case_wait(test, 1); /* the third is sent, and its end not heard of */
    for (int i = 0; core_case_count(test, COMMAND_COMMIT) == 0; i++) {
        assert_true(i < 100);
        core_case_settle_once(test);
        core_case_wait(test, 10);
    }
    const struct partition_frontier *frontier = core_case_commit(test);
    assert_int_equal(frontier->behind_count, 1);
    assert_int_equal(frontier->boundary_ms, BOUNDARY);
    assert_int_equal(frontier->behind[0].lane, 0);
    assert_int_equal(frontier->behind[0].frontier.live.point.due_ms, CORE_CASE_WALL - HOUR + 20); /* two of them */
    assert_int_equal(frontier->lane_count, 0); /* the lane's own is the shared one */
    assert_int_equal(frontier->shared.point.due_ms, BOUNDARY);
    assert_int_equal(frontier->committed_offset, 21);
    restart(test, frontier);
    size_t before = test->fired_count;
    test->wall_ms += HOUR;
    begin(test, 1, 0);
    core_case_run(test, test->wall_ms);
    assert_int_equal(test->fired_count, before + 18);
    core_case_run(test, 2 * HOUR + 1000);
    expect_gone(test);
}

/* A coarse bucket that reaches over the boundary is split at once, and only then either side takes of it. */
static void test_bucket_over_the_boundary(void **state)
{
    struct core_case *test = *state;
    core_case_store(test, 0, -HOUR, 0, 2);
    core_case_store(test, 1, -HOUR + 1, 0, 2);
    core_case_store(test, 2, 4000, 0, 2);
    core_case_store(test, 3, 6 * HOUR, 0, 2);
    test->gained.position = test->gained.stored_position = 4;
    test->options.split_rows_max = 1;
    test->options.catch_up_per_s = 1;
    core_case_begin(test, 1, 4);
    assert_int_equal(core_case_plan(test)->split_count, 1);
    assert_int_equal(core_case_count(test, COMMAND_DELIVER), 0);
    assert_int_equal(core_case_queue(test, 0).pending, 4);
    core_case_run(test, 900);
    assert_int_equal(core_case_queue(test, 0).pending, 3); /* at its rate */
    assert_int_equal(test->fired[0], 0);
    core_case_run(test, 5000);
    assert_true(fired_at(test, 2) < test->fired_count);
    assert_int_equal(core_case_queue(test, 0).pending, 1);
    assert_int_equal(core_case_slot(test).lanes_behind, 0);
}

/* What is read later and was due before the boundary waits behind it; all else goes at once. */
static void test_late_arrivals(void **state)
{
    struct core_case *test = *state;
    store_overdue(test, 20, 0);
    begin(test, 1, 1);
    answer(test);
    assert_int_equal(test->fired_count, 1);
    core_case_record(test, 20, -2 * HOUR, 0);
    core_case_record(test, 21, -2000, 0);
    core_case_record(test, 22, -1, 0);
    core_case_step(test);
    core_case_expect_delivers(test, 21, 23);
    assert_int_equal(core_case_deliver(test, 0)->sequence & BEHIND, 0);
    answer(test);
    core_case_wait(test, 1000);
    wait_for_deliveries(test);
    core_case_expect_delivers(test, 20, 21); /* late: before what is newly due */
    assert_int_equal(core_case_deliver(test, 0)->sequence, BEHIND + 1);
    assert_int_equal(core_case_deliver(test, 0)->lane, 0);
}

/* A late arrival of the lane's own that is not done keeps its cut back, and what was done behind the boundary meanwhile is not covered by it yet: the queue
 * behind may not end, though the last commit had it left out. */
static void test_end_waits_for_the_own_cut(void **state)
{
    struct core_case *test = *state;
    store_overdue(test, 1, 0);
    begin(test, 1, 1000);
    uint64_t overdue = sequence_of(test, 0);
    core_case_record(test, 1, -2, 0);
    core_case_delivered(test, 0, sequence_of(test, 1));
    core_case_record(test, 2, -3, 0); /* late: in flight from now on */
    uint64_t late = sequence_of(test, 2);
    core_case_settle(test);
    core_case_delivered(test, 0, overdue);
    while (core_case_count(test, COMMAND_COMMIT) == 0) {
        core_case_wait(test, 10);
    }
    assert_int_equal(core_case_commit(test)->behind_count, 0);
    assert_int_equal(core_case_commit(test)->shared.cut, 2);
    core_case_record(test, 3, -HOUR, 0);
    core_case_step(test);
    core_case_expect_delivers(test, 3, 4);
    assert_true((core_case_deliver(test, 0)->sequence & BEHIND) != 0);
    core_case_delivered(test, 0, core_case_deliver(test, 0)->sequence);
    core_case_committed(test);
    core_case_step(test);
    assert_int_equal(core_case_slot(test).lanes_behind, 1);
    while (core_case_count(test, COMMAND_COMMIT) == 0) {
        core_case_settle_once(test);
        core_case_wait(test, 10);
    }
    const struct partition_frontier *frontier = core_case_commit(test);
    assert_int_equal(frontier->low_offset, 2);
    assert_int_equal(frontier->behind_count, 1);
    assert_int_equal(frontier->behind[0].frontier.live.cut, 4);
    assert_int_equal(frontier->committed_offset, 2);
    core_case_settle(test);
    assert_int_equal(core_case_slot(test).lanes_behind, 1);
    core_case_delivered(test, 0, late);
    core_case_step(test);
    core_case_run(test, 5000);
    expect_gone(test);
    assert_int_equal(core_case_slot(test).low_offset, 4);
}

/* Events that are due when they are written keep the lane's own cut a little behind what was read, all the time. That holds the end of what is done behind the
 * boundary for a moment and not for ever. */
static void test_end_under_a_stream(void **state)
{
    struct core_case *test = *state;
    test->options.commit_ms = 10;
    store_overdue(test, 1, 0);
    begin(test, 1, 1000);
    uint64_t before = UINT64_MAX;
    for (int64_t offset = 1; offset < 100; offset++) {
        core_case_record(test, offset, test->wall_ms - 1, 0);
        if (before != UINT64_MAX) {
            core_case_delivered(test, 0, before);
        }
        while (core_case_settle_once(test)) {
            for (size_t i = 0; i < core_case_count(test, COMMAND_DELIVER); i++) {
                const struct command_deliver *deliver = core_case_deliver(test, i);
                if (deliver->key.offset == offset) {
                    before = deliver->sequence; /* in flight until the next one is */
                } else {
                    core_case_delivered(test, 0, deliver->sequence);
                }
            }
        }
        core_case_wait(test, 10);
    }
    assert_int_equal(core_case_slot(test).lanes_behind, 0);
}

/* Of what may be in flight the half is kept free for what is on time. */
static void test_room_in_flight(void **state)
{
    struct core_case *test = *state;
    struct core_lane_options few = {.max_in_flight = 4, .max_in_flight_bytes = UINT64_MAX, .catches_up = true};
    store_overdue(test, 20, 0);
    begin(test, 1, 1000000);
    core_lane_change(test->core, 0, &few);
    wait_for_deliveries(test);
    assert_int_equal(core_case_count(test, COMMAND_DELIVER), 2);
    core_case_settle(test);
    assert_int_equal(core_case_queue(test, 0).in_flight, 2);
    core_case_record(test, 20, -1, 0);
    core_case_record(test, 21, -1, 0);
    core_case_record(test, 22, -1, 0);
    core_case_step(test);
    core_case_expect_delivers(test, 20, 22);
    assert_int_equal(core_case_queue(test, 0).in_flight, 4);
}

/* The clock steps back behind the boundary: each side waits for its time, and nothing is lost or early. */
static void test_clock_behind_the_boundary(void **state)
{
    struct core_case *test = *state;
    store_overdue(test, 4, 0);
    begin(test, 1, 1);
    answer(test);
    test->wall_ms -= 2 * HOUR;
    core_case_record(test, 4, -90 * 60000, 0);
    core_case_record(test, 5, -1000, 0);
    core_case_step(test);
    core_case_run(test, -2 * HOUR + 20 * 60000);
    assert_int_equal(test->fired_count, 1);
    core_case_run(test, -90 * 60000);
    assert_int_equal(test->fired[test->fired_count - 1], 4);
    core_case_run(test, -1001);
    assert_int_equal(test->fired_count, 5);
    assert_int_equal(core_case_slot(test).lanes_behind, 0); /* the clock has passed the boundary, and all that is due before it is done */
    core_case_run(test, -1000);
    assert_int_equal(test->fired_count, 6);
    core_case_run(test, 5000);
    expect_gone(test);
}

/* A paused lane keeps what is behind its boundary; the others' ends. */
static void test_paused_lane(void **state)
{
    struct core_case *test = *state;
    store_overdue(test, 10, 1);
    test->options.catch_up_per_s = 1000;
    core_case_begin(test, 3, 10);
    core_case_pause(test, 1, true);
    core_case_run(test, 10000);
    assert_int_equal(core_case_slot(test).lanes_behind, 1);
    assert_int_equal(core_case_slot(test).lanes_apart, 1);
    core_case_record(test, 10, 20000, 1);
    core_case_record(test, 11, 20000, 0);
    core_case_step(test);
    core_case_run(test, 20000);
    assert_int_equal(fired_at(test, 11) < test->fired_count, 1);
    size_t before = test->fired_count;
    core_case_pause(test, 1, false);
    core_case_step(test);
    core_case_run(test, 25000);
    assert_int_equal(test->fired_count, before + 10 + (before == 1));
    expect_gone(test);
}

/* The rate is one for all lanes together. */
static void test_lanes_share_the_rate(void **state)
{
    struct core_case *test = *state;
    for (int64_t i = 0; i < 40; i++) {
        core_case_store(test, i, -HOUR + i, (lane_index)(i % 2), 0);
    }
    test->gained.position = test->gained.stored_position = 40;
    begin(test, 2, 10);
    core_case_run(test, 2000);
    assert_in_range(test->fired_count, 20, 22);
    core_case_run(test, 10000);
    assert_int_equal(test->fired_count, 40);
    expect_gone(test);
}

/* Where F has not room for all lanes, one that is known to have something overdue comes first; the rest is as ever. */
static void test_room_in_the_metadata(void **state)
{
    struct core_case *test = *state;
    test->options.old_pairs_max = 4; /* the boundary, and one lane */
    store_overdue(test, 10, 2);
    begin(test, 3, 1);
    assert_int_equal(core_case_slot(test).lanes_behind, 1);
    core_case_run(test, 500);
    assert_int_equal(test->fired_count, 1);
    assert_int_equal(core_case_queue(test, 2).pending, 9);
}

static void test_no_room_at_all(void **state)
{
    struct core_case *test = *state;
    test->options.old_pairs_max = 2;
    store_overdue(test, 10, 0);
    begin(test, 1, 1);
    core_case_run(test, 0);
    assert_int_equal(core_case_slot(test).lanes_behind, 0);
    assert_int_equal(test->fired_count, 10);
}

/* Cancels, replacements and failures behind the boundary are as anywhere. */
static void test_controls_and_failures(void **state)
{
    struct core_case *test = *state;
    store_overdue(test, 3, 0);
    begin(test, 1, 1);
    wait_for_deliveries(test);
    core_case_expect_delivers(test, 2, 3);
    uint64_t sequence = core_case_deliver(test, 0)->sequence;
    core_case_event(test, 3, -HOUR + 100, 0, CORE_CASE_ID(1));
    core_case_step(test);
    core_case_cancel(test, 4, CORE_CASE_ID(1));
    core_case_step(test);
    core_case_failed(test, 0, sequence, DELIVERY_RETRIABLE);
    core_case_step(test);
    core_case_wait(test, 100);
    assert_true(core_case_deliver(test, 0)->again);
    assert_int_equal(core_case_deliver(test, 0)->sequence, sequence);
    answer(test);
    core_case_run(test, 10000);
    assert_int_equal(test->fired_count, 3);
    core_case_expect_ended(test, 1, 0, 0);
    expect_gone(test);
}

/* An aborted transaction takes both sides back, in their order. */
static void test_aborted_transaction(void **state)
{
    struct core_case *test = *state;
    test->options.exactly_once = true;
    store_overdue(test, 3, 0);
    begin(test, 1, 1000000);
    core_case_record(test, 3, -1, 0);
    wait_for_deliveries(test);
    size_t sent = core_case_count(test, COMMAND_DELIVER);
    for (size_t i = 0; i < sent; i++) {
        core_case_delivered(test, 0, core_case_deliver(test, i)->sequence);
    }
    core_case_transacted(test, TRANSACTION_ABORTED, 0);
    core_case_step(test);
    assert_int_equal(core_case_count(test, COMMAND_DELIVER), sent);
    assert_true(core_case_deliver(test, 0)->again);
    core_case_run(test, 10000);
    assert_int_equal(test->fired_count, sent + (sent < 4 ? 4 - sent : 0));
    expect_gone(test);
}

/* Answers what is asked until a command of this kind is given. */
static void wait_for(struct core_case *test, enum command_kind kind)
{
    for (int i = 0; core_case_count(test, kind) == 0; i++) {
        assert_true(i < 1000);
        if (!core_case_settle_once(test)) {
            core_case_wait(test, 10);
        }
    }
}

/* A person's pause of a lane holds both sides, and who takes over holds them too. */
static void test_paused_by_a_person(void **state)
{
    struct core_case *test = *state;
    store_overdue(test, 10, 0);
    begin(test, 1, 10);
    core_case_settle(test);
    core_case_input(test, INPUT_LANE_PAUSE)->as.lane_pause = (struct input_lane_pause){0, true};
    core_case_record(test, 10, 1000, 0);
    core_case_step(test);
    wait_for(test, COMMAND_COMMIT);
    const struct partition_frontier *frontier = core_case_commit(test);
    assert_int_equal(frontier->behind_count, 1);
    assert_int_equal(frontier->lane_count, 1);
    assert_true(frontier->lanes[0].paused);
    restart(test, frontier);
    begin(test, 1, 10);
    core_case_settle(test);
    core_case_record(test, 10, 1000, 0);
    core_case_step(test);
    core_case_run(test, 5000);
    assert_int_equal(test->fired_count, 0);
    assert_true(core_case_queue(test, 0).paused);
    core_case_input(test, INPUT_LANE_PAUSE)->as.lane_pause = (struct input_lane_pause){0, false};
    core_case_step(test);
    core_case_run(test, 10000);
    assert_int_equal(test->fired_count, 11);
    expect_gone(test);
}

static void steer(struct core_case *test, struct record_id id, int64_t due_ms)
{
    const struct core_case_row *row = record_id_equal(test->rows[0].id, id) ? &test->rows[0] : &test->rows[1];
    struct stored_event found = {row->offset, row->due_ms, row->root, CORE_CASE_ROW_BYTES, row->bucket.lane};
    core_case_input(test, INPUT_STEER)->as.steer =
        (struct input_steer){.token = 1, .verb = STEER_MOVE, .due_ms = CORE_CASE_WALL + due_ms, .id = id, .found = found};
}

/* What waits behind the boundary can be moved, and is the lane's own business from then on; what has left cannot. */
static void test_steered(void **state)
{
    struct core_case *test = *state;
    core_case_store(test, 0, -HOUR, 0, 0);
    core_case_store(test, 1, -HOUR + 1, 0, 0);
    test->rows[0].id = CORE_CASE_ID(1);
    test->rows[1].id = CORE_CASE_ID(2);
    test->gained.position = test->gained.stored_position = 2;
    begin(test, 1, 1);
    answer(test);
    assert_int_equal(test->fired_count, 1);
    steer(test, CORE_CASE_ID(1), 5000);
    core_case_step(test);
    assert_int_equal(core_case_find(test, COMMAND_STEERED, 0)->as.steered.result, STEER_TOO_LATE);
    core_case_settle(test);
    steer(test, CORE_CASE_ID(2), 5000);
    core_case_step(test);
    core_case_expect_copy(test, 0, 1, 5000);
    core_case_transacted(test, TRANSACTION_COMMITTED, 3);
    core_case_again(test, 2, 5000, 0, CORE_CASE_ID(2), 1);
    core_case_step(test);
    assert_int_equal(core_case_find(test, COMMAND_STEERED, 0)->as.steered.result, STEER_DONE);
    core_case_run(test, 4999);
    assert_int_equal(test->fired_count, 1);
    core_case_run(test, 6000);
    assert_int_equal(test->fired_count, 2);
    assert_int_equal(test->fired[1], 2);
    expect_gone(test);
}

/* No lane decides here, so a control's mark waits for nothing that is behind the boundary. */
static void test_marks_go_meanwhile(void **state)
{
    struct core_case *test = *state;
    store_overdue(test, 20, 0);
    test->gained.high = 30; /* a re-append may stand below it */
    begin(test, 1, 1);
    core_case_settle(test);
    core_case_cancel(test, 20, CORE_CASE_ID(1));
    core_case_step(test);
    assert_int_equal(core_case_slot(test).marks, 1);
    core_case_position(test, 30);
    core_case_step(test);
    core_case_run(test, 2000);
    assert_int_equal(core_case_slot(test).lanes_behind, 1);
    assert_int_equal(core_case_slot(test).marks, 0);
}

/* What goes on after its delivery is written again from behind the boundary, and its number says which of the two queues it is of. */
static void test_goes_on(void **state)
{
    struct core_case *test = *state;
    store_overdue(test, 1, 0);
    begin(test, 1, 1);
    wait_for_deliveries(test);
    uint64_t sequence = core_case_deliver(test, 0)->sequence;
    core_case_goes_on(test, 0, sequence, COPY_NEXT);
    core_case_step(test);
    wait_for(test, COMMAND_COPY);
    assert_true((core_case_copy(test, 0)->sequence & BEHIND) != 0);
    assert_int_equal(core_case_copy(test, 0)->sequence, sequence);
    assert_int_equal(core_case_copy(test, 0)->why, COPY_NEXT);
    core_case_failed(test, 0, sequence, DELIVERY_FAULT); /* it can never be written */
    core_case_transacted(test, TRANSACTION_ABORTED, 0);
    wait_for_deliveries(test);
    assert_true(core_case_deliver(test, 0)->not_reappended);
    assert_int_equal(core_case_deliver(test, 0)->sequence, sequence);
    core_case_delivered(test, 0, sequence);
    core_case_step(test);
    core_case_run(test, 20000);
    expect_gone(test);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CORE_CASE_TEST(test_overdue_holds_up_nothing),
        CORE_CASE_TEST(test_overdue_holds_up_nothing_exactly_once),
        CORE_CASE_TEST(test_off),
        CORE_CASE_TEST(test_takeover_keeps_the_boundary),
        CORE_CASE_TEST(test_bucket_over_the_boundary),
        CORE_CASE_TEST(test_late_arrivals),
        CORE_CASE_TEST(test_end_waits_for_the_own_cut),
        CORE_CASE_TEST(test_end_under_a_stream),
        CORE_CASE_TEST(test_room_in_flight),
        CORE_CASE_TEST(test_clock_behind_the_boundary),
        CORE_CASE_TEST(test_paused_lane),
        CORE_CASE_TEST(test_lanes_share_the_rate),
        CORE_CASE_TEST(test_room_in_the_metadata),
        CORE_CASE_TEST(test_no_room_at_all),
        CORE_CASE_TEST(test_controls_and_failures),
        CORE_CASE_TEST(test_aborted_transaction),
        CORE_CASE_TEST(test_paused_by_a_person),
        CORE_CASE_TEST(test_steered),
        CORE_CASE_TEST(test_marks_go_meanwhile),
        CORE_CASE_TEST(test_goes_on),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
