/*
 * The rules of schedules in docs/semantics.md, and what docs/schedules.md shows: each block is worked out by the code that does it in production. The blocks ```record of
 * both: test_dialect_pages.c.
 */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/civil.h"
#include "bridge/decode.h"
#include "scheduler/firing.h"
#include "scheduler/recurrence.h"
#include "tests/cron/cron_case.h"
#include "tests/support/ids_example.h"

/* ------------------------------------------------------------------------------------------------- moments */

/* As the zone's clock shows it: 2026-11-29T15:12:55+01:00. NULL: UTC, with a Z. */
static const char *show(const struct zone *zone, int64_t ms, char text[64])
{
    int64_t offset_s = zone == NULL ? 0 : zone_offset_s(zone, ms / 1000);
    int64_t local_s = ms / 1000 + offset_s;
    int64_t second = local_s - civil_day_of_s(local_s) * CIVIL_DAY_S;
    struct civil_date date = civil_date_of(civil_day_of_s(local_s));
    int length = snprintf(text, 64, "%04d-%02d-%02dT%02d:%02d:%02d", date.year, date.month, date.day, (int)(second / 3600), (int)(second / 60 % 60),
                          (int)(second % 60));
    if (ms % 1000 != 0) {
        length += snprintf(text + length, 64 - (size_t)length, ".%03d", (int)(ms % 1000));
    }
    if (zone == NULL) {
        (void)snprintf(text + length, 64 - (size_t)length, "Z");
    } else {
        int64_t minutes = (offset_s < 0 ? -offset_s : offset_s) / 60;
        (void)snprintf(text + length, 64 - (size_t)length, "%c%02d:%02d", offset_s < 0 ? '-' : '+', (int)(minutes / 60), (int)(minutes % 60));
    }
    return text;
}

/* 0: it is not given. */
static uint64_t number_of(const struct page_block *block, const char *name)
{
    const char *value = page_block_value(block, name);
    return value == NULL ? 0 : page_block_number(block, value);
}

static bool is(const char *text, const char *wanted)
{
    return text != NULL && strcmp(text, wanted) == 0;
}

/* ---------------------------------------------------------------------------------------------------- cron */

/* expression, zone, after -> the occurrences that follow, as many as are there; or "never" and "refused". */
static void check_cron(struct page_block *block)
{
    char text[64];
    char problem[CRON_PROBLEM_SIZE];
    struct cron cron;
    const char *name = page_block_value(block, "zone: ");
    const char *expression = page_block_value(block, "expression: ");
    page_block_only(block, "expression: ", "zone: ", "after: ", NULL);
    if (!cron_parse(span_of_text(expression == NULL ? "" : expression), &cron, problem, sizeof(problem))) {
        page_block_found(block, "refused");
        return;
    }
    int64_t at_ms = page_block_moment(block, page_block_value(block, "after: "));
    struct zone *zone = cron_case_zone(name == NULL ? "UTC" : name);
    for (int i = 0; i < block->result_count; i++) {
        if (!cron_next(&cron, zone, at_ms, &at_ms)) {
            page_block_found(block, "never");
            break;
        }
        page_block_found(block, "%s", show(zone, at_ms, text));
    }
    zone_free(zone);
}

/* ------------------------------------------------------------------------------------------------- misfire */

static struct misfire_policy read_policy(const struct page_block *block)
{
    struct misfire_policy policy = recurrence_misfire_default;
    const char *rule = page_block_value(block, "misfire: ");
    const char *after = page_block_value(block, "misfire_after: ");
    if (rule != NULL) {
        policy.rule = is(rule, "all") ? MISFIRE_ALL : is(rule, "skip") ? MISFIRE_SKIP : MISFIRE_ONCE;
        assert_true(policy.rule != MISFIRE_ONCE || is(rule, "once"));
    }
    if (after != NULL) {
        policy.after_ms = page_block_span(block, after);
    }
    return policy;
}

static void find_step(struct page_block *block, const struct recurrence *recurrence)
{
    char text[64];
    struct recurrence_step step;
    int64_t due_ms = page_block_moment(block, page_block_value(block, "due: "));
    recurrence_step(recurrence, read_policy(block), due_ms, page_block_moment(block, page_block_value(block, "now: ")), &step);
    page_block_found(block, step.fire ? "fires" : "does not fire");
    if (step.finished) {
        page_block_found(block, "no other follows");
    } else {
        page_block_found(block, "next %s", show(recurrence->zone, step.next_due_ms, text));
    }
    if (page_block_value(block, "fired before: ") != NULL) {
        page_block_found(block, "fired %" PRIu64, step.next_runs);
    }
}

static void find_first(struct page_block *block, const struct recurrence *recurrence)
{
    char text[64];
    int64_t due_ms;
    if (recurrence_first(recurrence, page_block_moment(block, page_block_value(block, "written: ")), &due_ms)) {
        page_block_found(block, "first %s", show(recurrence->zone, due_ms, text));
    } else {
        page_block_found(block, "none");
    }
}

