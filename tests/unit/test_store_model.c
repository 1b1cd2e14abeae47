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
#define IDS 150
#define MARKS_MOST 40
#define NO_ROW SIZE_MAX
#define NOW INT64_C(1800000000000)

struct model_row {
    slot_index slot;
    struct bucket_id bucket;
    int64_t offset;
    int64_t due_ms;
    row_ref ref;
    size_t id; /* its number; 0: none */
    int64_t root;
    bool gone;
};

struct model_bucket {
    slot_index slot;
    struct bucket_stats stats; /* least and last: the bounds since it was last empty; least exact after trim, erase */
};

struct model {
    struct store_case *test;
    struct random random;
    struct model_row *rows;
    size_t row_count;
    struct model_bucket buckets[BUCKETS_MOST];
    size_t bucket_count;
    size_t known[2][IDS]; /* index of the row that an id leads to */
    struct mark marks[2][MARKS_MOST];
    size_t mark_count[2];
    struct skip skips[2][MARKS_MOST];
    size_t skip_count[2];
    int64_t next_offset[2];
    uint32_t length_most;
};

static struct record_id id_of(size_t number)
{
    return number == 0 ? RECORD_ID_NONE : (struct record_id){number * UINT64_C(0x9E3779B97F4A7C15), number % 3};
}

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
                                  random_below(&model->random, 3) == 0 ? 0 : random_below(&model->random, IDS),
                                  (int64_t)random_below(&model->random, 1000) - 1,
                                  false};
        model->next_offset[slot] += 1 + (int64_t)random_below(&model->random, 3);
        store_case_put(model->test, row->bucket, row->offset, due, row->ref);
        store_case_name(model->test, id_of(row->id), row->root);
        model->known[slot][row->id] = model->row_count - 1;
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

static void remove_row(struct model *model, size_t index)
{
    struct model_row *row = &model->rows[index];
    row->gone = true;
    count_out(model, row);
    if (model->known[row->slot][row->id] == index) {
        model->known[row->slot][row->id] = NO_ROW;
    }
}

/* The least offset becomes that of the first row there is. */
static void settle(struct model *model, slot_index slot, struct bucket_id id, size_t rows_before)
{
    for (size_t i = 0; i < rows_before; i++) {
        if (is_in(&model->rows[i], slot, id)) {
            bucket_of(model, slot, id)->stats.least_offset = model->rows[i].offset;
            return;
        }
    }
}

static void trim_one(struct model *model, slot_index slot, size_t rows_before)
{
    struct bucket_id id = some_bucket(model, slot);
    int64_t below = (int64_t)random_below(&model->random, (uint64_t)model->next_offset[slot] + 1);
    uint32_t most = (uint32_t)random_below(&model->random, 40);
    store_case_trim(model->test, id, below, most);
    for (size_t i = 0; i < rows_before && most > 0; i++) {
        if (is_in(&model->rows[i], slot, id) && model->rows[i].offset < below) {
            remove_row(model, i);
            most--;
        }
    }
    settle(model, slot, id, rows_before);
}

/* Any row that ever was, with a wrong due now and then. */
static void erase_one(struct model *model, slot_index slot, size_t rows_before)
{
    size_t i = rows_before == 0 ? 0 : (size_t)random_below(&model->random, rows_before);
    if (rows_before == 0 || model->rows[i].slot != slot) {
        return;
    }
    bool wrong = random_below(&model->random, 10) == 0;
    store_case_erase(model->test, model->rows[i].bucket.lane, model->rows[i].due_ms + (wrong ? 1 : 0),
                     model->rows[i].offset);
    if (!wrong && !model->rows[i].gone) {
        remove_row(model, i);
        settle(model, slot, model->rows[i].bucket, rows_before);
    }
}

