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
    const struct redelivery_text_letter letters[] = {{3, 0}, {UINT64_MAX, UINT32_MAX}, {0, 0xa1b2}};
    struct redelivery_text_letter read[MANY];
    size_t count;
    int64_t created_ms;
    struct error error;
    assert_true(redelivery_text_write(1700000000000, letters, 3, text));
    assert_string_equal(text, "letters 1 1700000000000 3:00000000 18446744073709551615:ffffffff 0:0000a1b2");
    assert_true(redelivery_text_read(text, &created_ms, read, MANY, &count, &error));
    assert_int_equal(created_ms, 1700000000000);
    assert_int_equal(count, 3);
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(read[i].sequence, letters[i].sequence);
        assert_int_equal(read[i].check, letters[i].check);
    }
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
    static struct redelivery_text_letter letters[3000];
    const uint64_t greatest[] = {9, 10, 999, 123456, 99999999999999, UINT64_MAX};
    for (size_t i = 0; i < sizeof greatest / sizeof greatest[0]; i++) {
        size_t room = redelivery_text_room(greatest[i]);
        assert_in_range(room, 100, 2999 - 1);
        for (size_t k = 0; k <= room; k++) {
            letters[k] = (struct redelivery_text_letter){greatest[i], UINT32_MAX};
        }
        assert_true(redelivery_text_write(INT64_MAX, letters, room, text));
        assert_true(strlen(text) <= METADATA_MAX);
    }
    assert_false(redelivery_text_write(INT64_MAX, letters, 2999, text));
}

static void test_refused(void **state)
{
    (void)state;
    static const char *const bad[] = {"letters",      "letters ",       "letters 1",      "letters 1 ",      "letters x 5",          "letters 1 5 ",
                                      "letters 1 5  6:00000000", "letters 1 5 6", "letters 1 5 6:0000000", "letters 1 5 6:000000000", "letters 1 5 6:0000000G",
                                      "letters 1 5 -6:00000000", "letters 1 5 :00000000", "frontier 1 5 6:00000000", "letters 1 5 18446744073709551616:00000000",
                                      "letters 1 5 6:00000000 ", "letters 1 9223372036854775808"};
    struct redelivery_text_letter read[4];
    size_t count;
    int64_t created_ms;
    struct error error;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        assert_false(redelivery_text_read(bad[i], &created_ms, read, 4, &count, &error));
        assert_int_equal(error.code, ERROR_INVALID);
        assert_int_equal(created_ms, -1);
    }
    assert_false(redelivery_text_read("letters 2 5 6:00000000", &created_ms, read, 4, &count, &error));
    assert_int_equal(error.code, ERROR_TOO_NEW);
    assert_false(redelivery_text_read("letters 1 5 1:00000000 2:00000000 3:00000000 4:00000000 5:00000000", &created_ms, read, 4, &count, &error));
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
