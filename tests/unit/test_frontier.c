/* The frontier against a set of records that are done. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/random.h"
#include "scheduler/frontier.h"

#define DUES 8
#define OFFSETS 14

/* Every record there can be in a small world; done[d][o] is what some pair has ever said. */
struct world {
    bool done[DUES][OFFSETS];
};

static void say(struct world *world, struct frontier_pair pair)
{
    for (int64_t due = 0; due < DUES; due++) {
        for (int64_t offset = 0; offset < OFFSETS; offset++) {
            bool covered = offset < pair.cut && key_compare((struct key){due, offset}, pair.point) <= 0;
            world->done[due][offset] = world->done[due][offset] || covered;
        }
    }
}

static void expect_same(const struct world *world, const struct frontier *frontier)
{
    for (int64_t due = 0; due < DUES; due++) {
        for (int64_t offset = 0; offset < OFFSETS; offset++) {
            assert_int_equal(frontier_done(frontier, offset, due), world->done[due][offset]);
        }
    }
}

static struct key random_key(struct random *random)
{
    if (random_below(random, 10) == 0) {
        return KEY_LEAST;
    }
    return (struct key){random_between(random, 0, DUES - 1), random_between(random, 0, OFFSETS - 1)};
}

static struct frontier_pair random_pair(struct random *random)
{
    return (struct frontier_pair){random_key(random), random_between(random, 0, OFFSETS)};
}

static void check_pairs(const struct frontier *frontier, struct random *random)
{
    struct frontier_pair pair = random_pair(random);
    struct world alone = {{{false}}};
    say(&alone, pair);
    bool covered = frontier_covers_pair(frontier, pair);
    for (int64_t due = 0; covered && due < DUES; due++) {
        for (int64_t offset = 0; offset < OFFSETS; offset++) {
            assert_true(!alone.done[due][offset] || frontier_done(frontier, offset, due));
        }
    }
    assert_true(frontier_covers_pair(frontier, frontier->live));
    assert_int_equal(frontier_covers_point(frontier, pair.point), key_compare(pair.point, frontier->live.point) <= 0);
    assert_true(frontier->old_count <= FRONTIER_PAIRS_MAX);
    for (size_t i = 0; i < frontier->old_count; i++) { /* none is kept for nothing */
        assert_true(key_compare(frontier->old[i].point, frontier->live.point) > 0 ||
                    frontier->old[i].cut > frontier->live.cut);
    }
}

static void advance(struct frontier *frontier, struct world *world, struct random *random)
{
    struct frontier before = *frontier;
    struct frontier_pair pair = random_pair(random);
    frontier_advance(frontier, pair.point, pair.cut);
    assert_true(key_compare(frontier->live.point, before.live.point) >= 0 && frontier->live.cut >= before.live.cut);
    assert_true(key_compare(frontier->live.point, pair.point) >= 0 && frontier->live.cut >= pair.cut);
    say(world, frontier->live);
}

static void step_back(struct frontier *frontier)
{
    struct frontier before = *frontier;
    bool nothing = key_compare(before.live.point, KEY_LEAST) == 0;
    bool stepped = frontier_step_back(frontier);
    assert_int_equal(stepped, nothing || before.old_count < FRONTIER_PAIRS_MAX);
    if (stepped) {
        assert_int_equal(key_compare(frontier->live.point, KEY_LEAST), 0);
        assert_int_equal(frontier->live.cut, before.live.cut);
        assert_int_equal(frontier->old_count, before.old_count + !nothing);
    } else {
        assert_true(frontier_equal(&before, frontier));
    }
}

static void test_nothing_done_is_ever_forgotten(void **state)
{
    (void)state;
    struct random random = random_new(31);
    for (unsigned round = 0; round < 5000; round++) {
        struct frontier frontier = frontier_fresh(random_between(&random, 0, 3));
        struct world world = {{{false}}};
        for (unsigned i = 0; i < 12; i++) {
            if (random_below(&random, 3) == 0) {
                step_back(&frontier);
            } else {
                advance(&frontier, &world, &random);
            }
            expect_same(&world, &frontier);
            check_pairs(&frontier, &random);
        }
    }
}

static void test_adoption(void **state)
{
    (void)state;
    struct random random = random_new(32);
    unsigned adopted = 0;
    for (unsigned round = 0; round < 20000; round++) {
        struct frontier frontier = frontier_of(random_pair(&random));
        struct world world = {{{false}}};
        say(&world, frontier.live);
        (void)(random_below(&random, 2) == 0 && frontier_step_back(&frontier));
        struct key unfinished = {random_between(&random, 0, DUES), random_between(&random, 0, OFFSETS)};
        struct frontier_pair pair = random_pair(&random);
        bool behind = key_compare(pair.point, frontier.live.point) < 0 || pair.cut < frontier.live.cut;
        assert_int_equal(frontier_can_adopt(&frontier, pair, NULL), !behind);
        bool can = frontier_can_adopt(&frontier, pair, &unfinished);
        assert_int_equal(can, !behind && key_compare(pair.point, unfinished) < 0);
        if (can) {
            adopted++;
            frontier_adopt(&frontier, pair);
            assert_true(frontier_pair_equal(frontier.live, pair));
            say(&world, pair);
            expect_same(&world, &frontier);
            assert_false(unfinished.due_ms < DUES && unfinished.offset < OFFSETS && unfinished.offset < pair.cut &&
                         key_compare(unfinished, pair.point) <= 0);
        }
    }
    assert_true(adopted > 500);
}

