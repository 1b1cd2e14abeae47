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
    assert_true(decode_fingerprint(&rules) == UINT64_C(0x73EB5ECBCA784CC8));
    assert_true(decode_fingerprint(&enveloped) == UINT64_C(0xBA71E0C5B5CD14A8));
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
    struct decode_rules variants[32];
    size_t count = 0;
    (void)state;
    for (size_t i = 0; i < 26; i++) {
        variants[i] = envelope_rules();
    }
    count++; /* the first stays as it is */
    variants[count++].dialect_tarry = false;
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
    for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
        variants[count++].targets = &lists[i];
    }
    for (size_t i = 0; i < count; i++) {
        for (size_t j = 0; j < i; j++) {
            assert_false(decode_fingerprint(&variants[i]) == decode_fingerprint(&variants[j]));
        }
    }
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
        cmocka_unit_test(it_stays_when_no_meaning_changes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
