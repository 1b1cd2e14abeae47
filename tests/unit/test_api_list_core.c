/*
 * What a list shows, against the core by chance: of the rows of a checkpoint exactly those that the checkpoint's own frontier does not cover and that the core says
 * are still to come; nothing of what went out or was ended, and all of what was not.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/memory.h"
#include "base/random.h"
#include "ops/api_list_done.h"
#include "tests/support/core_case.h"

#define LOG 330
#define OVERDUE 40
#define LANES 3
#define TURNS 400
#define BINS 20

enum fate { WAITING, OUT, ENDED, MET /* by a control, while its delivery was under way: it goes out or ends, and that is soon */ };

struct report {
    lane_index lane;
    uint64_t sequence;
    int64_t offset;
};

struct chance {
    struct core_case *test;
    struct random random;
    enum fate fates[LOG];
    uint64_t ids[LOG]; /* 0: none */
    int64_t read;
    struct report out[LOG];
    size_t out_count;
    struct partition_frontier snapshot; /* of the last checkpoint */
    bool has_snapshot;
    struct metadata metadata;
    uint64_t covered; /* rows that the frontier alone left out */
    uint64_t judged;  /* those that the core had to */
};

static bool happens(struct chance *chance, uint64_t one_in)
{
    return random_below(&chance->random, one_in) == 0;
}

static void name_lane(struct metadata_lane *to, const struct frontier_lane *from)
{
    (void)snprintf(to->name, sizeof(to->name), "lane%u", (unsigned)from->lane);
    to->frontier = from->frontier;
}

/* The frontier as the store keeps it: as text, with lanes by name. */
static void read_snapshot(struct chance *chance)
{
    char text[METADATA_MAX + 1];
    struct error error = {0};
    struct metadata *written = memory_new(1, sizeof(*written));
    const struct partition_frontier *frontier = &chance->snapshot;
    written->low_offset = frontier->low_offset;
    written->anchor = frontier->anchor;
    written->shared = frontier->shared;
    written->lane_count = frontier->lane_count;
    written->boundary_ms = frontier->boundary_ms;
    written->behind_count = frontier->behind_count;
    for (uint16_t i = 0; i < frontier->lane_count; i++) {
        name_lane(&written->lanes[i], &frontier->lanes[i]);
    }
    for (uint16_t i = 0; i < frontier->behind_count; i++) {
        name_lane(&written->behind[i], &frontier->behind[i]);
    }
    size_t length = metadata_encode(written, text, sizeof(text));
    assert_true(length > 0);
    if (!metadata_decode((struct span){(const uint8_t *)text, length}, &chance->metadata, &error)) {
        fail_msg("%s", error.text);
    }
    free(written);
}

static void check_row(struct chance *chance, const struct core_case_row *row)
{
    char lane[16];
    struct key key = {row->due_ms, row->offset};
    enum fate fate = chance->fates[row->offset];
    (void)snprintf(lane, sizeof(lane), "lane%u", (unsigned)row->bucket.lane);
    struct api_list_done done = api_list_done_of(chance->has_snapshot ? &chance->metadata : NULL, lane);
    if (api_list_done_row(&done, row->offset, row->due_ms)) {
        chance->covered++;
        if (fate == WAITING) {
            fail_msg("record %lld is still to come, and the checkpoint's frontier covers it", (long long)row->offset);
        }
        return;
    }
    enum core_event_state state = core_look_row(chance->test->core, 0, row->bucket.lane, key);
    chance->judged++;
    /* what went out may be seen as under way until all before it has */
    bool right = fate == WAITING ? state == CORE_EVENT_PENDING || state == CORE_EVENT_RUNNING
                 : fate == ENDED ? state == CORE_EVENT_ENDED
                                 : state == CORE_EVENT_ENDED || state == CORE_EVENT_RUNNING;
    if (!right) {
        fail_msg("record %lld, whose fate is %d, is seen as %d", (long long)row->offset, (int)fate, (int)state);
    }
}

