/* What the kernel's answers on its clock mean. */
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "ops/clock_kernel.h"

static void test_answers(void **state)
{
    (void)state;
    static const struct {
        int state;
        struct timex answer;
        struct clock_kernel expected;
    } cases[] = {
        {TIME_OK, {.offset = -1500, .maxerror = 250000}, {true, true, -0.0015, 0.25}},
        {TIME_OK, {.status = STA_NANO, .offset = 1500, .maxerror = 16000000}, {true, true, 0.0000015, 16}},
        {TIME_INS, {.status = STA_INS}, {true, true, 0, 0}}, /* a leap second is no trouble */
        {TIME_ERROR, {.maxerror = 16000000}, {true, false, 0, 16}},
        {TIME_OK, {.status = STA_UNSYNC}, {true, false, 0, 0}},
        {-1, {.offset = 5}, {false, false, 0, 0}},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct clock_kernel found = clock_kernel_of(cases[i].state, &cases[i].answer);
        assert_int_equal(found.known, cases[i].expected.known);
        assert_int_equal(found.synchronised, cases[i].expected.synchronised);
        assert_true(fabs(found.offset_seconds - cases[i].expected.offset_seconds) < 1e-12);
        assert_true(fabs(found.max_error_seconds - cases[i].expected.max_error_seconds) < 1e-9);
    }
}

/* Whatever this host's kernel says, it is one of two things. */
static void test_asking(void **state)
{
    (void)state;
    struct clock_kernel found = clock_kernel_read();
    assert_true(found.known || !found.synchronised);
    assert_true(found.max_error_seconds >= 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_answers),
        cmocka_unit_test(test_asking),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
