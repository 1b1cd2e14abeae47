/* Fifty thousand records over eight partitions and three lanes: each out once, never early, in order, byte for byte. */
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
#include "base/random.h"
#include "tests/support/scene.h"

#define RECORDS 50000
#define PARTITIONS 8
#define BATCH 1000
#define DELAY_MAX_MS 20000
#define ORDERED_FROM_MS 2000 /* what is read long before it comes due has a fixed place */
#define HEADERS_MANY 200
#define HEADER_LARGE (30u * 1024)
#define ALL_OUT_MS 90000

struct material {
    struct random random;
    struct record_header many[HEADERS_MANY];
    char names[HEADERS_MANY][16];
    uint8_t *large; /* HEADER_LARGE bytes of anything */
};

static void fill_material(struct material *material)
{
    material->large = memory_new(HEADER_LARGE, 1);
    for (size_t i = 0; i < HEADER_LARGE; i++) {
        material->large[i] = (uint8_t)random_next(&material->random);
    }
    for (size_t i = 0; i < HEADERS_MANY; i++) {
        /* every tenth name stands there twice, every seventh value is null, every fifth empty */
        snprintf(material->names[i], sizeof(material->names[i]), "h%zu", i % 10 == 9 ? i - 1 : i);
        struct span value = i % 7 == 0 ? SPAN_ABSENT : (struct span){material->large + i, i % 5 == 0 ? 0 : i};
        material->many[i] = (struct record_header){span_of_text(material->names[i]), value};
    }
}

/* Null, empty, binary and ordinary bytes in turn. */
static struct span some_bytes(struct material *material, size_t kind, const char *text)
{
    switch (kind) {
    case 0:
        return SPAN_ABSENT;
    case 1:
        return span_of_text("");
    case 2:
        return (struct span){material->large + random_below(&material->random, 1000),
                             1 + random_below(&material->random, 300)};
    default:
        return span_of_text(text);
    }
}

static void choose_headers(struct material *material, size_t number, struct scene_event *event)
{
    if (number % 500 == 0) {
        event->headers = material->many;
        event->header_count = HEADERS_MANY;
    } else if (number % 3 == 0) {
        event->headers = material->many + number % 100;
        event->header_count = 5;
    }
}

static void send_one(struct scene *scene, struct material *material, size_t number, const char *const targets[3])
{
    static const char *const lanes[3] = {"default", "red", "blue"};
    size_t lane = number % 3;
    char text[64];
    snprintf(text, sizeof(text), "record %zu", number);
    int64_t delay_ms = (int64_t)random_below(&material->random, DELAY_MAX_MS);
    struct record_header large = {span_of_text("large"), {material->large, HEADER_LARGE}};
    struct scene_event event = {.partition = (int32_t)random_below(&material->random, PARTITIONS),
                                .delay_ms = delay_ms,
                                .target = targets[lane],
                                .lane = lanes[lane],
                                .ordered = delay_ms >= ORDERED_FROM_MS,
                                .key = some_bytes(material, random_below(&material->random, 8), text),
                                .value = some_bytes(material, random_below(&material->random, 8), text)};
    if (number % 700 == 1) {
        event.headers = &large;
        event.header_count = 1;
    } else {
        choose_headers(material, number, &event);
    }
    scene_send(scene, &event);
}

static void fifty_thousand_records(void **state)
{
    (void)state;
    struct scene *scene = scene_open(
        "bulk", &(struct scene_options){.partitions = PARTITIONS,
                                        .targets = "[{name: red, match: \"@-red*\"}, {name: blue, match: \"@-blue\"}]",
                                        .outs = {"@-red", "@-blue"}});
    struct material *material = memory_new(1, sizeof(*material));
    material->random = random_new(20261129);
    fill_material(material);
    char red[SCENE_NAME_MAX + 8];
    char blue[SCENE_NAME_MAX + 8];
    snprintf(red, sizeof(red), "%s-red", scene->prefix);
    snprintf(blue, sizeof(blue), "%s-blue", scene->prefix);
    const char *const targets[3] = {NULL, red, blue};
    scene_start(scene);
    for (size_t number = 0; number < RECORDS; number++) {
        send_one(scene, material, number, targets);
        if (number % BATCH == BATCH - 1) {
            scene_flush(scene); /* so that the producer never runs ahead of what the broker has */
        }
    }
    free(material->large);
    free(material);
    scene_finish(scene, ALL_OUT_MS, false);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(fifty_thousand_records, scene_teardown),
    };
    return cmocka_run_group_tests(tests, scene_group_setup, scene_group_teardown);
}
