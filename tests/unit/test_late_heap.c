/* The late heap against a search through all. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/random.h"
#include "scheduler/late_heap.h"

#define MOST 600

static struct late_entry model[MOST];
static size_t model_count;
static uint64_t model_bytes;

static size_t model_least(void)
{
    size_t least = 0;
    for (size_t i = 1; i < model_count; i++) {
        least = model[i].key.offset < model[least].key.offset ? i : least;
    }
    return least;
}

static void add(struct late_heap *heap, struct random *random, int64_t offset)
{
    struct key key = {random_between(random, 0, 50), offset};
    uint32_t bytes = (uint32_t)random_below(random, 1000);
    late_heap_add(heap, key, bytes);
    model[model_count++] = (struct late_entry){key, bytes};
    model_bytes += bytes;
}

static void take(struct late_heap *heap)
{
    struct late_entry taken = {{-1, -1}, 0};
    const struct late_entry *peeked = late_heap_peek(heap);
    assert_int_equal(peeked != NULL, model_count > 0);
    assert_int_equal(late_heap_take_least(heap, &taken), model_count > 0);
    if (model_count > 0) {
        size_t least = model_least();
        assert_int_equal(key_compare(taken.key, model[least].key), 0);
        assert_int_equal(taken.bytes, model[least].bytes);
        model_bytes -= taken.bytes;
        model[least] = model[--model_count];
    }
}

static void check_dues(const struct late_heap *heap, int64_t now_ms)
{
    int64_t least = TIME_NEVER;
    uint32_t due = 0;
    for (size_t i = 0; i < model_count; i++) {
        least = model[i].key.due_ms < least ? model[i].key.due_ms : least;
        due += model[i].key.due_ms <= now_ms;
    }
    assert_int_equal(late_heap_least_due(heap), least);
    assert_int_equal(late_heap_count_due(heap, now_ms), due);
}

static void test_against_a_search(void **state)
{
    (void)state;
    struct late_heap heap = late_heap_new();
    struct random random = random_new(21);
    int64_t up = 0;
    int64_t down = -1;
    for (unsigned i = 0; i < 60000; i++) {
        uint64_t add_percent = i / 5000 % 2 == 0 ? 65 : 35; /* grows, then shrinks */
        if (model_count < MOST && random_below(&random, 100) < add_percent) {
            add(&heap, &random, random_below(&random, 4) == 0 ? down-- : up++);
        } else {
            take(&heap);
        }
        assert_int_equal(heap.count, model_count);
        assert_int_equal(heap.bytes, model_bytes);
        if (i % 100 == 0) {
            late_heap_validate(&heap);
            check_dues(&heap, random_between(&random, -1, 51));
        }
    }
    while (model_count > 0) {
        take(&heap);
    }
    take(&heap);
    assert_null(late_heap_peek(&heap));
    assert_true(heap.capacity <= 64); /* memory of a bad day is given back */
    late_heap_free(&heap);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_against_a_search),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
