/* The walk of a list: order, cursors, filters, slices between which rows are split and come and go, bounds of time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"
#include "base/random.h"
#include "bridge/time_text.h"
#include "ops/api_list_walk.h"
#include "ops/clock.h"
#include "scheduler/bucket.h"
#include "support/list_scene.h"

#define NOW LIST_SCENE_NOW
#define DAY_MS INT64_C(86400000)
#define SOON_MS 600000 /* longer than any test takes */

/* A list under way, page by page. */
struct listing {
    struct list_scene *scene;
    struct api_list_filter filter;
    struct api_list_walk walk;
    struct random random;
    bool disturbs;      /* between slices rows are split, put and erased */
    int stops_after;    /* slices; 0: it does not stop */
    int slices;
    size_t first_born;  /* rows from this index on came while it was under way */
    size_t found[LIST_SCENE_ROWS]; /* indexes of rows, in the order in which they were listed */
    size_t found_count;
    int parts;
    int pages;
};

static int new_scene(void **state)
{
    *state = list_scene_new();
    return 0;
}

static int free_scene(void **state)
{
    list_scene_free(*state);
    return 0;
}

static void add_random(struct list_scene *scene, struct random *random)
{
    static const char *const targets[] = {"events", "payments"};
    static const int64_t spreads[] = {2000, 100000, DAY_MS, 60 * DAY_MS};
    struct list_scene_row *row = list_scene_add(scene, (uint32_t)random_below(random, LIST_SCENE_PLACES), 0);
    row->due_ms = NOW + (int64_t)random_below(random, (uint64_t)spreads[random_below(random, 4)]) / 1000 * 1000; /* many are due at once */
    if (random_below(random, 2) == 0) { /* at the very beginning of buckets of all levels */
        struct bucket_id widest = bucket_of(0, BUCKET_LEVELS - 1, NOW + 30 * DAY_MS);
        row->due_ms = bucket_start_ms(widest) + (int64_t)random_below(random, 3) * (int64_t)random_below(random, 5000);
    }
    row->level = (uint8_t)random_below(random, BUCKET_LEVELS);
    row->lane = random_below(random, 3) == 0 ? LIST_SCENE_ORDERS : LIST_SCENE_DEFAULT;
    row->target = targets[random_below(random, 2)];
    row->every = random_below(random, 3) == 0;
    if (random_below(random, 10) == 0) {
        row->paused = true;
        row->due_ms = TIME_TEXT_LAST_MS;
    } else if (random_below(random, 20) == 0) {
        row->lane = random_below(random, 2) == 0 ? LIST_SCENE_UNDECIDED : LIST_SCENE_REFUSED;
        row->due_ms = DUE_SINCE_EVER;
        row->level = 0;
    }
    if (random_below(random, 4) != 0) {
        (void)snprintf(row->id, sizeof(row->id), "%c-%d", (int)('p' + random_below(random, 3)), (int)row->offset);
    }
}

/* Something happens between two slices. */
static void disturb(struct listing *listing)
{
    struct list_scene *scene = listing->scene;
    struct list_scene_row *row = &scene->rows[random_below(&listing->random, scene->count)];
    switch (random_below(&listing->random, 6)) {
    case 0:
        add_random(scene, &listing->random);
        list_scene_write(scene);
        break;
    case 1:
        if (!row->erased) {
            list_scene_erase(scene, row);
        }
        break;
    case 2:
    case 3:
        if (!row->erased) {
            list_scene_split(scene, row, 1 + (uint32_t)random_below(&listing->random, 6));
        }
        break;
    default:
        break;
    }
}

static bool between_slices(void *context)
{
    struct listing *listing = context;
    listing->slices++;
    if (listing->disturbs) {
        disturb(listing);
    }
    return listing->stops_after > 0 && listing->slices >= listing->stops_after;
}

