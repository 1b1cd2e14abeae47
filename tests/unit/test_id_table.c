/* The table of ids against a search through all. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/random.h"
#include "scheduler/id_table.h"

#define IDS 200

static struct id_entry model[IDS]; /* by number; offset 0: not there */

/* Many of one home, so that they stand in each other's way; the numbers differ in the half that `home` takes as well as in the other. */
static struct record_id id_of(uint64_t number)
{
    return (struct record_id){1 + number % 7 * 1024, number / 7 * 1024 + 1};
}

static void check(const struct id_table *table)
{
    uint32_t count = 0;
    for (uint64_t i = 0; i < IDS; i++) {
        const struct id_entry *entry = id_table_find(table, id_of(i));
        assert_int_equal(entry != NULL, model[i].offset != 0);
        if (entry != NULL) {
            assert_int_equal(entry->offset, model[i].offset);
            assert_int_equal(entry->due_ms, model[i].due_ms);
            count++;
        }
    }
    assert_int_equal(table->count, count);
}

static bool keep_even(struct id_entry *entry, void *context)
{
    uint32_t *asked = context;
    (*asked)++;
    entry->due_ms++;
    return entry->offset % 2 == 0;
}

static void filter(struct id_table *table)
{
    uint32_t asked = 0;
    uint32_t count = table->count;
    id_table_filter(table, keep_even, &asked);
    assert_int_equal(asked, count);
    for (size_t i = 0; i < IDS; i++) {
        model[i].due_ms++;
        model[i].offset = model[i].offset % 2 == 0 ? model[i].offset : 0;
    }
}

static void test_against_a_search(void **state)
{
    (void)state;
    struct random random = random_new(4);
    struct id_table table = {0};
    for (int64_t turn = 1; turn <= 20000; turn++) {
        uint64_t number = random_below(&random, IDS);
        struct id_entry entry = {.id = id_of(number), .offset = turn, .due_ms = random_between(&random, 0, 1000)};
        if (random_below(&random, 100) < 55) {
            id_table_put(&table, &entry);
            model[number] = entry;
        } else {
            id_table_remove(&table, entry.id);
            model[number].offset = 0;
        }
        if (turn % 1000 == 0) {
            filter(&table);
        }
        if (turn % 97 == 0) {
            check(&table);
        }
    }
    id_table_free(&table);
    assert_null(id_table_find(&table, id_of(1)));
}

/* A gap is closed by what belongs before it, also across the end of the array. */
static void test_removal_across_the_end(void **state)
{
    (void)state;
    struct id_table table = {0};
    struct record_id ids[4] = {{0, 15}, {16, 15}, {32, 15}, {0, 16}}; /* homes 15, 15, 15, 0 of 16 */
    for (int64_t i = 0; i < 4; i++) {
        id_table_put(&table, &(struct id_entry){.id = ids[i], .offset = i + 1});
    }
    assert_int_equal(table.capacity, 16);
    for (size_t gone = 0; gone < 4; gone++) {
        id_table_remove(&table, ids[gone]);
        for (size_t i = 0; i < 4; i++) {
            const struct id_entry *entry = id_table_find(&table, ids[i]);
            assert_int_equal(entry == NULL, i <= gone);
            assert_true(entry == NULL || entry->offset == (int64_t)i + 1);
        }
    }
    id_table_free(&table);
}

static void test_empty_table_has_nothing(void **state)
{
    (void)state;
    struct id_table table = {0};
    uint32_t asked = 0;
    assert_null(id_table_find(&table, (struct record_id){1, 2}));
    id_table_remove(&table, (struct record_id){1, 2});
    id_table_filter(&table, keep_even, &asked);
    assert_int_equal(asked + table.count, 0);
}

static void test_no_id_is_not_found(void **state)
{
    (void)state;
    struct id_table table = {0};
    id_table_put(&table, &(struct id_entry){.id = {0, 1}, .offset = 1});
    id_table_put(&table, &(struct id_entry){.id = {1, 0}, .offset = 2});
    assert_null(id_table_find(&table, RECORD_ID_NONE));
    id_table_remove(&table, RECORD_ID_NONE);
    assert_int_equal(table.count, 2);
    assert_int_equal(id_table_find(&table, (struct record_id){0, 1})->offset, 1);
    assert_int_equal(id_table_find(&table, (struct record_id){1, 0})->offset, 2);
    id_table_free(&table);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_against_a_search),
        cmocka_unit_test(test_removal_across_the_end),
        cmocka_unit_test(test_empty_table_has_nothing),
        cmocka_unit_test(test_no_id_is_not_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
