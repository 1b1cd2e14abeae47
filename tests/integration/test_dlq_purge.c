/* `tarry dlq purge`, `park` and `edit`, with a real nats-server: exactly what was meant goes, is parked, is changed; nothing else. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/await.h"
#include "tests/support/replay_scene.h"

static struct replay_scene *const scene = &replay_scene_shared;

static void post_with_id(unsigned n, const char *id)
{
    struct letter letter = replay_scene_letter("orders", n);
    letter.schedule_id = span_of_text(id);
    replay_scene_post(scene, &letter, LETTER_PARKED);
}

/* Whether a parked letter has this schedule id. */
static bool is_there(const char *id)
{
    bool found = false;
    uint64_t count = replay_scene_parked(scene);
    for (size_t i = 0; i < count && !found; i++) {
        struct buffer bytes;
        struct letter letter = replay_scene_read(scene, LETTER_PARKED, i, &bytes);
        found = span_equals_text(letter.schedule_id, id);
        buffer_free(&bytes);
    }
    return found;
}

/* ---------------------------------------------------------------------------------------------------------- purge */

static void an_id_is_exact_whatever_it_looks_like(void **state)
{
    (void)state;
    static const char *const ids[] = {"*", ">", "x y", "a..b", ".", "plain", "$JS.API.>", "\n"};
    static const char *const purged[] = {"*", ">", "x y"};
    size_t count = sizeof ids / sizeof ids[0];
    for (unsigned n = 0; n < count; n++) {
        post_with_id(n, ids[n]);
    }
    for (size_t i = 0; i < sizeof purged / sizeof purged[0]; i++) {
        char words[64];
        snprintf(words, sizeof words, "purge --id '%s' --execute", purged[i]);
        assert_int_equal(replay_scene_run(scene, words), 0);
        assert_int_equal(replay_scene_number(scene, "purged"), 1);
        assert_false(is_there(purged[i]));
        assert_int_equal(replay_scene_parked(scene), count - 1 - i);
        assert_int_equal(replay_scene_run(scene, words), 3); /* it is not there any more */
    }
    assert_int_equal(replay_scene_parked(scene), count - 3);
}

static void a_target_is_exact(void **state)
{
    (void)state;
    static const char *const targets[] = {"a.b", "a_b", "a-b", "a.b.c"};
    for (unsigned n = 0; n < 4; n++) {
        replay_scene_fill(scene, targets[n], n * 10, 10, LETTER_PARKED);
        replay_scene_fill(scene, targets[n], 100 + n * 10, 10, LETTER_WAITING);
    }
    assert_int_equal(replay_scene_run(scene, "purge --target a.b"), 0);
    assert_int_equal(replay_scene_number(scene, "letters"), 20);
    assert_int_equal(replay_scene_parked(scene) + replay_scene_waiting(scene), 80);
    assert_int_equal(replay_scene_run(scene, "purge --target a.b --execute"), 0);
    assert_int_equal(replay_scene_number(scene, "purged"), 20);
    assert_int_equal(nats_client_count(scene->client, "TARRY_PARKED", "parked.a%2Eb"), 0);
    assert_int_equal(nats_client_count(scene->client, "TARRY_PARKED", "parked.a_b"), 10);
    assert_int_equal(replay_scene_parked(scene) + replay_scene_waiting(scene), 60);
    assert_int_equal(replay_scene_run(scene, "purge --state waiting --limit 7 --execute"), 0);
    assert_int_equal(replay_scene_number(scene, "purged"), 7);
    assert_int_equal(replay_scene_waiting(scene), 23);
    assert_int_equal(replay_scene_parked(scene), 30);
}

static void all_goes_only_when_that_is_said(void **state)
{
    (void)state;
    replay_scene_fill(scene, "orders", 0, 20, LETTER_PARKED);
    assert_int_equal(replay_scene_run(scene, "purge"), 0);
    assert_int_equal(replay_scene_run(scene, "purge --execute"), 2);
    assert_int_equal(replay_scene_parked(scene), 20);
    assert_int_equal(replay_scene_run(scene, "purge --execute --yes"), 0);
    assert_int_equal(replay_scene_number(scene, "purged"), 20);
    assert_int_equal(replay_scene_parked(scene), 0);
}

/* Failures that come in all the while. */
struct newcomers {
    atomic_bool stop;
    unsigned posted;
};

static void *keep_coming(void *argument)
{
    struct newcomers *newcomers = argument;
    while (!atomic_load(&newcomers->stop)) {
        replay_scene_fill(scene, "orders", 5000 + newcomers->posted, 1, LETTER_PARKED);
        newcomers->posted += 1;
        await_pause_ms(5);
    }
    return NULL;
}

