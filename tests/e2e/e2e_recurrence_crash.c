/*
 * Twenty schedules that come every second or two, and two instances of one group that are killed, stopped and frozen for longer than a session, in both modes of
 * delivery. No occurrence is missing; with exactly_once none comes twice, with at_least_once one may for each time that an instance went away. A chain has one next
 * occurrence, never two; and one that was cancelled does not come back.
 */
#include <inttypes.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <setjmp.h>

#include <cmocka.h>

#include "base/memory.h"
#include "base/random.h"
#include "tests/support/await.h"
#include "tests/support/scene_instance.h"
#include "tests/support/scene_schedules.h"

#define PARTITIONS 4
#define SCHEDULES 20
#define KINDS 5 /* 4 of each */
#define KILLS 6
#define AWAY (KILLS + 2) /* kills, an orderly end, and a frozen one */
#define COUNT 8
#define UNTIL_MS 12000
#define LIFE_MIN_MS 300
#define LIFE_MAX_MS 1800
#define MOVED_MS 30000
#define CANCELLED_EARLY 4
#define QUIET_MS 3000 /* longer than an occurrence of any, and a commit */

#define COMMON                                                                                                                                   \
    .partitions = PARTITIONS, .shared_input = true, .source = "misfire: all", .outs = {SCENE_SCHEDULES_HISTORY_OUT},                             \
    .kafka = "consumer: {session.timeout.ms: 2500, heartbeat.interval.ms: 300}"

static const struct scene_options at_least_once = {
    COMMON, .more = "delivery: at_least_once\ntransaction_timeout: 1500ms\n" SCENE_SCHEDULES_HISTORY};
static const struct scene_options exactly_once = {COMMON, .more = "delivery: exactly_once\ntransaction_timeout: 1500ms\n" SCENE_SCHEDULES_HISTORY};

enum kind { EVERY_SECOND, EVERY_TWO, CRON_SECOND, CRON_COUNT, EVERY_UNTIL };

struct test {
    struct scene *scene;
    struct scene_instance *both[2];
    struct random random;
    int64_t until_ms;
    bool exactly;
};

static enum kind kind_of(int number)
{
    return (enum kind)(number % KINDS);
}

static int64_t step_of(int number)
{
    return kind_of(number) == EVERY_TWO ? 2000 : 1000;
}

static void id_of(int number, char id[16])
{
    snprintf(id, 16, "s-%d", number);
}

static void send_schedules(struct test *test)
{
    test->until_ms = await_wall_ms() + UNTIL_MS;
    for (int i = 0; i < SCHEDULES; i++) {
        struct scene *scene = test->scene;
        char id[16];
        id_of(i, id);
        switch (kind_of(i)) {
        case EVERY_SECOND:
            SCENE_SCHEDULE(scene, i % PARTITIONS, id, "tarry-id", id, "tarry-every", "1s");
            break;
        case EVERY_TWO:
            SCENE_SCHEDULE(scene, i % PARTITIONS, id, "tarry-id", id, "tarry-every", "2s");
            break;
        case CRON_SECOND:
            SCENE_SCHEDULE(scene, i % PARTITIONS, id, "tarry-id", id, "tarry-cron", "* * * * * *", "tarry-tz", "America/New_York");
            break;
        case CRON_COUNT:
            SCENE_SCHEDULE(scene, i % PARTITIONS, id, "tarry-id", id, "tarry-cron", "* * * * * *", "tarry-count", scene_schedules_text(COUNT));
            break;
        case EVERY_UNTIL:
            SCENE_SCHEDULE(scene, i % PARTITIONS, id, "tarry-id", id, "tarry-every", "1s", "tarry-until", scene_schedules_text(test->until_ms));
            break;
        }
    }
    kafka_client_flush(test->scene->producer);
}

/* ------------------------------------------------------------------------------------------------- going away */

static void await_shared(struct test *test)
{
    scene_instance_await_partitions(test->both[0], PARTITIONS / 2, MOVED_MS);
    scene_instance_await_partitions(test->both[1], PARTITIONS / 2, MOVED_MS);
}

