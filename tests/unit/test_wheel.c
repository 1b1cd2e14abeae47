/* The timing wheel's edges, one by one; test_wheel_oracle.c does the random rest. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/memory.h"
#include "base/random.h"
#include "scheduler/wheel.h"

static struct entry_pool pool;
static struct wheel wheel;

static int set_up(void **state)
{
    (void)state;
    pool = entry_pool_new();
    wheel_init(&wheel, &pool, 0);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    wheel_free(&wheel);
    assert_int_equal(entry_pool_count(&pool), 0);
    entry_pool_free(&pool);
    return 0;
}

static void expect_take(int64_t due_ms, int64_t offset)
{
    struct key peeked;
    struct entry taken;
    assert_true(wheel_peek(&wheel, &peeked));
    assert_true(wheel_take_least(&wheel, &taken));
    assert_int_equal(key_compare(peeked, entry_key(&taken)), 0);
    assert_int_equal(taken.due_ms, due_ms);
    assert_int_equal(taken.offset, offset);
}

static void test_empty(void **state)
{
    (void)state;
    struct key key = {1, 2};
    struct entry taken;
    assert_true(sizeof(struct wheel) < 500);
    assert_false(wheel_peek(&wheel, &key));
    assert_false(wheel_greatest(&wheel, &key));
    assert_false(wheel_take_least(&wheel, &taken));
    assert_int_equal(wheel_next_bound(&wheel), TIME_NEVER);
    assert_int_equal(wheel_count_due(&wheel, INT64_MAX), 0);
    assert_int_equal(wheel_trim(&wheel, 0, &key), 0);
    assert_int_equal(key.due_ms, 1);
    wheel_advance(&wheel, INT64_MAX);
    assert_int_equal(wheel_base(&wheel), INT64_MAX);
    for (unsigned i = 0; i < WHEEL_LEVELS; i++) {
        assert_null(wheel.levels[i].slots);
    }
    wheel_validate(&wheel);
}

/* Case T08: delays at and around each power of two and of ten, 20 records each, among 20,000 others. */
static const int64_t edges[] = {1,    2,    9,     10,    11,    63,    64,    65,    99,    100,   101,  255,
                                256,  257,  511,   512,   513,   999,   1000,  1001,  1023,  1024,  1025, 4095,
                                4096, 4097, 16383, 16384, 16385, 59999, 60000, 60001, 65535, 65536, 65537};
#define EDGES (sizeof(edges) / sizeof(edges[0]))

/* Lets a clock run over the wheel the way the core does: take while due, then go to the next bound. Returns how many
 * were taken. */
static uint32_t run_clock(int64_t until_ms)
{
    uint32_t taken_count = 0;
    struct key last = KEY_LEAST;
    for (;;) {
        int64_t now = wheel_next_bound(&wheel);
        if (now > until_ms) {
            return taken_count;
        }
        struct key key;
        uint32_t at_this_ms = 0;
        while (wheel_peek(&wheel, &key) && key.due_ms <= now) {
            struct entry taken;
            assert_true(wheel_take_least(&wheel, &taken));
            assert_int_equal(taken.due_ms, now); /* neither early nor a lap late */
            assert_true(key_compare(last, entry_key(&taken)) < 0);
            last = entry_key(&taken);
            at_this_ms++;
        }
        assert_true(at_this_ms > 0); /* the bound was exact */
        taken_count += at_this_ms;
    }
}

static void test_edges_from(int64_t base_ms)
{
    struct random random = random_new((uint64_t)base_ms);
    wheel_init(&wheel, &pool, base_ms);
    int64_t offset = 0;
    uint32_t within = 0;
    for (unsigned i = 0; i < 20000; i++) {
        int64_t delay = random_between(&random, 0, 200000);
        within += delay <= 65537;
        (void)wheel_add(&wheel, (struct key){base_ms + delay, offset++}, 1);
    }
    for (unsigned repeat = 0; repeat < 20; repeat++) {
        for (size_t i = 0; i < EDGES; i++) {
            (void)wheel_add(&wheel, (struct key){base_ms + edges[i], offset++}, 1);
        }
    }
    wheel_validate(&wheel);
    assert_int_equal(wheel_count_due(&wheel, base_ms + 65537), within + 20 * EDGES);
    assert_int_equal(run_clock(base_ms + 65537), within + 20 * EDGES);
    assert_int_equal(wheel_count(&wheel), 20000 - within);
    wheel_validate(&wheel);
    wheel_free(&wheel);
}

