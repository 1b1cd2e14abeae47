/* The pure parts of lists: cursors, pages, filters, order of places, and which rows the frontier of a checkpoint covers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"
#include "base/random.h"
#include "bridge/time_text.h"
#include "ops/api_list_cursor.h"
#include "ops/api_list_done.h"
#include "ops/api_list_filter.h"
#include "ops/api_list_page.h"
#include "scheduler/bucket.h"

#define NOW INT64_C(1800000000000)

/* ------------------------------------------------------------------------------------------------ cursors */

static void assert_round_trip(const struct api_list_cursor *cursor)
{
    char text[API_LIST_CURSOR_TEXT_SIZE];
    struct api_list_cursor back;
    api_list_cursor_text(cursor, text);
    assert_int_equal(strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"), strlen(text));
    assert_true(api_list_cursor_read(span_of_text(text), &back));
    assert_int_equal(back.due_ms, cursor->due_ms);
    assert_int_equal(back.offset, cursor->offset);
    assert_int_equal(api_list_place_compare(&back.place, &cursor->place), 0);
}

static void cursors_come_back(void **state)
{
    struct random random = random_new(1);
    struct api_list_cursor cursor = API_LIST_CURSOR_BEGIN;
    assert_round_trip(&cursor);
    for (int i = 0; i < 2000; i++) {
        size_t length = random_below(&random, 5) == 0 ? API_LIST_PLACE_TOPIC_MAX : random_below(&random, 30);
        cursor = (struct api_list_cursor){.due_ms = (int64_t)(random_next(&random) >> (1 + random_below(&random, 60))),
                                          .offset = (int64_t)random_below(&random, UINT64_C(1) << 62) - 1};
        cursor.place.partition = (int32_t)random_below(&random, 100) - 1;
        for (size_t at = 0; at < length; at++) {
            cursor.place.topic[at] = "az-_.AZ09"[random_below(&random, 9)];
        }
        assert_round_trip(&cursor);
    }
    (void)state;
}

/* Each prefix, each altered byte, and what is no text of ours at all. */
static void bad_cursors_are_refused(void **state)
{
    char text[API_LIST_CURSOR_TEXT_SIZE];
    char longer[API_LIST_CURSOR_TEXT_SIZE + 100];
    struct api_list_cursor cursor = {NOW, {"orders.delayed", 3}, 42};
    struct api_list_cursor back = {.due_ms = 77};
    api_list_cursor_text(&cursor, text);
    size_t length = strlen(text);
    for (size_t cut = 0; cut < length; cut++) {
        assert_false(api_list_cursor_read((struct span){(const uint8_t *)text, cut}, &back));
    }
    for (size_t at = 0; at < length; at++) {
        char kept = text[at];
        text[at] = kept == 'A' ? 'B' : 'A';
        assert_false(api_list_cursor_read(span_of_text(text), &back));
        text[at] = '+';
        assert_false(api_list_cursor_read(span_of_text(text), &back));
        text[at] = kept;
    }
    memset(longer, 'A', sizeof(longer));
    assert_false(api_list_cursor_read((struct span){(const uint8_t *)longer, sizeof(longer)}, &back));
    assert_false(api_list_cursor_read(SPAN_ABSENT, &back));
    assert_false(api_list_cursor_read(span_of_text("null"), &back));
    assert_int_equal(back.due_ms, 77);
    (void)state;
}

/* Whole by its check, but not what we write: numbers and names that cannot be. */
static void impossible_cursors_are_refused(void **state)
{
    const struct api_list_cursor impossible[] = {
        {-1, {"a", 0}, 0}, {0, {"a", -2}, 0}, {0, {"a", 0}, -2}, {0, {"a b", 0}, 0}, {0, {"\xff", 0}, 0}, {INT64_MIN, {"a", 0}, 0}};
    for (size_t i = 0; i < sizeof(impossible) / sizeof(impossible[0]); i++) {
        char text[API_LIST_CURSOR_TEXT_SIZE];
        struct api_list_cursor back;
        api_list_cursor_text(&impossible[i], text);
        assert_false(api_list_cursor_read(span_of_text(text), &back));
    }
    (void)state;
}

static void places_are_found(void **state)
{
    struct api_list_place places[] = {{"b", 0}, {"a", 10}, {"a", 2}, {"ab", 1}};
    api_list_place_sort(places, 4);
    assert_int_equal(places[0].partition, 2);
    assert_int_equal(places[1].partition, 10);
    assert_string_equal(places[2].topic, "ab");
    assert_int_equal(api_list_place_find(places, 4, &(struct api_list_place){"", -1}), 0);
    assert_int_equal(api_list_place_find(places, 4, &(struct api_list_place){"a", 3}), 1);
    assert_int_equal(api_list_place_find(places, 4, &(struct api_list_place){"ab", 1}), 2);
    assert_int_equal(api_list_place_find(places, 4, &(struct api_list_place){"c", 0}), 4);
    assert_int_equal(api_list_place_find(places, 0, &(struct api_list_place){"c", 0}), 0);
    (void)state;
}

/* -------------------------------------------------------------------------------------------------- pages */

static int compare_items(const void *a, const void *b)
{
    return api_list_page_compare(a, b);
}

/* Whatever comes, some of it twice: the least of them, each once. */
static void a_page_keeps_the_least(void **state)
{
    struct random random = random_new(7);
    for (int round = 0; round < 200; round++) {
        struct api_list_item all[300];
        size_t count = random_below(&random, 150);
        size_t limit = 1 + random_below(&random, 40);
        struct api_list_page page = api_list_page_new(limit);
        for (size_t i = 0; i < count; i++) {
            all[i] = (struct api_list_item){(int64_t)random_below(&random, 10), (uint32_t)random_below(&random, 3), 1, (int64_t)i};
            all[count + i] = all[i];
        }
        for (size_t i = 0; i < 2 * count; i++) { /* each once and, by chance, once more */
            size_t other = random_below(&random, 2 * count);
            struct api_list_item kept = all[i];
            all[i] = all[other];
            all[other] = kept;
        }
        for (size_t i = 0; i < 2 * count; i++) {
            api_list_page_add(&page, &all[i]);
        }
        api_list_page_settle(&page);
        qsort(all, 2 * count, sizeof(all[0]), compare_items);
        assert_int_equal(page.count, count < limit ? count : limit);
        assert_int_equal(page.full, count >= limit);
        assert_int_equal(page.more, count > limit);
        for (size_t i = 0; i < page.count; i++) {
            assert_int_equal(api_list_page_compare(&page.items[i], &all[2 * i]), 0);
        }
        api_list_page_free(&page);
    }
    (void)state;
}

/* ------------------------------------------------------------------------------------------------ filters */

static struct row row_of(const char *id, const char *target)
{
    struct row row = {.root = -1};
    row.decoded.id = span_of_text(id);
    row.decoded.target = span_of_text(target);
    row.decoded.due_ms = NOW;
    return row;
}

static void rows_are_filtered(void **state)
{
    struct api_list_filter filter = api_list_filter_all(false);
    struct row row = row_of("order-1", "orders");
    assert_true(api_list_filter_row(&filter, &row));
    filter.target = span_of_text("order");
    assert_false(api_list_filter_row(&filter, &row));
    filter.target = span_of_text("orders");
    filter.id_prefix = span_of_text("order-");
    assert_true(api_list_filter_row(&filter, &row));
    filter.id_prefix = span_of_text("order-12");
    assert_false(api_list_filter_row(&filter, &row));
    filter = api_list_filter_all(false);
    filter.id_prefix = span_of_text("x");
    row.decoded.id = SPAN_ABSENT;
    assert_false(api_list_filter_row(&filter, &row));
    filter.id_prefix = span_of_text("");
    assert_true(api_list_filter_row(&filter, &row));
    row.decoded.recurrence.kind = DECODE_RECURRENCE_CRON;
    assert_false(api_list_filter_row(&filter, &row));
    filter.schedules = true;
    assert_true(api_list_filter_row(&filter, &row));
    row.refused = true;
    assert_false(api_list_filter_row(&filter, &row));
    (void)state;
}

/* What is paused stands at the end of time; it has no due time that a bound could be about. */
static void states_are_filtered(void **state)
{
    struct row waiting = row_of("a", "t");
    struct row paused = row_of("b", "t");
    paused.decoded.paused = true;
    struct api_list_filter filter = api_list_filter_all(false);
    int64_t least;
    int64_t most;
    assert_true(api_list_filter_row(&filter, &paused) && api_list_filter_row(&filter, &waiting));
    filter.state = API_LIST_STATE_PENDING;
    assert_true(!api_list_filter_row(&filter, &paused) && api_list_filter_row(&filter, &waiting));
    assert_true(api_list_filter_lane(&filter, "default") && !api_list_filter_lane(&filter, "_undecided"));
    filter.state = API_LIST_STATE_PAUSED;
    assert_true(api_list_filter_row(&filter, &paused) && !api_list_filter_row(&filter, &waiting));
    api_list_filter_range(&filter, &least, &most);
    assert_int_equal(least, TIME_TEXT_LAST_MS);
    assert_int_equal(most, TIME_TEXT_LAST_MS);
    filter.state = API_LIST_STATE_UNDECIDED;
    assert_true(!api_list_filter_lane(&filter, "default") && api_list_filter_lane(&filter, "_undecided"));
    filter = api_list_filter_all(false);
    filter.has_due = true;
    filter.due_from_ms = NOW;
    filter.due_to_ms = NOW + 10;
    api_list_filter_range(&filter, &least, &most);
    assert_int_equal(least, NOW);
    assert_int_equal(most, NOW + 9);
    assert_true(!api_list_filter_row(&filter, &paused) && api_list_filter_row(&filter, &waiting));
    assert_true(!api_list_filter_lane(&filter, "_undecided") && !api_list_filter_lane(&filter, "_refused"));
    filter.state = API_LIST_STATE_PAUSED;
    api_list_filter_range(&filter, &least, &most);
    assert_true(least > most);
    (void)state;
}

static void places_and_lanes_are_filtered(void **state)
{
    struct api_list_filter filter = api_list_filter_all(false);
    const struct api_list_place place = {"a", 3};
    assert_true(api_list_filter_place(&filter, &place) && api_list_filter_lane(&filter, "orders"));
    filter.source = span_of_text("b");
    assert_false(api_list_filter_place(&filter, &place));
    filter.source = span_of_text("a");
    filter.partition = 2;
    assert_false(api_list_filter_place(&filter, &place));
    filter.partition = 3;
    assert_true(api_list_filter_place(&filter, &place));
    filter.lane = span_of_text("orders");
    assert_true(api_list_filter_lane(&filter, "orders") && !api_list_filter_lane(&filter, "order"));
    filter.lane = span_of_text("_refused");
    assert_false(api_list_filter_lane(&filter, "_refused"));
    (void)state;
}

/* --------------------------------------------------------------------------------------------------- done */

/* Lane "orders" has an entry with an old pair, lane "late" one behind the boundary; all others stand at the shared pair. */
static struct metadata *sample_metadata(void)
{
    struct metadata *metadata = memory_new(1, sizeof(*metadata));
    metadata->low_offset = 10;
    metadata->shared = (struct frontier_pair){{1000, 50}, 60};
    metadata->lane_count = 1;
    memcpy(metadata->lanes[0].name, "orders", sizeof("orders"));
    metadata->lanes[0].frontier.live = (struct frontier_pair){{500, 20}, 100};
    metadata->lanes[0].frontier.old[0] = (struct frontier_pair){{800, 20}, 40};
    metadata->lanes[0].frontier.old_count = 1;
    metadata->boundary_ms = 2000;
    metadata->behind_count = 1;
    memcpy(metadata->behind[0].name, "late", sizeof("late"));
    metadata->behind[0].frontier.live = (struct frontier_pair){{300, 5}, 70};
    return metadata;
}

static void the_shared_pair_counts(void **state)
{
    struct metadata *metadata = sample_metadata();
    struct api_list_done done = api_list_done_of(metadata, "default");
    assert_true(api_list_done_row(&done, 9, 5000)); /* below C */
    assert_false(api_list_done_row(&done, 10, 5000));
    assert_true(api_list_done_row(&done, 50, 1000));
    assert_false(api_list_done_row(&done, 51, 1000)); /* behind the point */
    assert_true(api_list_done_row(&done, 59, 999));
    assert_false(api_list_done_row(&done, 60, 999)); /* behind the cut */
    free(metadata);
    (void)state;
}

static void a_lanes_own_entry_counts(void **state)
{
    struct metadata *metadata = sample_metadata();
    struct api_list_done done = api_list_done_of(metadata, "orders");
    assert_true(api_list_done_row(&done, 99, 400));
    assert_false(api_list_done_row(&done, 99, 600));
    assert_true(api_list_done_row(&done, 39, 600)); /* by the old pair */
    assert_false(api_list_done_row(&done, 55, 900)); /* the shared pair is not its own */
    free(metadata);
    (void)state;
}

static void what_is_behind_the_boundary_counts(void **state)
{
    struct metadata *metadata = sample_metadata();
    struct api_list_done done = api_list_done_of(metadata, "late");
    assert_true(api_list_done_row(&done, 20, 299));
    assert_false(api_list_done_row(&done, 20, 900)); /* the shared pair would say so */
    metadata->shared.point.due_ms = 4000;
    done = api_list_done_of(metadata, "late");
    assert_false(api_list_done_row(&done, 20, 2000));
    assert_true(api_list_done_row(&done, 20, 2001));
    done = api_list_done_of(metadata, "default"); /* it has nothing behind it */
    assert_true(api_list_done_row(&done, 20, 2000));
    free(metadata);
    (void)state;
}

static void without_metadata_nothing_is_done(void **state)
{
    struct api_list_done done = api_list_done_of(NULL, "default");
    assert_false(api_list_done_row(&done, 0, 0));
    assert_false(api_list_done_row(&done, 5, NOW));
    (void)state;
}

/* A bucket is done only if each row that it may hold is; one that reaches over the boundary never, as a half of it is for the other side to say. */
static void done_buckets(void **state)
{
    struct random random = random_new(3);
    for (int round = 0; round < 20000; round++) {
        struct metadata *metadata = sample_metadata();
        metadata->boundary_ms = (int64_t)random_below(&random, 40000);
        metadata->shared.point.due_ms = (int64_t)random_below(&random, 60000);
        metadata->behind[0].frontier.live = (struct frontier_pair){{(int64_t)random_below(&random, 40000), 5}, (int64_t)random_below(&random, 70)};
        struct api_list_done done = api_list_done_of(metadata, random_below(&random, 2) == 0 ? "late" : "default");
        struct bucket_stats stats = {.id = bucket_of(0, 0, (int64_t)random_below(&random, 60000)), .count = 2};
        struct key rows[2];
        stats.greatest = KEY_LEAST;
        for (int i = 0; i < 2; i++) {
            rows[i] = (struct key){bucket_start_ms(stats.id) + (int64_t)random_below(&random, 8192), (int64_t)random_below(&random, 70)};
            stats.greatest = key_compare(rows[i], stats.greatest) > 0 ? rows[i] : stats.greatest;
            stats.last_offset = rows[i].offset > stats.last_offset ? rows[i].offset : stats.last_offset;
        }
        if (api_list_done_bucket(&done, &stats)) {
            assert_true(api_list_done_row(&done, rows[0].offset, rows[0].due_ms));
            assert_true(api_list_done_row(&done, rows[1].offset, rows[1].due_ms));
        }
        stats.count = 0;
        assert_true(api_list_done_bucket(&done, &stats));
        free(metadata);
    }
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cursors_come_back),
        cmocka_unit_test(bad_cursors_are_refused),
        cmocka_unit_test(impossible_cursors_are_refused),
        cmocka_unit_test(places_are_found),
        cmocka_unit_test(a_page_keeps_the_least),
        cmocka_unit_test(rows_are_filtered),
        cmocka_unit_test(states_are_filtered),
        cmocka_unit_test(places_and_lanes_are_filtered),
        cmocka_unit_test(the_shared_pair_counts),
        cmocka_unit_test(a_lanes_own_entry_counts),
        cmocka_unit_test(what_is_behind_the_boundary_counts),
        cmocka_unit_test(without_metadata_nothing_is_done),
        cmocka_unit_test(done_buckets),
    };
    return cmocka_run_group_tests_name("api_list", tests, NULL, NULL);
}
