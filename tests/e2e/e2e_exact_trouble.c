/*
 * Records that cannot be delivered among good ones, with exactly_once: the broker refuses them with all that is in their transaction. The neighbours go out once,
 * in order; each culprit lies in the refused topic once, whole and with its reason.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <setjmp.h>

#include <cmocka.h>

#include "base/memory.h"
#include "tests/support/await.h"
#include "tests/support/scene.h"

#define PARTITIONS 2
#define GOOD 3000
#define EVERY 750 /* so many good ones to one that is too large, and one whose topic is not there */
#define CULPRITS (GOOD / EVERY)
#define LARGE_BYTES 20000
#define SMALL_BYTES "4000"
#define OUT_MS 60000

static const struct scene_options options = {
    .partitions = PARTITIONS,
    .targets = "[{name: small, match: \"@-small\"}, {name: missing, match: \"@-missing\"}]",
    .more = "delivery: exactly_once\nunknown_topic_grace: 1s",
};

static char large[LARGE_BYTES];

static void name_topic(const struct scene *scene, const char *suffix, char topic[SCENE_NAME_MAX + 16])
{
    snprintf(topic, SCENE_NAME_MAX + 16, "%s-%s", scene->prefix, suffix);
}

static void send_good(struct scene *scene, int number, int64_t due_ms)
{
    char topic[SCENE_NAME_MAX + 16];
    char value[32];
    name_topic(scene, "small", topic);
    snprintf(value, sizeof(value), "good %d", number);
    bool small = number % 2 == 0;
    scene_send(scene, &(struct scene_event){.partition = number / 2 % PARTITIONS,
                                            .due_ms = due_ms,
                                            .target = small ? topic : NULL,
                                            .lane = small ? "small" : "default",
                                            .ordered = true,
                                            .value = span_of_text(value)});
}

static void send_culprit(struct scene *scene, int number, const char *suffix, struct span value, int64_t due_ms)
{
    char topic[SCENE_NAME_MAX + 16];
    char id[32];
    name_topic(scene, suffix, topic);
    snprintf(id, sizeof(id), "%s %d", suffix, number);
    scene_send_apart(scene, &(struct scene_event){.partition = number % PARTITIONS,
                                                  .due_ms = due_ms,
                                                  .target = topic,
                                                  .value = value,
                                                  .id = span_of_text(id)});
}

/* All due within two seconds: each transaction has many neighbours of a culprit. */
static void send_all(struct scene *scene)
{
    int64_t due_ms = await_wall_ms() + 4000;
    memset(large, 'x', sizeof(large));
    for (int i = 0; i < GOOD; i++) {
        send_good(scene, i, due_ms + i * 2000 / GOOD);
        if (i % EVERY == EVERY / 2) {
            send_culprit(scene, i / EVERY, "small", (struct span){(const uint8_t *)large, sizeof(large)}, due_ms + i * 2000 / GOOD);
            send_culprit(scene, i / EVERY, "missing", span_of_text("of nowhere"), due_ms + i * 2000 / GOOD);
        }
    }
    scene_flush(scene);
}

static size_t count_refused(const struct kafka_client_records *records, const char *reason, const char *id)
{
    size_t count = 0;
    for (size_t i = 0; i < records->count; i++) {
        const char *text = kafka_client_header_text(&records->items[i], "__dlq.errors.reason");
        bool same = text != NULL && strcmp(text, reason) == 0;
        text = kafka_client_header_text(&records->items[i], "tarry-id");
        count += same && text != NULL && strcmp(text, id) == 0;
    }
    return count;
}

static void assert_refused_once(struct scene *scene)
{
    struct kafka_client_records refused = scene_read_refused(scene);
    for (int i = 0; i < CULPRITS; i++) {
        char id[32];
        snprintf(id, sizeof(id), "small %d", i);
        assert_int_equal(count_refused(&refused, "undeliverable", id), 1);
        snprintf(id, sizeof(id), "missing %d", i);
        assert_int_equal(count_refused(&refused, "unknown_target", id), 1);
    }
    assert_int_equal(refused.count, 2 * CULPRITS);
    for (size_t i = 0; i < refused.count; i++) {
        size_t length = refused.items[i].record.value.length;
        assert_true(length == LARGE_BYTES || length == strlen("of nowhere"));
    }
    kafka_client_records_free(&refused);
}

static struct scene *begin(const char *name)
{
    static const char *const small[] = {"message.timestamp.type=LogAppendTime", "max.message.bytes=" SMALL_BYTES, NULL};
    char topic[SCENE_NAME_MAX + 16];
    struct scene *scene = scene_open(name, &options);
    name_topic(scene, "small", topic);
    kafka_topics_create(scene->bootstrap, topic, 1, small);
    return scene;
}

static void finish(struct scene *scene)
{
    char topic[SCENE_NAME_MAX + 16];
    struct kafka_client_records refused = scene_await_refused(scene, 2 * CULPRITS, OUT_MS);
    kafka_client_records_free(&refused);
    assert_true(scene_await_count(scene, GOOD / 2, OUT_MS)); /* those of the default lane */
    scene_stop(scene);
    name_topic(scene, "small", topic);
    scene_read(scene);
    scene_read_topic(scene, topic);
    ledger_assert(scene->ledger, false);
    assert_refused_once(scene);
    scene_close(scene);
}

static void refused_among_good_ones(void **state)
{
    (void)state;
    struct scene *scene = begin("culprits");
    scene_start(scene);
    send_all(scene);
    finish(scene);
}

/* The same with the process killed while it takes the refused batches apart, over and over. */
static void refused_through_kills(void **state)
{
    (void)state;
    struct scene *scene = begin("culpritskill");
    send_all(scene);
    for (int life = 0; life < 6; life++) {
        scene_launch(scene, NULL);
        await_pause_ms(1000 + life * 90); /* the moments of death are what is tested */
        scene_kill(scene);
    }
    scene_start(scene);
    finish(scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(refused_among_good_ones, scene_teardown),
        cmocka_unit_test_teardown(refused_through_kills, scene_teardown),
    };
    return cmocka_run_group_tests(tests, scene_group_setup, scene_group_teardown);
}
