/* The writer thread: plans go to the store and results come back, one at a time (run it under ThreadSanitizer). */
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/memory.h"
#include "ops/arena.h"
#include "ops/writer.h"
#include "support/store_case.h"

#define DUE INT64_C(1800000000000)
#define PATIENCE_MS 60000
#define PLANS 60
#define PLAN_ROWS 50

struct scene {
    struct store_case *test;
    struct writer *writer;
    struct arena arena;
    int wake_fd;
    /* The plan under construction: two slots. */
    struct checkpoint_slot slots[2];
    struct checkpoint_row rows[2][PLAN_ROWS];
    struct checkpoint_plan plan;
    const char *texts[2];
};

static int setup(void **state)
{
    struct scene *scene = memory_new(1, sizeof(*scene));
    struct error error = {0};
    scene->test = store_case_new();
    scene->test->max_size_bytes = (uint64_t)4 * 1024 * 1024;
    store_case_open(scene->test);
    scene->wake_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    scene->writer = writer_start(scene->test->store, scene->wake_fd, &error);
    assert_non_null(scene->writer);
    for (slot_index slot = 0; slot < 2; slot++) {
        scene->slots[slot] = (struct checkpoint_slot){.slot = slot, .epoch = slot + 1, .rows = scene->rows[slot]};
    }
    scene->plan = (struct checkpoint_plan){scene->slots, 2};
    scene->texts[0] = "text of slot 0";
    scene->texts[1] = "text of slot 1";
    *state = scene;
    return 0;
}

static int teardown(void **state)
{
    struct scene *scene = *state;
    writer_stop(scene->writer);
    close(scene->wake_fd);
    arena_free(&scene->arena);
    store_case_free(scene->test);
    free(scene);
    return 0;
}

/* `count` rows more for a slot, all in one bucket, each with bytes that say its offset. */
static void put_rows(struct scene *scene, slot_index slot, size_t count, size_t length)
{
    struct checkpoint_slot *part = &scene->slots[slot];
    uint8_t *bytes = memory_new(length, 1);
    part->row_count = count;
    for (size_t i = 0; i < count; i++) {
        int64_t offset = part->position++;
        memset(bytes, (int)(offset % 251), length);
        row_ref ref = arena_add(&scene->arena, (struct span){bytes, length});
        scene->rows[slot][i] =
            (struct checkpoint_row){store_case_bucket(0, 0, DUE), offset, DUE, ref, RECORD_ID_NONE, -1};
    }
    free(bytes);
}

static void release_rows(struct scene *scene)
{
    for (slot_index slot = 0; slot < 2; slot++) {
        for (size_t i = 0; i < scene->slots[slot].row_count; i++) {
            arena_release(&scene->arena, scene->rows[slot][i].ref);
        }
        scene->slots[slot].row_count = 0;
    }
}

static void await_wake(struct scene *scene)
{
    struct pollfd fd = {scene->wake_fd, POLLIN, 0};
    uint64_t count = 0;
    assert_int_equal(poll(&fd, 1, PATIENCE_MS), 1);
    assert_int_equal(read(scene->wake_fd, &count, sizeof(count)), sizeof(count));
    assert_int_equal(count, 1);
}

/* The result is there once the fd says so, and goes with being taken. */
static struct writer_result await_result(struct scene *scene)
{
    struct writer_result result;
    await_wake(scene);
    assert_true(writer_busy(scene->writer));
    assert_true(writer_take(scene->writer, &result));
    assert_false(writer_busy(scene->writer));
    return result;
}

static void assert_stored(struct scene *scene, slot_index slot, int64_t rows, const char *text)
{
    struct store_partition partition;
    struct error error = {0};
    assert_true(store_bind_slot(scene->test->store, slot, "t", (int32_t)slot, &partition, &error));
    assert_true(partition.found);
    assert_int_equal(partition.position, rows);
    assert_string_equal(partition.metadata, text);
    assert_int_equal(partition.bucket_count, rows == 0 ? 0 : 1);
    assert_true(rows == 0 || partition.buckets[0].count == (uint64_t)rows);
    free(partition.buckets);
}

static void test_idle(void **state)
{
    struct scene *scene = *state;
    struct writer_result result;
    assert_false(writer_busy(scene->writer));
    assert_false(writer_take(scene->writer, &result));
    writer_stop(NULL);
}

