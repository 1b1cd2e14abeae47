/* Zones: real files and made ones, told by our own reader and by the C library's; what is refused; local times that are shown twice or never. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "base/buffer.h"
#include "base/random.h"
#include "scheduler/zone.h"
#include "tests/cron/cron_case.h"
#include "tests/cron/zone_file.h"

static const char *const names[] = {"America/New_York",    "Europe/London",     "Australia/Lord_Howe", "America/Sao_Paulo",
                                    "Pacific/Apia",        "Africa/Casablanca"};
#define NAMES (sizeof(names) / sizeof(names[0]))

/* A file to be made: one block of 64-bit times, or of 32-bit ones when version is 0. */
struct made {
    char version;
    uint32_t leaps;
    uint32_t flags;
    int64_t times[4];
    uint8_t indices[4];
    uint32_t change_count;
    int32_t offsets[4];
    uint32_t type_count;
    uint8_t name_index;
    const char *footer; /* NULL: none, not even its line ends */
};

static void add_number(struct buffer *buffer, int64_t number, int bytes)
{
    for (int i = bytes - 1; i >= 0; i--) {
        uint8_t byte = (uint8_t)((uint64_t)number >> (8 * i));
        buffer_add(buffer, &byte, 1);
    }
}

static void add_block(struct buffer *buffer, const struct made *made, int time_bytes)
{
    buffer_add(buffer, "TZif", 4);
    buffer_add(buffer, &made->version, 1);
    buffer_add(buffer, "123456789012345", 15);
    add_number(buffer, made->flags, 4);
    add_number(buffer, made->flags, 4);
    add_number(buffer, made->leaps, 4);
    add_number(buffer, made->change_count, 4);
    add_number(buffer, made->type_count, 4);
    add_number(buffer, 4, 4);
    for (uint32_t i = 0; i < made->change_count; i++) {
        add_number(buffer, made->times[i % 4], time_bytes);
    }
    for (uint32_t i = 0; i < made->change_count; i++) {
        buffer_add(buffer, &made->indices[i % 4], 1);
    }
    for (uint32_t i = 0; i < made->type_count; i++) {
        add_number(buffer, made->offsets[i % 4], 4);
        buffer_add(buffer, "\0", 1);
        buffer_add(buffer, &made->name_index, 1);
    }
    buffer_add(buffer, "ABC\0", 4);
    for (uint32_t i = 0; i < made->leaps * (uint32_t)(time_bytes + 4) + made->flags * 2; i++) {
        buffer_add(buffer, "\0", 1);
    }
}

static struct buffer make(const struct made *made)
{
    struct buffer buffer = buffer_new((size_t)1 << 20);
    if (made->version == 0) {
        add_block(&buffer, made, 4);
    } else {
        add_block(&buffer, &(struct made){.version = made->version, .leaps = 1, .type_count = 1}, 4);
        add_block(&buffer, made, 8);
    }
    if (made->footer != NULL) {
        buffer_add_format(&buffer, "\n%s\n", made->footer);
    }
    return buffer;
}

static struct zone *parse_made(const struct made *made)
{
    struct buffer bytes = make(made);
    struct zone *zone = NULL;
    struct error error = {.text = ""};
    if (!zone_parse(buffer_span(&bytes), &zone, &error)) {
        fail_msg("%s", error.text);
    }
    buffer_free(&bytes);
    return zone;
}

static struct zone *parse_rule(const char *footer)
{
    return parse_made(&(struct made){.version = '3', .type_count = 1, .footer = footer});
}

static void assert_refused(struct span bytes, const char *part)
{
    struct zone *zone = NULL;
    struct error error = {.text = ""};
    uint8_t *copy = malloc(bytes.length + 1); /* of the exact size but for one, which a read past the end has to pass */
    assert_non_null(copy);
    memcpy(copy + 1, bytes.data, bytes.length);
    if (zone_parse((struct span){copy + 1, bytes.length}, &zone, &error)) {
        fail_msg("accepted: not \"%s\"", part);
    }
    if (error.code != ERROR_INVALID || strstr(error.text, part) == NULL) {
        fail_msg("\"%s\" does not say \"%s\"", error.text, part);
    }
    assert_null(zone);
    free(copy);
}

static void assert_made_refused(const struct made *made, const char *part)
{
    struct buffer bytes = make(made);
    assert_refused(buffer_span(&bytes), part);
    buffer_free(&bytes);
}

