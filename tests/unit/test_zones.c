/* Zones by name from a folder: names that lead elsewhere, files that change and vanish, and how many are kept. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/log.h"
#include "ops/zones.h"
#include "tests/cron/cron_case.h"
#include "tests/cron/zone_file.h"
#include "tests/support/temp.h"

struct scene {
    char *folder;
    struct zones *zones;
    int64_t mono_ms;
    int warnings;
};

static void count_warning(const struct log_entry *entry, void *context)
{
    struct scene *scene = context;
    scene->warnings += entry->level == LOG_LEVEL_WARNING;
}

static int set_up(void **state)
{
    struct scene *scene = calloc(1, sizeof(*scene));
    assert_non_null(scene);
    scene->folder = temp_directory("zones");
    scene->zones = zones_new(scene->folder);
    log_sink_set(count_warning, scene);
    *state = scene;
    return 0;
}

static int tear_down(void **state)
{
    struct scene *scene = *state;
    log_sink_set(NULL, NULL);
    zones_free(scene->zones);
    temp_remove(scene->folder);
    free(scene);
    return 0;
}

/* Puts the bytes of a real zone (or, when `real` is NULL, some text) under a name, all at once as tzdata's packages do. */
static void put(const struct scene *scene, const char *name, const char *real)
{
    struct buffer bytes = buffer_new(1 << 20);
    char *part = temp_path(scene->folder, "part");
    char *path = temp_path(scene->folder, name);
    if (real == NULL) {
        buffer_add_text(&bytes, "no zone");
    } else {
        assert_true(zone_file_read(CRON_ZONES, real, &bytes));
    }
    FILE *file = fopen(part, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes.data, 1, bytes.length, file), bytes.length);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(rename(part, path), 0);
    free(part);
    free(path);
    buffer_free(&bytes);
}

static void take_away(const struct scene *scene, const char *name)
{
    char *path = temp_path(scene->folder, name);
    assert_int_equal(unlink(path), 0);
    free(path);
}

/* The zone's offset in summer, in hours: London 1, New York -4. */
static int summer_hours(struct scene *scene, const char *name)
{
    const struct zone *zone = NULL;
    struct error error = {.text = ""};
    if (!zones_get(scene->zones, span_of_text(name), (struct mono_ms){scene->mono_ms}, &zone, &error)) {
        fail_msg("%s: %s", name, error.text);
    }
    return (int)(zone_offset_s(zone, cron_case_ms("2027-07-01T00:00:00Z") / 1000) / 3600);
}

static void assert_fails(struct scene *scene, const char *name, enum error_code code, const char *part)
{
    const struct zone *const untouched = (const struct zone *)(const void *)scene; /* any address that is none of a zone */
    const struct zone *zone = untouched;
    struct error error = {.text = ""};
    assert_false(zones_get(scene->zones, span_of_text(name), (struct mono_ms){scene->mono_ms}, &zone, &error));
    if (error.code != code || strstr(error.text, part) == NULL) {
        fail_msg("%s: \"%s\" does not say \"%s\"", name, error.text, part);
    }
    assert_ptr_equal(zone, untouched);
}

static void test_a_zone_is_read_once(void **state)
{
    struct scene *scene = *state;
    put(scene, "London", "Europe/London");
    assert_int_equal(summer_hours(scene, "London"), 1);
    for (int i = 0; i < 1000; i++) {
        assert_int_equal(summer_hours(scene, "London"), 1);
    }
    assert_int_equal(zones_figures(scene->zones).reads, 1);
    assert_int_equal(zones_figures(scene->zones).looks, 0);
    assert_int_equal(zones_figures(scene->zones).known, 1);
}

static void test_a_file_is_looked_at_once_a_second(void **state)
{
    struct scene *scene = *state;
    put(scene, "London", "Europe/London");
    for (scene->mono_ms = 5; scene->mono_ms < 10000; scene->mono_ms += 10) {
        assert_int_equal(summer_hours(scene, "London"), 1);
    }
    assert_int_equal(zones_figures(scene->zones).reads, 1);
    assert_int_equal(zones_figures(scene->zones).looks, 9);
}

static void test_a_changed_file_is_read_again(void **state)
{
    struct scene *scene = *state;
    put(scene, "Here", "Europe/London");
    assert_int_equal(summer_hours(scene, "Here"), 1);
    put(scene, "Here", "America/New_York");
    scene->mono_ms += 999;
    assert_int_equal(summer_hours(scene, "Here"), 1);
    scene->mono_ms += 1;
    assert_int_equal(summer_hours(scene, "Here"), -4);
    scene->mono_ms += 1000;
    assert_int_equal(summer_hours(scene, "Here"), -4);
    assert_int_equal(zones_figures(scene->zones).reads, 2);
    assert_int_equal(zones_figures(scene->zones).looks, 2);
}

static void test_a_zone_that_vanishes_keeps_what_was_read(void **state)
{
    struct scene *scene = *state;
    put(scene, "Here", "Europe/London");
    assert_int_equal(summer_hours(scene, "Here"), 1);
    take_away(scene, "Here");
    for (int i = 0; i < 5; i++) {
        scene->mono_ms += 1000;
        assert_int_equal(summer_hours(scene, "Here"), 1);
    }
    assert_int_equal(scene->warnings, 1);
    put(scene, "Here", "America/New_York");
    scene->mono_ms += 1000;
    assert_int_equal(summer_hours(scene, "Here"), -4);
    assert_int_equal(scene->warnings, 1);
}