static struct api_list_walk_options options_of(struct listing *listing)
{
    int64_t now_ms = clock_mono().ms;
    return (struct api_list_walk_options){.store = listing->scene->store,
                                          .places = listing->scene->places,
                                          .place_count = LIST_SCENE_PLACES,
                                          .filter = &listing->filter,
                                          .enough_ms = now_ms + SOON_MS,
                                          .end_ms = now_ms + SOON_MS,
                                          .slice_ms = SOON_MS,
                                          .slice_rows = API_LIST_WALK_SLICE_ROWS,
                                          .stopping = between_slices,
                                          .context = listing};
}

static void begin(struct listing *listing, struct list_scene *scene, const struct api_list_walk_options *options)
{
    struct error error = {0};
    listing->scene = scene;
    listing->first_born = scene->count;
    if (!api_list_walk_open(&listing->walk, options, &error)) {
        fail_msg("%s", error.text);
    }
}

static void take_page(struct listing *listing, const struct api_list_page *page)
{
    for (size_t i = 0; i < page->count; i++) {
        const struct api_list_item *item = &page->items[i];
        assert_true(item->offset >= 0 && (size_t)item->offset < listing->scene->count);
        const struct list_scene_row *row = &listing->scene->rows[item->offset];
        assert_int_equal(item->place, row->place);
        assert_int_equal(item->due_ms, row->due_ms);
        listing->found[listing->found_count++] = (size_t)item->offset;
    }
}

/* All pages, as the handler asks for them; each cursor goes out as text and comes back. */
static void run(struct listing *listing, size_t limit)
{
    struct api_list_cursor after = API_LIST_CURSOR_BEGIN;
    enum api_list_walk_result result = API_LIST_WALK_FULL;
    while (result != API_LIST_WALK_ALL) {
        struct error error = {0};
        char text[API_LIST_CURSOR_TEXT_SIZE];
        struct api_list_page page = api_list_page_new(limit);
        result = api_list_walk_round(&listing->walk, &after, &page, &error);
        if (result != API_LIST_WALK_FULL && result != API_LIST_WALK_ALL && result != API_LIST_WALK_PART) {
            fail_msg("%d: %s", (int)result, error.text);
        }
        assert_true(result != API_LIST_WALK_FULL || page.count == limit);
        take_page(listing, &page);
        listing->pages++;
        listing->parts += result == API_LIST_WALK_PART;
        if (result == API_LIST_WALK_PART) {
            assert_true(listing->walk.certain_ms > after.due_ms);
            after = API_LIST_CURSOR_BEGIN;
            after.due_ms = listing->walk.certain_ms;
        } else if (page.count > 0) {
            after = api_list_walk_cursor(&listing->walk, &page.items[page.count - 1]);
        }
        api_list_cursor_text(&after, text);
        assert_true(api_list_cursor_read(span_of_text(text), &after));
        api_list_page_free(&page);
    }
    api_list_walk_close(&listing->walk);
}

/* What the filter lets through, judged anew and by itself. */
static bool passes(const struct listing *listing, const struct list_scene_row *row)
{
    const struct api_list_filter *filter = &listing->filter;
    const struct frontier_pair *pair = &listing->scene->metadata.shared;
    bool undecided = row->lane == LIST_SCENE_UNDECIDED;
    bool done = row->offset < listing->scene->metadata.low_offset ||
                (row->offset < pair->cut && key_compare((struct key){row->due_ms, row->offset}, pair->point) <= 0);
    const char *lane = row->lane == LIST_SCENE_ORDERS ? "orders" : undecided ? "_undecided" : "default";
    bool right = row->lane != LIST_SCENE_REFUSED && row->every == filter->schedules && !done;
    right = right && (filter->source.data == NULL || span_equals_text(filter->source, listing->scene->places[row->place].topic));
    right = right && (filter->partition < 0 || filter->partition == listing->scene->places[row->place].partition);
    right = right && (filter->target.data == NULL || span_equals_text(filter->target, row->target));
    right = right && (filter->lane.data == NULL || span_equals_text(filter->lane, lane));
    right = right && (filter->id_prefix.length == 0 || (row->id[0] != '\0' && row->id[0] == (char)filter->id_prefix.data[0]));
    right = right && (!filter->has_due || (!row->paused && !undecided && row->due_ms >= filter->due_from_ms && row->due_ms < filter->due_to_ms));
    switch (filter->state) {
    case API_LIST_STATE_PENDING:
        return right && !undecided && !row->paused;
    case API_LIST_STATE_PAUSED:
        return right && !undecided && row->paused;
    case API_LIST_STATE_UNDECIDED:
        return right && undecided;
    case API_LIST_STATE_ANY:
        break;
    }
    return right;
}

