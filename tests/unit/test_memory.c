/* Allocation that ends the process instead of failing, and invariants that do the same. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/invariant.h"
#include "base/memory.h"

static void test_new_is_zeroed(void **state)
{
    (void)state;
    unsigned char *block = memory_new(1000, 3);
    for (size_t i = 0; i < 3000; i++) {
        assert_int_equal(block[i], 0);
    }
    free(block);
    free(memory_new(0, 5));
    free(memory_new(5, 0));
}

static void test_resize_keeps_the_beginning(void **state)
{
    (void)state;
    uint32_t *numbers = memory_resize(NULL, 10, sizeof(*numbers));
    for (uint32_t i = 0; i < 10; i++) {
        numbers[i] = i;
    }
    numbers = memory_resize(numbers, 100000, sizeof(*numbers));
    for (uint32_t i = 0; i < 10; i++) {
        assert_int_equal(numbers[i], i);
    }
    numbers = memory_resize(numbers, 0, sizeof(*numbers));
    assert_non_null(numbers);
    free(numbers);
}

static void test_text(void **state)
{
    (void)state;
    char *text = memory_text("abcdef", 3);
    assert_string_equal(text, "abc");
    free(text);
    text = memory_text(NULL, 0);
    assert_string_equal(text, "");
    free(text);
}

static void too_much_new(void)
{
    free(memory_new(SIZE_MAX / 2, 3));
}

static void too_much_resize(void)
{
    free(memory_resize(NULL, SIZE_MAX / 2, 3));
}

static void too_long_text(void)
{
    free(memory_text("x", SIZE_MAX));
}

static void broken_invariant(void)
{
    INVARIANT(1 + 1 == 2);
    INVARIANT(1 + 1 == 3);
}

static void expect_abort(void (*function)(void))
{
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        struct rlimit none = {0, 0};
        (void)setrlimit(RLIMIT_CORE, &none);
        (void)signal(SIGABRT, SIG_DFL);
        int quiet = open("/dev/null", O_WRONLY);
        (void)dup2(quiet, STDERR_FILENO);
        function();
        _exit(0);
    }
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status));
    assert_int_equal(WTERMSIG(status), SIGABRT);
}

static void test_the_process_ends(void **state)
{
    (void)state;
    expect_abort(too_much_new);
    expect_abort(too_much_resize);
    expect_abort(too_long_text);
    expect_abort(broken_invariant);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_new_is_zeroed),
        cmocka_unit_test(test_resize_keeps_the_beginning),
        cmocka_unit_test(test_text),
        cmocka_unit_test(test_the_process_ends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
