/* R4, exactly once: what is refused and whose letter cannot be kept is written again, due later, in the transaction of the deliveries around it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/support/core_case.h"

#define LATER 60000

static struct core_case *begin(void **state, int lanes, int64_t records)
{
    struct core_case *test = *state;
    test->options.exactly_once = true;
    core_case_begin(test, lanes, 0);
    for (int64_t i = 0; i < records; i++) {
        core_case_record(test, i, 0, 0);
    }
    core_case_step(test);
    return test;
}

/* Both of its transactions are aborted; the step sends again all the lane had. */
static void lose_letter(struct core_case *test, uint64_t sequence, uint64_t count)
{
    for (int turn = 0; turn < 2; turn++) {
        for (uint64_t i = 0; i < count; i++) {
            if (i != sequence) {
                core_case_delivered(test, 0, i);
            }
        }
        core_case_failed(test, 0, sequence, turn == 0 ? DELIVERY_FAULT : DELIVERY_NO_LETTER);
        core_case_transacted(test, TRANSACTION_ABORTED, 0);
        core_case_step(test);
    }
}

static void test_goes_with_the_deliveries_around_it(void **state)
{
    struct core_case *test = begin(state, 1, 3);
    lose_letter(test, 1, 3);
    assert_int_equal(core_case_count(test, COMMAND_DELIVER), 2);
    assert_int_equal(core_case_count(test, COMMAND_COPY), 1);
    assert_int_equal(test->commands.items[1].kind, COMMAND_COPY);
    core_case_expect_copy(test, 0, 1, LATER);
    assert_int_equal(core_case_only_frontier(test)->low_offset, 3);
    core_case_delivered(test, 0, 0);
    core_case_delivered(test, 0, 2);
    core_case_end(test, TRANSACTION_COMMITTED);
    assert_int_equal(core_case_queue(test, 0).pending, 0);
    assert_int_equal(core_case_slot(test).postponed, 1);
}

/* Somebody else's failure says nothing of it. */
static void test_abort_for_anothers_sake_writes_it_again_at_once(void **state)
{
    struct core_case *test = begin(state, 2, 2);
    lose_letter(test, 0, 2);
    core_case_failed(test, 0, 1, DELIVERY_FAULT);
    core_case_end(test, TRANSACTION_ABORTED);
    core_case_expect_copy(test, 0, 0, LATER);
    assert_int_equal(core_case_count(test, COMMAND_DELIVER), 1);
    assert_int_equal(core_case_deliver(test, 0)->key.offset, 1);
    core_case_full_sink(test, 0, 1);
    core_case_input(test, INPUT_SINK_ROOM);
    core_case_end(test, TRANSACTION_ABORTED);
    core_case_expect_copy(test, 0, 0, LATER);
}

static void test_unexplained_abort_makes_it_a_letter(void **state)
{
    struct core_case *test = begin(state, 2, 2);
    lose_letter(test, 0, 2);
    core_case_failed(test, 0, 1, DELIVERY_UNDONE);
    core_case_end(test, TRANSACTION_ABORTED);
    assert_int_equal(core_case_count(test, COMMAND_COPY), 0);
    core_case_expect_delivers(test, 0, 2);
    assert_true(core_case_deliver(test, 0)->as_refused);
    core_case_failed(test, 0, 0, DELIVERY_NO_LETTER);
    core_case_delivered(test, 0, 1);
    core_case_record(test, 2, 0, 1);
    core_case_end(test, TRANSACTION_ABORTED);
    core_case_expect_delivers(test, 2, 3); /* its lane waits: no frontier passes a gap. The others go on */
    core_case_deliver_all(test);
    core_case_transacted(test, TRANSACTION_COMMITTED, 0);
    core_case_record(test, 3, 0, 0);
    core_case_step(test);
    assert_int_equal(core_case_count(test, COMMAND_DELIVER), 0);
    assert_int_equal(core_next_deadline(test->core).mono.ms, test->mono_ms + test->options.retry_ms);
    core_case_wait(test, test->options.retry_ms);
    core_case_expect_copy(test, 0, 0, test->options.retry_ms + LATER);
    assert_int_equal(core_case_count(test, COMMAND_DELIVER), 2);
}

/* No frontier would pass what is taken behind it. */
static void test_nothing_is_taken_behind_one_that_waits(void **state)
{
    struct core_case *test = *state;
    test->options.retry_ms = 70;
    begin(state, 1, 1);
    lose_letter(test, 0, 1);
    core_case_end(test, TRANSACTION_ABORTED);
    core_case_failed(test, 0, 0, DELIVERY_NO_LETTER);
    core_case_record(test, 1, 0, 0);
    core_case_end(test, TRANSACTION_ABORTED);
    assert_int_equal(core_case_count(test, COMMAND_DELIVER) + core_case_count(test, COMMAND_COPY), 0);
    assert_int_equal(core_next_deadline(test->core).mono.ms, test->mono_ms + 70);
    core_case_wait(test, 70);
    core_case_expect_copy(test, 0, 0, 70 + LATER);
    core_case_expect_delivers(test, 1, 2);
}

static void test_exactly_once_is_bounded_too(void **state)
{
    struct core_case *test = *state;
    test->options.copy_rows_max = 2;
    begin(state, 1, 3);
    for (int turn = 0; turn < 2; turn++) {
        for (uint64_t i = 0; i < 3; i++) {
            core_case_failed(test, 0, i, turn == 0 ? DELIVERY_FAULT : DELIVERY_NO_LETTER);
        }
        core_case_end(test, TRANSACTION_ABORTED);
    }
    assert_int_equal(core_case_count(test, COMMAND_COPY), 2);
    assert_int_equal(core_case_only_frontier(test)->low_offset, 2);
    core_case_end(test, TRANSACTION_COMMITTED);
    assert_int_equal(core_case_count(test, COMMAND_COPY), 1); /* at once: deliveries wait behind it */
}

