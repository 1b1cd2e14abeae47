/* Lines of a file that is read twice, and which of them are imported. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "cli/dlq_import_index.h"
#include "cli/dlq_import_lines.h"
#include "tests/support/temp.h"

static void check_lines(struct dlq_import_lines *lines, const char *const *wanted, const uint64_t *numbers, size_t count)
{
    struct span line;
    struct error error = {ERROR_NONE, ""};
    for (size_t i = 0; i < count; i++) {
        assert_true(dlq_import_lines_next(lines, &line, &error));
        assert_true(span_equals_text(line, wanted[i]));
        assert_int_equal(lines->number, numbers[i]);
    }
    assert_false(dlq_import_lines_next(lines, &line, &error));
    assert_int_equal(error.code, ERROR_NONE);
}

static void test_lines(void **state)
{
    (void)state;
    static const char *const wanted[] = {"one", " two", "three\r", "last"};
    static const uint64_t numbers[] = {1, 4, 5, 6};
    char *folder = temp_directory("dlq_import");
    char *path = temp_path(folder, "lines");
    FILE *file = fopen(path, "w");
    fputs("one\n\n \t\r\n two\nthree\r\nlast", file);
    fclose(file);
    struct dlq_import_lines *lines = calloc(1, sizeof *lines);
    struct error error = {ERROR_NONE, ""};
    assert_true(dlq_import_lines_open(lines, path, &error));
    check_lines(lines, wanted, numbers, 4);
    assert_true(dlq_import_lines_rewind(lines, &error));
    check_lines(lines, wanted, numbers, 4);
    dlq_import_lines_close(lines);
    free(lines);
    free(path);
    temp_remove(folder);
}

/* A line longer than a block, through a pipe, which cannot be read twice. */
static void test_pipe(void **state)
{
    (void)state;
    enum { LONG = 3 * DLQ_IMPORT_LINES_BLOCK + 7 };
    char *text = calloc(1, LONG + 1);
    memset(text, 'x', LONG);
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    int before = dup(STDIN_FILENO);
    pid_t child = fork();
    if (child == 0) {
        FILE *out = fdopen(ends[1], "w");
        fprintf(out, "%s\nend\n", text);
        fclose(out);
        _exit(0);
    }
    close(ends[1]);
    assert_true(dup2(ends[0], STDIN_FILENO) >= 0);
    close(ends[0]);
    const char *const wanted[] = {text, "end"};
    static const uint64_t numbers[] = {1, 2};
    struct dlq_import_lines *lines = calloc(1, sizeof *lines);
    struct error error = {ERROR_NONE, ""};
    assert_true(dlq_import_lines_open(lines, "-", &error));
    check_lines(lines, wanted, numbers, 2);
    assert_true(dlq_import_lines_rewind(lines, &error));
    check_lines(lines, wanted, numbers, 2);
    dlq_import_lines_close(lines);
    assert_true(dup2(before, STDIN_FILENO) >= 0);
    close(before);
    free(lines);
    free(text);
}

static void test_no_file(void **state)
{
    (void)state;
    struct dlq_import_lines *lines = calloc(1, sizeof *lines);
    struct error error = {ERROR_NONE, ""};
    assert_false(dlq_import_lines_open(lines, "/no/such/file", &error));
    assert_int_equal(error.code, ERROR_SYSTEM);
    assert_non_null(strstr(error.text, "/no/such/file"));
    dlq_import_lines_close(lines);
    free(lines);
}

static struct letter letter_of(const char *id, uint32_t attempt, uint32_t replays)
{
    struct letter letter = {.attempt = attempt, .replays = replays};
    (void)snprintf(letter.id, sizeof letter.id, "%s", id);
    return letter;
}

static void test_fates(void **state)
{
    (void)state;
    struct dlq_import_index index = {0};
    struct letter a1 = letter_of("0a", 1, 0);
    struct letter a2 = letter_of("0a", 2, 0);
    struct letter a3 = letter_of("0a", 1, 1);
    struct letter b = letter_of("0b", 1, 0);
    struct letter c = letter_of("0c", 1, 0);
    assert_true(dlq_import_index_add(&index, &c, LETTER_PARKED, 1));
    assert_true(dlq_import_index_add(&index, &a1, LETTER_WAITING, 2));
    assert_true(dlq_import_index_add(&index, &a2, LETTER_WAITING, 3));
    assert_true(dlq_import_index_add(&index, &a1, LETTER_PARKED, 4));
    assert_true(dlq_import_index_add(&index, &a1, LETTER_WAITING, 5));
    assert_true(dlq_import_index_add(&index, &a3, LETTER_WAITING, 6));
    assert_true(dlq_import_index_add(&index, &b, LETTER_PARKED, 7));
    dlq_import_index_sort(&index);
    dlq_import_index_stands(&index, b.id);
    dlq_import_index_stands(&index, letter_of("0", 1, 0).id);
    dlq_import_index_stands(&index, letter_of("0bb", 1, 0).id);
    assert_int_equal(dlq_import_index_fate(&index, &c, LETTER_PARKED, 1), DLQ_IMPORT_INDEX_NEW);
    assert_int_equal(dlq_import_index_fate(&index, &a1, LETTER_WAITING, 2), DLQ_IMPORT_INDEX_NEW);
    assert_int_equal(dlq_import_index_fate(&index, &a2, LETTER_WAITING, 3), DLQ_IMPORT_INDEX_NEW);
    assert_int_equal(dlq_import_index_fate(&index, &a1, LETTER_PARKED, 4), DLQ_IMPORT_INDEX_NEW);
    assert_int_equal(dlq_import_index_fate(&index, &a1, LETTER_WAITING, 5), DLQ_IMPORT_INDEX_AGAIN);
    assert_int_equal(dlq_import_index_fate(&index, &a3, LETTER_WAITING, 6), DLQ_IMPORT_INDEX_NEW);
    assert_int_equal(dlq_import_index_fate(&index, &b, LETTER_PARKED, 7), DLQ_IMPORT_INDEX_STANDS);
    dlq_import_index_stands(&index, a1.id);
    assert_int_equal(dlq_import_index_fate(&index, &a1, LETTER_WAITING, 2), DLQ_IMPORT_INDEX_STANDS);
    assert_int_equal(dlq_import_index_fate(&index, &a3, LETTER_WAITING, 6), DLQ_IMPORT_INDEX_STANDS);
    assert_int_equal(dlq_import_index_fate(&index, &c, LETTER_PARKED, 1), DLQ_IMPORT_INDEX_NEW);
    dlq_import_index_free(&index);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lines),
        cmocka_unit_test(test_pipe),
        cmocka_unit_test(test_no_file),
        cmocka_unit_test(test_fates),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
