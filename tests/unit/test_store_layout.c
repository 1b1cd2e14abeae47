#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/random.h"
#include "store/store.h"
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

static void test_row_heads(void **state)
{
    const int64_t dues[] = {0, 1, -1, 1800000000000, STORE_DUE_BOUND - 1, -STORE_DUE_BOUND};
    const struct record_id ids[] = {{0, 0}, {0, 1}, {1, 0}, {UINT64_MAX, UINT64_MAX}};
    (void)state;
    for (size_t i = 0; i < 6; i++) {
        for (size_t j = 0; j < 4; j++) {
            uint8_t value[STORE_LAYOUT_ROW_HEAD + STORE_LAYOUT_ID + 3] = {0};
            struct store_row row;
            size_t head = store_layout_row_head(ids[j]);
            assert_int_equal(head, j == 0 ? 8 : 24);
            store_layout_put_row_head(value, dues[i], ids[j]);
            assert_true(store_layout_row(value, head + 3, &row));
            assert_true(row.due_ms == dues[i] && record_id_equal(row.id, ids[j]));
            assert_ptr_equal(row.bytes.data, value + head);
            assert_int_equal(row.bytes.length, 3);
            assert_true(store_layout_row(value, head, &row));
            assert_int_equal(row.bytes.length, 0);
            assert_false(store_layout_row(value, head - 1, &row));
            assert_false(store_layout_row(value, 7, &row));
        }
    }
}

static void test_events(void **state)
{
    struct record_id id = {0x0102030405060708, 0x090A0B0C0D0E0F10};
    struct stored_event event = {
        .offset = INT64_MAX, .due_ms = 1800000000000, .root = -1, .bytes = UINT32_MAX, .lane = 7};
    struct stored_event back = {.lane = 7};
    uint8_t key[STORE_LAYOUT_ID_KEY];
    uint8_t value[STORE_LAYOUT_EVENT];
    uint16_t lane_id = 0;
    (void)state;
    store_layout_id_key(key, 258, id);
    assert_memory_equal(key, "\0\0\1\2\1\2\3\4\5\6\7\10\11\12\13\14\15\16\17\20", sizeof(key));
    store_layout_put_event(value, 65535, &event);
    store_layout_event(value, &lane_id, &back);
    assert_int_equal(lane_id, 65535);
    assert_true(back.offset == event.offset && back.due_ms == event.due_ms && back.root == -1);
    assert_true(back.bytes == UINT32_MAX && back.lane == 7);
}

static void test_marks_and_skips(void **state)
{
    const struct mark mark = {{3, 4}, 1000, INT64_MAX};
    const struct skip skip = {INT64_MAX, 1};
    struct store_mark at;
    struct mark mark_back;
    struct skip skip_back;
    (void)state;
    store_layout_mark(&at, 9, &mark);
    assert_true(store_layout_mark_valid(at.key, at.key_length, at.value_length));
    assert_true(store_layout_read_mark(at.key, at.value, &mark_back, &skip_back));
    assert_memory_equal(&mark, &mark_back, sizeof(mark));
    for (size_t length = 0; length < 30; length++) {
        assert_int_equal(store_layout_mark_valid(at.key, length, 8), length == 29);
    }
    assert_false(store_layout_mark_valid(at.key, 29, 7));
    store_layout_skip(&at, 9, &skip);
    assert_true(store_layout_mark_valid(at.key, at.key_length, at.value_length));
    assert_false(store_layout_read_mark(at.key, at.value, &mark_back, &skip_back));
    assert_memory_equal(&skip, &skip_back, sizeof(skip));
    for (size_t length = 0; length < 30; length++) {
        assert_int_equal(store_layout_mark_valid(at.key, length, 0), length == 21);
    }
    assert_false(store_layout_mark_valid(at.key, 21, 8));
    at.key[4] = 3; /* no kind of ours */
    assert_false(store_layout_mark_valid(at.key, 21, 0) || store_layout_mark_valid(at.key, 29, 8));
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
        cmocka_unit_test(test_row_heads),
        cmocka_unit_test(test_events),
        cmocka_unit_test(test_marks_and_skips),
        cmocka_unit_test(test_names),
    };
    return cmocka_run_group_tests_name("store_layout", tests, NULL, NULL);
}
