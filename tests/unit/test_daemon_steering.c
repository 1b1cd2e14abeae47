/* People's wishes as the owner carries them out, with the real core: no broker, no store, the turns taken by hand. */
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/thread.h"
#include "bridge/time_text.h"
#include "ops/daemon_state.h"
#include "scheduler/bucket.h"
#include "tests/support/daemon_scene.h"
#include "tests/support/list_scene.h"

#define WALL_MS INT64_C(1800000000000)
#define HOUR_MS INT64_C(3600000)
#define LONG_MS 20000

static struct config_target targets[] = {{.name = "mail", .match = "mail", .max_in_flight = 10}};
static struct config config = {.group = "g", .targets = targets, .target_count = 1};

struct asker {
    struct daemon *daemon;
    struct steering_wish wish;
    pthread_t thread;
    bool answered;
    struct steering_answer answer;
};

/* ------------------------------------------------------------------------------------------------- an owner */

static void act(struct daemon *daemon, const struct command *command)
{
    if (command->kind == COMMAND_STEERED) {
        daemon_steering_answer(daemon, &command->as.steered);
    } else if (command->kind == COMMAND_COPY) {
        assert_true(command->as.copy.why == COPY_MOVED || command->as.copy.why == COPY_PAUSED);
        daemon_input(daemon, INPUT_REAPPENDED, partitions_at(&daemon->partitions, command->slot));
    } else if (command->kind == COMMAND_COMMIT) {
        daemon_input(daemon, INPUT_COMMIT_DONE, partitions_at(&daemon->partitions, command->slot))->as.commit = COMMIT_ACKNOWLEDGED;
    } else if (command->kind == COMMAND_TRANSACTION) { /* it commits at once; nothing reads the copies back */
        static struct copied_end end;
        end = (struct copied_end){command->as.transaction.slots[0].slot, command->as.transaction.slots[0].epoch, 100};
        daemon_input(daemon, INPUT_TRANSACTION_DONE, NULL)->as.transaction =
            (struct input_transaction){command->as.transaction.number, TRANSACTION_COMMITTED, &end, 1};
    }
}

static void step(struct daemon *daemon)
{
    daemon_scene_step(daemon, act);
}

static void turn(struct daemon *daemon)
{
    daemon_steering_take(daemon);
    daemon->now.mono.ms += 200;
    daemon->now.wall.ms += 200;
    step(daemon);
}

/* Two partitions; the second has an event of "here", due in an hour. */
static int begin(void **state)
{
    struct error error;
    struct daemon *daemon = daemon_scene_new(&config, (struct now){{WALL_MS}, {1000}});
    assert_true(daemon_steering_open(daemon, &error));
    daemon_scene_gain(daemon, "in", 0, 0, NULL);
    const struct partition *second = daemon_scene_gain(daemon, "in", 1, 0, NULL);
    daemon_scene_read(daemon, second, "here", span_of_text("row"))->due_ms = WALL_MS + HOUR_MS;
    step(daemon);
    *state = daemon;
    return 0;
}

static int end(void **state)
{
    struct daemon *daemon = *state;
    daemon_steering_close(daemon);
    daemon_steering_free(daemon);
    daemon_scene_free(daemon);
    return 0;
}

/* ------------------------------------------------------------------------------------------------- asking */

static void *run(void *context)
{
    struct asker *asker = context;
    struct error error;
    asker->answered = steering_ask(asker->daemon->steering, &asker->wish, &asker->answer, &error);
    return NULL;
}

static size_t count_answers(const struct daemon *daemon)
{
    double count = 0;
    for (size_t result = 0; result < STEERING_RESULTS; result++) {
        count += metrics_value(daemon->metrics, METRIC_STEERED, result, 0);
    }
    return (size_t)count;
}

/* Asks, and takes turns until it is answered. */
static struct steering_answer ask(struct daemon *daemon, const struct steering_wish *wish)
{
    size_t before = count_answers(daemon);
    struct asker asker = {.daemon = daemon, .wish = *wish};
    struct pollfd fd = {steering_fd(daemon->steering), POLLIN, 0};
    asker.wish.timeout_ms = LONG_MS;
    assert_true(thread_start(&asker.thread, run, &asker));
    assert_int_equal(poll(&fd, 1, LONG_MS), 1);
    for (int i = 0; i < 200 && count_answers(daemon) == before; i++) {
        turn(daemon);
    }
    pthread_join(asker.thread, NULL);
    assert_true(asker.answered);
    assert_int_equal(count_answers(daemon), before + 1);
    return asker.answer;
}

