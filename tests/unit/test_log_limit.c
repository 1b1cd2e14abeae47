/* A few in a period, the rest counted, and the count always told. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "ops/log_limit.h"

static const struct log_limit_rule few = {"record_refused", LOG_LEVEL_WARNING, 3};
static const struct log_limit_rule one = {"delivery_failed", LOG_LEVEL_ERROR, 1};

struct told {
    size_t lines;
    int64_t count;
    char event[64];
    char about[64];
    char message[256];
    enum log_level level;
};

static struct told told;

static void note(const struct log_entry *entry, void *context)
{
    (void)context;
    assert_string_equal(entry->event, "suppressed");
    assert_in_range(entry->field_count, 2, 3);
    told.lines++;
    told.count = entry->fields[1].number;
    told.level = entry->level;
    snprintf(told.event, sizeof(told.event), "%s", entry->fields[0].text);
    snprintf(told.about, sizeof(told.about), "%s", entry->field_count == 3 ? entry->fields[2].text : "");
    snprintf(told.message, sizeof(told.message), "%s", entry->message);
}

static int setup(void **state)
{
    (void)state;
    memset(&told, 0, sizeof(told));
    log_sink_set(note, NULL);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    log_sink_set(NULL, NULL);
    return 0;
}

static struct mono_ms at(int64_t ms)
{
    return (struct mono_ms){ms};
}

static void test_the_rest_is_counted(void **state)
{
    (void)state;
    struct log_limits limits = {0};
    struct log_limit limit = {0};
    for (int i = 0; i < 1000; i++) {
        assert_int_equal(log_limit_pass(&limits, &limit, &few, "reminders", at(5000 + i)), i < 3);
    }
    assert_int_equal(log_limit_deadline(&limits).ms, 5000 + LOG_LIMIT_PERIOD_MS);
    log_limit_tell(&limits, at(5000 + LOG_LIMIT_PERIOD_MS - 1));
    assert_int_equal(told.lines, 0);
    log_limit_tell(&limits, at(5000 + LOG_LIMIT_PERIOD_MS));
    assert_int_equal(told.lines, 1);
    assert_int_equal(told.count, 997);
    assert_string_equal(told.event, "record_refused");
    assert_string_equal(told.about, "reminders");
    assert_string_equal(told.message, "and 997 more of record_refused (reminders) within 10 s, which are not told one by one");
    assert_int_equal(log_limit_deadline(&limits).ms, TIME_NEVER);
    log_limit_tell(&limits, at(TIME_NEVER));
    assert_int_equal(told.lines, 1);
}

/* Nobody may tell while the period is over: who passes next sees to it. */
static void test_the_next_one_tells(void **state)
{
    (void)state;
    struct log_limits limits = {0};
    struct log_limit limit = {0};
    assert_true(log_limit_pass(&limits, &limit, &one, NULL, at(0)));
    assert_false(log_limit_pass(&limits, &limit, &one, NULL, at(9999)));
    assert_true(log_limit_pass(&limits, &limit, &one, NULL, at(10000)));
    assert_int_equal(told.lines, 1);
    assert_int_equal(told.count, 1);
    assert_int_equal(told.level, LOG_LEVEL_ERROR);
    assert_string_equal(told.message, "and 1 more of delivery_failed within 10 s, which are not told one by one");
    assert_false(log_limit_pass(&limits, &limit, &one, NULL, at(19999)));
    assert_true(log_limit_pass(&limits, &limit, &one, NULL, at(20001)));
    assert_int_equal(told.lines, 2);
}

static void test_one_cause_leaves_the_others_alone(void **state)
{
    (void)state;
    struct log_limits limits = {0};
    struct log_limit causes[3] = {0};
    for (int i = 0; i < 10; i++) {
        (void)log_limit_pass(&limits, &causes[0], &one, "loud", at(100));
        (void)log_limit_pass(&limits, &causes[2], &one, "louder", at(200));
    }
    assert_true(log_limit_pass(&limits, &causes[1], &one, "quiet", at(300)));
    assert_int_equal(log_limit_deadline(&limits).ms, 10100);
    log_limit_tell(&limits, at(10100)); /* of the first alone */
    assert_int_equal(told.lines, 1);
    assert_string_equal(told.about, "loud");
    assert_int_equal(log_limit_deadline(&limits).ms, 10200);
    log_limit_tell(&limits, at(TIME_NEVER)); /* the end: of all */
    assert_int_equal(told.lines, 2);
    assert_string_equal(told.about, "louder");
    assert_int_equal(told.count, 9);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_the_rest_is_counted, setup, teardown),
        cmocka_unit_test_setup_teardown(test_the_next_one_tells, setup, teardown),
        cmocka_unit_test_setup_teardown(test_one_cause_leaves_the_others_alone, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