static void nothing_newer_than_its_beginning_goes(void **state)
{
    (void)state;
    struct newcomers newcomers = {.posted = 0};
    pthread_t thread;
    replay_scene_fill(scene, "orders", 0, 2000, LETTER_PARKED);
    replay_scene_fill(scene, "others", 2000, 10, LETTER_PARKED);
    assert_int_equal(pthread_create(&thread, NULL, keep_coming, &newcomers), 0);
    int code = replay_scene_run(scene, "purge --target orders --execute");
    atomic_store(&newcomers.stop, true);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(code, 0);
    /* Some of the newcomers may have been there when it looked, and no later one is missing: what is left are the last ones, without a gap. */
    uint64_t left = nats_client_count(scene->client, "TARRY_PARKED", "parked.orders");
    uint64_t purged = (uint64_t)replay_scene_number(scene, "purged");
    assert_true(purged >= 2000);
    assert_int_equal(purged + left, 2000 + newcomers.posted);
    assert_true(left > 0);
    assert_int_equal(nats_client_count(scene->client, "TARRY_PARKED", "parked.others"), 10);
    unsigned next = newcomers.posted - (unsigned)left;
    for (size_t i = 0; i < left; i++) {
        struct buffer bytes;
        struct letter letter = replay_scene_read(scene, LETTER_PARKED, 10 + i, &bytes);
        struct letter wanted = replay_scene_letter("orders", 5000 + next++);
        assert_string_equal(letter.id, wanted.id);
        buffer_free(&bytes);
    }
}

static uint8_t large[3 << 20];

static struct letter large_letter(unsigned n)
{
    struct letter letter = replay_scene_letter("orders", n);
    for (size_t i = 0; i < sizeof large; i++) {
        large[i] = (uint8_t)(i * 2654435761u >> 13);
    }
    letter.record.value = (struct span){large, sizeof large};
    return letter;
}

static void what_stands_apart_goes_with_the_last_letter_of_its_id(void **state)
{
    (void)state;
    struct letter letter = large_letter(1);
    replay_scene_post(scene, &letter, LETTER_WAITING);
    letter.attempt = 2;
    replay_scene_post(scene, &letter, LETTER_PARKED);
    uint64_t parts = replay_scene_large(scene);
    assert_true(parts > 0);
    assert_int_equal(replay_scene_run(scene, "purge --state waiting --target orders --execute"), 0);
    assert_int_equal(replay_scene_large(scene), parts); /* the parked one needs it */
    assert_int_equal(replay_scene_run(scene, "purge --state parked --target orders --execute"), 0);
    assert_int_equal(replay_scene_large(scene), 0);
}

/* ----------------------------------------------------------------------------------------------------------- park */

static void park_moves_what_waits(void **state)
{
    (void)state;
    replay_scene_fill(scene, "orders", 0, 200, LETTER_WAITING);
    replay_scene_fill(scene, "others", 200, 5, LETTER_WAITING);
    struct letter letter = large_letter(300);
    replay_scene_post(scene, &letter, LETTER_WAITING);
    assert_int_equal(replay_scene_run(scene, "park --target orders"), 0);
    assert_int_equal(replay_scene_number(scene, "letters"), 201);
    assert_int_equal(replay_scene_waiting(scene), 206);
    assert_int_equal(replay_scene_run(scene, "park --target orders --execute"), 0);
    assert_int_equal(replay_scene_number(scene, "parked"), 201);
    assert_int_equal(replay_scene_waiting(scene), 5);
    assert_int_equal(replay_scene_parked(scene), 201);
    assert_true(replay_scene_large(scene) > 0);
    /* Each of them, as it was; what is posted in one call may stand in any order. */
    bool there[200] = {false};
    for (size_t i = 0; i < 201; i++) {
        struct buffer bytes;
        struct letter parked = replay_scene_read(scene, LETTER_PARKED, i, &bytes);
        unsigned n = (unsigned)parked.origin.offset;
        assert_true(n < 200 || n == 300);
        if (n < 200) {
            struct letter wanted = replay_scene_letter("orders", n);
            assert_false(there[n]);
            there[n] = true;
            assert_string_equal(parked.id, wanted.id);
            assert_int_equal(parked.attempt, 1);
            assert_int_equal(parked.replays, 0);
            assert_true(span_equal(parked.record.value, wanted.record.value));
            assert_true(span_equal(parked.error, wanted.error));
        }
        buffer_free(&bytes);
    }
}

