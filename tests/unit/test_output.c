/* What tables and lists look like, and that nothing binary gets through. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/text.h"
#include "cli/output.h"
#include "cli/output_table.h"
#include "tests/support/temp.h"

#define NOW_MS INT64_C(1764500000000)

/* stdout goes into a file from begin to end; what was written is the caller's to free. */
struct capture {
    char *folder;
    char *path;
    int before;
};

static struct capture capture_begin(void)
{
    struct capture capture = {.folder = temp_directory("output")};
    capture.path = temp_path(capture.folder, "out");
    fflush(stdout);
    capture.before = dup(STDOUT_FILENO);
    int fd = open(capture.path, O_CREAT | O_WRONLY, 0600);
    assert_true(fd >= 0 && dup2(fd, STDOUT_FILENO) >= 0);
    close(fd);
    return capture;
}

static char *capture_end(struct capture *capture)
{
    char *text = calloc(1, 1 << 20);
    fflush(stdout);
    assert_true(dup2(capture->before, STDOUT_FILENO) >= 0);
    close(capture->before);
    FILE *file = fopen(capture->path, "r");
    assert_non_null(file);
    assert_true(fread(text, 1, (1 << 20) - 1, file) < (1 << 20) - 1);
    fclose(file);
    free(capture->path);
    temp_remove(capture->folder);
    return text;
}

static const struct output_column COLUMNS[] = {{"id", false, 0}, {"count", true, 0}, {"key", false, 8}, {"error", false, 0}};

static struct output_table *table_of(const struct output *output)
{
    return output_table_new(output, COLUMNS, sizeof COLUMNS / sizeof COLUMNS[0]);
}

static void row(struct output_table *table, const char *id, const char *count, struct span key, const char *error)
{
    const struct span cells[] = {span_of_text(id), span_of_text(count), key, span_of_text(error)};
    output_table_row(table, cells);
}

static void test_table(void **state)
{
    (void)state;
    struct output output = output_new("test", NOW_MS);
    struct capture capture = capture_begin();
    struct output_table *table = table_of(&output);
    row(table, "a", "1", span_of_text("x"), "one");
    row(table, "bcd", "1,000", SPAN_ABSENT, NULL);
    row(table, "e", "20", span_of_text("123456789"), "a long one that is not cut");
    row(table, "f", "3", span_of_text("\xc3\xa4\xc3\xb6"), "two");
    output_table_end(table);
    char *text = capture_end(&capture);
    assert_string_equal(text, "id   count  key       error\n"
                              "a        1  x         one\n"
                              "bcd  1,000  -         -\n"
                              "e       20  12345...  a long one that is not cut\n"
                              "f        3  \xc3\xa4\xc3\xb6        two\n");
    free(text);
}

static void test_nothing_binary(void **state)
{
    (void)state;
    static const uint8_t bytes[] = {0x1b, 0x5b, 0x32, 0x4a, 0x00, 0xff, 0xfe, 0x0d, 0x0a};
    struct output output = output_new("test", NOW_MS);
    struct capture capture = capture_begin();
    struct output_table *table = table_of(&output);
    row(table, "a", "1", (struct span){bytes, sizeof bytes}, "\x1b[31mred\xc2\x9b" "2J\r\nnext\x7f");
    output_table_end(table);
    char *text = capture_end(&capture);
    for (const char *at = text; *at != '\0'; at++) {
        assert_true(*at == '\n' || ((unsigned char)*at >= 0x20 && (unsigned char)*at < 0x7f));
    }
    assert_non_null(strstr(text, "\\x1b["));
    assert_int_equal(strlen(text) - strlen(strchr(text, '\n')), strlen("id  count  key       error"));
    free(text);
}

static void test_cut_at_the_edge(void **state)
{
    (void)state;
    struct output output = output_new("test", NOW_MS);
    output.columns = 50;
    struct capture capture = capture_begin();
    struct output_table *table = table_of(&output);
    row(table, "a", "1", span_of_text("x"), "a long error that goes on and on beyond the edge of the terminal");
    output_table_end(table);
    char *text = capture_end(&capture);
    char *second = strchr(text, '\n') + 1;
    assert_int_equal(strlen(second), 50 + 1);
    assert_string_equal(second + strlen(second) - 4, "...\n");
    free(text);
}

static void test_more_rows_than_are_measured(void **state)
{
    (void)state;
    struct output output = output_new("test", NOW_MS);
    struct capture capture = capture_begin();
    struct output_table *table = table_of(&output);
    for (int i = 0; i < OUTPUT_TABLE_MEASURED + 10; i++) {
        row(table, "a", "1", span_of_text("x"), "e");
    }
    output_table_end(table);
    char *text = capture_end(&capture);
    size_t lines = 0;
    for (const char *at = text; *at != '\0'; at++) {
        lines += *at == '\n';
    }
    assert_int_equal(lines, OUTPUT_TABLE_MEASURED + 10 + 1);
    free(text);
}

