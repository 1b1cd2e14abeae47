/*
 * Any bytes: as a zone file when they begin as one does, else as a cron expression. Nothing is read outside, what is refused is told in words, and what is
 * accepted gives occurrences that go forward, match, and end.
 */
#include <string.h>

#include "base/civil.h"
#include "base/text.h"
#include "fuzz/fuzz.h"
#include "scheduler/cron.h"
#include "scheduler/cron_calendar.h"

#define OCCURRENCES 3

static const int64_t starts_ms[] = {-1, INT64_C(1509840000000), INT64_C(1805000000000), INT64_C(4000000000123), INT64_C(7000000000000)};
#define STARTS (sizeof(starts_ms) / sizeof(starts_ms[0]))

/* By the bits, not by the code that looked for it. */
static bool matches(const struct cron *cron, int64_t local_s)
{
    int64_t day = civil_day_of_s(local_s);
    int64_t second = local_s - day * CIVIL_DAY_S;
    struct civil_date date = civil_date_of(day);
    int year = date.year - CRON_YEAR_FIRST;
    return (cron->seconds >> (second % 60) & 1) != 0 && (cron->minutes >> (second / 60 % 60) & 1) != 0 && (cron->hours >> (second / 3600) & 1) != 0 &&
           (cron->months >> date.month & 1) != 0 && (cron->years[year / 64] >> (year % 64) & 1) != 0 &&
           (cron_calendar_days(cron, date.year, date.month) >> date.day & 1) != 0;
}

static void check_occurrences(const struct cron *cron, const struct zone *zone)
{
    for (size_t i = 0; i < STARTS; i++) {
        int64_t at_ms = starts_ms[i];
        int64_t next_ms;
        for (int j = 0; j < OCCURRENCES && cron_next(cron, zone, at_ms, &next_ms); j++) {
            FUZZ_CHECK(next_ms > at_ms && next_ms % 1000 == 0);
            FUZZ_CHECK(zone != NULL || matches(cron, next_ms / 1000));
            FUZZ_CHECK(!cron->interval || matches(cron, zone_to_local_s(zone, next_ms / 1000)));
            at_ms = next_ms;
        }
    }
}

static void check_expression(struct span text)
{
    struct cron cron;
    struct cron untouched;
    char problem[CRON_PROBLEM_SIZE];
    memset(&cron, 0x5A, sizeof(cron));
    memset(&untouched, 0x5A, sizeof(untouched));
    if (cron_parse(text, &cron, problem, sizeof(problem))) {
        check_occurrences(&cron, NULL);
    } else {
        FUZZ_CHECK(problem[0] != '\0' && strlen(problem) < sizeof(problem) - 1 && text_is_utf8(span_of_text(problem)));
        FUZZ_CHECK(memcmp(&cron, &untouched, sizeof(cron)) == 0);
    }
}

static void check_local(const struct zone *zone, int64_t local_s)
{
    struct zone_instants instants;
    enum zone_local kind = zone_from_local(zone, local_s, &instants);
    FUZZ_CHECK(instants.first_s <= instants.last_s && instants.until_s >= local_s);
    FUZZ_CHECK((zone_to_local_s(zone, instants.first_s) == local_s) == (kind != ZONE_GAP));
    FUZZ_CHECK((instants.first_s < instants.last_s) == (kind == ZONE_OVERLAP));
}

static void check_zone(struct span bytes)
{
    static const char *const expressions[] = {"30 2 * * *", "*/20 * * * *"};
    struct zone *zone;
    struct error error = {.text = ""};
    char problem[CRON_PROBLEM_SIZE];
    if (!zone_parse(bytes, &zone, &error)) {
        FUZZ_CHECK(error.code == ERROR_INVALID && error.text[0] != '\0');
        return;
    }
    for (size_t i = 0; i < STARTS; i++) {
        int64_t at_s = starts_ms[i] / 1000;
        int64_t change_s;
        for (int j = 0; j < OCCURRENCES && zone_next_change(zone, at_s, &change_s); j++) {
            FUZZ_CHECK(change_s > at_s);
            int64_t offset_s = zone_offset_s(zone, change_s);
            FUZZ_CHECK(offset_s >= -89999 && offset_s <= 93599);
            check_local(zone, change_s + offset_s - 1);
            check_local(zone, change_s + offset_s);
            at_s = change_s;
        }
    }
    for (size_t i = 0; i < sizeof(expressions) / sizeof(expressions[0]); i++) {
        struct cron cron;
        FUZZ_CHECK(cron_parse(span_of_text(expressions[i]), &cron, problem, sizeof(problem)));
        check_occurrences(&cron, zone);
    }
    zone_free(zone);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct span bytes = {data, size};
    if (size >= 4 && memcmp(data, "TZif", 4) == 0) {
        check_zone(bytes);
    } else {
        check_expression(bytes);
    }
    return 0;
}