static void test_a_file_that_no_longer_reads_keeps_what_was_read(void **state)
{
    struct scene *scene = *state;
    put(scene, "Here", "Europe/London");
    assert_int_equal(summer_hours(scene, "Here"), 1);
    put(scene, "Here", NULL);
    for (int i = 0; i < 5; i++) {
        scene->mono_ms += 1000;
        assert_int_equal(summer_hours(scene, "Here"), 1);
    }
    assert_int_equal(scene->warnings, 1);
}

static void test_names_that_lead_elsewhere_are_refused(void **state)
{
    struct scene *scene = *state;
    static const char *const wrong[] = {"",      "/etc/passwd", "../London", "Europe/../London", "Europe//London", "Europe/",   "/London",        ".",      "..",
                                        "a.tab", "Lon don",     "London\n",  "1London",          "-London",        "+1",        "Europe\\London", "%2e%2e", "Europe/.hidden",
                                        "caf\xC3\xA9", ":London", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"};
    put(scene, "London", "Europe/London");
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        assert_fails(scene, wrong[i], ERROR_INVALID, "not a name");
    }
    const struct zone *zone;
    struct error error;
    assert_false(zones_get(scene->zones, (struct span){(const uint8_t *)"London\0x", 8}, (struct mono_ms){0}, &zone, &error));
    assert_false(zones_get(scene->zones, SPAN_ABSENT, (struct mono_ms){0}, &zone, &error));
    assert_int_equal(zones_figures(scene->zones).reads, 0);
}

static void test_what_is_no_zone_is_told(void **state)
{
    struct scene *scene = *state;
    char *path = temp_path(scene->folder, "Folder");
    assert_int_equal(mkdir(path, 0700), 0);
    free(path);
    path = temp_path(scene->folder, "Pipe");
    assert_int_equal(mkfifo(path, 0600), 0);
    free(path);
    put(scene, "Text", NULL);
    assert_fails(scene, "Nowhere/Land", ERROR_NOT_FOUND, "time zone `Nowhere/Land`: there is none of that name in ");
    assert_fails(scene, "Text/London", ERROR_NOT_FOUND, "there is none");
    assert_fails(scene, "Folder", ERROR_INVALID, "a folder or too large");
    assert_fails(scene, "Pipe", ERROR_INVALID, "no file of a zone");
    assert_fails(scene, "Text", ERROR_INVALID, "time zone `Text`: not a usable time zone file");
    assert_int_equal(zones_figures(scene->zones).known, 0);
}

static void test_utc_needs_no_file(void **state)
{
    struct scene *scene = *state;
    const struct zone *zone = (const struct zone *)(const void *)scene;
    struct error error;
    assert_true(zones_get(scene->zones, span_of_text("UTC"), (struct mono_ms){0}, &zone, &error));
    assert_null(zone);
    assert_int_equal(zones_figures(scene->zones).reads, 0);
}

static void test_the_one_not_asked_for_the_longest_is_forgotten(void **state)
{
    struct scene *scene = *state;
    char name[16];
    for (int i = 0; i <= ZONES_MAX; i++) {
        (void)snprintf(name, sizeof(name), "Z%d", i);
        put(scene, name, i % 2 == 0 ? "Europe/London" : "America/New_York");
        assert_int_equal(summer_hours(scene, name), i % 2 == 0 ? 1 : -4);
        assert_int_equal(summer_hours(scene, "Z0"), 1); /* always asked for: stays */
    }
    assert_int_equal(zones_figures(scene->zones).known, ZONES_MAX);
    assert_int_equal(zones_figures(scene->zones).reads, ZONES_MAX + 1);
    assert_int_equal(summer_hours(scene, "Z2"), 1);
    assert_int_equal(zones_figures(scene->zones).reads, ZONES_MAX + 1);
    assert_int_equal(summer_hours(scene, "Z1"), -4); /* was forgotten */
    assert_int_equal(zones_figures(scene->zones).reads, ZONES_MAX + 2);
    assert_int_equal(zones_figures(scene->zones).known, ZONES_MAX);
}

static void test_tzdir_names_the_folder(void **state)
{
    struct scene *scene = *state;
    zones_free(scene->zones);
    assert_int_equal(setenv("TZDIR", CRON_ZONES, 1), 0);
    scene->zones = zones_new(NULL);
    assert_int_equal(unsetenv("TZDIR"), 0);
    assert_int_equal(summer_hours(scene, "Europe/London"), 1);
    assert_int_equal(summer_hours(scene, "America/New_York"), -4);
}

#define CASE(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(test_a_zone_is_read_once),
        CASE(test_a_file_is_looked_at_once_a_second),
        CASE(test_a_changed_file_is_read_again),
        CASE(test_a_zone_that_vanishes_keeps_what_was_read),
        CASE(test_a_file_that_no_longer_reads_keeps_what_was_read),
        CASE(test_names_that_lead_elsewhere_are_refused),
        CASE(test_what_is_no_zone_is_told),
        CASE(test_utc_needs_no_file),
        CASE(test_the_one_not_asked_for_the_longest_is_forgotten),
        CASE(test_tzdir_names_the_folder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
