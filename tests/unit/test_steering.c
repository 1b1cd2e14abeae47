/* Wishes of people, from their threads to the owner and back. */
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/thread.h"
#include "ops/steering.h"

#define LONG_MS 20000

/* One asker in a thread of its own. */
struct asker {
    struct steering *steering;
    struct steering_wish wish;
    pthread_t thread;
    bool answered;
    struct steering_answer answer;
    struct error error;
};

static void *run(void *context)
{
    struct asker *asker = context;
    asker->answered = steering_ask(asker->steering, &asker->wish, &asker->answer, &asker->error);
    return NULL;
}

static struct steering *new_steering(void)
{
    struct error error;
    struct steering *steering = steering_new(&error);
    assert_non_null(steering);
    return steering;
}

static struct steering_wish move_to(const char *id, int64_t due_ms)
{
    return (struct steering_wish){.verb = STEERING_MOVE,
                                  .topic = span_of_text("in"),
                                  .partition = -1,
                                  .id = span_of_text(id),
                                  .due_ms = due_ms,
                                  .timeout_ms = LONG_MS};
}

static struct steering_call *await_call(struct steering *steering)
{
    struct pollfd fd = {steering_fd(steering), POLLIN, 0};
    assert_int_equal(poll(&fd, 1, LONG_MS), 1);
    struct steering_call *call = steering_take(steering);
    assert_non_null(call);
    return call;
}

static void test_asked_and_answered(void **state)
{
    (void)state;
    struct steering *steering = new_steering();
    char id[] = "order-1";
    struct asker asker = {.steering = steering, .wish = move_to(id, 7)};
    assert_null(steering_take(steering));
    assert_true(thread_start(&asker.thread, run, &asker));
    struct steering_call *call = await_call(steering);
    const struct steering_wish *wish = steering_wish_of(call);
    assert_int_equal(wish->verb, STEERING_MOVE);
    assert_int_equal(wish->due_ms, 7);
    assert_int_equal(wish->partition, -1);
    assert_true(span_equals_text(wish->topic, "in"));
    assert_true(span_equals_text(wish->id, "order-1"));
    assert_true(wish->id.data != (const uint8_t *)id); /* the call's own */
    assert_null(wish->lane.data);
    steering_answer(steering, call, &(struct steering_answer){.result = STEERING_DONE, .partition = 3, .due_ms = 99});
    pthread_join(asker.thread, NULL);
    assert_true(asker.answered);
    assert_int_equal(asker.answer.result, STEERING_DONE);
    assert_int_equal(asker.answer.partition, 3);
    assert_int_equal(asker.answer.due_ms, 99);
    steering_close(steering);
    steering_free(steering);
}

static void test_lanes_need_no_id(void **state)
{
    (void)state;
    struct steering *steering = new_steering();
    struct asker asker = {.steering = steering,
                          .wish = {.verb = STEERING_LANE_PAUSE, .topic = span_of_text("left out"), .lane = span_of_text("mail"), .timeout_ms = LONG_MS}};
    assert_true(thread_start(&asker.thread, run, &asker));
    struct steering_call *call = await_call(steering);
    assert_true(span_equals_text(steering_wish_of(call)->lane, "mail"));
    assert_null(steering_wish_of(call)->topic.data);
    steering_answer(steering, call, &(struct steering_answer){.result = STEERING_NOT_FOUND, .partition = -1, .due_ms = -1});
    pthread_join(asker.thread, NULL);
    assert_true(asker.answered);
    assert_int_equal(asker.answer.result, STEERING_NOT_FOUND);
    steering_close(steering);
    steering_free(steering);
}

