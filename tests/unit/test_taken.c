/* The FIFO of taken records: counts by state, what leaves its head, and which late one is the first. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "scheduler/taken.h"

static int setup(void **state)
{
    static struct taken_fifo fifo;
    fifo = (struct taken_fifo){0};
    *state = &fifo;
    return 0;
}

static int teardown(void **state)
{
    taken_free(*state);
    return 0;
}

static uint64_t add(struct taken_fifo *fifo, int64_t offset, bool late)
{
    return taken_add(fifo, &(struct taken){.key = {offset, offset}, .bytes = 10, .state = TAKEN_SENT, .late = late});
}

static void move(struct taken_fifo *fifo, uint32_t position, enum taken_state state)
{
    taken_move(fifo, taken_at(fifo, position), state);
}

static void expect_counts(const struct taken_fifo *fifo, uint32_t count, uint32_t sent, uint32_t failed, uint32_t ended)
{
    assert_int_equal(fifo->count, count);
    assert_int_equal(fifo->sent, sent);
    assert_int_equal(fifo->failed, failed);
    assert_int_equal(fifo->ended, ended);
    assert_int_equal(fifo->bytes, 10 * count);
}

static void test_counts_follow_the_states(void **state)
{
    struct taken_fifo *fifo = *state;
    for (int64_t i = 0; i < 4; i++) {
        assert_int_equal(add(fifo, i, false), i);
    }
    expect_counts(fifo, 4, 4, 0, 0);
    move(fifo, 0, TAKEN_DONE);
    move(fifo, 1, TAKEN_FAILED);
    move(fifo, 2, TAKEN_ENDED);
    expect_counts(fifo, 4, 1, 1, 1);
    move(fifo, 1, TAKEN_SENT);
    move(fifo, 0, TAKEN_FAILED);
    move(fifo, 0, TAKEN_ENDED);
    expect_counts(fifo, 4, 2, 0, 2);
}

/* An aborted transaction makes even what was acknowledged go again: such a head stays until its end is known. */
static void test_done_ones_leave_when_asked_and_ended_ones_always(void **state)
{
    struct taken_fifo *fifo = *state;
    struct taken item;
    for (int64_t i = 0; i < 4; i++) {
        (void)add(fifo, i, false);
    }
    move(fifo, 0, TAKEN_ENDED);
    move(fifo, 1, TAKEN_DONE);
    move(fifo, 3, TAKEN_DONE);
    assert_true(taken_pop(fifo, false, &item));
    assert_int_equal(item.key.offset, 0);
    assert_false(taken_pop(fifo, false, &item));
    assert_true(taken_pop(fifo, true, &item));
    assert_int_equal(item.key.offset, 1);
    assert_false(taken_pop(fifo, true, &item)); /* 2 is in flight, and 3 behind it */
    expect_counts(fifo, 2, 1, 0, 0);
    move(fifo, 0, TAKEN_FAILED);
    assert_false(taken_pop(fifo, true, &item));
}

static void test_reports_find_what_is_in_flight_only(void **state)
{
    struct taken_fifo *fifo = *state;
    struct taken item;
    for (int64_t i = 0; i < 3; i++) {
        (void)add(fifo, 10 + i, false);
    }
    move(fifo, 0, TAKEN_DONE);
    assert_true(taken_pop(fifo, true, &item));
    assert_null(taken_find_sent(fifo, 0));
    assert_int_equal(taken_find_sent(fifo, 1)->key.offset, 11);
    assert_int_equal(taken_find_sent(fifo, 2)->key.offset, 12);
    assert_null(taken_find_sent(fifo, 3));
    assert_null(taken_find_sent(fifo, UINT64_MAX));
    move(fifo, 0, TAKEN_FAILED);
    assert_null(taken_find_sent(fifo, 1));
}

/* Sequence numbers go on through growth, wrapping and freeing: a report of before names nothing of after. */
static void test_ring_grows_and_wraps(void **state)
{
    struct taken_fifo *fifo = *state;
    struct taken item;
    int64_t added = 0;
    int64_t popped = 0;
    for (int turn = 0; turn < 50; turn++) {
        for (int i = 0; i < 7; i++) {
            assert_int_equal(add(fifo, added, false), added);
            added++;
        }
        for (int i = 0; i < 5; i++) {
            move(fifo, 0, TAKEN_DONE);
            assert_true(taken_pop(fifo, true, &item));
            assert_int_equal(item.key.offset, popped++);
        }
        assert_int_equal(taken_at(fifo, fifo->count - 1)->key.offset, added - 1);
    }
    expect_counts(fifo, 100, 100, 0, 0);
    taken_free(fifo);
    expect_counts(fifo, 0, 0, 0, 0);
    assert_int_equal(add(fifo, 0, false), added);
}

static void test_first_late_one(void **state)
{
    struct taken_fifo *fifo = *state;
    struct taken item;
    assert_int_equal(taken_first_late(fifo, 0), INT64_MAX);
    (void)add(fifo, 50, true);
    (void)add(fifo, 10, false);
    (void)add(fifo, 60, true);
    (void)add(fifo, 11, false);
    assert_int_equal(taken_first_late(fifo, 0), 50);
    assert_int_equal(taken_first_late(fifo, 1), 60);
    assert_int_equal(taken_first_late(fifo, 3), INT64_MAX);
    move(fifo, 0, TAKEN_DONE);
    assert_int_equal(taken_first_late(fifo, 0), 50); /* done, but still here */
    assert_true(taken_pop(fifo, true, &item));
    assert_int_equal(taken_first_late(fifo, 0), 60);
    assert_int_equal(fifo->late, 1);
}

#define TAKEN_TEST(function) cmocka_unit_test_setup_teardown(function, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TAKEN_TEST(test_counts_follow_the_states),
        TAKEN_TEST(test_done_ones_leave_when_asked_and_ended_ones_always),
        TAKEN_TEST(test_reports_find_what_is_in_flight_only),
        TAKEN_TEST(test_ring_grows_and_wraps),
        TAKEN_TEST(test_first_late_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
