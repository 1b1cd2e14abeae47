/* Like errors meet, and counts add up. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "dlq/reasons_error.h"
#include "dlq/reasons_table.h"

static void check(const char *text, const char *wanted)
{
    struct buffer out = buffer_new(4096);
    reasons_error(span_of_text(text), &out);
    buffer_add(&out, "", 1);
    assert_string_equal((const char *)out.data, wanted);
    buffer_free(&out);
}

static void test_errors(void **state)
{
    (void)state;
    check("", "");
    check("no schema", "no schema");
    check("order 17 of 300", "order N of N");
    check("orders2", "ordersN");
    check("127.0.0.1:9092/3: timed out after 1.5s", "N.N.N.N:N/N: timed out after N.Ns");
    check("id 550e8400-e29b-41d4-a716-446655440000!", "id N!");
    check("550e8400-e29b-41d4-a716-44665544000", "N-eNb-NdN-aN-N"); /* one digit short: no UUID */
    check("at 0x7ffe12 and 0xdeadbeef", "at N and N");
    check("trace 4f1c09aa51f4b1d8c0de2c3f9a7b6e55,", "trace N,");
    check("effaced facade deadbeef", "effaced facade deadbeef"); /* words: no digit among the letters */
    check("abc1234", "abcN"); /* seven: too short for an id */
    check("\xc3\xa4 1", "\xc3\xa4 N");
    check("0x", "Nx");
}

static void test_like_errors_meet(void **state)
{
    (void)state;
    check("partition 3 at offset 99 of topic x-1", "partition N at offset N of topic x-N");
    check("partition 11 at offset 100000 of topic x-2", "partition N at offset N of topic x-N");
}

static struct letter letter_at(const char *id, int64_t first_ms, int64_t last_ms)
{
    struct letter letter = {.first_failure_ms = first_ms, .last_failure_ms = last_ms};
    (void)snprintf(letter.id, sizeof letter.id, "%s", id);
    return letter;
}

static void test_counts(void **state)
{
    (void)state;
    struct reasons_table table = {0};
    struct letter a = letter_at("a", 100, 500);
    struct letter b = letter_at("b", 50, 900);
    struct letter c = letter_at("c", -1, 300);
    reasons_table_add(&table, span_of_text("x"), &a, LETTER_WAITING);
    reasons_table_add(&table, span_of_text("y"), &b, LETTER_PARKED);
    reasons_table_add(&table, span_of_text("y"), &c, LETTER_PARKED);
    reasons_table_add(&table, span_of_text("y"), &a, LETTER_WAITING);
    reasons_table_sort(&table, false);
    assert_int_equal(table.letters, 4);
    assert_int_equal(table.count, 2);
    const struct reasons_table_group *y = &table.groups[0];
    assert_true(span_equals_text(y->name, "y"));
    assert_int_equal(y->count, 3);
    assert_int_equal(y->of[LETTER_WAITING], 1);
    assert_int_equal(y->of[LETTER_PARKED], 2);
    assert_int_equal(y->first_ms, 50);
    assert_int_equal(y->last_ms, 900);
    assert_string_equal(y->example, "b");
    reasons_table_free(&table);
}

static void test_by_name(void **state)
{
    (void)state;
    struct reasons_table table = {0};
    struct letter a = letter_at("a", 1, 1);
    const char *const names[] = {"b", "ab", "a", "b"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        reasons_table_add(&table, span_of_text(names[i]), &a, LETTER_PARKED);
    }
    reasons_table_sort(&table, true);
    assert_true(span_equals_text(table.groups[0].name, "a"));
    assert_true(span_equals_text(table.groups[1].name, "ab"));
    assert_true(span_equals_text(table.groups[2].name, "b"));
    reasons_table_free(&table);
}

static void test_bound(void **state)
{
    (void)state;
    struct reasons_table table = {0};
    struct letter a = letter_at("a", 1, 1);
    uint64_t sum = 0;
    for (int i = 0; i < REASONS_TABLE_MAX + 500; i++) {
        char name[32];
        (void)snprintf(name, sizeof name, "group %d", i);
        reasons_table_add(&table, span_of_text(name), &a, LETTER_PARKED);
    }
    reasons_table_add(&table, span_of_text("group 7"), &a, LETTER_PARKED); /* known before the bound: still its own */
    assert_int_equal(table.count, REASONS_TABLE_MAX + 1);
    reasons_table_sort(&table, false);
    assert_true(span_equals_text(table.groups[0].name, REASONS_TABLE_OTHERS));
    assert_int_equal(table.groups[0].count, 500);
    assert_int_equal(table.groups[1].count, 2);
    for (size_t i = 0; i < table.count; i++) {
        sum += table.groups[i].count;
    }
    assert_int_equal(sum, table.letters);
    reasons_table_free(&table);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_errors), cmocka_unit_test(test_like_errors_meet), cmocka_unit_test(test_counts),
        cmocka_unit_test(test_by_name), cmocka_unit_test(test_bound),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
