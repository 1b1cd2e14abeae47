/* What redelivery commits with its transactions: written and read back, and what is not ours is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "ops/redelivery_text.h"

#define MANY 256

static void test_there_and_back(void **state)
{
    (void)state;
    char text[REDELIVERY_TEXT_SIZE];
    uint64_t sequences[MANY] = {3, UINT64_MAX, 0};
    uint64_t read[MANY];
    size_t count;
    int64_t created_ms;
    struct error error;
    assert_true(redelivery_text_write(1700000000000, sequences, 3, text));
    assert_string_equal(text, "letters 1 1700000000000 3 18446744073709551615 0");
    assert_true(redelivery_text_read(text, &created_ms, read, MANY, &count, &error));
    assert_int_equal(created_ms, 1700000000000);
    assert_int_equal(count, 3);
    assert_memory_equal(read, sequences, 3 * sizeof *read);
    assert_true(redelivery_text_write(5, NULL, 0, text));
    assert_true(redelivery_text_read(text, &created_ms, read, MANY, &count, &error));
    assert_int_equal(count, 0);
    assert_true(redelivery_text_read("", &created_ms, read, MANY, &count, &error));
    assert_int_equal(created_ms, -1);
}

/* As many as there is said to be room for do fit, and the text is never longer than Kafka takes. */
static void test_room(void **state)
{
    (void)state;
    char text[REDELIVERY_TEXT_SIZE];
    uint64_t sequences[3000];
    const uint64_t greatest[] = {9, 10, 999, 123456, 99999999999999, UINT64_MAX};
    for (size_t i = 0; i < sizeof greatest / sizeof greatest[0]; i++) {
        size_t room = redelivery_text_room(greatest[i]);
        assert_in_range(room, 100, 2999);
        for (size_t k = 0; k <= room; k++) {
            sequences[k] = greatest[i];
        }
        assert_true(redelivery_text_write(INT64_MAX, sequences, room, text));
        assert_true(strlen(text) <= METADATA_MAX);
    }
    assert_false(redelivery_text_write(INT64_MAX, sequences, 2999, text));
}

static void test_refused(void **state)
{
    (void)state;
    static const char *const bad[] = {"letters",      "letters ",       "letters 1",      "letters 1 ",      "letters x 5",          "letters 1 5 ",
                                      "letters 1 5  6", "letters 1 5 6x", "letters 1 5 -6", "frontier 1 5 6", "letters 1 5 18446744073709551616",
                                      "letters 1 9223372036854775808"};
    uint64_t read[4];
    size_t count;
    int64_t created_ms;
    struct error error;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        assert_false(redelivery_text_read(bad[i], &created_ms, read, 4, &count, &error));
        assert_int_equal(error.code, ERROR_INVALID);
        assert_int_equal(created_ms, -1);
    }
    assert_false(redelivery_text_read("letters 2 5 6", &created_ms, read, 4, &count, &error));
    assert_int_equal(error.code, ERROR_TOO_NEW);
    assert_false(redelivery_text_read("letters 1 5 1 2 3 4 5", &created_ms, read, 4, &count, &error));
    assert_int_equal(error.code, ERROR_FULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_there_and_back),
        cmocka_unit_test(test_room),
        cmocka_unit_test(test_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