static struct steering_wish wish_of(enum steering_verb verb, const char *topic, const char *id)
{
    return (struct steering_wish){.verb = verb, .topic = span_of_text(topic), .partition = -1, .id = span_of_text(id), .due_ms = WALL_MS + 5};
}

static void test_moved(void **state)
{
    struct steering_wish wish = wish_of(STEERING_MOVE, "in", "here");
    struct steering_answer answer = ask(*state, &wish);
    assert_int_equal(answer.result, STEERING_DONE);
    assert_int_equal(answer.partition, 1); /* found in the second that was asked */
    assert_int_equal(answer.due_ms, WALL_MS + HOUR_MS);
}

static void test_paused(void **state)
{
    struct steering_wish wish = wish_of(STEERING_PAUSE, "in", "here");
    wish.partition = 1;
    assert_int_equal(ask(*state, &wish).result, STEERING_DONE);
}

/* Nothing reads the re-append back here: it stays "moving", and the wish's time runs out. */
static void test_moving_runs_out_of_time(void **state)
{
    struct steering_wish wish = wish_of(STEERING_RUN_NOW, "in", "here");
    assert_int_equal(ask(*state, &wish).result, STEERING_DONE);
    struct steering_answer answer = ask(*state, &wish);
    assert_int_equal(answer.result, STEERING_TIMEOUT);
    assert_int_equal(answer.partition, -1);
    assert_int_equal(answer.due_ms, -1);
}

static void test_not_found(void **state)
{
    struct steering_wish wish = wish_of(STEERING_RESUME, "in", "gone");
    assert_int_equal(ask(*state, &wish).result, STEERING_NOT_FOUND);
    wish.id = span_of_text("here");
    wish.partition = 0; /* it is in the other one */
    assert_int_equal(ask(*state, &wish).result, STEERING_NOT_FOUND);
}

/* A wish that meets a store that does not read is answered; the process goes on. */
static void test_unreadable(void **state)
{
    struct daemon *daemon = *state;
    struct list_scene *scene = list_scene_new();
    struct partition *partition = partitions_add(&daemon->partitions, "in", 9, 0);
    while (partition->slot < LIST_SCENE_PLACES) { /* of which the store knows nothing */
        partition = partitions_add(&daemon->partitions, "in", partition->number + 1, 0);
    }
    partition->state = PARTITIONS_OPEN;
    partition->gained = true;
    partition->has_ids = true;
    daemon->store = scene->store;
    struct steering_wish wish = wish_of(STEERING_RUN_NOW, "in", "here");
    wish.partition = partition->number;
    struct steering_answer answer = ask(daemon, &wish);
    assert_int_equal(answer.result, STEERING_UNREADABLE);
    assert_non_null(strstr(answer.failure.text, "not bound"));
    assert_false(daemon->failed);
    partition->gained = false;
    daemon->store = NULL;
    list_scene_free(scene);
}

static void test_not_here(void **state)
{
    struct steering_wish wish = wish_of(STEERING_PAUSE, "elsewhere", "here");
    assert_int_equal(ask(*state, &wish).result, STEERING_NOT_HERE);
    wish = wish_of(STEERING_PAUSE, "in", "here");
    wish.partition = 7;
    assert_int_equal(ask(*state, &wish).result, STEERING_NOT_HERE);
}

static bool is_paused(const struct daemon *daemon, slot_index slot, lane_index lane)
{
    struct core_queue_stats stats;
    core_queue_stats(daemon->core, slot, lane, daemon->now, &stats);
    return stats.paused;
}

static void test_lanes(void **state)
{
    struct daemon *daemon = *state;
    struct steering_wish wish = {.verb = STEERING_LANE_PAUSE, .lane = span_of_text("mail")};
    assert_int_equal(ask(daemon, &wish).result, STEERING_DONE);
    assert_true(is_paused(daemon, 0, LANES_BUILT_IN) && is_paused(daemon, 1, LANES_BUILT_IN));
    assert_false(is_paused(daemon, 0, LANES_DEFAULT));
    wish.verb = STEERING_LANE_RESUME;
    assert_int_equal(ask(daemon, &wish).result, STEERING_DONE);
    assert_false(is_paused(daemon, 0, LANES_BUILT_IN) || is_paused(daemon, 1, LANES_BUILT_IN));
    wish.lane = span_of_text("no such");
    assert_int_equal(ask(daemon, &wish).result, STEERING_NOT_FOUND);
    wish.lane = span_of_text(LANES_UNDECIDED_NAME); /* nobody's target */
    assert_int_equal(ask(daemon, &wish).result, STEERING_NOT_FOUND);
}

