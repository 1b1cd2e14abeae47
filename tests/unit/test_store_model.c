/* Random plans against a plain list of rows. Built twice, like the conformance tests. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"
#include "base/random.h"
#include "support/store_case.h"

#define ROWS_MOST 40000
#define BUCKETS_MOST 4096
#define NOW INT64_C(1800000000000)

struct model_row {
    slot_index slot;
    struct bucket_id bucket;
    int64_t offset;
    int64_t due_ms;
    row_ref ref;
    bool gone;
};

struct model_bucket {
    slot_index slot;
    struct bucket_stats stats; /* least and last: the bounds it ever held since it was last empty */
};

struct model {
    struct store_case *test;
    struct random random;
    struct model_row *rows;
    size_t row_count;
    struct model_bucket buckets[BUCKETS_MOST];
    size_t bucket_count;
    int64_t next_offset[2];
    uint32_t length_most;
};

static struct model_bucket *bucket_of(struct model *model, slot_index slot, struct bucket_id id)
{
    for (size_t i = 0; i < model->bucket_count; i++) {
        struct model_bucket *bucket = &model->buckets[i];
        if (bucket->slot == slot && bucket->stats.id.lane == id.lane && bucket->stats.id.level == id.level &&
            bucket->stats.id.number == id.number) {
            return bucket;
        }
    }
    assert_true(model->bucket_count < BUCKETS_MOST);
    model->buckets[model->bucket_count] = (struct model_bucket){slot, {.id = id}};
    return &model->buckets[model->bucket_count++];
}

static void count_in(struct model *model, const struct model_row *row)
{
    struct bucket_stats *stats = &bucket_of(model, row->slot, row->bucket)->stats;
    stats->least_offset = stats->count == 0 || row->offset < stats->least_offset ? row->offset : stats->least_offset;
    stats->last_offset = stats->count == 0 || row->offset > stats->last_offset ? row->offset : stats->last_offset;
    struct key key = {row->due_ms, row->offset};
    stats->greatest = stats->count == 0 || key_compare(key, stats->greatest) > 0 ? key : stats->greatest;
    stats->count++;
    stats->bytes += row->ref >> 32;
}

static void count_out(struct model *model, const struct model_row *row)
{
    struct bucket_stats *stats = &bucket_of(model, row->slot, row->bucket)->stats;
    stats->count--;
    stats->bytes -= row->ref >> 32;
}

static void put_some(struct model *model, slot_index slot)
{
    uint64_t count = random_below(&model->random, 120);
    for (uint64_t i = 0; i < count && model->row_count < ROWS_MOST; i++) {
        uint8_t level = (uint8_t)random_below(&model->random, BUCKET_LEVELS);
        int64_t due = NOW + (int64_t)random_below(&model->random, (uint64_t)1 << (16 + 6 * level));
        lane_index lane = (lane_index)random_below(&model->random, 2);
        uint32_t length =
            (uint32_t)random_below(&model->random, random_below(&model->random, 50) == 0 ? 9000 : model->length_most);
        struct model_row *row = &model->rows[model->row_count++];
        *row = (struct model_row){slot,
                                  store_case_bucket(lane, level, due),
                                  model->next_offset[slot],
                                  due,
                                  store_case_ref((uint32_t)random_next(&model->random), length),
                                  false};
        model->next_offset[slot] += 1 + (int64_t)random_below(&model->random, 3);
        store_case_put(model->test, row->bucket, row->offset, due, row->ref);
    }
}

static bool is_in(const struct model_row *row, slot_index slot, struct bucket_id id)
{
    return !row->gone && row->slot == slot && row->bucket.lane == id.lane && row->bucket.level == id.level &&
           row->bucket.number == id.number;
}

/* A bucket that holds rows of the slot, or one at random. */
static struct bucket_id some_bucket(struct model *model, slot_index slot)
{
    for (int tries = 0; tries < 20 && model->bucket_count > 0; tries++) {
        const struct model_bucket *bucket = &model->buckets[random_below(&model->random, model->bucket_count)];
        if (bucket->slot == slot && bucket->stats.count > 0) {
            return bucket->stats.id;
        }
    }
    return store_case_bucket(0, 1, NOW);
}

static void drop_one(struct model *model, slot_index slot, size_t rows_before)
{
    struct bucket_id id = some_bucket(model, slot);
    store_case_drop(model->test, id);
    for (size_t i = 0; i < rows_before; i++) {
        if (is_in(&model->rows[i], slot, id)) {
            model->rows[i].gone = true;
            count_out(model, &model->rows[i]);
        }
    }
}

