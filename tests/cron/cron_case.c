#include "tests/cron/cron_case.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/civil.h"
#include "bridge/time_text.h"
#include "tests/cron/zone_file.h"

struct zone *cron_case_zone(const char *name)
{
    struct zone *zone;
    struct error error;
    if (!zone_file_load(CRON_ZONES, name, &zone, &error)) {
        fail_msg("%s: %s", name, error.text);
    }
    return zone;
}

int64_t cron_case_ms(const char *moment)
{
    int64_t ms = -1;
    if (!time_text_parse(span_of_text(moment), &ms)) {
        fail_msg("%s is no moment", moment);
    }
    return ms;
}

struct cron cron_case_parse(const char *expression)
{
    struct cron cron = {.seconds = 0};
    char problem[CRON_PROBLEM_SIZE] = "";
    if (!cron_parse(span_of_text(expression), &cron, problem, sizeof(problem))) {
        fail_msg("%s: %s", expression, problem);
    }
    return cron;
}

/* As the zone's clock shows it, with its offset. */
static void show(const struct zone *zone, int64_t ms, char text[64])
{
    int64_t local_s = zone_to_local_s(zone, ms / 1000);
    int64_t offset_s = zone_offset_s(zone, ms / 1000);
    int64_t second = local_s - civil_day_of_s(local_s) * CIVIL_DAY_S;
    struct civil_date date = civil_date_of(civil_day_of_s(local_s));
    (void)snprintf(text, 64, "%04d-%02d-%02dT%02d:%02d:%02d%+.1fh", date.year, date.month, date.day, (int)(second / 3600), (int)(second / 60 % 60),
                   (int)(second % 60), (double)offset_s / 3600);
}

static void expect_one(const struct cron *cron, const char *expression, const struct zone *zone, const char *moment, int64_t *at_ms)
{
    int64_t next_ms = -1;
    char shown[64] = "never";
    bool found = cron_next(cron, zone, *at_ms, &next_ms);
    if (found) {
        show(zone, next_ms, shown);
    }
    if (strcmp(moment, "never") == 0 ? found : !found || next_ms != cron_case_ms(moment)) {
        fail_msg("%s: next is %s, not %s", expression, shown, moment);
    }
    *at_ms = next_ms;
}

void cron_case_expect(const char *expression, const char *zone_name, const char *after, ...)
{
    struct cron cron = cron_case_parse(expression);
    struct zone *zone = cron_case_zone(zone_name);
    int64_t at_ms = cron_case_ms(after);
    va_list moments;
    va_start(moments, after);
    for (const char *moment = va_arg(moments, const char *); moment != NULL; moment = va_arg(moments, const char *)) {
        expect_one(&cron, expression, zone, moment, &at_ms);
    }
    va_end(moments);
    zone_free(zone);
}

int cron_case_count(const char *expression, const char *zone_name, const char *after, const char *until)
{
    struct cron cron = cron_case_parse(expression);
    struct zone *zone = cron_case_zone(zone_name);
    int64_t until_ms = cron_case_ms(until);
    int64_t at_ms = cron_case_ms(after);
    int count = 0;
    while (cron_next(&cron, zone, at_ms, &at_ms) && at_ms <= until_ms) {
        count++;
    }
    zone_free(zone);
    return count;
}

void cron_case_refused(const char *expression, const char *part)
{
    struct cron cron = {.seconds = 99};
    char problem[CRON_PROBLEM_SIZE] = "";
    if (cron_parse(span_of_text(expression), &cron, problem, sizeof(problem))) {
        fail_msg("%s: accepted", expression);
    }
    if (strstr(problem, part) == NULL || strlen(problem) >= sizeof(problem) - 1) {
        fail_msg("%s: \"%s\" does not say \"%s\"", expression, problem, part);
    }
    assert_int_equal(cron.seconds, 99);
}
