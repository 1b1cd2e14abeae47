/* How it stands with one event, in single situations; among everything else the simulator asks for each record (tests/sim/world_look.c). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/support/core_case.h"

#define DAY CORE_CASE_DAY_MS
#define A CORE_CASE_ID(1)
#define B CORE_CASE_ID(2)

static struct key at(int64_t offset, int64_t due_ms)
{
    return (struct key){CORE_CASE_WALL + due_ms, offset};
}

static enum core_event_state state_of(const struct core_case *test, int64_t offset, int64_t due_ms)
{
    return core_look_row(test->core, 0, 0, at(offset, due_ms));
}

static bool look(const struct core_case *test, struct record_id id, struct core_event *event)
{
    struct stored_event found = {.offset = -1, .root = -1};
    for (size_t i = 0; i < test->row_count; i++) {
        const struct core_case_row *row = &test->rows[i];
        if (record_id_equal(row->id, id)) {
            found = (struct stored_event){row->offset, row->due_ms, row->root, CORE_CASE_ROW_BYTES, row->bucket.lane};
        }
    }
    return core_look_id(test->core, 0, id, &found, event);
}

static void expect(const struct core_case *test, struct record_id id, enum core_event_state state, int64_t offset, int64_t root)
{
    struct core_event event;
    assert_true(look(test, id, &event));
    assert_int_equal(event.state, state);
    assert_int_equal(event.key.offset, offset);
    assert_int_equal(event.root, root);
}

static void expect_none(const struct core_case *test, struct record_id id)
{
    struct core_event event;
    assert_false(look(test, id, &event));
}

/* Everything is written, and all that was asked for is over. */
static void settle(struct core_case *test)
{
    core_case_run(test, test->wall_ms + 300);
    assert_int_equal(core_case_slot(test).unwritten_rows, 0);
}

static void test_from_reading_to_its_end(void **state)
{
    struct core_case *test = *state;
    struct core_event event;
    core_case_begin(test, 1, 0);
    core_case_event(test, 0, 1000, 0, A);
    core_case_event(test, 1, DAY, 0, B);
    core_case_step(test);
    expect(test, A, CORE_EVENT_PENDING, 0, 0);
    assert_true(look(test, A, &event) && event.ref != 0 && event.lane == 0 && event.key.due_ms == CORE_CASE_WALL + 1000);
    assert_true(core_look_offset(test->core, 0, 0, &event) && event.state == CORE_EVENT_PENDING && event.ref != 0);
    settle(test);
    assert_true(look(test, A, &event) && event.ref == 0);
    assert_false(core_look_offset(test->core, 0, 0, &event)); /* its row is in the store */
    core_case_wait(test, 1000 - test->wall_ms);
    expect(test, A, CORE_EVENT_RUNNING, 0, 0);
    assert_int_equal(state_of(test, 0, 1000), CORE_EVENT_RUNNING);
    core_case_run(test, 1500);
    assert_int_equal(test->fired_count, 1);
    expect_none(test, A);
    assert_int_equal(state_of(test, 0, 1000), CORE_EVENT_ENDED);
    expect(test, B, CORE_EVENT_PENDING, 1, 1);
}

static void test_what_failed_waits_again(void **state)
{
    struct core_case *test = *state;
    core_case_begin(test, 1, 0);
    core_case_event(test, 0, 0, 0, A);
    core_case_step(test);
    expect(test, A, CORE_EVENT_RUNNING, 0, 0);
    core_case_failed(test, 0, 0, DELIVERY_RETRIABLE);
    core_case_step(test);
    expect(test, A, CORE_EVENT_PENDING, 0, 0);
}

static void test_of_a_fifo_each_has_its_own(void **state)
{
    struct core_case *test = *state;
    core_case_begin(test, 1, 0);
    for (int64_t i = 0; i < 9; i++) {
        core_case_record(test, i, 10 * i, 0);
    }
    core_case_step(test);
    core_case_wait(test, 100);
    assert_int_equal(core_case_queue(test, 0).in_flight, 9);
    core_case_failed(test, 0, 4, DELIVERY_RETRIABLE);
    core_case_step(test);
    for (int64_t i = 0; i < 9; i++) {
        assert_int_equal(state_of(test, i, 10 * i), i == 4 ? CORE_EVENT_PENDING : CORE_EVENT_RUNNING);
    }
}

static void test_a_control_ends_it(void **state)
{
    struct core_case *test = *state;
    core_case_begin(test, 1, 0);
    core_case_event(test, 0, DAY, 0, A);
    core_case_event(test, 1, DAY, 0, B);
    core_case_step(test);
    settle(test);
    core_case_cancel(test, 2, A);
    core_case_event(test, 3, 2 * DAY, 0, B);
    core_case_step(test);
    expect_none(test, A);
    assert_int_equal(state_of(test, 0, DAY), CORE_EVENT_ENDED);
    assert_int_equal(state_of(test, 1, DAY), CORE_EVENT_ENDED);
    expect(test, B, CORE_EVENT_PENDING, 3, 3);
}

/* Also when its row is erased, and forgotten, before its delivery is known. */
static void test_a_control_ends_what_is_under_way(void **state)
{
    struct core_case *test = *state;
    core_case_begin(test, 1, 0);
    core_case_pause(test, 0, true);
    core_case_record(test, 0, DAY, 0); /* C stays here */
    core_case_event(test, 1, 0, 0, A);
    core_case_step(test);
    settle(test);
    assert_int_equal(test->row_count, 2);
    core_case_pause(test, 0, false);
    core_case_step(test);
    expect(test, A, CORE_EVENT_RUNNING, 1, 1);
    core_case_cancel(test, 2, A);
    core_case_step(test);
    expect_none(test, A);
    for (int i = 0; i < 20; i++) {
        core_case_settle(test);
        core_case_wait(test, 100);
    }
    assert_int_equal(test->row_count, 1);
    assert_int_equal(core_case_queue(test, 0).in_flight, 1);
    assert_int_equal(state_of(test, 1, 0), CORE_EVENT_ENDED);
}

