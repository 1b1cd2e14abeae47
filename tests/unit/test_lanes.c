/* Lanes by name and by index. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "ops/lanes.h"
#include "scheduler/frontier.h"

static struct config_target two_targets[] = {
    {.name = "mail", .match = "mail.*", .max_in_flight = 7, .rate_per_s = 50},
    {.name = "orders", .match = "orders", .max_in_flight = 1000000},
};

static struct config two = {.targets = two_targets, .target_count = 2};

static void assert_lane(const struct lanes *lanes, const char *name, lane_index expected)
{
    lane_index lane = LANES_MAX;
    assert_true(lanes_find(lanes, name, &lane));
    assert_int_equal(lane, expected);
}

static void test_configured(void **state)
{
    (void)state;
    struct lanes lanes;
    lane_index lane = 99;
    lanes_init(&lanes, &two);
    assert_int_equal(lanes.count, LANES_BUILT_IN + 2);
    assert_int_equal(lanes.configured, LANES_BUILT_IN + 2);
    assert_lane(&lanes, "default", LANES_DEFAULT);
    assert_lane(&lanes, "_refused", LANES_REFUSED);
    assert_lane(&lanes, "_undecided", LANES_UNDECIDED);
    assert_lane(&lanes, "mail", LANES_BUILT_IN);
    assert_lane(&lanes, "orders", LANES_BUILT_IN + 1);
    assert_false(lanes_find(&lanes, "mai", &lane));
    assert_false(lanes_find(&lanes, "", &lane));
    assert_int_equal(lane, 99);
    lanes_init(&lanes, &two); /* again: from the beginning */
    assert_int_equal(lanes.count, LANES_BUILT_IN + 2);
}

static void test_retired(void **state)
{
    (void)state;
    struct lanes lanes;
    struct error error;
    lane_index lane;
    char name[METADATA_LANE_NAME_MAX + 1];
    memset(name, 'n', METADATA_LANE_NAME_MAX); /* the longest */
    name[METADATA_LANE_NAME_MAX] = '\0';
    lanes_init(&lanes, &two);
    assert_true(lanes_add(&lanes, name, &lane, &error));
    assert_int_equal(lane, LANES_BUILT_IN + 2);
    assert_lane(&lanes, name, LANES_BUILT_IN + 2);
    assert_int_equal(lanes.configured, LANES_BUILT_IN + 2);
    for (int i = LANES_BUILT_IN + 3; i < LANES_MAX; i++) {
        snprintf(name, sizeof(name), "old-%d", i);
        assert_true(lanes_add(&lanes, name, &lane, &error));
        assert_int_equal(lane, i);
    }
    assert_false(lanes_add(&lanes, "one-more", &lane, &error));
    assert_int_equal(error.code, ERROR_FULL);
    assert_non_null(strstr(error.text, "one-more"));
    assert_non_null(strstr(error.text, "put its entry back into targets"));
    assert_int_equal(lanes.count, LANES_MAX);
    assert_lane(&lanes, "old-127", 127);
}

static void test_limits(void **state)
{
    (void)state;
    struct lanes lanes;
    struct error error;
    lane_index retired;
    lanes_init(&lanes, &two);
    assert_true(lanes_add(&lanes, "old", &retired, &error));
    struct core_lane_options usual = lanes_options(&lanes, &two, LANES_DEFAULT);
    assert_true(usual.max_in_flight > 7 && usual.max_in_flight_bytes > 0 && !usual.paused);
    assert_int_equal(lanes_options(&lanes, &two, LANES_REFUSED).max_in_flight, usual.max_in_flight);
    assert_int_equal(lanes_options(&lanes, &two, retired).max_in_flight, usual.max_in_flight);
    struct core_lane_options mail = lanes_options(&lanes, &two, LANES_BUILT_IN);
    struct core_lane_options orders = lanes_options(&lanes, &two, LANES_BUILT_IN + 1);
    assert_int_equal(mail.max_in_flight, 7);
    assert_int_equal(mail.max_in_flight_bytes, usual.max_in_flight_bytes);
    assert_int_equal(mail.rate_per_s, 50);
    assert_int_equal(orders.max_in_flight, 1000000);
    assert_int_equal(orders.rate_per_s, 0);
    for (lane_index lane = 0; lane < lanes.count; lane++) { /* R10: one lane delivers to nobody */
        assert_true(lanes_options(&lanes, &two, lane).decides == (lane == LANES_UNDECIDED));
        assert_true(lanes_options(&lanes, &two, lane).catches_up == (lane != LANES_REFUSED && lane != LANES_UNDECIDED));
    }
}