static int by_key(const void *a, const void *b)
{
    return key_compare(*(const struct key *)a, *(const struct key *)b);
}

/* Many at once are judged as each alone. */
static void check_together(const struct chance *chance, lane_index lane)
{
    struct key keys[CORE_LOOK_ROWS_MAX];
    enum core_event_state states[CORE_LOOK_ROWS_MAX];
    size_t count = 0;
    for (size_t i = 0; i < chance->test->row_count && count < CORE_LOOK_ROWS_MAX; i++) {
        const struct core_case_row *row = &chance->test->rows[i];
        keys[count] = (struct key){row->due_ms, row->offset};
        count += row->bucket.lane == lane;
    }
    qsort(keys, count, sizeof(keys[0]), by_key);
    core_look_rows(chance->test->core, 0, lane, keys, count, states);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(states[i], core_look_row(chance->test->core, 0, lane, keys[i]));
    }
}

/* A forecast of the same moment is never below 0, and knows of no more than was read. */
static void check_forecast(const struct chance *chance)
{
    double counts[BINS] = {0};
    bool estimated[BINS] = {false};
    const bool lanes[LANES] = {true, true, true};
    struct core_forecast forecast = {.from_ms = CORE_CASE_WALL + chance->test->wall_ms, .bin_ms = 5000, .bins = BINS, .walk_max = 10, .counts = counts, .estimated = estimated};
    core_look_forecast(chance->test->core, 0, lanes, &forecast);
    double sum = forecast.before + forecast.later + forecast.paused;
    assert_true(forecast.before >= 0 && forecast.later >= 0 && forecast.paused >= 0);
    for (size_t i = 0; i < BINS; i++) {
        assert_true(counts[i] >= 0);
        sum += counts[i];
    }
    assert_true(sum < (double)chance->read + 0.001);
}

static void check(struct chance *chance)
{
    check_forecast(chance);
    for (lane_index lane = 0; lane < LANES; lane++) {
        check_together(chance, lane);
    }
    for (size_t i = 0; i < chance->test->row_count; i++) {
        check_row(chance, &chance->test->rows[i]);
    }
}

/* A control of this id comes: what of it is on its way can no more be relied on. */
static void meet(struct chance *chance, uint64_t id)
{
    for (size_t i = 0; i < chance->out_count; i++) {
        int64_t offset = chance->out[i].offset;
        if (chance->ids[offset] == id && chance->fates[offset] == WAITING) {
            chance->fates[offset] = MET;
        }
    }
}

static void read_some(struct chance *chance)
{
    struct core_case *test = chance->test;
    for (uint64_t most = random_below(&chance->random, 4); most > 0 && chance->read < LOG; most--, chance->read++) {
        struct record_id id = CORE_CASE_ID(1 + random_below(&chance->random, 40));
        int64_t due_ms = test->wall_ms - 300 + (int64_t)random_below(&chance->random, happens(chance, 4) ? 600000 : 2000);
        lane_index lane = (lane_index)random_below(&chance->random, LANES);
        if (happens(chance, 8)) {
            meet(chance, id.low);
            core_case_cancel(test, chance->read, id);
            chance->fates[chance->read] = ENDED; /* it has no row */
        } else if (happens(chance, 3)) {
            meet(chance, id.low);
            chance->ids[chance->read] = id.low;
            core_case_event(test, chance->read, due_ms, lane, id);
        } else {
            core_case_record(test, chance->read, due_ms, lane);
        }
    }
}

static void report(struct chance *chance, size_t place)
{
    struct report report = chance->out[place];
    chance->out[place] = chance->out[--chance->out_count];
    if (happens(chance, 10)) {
        core_case_failed(chance->test, report.lane, report.sequence, DELIVERY_RETRIABLE);
        return;
    }
    core_case_delivered(chance->test, report.lane, report.sequence);
    chance->fates[report.offset] = OUT;
}

