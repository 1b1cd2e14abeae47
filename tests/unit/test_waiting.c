/* dlq/waiting: order of time, one letter for each id, and a long run against a plain model. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dlq/waiting.h"

static struct waiting_entry entry(uint64_t id, int64_t not_before_ms, uint64_t sequence, uint32_t attempt)
{
    return (struct waiting_entry){.not_before_ms = not_before_ms, .sequence = sequence, .id = {id, ~id}, .attempt = attempt};
}

static enum waiting_result put(struct waiting *waiting, struct waiting_entry one, struct waiting_entry *removed)
{
    struct waiting_entry unused;
    return waiting_put(waiting, &one, removed == NULL ? &unused : removed);
}

static void test_ids(void **state)
{
    (void)state;
    struct waiting_id id = waiting_id_of("0123456789abcdeffedcba9876543210");
    assert_int_equal(id.high, 0x0123456789abcdefu);
    assert_int_equal(id.low, 0xfedcba9876543210u);
    struct waiting_id odd = waiting_id_of("x");
    struct waiting_id other = waiting_id_of("y");
    assert_true(odd.high != other.high && odd.low != other.low);
    struct waiting_id upper = waiting_id_of("0123456789ABCDEFfedcba9876543210");
    assert_true(upper.high != id.high);
}

static void test_order(void **state)
{
    (void)state;
    struct waiting *waiting = waiting_new(10);
    struct waiting_entry first;
    assert_false(waiting_first(waiting, &first));
    assert_int_equal(put(waiting, entry(1, 300, 1, 1), NULL), WAITING_PUT);
    assert_int_equal(put(waiting, entry(2, 100, 3, 1), NULL), WAITING_PUT);
    assert_int_equal(put(waiting, entry(3, 100, 2, 1), NULL), WAITING_PUT);
    assert_true(waiting_first(waiting, &first));
    assert_int_equal(first.sequence, 2);
    assert_false(waiting_take(waiting, 99, &first));
    assert_true(waiting_take(waiting, 100, &first));
    assert_int_equal(first.sequence, 2);
    assert_true(waiting_take(waiting, 100, &first));
    assert_int_equal(first.sequence, 3);
    assert_false(waiting_take(waiting, 299, &first));
    assert_int_equal(waiting_count(waiting), 1);
    assert_true(waiting_sound(waiting));
    waiting_clear(waiting);
    assert_int_equal(waiting_count(waiting), 0);
    assert_false(waiting_find(waiting, (struct waiting_id){1, ~1ull}, &first));
    waiting_free(waiting);
}

static void test_later_letter_takes_the_place(void **state)
{
    (void)state;
    struct waiting *waiting = waiting_new(10);
    struct waiting_entry removed;
    struct waiting_entry found;
    assert_int_equal(put(waiting, entry(7, 100, 1, 1), NULL), WAITING_PUT);
    assert_int_equal(put(waiting, entry(7, 100, 1, 1), NULL), WAITING_KNOWN);
    assert_int_equal(put(waiting, entry(7, 500, 2, 2), &removed), WAITING_REPLACED);
    assert_int_equal(removed.sequence, 1);
    assert_int_equal(put(waiting, entry(7, 100, 3, 1), NULL), WAITING_OUTDATED);
    assert_int_equal(put(waiting, entry(7, 500, 4, 2), NULL), WAITING_OUTDATED); /* the same one again */
    assert_true(waiting_find(waiting, (struct waiting_id){7, ~7ull}, &found));
    assert_int_equal(found.sequence, 2);
    struct waiting_entry replayed = entry(7, 50, 5, 1);
    replayed.replays = 1;
    assert_int_equal(put(waiting, replayed, &removed), WAITING_REPLACED);
    assert_int_equal(removed.sequence, 2);
    assert_int_equal(waiting_count(waiting), 1);
    assert_true(waiting_remove(waiting, (struct waiting_id){7, ~7ull}));
    assert_false(waiting_remove(waiting, (struct waiting_id){7, ~7ull}));
    assert_true(waiting_sound(waiting));
    waiting_free(waiting);
}