static struct partition_frontier sample_frontier(void)
{
    struct partition_frontier frontier = {.committed_offset = 30, .low_offset = 10, .anchor = {39, 5, 6}};
    frontier.shared = (struct frontier_pair){{100, 2}, 40};
    frontier.lanes[0] = (struct frontier_lane){.lane = LANES_BUILT_IN + 1, .frontier = frontier_of((struct frontier_pair){{90, 1}, 30})};
    frontier.lanes[1] = (struct frontier_lane){.lane = 0, .frontier = frontier_of((struct frontier_pair){{80, 1}, 35})};
    assert_true(frontier_step_back(&frontier.lanes[1].frontier));
    frontier.lanes[1].paused = true;
    frontier.moving = true;
    frontier.lane_count = 2;
    frontier.boundary_ms = 85;
    frontier.behind[0] = (struct frontier_lane){.lane = LANES_BUILT_IN, .frontier = frontier_of((struct frontier_pair){{70, 1}, 30})};
    frontier.behind_count = 1;
    return frontier;
}

/* There and back, with another order of lanes in the second run. */
static void test_frontier_by_names(void **state)
{
    (void)state;
    struct lanes lanes;
    static struct metadata metadata;
    struct partition_frontier there = sample_frontier();
    struct partition_frontier back;
    lanes_init(&lanes, &two);
    memset(&metadata, 0, sizeof(metadata));
    metadata.identity.fingerprint = 4711;
    lanes_metadata(&lanes, &there, &metadata);
    assert_int_equal(metadata.identity.fingerprint, 4711);
    assert_int_equal(metadata.lane_count, 2);
    assert_string_equal(metadata.lanes[0].name, "orders");
    assert_string_equal(metadata.lanes[1].name, "default");
    assert_int_equal(metadata.behind_count, 1);
    assert_string_equal(metadata.behind[0].name, "mail");

    struct config_target other_order[] = {{.name = "orders"}, {.name = "mail"}};
    struct config other = {.targets = other_order, .target_count = 2};
    lanes_init(&lanes, &other);
    lanes_frontier(&lanes, &metadata, &back);
    assert_int_equal(back.low_offset, 10);
    assert_int_equal(back.anchor.offset, 39);
    assert_true(frontier_pair_equal(back.shared, there.shared));
    assert_int_equal(back.lane_count, 2);
    assert_int_equal(back.lanes[0].lane, LANES_BUILT_IN);
    assert_true(frontier_equal(&back.lanes[0].frontier, &there.lanes[0].frontier));
    assert_int_equal(back.lanes[1].lane, LANES_DEFAULT);
    assert_true(frontier_equal(&back.lanes[1].frontier, &there.lanes[1].frontier));
    assert_true(back.moving);
    assert_false(back.lanes[0].paused);
    assert_true(back.lanes[1].paused);
    assert_int_equal(back.behind_count, 1);
    assert_int_equal(back.boundary_ms, 85);
    assert_int_equal(back.behind[0].lane, LANES_BUILT_IN + 1);
    assert_true(frontier_equal(&back.behind[0].frontier, &there.behind[0].frontier));
}

static void test_names_not_known_are_left_out(void **state)
{
    (void)state;
    struct lanes lanes;
    struct error error;
    lane_index lane;
    static struct metadata metadata;
    struct partition_frontier frontier = sample_frontier();
    lanes_init(&lanes, &two);
    lanes_metadata(&lanes, &frontier, &metadata);
    struct config none = {.target_count = 0};
    lanes_init(&lanes, &none);
    lanes_frontier(&lanes, &metadata, &frontier);
    assert_int_equal(frontier.lane_count, 1);
    assert_int_equal(frontier.lanes[0].lane, LANES_DEFAULT);
    assert_true(lanes_add(&lanes, "orders", &lane, &error)); /* added first, it is kept */
    lanes_frontier(&lanes, &metadata, &frontier);
    assert_int_equal(frontier.lane_count, 2);
    assert_int_equal(frontier.lanes[0].lane, lane);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_configured),
        cmocka_unit_test(test_retired),
        cmocka_unit_test(test_limits),
        cmocka_unit_test(test_frontier_by_names),
        cmocka_unit_test(test_names_not_known_are_left_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