static void test_edges(void **state)
{
    (void)state;
    static const int64_t bases[] = {0,
                                    1,
                                    255,
                                    256,
                                    65535,
                                    65536,
                                    16777215,
                                    1764425569123,
                                    (INT64_C(1) << 41) - 1,
                                    (INT64_C(1) << 56) - 300,
                                    INT64_MAX - 200000};
    for (size_t i = 0; i < sizeof(bases) / sizeof(bases[0]); i++) {
        test_edges_from(bases[i]);
    }
}

/* Adds between takes, relative to what was just taken: exactly while the wheel turns. */
static void test_adds_while_turning(void **state)
{
    (void)state;
    int64_t offset = 0;
    (void)wheel_add(&wheel, (struct key){0, offset++}, 1);
    for (unsigned round = 0; round < 2000; round++) {
        struct entry taken;
        assert_true(wheel_take_least(&wheel, &taken));
        int64_t delay = edges[round % EDGES];
        (void)wheel_add(&wheel, (struct key){taken.due_ms + delay, offset}, 1);
        (void)wheel_add(&wheel, (struct key){taken.due_ms, offset + 1}, 1);
        (void)wheel_add(&wheel, (struct key){taken.due_ms + delay, offset + 2}, 1);
        expect_take(taken.due_ms, offset + 1);
        expect_take(taken.due_ms + delay, offset);
        assert_int_equal(wheel_next_bound(&wheel), taken.due_ms + delay);
        wheel_validate(&wheel);
        offset += 3;
    }
}

static void test_extreme_dues(void **state)
{
    (void)state;
    (void)wheel_add(&wheel, (struct key){INT64_MAX, 1}, 1);
    (void)wheel_add(&wheel, (struct key){INT64_MAX - 1, 2}, 1);
    for (unsigned shift = 62; shift > 0; shift--) {
        (void)wheel_add(&wheel, (struct key){INT64_C(1) << shift, (int64_t)shift}, 1);
        (void)wheel_add(&wheel, (struct key){(INT64_C(1) << shift) + 1, (int64_t)shift}, 1);
    }
    (void)wheel_add(&wheel, (struct key){0, INT64_MAX}, 1);
    wheel_validate(&wheel);
    expect_take(0, INT64_MAX);
    expect_take(2, 1);
    expect_take(3, 1);
    for (unsigned shift = 2; shift <= 62; shift++) {
        expect_take(INT64_C(1) << shift, (int64_t)shift);
        expect_take((INT64_C(1) << shift) + 1, (int64_t)shift);
        wheel_validate(&wheel);
    }
    expect_take(INT64_MAX - 1, 2);
    expect_take(INT64_MAX, 1);
    (void)wheel_add(&wheel, (struct key){INT64_MAX, 0}, 1);
    expect_take(INT64_MAX, 0);
}

static void test_equal_dues_leave_in_offset_order(void **state)
{
    (void)state;
    static const int64_t offsets[] = {5, 9, 7, 1, 8, 3};
    for (int64_t due = 10; due <= 1000000; due *= 10) {
        for (size_t i = 0; i < 6; i++) {
            (void)wheel_add(&wheel, (struct key){due, offsets[i]}, 1);
        }
    }
    for (int64_t due = 10; due <= 1000000; due *= 10) {
        static const int64_t sorted[] = {1, 3, 5, 7, 8, 9};
        for (size_t i = 0; i < 6; i++) {
            expect_take(due, sorted[i]);
        }
    }
}

/* 400,000 at one far millisecond: linear in all, which a quadratic or per-take cascade would turn into minutes. */
static void test_herd(void **state)
{
    (void)state;
    const int64_t due = 1764425569123;
    for (int64_t offset = 0; offset < 400000; offset++) {
        (void)wheel_add(&wheel, (struct key){due, offset}, 10);
    }
    assert_int_equal(wheel_bytes(&wheel), 4000000);
    assert_int_equal(wheel_next_bound(&wheel), due);
    expect_take(due, 0);
    struct key greatest;
    assert_int_equal(wheel_trim(&wheel, 300000, &greatest), 99999);
    assert_int_equal(greatest.due_ms, due);
    assert_int_equal(greatest.offset, 300000);
    for (int64_t offset = 1; offset <= 300000; offset++) {
        expect_take(due, offset);
    }
    assert_int_equal(wheel_count(&wheel), 0);
}

