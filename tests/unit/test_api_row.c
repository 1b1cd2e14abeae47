/* One row of a real checkpoint, by its id and by its offset. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ops/api_get_row.h"
#include "tests/support/list_scene.h"

#define DAY INT64_C(86400000)

static int setup(void **state)
{
    struct list_scene *scene = list_scene_new();
    for (int i = 0; i < 300; i++) {
        struct list_scene_row *row = list_scene_add(scene, (uint32_t)(i % LIST_SCENE_PLACES), LIST_SCENE_NOW + i * DAY / 20);
        row->lane = i % 2 == 0 ? LIST_SCENE_DEFAULT : LIST_SCENE_ORDERS;
        row->level = (uint8_t)(i % 3);
    }
    list_scene_write(scene);
    *state = scene;
    return 0;
}

static int teardown(void **state)
{
    list_scene_free(*state);
    return 0;
}

/* What happens between two slices. */
struct meanwhile {
    struct list_scene *scene;
    struct list_scene_row *split; /* NULL: nothing */
    struct list_scene_row *erased;
    bool stops;
    int slices;
};

static bool between(void *context)
{
    struct meanwhile *meanwhile = context;
    meanwhile->slices++;
    if (meanwhile->split != NULL) {
        list_scene_split(meanwhile->scene, meanwhile->split, 1);
        meanwhile->split = NULL;
    }
    if (meanwhile->erased != NULL) {
        list_scene_erase(meanwhile->scene, meanwhile->erased);
        meanwhile->erased = NULL;
    }
    return meanwhile->stops;
}

static struct api_get_row_options options_of(uint32_t slice_buckets, size_t buckets, struct meanwhile *meanwhile)
{
    return (struct api_get_row_options){
        .end_ms = INT64_MAX, .slice_ms = 20000, .slice_buckets = slice_buckets, .buckets = buckets, .stopping = between, .context = meanwhile};
}

static bool look_for(struct list_scene *scene, const struct api_list_place *place, int64_t offset, struct api_get_row *row)
{
    struct error error;
    struct meanwhile nothing = {.scene = scene};
    struct api_get_row_options options = options_of(1000, 1000, &nothing);
    return api_get_row_by_offset(scene->store, place, offset, &options, row, &error);
}

static void expect(struct list_scene *scene, const struct list_scene_row *wanted)
{
    static const char *const lanes[] = {"default", "_refused", "_undecided", "orders"};
    struct api_get_row row;
    assert_true(look_for(scene, &scene->places[wanted->place], wanted->offset, &row));
    assert_non_null(row.bytes);
    assert_int_equal(row.key.offset, wanted->offset);
    assert_int_equal(row.key.due_ms, wanted->due_ms);
    assert_string_equal(row.lane, lanes[wanted->lane]);
    assert_int_equal(row.length, wanted->length);
    assert_memory_equal(row.bytes, wanted->bytes, row.length);
    free(row.bytes);
}

static void expect_none(struct list_scene *scene, const struct api_list_place *place, int64_t offset)
{
    struct api_get_row row;
    assert_true(look_for(scene, place, offset, &row));
    assert_null(row.bytes);
}

static void test_each_by_its_offset(void **state)
{
    struct list_scene *scene = *state;
    for (size_t i = 0; i < scene->count; i++) {
        expect(scene, &scene->rows[i]);
    }
}

static void test_none_is_there(void **state)
{
    struct list_scene *scene = *state;
    struct api_list_place other = {.topic = "nowhere", .partition = 0};
    expect_none(scene, &scene->places[0], scene->rows[1].offset); /* of another partition */
    expect_none(scene, &scene->places[0], 100000);
    expect_none(scene, &other, scene->rows[0].offset);
}

