#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "support/sample_record.h"

static struct decode_rules envelope_rules(void)
{
    struct decode_rules rules = sample_rules();
    rules.envelope = true;
    return rules;
}

/* A number that every release with this DECODE_VERSION must give: it stands in committed offsets. */
static void it_is_stable(void **state)
{
    struct decode_rules rules = sample_rules();
    struct decode_rules enveloped = envelope_rules();
    (void)state;
    assert_true(decode_fingerprint(&rules) == UINT64_C(0x62325A40F6C90AAB));
    assert_true(decode_fingerprint(&enveloped) == UINT64_C(0x790747EDB2948D58));
}

static void it_changes_with_every_meaning(void **state)
{
    static const struct decode_route other_type[] = {{"PAYMENT_TIMEOUT2", "payments"}};
    static const struct decode_route other_target[] = {{"PAYMENT_TIMEOUT", "events"}};
    static const struct decode_route moved_border[] = {{"PAYMENT_TIMEOUTp", "ayments"}};
    static const struct target_pattern patterns[] = {{"orders.*", 1}, {"late-*", 2}};
    static const struct target_pattern swapped[] = {{"late-*", 2}, {"orders.*", 1}};
    static const struct target_pattern together[] = {{"orders.*", 1}, {"late-*", 1}};
    static const struct target_pattern in_default[] = {{"orders.*", 0}, {"late-*", 2}};
    static const char *const known[] = {"events", "payments"};
    static const char *const fewer[] = {"events"};
    static const struct target_list lists[] = {
        {swapped, 2, known, 2, 0},  {together, 2, known, 2, 0},   {patterns, 2, fewer, 1, 0},
        {patterns, 1, known, 2, 0}, {in_default, 2, known, 2, 0}, {patterns, 2, known, 2, 2},
        {patterns, 2, NULL, 0, 0},
    };
    const struct dialect other = {.name = "other", .entries = dialect_tarry_alone[0]->entries, .count = dialect_tarry_alone[0]->count};
    const struct dialect *const sets[][2] = {
        {dialect_tarry_alone[0], dialect_preset(span_of_text("etf1"))},
        {dialect_tarry_alone[0], dialect_preset(span_of_text("karafka"))},
        {dialect_preset(span_of_text("rabbitmq"))},
        {&other},
    };
    struct decode_rules variants[40];
    size_t count = 0;
    (void)state;
    for (size_t i = 0; i < 40; i++) {
        variants[i] = envelope_rules();
    }
    count++; /* the first stays as it is */
    variants[count++].dialect_count = 0;
    variants[count++].envelope = false;
    variants[count++].envelope_whole = true;
    variants[count++].field_type = "kind";
    variants[count++].field_payload = "body";
    variants[count++].field_delay_ms = "delay";
    variants[count++].field_deliver_at = "at";
    variants[count++].field_target = "topic";
    variants[count++].field_id = "key";
    variants[count++].routes = other_type;
    variants[count++].routes = other_target;
    variants[count++].routes = moved_border;
    variants[count++].route_count = 0;
    variants[count++].default_target = "payments";
    variants[count++].default_target = NULL;
    variants[count++].max_delay_ms++;
    variants[count++].default_delay_ms = 0;
    variants[count++].default_delay_ms = 1;
    variants[count++].spread_ms = 1;
    variants[count++].spread_ms = 10000;
    for (size_t i = 0; i < sizeof(sets) / sizeof(sets[0]); i++) {
        variants[count].dialect_count = sets[i][1] == NULL ? 1 : 2;
        variants[count++].dialects = sets[i];
    }
    for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
        variants[count++].targets = &lists[i];
    }
    for (size_t i = 0; i < count; i++) {
        for (size_t j = 0; j < i; j++) {
            assert_false(decode_fingerprint(&variants[i]) == decode_fingerprint(&variants[j]));
        }
    }
}

/* Neither their order, nor what they are called, nor the order of what they say. */
static void dialects_count_by_what_they_say(void **state)
{
    static const struct dialect_entry entries[] = {{"x-delay", DIALECT_DELAY, DIALECT_FORM_MS, NULL, 0}, {"x-at", DIALECT_AT, DIALECT_FORM_S, NULL, 0}};
    static const struct dialect_entry mixed[] = {{"x-at", DIALECT_AT, DIALECT_FORM_S, "words", 0}, {"x-delay", DIALECT_DELAY, DIALECT_FORM_MS, NULL, 0}};
    static const struct dialect_entry other_unit[] = {{"x-at", DIALECT_AT, DIALECT_FORM_MS, NULL, 0}, {"x-delay", DIALECT_DELAY, DIALECT_FORM_MS, NULL, 0}};
    struct dialect own[] = {{.name = "a", .entries = entries, .count = 2}, {.name = "b", .entries = mixed, .count = 2}, {.name = "a", .entries = other_unit, .count = 2}};
    const struct dialect *const first[] = {dialect_tarry_alone[0], &own[0]};
    const struct dialect *const second[] = {&own[1], dialect_tarry_alone[0]};
    const struct dialect *const third[] = {dialect_tarry_alone[0], &own[2]};
    struct decode_rules rules = sample_rules();
    (void)state;
    dialect_index(&own[1]); /* an index says nothing either */
    rules.dialect_count = 2;
    rules.dialects = first;
    uint64_t before = decode_fingerprint(&rules);
    rules.dialects = second;
    assert_true(decode_fingerprint(&rules) == before);
    rules.dialects = third;
    assert_false(decode_fingerprint(&rules) == before);
}

static void it_stays_when_no_meaning_changes(void **state)
{
    static const struct decode_route some[] = {{"A", "events"}, {"B", "payments"}, {"C", "events"}};
    static const struct decode_route mixed[] = {{"C", "events"}, {"A", "events"}, {"B", "payments"}, {"A", "payments"}};
    static const struct target_pattern renumbered[] = {{"orders.*", 7}, {"late-*", 9}};
    static const char *const known[] = {"payments", "orders.x", "events", "payments"};
    static const struct target_list list = {renumbered, 2, known, 4, 3};
    struct decode_rules rules = envelope_rules();
    uint64_t before = decode_fingerprint(&rules);
    (void)state;
    rules.field_type = "type"; /* the default, said */
    rules.field_deliver_at = "deliver_at";
    rules.field_retry_count = "attempts"; /* decides nothing */
    rules.default_delay_ms = -7;
    assert_true(decode_fingerprint(&rules) == before);
    rules.targets = &list; /* other lane numbers, another order of known topics, one that a pattern has anyway */
    assert_true(decode_fingerprint(&rules) == before);
    rules.routes = some;
    rules.route_count = 3;
    before = decode_fingerprint(&rules);
    rules.routes = mixed; /* another order, and a second route that is never taken */
    rules.route_count = 4;
    assert_true(decode_fingerprint(&rules) == before);
    rules.envelope = false;
    before = decode_fingerprint(&rules);
    rules.route_count = 0; /* without envelopes there is no type to route by */
    rules.field_target = "topic";
    rules.envelope_whole = true;
    assert_true(decode_fingerprint(&rules) == before);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_is_stable),
        cmocka_unit_test(it_changes_with_every_meaning),
        cmocka_unit_test(dialects_count_by_what_they_say),
        cmocka_unit_test(it_stays_when_no_meaning_changes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