static void test_trim_of_one_far_list_is_exact(void **state)
{
    (void)state;
    struct random random = random_new(11);
    for (int64_t offset = 0; offset < 50000; offset++) {
        (void)wheel_add(&wheel, (struct key){(INT64_C(1) << 40) + random_between(&random, 0, 9999), offset}, 1);
    }
    struct key kept = KEY_LEAST;
    for (uint32_t keep = 49999; keep > 0; keep = keep * 2 / 3) {
        uint32_t before = wheel_count(&wheel);
        assert_int_equal(wheel_trim(&wheel, keep, &kept), before - keep);
        struct key greatest;
        assert_true(wheel_greatest(&wheel, &greatest));
        assert_int_equal(key_compare(greatest, kept), 0);
        wheel_validate(&wheel);
    }
    assert_int_equal(wheel_trim(&wheel, 0, &kept), 1);
    assert_int_equal(key_compare(kept, KEY_LEAST), 0);
}

static void test_bound_of_a_long_list_without_its_least(void **state)
{
    (void)state;
    const int64_t start = INT64_C(7) << 24;
    entry_index least = wheel_add(&wheel, (struct key){start + 5, 0}, 1);
    for (int64_t i = 0; i < 10000; i++) {
        (void)wheel_add(&wheel, (struct key){start + 77 + i % 1000, 1 + i}, 1);
    }
    assert_int_equal(wheel_next_bound(&wheel), start + 5);
    wheel_remove(&wheel, least);
    assert_int_equal(wheel_next_bound(&wheel), start); /* not looked through: early, never late */
    struct key key;
    assert_true(wheel_peek(&wheel, &key));
    assert_int_equal(key.due_ms, start + 77);
    assert_int_equal(wheel_next_bound(&wheel), start + 77); /* remembered */
    (void)wheel_add(&wheel, (struct key){start + 6, 20000}, 1);
    assert_int_equal(wheel_next_bound(&wheel), start + 6);
    (void)wheel_add(&wheel, (struct key){0, 20001}, 1); /* peeking did not move the base */
    assert_int_equal(wheel_next_bound(&wheel), 0);
}

static void move_to_other(const struct entry *entry, void *context)
{
    (void)wheel_add(context, entry_key(entry), entry->bytes);
}

static void test_drain_into_another_wheel_of_the_pool(void **state)
{
    (void)state;
    struct wheel other;
    wheel_init(&other, &pool, 0);
    wheel_advance(&wheel, 5000);
    struct random random = random_new(4);
    for (int64_t offset = 0; offset < 3000; offset++) {
        (void)wheel_add(&wheel, (struct key){5000 + random_between(&random, 0, 600), offset}, 2);
    }
    wheel_drain(&wheel, move_to_other, &other);
    wheel_validate(&wheel);
    wheel_validate(&other);
    entry_pool_validate(&pool);
    assert_int_equal(wheel_count(&wheel), 0);
    assert_int_equal(wheel_bytes(&wheel), 0);
    assert_int_equal(wheel_base(&wheel), 5000);
    assert_int_equal(wheel_count(&other), 3000);
    assert_int_equal(wheel_bytes(&other), 6000);
    struct key last = KEY_LEAST;
    struct entry taken;
    while (wheel_take_least(&other, &taken)) {
        assert_true(key_compare(last, entry_key(&taken)) < 0);
        last = entry_key(&taken);
    }
    wheel_free(&other);
}

static void test_shrink_keeps_what_is_used(void **state)
{
    (void)state;
    entry_index near = wheel_add(&wheel, (struct key){3, 0}, 1);
    (void)wheel_add(&wheel, (struct key){3000, 1}, 1);
    wheel_remove(&wheel, near);
    assert_non_null(wheel.levels[0].slots);
    wheel_shrink(&wheel);
    assert_null(wheel.levels[0].slots);
    assert_non_null(wheel.levels[1].slots);
    (void)wheel_add(&wheel, (struct key){4, 2}, 1);
    expect_take(4, 2);
    expect_take(3000, 1);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(test_empty),
        TEST(test_edges),
        TEST(test_adds_while_turning),
        TEST(test_extreme_dues),
        TEST(test_equal_dues_leave_in_offset_order),
        TEST(test_herd),
        TEST(test_trim_of_one_far_list_is_exact),
        TEST(test_bound_of_a_long_list_without_its_least),
        TEST(test_drain_into_another_wheel_of_the_pool),
        TEST(test_shrink_keeps_what_is_used),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