static void mark_some(struct model *model, slot_index slot)
{
    if (random_below(&model->random, 3) > 0) { /* else those of before again */
        model->mark_count[slot] = (size_t)random_below(&model->random, MARKS_MOST);
        model->skip_count[slot] = (size_t)random_below(&model->random, MARKS_MOST);
        for (size_t i = 0; i < MARKS_MOST; i++) {
            int64_t offset = (int64_t)(i * 10 + random_below(&model->random, 3));
            model->marks[slot][i] = (struct mark){id_of(i % 7 + 1), offset, (int64_t)random_below(&model->random, 2)};
            model->skips[slot][i] = (struct skip){offset, (int64_t)random_below(&model->random, 3)};
        }
    }
    store_case_marks(model->test, model->marks[slot], model->mark_count[slot]);
    store_case_skips(model->test, model->skips[slot], model->skip_count[slot]);
}

static void drop_one(struct model *model, slot_index slot, size_t rows_before)
{
    struct bucket_id id = some_bucket(model, slot);
    store_case_drop(model->test, id);
    for (size_t i = 0; i < rows_before; i++) {
        if (is_in(&model->rows[i], slot, id)) {
            remove_row(model, i);
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

static void assert_ids(struct model *model, slot_index slot)
{
    for (size_t number = 1; number < IDS; number++) {
        struct stored_event event = store_case_find(model->test, slot, id_of(number));
        size_t index = model->known[slot][number];
        if (index == NO_ROW) {
            assert_int_equal(event.offset, -1);
            continue;
        }
        const struct model_row *row = &model->rows[index];
        assert_int_equal(event.offset, row->offset);
        assert_int_equal(event.due_ms, row->due_ms);
        assert_int_equal(event.root, row->root);
        assert_int_equal(event.bytes, row->ref >> 32);
        assert_int_equal(event.lane, row->bucket.lane);
    }
}

static void assert_marks(const struct model *model, slot_index slot, const struct store_partition *partition)
{
    assert_int_equal(partition->mark_count, model->mark_count[slot]);
    assert_int_equal(partition->skip_count, model->skip_count[slot]);
    for (size_t i = 0; i < partition->mark_count; i++) {
        assert_memory_equal(&partition->marks[i], &model->marks[slot][i], sizeof(struct mark));
    }
    for (size_t i = 0; i < partition->skip_count; i++) {
        assert_memory_equal(&partition->skips[i], &model->skips[slot][i], sizeof(struct skip));
    }
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
    assert_marks(model, slot, &partition);
    assert_ids(model, slot);
    free(partition.buckets);
    free(partition.marks);
    free(partition.skips);
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
    for (uint64_t i = random_below(&model->random, 3); i > 0; i--) {
        trim_one(model, slot, before);
    }
    for (uint64_t i = random_below(&model->random, 30); i > 0; i--) {
        erase_one(model, slot, before);
    }
    for (uint64_t i = random_below(&model->random, 4); i > 0; i--) {
        split_one(model, slot, before);
    }
    put_some(model, slot);
    mark_some(model, slot);
    for (size_t i = before; i < model->row_count; i++) {
        count_in(model, &model->rows[i]);
    }
    store_case_write(model->test, slot, model->next_offset[slot]);
    for (size_t i = 0; i < model->test->result.touched_count; i++) {
        const struct bucket_stats *stats = &model->test->result.touched[i].stats;
        assert_int_equal(stats->count, bucket_of(model, slot, stats->id)->stats.count);
        assert_int_equal(stats->bytes, bucket_of(model, slot, stats->id)->stats.bytes);
        assert_true(stats->count == 0 ||
                    stats->least_offset == bucket_of(model, slot, stats->id)->stats.least_offset);
    }
    assert_ids(model, slot);
}

static void run_seed(uint64_t seed, uint32_t length_most)
{
    struct model *model = memory_new(1, sizeof(*model));
    model->rows = memory_new(ROWS_MOST, sizeof(*model->rows));
    model->random = random_new(seed);
    for (size_t i = 0; i < IDS; i++) {
        model->known[0][i] = NO_ROW;
        model->known[1][i] = NO_ROW;
    }
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