/* Each is told what is wrong with it, and nobody waits. */
static void test_what_is_no_wish(void **state)
{
    (void)state;
    static uint8_t long_id[4097];
    struct steering *steering = new_steering();
    struct steering_wish good = move_to("x", 1);
    struct steering_wish bad[] = {good, good, good, good, good, good, good, good};
    static const char *const words[] = {"timeout", "timeout", "topic", "id", "id", "time to move", "target", "time to move"};
    bad[0].timeout_ms = 0;
    bad[1].timeout_ms = STEERING_TIMEOUT_MAX_MS + 1;
    bad[2].topic = SPAN_ABSENT;
    bad[3].id = span_of_text("");
    bad[4].id = (struct span){long_id, sizeof(long_id)};
    bad[5].due_ms = 0;
    bad[6].verb = STEERING_LANE_RESUME;
    bad[7].due_ms = INT64_C(253402300800000); /* the year 10000: no header could say it */
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        struct steering_answer answer;
        struct error error = {0};
        assert_false(steering_ask(steering, &bad[i], &answer, &error));
        assert_int_equal(error.code, ERROR_INVALID);
        assert_non_null(strstr(error.text, words[i]));
        assert_null(steering_take(steering));
    }
    steering_close(steering);
    steering_free(steering);
}

static void test_the_end_is_told(void **state)
{
    (void)state;
    struct steering *steering = new_steering();
    struct asker asker = {.steering = steering, .wish = move_to("x", 1)};
    struct pollfd fd = {steering_fd(steering), POLLIN, 0};
    assert_true(thread_start(&asker.thread, run, &asker));
    assert_int_equal(poll(&fd, 1, LONG_MS), 1);
    steering_close(steering);
    pthread_join(asker.thread, NULL);
    assert_false(asker.answered);
    assert_int_equal(asker.error.code, ERROR_UNAVAILABLE);
    assert_non_null(strstr(asker.error.text, "is stopping"));
    steering_free(steering);
}

/* No more than the owner can keep are handed over; the others wait. */
static void test_few_are_under_way(void **state)
{
    (void)state;
    static struct asker askers[STEERING_UNDER_WAY_MAX + 1];
    static struct steering_call *calls[STEERING_UNDER_WAY_MAX];
    struct steering *steering = new_steering();
    for (size_t i = 0; i <= STEERING_UNDER_WAY_MAX; i++) {
        askers[i] = (struct asker){.steering = steering, .wish = move_to("x", (int64_t)i + 1)};
        assert_true(thread_start(&askers[i].thread, run, &askers[i]));
    }
    for (size_t i = 0; i < STEERING_UNDER_WAY_MAX; i++) {
        calls[i] = await_call(steering);
    }
    struct pollfd fd = {steering_fd(steering), POLLIN, 0};
    assert_int_equal(poll(&fd, 1, LONG_MS), 1); /* the last one is there */
    assert_null(steering_take(steering));
    steering_answer(steering, calls[0], &(struct steering_answer){.result = STEERING_TOO_LATE, .due_ms = 1});
    calls[0] = await_call(steering);
    for (size_t i = 0; i < STEERING_UNDER_WAY_MAX; i++) {
        steering_answer(steering, calls[i], &(struct steering_answer){.result = STEERING_TOO_LATE, .due_ms = 1});
    }
    for (size_t i = 0; i <= STEERING_UNDER_WAY_MAX; i++) {
        pthread_join(askers[i].thread, NULL);
        assert_true(askers[i].answered);
        assert_int_equal(askers[i].answer.result, STEERING_TOO_LATE);
    }
    steering_close(steering);
    steering_free(steering);
}

static void test_results_have_names(void **state)
{
    (void)state;
    assert_string_equal(steering_result_name(STEERING_DONE), "done");
    assert_string_equal(steering_result_name(STEERING_NOT_HERE), "not_here");
    assert_string_equal(steering_result_name(STEERING_TIMEOUT), "timeout");
    assert_string_equal(steering_result_name(STEERING_UNREADABLE), "unreadable");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_asked_and_answered), cmocka_unit_test(test_lanes_need_no_id), cmocka_unit_test(test_what_is_no_wish),
        cmocka_unit_test(test_the_end_is_told),    cmocka_unit_test(test_few_are_under_way), cmocka_unit_test(test_results_have_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