/* Asks the C library, which reads TZ. */
static void assert_agrees_with_libc(const struct zone *zone, const char *tz, const char *label, int64_t from_s, uint64_t seed)
{
    struct random random = random_new(seed);
    assert_int_equal(setenv("TZ", tz, 1), 0);
    tzset();
    for (int i = 0; i < 20000; i++) {
        time_t at = (time_t)random_between(&random, from_s, INT64_C(9000000000));
        int64_t change_s;
        if (i % 2 == 0 && zone_next_change(zone, at, &change_s)) {
            at = (time_t)(change_s + random_between(&random, -2, 2));
        }
        struct tm local;
        assert_non_null(localtime_r(&at, &local));
        if (zone_offset_s(zone, at) != local.tm_gmtoff) {
            fail_msg("%s at %lld: %lld, the C library says %ld", label, (long long)at, (long long)zone_offset_s(zone, at), local.tm_gmtoff);
        }
    }
    assert_int_equal(unsetenv("TZ"), 0);
    tzset();
}

static void test_real_files_agree_with_the_c_library(void **state)
{
    (void)state;
    for (size_t i = 0; i < NAMES; i++) {
        char tz[1024];
        struct zone *zone = cron_case_zone(names[i]);
        (void)snprintf(tz, sizeof(tz), ":%s/%s", CRON_ZONES, names[i]);
        assert_agrees_with_libc(zone, tz, names[i], INT64_C(-3000000000), i);
        zone_free(zone);
    }
}

static void test_rules_agree_with_the_c_library(void **state)
{
    static const char *const rules[] = {
        "EST5EDT,M3.2.0,M11.1.0",        "GMT0BST,M3.5.0/1,M10.5.0",     "<+1030>-10:30<+11>-11,M10.1.0,M4.1.0", "<-02>2<-01>,M3.5.0/-1,M10.5.0/0",
        "IST-2IDT,M3.4.4/26,M10.5.0",    "EET-2EEST,M3.4.4/50,M10.4.4/50", "IST-1GMT0,M10.5.0,M3.5.0/1",           "ABC4DEF,J59/0,J60/0",
        "ABC-3:30:15DEF-4:45,59/3:04:05,300/0", "ABC0DEF,J1/0,J365/23", "<+03>-3", "UTC0", "ABC+24", "ABC-24:59:59", "ABC5DEF,M2.1.0/-167,M11.5.6/167"};
    (void)state;
    for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++) {
        struct zone *zone = parse_rule(rules[i]);
        assert_agrees_with_libc(zone, rules[i], rules[i], 40000000, i); /* from 1971 on: before, glibc does not follow rules */
        zone_free(zone);
    }
}

/* RFC 8536, 3.3.1: how summer time all year is written. */
static void test_summer_time_all_year(void **state)
{
    (void)state;
    struct zone *zone = parse_rule("XXX3EDT4,0/0,J365/23");
    for (int64_t at_s = 1700000000; at_s < 1900000000; at_s += 40000) {
        assert_int_equal(zone_offset_s(zone, at_s), -4 * 3600);
    }
    zone_free(zone);
}

/* A moment may lie a week outside of the year it is counted in; the C library does not look there. */
static void test_a_rule_across_new_year(void **state)
{
    (void)state;
    struct zone *zone = parse_rule("ABC5DEF,M1.1.0/-167,M11.1.0");
    int64_t begins_s = cron_case_ms("2026-12-27T01:00:00-05:00") / 1000; /* 167 hours before Sunday, 3 January 2027 */
    int64_t change_s;
    assert_int_equal(zone_offset_s(zone, begins_s - 1), -5 * 3600);
    assert_int_equal(zone_offset_s(zone, begins_s), -4 * 3600);
    assert_true(zone_next_change(zone, begins_s - 1, &change_s));
    assert_int_equal(change_s, begins_s);
    zone_free(zone);
    zone = parse_rule("ABC5DEF,J364/167,J365/167"); /* a day of summer, in the first days of the next year */
    begins_s = cron_case_ms("2027-01-05T23:00:00-05:00") / 1000;
    assert_int_equal(zone_offset_s(zone, cron_case_ms("2027-01-01T00:00:00-05:00") / 1000), -5 * 3600);
    assert_int_equal(zone_offset_s(zone, begins_s - 1), -5 * 3600);
    assert_int_equal(zone_offset_s(zone, begins_s), -4 * 3600);
    assert_int_equal(zone_offset_s(zone, begins_s + 23 * 3600), -5 * 3600);
    zone_free(zone);
}