static bool is_before(const struct list_scene_row *a, const struct list_scene_row *b)
{
    return a->due_ms != b->due_ms ? a->due_ms < b->due_ms : a->place != b->place ? a->place < b->place : a->offset < b->offset;
}

/* In order, each once, nothing that does not pass, and all that was there all the time. */
static void check(const struct listing *listing)
{
    const struct list_scene *scene = listing->scene;
    bool *listed = memory_new(LIST_SCENE_ROWS, sizeof(*listed));
    for (size_t i = 0; i < listing->found_count; i++) {
        const struct list_scene_row *row = &scene->rows[listing->found[i]];
        assert_true(i == 0 || is_before(&scene->rows[listing->found[i - 1]], row));
        assert_true(passes(listing, row));
        listed[listing->found[i]] = true;
    }
    for (size_t i = 0; i < listing->first_born; i++) {
        const struct list_scene_row *row = &scene->rows[i];
        if (!row->erased && passes(listing, row) && !listed[i]) {
            fail_msg("row %zu of place %u due %lld at level %u is missing", i, row->place, (long long)row->due_ms, row->level);
        }
    }
    free(listed);
}

static void test_order_and_cursors(void **state)
{
    struct list_scene *scene = *state;
    const int64_t dues[] = {NOW + 5, NOW, NOW, NOW + 70 * DAY_MS, NOW + 5, NOW + 4};
    for (size_t i = 0; i < 6; i++) {
        struct list_scene_row *row = list_scene_add(scene, (uint32_t)(i == 1 ? 2 : i % 2), dues[i]);
        row->level = (uint8_t)(i % BUCKET_LEVELS);
    }
    list_scene_write(scene);
    const size_t expected[] = {2, 1, 5, 0, 4, 3};
    for (size_t limit = 1; limit < 8; limit++) {
        struct listing *listing = memory_new(1, sizeof(*listing));
        listing->filter = api_list_filter_all(false);
        listing->scene = scene;
        struct api_list_walk_options options = options_of(listing);
        begin(listing, scene, &options);
        run(listing, limit);
        check(listing);
        assert_int_equal(listing->found_count, 6);
        for (size_t i = 0; i < 6; i++) {
            assert_int_equal(listing->found[i], expected[i]);
        }
        assert_int_equal(listing->parts, 0);
        free(listing);
    }
}

static void test_empty(void **state)
{
    struct list_scene *scene = *state;
    struct listing *listing = memory_new(1, sizeof(*listing));
    listing->scene = scene;
    listing->filter = api_list_filter_all(false);
    struct api_list_walk_options options = options_of(listing);
    begin(listing, scene, &options);
    run(listing, 10);
    options.place_count = 0; /* nothing is open here */
    begin(listing, scene, &options);
    run(listing, 10);
    assert_int_equal(listing->found_count, 0);
    assert_int_equal(listing->pages, 2);
    free(listing);
}

/* What the frontier of the snapshot covers is not listed: below C, and of the pairs. */
static void test_done_rows(void **state)
{
    struct list_scene *scene = *state;
    for (int i = 0; i < 40; i++) {
        (void)list_scene_add(scene, 0, NOW + i * 1000);
    }
    scene->metadata.low_offset = 3;
    scene->metadata.shared = (struct frontier_pair){{NOW + 9500, 0}, 15};
    list_scene_write(scene);
    struct listing *listing = memory_new(1, sizeof(*listing));
    listing->scene = scene;
    listing->filter = api_list_filter_all(false);
    struct api_list_walk_options options = options_of(listing);
    begin(listing, scene, &options);
    run(listing, 7);
    check(listing);
    assert_int_equal(listing->found_count, 30);
    assert_int_equal(listing->found[0], 10);
    free(listing);
}

