/* The life of a schedule: the table holds together, and docs/schedules-states.md draws it. TARRY_UPDATE_DOCS=1 writes the drawing. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/buffer.h"
#include "scheduler/schedule_state.h"

static const char *const meanings[SCHEDULE_STATES] = {
    [SCHEDULE_NEW] = "Written to its topic, not read yet.",
    [SCHEDULE_PENDING] = "Waits for its due time.",
    [SCHEDULE_RUNNING] = "An occurrence is due and under way: sent, not yet acknowledged and committed.",
    [SCHEDULE_PAUSED] = "Does not fire until it is resumed, rescheduled or run now.",
    [SCHEDULE_STOPPED] = "Ended by somebody: cancelled, replaced by a newer record of its id, or never accepted.",
    [SCHEDULE_FINISHED] = "Nothing is left of it to fire.",
};

static void test_names_are_there_and_differ(void **state)
{
    (void)state;
    for (int i = 0; i < SCHEDULE_STATES; i++) {
        for (int j = 0; j < i; j++) {
            assert_string_not_equal(schedule_state_name((enum schedule_state)i), schedule_state_name((enum schedule_state)j));
        }
    }
    for (int i = 0; i < SCHEDULE_EVENTS; i++) {
        for (int j = 0; j < i; j++) {
            assert_string_not_equal(schedule_state_event_name((enum schedule_event)i), schedule_state_event_name((enum schedule_event)j));
        }
    }
    assert_string_equal(schedule_state_name(SCHEDULE_PENDING), "pending");
    assert_string_equal(schedule_state_name(SCHEDULE_RUNNING), "running");
    assert_string_equal(schedule_state_name(SCHEDULE_PAUSED), "paused");
    assert_string_equal(schedule_state_name(SCHEDULE_STOPPED), "stopped");
    assert_string_equal(schedule_state_name(SCHEDULE_FINISHED), "finished");
}

static void test_each_pair_stands_once(void **state)
{
    (void)state;
    for (int i = 0; i < schedule_state_table_rows; i++) {
        for (int j = 0; j < i; j++) {
            assert_false(schedule_state_table[i].from == schedule_state_table[j].from && schedule_state_table[i].event == schedule_state_table[j].event);
        }
    }
}

static void test_next_is_the_table(void **state)
{
    (void)state;
    int found = 0;
    for (int from = 0; from < SCHEDULE_STATES; from++) {
        for (int event = 0; event < SCHEDULE_EVENTS; event++) {
            enum schedule_state to = SCHEDULE_NEW;
            bool can = schedule_state_next((enum schedule_state)from, (enum schedule_event)event, &to);
            assert_true(can || to == SCHEDULE_NEW);
            assert_false(can && schedule_state_ended((enum schedule_state)from)); /* nothing leaves an end */
            assert_false(can && to == SCHEDULE_NEW);                             /* nothing is unread again */
            found += can;
        }
    }
    assert_int_equal(found, schedule_state_table_rows);
}

static bool reaches_end(enum schedule_state from, int steps)
{
    if (schedule_state_ended(from)) {
        return true;
    }
    for (int i = 0; i < schedule_state_table_rows && steps > 0; i++) {
        if (schedule_state_table[i].from == from && reaches_end(schedule_state_table[i].to, steps - 1)) {
            return true;
        }
    }
    return false;
}

/* A schedule that can neither end nor be ended would be there for ever. */
static void test_every_state_is_reached_and_can_end(void **state)
{
    (void)state;
    for (int i = 0; i < SCHEDULE_STATES; i++) {
        bool reached = i == SCHEDULE_NEW;
        for (int row = 0; row < schedule_state_table_rows; row++) {
            reached = reached || (schedule_state_table[row].to == (enum schedule_state)i && schedule_state_table[row].from != (enum schedule_state)i);
        }
        assert_true(reached);
        assert_true(reaches_end((enum schedule_state)i, 3));
    }
    for (int i = SCHEDULE_PENDING; i <= SCHEDULE_PAUSED; i++) {
        enum schedule_state to = SCHEDULE_NEW;
        assert_true(schedule_state_next((enum schedule_state)i, SCHEDULE_CANCELLED, &to));
        assert_int_equal(to, SCHEDULE_STOPPED);
    }
}

static void assert_life(const enum schedule_event *events, size_t count, enum schedule_state last)
{
    enum schedule_state now = SCHEDULE_NEW;
    for (size_t i = 0; i < count; i++) {
        if (!schedule_state_next(now, events[i], &now)) {
            fail_msg("%s is not possible when %s", schedule_state_event_name(events[i]), schedule_state_name(now));
        }
    }
    assert_int_equal(now, last);
}

#define LIFE(last, ...) assert_life((const enum schedule_event[]){__VA_ARGS__}, sizeof((const enum schedule_event[]){__VA_ARGS__}) / sizeof(enum schedule_event), last)