static void test_rules_that_do_not_read_are_refused(void **state)
{
    static const char *const wrong[] = {
        "E", "5", "ES5", "EST", "EST5EDT", "EST5EDT,M3.2.0", "EST5EDT,M3.2.0,M11.1.0,", "EST5EDT,M3.2.0,M11.1.0x", "EST5EDT,M13.2.0,M11.1.0", "EST5EDT,M0.2.0,M11.1.0",
        "EST5EDT,M3.6.0,M11.1.0", "EST5EDT,M3.0.0,M11.1.0", "EST5EDT,M3.2.7,M11.1.0", "EST5EDT,J0,J5", "EST5EDT,J366,J5", "EST5EDT,366,5", "EST5EDT,1/168,5", "EST25", "EST5:60",
        "<+03-3", "<+3>-3", "EST5 EDT", "EST99999999999", "EST5EDT,M3.2.0,M11.1.", "EST5EDT,,", "EST5EDT6:", ":America/New_York", "<>5"};
    (void)state;
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        struct made made = {.version = '2', .type_count = 1, .footer = wrong[i]};
        assert_made_refused(&made, "the rule in its footer does not read");
    }
}

static void test_versions(void **state)
{
    (void)state;
    struct made made = {.times = {100, 200}, .indices = {1, 0}, .change_count = 2, .offsets = {3600, 7200}, .type_count = 2};
    for (const char *version = "0234"; *version != '\0'; version++) {
        made.version = (char)(*version == '0' ? 0 : *version);
        made.footer = made.version == 0 ? NULL : "ABC-5";
        struct zone *zone = parse_made(&made);
        assert_int_equal(zone_offset_s(zone, 99), 3600); /* before the first change: the first kind of local time */
        assert_int_equal(zone_offset_s(zone, 100), 7200);
        assert_int_equal(zone_offset_s(zone, 199), 7200);
        assert_int_equal(zone_offset_s(zone, 201), made.version == 0 ? 3600 : 5 * 3600);
        zone_free(zone);
    }
    made.footer = ""; /* says nothing: the last offset goes on */
    struct zone *zone = parse_made(&made);
    assert_int_equal(zone_offset_s(zone, INT64_MAX), 3600);
    assert_int_equal(zone_offset_s(zone, INT64_MIN), 3600);
    zone_free(zone);
}

static void test_what_does_not_hold_is_refused(void **state)
{
    (void)state;
    const struct made good = {.version = '2', .times = {100, 200}, .indices = {1, 0}, .change_count = 2, .offsets = {3600, 7200}, .type_count = 2, .flags = 2, .footer = ""};
    struct made made = good;
    zone_free(parse_made(&made));
    made.indices[1] = 2;
    assert_made_refused(&made, "a kind of local time that is not there");
    made = good;
    made.times[1] = 100;
    assert_made_refused(&made, "not in order");
    made = good;
    made.offsets[1] = 93600;
    assert_made_refused(&made, "beyond -25 to +26 hours");
    made.offsets[1] = -90000;
    assert_made_refused(&made, "beyond -25 to +26 hours");
    made = good;
    made.leaps = 1;
    assert_made_refused(&made, "leap seconds");
    made = good;
    made.type_count = 0;
    assert_made_refused(&made, "1 to 256 kinds");
    made.type_count = 257;
    made.flags = 0;
    assert_made_refused(&made, "1 to 256 kinds");
    made = good;
    made.flags = 1;
    assert_made_refused(&made, "flags");
    made = good;
    made.name_index = 4;
    assert_made_refused(&made, "does not read");
    made = good;
    made.change_count = ZONE_CHANGES_MAX + 1;
    assert_made_refused(&made, "4097 changes, at most 4096");
    made = good;
    made.version = '1';
    assert_made_refused(&made, "version");
    made = good;
    made.footer = NULL;
    assert_made_refused(&made, "footer is cut off");
    assert_refused((struct span){(const uint8_t *)"TZfi2", 5}, "cut off");
    assert_refused(span_of_text("#!/bin/sh and so on, as long as a header and more"), "does not begin with TZif");
    assert_refused(span_of_text(""), "cut off");
}