static struct api_list_filter random_filter(struct random *random)
{
    struct api_list_filter filter = api_list_filter_all(random_below(random, 3) == 0);
    filter.source = random_below(random, 4) == 0 ? span_of_text(random_below(random, 2) == 0 ? "a" : "b") : SPAN_ABSENT;
    filter.partition = random_below(random, 4) == 0 ? (int32_t)random_below(random, 2) : -1;
    filter.target = random_below(random, 4) == 0 ? span_of_text("payments") : SPAN_ABSENT;
    filter.lane = random_below(random, 5) == 0 ? span_of_text(random_below(random, 2) == 0 ? "orders" : "_undecided") : SPAN_ABSENT;
    filter.id_prefix = random_below(random, 4) == 0 ? span_of_text("q") : SPAN_ABSENT;
    filter.state = random_below(random, 2) == 0 ? (enum api_list_state)random_below(random, 4) : API_LIST_STATE_ANY;
    if (random_below(random, 3) == 0) {
        filter.has_due = true;
        filter.due_from_ms = random_below(random, 2) == 0 ? 0 : NOW + (int64_t)random_below(random, (uint64_t)DAY_MS);
        filter.due_to_ms = random_below(random, 2) == 0 ? INT64_MAX : NOW + (int64_t)random_below(random, 60 * (uint64_t)DAY_MS);
    }
    return filter;
}

/* Small slices, and something happens between two of them. */
static void test_by_chance(void **state)
{
    for (uint64_t seed = 1; seed <= 40; seed++) {
        struct list_scene *scene = list_scene_new();
        struct listing *listing = memory_new(1, sizeof(*listing));
        listing->random = random_new(seed);
        listing->scene = scene;
        uint64_t rows = 50 + random_below(&listing->random, 200);
        for (uint64_t i = 0; i < rows; i++) {
            add_random(scene, &listing->random);
        }
        if (seed % 3 == 0) {
            scene->metadata.low_offset = 4;
            scene->metadata.shared = (struct frontier_pair){{NOW + 5000, 3}, (int64_t)rows / 2};
        }
        list_scene_write(scene);
        listing->filter = seed % 2 == 0 ? api_list_filter_all(seed % 4 == 0) : random_filter(&listing->random);
        listing->disturbs = true;
        struct api_list_walk_options options = options_of(listing);
        options.slice_rows = 1 + (uint32_t)random_below(&listing->random, 30);
        options.enough_ms = seed % 5 == 0 ? 0 : options.enough_ms;
        begin(listing, scene, &options);
        run(listing, 1 + random_below(&listing->random, 40));
        check(listing);
        free(listing);
        list_scene_free(scene);
    }
    (void)state;
}

/* With no time left each page is what is certain, and something is each time. */
static void test_time_is_up(void **state)
{
    struct list_scene *scene = *state;
    for (int i = 0; i < 60; i++) {
        list_scene_add(scene, 0, NOW + i * 8192)->level = 0;
    }
    list_scene_add(scene, 0, NOW + 3 * 8192)->level = 3;
    list_scene_write(scene);
    struct listing *listing = memory_new(1, sizeof(*listing));
    listing->scene = scene;
    listing->filter = api_list_filter_all(false);
    struct api_list_walk_options options = options_of(listing);
    options.enough_ms = 0;
    begin(listing, scene, &options);
    run(listing, 10);
    check(listing);
    assert_true(listing->parts > 20);
    free(listing);
}

static enum api_list_walk_result first_page(struct listing *listing, const struct api_list_walk_options *options)
{
    struct error error = {0};
    struct api_list_page page = api_list_page_new(5);
    begin(listing, listing->scene, options);
    enum api_list_walk_result result = api_list_walk_round(&listing->walk, &API_LIST_CURSOR_BEGIN, &page, &error);
    api_list_page_free(&page);
    api_list_walk_close(&listing->walk);
    return result;
}