static void test_no_row_prints_nothing(void **state)
{
    (void)state;
    struct output output = output_new("test", NOW_MS);
    struct capture capture = capture_begin();
    output_table_end(table_of(&output));
    char *text = capture_end(&capture);
    assert_string_equal(text, "");
    free(text);
}

static char *list_of(enum output_format format, int items)
{
    struct output output = output_new("test", NOW_MS);
    output.format = format;
    struct capture capture = capture_begin();
    for (int i = 0; i < items; i++) {
        output_item(&output, span_of_text("{}"));
    }
    bool written = output_end(&output);
    char *text = capture_end(&capture);
    assert_true(written);
    return text;
}

static void check_list(enum output_format format, int items, const char *wanted)
{
    char *text = list_of(format, items);
    assert_string_equal(text, wanted);
    free(text);
}

static void test_lists(void **state)
{
    (void)state;
    check_list(OUTPUT_JSONL, 0, "");
    check_list(OUTPUT_JSONL, 2, "{}\n{}\n");
    check_list(OUTPUT_JSON, 0, "[]\n");
    check_list(OUTPUT_JSON, 1, "[\n{}\n]\n");
    check_list(OUTPUT_JSON, 2, "[\n{},\n{}\n]\n");
    check_list(OUTPUT_TABLE, 0, "");
}

static void test_age(void **state)
{
    (void)state;
    static const struct {
        int64_t before_ms;
        const char *wanted;
    } cases[] = {
        {0, "now"}, {999, "now"}, {1000, "1s"}, {59999, "59s"}, {60000, "1m"}, {3599999, "59m"}, {3600000, "1h"}, {86400000, "1d"},
        {INT64_C(86400000) * 400, "400d"}, {-999, "now"}, {-180000, "in 3m"}, {-NOW_MS, "in 20422d"},
    };
    struct output output = output_new("test", NOW_MS);
    char age[OUTPUT_AGE_SIZE];
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        output_age(&output, NOW_MS - cases[i].before_ms, age);
        assert_string_equal(age, cases[i].wanted);
    }
    output_age(&output, -1, age);
    assert_string_equal(age, "-");
    output_age(&output, INT64_MAX, age);
    assert_int_equal(strncmp(age, "in ", 3), 0);
}

static void test_times(void **state)
{
    (void)state;
    struct output output = output_new("test", NOW_MS);
    char time[OUTPUT_TIME_SIZE];
    output_time(&output, NOW_MS, time);
    assert_string_equal(time, "2025-11-30T10:53:20.000Z");
    output_time(&output, -1, time);
    assert_string_equal(time, "-");
    output.terminal = true;
    output_time(&output, NOW_MS - 5000, time);
    assert_string_equal(time, "5s");
}

static void test_counts(void **state)
{
    (void)state;
    static const struct {
        uint64_t count;
        const char *wanted;
    } cases[] = {{0, "0"}, {999, "999"}, {1000, "1,000"}, {20000, "20,000"}, {123456, "123,456"}, {1234567, "1,234,567"}, {UINT64_MAX, "18,446,744,073,709,551,615"}};
    char text[OUTPUT_COUNT_SIZE];
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        output_count(cases[i].count, text);
        assert_string_equal(text, cases[i].wanted);
    }
}

static void test_format_flag(void **state)
{
    (void)state;
    struct output output = output_new("test", NOW_MS);
    char short_flag[] = "-o";
    char json[] = "json";
    char table[] = "--output=table";
    char wrong[] = "-o=xml";
    char *arguments[] = {short_flag, json, table, wrong};
    int i = 0;
    assert_int_equal(output_take(&output, 4, arguments, &i), OPTIONS_TAKEN);
    assert_int_equal(output.format, OUTPUT_JSON);
    assert_int_equal(output_take(&output, 4, arguments, &i), OPTIONS_TAKEN);
    assert_int_equal(output.format, OUTPUT_TABLE);
    assert_int_equal(output_take(&output, 4, arguments, &i), OPTIONS_WRONG);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_table),
        cmocka_unit_test(test_nothing_binary),
        cmocka_unit_test(test_cut_at_the_edge),
        cmocka_unit_test(test_more_rows_than_are_measured),
        cmocka_unit_test(test_no_row_prints_nothing),
        cmocka_unit_test(test_lists),
        cmocka_unit_test(test_age),
        cmocka_unit_test(test_times),
        cmocka_unit_test(test_counts),
        cmocka_unit_test(test_format_flag),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