static void test_counts_of_all_ones_are_refused(void **state)
{
    struct buffer bytes = make(&(struct made){.version = '2', .type_count = 1, .footer = ""});
    (void)state;
    for (size_t header = 0; header < 2; header++) {
        for (size_t field = 20; field < 44; field += 4) {
            size_t at = header * (bytes.length - 44 - 12) + field;
            uint8_t kept[4];
            if (header == 1) { /* the second header: after the first block of 44 + 6 + 4 + 8 bytes */
                at = 62 + field;
            }
            memcpy(kept, bytes.data + at, 4);
            memset(bytes.data + at, 0xFF, 4);
            assert_refused(buffer_span(&bytes), "not a usable time zone file");
            memcpy(bytes.data + at, kept, 4);
        }
    }
    buffer_free(&bytes);
}

static void test_every_cut_is_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < NAMES; i++) {
        struct buffer bytes;
        assert_true(zone_file_read(CRON_ZONES, names[i], &bytes));
        for (size_t length = 0; length < bytes.length; length++) {
            assert_refused((struct span){bytes.data, length}, "cut off");
        }
        buffer_free(&bytes);
    }
}

static void assert_local(const struct zone *zone, const char *local, enum zone_local kind, const char *first, const char *last)
{
    struct zone_instants instants;
    int64_t local_s = cron_case_ms(local) / 1000;
    enum zone_local found = zone_from_local(zone, local_s, &instants);
    if (found != kind || instants.first_s != cron_case_ms(first) / 1000 || instants.last_s != cron_case_ms(last) / 1000) {
        fail_msg("%s: kind %d, %lld to %lld", local, (int)found, (long long)instants.first_s, (long long)instants.last_s);
    }
}

static void test_local_times_once_never_and_twice(void **state)
{
    (void)state;
    struct zone *york = cron_case_zone("America/New_York");
    assert_local(york, "2027-03-14T01:59:59Z", ZONE_ONCE, "2027-03-14T01:59:59-05:00", "2027-03-14T01:59:59-05:00");
    assert_local(york, "2027-03-14T02:00:00Z", ZONE_GAP, "2027-03-14T03:00:00-04:00", "2027-03-14T03:00:00-04:00");
    assert_local(york, "2027-03-14T02:59:59Z", ZONE_GAP, "2027-03-14T03:00:00-04:00", "2027-03-14T03:00:00-04:00");
    assert_local(york, "2027-03-14T03:00:00Z", ZONE_ONCE, "2027-03-14T03:00:00-04:00", "2027-03-14T03:00:00-04:00");
    assert_local(york, "2027-11-07T00:59:59Z", ZONE_ONCE, "2027-11-07T00:59:59-04:00", "2027-11-07T00:59:59-04:00");
    assert_local(york, "2027-11-07T01:00:00Z", ZONE_OVERLAP, "2027-11-07T01:00:00-04:00", "2027-11-07T01:00:00-05:00");
    assert_local(york, "2027-11-07T01:59:59Z", ZONE_OVERLAP, "2027-11-07T01:59:59-04:00", "2027-11-07T01:59:59-05:00");
    assert_local(york, "2027-11-07T02:00:00Z", ZONE_ONCE, "2027-11-07T02:00:00-05:00", "2027-11-07T02:00:00-05:00");
    zone_free(york);
    struct zone *apia = cron_case_zone("Pacific/Apia");
    assert_local(apia, "2011-12-29T23:59:59Z", ZONE_ONCE, "2011-12-29T23:59:59-10:00", "2011-12-29T23:59:59-10:00");
    assert_local(apia, "2011-12-30T12:00:00Z", ZONE_GAP, "2011-12-31T00:00:00+14:00", "2011-12-31T00:00:00+14:00");
    zone_free(apia);
    assert_local(NULL, "2027-11-07T01:00:00Z", ZONE_ONCE, "2027-11-07T01:00:00Z", "2027-11-07T01:00:00Z");
}

