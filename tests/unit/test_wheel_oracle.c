/* The timing wheel against a sorted list, over millions of random steps. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"
#include "base/random.h"
#include "scheduler/wheel.h"

#define MOST 1500
#define STEPS_PER_EPISODE 20000
#define EPISODES 200 /* 4 million steps */

struct item {
    struct key key;
    uint32_t bytes;
    entry_index index;
};

struct world {
    struct random random;
    struct entry_pool pool;
    struct wheel wheel;
    struct item items[MOST]; /* sorted by key */
    size_t count;
    uint64_t bytes;
    int64_t ascending;  /* even offsets */
    int64_t descending; /* odd offsets */
    /* of the episode */
    uint64_t spread;
    unsigned add_percent;
    unsigned descending_percent;
};

static size_t place_of(const struct world *world, struct key key)
{
    size_t low = 0;
    size_t high = world->count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (key_compare(world->items[middle].key, key) < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

static void forget(struct world *world, size_t at)
{
    world->bytes -= world->items[at].bytes;
    memmove(&world->items[at], &world->items[at + 1], (world->count - at - 1) * sizeof(struct item));
    world->count--;
}

static int64_t random_due(struct world *world, int64_t from)
{
    uint64_t room = (uint64_t)(INT64_MAX - from);
    uint64_t spread = world->spread < room ? world->spread : room;
    if (world->count > 0 && random_below(&world->random, 4) == 0) {
        return world->items[random_below(&world->random, world->count)].key.due_ms; /* equal dues are common */
    }
    return from + (int64_t)(spread == 0 ? 0 : random_below(&world->random, spread + 1));
}

static void add(struct world *world, struct key key, uint32_t bytes)
{
    size_t at = place_of(world, key);
    memmove(&world->items[at + 1], &world->items[at], (world->count - at) * sizeof(struct item));
    world->items[at] = (struct item){key, bytes, wheel_add(&world->wheel, key, bytes)};
    world->count++;
    world->bytes += bytes;
}

static void step_add(struct world *world)
{
    if (world->count == MOST) {
        return;
    }
    bool descending = random_below(&world->random, 100) < world->descending_percent;
    int64_t offset = descending ? (world->descending -= 2) : (world->ascending += 2);
    struct key key = {random_due(world, wheel_base(&world->wheel)), offset};
    add(world, key, (uint32_t)random_below(&world->random, 5000));
}

static void step_take(struct world *world)
{
    struct entry taken;
    assert_int_equal(wheel_take_least(&world->wheel, &taken), world->count > 0);
    if (world->count > 0) {
        assert_int_equal(key_compare(entry_key(&taken), world->items[0].key), 0);
        assert_int_equal(taken.bytes, world->items[0].bytes);
        assert_int_equal(wheel_base(&world->wheel), taken.due_ms);
        forget(world, 0);
    }
}

static void step_remove(struct world *world)
{
    if (world->count > 0) {
        size_t at = random_below(&world->random, 3) == 0 ? 0 : random_below(&world->random, world->count);
        wheel_remove(&world->wheel, world->items[at].index);
        forget(world, at);
    }
}

static void step_peek(struct world *world)
{
    int64_t bound = wheel_next_bound(&world->wheel);
    assert_int_equal(bound, world->count == 0 ? TIME_NEVER : world->items[0].key.due_ms);
    struct key key;
    assert_int_equal(wheel_peek(&world->wheel, &key), world->count > 0);
    if (world->count > 0) {
        assert_int_equal(key_compare(key, world->items[0].key), 0);
        assert_true(wheel_greatest(&world->wheel, &key));
        assert_int_equal(key_compare(key, world->items[world->count - 1].key), 0);
    }
}

static void step_advance(struct world *world)
{
    int64_t most = world->count == 0 ? random_due(world, wheel_base(&world->wheel)) : world->items[0].key.due_ms;
    wheel_advance(&world->wheel, random_between(&world->random, wheel_base(&world->wheel), most));
}

static void step_count_due(struct world *world)
{
    int64_t base = wheel_base(&world->wheel);
    int64_t now = random_below(&world->random, 8) == 0 ? base - 1 : random_due(world, base);
    assert_int_equal(wheel_count_due(&world->wheel, now),
                     now == INT64_MAX ? world->count : place_of(world, (struct key){now + 1, INT64_MIN}));
}

static void step_trim(struct world *world)
{
    uint32_t keep = (uint32_t)random_below(&world->random, world->count + 10);
    struct key greatest = {-77, -77};
    uint32_t dropped = wheel_trim(&world->wheel, keep, &greatest);
    assert_int_equal(dropped, world->count > keep ? world->count - keep : 0);
    if (dropped == 0) {
        assert_int_equal(greatest.due_ms, -77);
        return;
    }
    for (size_t i = keep; i < world->count; i++) {
        world->bytes -= world->items[i].bytes;
    }
    world->count = keep;
    assert_int_equal(key_compare(greatest, keep == 0 ? KEY_LEAST : world->items[keep - 1].key), 0);
}

struct collected {
    struct item items[MOST];
    size_t count;
};

static void collect(const struct entry *entry, void *context)
{
    struct collected *collected = context;
    assert_true(collected->count < MOST);
    collected->items[collected->count++] = (struct item){entry_key(entry), entry->bytes, ENTRY_NONE};
}

/* All out, and back in with another base that may lie before the old one (R1's step back). */
static void step_rebuild(struct world *world)
{
    static struct collected collected;
    collected.count = 0;
    wheel_drain(&world->wheel, collect, &collected);
    assert_int_equal(wheel_count(&world->wheel), 0);
    assert_int_equal(collected.count, world->count);
    wheel_validate(&world->wheel);
    int64_t most = world->count == 0 ? wheel_base(&world->wheel) : world->items[0].key.due_ms;
    wheel_free(&world->wheel);
    wheel_init(&world->wheel, &world->pool, random_between(&world->random, most > 100000 ? most - 100000 : 0, most));
    size_t expected = world->count;
    world->count = 0;
    world->bytes = 0;
    for (size_t i = 0; i < collected.count; i++) {
        add(world, collected.items[i].key, collected.items[i].bytes);
    }
    assert_int_equal(world->count, expected);
}

static void check(const struct world *world)
{
    static struct collected collected;
    collected.count = 0;
    wheel_each(&world->wheel, collect, &collected);
    assert_int_equal(collected.count, world->count);
    wheel_validate(&world->wheel);
    entry_pool_validate(&world->pool);
    for (size_t i = 0; i < world->count; i++) {
        assert_int_equal(key_compare(entry_key(entry_at(&world->pool, world->items[i].index)), world->items[i].key), 0);
    }
}

static void step(struct world *world)
{
    uint64_t dice = random_below(&world->random, 10000);
    if (dice < 2) {
        step_rebuild(world);
    } else if (dice < 8) {
        step_trim(world);
    } else if (dice < 200) {
        step_advance(world);
    } else if (dice < 300) {
        step_count_due(world);
    } else if (dice < 2000) {
        step_peek(world);
    } else if (dice < 3000) {
        step_remove(world);
    } else if (random_below(&world->random, 100) < world->add_percent) {
        step_add(world);
    } else {
        step_take(world);
    }
    assert_int_equal(wheel_count(&world->wheel), world->count);
    assert_int_equal(wheel_bytes(&world->wheel), world->bytes);
    assert_int_equal(entry_pool_count(&world->pool), world->count);
}

static void start_episode(struct world *world, unsigned episode)
{
    static const uint64_t spreads[] = {
        0, 3, 40, 300, 5000, 70000, 20000000, UINT64_C(1) << 33, UINT64_C(1) << 45, INT64_MAX};
    static const int64_t bases[] = {0, 1, 255, 256, 65535, 1764425569123, INT64_MAX - 100000, INT64_MAX};
    world->spread = spreads[episode % 10];
    world->add_percent = (unsigned)random_between(&world->random, 35, 75);
    world->descending_percent = episode % 3 == 0 ? 20 : 1;
    world->count = 0;
    world->bytes = 0;
    wheel_init(&world->wheel, &world->pool, bases[random_below(&world->random, 8)]);
}

static void test_against_a_sorted_list(void **state)
{
    (void)state;
    struct world *world = memory_new(1, sizeof(*world));
    world->random = random_new(3);
    world->pool = entry_pool_new();
    world->descending = (INT64_C(1) << 40) + 1;
    for (unsigned episode = 0; episode < EPISODES; episode++) {
        start_episode(world, episode);
        for (unsigned i = 0; i < STEPS_PER_EPISODE; i++) {
            step(world);
            if (i % 500 == 0) {
                check(world);
            }
        }
        check(world);
        while (world->count > 0) {
            step_take(world);
        }
        wheel_free(&world->wheel);
    }
    entry_pool_free(&world->pool);
    free(world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_against_a_sorted_list),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