static void die(struct test *test, int kill)
{
    struct scene_instance *dying = test->both[kill % 2];
    await_pause_ms(LIFE_MIN_MS + (int64_t)random_below(&test->random, LIFE_MAX_MS - LIFE_MIN_MS)); /* the moments of death are what is tested */
    scene_instance_kill(dying);
    if (kill == KILLS / 2) {
        scene_instance_lose_disk(dying);
    }
    scene_instance_launch(dying, NULL);
}

/* It stays a member until its session is over; then the other one has all. */
static void end_and_return(struct test *test)
{
    scene_instance_stop(test->both[1]);
    scene_instance_await_partitions(test->both[0], PARTITIONS, MOVED_MS);
    scene_instance_launch(test->both[1], NULL);
    await_shared(test);
}

/* Comes back when the other one has gone on without it: it joins anew, or ends because it was fenced and is started again. */
static void freeze_and_return(struct test *test)
{
    struct scene_instance *frozen = test->both[1];
    tarry_process_signal(frozen->process, SIGSTOP);
    scene_instance_await_partitions(test->both[0], PARTITIONS, MOVED_MS);
    tarry_process_signal(frozen->process, SIGCONT);
    await_pause_ms(1000); /* what it does with its old rights it does now */
    if (!scene_instance_running(frozen)) {
        assert_true(tarry_process_log_count(frozen->process, "fenced") > 0);
        scene_instance_launch(frozen, NULL);
    }
    await_shared(test);
}

/* Those that go on until somebody ends them. */
static bool is_endless(int number)
{
    return kind_of(number) == EVERY_SECOND || kind_of(number) == EVERY_TWO || kind_of(number) == CRON_SECOND;
}

struct asked {
    struct test *test;
    int first;
    int last;
};

/* A cancel ends what waits (`cancelled`), or comes when an occurrence is under way: then it was too late for that one, and the next one is `skipped`. */
static bool all_told(void *context)
{
    const struct asked *asked = context;
    bool all = true;
    scene_schedules_read(asked->test->scene);
    for (int i = asked->first; i < asked->last; i++) {
        char id[16];
        id_of(i, id);
        all = all && (!is_endless(i) || scene_schedules_told(asked->test->scene, id, "cancelled") > 0 ||
                      (scene_schedules_told(asked->test->scene, id, "too_late") > 0 && scene_schedules_told(asked->test->scene, id, "skipped") > 0));
    }
    return all;
}

/* Cancels the endless ones from `first` to before `last`, and waits until that is told. Returns when it was. */
static int64_t cancel(struct test *test, int first, int last)
{
    char id[16];
    for (int i = first; i < last; i++) {
        id_of(i, id);
        if (is_endless(i)) {
            SCENE_SCHEDULE(test->scene, i % PARTITIONS, "", "tarry-id", id, "tarry-action", "cancel");
        }
    }
    struct asked asked = {test, first, last};
    assert_true(await_condition(all_told, &asked, SCENE_SCHEDULES_OUT_MS));
    return await_wall_ms();
}

/* ---------------------------------------------------------------------------------------------------- checks */

