/*
 * Records that cannot be delivered among good ones, with exactly_once: the broker refuses them with all that is in their transaction. The neighbours go out once,
 * in order; each culprit is a dead letter once, whole and with its reason.
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
#include "tests/support/scene_letters.h"

#define PARTITIONS 2
#define GOOD 3000
#define EVERY 750 /* so many good ones to one that is too large, and one whose topic is not there */
#define CULPRITS (GOOD / EVERY)
#define LARGE_BYTES 20000
#define SMALL_BYTES "4000"
#define OUT_MS 60000

static const struct scene_options options = {
    .partitions = PARTITIONS,
    .targets = "[{name: small, match: \"@-small\", retry: {max_deliver: 0}}, {name: missing, match: \"@-missing\", retry: {max_deliver: 0}}]",
    .letters = true,
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

static size_t count_letters(const struct scene_letters *letters, enum letter_reason reason, const char *id)
{
    size_t count = 0;
    for (size_t i = 0; i < letters->count; i++) {
        const struct letter *letter = &letters->items[i].letter;
        struct span header = SPAN_ABSENT;
        count += letter->reason == reason && span_equals_text(letter->schedule_id, id) &&
                 scene_letters_header(&letters->items[i], "tarry-id", &header) == 1 && span_equals_text(header, id);
    }
    return count;
}

static void assert_letters_once(struct scene *scene)
{
    struct scene_letters letters = scene_letters_read(scene, LETTER_PARKED);
    for (int i = 0; i < CULPRITS; i++) {
        char id[32];
        snprintf(id, sizeof(id), "small %d", i);
        assert_int_equal(count_letters(&letters, LETTER_REASON_TOO_LARGE, id), 1);
        snprintf(id, sizeof(id), "missing %d", i);
        assert_int_equal(count_letters(&letters, LETTER_REASON_UNKNOWN_TARGET, id), 1);
    }
    assert_int_equal(letters.count, 2 * CULPRITS);
    for (size_t i = 0; i < letters.count; i++) {
        size_t length = letters.items[i].letter.record.value.length;
        assert_true(length == LARGE_BYTES || length == strlen("of nowhere"));
    }
    scene_letters_free(&letters);
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
    struct scene_letters letters = scene_letters_await(scene, LETTER_PARKED, 2 * CULPRITS, OUT_MS);
    scene_letters_free(&letters);
    assert_true(scene_await_count(scene, GOOD / 2, OUT_MS)); /* those of the default lane */
    scene_stop(scene);
    name_topic(scene, "small", topic);
    scene_read(scene);
    scene_read_topic(scene, topic);
    ledger_assert(scene->ledger, false);
    assert_letters_once(scene);
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
