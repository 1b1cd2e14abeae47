/* The logging interface. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/log.h"

static unsigned entries;
static struct log_entry last;
static char last_message[2048];
static struct log_field last_fields[4];

static void keep(const struct log_entry *entry, void *context)
{
    assert_ptr_equal(context, &entries);
    entries++;
    last = *entry;
    (void)strncpy(last_message, entry->message, sizeof(last_message) - 1);
    for (size_t i = 0; i < entry->field_count; i++) {
        last_fields[i] = entry->fields[i];
    }
}

static int set_up(void **state)
{
    (void)state;
    entries = 0;
    log_sink_set(keep, &entries);
    log_level_set(LOG_LEVEL_INFO);
    return 0;
}

static void test_without_a_sink_nothing_happens(void **state)
{
    (void)state;
    log_sink_set(NULL, NULL);
    log_write(LOG_LEVEL_ERROR, "e", NULL, 0, "lost");
    assert_int_equal(entries, 0);
}

static void test_entry(void **state)
{
    (void)state;
    log_write(LOG_LEVEL_WARNING, "partition_gained", LOG_FIELDS(LOG_TEXT("topic", "t"), LOG_NUMBER("partition", -3)),
              "got %d", 5);
    assert_int_equal(entries, 1);
    assert_int_equal(last.level, LOG_LEVEL_WARNING);
    assert_string_equal(last.event, "partition_gained");
    assert_string_equal(last_message, "got 5");
    assert_int_equal(last.field_count, 2);
    assert_string_equal(last_fields[0].name, "topic");
    assert_string_equal(last_fields[0].text, "t");
    assert_null(last_fields[1].text);
    assert_int_equal(last_fields[1].number, -3);
}

static void test_levels(void **state)
{
    (void)state;
    log_write(LOG_LEVEL_DEBUG, "e", NULL, 0, "quiet");
    assert_int_equal(entries, 0);
    log_level_set(LOG_LEVEL_DEBUG);
    log_write(LOG_LEVEL_DEBUG, "e", NULL, 0, "loud");
    assert_int_equal(entries, 1);
    log_level_set(LOG_LEVEL_ERROR);
    log_write(LOG_LEVEL_WARNING, "e", NULL, 0, "quiet");
    log_write(LOG_LEVEL_ERROR, "e", NULL, 0, "loud");
    assert_int_equal(entries, 2);
}

static void test_long_messages_are_cut(void **state)
{
    (void)state;
    char text[3000];
    memset(text, 'm', sizeof(text) - 1);
    text[sizeof(text) - 1] = '\0';
    log_write(LOG_LEVEL_INFO, "e", NULL, 0, "%s", text);
    assert_int_equal(strlen(last_message), 1023);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_without_a_sink_nothing_happens, set_up),
        cmocka_unit_test_setup(test_entry, set_up),
        cmocka_unit_test_setup(test_levels, set_up),
        cmocka_unit_test_setup(test_long_messages_are_cut, set_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