static void test_too_much_and_stopped(void **state)
{
    struct list_scene *scene = *state;
    for (int i = 0; i < 60; i++) {
        list_scene_add(scene, 0, NOW + i)->level = 0;
    }
    list_scene_write(scene);
    struct listing *listing = memory_new(1, sizeof(*listing));
    listing->scene = scene;
    listing->filter = api_list_filter_all(false);
    struct api_list_walk_options options = options_of(listing);
    options.slice_rows = 10;
    assert_int_equal(first_page(listing, &options), API_LIST_WALK_FULL);
    options.end_ms = 0;
    assert_int_equal(first_page(listing, &options), API_LIST_WALK_TOO_MUCH);
    options.end_ms = clock_mono().ms + SOON_MS;
    listing->slices = 0;
    listing->stops_after = 3;
    assert_int_equal(first_page(listing, &options), API_LIST_WALK_STOPPED);
    assert_int_equal(listing->slices, 3);
    free(listing);
}

/* A row whose bytes do not read back is an error, not a hole. */
static void test_damaged_row(void **state)
{
    struct list_scene *scene = *state;
    struct list_scene_row *row = list_scene_add(scene, 0, NOW);
    list_scene_write(scene);
    row->bytes[0] = 0; /* no version of a row */
    list_scene_write_again(scene, row);
    struct listing *listing = memory_new(1, sizeof(*listing));
    listing->scene = scene;
    listing->filter = api_list_filter_all(false);
    struct api_list_walk_options options = options_of(listing);
    assert_int_equal(first_page(listing, &options), API_LIST_WALK_FAILED);
    free(listing);
}

static bool count_row(const struct store_browse_row *row, void *context)
{
    (void)row;
    (*(int *)context)++;
    return true;
}

static void test_find(void **state)
{
    struct list_scene *scene = *state;
    struct list_scene_row *row = list_scene_add(scene, 1, NOW + DAY_MS);
    row->level = 2;
    row->lane = LIST_SCENE_ORDERS;
    list_scene_write(scene);
    struct listing *listing = memory_new(1, sizeof(*listing));
    struct error error = {0};
    listing->scene = scene;
    listing->filter = api_list_filter_all(false);
    struct api_list_walk_options options = options_of(listing);
    struct api_list_page page = api_list_page_new(5);
    int found = 0;
    begin(listing, scene, &options);
    assert_int_equal(api_list_walk_round(&listing->walk, &API_LIST_CURSOR_BEGIN, &page, &error), API_LIST_WALK_ALL);
    assert_int_equal(page.count, 1);
    assert_string_equal(api_list_walk_lane(&listing->walk, &page.items[0]), "orders");
    list_scene_split(scene, row, 10);
    api_list_walk_rest(&listing->walk);
    assert_true(api_list_walk_renew(&listing->walk, &error));
    assert_true(api_list_walk_find(&listing->walk, &page.items[0], count_row, &found, &error));
    assert_int_equal(found, 1);
    list_scene_erase(scene, row);
    api_list_walk_rest(&listing->walk);
    assert_true(api_list_walk_renew(&listing->walk, &error));
    assert_true(api_list_walk_find(&listing->walk, &page.items[0], count_row, &found, &error));
    assert_int_equal(found, 1);
    api_list_page_free(&page);
    api_list_walk_close(&listing->walk);
    free(listing);
}

#define SCENE(function) cmocka_unit_test_setup_teardown(function, new_scene, free_scene)

int main(void)
{
    const struct CMUnitTest tests[] = {
        SCENE(test_order_and_cursors),
        SCENE(test_empty),
        SCENE(test_done_rows),
        cmocka_unit_test(test_by_chance),
        SCENE(test_time_is_up),
        SCENE(test_too_much_and_stopped),
        SCENE(test_damaged_row),
        SCENE(test_find),
    };
    return cmocka_run_group_tests_name("api_list_walk", tests, NULL, NULL);
}
