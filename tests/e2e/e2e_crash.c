/*
 * kill -9 at twenty random moments of loading, reading and firing. After each, what the committed metadata claims is
 * checked; at the end all is out, repeats carry the same identity. Once with the store, and once with the store gone at
 * every start (R3).
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

#include "base/random.h"
#include "tests/support/await.h"
#include "tests/support/claims.h"
#include "tests/support/scene.h"
#include "tests/support/temp.h"

#define KILLS 20
#define PARTITIONS 4
#define RECORDS_A_ROUND 400
#define DELAY_MAX_MS 6000
#define ORDERED_FROM_MS 3000
#define LIFE_MIN_MS 50
#define LIFE_MAX_MS 2600
#define ALL_OUT_MS 60000

static void send_some(struct scene *scene, struct random *random, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        int64_t delay_ms = (int64_t)random_below(random, DELAY_MAX_MS);
        int32_t partition = (int32_t)random_below(random, PARTITIONS);
        if (random_below(random, 4) != 0) {
            scene_send_delay(scene, partition, delay_ms, delay_ms >= ORDERED_FROM_MS);
            continue;
        }
        char red[SCENE_NAME_MAX + 8];
        char id[32];
        snprintf(id, sizeof(id), "id %d/%" PRId64, partition, scene->next_offset[partition]);
        snprintf(red, sizeof(red), "%s-red", scene->prefix);
        scene_send(scene, &(struct scene_event){.partition = partition,
                                                .delay_ms = delay_ms,
                                                .target = red,
                                                .lane = "red",
                                                .ordered = delay_ms >= ORDERED_FROM_MS,
                                                .value = span_of_text("red"),
                                                .id = span_of_text(id)});
    }
    scene_flush(scene);
}

/* One life: records from before it, records during it, and its sudden end. */
static void live_and_die(struct scene *scene, struct random *random)
{
    int64_t life_ms = LIFE_MIN_MS + (int64_t)random_below(random, LIFE_MAX_MS - LIFE_MIN_MS);
    send_some(scene, random, RECORDS_A_ROUND / 2);
    scene_launch(scene, NULL);
    await_pause_ms(life_ms / 2);
    send_some(scene, random, RECORDS_A_ROUND / 2);
    await_pause_ms(life_ms / 2);
    scene_kill(scene);
}

static void survive(const char *name, uint64_t seed, bool lose_store)
{
    struct scene *scene = scene_open(name, &(struct scene_options){.partitions = PARTITIONS,
                                                                   .targets = "[{name: red, match: \"@-red\"}]",
                                                                   .outs = {"@-red"}});
    struct random random = random_new(seed);
    struct claims claims = {.done = 0};
    size_t rounds_with_claims = 0;
    for (int kill = 0; kill < KILLS; kill++) {
        live_and_die(scene, &random);
        claims_check(scene, &claims);
        rounds_with_claims += claims.done > 0;
        if (lose_store) {
            temp_empty(scene->store_path);
        }
    }
    fprintf(stderr, "%zu of %d kills found claims; %zu records called done before the last start\n", rounds_with_claims,
            KILLS, claims.done);
    assert_true(rounds_with_claims >= KILLS / 4); /* else the kills came too early to show anything */
    scene_start(scene);
    assert_true(scene_await_all(scene, ALL_OUT_MS));
    scene_stop(scene);
    claims_check(scene, &claims);
    assert_int_equal(claims.done, ledger_sent_count(scene->ledger)); /* a clean end leaves nothing unsaid */
    ledger_assert(scene->ledger, true);
    scene_close(scene);
}

static void with_the_store(void **state)
{
    (void)state;
    survive("kill", 3, false);
}

static void store_lost_at_every_start(void **state)
{
    (void)state;
    survive("killbare", 4, true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(with_the_store, scene_teardown),
        cmocka_unit_test_teardown(store_lost_at_every_start, scene_teardown),
    };
    return cmocka_run_group_tests(tests, scene_group_setup, scene_group_teardown);
}