static void test_after_a_split_and_an_erase(void **state)
{
    struct list_scene *scene = *state;
    struct list_scene_row *coarse = &scene->rows[2];
    assert_int_equal(coarse->level, 2);
    list_scene_split(scene, coarse, 1);
    for (size_t i = 0; i < 20; i++) {
        expect(scene, &scene->rows[i]);
    }
    list_scene_erase(scene, &scene->rows[7]);
    expect_none(scene, &scene->places[scene->rows[7].place], scene->rows[7].offset);
    expect(scene, &scene->rows[10]);
}

#define CROWD 20

/* A row behind buckets that each have held something on both sides of it. It is written. */
static struct list_scene_row *add_crowded(struct list_scene *scene, int64_t days)
{
    struct list_scene_row *wanted = NULL;
    for (int side = 0; side < 2; side++) {
        for (int i = 0; i < CROWD; i++) {
            list_scene_add(scene, 0, LIST_SCENE_NOW - (i + 3) * DAY)->level = (uint8_t)(i % 3);
        }
        if (side == 0) {
            wanted = list_scene_add(scene, 0, LIST_SCENE_NOW + days * DAY);
            wanted->level = 2;
        }
    }
    list_scene_write(scene);
    return wanted;
}

/* With room for a few buckets, and slices of a few: memory is bounded and no snapshot is held for long. */
static void test_in_slices(void **state)
{
    struct list_scene *scene = *state;
    const struct list_scene_row *wanted = add_crowded(scene, 1000);
    for (uint32_t slice = 1; slice <= CROWD + 1; slice++) {
        for (size_t buckets = 1; buckets <= CROWD + 1; buckets++) {
            struct meanwhile meanwhile = {.scene = scene};
            struct api_get_row_options options = options_of(slice, buckets, &meanwhile);
            struct api_get_row row;
            struct error error;
            assert_true(api_get_row_by_offset(scene->store, &scene->places[0], wanted->offset, &options, &row, &error));
            assert_non_null(row.bytes);
            assert_int_equal(row.key.offset, wanted->offset);
            assert_int_equal(meanwhile.slices, CROWD / slice);
            free(row.bytes);
        }
    }
}

/* It goes to a finer bucket, or is gone, before its bucket's turn has come. */
static void test_moved_between_slices(void **state)
{
    struct list_scene *scene = *state;
    struct list_scene_row *wanted = add_crowded(scene, 2000);
    struct meanwhile meanwhile = {.scene = scene, .split = wanted};
    struct api_get_row_options options = options_of(3, 2 * CROWD, &meanwhile);
    struct api_get_row row;
    struct error error;
    assert_true(api_get_row_by_offset(scene->store, &scene->places[0], wanted->offset, &options, &row, &error));
    assert_null(meanwhile.split);
    assert_int_equal(wanted->level, 1);
    assert_non_null(row.bytes);
    free(row.bytes);
    meanwhile.erased = wanted;
    assert_true(api_get_row_by_offset(scene->store, &scene->places[0], wanted->offset, &options, &row, &error));
    assert_null(row.bytes);
}

static void test_given_up(void **state)
{
    struct list_scene *scene = *state;
    const struct list_scene_row *wanted = add_crowded(scene, 3000);
    struct meanwhile meanwhile = {.scene = scene};
    struct api_get_row_options options = options_of(1, 1, &meanwhile);
    struct api_get_row row;
    struct error error;
    options.end_ms = 0;
    assert_false(api_get_row_by_offset(scene->store, &scene->places[0], wanted->offset, &options, &row, &error));
    assert_int_equal(error.code, ERROR_UNAVAILABLE);
    assert_non_null(strstr(error.text, "took too long"));
    options.end_ms = INT64_MAX;
    meanwhile.stops = true;
    assert_false(api_get_row_by_offset(scene->store, &scene->places[0], wanted->offset, &options, &row, &error));
    assert_non_null(strstr(error.text, "stopping"));
    assert_null(row.bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_by_its_offset),
        cmocka_unit_test(test_none_is_there),
        cmocka_unit_test(test_after_a_split_and_an_erase),
        cmocka_unit_test(test_in_slices),
        cmocka_unit_test(test_moved_between_slices),
        cmocka_unit_test(test_given_up),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