static void test_lives(void **state)
{
    (void)state;
    LIFE(SCHEDULE_FINISHED, SCHEDULE_READ, SCHEDULE_DUE, SCHEDULE_FIRED_LAST);
    LIFE(SCHEDULE_FINISHED, SCHEDULE_READ, SCHEDULE_DUE, SCHEDULE_FIRED, SCHEDULE_DUE, SCHEDULE_LETTER, SCHEDULE_DUE, SCHEDULE_SKIPPED_LAST);
    LIFE(SCHEDULE_STOPPED, SCHEDULE_READ, SCHEDULE_PAUSE, SCHEDULE_PAUSE, SCHEDULE_RESUME, SCHEDULE_DUE, SCHEDULE_FAILED, SCHEDULE_CANCELLED);
    LIFE(SCHEDULE_STOPPED, SCHEDULE_REJECTED);
    LIFE(SCHEDULE_RUNNING, SCHEDULE_READ_PAUSED, SCHEDULE_RESCHEDULED, SCHEDULE_DUE);
    enum schedule_state to;
    assert_false(schedule_state_next(SCHEDULE_PAUSED, SCHEDULE_DUE, &to));
    assert_false(schedule_state_next(SCHEDULE_RUNNING, SCHEDULE_DUE, &to)); /* occurrences do not overlap */
    assert_false(schedule_state_next(SCHEDULE_RUNNING, SCHEDULE_PAUSE, &to));
    assert_false(schedule_state_next(SCHEDULE_RUNNING, SCHEDULE_RESCHEDULED, &to));
}

static bool same_arrow(const struct schedule_transition *a, const struct schedule_transition *b)
{
    return a->from == b->from && a->to == b->to;
}

/* One arrow for all events that lead from one state to another, where the first of them stands in the table. */
static void draw_arrow(struct buffer *docs, int row)
{
    const struct schedule_transition *first = &schedule_state_table[row];
    for (int i = 0; i < row; i++) {
        if (same_arrow(&schedule_state_table[i], first)) {
            return;
        }
    }
    buffer_add_format(docs, "    %s --> %s: %s", first->from == SCHEDULE_NEW ? "[*]" : schedule_state_name(first->from), schedule_state_name(first->to),
                      schedule_state_event_name(first->event));
    for (int i = row + 1; i < schedule_state_table_rows; i++) {
        if (same_arrow(&schedule_state_table[i], first)) {
            buffer_add_format(docs, ", %s", schedule_state_event_name(schedule_state_table[i].event));
        }
    }
    buffer_add_text(docs, "\n");
}

static void draw(struct buffer *docs)
{
    buffer_add_text(docs, "<!-- Made from the table in scheduler/schedule_state.c. Change it there, then run the tests with TARRY_UPDATE_DOCS=1. -->\n"
                          "# The life of a schedule\n\n"
                          "A schedule is a record and all that comes of it: its occurrences, and the copies of it that tarry writes. What is not drawn here cannot\n"
                          "happen. One that fires once is a schedule, too: its first occurrence is its last.\n\n```mermaid\nstateDiagram-v2\n");
    for (int i = 0; i < schedule_state_table_rows; i++) {
        draw_arrow(docs, i);
    }
    for (int i = 0; i < SCHEDULE_STATES; i++) {
        if (schedule_state_ended((enum schedule_state)i)) {
            buffer_add_format(docs, "    %s --> [*]\n", schedule_state_name((enum schedule_state)i));
        }
    }
    buffer_add_text(docs, "```\n\n| state | meaning |\n|---|---|\n");
    for (int i = SCHEDULE_PENDING; i < SCHEDULE_STATES; i++) {
        buffer_add_format(docs, "| %s | %s |\n", schedule_state_name((enum schedule_state)i), meanings[i]);
    }
    buffer_add_text(docs, "\nOccurrences of one schedule never overlap: *running* is left only when the target has acknowledged (or the occurrence has become a dead\n"
                          "letter) and that is committed. A cancel or a replacement while *running* does not call back what is under way: it arrives, and nothing\n"
                          "follows it.\n");
}

static void write_docs(struct span docs)
{
    FILE *file = fopen(SCHEDULE_STATES_DOCS, "w");
    assert_non_null(file);
    assert_int_equal(fwrite(docs.data, 1, docs.length, file), docs.length);
    assert_int_equal(fclose(file), 0);
}

static void test_docs_draw_the_table(void **state)
{
    (void)state;
    struct buffer docs = buffer_new((size_t)1024 * 1024);
    draw(&docs);
    if (getenv("TARRY_UPDATE_DOCS") != NULL) {
        write_docs(buffer_span(&docs));
    }
    FILE *file = fopen(SCHEDULE_STATES_DOCS, "r");
    assert_non_null(file);
    char *found = calloc(1, docs.length + 2);
    assert_non_null(found);
    size_t length = fread(found, 1, docs.length + 1, file);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(length, docs.length);
    assert_memory_equal(found, docs.data, docs.length);
    free(found);
    buffer_free(&docs);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names_are_there_and_differ),
        cmocka_unit_test(test_each_pair_stands_once),
        cmocka_unit_test(test_next_is_the_table),
        cmocka_unit_test(test_every_state_is_reached_and_can_end),
        cmocka_unit_test(test_lives),
        cmocka_unit_test(test_docs_draw_the_table),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
