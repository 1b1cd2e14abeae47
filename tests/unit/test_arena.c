/* Rows in memory: what was put in comes out until it is released, and chunks go with their last row. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"
#include "base/random.h"
#include "ops/arena.h"

#define CHUNK ((uint64_t)256 * 1024)

static row_ref add(struct arena *arena, const uint8_t *bytes, size_t length)
{
    row_ref ref = arena_add(arena, (struct span){bytes, length});
    assert_true(ref != 0);
    assert_int_equal(ref % 8, 0);
    return ref;
}

static void test_keeps_bytes(void **state)
{
    (void)state;
    struct arena arena = {0};
    row_ref first = add(&arena, (const uint8_t *)"abc", 3);
    row_ref empty = add(&arena, (const uint8_t *)"", 0);
    row_ref absent = arena_add(&arena, SPAN_ABSENT);
    assert_true(span_equals_text(arena_row(first), "abc"));
    assert_int_equal(arena_row(empty).length, 0);
    assert_non_null(arena_row(empty).data);
    assert_int_equal(arena_row(absent).length, 0);
    assert_int_equal(arena.rows, 3);
    assert_int_equal(arena.bytes, CHUNK);
    arena_release(&arena, first);
    assert_true(empty != first && absent != empty);
    assert_int_equal(arena_row(empty).length, 0);
    arena_free(&arena); /* with rows in it */
    assert_int_equal(arena.bytes, 0);
    assert_int_equal(arena.rows, 0);
}

static void test_large_rows(void **state)
{
    (void)state;
    struct arena arena = {0};
    size_t length = 3 * CHUNK;
    uint8_t *large = memory_new(length, 1);
    memset(large, 7, length);
    row_ref small = add(&arena, large, 10);
    row_ref one = add(&arena, large, length);
    row_ref two = add(&arena, large, length);
    assert_true(arena.bytes >= CHUNK + 2 * length && arena.bytes < CHUNK + 2 * length + 1024);
    assert_memory_equal(arena_row(one).data, large, length);
    arena_release(&arena, one);
    assert_true(arena.bytes < CHUNK + length + 1024);
    arena_release(&arena, two);
    arena_release(&arena, small);
    add(&arena, large, 10);
    assert_int_equal(arena.bytes, CHUNK); /* the large one, empty, made place for it */
    arena_free(&arena);
    free(large);
}

/* A queue of rows as in life: memory follows what is held, not what ever was. */
static void test_memory_goes_with_rows(void **state)
{
    (void)state;
    struct arena arena = {0};
    uint8_t bytes[1000] = {1};
    row_ref held[500];
    for (int round = 0; round < 20; round++) {
        for (int i = 0; i < 500; i++) {
            held[i] = add(&arena, bytes, sizeof(bytes));
        }
        assert_true(arena.bytes <= 4 * CHUNK);
        for (int i = 0; i < 500; i++) {
            arena_release(&arena, held[i]);
        }
        assert_int_equal(arena.rows, 0);
        assert_int_equal(arena.bytes, CHUNK); /* the one that is being filled */
    }
    arena_free(&arena);
}

struct held {
    row_ref ref;
    uint8_t byte;
    size_t length;
};

static void check_held(const struct held *held)
{
    struct span row = arena_row(held->ref);
    assert_int_equal(row.length, held->length);
    for (size_t i = 0; i < row.length; i++) {
        assert_int_equal(row.data[i], held->byte);
    }
}

static size_t random_length(struct random *random)
{
    return random_below(random, 50) == 0 ? (size_t)random_between(random, 200000, 400000)
                                         : (size_t)random_between(random, 0, 3000);
}

static void test_random_order(void **state)
{
    (void)state;
    struct random random = random_new(1);
    struct arena arena = {0};
    struct held held[200] = {{0}};
    uint8_t *bytes = memory_new(400000, 1);
    size_t count = 0;
    for (int i = 0; i < 6000; i++) {
        size_t at = (size_t)random_below(&random, 200);
        if (held[at].ref != 0) {
            check_held(&held[at]);
            arena_release(&arena, held[at].ref);
            held[at].ref = 0;
            count--;
        } else {
            held[at] = (struct held){0, (uint8_t)random_next(&random), random_length(&random)};
            memset(bytes, held[at].byte, held[at].length);
            held[at].ref = add(&arena, bytes, held[at].length);
            count++;
        }
        assert_int_equal(arena.rows, count);
    }
    for (size_t i = 0; i < 200; i++) {
        if (held[i].ref != 0) {
            check_held(&held[i]);
            arena_release(&arena, held[i].ref);
        }
    }
    assert_int_equal(arena.rows, 0);
    assert_true(arena.bytes <= 400000 + CHUNK);
    arena_free(&arena);
    free(bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_keeps_bytes),
        cmocka_unit_test(test_large_rows),
        cmocka_unit_test(test_memory_goes_with_rows),
        cmocka_unit_test(test_random_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