/* ----------------------------------------------------------------------------------------------------------- edit */

static void edit_parks_a_changed_copy(void **state)
{
    (void)state;
    char words[400];
    struct buffer headers = buffer_new(1000);
    letter_add_header(&headers, span_of_text("a"), span_of_text("1"));
    letter_add_header(&headers, span_of_text("b"), span_of_text("2"));
    letter_add_header(&headers, span_of_text("c"), SPAN_ABSENT);
    struct letter letter = replay_scene_letter("orders", 1);
    letter.record.headers = buffer_span(&headers);
    letter.target_partition = 3;
    replay_scene_post(scene, &letter, LETTER_PARKED);
    char *path = malloc(strlen(scene->folder) + 16);
    assert_non_null(path);
    (void)snprintf(path, strlen(scene->folder) + 16, "%s/value", scene->folder);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs("mended", file) >= 0);
    assert_int_equal(fclose(file), 0);
    snprintf(words, sizeof words, "edit %s --target others --key-null --value-file %s --set-header a=9 --remove-header b", letter.id, path);
    assert_int_equal(replay_scene_run(scene, words), 0);
    assert_int_equal(replay_scene_parked(scene), 1);
    snprintf(words + strlen(words), sizeof words - strlen(words), " --execute");
    assert_int_equal(replay_scene_run(scene, words), 0);
    assert_int_equal(replay_scene_parked(scene), 2);
    struct buffer bytes;
    struct letter copy = replay_scene_read(scene, LETTER_PARKED, 1, &bytes);
    assert_string_not_equal(copy.id, letter.id);
    assert_true(span_equals_text(copy.target, "others"));
    assert_int_equal(copy.target_partition, -1);
    assert_null(copy.record.key.data);
    assert_true(span_equals_text(copy.record.value, "mended"));
    assert_true(span_equal(copy.origin.topic, letter.origin.topic) && copy.origin.offset == letter.origin.offset);
    struct span rest = copy.record.headers;
    struct span name;
    struct span value;
    assert_true(letter_next_header(&rest, &name, &value) && span_equals_text(name, "c") && value.data == NULL);
    assert_true(letter_next_header(&rest, &name, &value) && span_equals_text(name, "a") && span_equals_text(value, "9"));
    assert_false(letter_next_header(&rest, &name, &value));
    buffer_free(&bytes);
    snprintf(words, sizeof words, "edit %s --key k --replace --execute", letter.id);
    assert_int_equal(replay_scene_run(scene, words), 0);
    assert_int_equal(replay_scene_parked(scene), 2);
    assert_int_equal(replay_scene_run(scene, words), 3);
    buffer_free(&headers);
    free(path);
}

static void edit_of_a_large_letter_has_parts_of_its_own(void **state)
{
    (void)state;
    char words[100];
    struct letter letter = large_letter(2);
    replay_scene_post(scene, &letter, LETTER_PARKED);
    uint64_t parts = replay_scene_large(scene);
    snprintf(words, sizeof words, "edit %s --key k --execute", letter.id);
    assert_int_equal(replay_scene_run(scene, words), 0);
    assert_int_equal(replay_scene_large(scene), 2 * parts);
    snprintf(words, sizeof words, "purge --id %s --execute", letter.id);
    assert_int_equal(replay_scene_run(scene, words), 0);
    assert_int_equal(replay_scene_large(scene), parts);
    assert_int_equal(replay_scene_run(scene, "purge --execute --yes"), 0);
    assert_int_equal(replay_scene_large(scene), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(an_id_is_exact_whatever_it_looks_like, replay_scene_fixture_empty),
        cmocka_unit_test_setup(a_target_is_exact, replay_scene_fixture_empty),
        cmocka_unit_test_setup(all_goes_only_when_that_is_said, replay_scene_fixture_empty),
        cmocka_unit_test_setup(nothing_newer_than_its_beginning_goes, replay_scene_fixture_empty),
        cmocka_unit_test_setup(what_stands_apart_goes_with_the_last_letter_of_its_id, replay_scene_fixture_empty),
        cmocka_unit_test_setup(park_moves_what_waits, replay_scene_fixture_empty),
        cmocka_unit_test_setup(edit_parks_a_changed_copy, replay_scene_fixture_empty),
        cmocka_unit_test_setup(edit_of_a_large_letter_has_parts_of_its_own, replay_scene_fixture_empty),
    };
    return cmocka_run_group_tests(tests, replay_scene_fixture_open, replay_scene_fixture_close);
}
