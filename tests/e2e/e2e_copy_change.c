/*
 * Copy forward (R6) after a change of configuration: rows on disk keep what was decided (R8), and so do their copies, which are read by the new rules.
 * No flag is asked for at such a change, so nothing may become another due time or target behind the operator's back.
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

#include "tests/support/await.h"
#include "tests/support/scene.h"
#include "tests/support/scene_letters.h"

#define OLD 5
#define OLD_DELAY_MS 25000
#define WAVE 1500
#define OUT_MS 60000
#define COPIED_MS 20000

#define COMMON                                                                                                         \
    .kafka = "consumer: {session.timeout.ms: 4000, heartbeat.interval.ms: 500}", .shared_input = true, .letters = true, \
    .more = "copy_forward: {span: 1000}\ntransaction_timeout: 3s\ndelivery: exactly_once", .outs = {                    \
        "@-a"                                                                                                          \
    }

static const struct scene_options before = {COMMON, .source = "default_delay: 25s"};
static const struct scene_options after = {
    COMMON, .source = "default_delay: 1h", .default_target = "@-a", .targets = "[{name: old, match: \"@-out\"}]"};
/* Where they were to go is not allowed any more: nothing goes there, nor where others go. */
static const struct scene_options shut = {COMMON, .source = "default_delay: 1h", .default_target = "@-a"};

/* Neither time nor target of their own: both are the source's. */
static void send_old(struct scene *scene, bool apart)
{
    for (int i = 0; i < OLD; i++) {
        char value[32];
        snprintf(value, sizeof(value), "old %d", i);
        struct scene_event event = {.delay_ms = OLD_DELAY_MS, .delay_header = "", .key = span_of_text("key"), .value = span_of_text(value)};
        if (apart) {
            scene_send_apart(scene, &event);
        } else {
            scene_send(scene, &event);
        }
    }
    scene_flush(scene);
}

static bool old_are_pending(void *context)
{
    struct scene *scene = context;
    return tarry_process_metric(scene->process, "tarry_pending", "tier=") >= OLD;
}

static bool old_are_copied(void *context)
{
    struct scene *scene = context;
    return tarry_process_metric(scene->process, "tarry_reappended_total", "copy") >= OLD;
}

static void fire_a_wave(struct scene *scene)
{
    char target[SCENE_NAME_MAX + 8];
    snprintf(target, sizeof(target), "%s-a", scene->prefix);
    for (int i = 0; i < WAVE; i++) {
        char value[32];
        snprintf(value, sizeof(value), "new %d", i);
        scene_send(scene, &(struct scene_event){.delay_ms = i % 500 + 1, .target = target, .value = span_of_text(value)});
    }
    scene_flush(scene);
}

/* Read by the old rules, stopped well, started with the new ones, and copied by the span of what others fired through. */
static struct scene *copied_under(const char *name, const struct scene_options *options, bool apart)
{
    struct scene *scene = scene_open(name, &before);
    scene_start(scene);
    int64_t due_ms = await_wall_ms() + OLD_DELAY_MS;
    send_old(scene, apart);
    assert_true(await_condition(old_are_pending, scene, OUT_MS));
    scene_stop(scene);
    scene_configure(scene, options);
    scene_start(scene); /* no flag: what is pending lies decoded on the disk */
    fire_a_wave(scene);
    assert_true(await_condition(old_are_copied, scene, COPIED_MS));
    if (await_wall_ms() >= due_ms) {
        fail_msg("the machine is too slow for this test: the records were due before they were copied");
    }
    return scene;
}

static void copies_stay_what_they_were(void **state)
{
    (void)state;
    struct scene *scene = copied_under("copychange", &after, false);
    scene_finish(scene, OUT_MS, false); /* the ledger knows where they go, and that it is not in an hour */
}

static void copies_to_what_is_shut_become_letters(void **state)
{
    (void)state;
    struct scene *scene = copied_under("copyshut", &shut, true);
    struct scene_letters letters = scene_letters_await(scene, LETTER_PARKED, OLD, OUT_MS);
    assert_int_equal(letters.count, OLD);
    for (size_t i = 0; i < letters.count; i++) {
        const struct scene_letter *item = &letters.items[i];
        assert_memory_equal(item->letter.record.value.data, "old ", 4);
        assert_int_equal(item->letter.reason, LETTER_REASON_TARGET_NOT_ALLOWED);
        assert_true(scene_letters_says(item, scene->out));
        assert_true(item->letter.origin.offset < OLD); /* it is the record that was written first */
        assert_int_equal(scene_letters_header(item, "tarry-root", NULL), 0);
    }
    scene_letters_free(&letters);
    scene_finish(scene, OUT_MS, false);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(copies_stay_what_they_were, scene_teardown),
        cmocka_unit_test_teardown(copies_to_what_is_shut_become_letters, scene_teardown),
    };
    return cmocka_run_group_tests(tests, scene_group_setup, scene_group_teardown);
}