static void test_the_end_of_what_is_shown_twice(void **state)
{
    (void)state;
    struct zone *zone = cron_case_zone("Australia/Lord_Howe");
    struct zone_instants instants;
    assert_int_equal(zone_from_local(zone, cron_case_ms("2027-04-04T01:31:00Z") / 1000, &instants), ZONE_OVERLAP);
    assert_int_equal(instants.until_s, cron_case_ms("2027-04-04T02:00:00Z") / 1000);
    assert_int_equal(instants.last_s - instants.first_s, 1800);
    assert_int_equal(zone_from_local(zone, cron_case_ms("2027-04-04T02:00:00Z") / 1000, &instants), ZONE_ONCE);
    assert_int_equal(instants.until_s, cron_case_ms("2027-04-04T02:00:00Z") / 1000);
    zone_free(zone);
}

/* Each instant's local time leads back to it; what is said of a local time is what all instants around it show. */
static void check_local(const struct zone *zone, int64_t local_s)
{
    struct zone_instants instants;
    enum zone_local kind = zone_from_local(zone, local_s, &instants);
    bool first_shows = zone_to_local_s(zone, instants.first_s) == local_s;
    bool last_shows = zone_to_local_s(zone, instants.last_s) == local_s;
    assert_int_equal(first_shows, kind != ZONE_GAP);
    assert_int_equal(last_shows, kind != ZONE_GAP);
    assert_int_equal(instants.first_s < instants.last_s, kind == ZONE_OVERLAP);
    if (kind == ZONE_GAP) {
        assert_true(zone_to_local_s(zone, instants.first_s - 1) < local_s && zone_to_local_s(zone, instants.first_s) > local_s);
    }
    for (int64_t hour = -26; hour <= 26; hour++) {
        int64_t shift_s = hour * 3600 + (hour % 2) * 1800;
        bool shows = zone_to_local_s(zone, local_s + shift_s) == local_s;
        assert_true(!shows || (instants.first_s <= local_s + shift_s && local_s + shift_s <= instants.last_s && kind != ZONE_GAP));
    }
}

static void test_local_and_back(void **state)
{
    (void)state;
    for (size_t i = 0; i < NAMES; i++) {
        struct zone *zone = cron_case_zone(names[i]);
        struct random random = random_new(i);
        int64_t at_s = INT64_C(-2500000000);
        int64_t change_s;
        while (at_s < INT64_C(5000000000) && zone_next_change(zone, at_s, &change_s)) {
            assert_true(change_s > at_s);
            for (int j = 0; j < 50; j++) {
                check_local(zone, zone_to_local_s(zone, change_s) + random_between(&random, -90000, 90000));
                check_local(zone, zone_to_local_s(zone, change_s) + random_between(&random, -3, 3) * 1800);
            }
            at_s = change_s;
        }
        zone_free(zone);
    }
}

static void test_instants_beyond_the_range_are_its_ends(void **state)
{
    (void)state;
    struct zone *zone = cron_case_zone("Europe/London");
    struct zone_instants instants;
    int64_t change_s = 5;
    assert_int_equal(zone_to_local_s(zone, INT64_MAX), ZONE_LAST_S);
    assert_int_equal(zone_to_local_s(NULL, INT64_MIN), ZONE_FIRST_S);
    assert_int_equal(zone_from_local(zone, INT64_MIN, &instants), ZONE_ONCE);
    assert_int_equal(zone_from_local(zone, INT64_MAX, &instants), ZONE_ONCE);
    assert_false(zone_next_change(zone, INT64_MAX, &change_s));
    assert_false(zone_next_change(NULL, 0, &change_s));
    assert_int_equal(change_s, 5);
    assert_true(zone_next_change(zone, INT64_MIN, &change_s));
    zone_free(zone);
    zone_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_real_files_agree_with_the_c_library),
        cmocka_unit_test(test_rules_agree_with_the_c_library),
        cmocka_unit_test(test_summer_time_all_year),
        cmocka_unit_test(test_a_rule_across_new_year),
        cmocka_unit_test(test_rules_that_do_not_read_are_refused),
        cmocka_unit_test(test_versions),
        cmocka_unit_test(test_what_does_not_hold_is_refused),
        cmocka_unit_test(test_counts_of_all_ones_are_refused),
        cmocka_unit_test(test_every_cut_is_refused),
        cmocka_unit_test(test_local_times_once_never_and_twice),
        cmocka_unit_test(test_the_end_of_what_is_shown_twice),
        cmocka_unit_test(test_local_and_back),
        cmocka_unit_test(test_instants_beyond_the_range_are_its_ends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