static void carry_out(struct chance *chance)
{
    for (size_t i = 0; i < chance->test->commands.count; i++) {
        const struct command *command = &chance->test->commands.items[i];
        if (command->kind == COMMAND_DELIVER) {
            const struct command_deliver *deliver = &command->as.deliver;
            assert_true(chance->out_count < LOG);
            chance->out[chance->out_count++] = (struct report){deliver->lane, deliver->sequence, deliver->key.offset};
        } else if (command->kind == COMMAND_OUTCOME && (command->as.outcome.outcome == OUTCOME_CANCELLED || command->as.outcome.outcome == OUTCOME_REPLACED)) {
            chance->fates[command->as.outcome.event_offset] = ENDED;
        }
    }
}

/* Answers what was asked; a checkpoint takes its time. Its frontier is the one that its plan has. */
static void answer(struct chance *chance)
{
    struct core_case *test = chance->test;
    const struct checkpoint_plan *plan = test->plan;
    bool writes = plan != NULL && happens(chance, 3);
    if (writes) {
        chance->snapshot = core_case_plan(test)->frontier;
        chance->has_snapshot = true;
        read_snapshot(chance);
    } else {
        test->plan = NULL;
    }
    if (!core_case_settle_once(test)) {
        core_case_step(test);
    }
    test->plan = writes || plan == NULL ? test->plan : plan;
}

static void turn(struct chance *chance, bool paused)
{
    struct core_case *test = chance->test;
    while (chance->out_count > 0 && !happens(chance, 3)) {
        report(chance, random_below(&chance->random, chance->out_count));
    }
    read_some(chance);
    if (happens(chance, 10)) {
        core_case_pause(test, (lane_index)random_below(&chance->random, LANES), paused && happens(chance, 2));
    }
    int64_t wait_ms = (int64_t)random_below(&chance->random, happens(chance, 20) ? 30000 : 120);
    test->wall_ms += happens(chance, 40) ? -500 : wait_ms; /* a clock that steps back */
    test->mono_ms += wait_ms;
    answer(chance);
    carry_out(chance);
    check(chance);
}

static void live(uint64_t seed, uint64_t *covered, uint64_t *judged)
{
    struct chance *chance = memory_new(1, sizeof(*chance));
    void *state = NULL;
    (void)core_case_setup(&state);
    struct core_case *test = state;
    chance->test = test;
    chance->random = random_new(seed);
    test->options.commit_ms = 50;
    test->options.catch_up_per_s = seed % 2 == 0 ? 20 : 0;
    for (; chance->read < OVERDUE; chance->read++) {
        core_case_store(test, chance->read, -60000 + (int64_t)random_below(&chance->random, 90000), (lane_index)random_below(&chance->random, LANES), 0);
    }
    test->gained.position = test->gained.stored_position = test->gained.high = OVERDUE;
    core_case_begin(test, LANES, OVERDUE);
    carry_out(chance);
    for (int i = 0; i < TURNS; i++) {
        turn(chance, true);
    }
    for (lane_index lane = 0; lane < LANES; lane++) {
        core_case_pause(test, lane, false);
    }
    for (int i = 0; i < TURNS; i++) { /* and all comes to its end */
        turn(chance, false);
    }
    assert_int_equal(chance->read, LOG);
    *covered += chance->covered;
    *judged += chance->judged;
    (void)core_case_teardown(&state);
    free(chance);
}

static void rows_are_judged_right(void **state)
{
    uint64_t covered = 0;
    uint64_t judged = 0;
    for (uint64_t seed = 1; seed <= 30; seed++) {
        live(seed, &covered, &judged);
    }
    print_message("%llu rows were left out by the frontier alone, %llu judged by the core\n", (unsigned long long)covered, (unsigned long long)judged);
    assert_true(covered > 1000 && judged > 1000);
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_are_judged_right),
    };
    return cmocka_run_group_tests_name("api_list_core", tests, NULL, NULL);
}
