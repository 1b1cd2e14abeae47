#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/random.h"
#include "store/store_layout.h"

static struct store_bucket random_bucket(struct random *random)
{
    return (struct store_bucket){(uint32_t)random_next(random) >> random_below(random, 32),
                                 (uint16_t)random_below(random, 65536), (uint8_t)random_below(random, BUCKET_LEVELS),
                                 (int64_t)(random_next(random) >> (14 + random_below(random, 50)))};
}

static int compare(const struct store_bucket *a, const struct store_bucket *b)
{
    if (a->partition != b->partition) {
        return a->partition < b->partition ? -1 : 1;
    }
    if (a->lane != b->lane) {
        return a->lane < b->lane ? -1 : 1;
    }
    if (a->level != b->level) {
        return a->level < b->level ? -1 : 1;
    }
    return (a->number > b->number) - (a->number < b->number);
}

static void test_bucket_keys_read_back_and_keep_the_order(void **state)
{
    struct random random = random_new(3);
    (void)state;
    for (int i = 0; i < 20000; i++) {
        struct store_bucket a = random_bucket(&random);
        struct store_bucket b =
            i % 3 == 0 ? (struct store_bucket){a.partition, a.lane, a.level, a.number ^ 1} : random_bucket(&random);
        uint8_t key_a[STORE_LAYOUT_BUCKET_KEY];
        uint8_t key_b[STORE_LAYOUT_BUCKET_KEY];
        store_layout_bucket_key(key_a, &a);
        store_layout_bucket_key(key_b, &b);
        struct store_bucket back = store_layout_bucket(key_a);
        assert_int_equal(compare(&a, &back), 0);
        int order = memcmp(key_a, key_b, sizeof(key_a));
        assert_int_equal((order > 0) - (order < 0), compare(&a, &b));
    }
}

static void test_greatest_bucket_number(void **state)
{
    struct store_bucket bucket = {UINT32_MAX, UINT16_MAX, BUCKET_LEVELS - 1, STORE_LAYOUT_NUMBER_MAX};
    uint8_t key[STORE_LAYOUT_BUCKET_KEY];
    (void)state;
    store_layout_bucket_key(key, &bucket);
    struct store_bucket back = store_layout_bucket(key);
    assert_int_equal(compare(&bucket, &back), 0);
    assert_true(store_layout_number(INT64_MAX, 0) == STORE_LAYOUT_NUMBER_MAX);
    assert_true(store_layout_number(-1, 0) == 0);
    assert_true(store_layout_number((INT64_C(5) << 31) + 1, 3) == 5);
}

static void test_offsets(void **state)
{
    const int64_t offsets[] = {0, 1, 255, 256, INT64_C(1) << 32, INT64_MAX};
    uint8_t before[STORE_LAYOUT_ROW_KEY] = {0};
    uint8_t key[STORE_LAYOUT_ROW_KEY] = {0};
    (void)state;
    for (size_t i = 0; i < sizeof(offsets) / sizeof(offsets[0]); i++) {
        store_layout_row_offset(key, offsets[i]);
        assert_true(store_layout_offset(key) == offsets[i]);
        assert_true(i == 0 || memcmp(before, key, sizeof(key)) < 0);
        memcpy(before, key, sizeof(key));
    }
    store_layout_row_offset(key, INT64_MIN);
    assert_true(store_layout_offset(key) == 0);
}

static void test_statistics(void **state)
{
    struct bucket_stats stats = {
        .count = UINT64_MAX, .bytes = 1, .least_offset = 0, .last_offset = INT64_MAX, .greatest = {INT64_MAX, 7}};
    struct bucket_stats back = {0};
    uint8_t value[STORE_LAYOUT_STATS];
    (void)state;
    store_layout_put_stats(value, &stats);
    store_layout_stats(value, &back);
    assert_memory_equal(&stats, &back, sizeof(stats));
}

static void test_names(void **state)
{
    uint8_t key[STORE_LAYOUT_NAME_KEY_MAX];
    char topic[STORE_LAYOUT_TOPIC_MAX + 2];
    (void)state;
    assert_int_equal(store_layout_name_key(key, "ab", 258), 7);
    assert_memory_equal(key, "ab\0\0\0\1\2", 7);
    memset(topic, 'x', sizeof(topic));
    topic[STORE_LAYOUT_TOPIC_MAX + 1] = '\0';
    assert_int_equal(store_layout_name_key(key, topic, 0), 0);
    assert_int_equal(store_layout_name_key(key, topic + 1, 0), STORE_LAYOUT_NAME_KEY_MAX);
    assert_int_equal(store_layout_name_key(key, "", 0), 0);
    assert_int_equal(store_layout_name_key(key, "a", -1), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bucket_keys_read_back_and_keep_the_order),
        cmocka_unit_test(test_greatest_bucket_number),
        cmocka_unit_test(test_offsets),
        cmocka_unit_test(test_statistics),
        cmocka_unit_test(test_names),
    };
    return cmocka_run_group_tests_name("store_layout", tests, NULL, NULL);
}