static void test_full(void **state)
{
    (void)state;
    struct waiting *waiting = waiting_new(2);
    struct waiting_entry removed;
    assert_int_equal(put(waiting, entry(1, 1, 1, 1), NULL), WAITING_PUT);
    assert_int_equal(put(waiting, entry(2, 2, 2, 1), NULL), WAITING_PUT);
    assert_int_equal(put(waiting, entry(3, 3, 3, 1), NULL), WAITING_FULL);
    assert_int_equal(put(waiting, entry(2, 9, 4, 2), &removed), WAITING_REPLACED); /* takes no more room */
    assert_true(waiting_take(waiting, 1, &removed));
    assert_int_equal(put(waiting, entry(3, 3, 3, 1), NULL), WAITING_PUT);
    waiting_free(waiting);
}

/* ------------------------------------------------------------------------------------------------- against a model */

#define IDS 700

struct model {
    struct waiting_entry entries[IDS];
    bool there[IDS];
    size_t count;
};

static const struct waiting_entry *model_first(const struct model *model)
{
    const struct waiting_entry *first = NULL;
    for (size_t i = 0; i < IDS; i++) {
        const struct waiting_entry *one = &model->entries[i];
        if (model->there[i] && (first == NULL || one->not_before_ms < first->not_before_ms ||
                                (one->not_before_ms == first->not_before_ms && one->sequence < first->sequence))) {
            first = one;
        }
    }
    return first;
}

static uint64_t scatter(size_t index)
{
    return (uint64_t)(index % 50) << 40 | index; /* many that begin in the same cell */
}

static void model_put(struct model *model, struct waiting *waiting, size_t index, struct waiting_entry one)
{
    struct waiting_entry *old = &model->entries[index];
    enum waiting_result expected = !model->there[index]            ? WAITING_PUT
                                   : one.attempt > old->attempt ? WAITING_REPLACED
                                                                : WAITING_OUTDATED;
    struct waiting_entry removed;
    assert_int_equal(waiting_put(waiting, &one, &removed), expected);
    if (expected == WAITING_REPLACED) {
        assert_int_equal(removed.sequence, old->sequence);
    }
    if (expected != WAITING_OUTDATED) {
        model->count += expected == WAITING_PUT;
        *old = one;
        model->there[index] = true;
    }
}

static void model_take(struct model *model, struct waiting *waiting, int64_t now_ms)
{
    const struct waiting_entry *first = model_first(model);
    struct waiting_entry taken;
    bool due = first != NULL && first->not_before_ms <= now_ms;
    assert_int_equal(waiting_take(waiting, now_ms, &taken), due);
    if (due) {
        assert_int_equal(taken.sequence, first->sequence);
        model->there[first - model->entries] = false;
        model->count--;
    }
}

static void test_against_model(void **state)
{
    (void)state;
    static struct model model;
    struct waiting *waiting = waiting_new(IDS);
    uint64_t random = 42;
    for (uint64_t step = 1; step <= 40000; step++) {
        random = random * 6364136223846793005u + 1442695040888963407u;
        size_t index = (size_t)(random >> 33) % IDS;
        uint32_t what = (uint32_t)(random >> 20) % 10;
        struct waiting_entry one = entry(0, (int64_t)(random >> 40) % 1000, step, (uint32_t)(random >> 50) % 5 + 1);
        one.id = (struct waiting_id){scatter(index), 0};
        if (what < 6) {
            model_put(&model, waiting, index, one);
        } else if (what < 9) {
            model_take(&model, waiting, (int64_t)(step % 1200));
        } else {
            assert_int_equal(waiting_remove(waiting, one.id), model.there[index]);
            model.count -= model.there[index];
            model.there[index] = false;
        }
        assert_int_equal(waiting_count(waiting), model.count);
        if (step % 100 == 0) {
            assert_true(waiting_sound(waiting));
        }
    }
    waiting_free(waiting);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ids),
        cmocka_unit_test(test_order),
        cmocka_unit_test(test_later_letter_takes_the_place),
        cmocka_unit_test(test_full),
        cmocka_unit_test(test_against_model),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