/* What is paused never leaves by itself, so that a topic that was made again would wait for it in silence. */
static void test_only_paused_ones_are_pending(void **state)
{
    struct daemon *daemon = *state;
    static struct bucket_stats stored[2];
    for (int i = 0; i < 2; i++) {
        int64_t due_ms = i == 0 ? TIME_TEXT_LAST_MS : WALL_MS + 100 * HOUR_MS;
        stored[i] = (struct bucket_stats){.id = bucket_of(LANES_DEFAULT, BUCKET_LEVELS - 1, due_ms), .count = 1, .bytes = 3, .greatest = {due_ms, i}};
    }
    assert_false(daemon_open_only_paused(daemon, partitions_find(&daemon->partitions, "in", 0))); /* nothing is pending */
    assert_false(daemon_open_only_paused(daemon, partitions_find(&daemon->partitions, "in", 1)));
    for (size_t count = 1; count <= 2; count++) {
        struct input_slot_gained gained = {.position = 5, .stored_position = 5, .buckets = stored, .bucket_count = count};
        const struct partition *last = daemon_scene_gain(daemon, "in", 2, 0, &gained);
        step(daemon);
        assert_int_equal(daemon_open_only_paused(daemon, last), count == 1);
        daemon_input(daemon, INPUT_SLOT_LOST, last);
        step(daemon);
        partitions_remove(&daemon->partitions, partitions_find(&daemon->partitions, "in", 2));
    }
}

/* While a partition is asked the loop sleeps; that one has it not wakes it for the next at once; one that is moving is asked a little later. */
static void test_when_it_is_asked_again(void **state)
{
    struct daemon *daemon = *state;
    struct asker asker = {.daemon = daemon, .wish = wish_of(STEERING_MOVE, "in", "here")};
    struct pollfd fd = {steering_fd(daemon->steering), POLLIN, 0};
    asker.wish.timeout_ms = LONG_MS;
    assert_true(thread_start(&asker.thread, run, &asker));
    assert_int_equal(poll(&fd, 1, LONG_MS), 1);
    daemon_steering_take(daemon);
    assert_int_equal(daemon_steering_deadline(daemon), daemon->now.mono.ms + LONG_MS);
    daemon_steering_answer(daemon, &(struct command_steered){.token = 1, .result = STEER_NOT_FOUND});
    assert_int_equal(daemon_steering_deadline(daemon), daemon->now.mono.ms);
    daemon_steering_take(daemon);
    daemon_steering_answer(daemon, &(struct command_steered){.token = 1, .result = STEER_MOVING});
    assert_int_equal(daemon_steering_deadline(daemon), daemon->now.mono.ms + 20);
    daemon_steering_take(daemon);
    daemon_steering_answer(daemon, &(struct command_steered){.token = 1, .result = STEER_NOT_FOUND});
    daemon_steering_take(daemon);
    pthread_join(asker.thread, NULL);
    assert_int_equal(asker.answer.result, STEERING_NOT_FOUND);
    daemon->input_count = 0;
}

/* A daemon that stops does not take any, nor wake for them. */
static void test_stopping(void **state)
{
    struct daemon *daemon = *state;
    assert_true(daemon_steering_wants(daemon));
    assert_int_equal(daemon_steering_deadline(daemon), TIME_NEVER);
    daemon->stopping = true;
    assert_false(daemon_steering_wants(daemon));
    assert_int_equal(daemon_steering_deadline(daemon), TIME_NEVER);
}

#define WITH(test) cmocka_unit_test_setup_teardown(test, begin, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH(test_moved),    WITH(test_paused), WITH(test_moving_runs_out_of_time), WITH(test_not_found),
        WITH(test_not_here), WITH(test_lanes),  WITH(test_stopping),
        WITH(test_unreadable),
        WITH(test_when_it_is_asked_again), WITH(test_only_paused_ones_are_pending),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