/* An occurrence that is due, and now -> whether it fires, and what is next. With `written` instead of both: the first one. */
static void check_misfire(struct page_block *block)
{
    struct cron cron;
    const char *every = page_block_value(block, "every: ");
    const char *zone = page_block_value(block, "zone: ");
    const char *until = page_block_value(block, "until: ");
    struct recurrence recurrence = {.until_ms = -1, .count = number_of(block, "count: "),
                                    .runs = number_of(block, "fired before: ")};
    page_block_only(block, "misfire: ", "misfire_after: ", "every: ", "cron: ", "zone: ", "until: ", "count: ", "fired before: ", "due: ", "now: ",
                    "written: ", NULL);
    if (every != NULL) {
        recurrence.kind = RECURRENCE_EVERY;
        recurrence.every_ms = page_block_span(block, every);
    } else {
        cron = cron_case_parse(page_block_value(block, "cron: "));
        recurrence.kind = RECURRENCE_CRON;
        recurrence.cron = &cron;
    }
    struct zone *owned = cron_case_zone(zone == NULL ? "UTC" : zone);
    recurrence.zone = owned;
    recurrence.until_ms = until == NULL ? -1 : page_block_moment(block, until);
    if (page_block_value(block, "written: ") != NULL) {
        find_first(block, &recurrence);
    } else {
        find_step(block, &recurrence);
    }
    zone_free(owned);
}

/* -------------------------------------------------------------------------------------------------- firing */

/* An event whose turn comes now -> what becomes of it. */
static void check_firing(struct page_block *block)
{
    static const char *const results[] = {"is delivered", "is a dead letter, expired", "is a dead letter, late", "is let fall"};
    const char *late = page_block_value(block, "late: ");
    const char *most = page_block_value(block, "max_lateness: ");
    const char *expires = page_block_value(block, "expires: ");
    struct firing_rules rules = {is(late, "letter") ? FIRING_LATE_LETTER : is(late, "drop") ? FIRING_LATE_DROP : FIRING_LATE_FIRE, 0};
    page_block_only(block, "late: fire", "late: letter", "late: drop", "max_lateness: ", "expires: ", "comes again", "due: ", "now: ", NULL);
    rules.max_lateness_ms = most == NULL ? 0 : page_block_span(block, most);
    int64_t due_ms = page_block_moment(block, page_block_value(block, "due: "));
    int64_t expires_ms = expires == NULL ? FIRING_NO_EXPIRY : page_block_moment(block, expires);
    bool recurs = page_block_value(block, "comes again") != NULL;
    page_block_found(block, "%s", results[firing_decide(rules, due_ms, expires_ms, recurs, page_block_moment(block, page_block_value(block, "now: ")))]);
}

/* A due time, and an id or a place (topic/partition/offset) -> when it is due by the source's spread. */
static void check_spread(struct page_block *block)
{
    char text[64];
    char topic[PAGE_BLOCK_LINE] = "";
    int32_t partition = 0;
    int64_t offset = 0;
    const char *id = page_block_value(block, "id: ");
    const char *place = page_block_value(block, "place: ");
    page_block_only(block, "spread: ", "id: ", "place: ", "due: ", NULL);
    if (place != NULL) {
        char *rest;
        (void)snprintf(topic, sizeof(topic), "%s", place);
        (void)strtok_r(topic, "/", &rest);
        partition = (int32_t)page_block_number(block, strtok_r(NULL, "/", &rest));
        offset = (int64_t)page_block_number(block, strtok_r(NULL, "/", &rest));
    }
    struct decode_rules rules = {.topic = topic, .spread_ms = page_block_span(block, page_block_value(block, "spread: "))};
    int64_t due_ms = page_block_moment(block, page_block_value(block, "due: "));
    due_ms += decode_spread_offset_ms(&rules, id == NULL ? SPAN_ABSENT : span_of_text(id), partition, offset);
    page_block_found(block, "due %s", show(NULL, due_ms, text));
}

/* --------------------------------------------------------------------------------------------------- pages */

static void assert_page(const char *page, const char *kind, page_block_check *check, int least)
{
    int count = page_block_check_all(DOCS_DIR, page, kind, check);
    if (count < least) {
        fail_msg("%s has %d examples ```%s, not %d", page, count, kind, least);
    }
}

static void test_cron(void **state)
{
    (void)state;
    assert_page("semantics.md", "cron", check_cron, 12);
    assert_page("schedules.md", "cron", check_cron, 1);
}

static void test_misfire(void **state)
{
    (void)state;
    assert_page("semantics.md", "misfire", check_misfire, 10);
    assert_page("schedules.md", "misfire", check_misfire, 1);
}

static void test_firing(void **state)
{
    (void)state;
    assert_page("semantics.md", "firing", check_firing, 6);
}

static void test_spread(void **state)
{
    (void)state;
    assert_page("semantics.md", "spread", check_spread, 2);
}

static void test_ids(void **state)
{
    (void)state;
    assert_page("semantics.md", "ids", ids_example_check, 12);
    assert_page("schedules.md", "ids", ids_example_check, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cron),   cmocka_unit_test(test_misfire), cmocka_unit_test(test_firing),
        cmocka_unit_test(test_spread), cmocka_unit_test(test_ids),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