static void test_what_is_written_again_moves(void **state)
{
    struct core_case *test = *state;
    core_case_begin(test, 1, 0);
    core_case_event(test, 0, 0, 0, A);
    core_case_step(test);
    core_case_goes_on(test, 0, 0, COPY_NEXT);
    core_case_step(test);
    assert_int_equal(core_case_count(test, COMMAND_COPY), 1);
    core_case_reappended(test, A, 0);
    core_case_step(test);
    expect(test, A, CORE_EVENT_MOVING, 0, 0);
    assert_int_equal(state_of(test, 0, 0), CORE_EVENT_RUNNING);
    core_case_transacted(test, TRANSACTION_COMMITTED, 2);
    core_case_step(test);
    struct core_event event;
    assert_true(look(test, A, &event));
    assert_int_equal(event.state, CORE_EVENT_MOVING); /* committed, and not read back */
    assert_int_equal(event.lane, LANES_MAX);
    assert_int_equal(event.ref, 0);
    assert_int_equal(state_of(test, 0, 0), CORE_EVENT_ENDED);
    core_case_again(test, 1, DAY, 0, A, 0);
    core_case_step(test);
    expect(test, A, CORE_EVENT_PENDING, 1, 0);
    assert_true(core_look_offset(test->core, 0, 1, &event) && event.root == 0);
}

static void test_what_a_person_moves_is_moving(void **state)
{
    struct core_case *test = *state;
    core_case_begin(test, 1, 0);
    core_case_event(test, 0, DAY, 0, A);
    core_case_step(test);
    settle(test);
    core_case_input(test, INPUT_STEER)->as.steer = (struct input_steer){
        .token = 1, .verb = STEER_MOVE, .due_ms = CORE_CASE_WALL + 2 * DAY, .id = A, .found = {0, CORE_CASE_WALL + DAY, -1, CORE_CASE_ROW_BYTES, 0}};
    core_case_step(test);
    assert_int_equal(core_case_count(test, COMMAND_COPY), 1);
    expect(test, A, CORE_EVENT_MOVING, 0, 0);
    assert_int_equal(state_of(test, 0, DAY), CORE_EVENT_PENDING); /* at its place it is to come, until that is known */
}

static void test_undecided(void **state)
{
    struct core_case *test = *state;
    test->deciding = 1;
    test->gained.high = 100; /* decided when that is read */
    core_case_begin(test, 2, 0);
    core_case_conditional(test, 0, 1, A, -1);
    core_case_step(test);
    assert_int_equal(core_look_row(test->core, 0, 1, (struct key){DUE_SINCE_EVER, 0}), CORE_EVENT_UNDECIDED);
    expect_none(test, A); /* its id finds it not */
    struct core_event event;
    assert_true(core_look_offset(test->core, 0, 0, &event) && event.state == CORE_EVENT_UNDECIDED && event.lane == 1);
}

static void test_behind_the_boundary(void **state)
{
    struct core_case *test = *state;
    test->options.catch_up_per_s = 1;
    core_case_store(test, 0, -DAY, 0, 0);
    core_case_store(test, 1, -DAY + 1, 0, 0);
    core_case_store(test, 2, DAY, 0, 2);
    test->gained.position = 3;
    test->gained.stored_position = 3;
    test->gained.high = 3;
    core_case_begin(test, 1, 3);
    settle(test);
    assert_int_equal(core_case_slot(test).lanes_behind, 1);
    core_case_run(test, 500);
    assert_int_equal(test->fired_count, 1);
    assert_int_equal(state_of(test, 0, -DAY), CORE_EVENT_ENDED);
    assert_int_equal(state_of(test, 1, -DAY + 1), CORE_EVENT_PENDING); /* the lane's own point is beyond it */
    assert_int_equal(state_of(test, 2, DAY), CORE_EVENT_PENDING);
}

static void test_what_is_not_known_has_ended(void **state)
{
    struct core_case *test = *state;
    struct core_event event;
    core_case_begin(test, 2, 0);
    core_case_record(test, 0, DAY, 0);
    core_case_step(test);
    assert_int_equal(state_of(test, 1, DAY), CORE_EVENT_ENDED); /* not read */
    assert_int_equal(core_look_row(test->core, 0, 1, at(0, DAY)), CORE_EVENT_PENDING); /* which lane a row is of is for who has the row to say */
    assert_false(core_look_offset(test->core, 0, 1, &event));
    expect_none(test, B);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CORE_CASE_BOTH(test_from_reading_to_its_end),
        CORE_CASE_TEST(test_what_failed_waits_again),
        CORE_CASE_TEST(test_of_a_fifo_each_has_its_own),
        CORE_CASE_BOTH(test_a_control_ends_it),
        CORE_CASE_TEST(test_a_control_ends_what_is_under_way),
        CORE_CASE_TEST(test_what_is_written_again_moves),
        CORE_CASE_BOTH(test_what_a_person_moves_is_moving),
        CORE_CASE_TEST(test_undecided),
        CORE_CASE_TEST(test_behind_the_boundary),
        CORE_CASE_TEST(test_what_is_not_known_has_ended),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