static int compare_times(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a;
    int64_t y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* Every step from the first to the last is there; returns how many are there more than once. `due_ms` is sorted after it. */
static size_t count_repeats(const char *id, int64_t *due_ms, size_t count, int64_t step_ms)
{
    size_t repeats = 0;
    qsort(due_ms, count, sizeof(*due_ms), compare_times);
    for (size_t i = 1; i < count; i++) {
        repeats += due_ms[i] == due_ms[i - 1];
        if (due_ms[i] != due_ms[i - 1] && due_ms[i] != due_ms[i - 1] + step_ms) {
            fail_msg("%s: nothing between %" PRId64 " and %" PRId64, id, due_ms[i - 1], due_ms[i]);
        }
    }
    return repeats;
}

static void check_schedule(struct test *test, int number)
{
    char id[16];
    id_of(number, id);
    if (test->exactly) {
        scene_schedules_assert_chain(test->scene, id, step_of(number), true, false);
    }
    struct scene_schedules_chain chain = scene_schedules_chain(test->scene, id);
    assert_true(chain.count > 0);
    size_t repeats = count_repeats(id, chain.due_ms, chain.count, step_of(number));
    int64_t last_ms = chain.due_ms[chain.count - 1];
    fprintf(stderr, "%s%s: %zu, %zu of them again", number == 0 ? "" : "; ", id, chain.count - repeats, repeats);
    assert_true(repeats <= (test->exactly ? 0 : AWAY));
    if (kind_of(number) == CRON_COUNT) {
        assert_int_equal(chain.count - repeats, COUNT);
    } else if (kind_of(number) == EVERY_UNTIL) {
        assert_true(last_ms <= test->until_ms && last_ms + step_of(number) > test->until_ms);
    }
    scene_schedules_chain_free(&chain);
}

/* The due time in a long tarry-root, "<offset>:<timestamp>:<due>:...". */
static int64_t root_due(const char *root)
{
    const char *place = strchr(root, ':');
    place = place == NULL ? NULL : strchr(place + 1, ':');
    assert_non_null(place);
    return strtoll(place + 1, NULL, 10);
}

/* Committed re-appends of the input topic: each occurrence of an id is written at most once, whoever wrote it. */
static void check_chains_do_not_fork(struct test *test)
{
    const char *const topics[] = {test->scene->in, NULL};
    struct kafka_client_records records = kafka_client_read_all(test->scene->bootstrap, topics);
    int64_t last_ms[SCHEDULES] = {0};
    size_t count = 0;
    for (size_t i = 0; i < records.count; i++) {
        const struct kafka_client_record *item = &records.items[i];
        const char *root = kafka_client_header_text(item, "tarry-root");
        if (root == NULL) {
            continue;
        }
        int64_t due_ms = root_due(root);
        long number = strtol(kafka_client_header_text(item, "tarry-id") + 2, NULL, 10);
        assert_true(number >= 0 && number < SCHEDULES);
        if (due_ms <= last_ms[number]) {
            fail_msg("s-%ld: written for %" PRId64 " after %" PRId64 " (%s)", number, due_ms, last_ms[number], root);
        }
        last_ms[number] = due_ms;
        count++;
    }
    fprintf(stderr, "\n%zu next occurrences written, of %zu records\n", count, records.count);
    assert_true(count > SCHEDULES);
    kafka_client_records_free(&records);
}

/* Outputs of one schedule after a moment. */
static struct scene_schedules_chain chain_since(const struct test *test, int number, int64_t since_ms)
{
    char id[16];
    id_of(number, id);
    struct scene_schedules_chain chain = scene_schedules_chain(test->scene, id);
    size_t kept = 0;
    for (size_t i = 0; i < chain.count; i++) {
        if (chain.at_ms[i] > since_ms) {
            chain.due_ms[kept] = chain.due_ms[i];
            chain.at_ms[kept++] = chain.at_ms[i];
        }
    }
    chain.count = kept;
    return chain;
}

/* Nothing of them went out after it had been told that they are cancelled. */
static void assert_gone(const struct test *test, int first, int last, int64_t told_ms)
{
    for (int i = first; i < last; i++) {
        struct scene_schedules_chain chain = chain_since(test, i, told_ms);
        if (is_endless(i) && chain.count > 0) {
            fail_msg("s-%d was cancelled, and %zu went out after that was told", i, chain.count);
        }
        scene_schedules_chain_free(&chain);
    }
}

/* One answer for each cancel. */
static void assert_told_once(const struct test *test, int first)
{
    static const char *const answers[] = {"cancelled", "too_late", "not_found"};
    for (int i = first; i < SCHEDULES; i++) {
        char id[16];
        size_t count = 0;
        id_of(i, id);
        for (size_t k = 0; k < sizeof(answers) / sizeof(answers[0]); k++) {
            count += scene_schedules_told(test->scene, id, answers[k]);
        }
        assert_int_equal(count, is_endless(i));
    }
}

/* Since nobody went away any more nothing came twice, in either mode. */
static void assert_steady(const struct test *test, int first, int64_t since_ms)
{
    for (int i = first; i < SCHEDULES; i++) {
        struct scene_schedules_chain chain = chain_since(test, i, since_ms);
        assert_true(!is_endless(i) || chain.count > 0);
        assert_int_equal(count_repeats("steady", chain.due_ms, chain.count, step_of(i)), 0);
        scene_schedules_chain_free(&chain);
    }
}

/* ------------------------------------------------------------------------------------------------------ test */

static void kill_both(struct test *test)
{
    scene_instance_kill(test->both[0]);
    scene_instance_kill(test->both[1]);
    scene_instance_launch(test->both[0], NULL);
    scene_instance_launch(test->both[1], NULL);
    await_shared(test);
}

static bool has_ended(void *context)
{
    struct test *test = context;
    bool ended = await_wall_ms() > test->until_ms;
    scene_schedules_read(test->scene);
    for (int i = 0; i < SCHEDULES; i++) {
        struct scene_schedules_chain chain = chain_since(test, i, 0);
        int64_t last_ms = chain.count == 0 ? 0 : chain.due_ms[chain.count - 1];
        ended = ended && (kind_of(i) != CRON_COUNT || chain.count >= COUNT) && (kind_of(i) != EVERY_UNTIL || last_ms + step_of(i) > test->until_ms);
        scene_schedules_chain_free(&chain);
    }
    return ended;
}

static struct test begin(const char *name, const struct scene_options *options, uint64_t seed)
{
    struct test test = {.random = random_new(seed), .exactly = options == &exactly_once};
    test.scene = scene_open(name, options);
    test.both[0] = scene_instance_add(test.scene, "first", options);
    test.both[1] = scene_instance_add(test.scene, "second", options);
    scene_instance_start(test.both[0]);
    scene_instance_launch(test.both[1], NULL);
    await_shared(&test);
    send_schedules(&test);
    return test;
}

static void check_all(struct test *test)
{
    scene_schedules_read(test->scene);
    scene_schedules_assert_never_early(test->scene);
    for (int i = 0; i < SCHEDULES; i++) {
        check_schedule(test, i);
    }
    check_chains_do_not_fork(test);
}

static void survive(const char *name, const struct scene_options *options, uint64_t seed)
{
    struct test test = begin(name, options, seed);
    for (int kill = 0; kill < KILLS - 2; kill++) {
        die(&test, kill);
    }
    await_shared(&test);
    end_and_return(&test);
    freeze_and_return(&test);
    int64_t told_ms = cancel(&test, 0, CANCELLED_EARLY);
    kill_both(&test); /* at once: what has been told holds */
    await_pause_ms(QUIET_MS); /* longer than what the kills may repeat takes */
    int64_t steady_ms = await_wall_ms();
    assert_true(await_condition(has_ended, &test, SCENE_SCHEDULES_OUT_MS));
    await_pause_ms(QUIET_MS);
    int64_t last_ms = cancel(&test, CANCELLED_EARLY, SCHEDULES);
    await_pause_ms(QUIET_MS); /* so long that each would have come again */
    check_all(&test);
    assert_gone(&test, 0, CANCELLED_EARLY, told_ms);
    assert_gone(&test, CANCELLED_EARLY, SCHEDULES, last_ms);
    assert_steady(&test, CANCELLED_EARLY, steady_ms);
    assert_told_once(&test, CANCELLED_EARLY);
    scene_instance_stop(test.both[0]);
    scene_instance_stop(test.both[1]);
    scene_close(test.scene);
}

static void chains_survive_at_least_once(void **state)
{
    (void)state;
    survive("chains", &at_least_once, 21);
}

static void chains_survive_exactly_once(void **state)
{
    (void)state;
    survive("chainsexact", &exactly_once, 22);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(chains_survive_at_least_once, scene_teardown),
        cmocka_unit_test_teardown(chains_survive_exactly_once, scene_teardown),
    };
    return cmocka_run_group_tests(tests, scene_group_setup, scene_group_teardown);
}