static void split_one(struct model *model, slot_index slot, size_t rows_before)
{
    struct bucket_id id = some_bucket(model, slot);
    uint32_t most = (uint32_t)random_below(&model->random, 60);
    if (id.level == 0) {
        return;
    }
    store_case_split(model->test, id, most);
    for (size_t i = 0; i < rows_before && most > 0; i++) { /* the list is in offset order */
        struct model_row *row = &model->rows[i];
        if (is_in(row, slot, id)) {
            count_out(model, row);
            row->bucket = store_case_bucket(id.lane, (uint8_t)(id.level - 1), row->due_ms);
            count_in(model, row);
            most--;
        }
    }
}

static void assert_bucket(struct model *model, const struct model_bucket *bucket)
{
    static struct scanned_row found[ROWS_MOST];
    size_t count = store_case_scan(model->test, bucket->slot, bucket->stats.id, 100, found);
    size_t at = 0;
    assert_int_equal(count, bucket->stats.count);
    for (size_t i = 0; i < model->row_count; i++) {
        const struct model_row *row = &model->rows[i];
        if (is_in(row, bucket->slot, bucket->stats.id)) {
            assert_true(at < count && found[at].offset == row->offset && found[at].due_ms == row->due_ms);
            assert_int_equal(found[at].bytes, row->ref >> 32);
            store_case_assert_row(model->test, row->slot, row->bucket, row->offset, row->ref);
            at++;
        }
    }
    assert_int_equal(at, count);
}

static void assert_slot(struct model *model, slot_index slot)
{
    struct store_partition partition;
    size_t with_rows = 0;
    assert_true(store_bind_slot(model->test->store, slot, "t", (int32_t)slot, &partition, &model->test->error));
    for (size_t i = 0; i < partition.bucket_count; i++) {
        const struct bucket_stats *stats = &partition.buckets[i];
        const struct bucket_stats *expected = &bucket_of(model, slot, stats->id)->stats;
        assert_int_equal(stats->count, expected->count);
        assert_int_equal(stats->bytes, expected->bytes);
        assert_int_equal(stats->least_offset, expected->least_offset);
        assert_int_equal(stats->last_offset, expected->last_offset);
        assert_int_equal(key_compare(stats->greatest, expected->greatest), 0);
        assert_true(stats->count > 0);
    }
    for (size_t i = 0; i < model->bucket_count; i++) {
        with_rows += model->buckets[i].slot == slot && model->buckets[i].stats.count > 0 ? 1 : 0;
    }
    assert_int_equal(partition.bucket_count, with_rows);
    free(partition.buckets);
}

static void assert_everything(struct model *model)
{
    assert_slot(model, 0);
    assert_slot(model, 1);
    for (size_t i = 0; i < model->bucket_count; i++) {
        assert_bucket(model, &model->buckets[i]);
    }
}

static void one_plan(struct model *model)
{
    slot_index slot = (slot_index)random_below(&model->random, 2);
    size_t before = model->row_count;
    for (uint64_t i = random_below(&model->random, 3); i > 0; i--) {
        drop_one(model, slot, before);
    }
    for (uint64_t i = random_below(&model->random, 4); i > 0; i--) {
        split_one(model, slot, before);
    }
    put_some(model, slot);
    for (size_t i = before; i < model->row_count; i++) {
        count_in(model, &model->rows[i]);
    }
    store_case_write(model->test, slot, model->next_offset[slot]);
    for (size_t i = 0; i < model->test->result.touched_count; i++) {
        const struct bucket_stats *stats = &model->test->result.touched[i].stats;
        assert_int_equal(stats->count, bucket_of(model, slot, stats->id)->stats.count);
        assert_int_equal(stats->bytes, bucket_of(model, slot, stats->id)->stats.bytes);
    }
}

static void run_seed(uint64_t seed, uint32_t length_most)
{
    struct model *model = memory_new(1, sizeof(*model));
    model->rows = memory_new(ROWS_MOST, sizeof(*model->rows));
    model->random = random_new(seed);
    model->length_most = length_most;
    model->test = store_case_new();
    store_case_open(model->test);
    for (int plan = 0; plan < 80; plan++) {
        one_plan(model);
        if (plan % 20 == 19) {
            store_case_close(model->test);
            store_case_open(model->test);
            assert_everything(model);
        }
    }
    assert_everything(model);
    store_case_free(model->test);
    free(model->rows);
    free(model);
}

static void test_small_rows(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 4; seed++) {
        run_seed(seed, 60);
    }
}

static void test_usual_rows(void **state)
{
    (void)state;
    for (uint64_t seed = 11; seed <= 14; seed++) {
        run_seed(seed, 600);
    }
}

static void test_large_rows(void **state)
{
    (void)state;
    run_seed(21, 5000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_small_rows),
        cmocka_unit_test(test_usual_rows),
        cmocka_unit_test(test_large_rows),
    };
    return cmocka_run_group_tests_name("store_model", tests, NULL, NULL);
}