static void test_writes_a_plan(void **state)
{
    struct scene *scene = *state;
    put_rows(scene, 0, 3, 100);
    put_rows(scene, 1, 2, 100);
    writer_begin(scene->writer, &scene->plan, scene->texts);
    assert_true(writer_busy(scene->writer));
    struct writer_result result = await_result(scene);
    assert_true(result.written);
    assert_true(result.took_ms >= 0);
    assert_int_equal(result.store.rows_put, 5);
    assert_int_equal(result.store.touched_count, 2);
    assert_int_equal(result.store.touched[0].epoch, 1);
    assert_int_equal(result.store.touched[1].epoch, 2);
    store_result_free(&result.store);
    assert_stored(scene, 0, 3, "text of slot 0"); /* each slot its own */
    assert_stored(scene, 1, 2, "text of slot 1");
    assert_false(writer_take(scene->writer, &result));
}

static void test_result_waits_for_its_owner(void **state)
{
    struct scene *scene = *state;
    put_rows(scene, 0, 1, 10);
    writer_begin(scene->writer, &scene->plan, scene->texts);
    struct pollfd fd = {scene->wake_fd, POLLIN, 0};
    assert_int_equal(poll(&fd, 1, PATIENCE_MS), 1);
    assert_true(writer_busy(scene->writer)); /* the plan and its rows are still borrowed */
    writer_stop(scene->writer);              /* nobody took the result: it is freed */
    scene->writer = NULL;
    assert_stored(scene, 0, 1, "text of slot 0");
}

static void test_stop_waits_for_the_plan(void **state)
{
    struct scene *scene = *state;
    put_rows(scene, 0, PLAN_ROWS, 20000);
    writer_begin(scene->writer, &scene->plan, scene->texts);
    writer_stop(scene->writer);
    scene->writer = NULL;
    assert_stored(scene, 0, PLAN_ROWS, "text of slot 0");
}

static void test_full_store(void **state)
{
    struct scene *scene = *state;
    struct writer_result result;
    int64_t before = 0;
    do {
        before = scene->slots[0].position;
        put_rows(scene, 0, PLAN_ROWS, 20000);
        writer_begin(scene->writer, &scene->plan, scene->texts);
        result = await_result(scene);
        store_result_free(&result.store);
        release_rows(scene);
    } while (result.written);
    assert_int_equal(result.error.code, ERROR_FULL);
    assert_string_not_equal(result.error.text, "");
    assert_true(before > 0);
    assert_stored(scene, 0, before, "text of slot 0");

    struct bucket_id drop = store_case_bucket(0, 0, DUE); /* it goes on: room is made */
    scene->slots[0].drops = &drop;
    scene->slots[0].drop_count = 1;
    scene->slots[0].position = before;
    scene->texts[0] = "another text";
    writer_begin(scene->writer, &scene->plan, scene->texts);
    result = await_result(scene);
    assert_true(result.written);
    assert_int_equal(result.store.rows_dropped, before);
    store_result_free(&result.store);
}

/* The owner adds rows, reads what was written and releases, while the writer writes. */
static void test_both_threads_at_work(void **state)
{
    struct scene *scene = *state;
    struct store *store = scene->test->store;
    struct error error = {0};
    const uint8_t other[600] = {0};
    int64_t written = 0;
    for (int i = 0; i < PLANS; i++) {
        struct writer_result result;
        put_rows(scene, 0, PLAN_ROWS, 100);
        writer_begin(scene->writer, &scene->plan, scene->texts);
        row_ref ref = arena_add(&scene->arena, (struct span){other, sizeof(other)});
        assert_true(store_read_begin(store, &error));
        for (int64_t offset = written - 10; written > 0 && offset < written; offset++) {
            struct span row;
            assert_true(store_read(store, 0, store_case_bucket(0, 0, DUE), offset, &row, &error));
            assert_int_equal(row.length, 100);
            assert_int_equal(row.data[99], offset % 251);
        }
        store_read_end(store);
        arena_release(&scene->arena, ref);
        result = await_result(scene);
        assert_true(result.written);
        written += (int64_t)result.store.rows_put;
        store_result_free(&result.store);
        release_rows(scene);
    }
    assert_int_equal(written, PLANS * PLAN_ROWS);
    assert_stored(scene, 0, written, "text of slot 0");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_idle, setup, teardown),
        cmocka_unit_test_setup_teardown(test_writes_a_plan, setup, teardown),
        cmocka_unit_test_setup_teardown(test_result_waits_for_its_owner, setup, teardown),
        cmocka_unit_test_setup_teardown(test_stop_waits_for_the_plan, setup, teardown),
        cmocka_unit_test_setup_teardown(test_full_store, setup, teardown),
        cmocka_unit_test_setup_teardown(test_both_threads_at_work, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