static void test_fresh(void **state)
{
    (void)state;
    struct frontier frontier = frontier_fresh(100);
    assert_false(frontier_done(&frontier, 0, 0));
    assert_false(frontier_done(&frontier, 99, DUE_SINCE_EVER));
    assert_int_equal(frontier.live.cut, 100);
    struct frontier same = frontier_of((struct frontier_pair){KEY_LEAST, 100});
    assert_true(frontier_equal(&frontier, &same));
    frontier_advance(&same, KEY_LEAST, 101);
    assert_false(frontier_equal(&frontier, &same));
    assert_true(frontier_covers_pair(&same, frontier.live));
    assert_false(frontier_covers_pair(&frontier, same.live));
}

static void test_equality_looks_at_old_pairs(void **state)
{
    (void)state;
    struct frontier a = frontier_of((struct frontier_pair){{5, 5}, 10});
    struct frontier b = frontier_of((struct frontier_pair){{5, 6}, 10});
    assert_false(frontier_equal(&a, &b));
    assert_true(frontier_step_back(&a));
    assert_true(frontier_step_back(&b));
    assert_true(frontier_pair_equal(a.live, b.live));
    assert_false(frontier_equal(&a, &b));
    b = a;
    assert_true(frontier_equal(&a, &b));
    b.old_count = 0;
    assert_false(frontier_equal(&a, &b));
}

static void test_bucket_done(void **state)
{
    (void)state;
    struct bucket_stats stats = {
        .id = {0, 0, 3}, .count = 2, .least_offset = 40, .last_offset = 50, .greatest = {30000, 45}};
    struct frontier frontier = frontier_of((struct frontier_pair){{30000, 45}, 51});
    assert_true(frontier_bucket_done(&frontier, &stats));
    frontier.live.cut = 50;
    assert_false(frontier_bucket_done(&frontier, &stats));
    frontier = frontier_of((struct frontier_pair){{30000, 44}, 51});
    assert_false(frontier_bucket_done(&frontier, &stats));
    frontier = frontier_of((struct frontier_pair){{30001, -1}, 51});
    assert_true(frontier_bucket_done(&frontier, &stats));
    assert_true(frontier_step_back(&frontier));
    assert_true(frontier_bucket_done(&frontier, &stats)); /* the old pair still says so */
    frontier = frontier_fresh(1000);
    assert_false(frontier_bucket_done(&frontier, &stats));
    stats.count = 0;
    assert_true(frontier_bucket_done(&frontier, &stats));
}

/* A bucket with some records, and its statistics. */
static size_t fill_bucket(struct random *random, struct key keys[4], struct bucket_stats *stats)
{
    *stats = (struct bucket_stats){.least_offset = INT64_MAX, .last_offset = -1, .greatest = KEY_LEAST};
    for (int64_t offset = 0; offset < OFFSETS && stats->count < 4; offset++) {
        if (random_below(random, 4) == 0) {
            struct key key = {random_between(random, 0, DUES - 1), offset};
            keys[stats->count++] = key;
            stats->least_offset = offset < stats->least_offset ? offset : stats->least_offset;
            stats->last_offset = offset;
            stats->greatest = key_compare(key, stats->greatest) > 0 ? key : stats->greatest;
        }
    }
    return stats->count;
}

static bool one_pair_covers_all(const struct frontier *frontier, const struct key *keys, size_t count)
{
    for (size_t i = 0; i <= frontier->old_count; i++) {
        struct frontier alone = frontier_of(i == 0 ? frontier->live : frontier->old[i - 1]);
        size_t covered = 0;
        for (size_t j = 0; j < count; j++) {
            covered += frontier_done(&alone, keys[j].offset, keys[j].due_ms);
        }
        if (covered == count) {
            return true;
        }
    }
    return false;
}

static void test_bucket_done_means_every_record(void **state)
{
    (void)state;
    struct random random = random_new(33);
    unsigned done_count = 0;
    for (unsigned round = 0; round < 30000; round++) {
        struct key keys[4];
        struct bucket_stats stats;
        size_t count = fill_bucket(&random, keys, &stats);
        struct frontier frontier = frontier_fresh(0);
        for (unsigned i = 0; i < 4; i++) {
            struct frontier_pair pair = random_pair(&random);
            frontier_advance(&frontier, pair.point, pair.cut);
            (void)(random_below(&random, 2) == 0 && frontier_step_back(&frontier));
        }
        bool done = frontier_bucket_done(&frontier, &stats);
        assert_int_equal(done, one_pair_covers_all(&frontier, keys, count));
        for (size_t i = 0; done && i < count; i++) {
            assert_true(frontier_done(&frontier, keys[i].offset, keys[i].due_ms));
        }
        done_count += done;
    }
    assert_in_range(done_count, 3000, 27000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nothing_done_is_ever_forgotten),
        cmocka_unit_test(test_adoption),
        cmocka_unit_test(test_fresh),
        cmocka_unit_test(test_equality_looks_at_old_pairs),
        cmocka_unit_test(test_bucket_done),
        cmocka_unit_test(test_bucket_done_means_every_record),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