static struct input *in_slot_1(struct core_case *test)
{
    struct input *input = &test->inputs[test->input_count - 1];
    input->slot = 1;
    return input;
}

/* Where copies end is said once for a transaction, so all of them are of one partition. */
static void test_one_partition_at_a_time(void **state)
{
    struct core_case *test = *state;
    test->options.exactly_once = true;
    core_case_begin(test, 1, 0);
    core_case_input(test, INPUT_SLOT_GAINED)->as.gained = &test->gained;
    in_slot_1(test);
    core_case_record(test, 0, 0, 0);
    core_case_record(test, 0, 0, 0);
    in_slot_1(test)->as.record.ref = 100;
    core_case_step(test);
    assert_int_equal(core_case_count(test, COMMAND_DELIVER), 2);
    for (int turn = 0; turn < 2; turn++) {
        for (int slot = 0; slot < 2; slot++) {
            core_case_failed(test, 0, 0, turn == 0 ? DELIVERY_FAULT : DELIVERY_NO_LETTER);
            test->inputs[test->input_count - 1].slot = (slot_index)slot;
        }
        core_case_end(test, TRANSACTION_ABORTED);
    }
    assert_int_equal(core_case_count(test, COMMAND_COPY), 1);
    slot_index first = core_case_find(test, COMMAND_COPY, 0)->slot;
    assert_int_equal(core_case_transaction(test)->slots[0].slot, first);
    core_case_end(test, TRANSACTION_COMMITTED);
    assert_int_equal(core_case_count(test, COMMAND_COPY), 1);
    assert_int_equal(core_case_find(test, COMMAND_COPY, 0)->slot, 1 - first);
}

/* It stays open while more is due: what happens then is its undoing. */
static struct core_case *begin_open(void **state)
{
    struct core_case *test = *state;
    test->options.exactly_once = true;
    test->options.step_records_max = 4;
    core_case_begin(test, 1, 0);
    core_case_record(test, 0, 0, 0);
    core_case_step(test);
    core_case_failed(test, 0, 0, DELIVERY_NO_LETTER);
    core_case_transacted(test, TRANSACTION_ABORTED, 0);
    for (int64_t i = 1; i < 40; i++) {
        core_case_record(test, i, 0, 0);
    }
    core_case_step(test);
    assert_int_equal(core_case_count(test, COMMAND_COPY), 1);
    assert_int_equal(core_case_count(test, COMMAND_TRANSACTION), 0);
    return test;
}

static void test_open_one_is_aborted_with_its_slot(void **state)
{
    struct core_case *test = begin_open(state);
    core_case_input(test, INPUT_SLOT_LOST);
    core_case_step(test);
    assert_true(core_case_transaction(test)->abort);
    core_case_end(test, TRANSACTION_ABORTED);
    assert_int_equal(test->commands.count, 0);
}

static void test_open_one_is_aborted_when_reading_stops(void **state)
{
    struct core_case *test = begin_open(state);
    core_case_input(test, INPUT_READING_STOPPED);
    core_case_step(test);
    assert_true(core_case_transaction(test)->abort);
    core_case_failed(test, 0, 1, DELIVERY_RETRIABLE);
    core_case_end(test, TRANSACTION_ABORTED);
    core_case_wait(test, test->options.retry_ms);
    assert_int_equal(core_case_count(test, COMMAND_COPY), 0);
    assert_int_equal(core_case_deliver(test, 0)->key.offset, 0); /* a letter once more */
}

static void test_control_read_in_an_open_one_is_marked(void **state)
{
    struct core_case *test = *state;
    test->options.exactly_once = true;
    core_case_begin(test, 1, 0);
    core_case_event(test, 0, 0, 0, CORE_CASE_ID(1));
    core_case_step(test);
    core_case_failed(test, 0, 0, DELIVERY_NO_LETTER);
    core_case_end(test, TRANSACTION_ABORTED);
    assert_int_equal(core_case_count(test, COMMAND_COPY), 1);
    core_case_cancel(test, 1, CORE_CASE_ID(1));
    core_case_step(test);
    assert_int_equal(core_case_slot(test).marks, 1);
    core_case_transacted(test, TRANSACTION_COMMITTED, 3);
    core_case_step(test);
    core_case_again(test, 2, LATER, 0, CORE_CASE_ID(1), 0);
    core_case_step(test);
    assert_int_equal(core_case_queue(test, 0).pending, 0);
    core_case_expect_ended(test, 0, 0, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CORE_CASE_TEST(test_goes_with_the_deliveries_around_it),
        CORE_CASE_TEST(test_abort_for_anothers_sake_writes_it_again_at_once),
        CORE_CASE_TEST(test_unexplained_abort_makes_it_a_letter),
        CORE_CASE_TEST(test_nothing_is_taken_behind_one_that_waits),
        CORE_CASE_TEST(test_exactly_once_is_bounded_too),
        CORE_CASE_TEST(test_one_partition_at_a_time),
        CORE_CASE_TEST(test_open_one_is_aborted_with_its_slot),
        CORE_CASE_TEST(test_open_one_is_aborted_when_reading_stops),
        CORE_CASE_TEST(test_control_read_in_an_open_one_is_marked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
