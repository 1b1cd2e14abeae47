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

static void expect(struct list_scene *scene, const struct list_scene_row *wanted)
{
    static const char *const lanes[] = {"default", "_refused", "_undecided", "orders"};
    struct api_get_row row;
    struct error error;
    assert_true(api_get_row_by_offset(scene->store, &scene->places[wanted->place], wanted->offset, &row, &error));
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
    struct error error;
    assert_true(api_get_row_by_offset(scene->store, place, offset, &row, &error));
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_by_its_offset),
        cmocka_unit_test(test_none_is_there),
        cmocka_unit_test(test_after_a_split_and_an_erase),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
