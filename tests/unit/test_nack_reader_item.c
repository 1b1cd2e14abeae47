/* From a record of a nack topic to a letter: what the reader's thread decides, without the thread. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "ops/nack_reader.h"
#include "ops/nack_reader_state.h"
#include "support/config_text.h"

#define NOW_MS 1767225600000
#define LAST_MS 253402300799999

static const char configuration[] = "instance: i\n"
                                    "group: g\n"
                                    "kafka: {bootstrap.servers: 'b:1'}\n"
                                    "sources: [{topic: in, default_target: out}]\n"
                                    "targets:\n"
                                    "- {name: orders, match: 'orders*', retry: {max_deliver: 2, backoff: 1s, factor: 2, jitter: 0}}\n"
                                    "- {name: once, match: once, retry: {max_deliver: 0}}\n"
                                    "nack:\n"
                                    "- {match: 'dlq.*', family: kafka}\n"
                                    "- {match: '*.DLT', family: spring}\n";

struct fixture {
    struct config *config;
    const struct config *policies; /* as reloaded */
    struct nack_reader_item item;
};

static int load(void **state)
{
    static struct fixture fixture;
    fixture.config = config_text_good(configuration);
    fixture.policies = fixture.config;
    *state = &fixture;
    return 0;
}

static int unload(void **state)
{
    config_free(((struct fixture *)*state)->config);
    return 0;
}

/* headers: name, value, ..., NULL. */
static const struct letter *make(struct fixture *fixture, size_t match, int64_t offset, int64_t timestamp_ms, const char *const *headers)
{
    struct record_header list[16];
    struct nack_source_record record = {"dlq.x", 3, match, {.key = span_of_text("k"), .value = span_of_text("v"), .headers = list, .offset = offset, .timestamp_ms = timestamp_ms, .timestamp = RECORD_TIMESTAMP_CREATE}};
    for (; headers[0] != NULL; headers += 2) {
        list[record.record.header_count++] = (struct record_header){span_of_text(headers[0]), span_of_text(headers[1])};
    }
    nack_reader_item_free(&fixture->item);
    const struct nack_reader_rules rules = {.opened = fixture->config, .policies = fixture->policies};
    nack_reader_item_make(&fixture->item, &rules, &record, NOW_MS);
    struct buffer bytes = buffer_new(1 << 20);
    assert_true(letter_encode(&bytes, &fixture->item.letter, NULL));
    buffer_free(&bytes);
    return &fixture->item.letter;
}

static bool error_has(const struct letter *letter, const char *part)
{
    char text[LETTER_ERROR_MAX + 1] = "";
    memcpy(text, letter->error.data, letter->error.length);
    return strstr(text, part) != NULL;
}

static void a_failure_waits_by_its_targets_policy(void **state)
{
    struct fixture *fixture = *state;
    const char *const first[] = {"__dlq.errors.topic", "orders.eu", "__dlq.errors.message", "why", NULL};
    const char *const second[] = {"__dlq.errors.topic", "orders.eu", "tarry-redelivery", "1", NULL};
    const struct letter *letter = make(fixture, 0, 7, NOW_MS - 50, first);
    assert_int_equal(fixture->item.state, LETTER_WAITING);
    assert_int_equal(letter->reason, LETTER_REASON_CONSUMER_FAILED);
    assert_int_equal(letter->not_before_ms, NOW_MS + 1000);
    assert_int_equal(letter->first_failure_ms, NOW_MS - 50);
    assert_int_equal(letter->last_failure_ms, NOW_MS - 50);
    assert_true(span_equals_text(letter->target, "orders.eu"));
    assert_true(span_equals_text(letter->error, "why"));
    assert_int_equal(make(fixture, 0, 7, -1, second)->not_before_ms, NOW_MS + 2000);
    assert_int_equal(fixture->item.letter.attempt, 2);
    assert_int_equal(fixture->item.letter.last_failure_ms, NOW_MS);
    nack_reader_item_free(&fixture->item);
}

static void a_time_of_its_own_counts(void **state)
{
    struct fixture *fixture = *state;
    const char *const delay[] = {"__dlq.errors.topic", "orders", "tarry-delay", "90s", NULL};
    const char *const at[] = {"__dlq.errors.topic", "orders", "tarry-at", "2030-01-01T00:00:00Z", NULL};
    const char *const wrong[] = {"__dlq.errors.topic", "orders", "tarry-delay", "soon", "tarry-at", "later", NULL};
    assert_int_equal(make(fixture, 0, 7, NOW_MS, delay)->not_before_ms, NOW_MS + 90000);
    assert_int_equal(make(fixture, 0, 7, NOW_MS, at)->not_before_ms, 1893456000000);
    assert_int_equal(fixture->item.letter.record.headers.length, 0); /* they are not sent on */
    assert_int_equal(make(fixture, 0, 7, NOW_MS, wrong)->not_before_ms, NOW_MS + 1000);
    nack_reader_item_free(&fixture->item);
}

static void moments_stay_within_the_calendar(void **state)
{
    (void)state;
    const struct span none = SPAN_ABSENT;
    assert_int_equal(nack_reader_not_before(span_of_text("500"), none, 1000, 7), 1500);
    assert_int_equal(nack_reader_not_before(span_of_text("500"), span_of_text("2030-01-01T00:00:00Z"), 1000, 7), 1500);
    assert_int_equal(nack_reader_not_before(none, span_of_text("1893456000000"), 1000, 7), 1893456000000);
    assert_int_equal(nack_reader_not_before(none, none, 1000, 7), 7);
    assert_int_equal(nack_reader_not_before(span_of_text(""), span_of_text(""), 1000, 7), 7);
    assert_int_equal(nack_reader_not_before(span_of_text("-5"), none, 1000, 7), 7);
    assert_int_equal(nack_reader_not_before(span_of_text("9223372036854775807"), none, 1000, 7), LAST_MS);
    assert_int_equal(nack_reader_not_before(none, span_of_text("9223372036854775807"), 1000, 7), LAST_MS);
    assert_int_equal(nack_reader_not_before(none, none, 1000, INT64_MAX), LAST_MS);
}

static void what_has_no_redelivery_left_is_parked(void **state)
{
    struct fixture *fixture = *state;
    const char *const last[] = {"__dlq.errors.topic", "orders", "tarry-redelivery", "1", NULL};
    const char *const spent[] = {"__dlq.errors.topic", "orders", "tarry-redelivery", "2", "__dlq.errors.message", "why", NULL};
    const char *const once[] = {"__dlq.errors.topic", "once", NULL};
    (void)make(fixture, 0, 7, NOW_MS, last);
    assert_int_equal(fixture->item.state, LETTER_WAITING);
    const struct letter *letter = make(fixture, 0, 7, NOW_MS, spent);
    assert_int_equal(fixture->item.state, LETTER_PARKED);
    assert_int_equal(letter->attempt, 2);
    assert_int_equal(letter->reason, LETTER_REASON_CONSUMER_FAILED);
    assert_true(span_equals_text(letter->target, "orders"));
    assert_true(span_equals_text(letter->error, "why"));
    (void)make(fixture, 0, 7, NOW_MS, once);
    assert_int_equal(fixture->item.state, LETTER_PARKED);
    nack_reader_item_free(&fixture->item);
}

static void an_origin_that_is_no_target_is_parked(void **state)
{
    struct fixture *fixture = *state;
    const char *const foreign[] = {"__dlq.errors.topic", "payroll", "__dlq.errors.message", "why", "own", "1", NULL};
    const char *const target[] = {"__dlq.errors.topic", "out", NULL};
    const struct letter *letter = make(fixture, 0, 7, NOW_MS, foreign);
    assert_int_equal(fixture->item.state, LETTER_PARKED);
    assert_int_equal(letter->reason, LETTER_REASON_TARGET_NOT_ALLOWED);
    assert_true(span_equals_text(letter->target, "payroll"));
    assert_true(error_has(letter, "targets"));
    assert_true(error_has(letter, "why"));
    (void)make(fixture, 0, 7, NOW_MS, target);
    assert_int_equal(fixture->item.state, LETTER_WAITING);
    nack_reader_item_free(&fixture->item);
}

static void a_nack_without_origin_is_parked_whole(void **state)
{
    struct fixture *fixture = *state;
    const char *const headers[] = {"__dlq.errors.topic", "orders", "own", "1", NULL}; /* kafka's, in a topic of Spring's */
    const struct letter *letter = make(fixture, 1, 7, NOW_MS, headers);
    assert_int_equal(fixture->item.state, LETTER_PARKED);
    assert_int_equal(letter->reason, LETTER_REASON_BAD_NACK);
    assert_null(letter->target.data);
    assert_true(span_equals_text(letter->origin.topic, "dlq.x"));
    assert_true(span_equals_text(nack_family_header(letter->record.headers, "__dlq.errors.topic"), "orders"));
    assert_true(span_equals_text(letter->record.key, "k"));
    assert_true(span_equals_text(letter->record.value, "v"));
    nack_reader_item_free(&fixture->item);
}

static void the_same_record_has_the_same_id(void **state)
{
    struct fixture *fixture = *state;
    const char *const headers[] = {"__dlq.errors.topic", "orders", NULL};
    char ids[4][LETTER_ID_SIZE];
    memcpy(ids[0], make(fixture, 0, 7, NOW_MS, headers)->id, LETTER_ID_SIZE);
    memcpy(ids[1], make(fixture, 0, 7, NOW_MS, headers)->id, LETTER_ID_SIZE);
    memcpy(ids[2], make(fixture, 0, 8, NOW_MS, headers)->id, LETTER_ID_SIZE);
    memcpy(ids[3], make(fixture, 0, 7, NOW_MS + 1, headers)->id, LETTER_ID_SIZE); /* the topic was made again */
    assert_string_equal(ids[0], ids[1]);
    assert_string_not_equal(ids[0], ids[2]);
    assert_string_not_equal(ids[0], ids[3]);
    nack_reader_item_free(&fixture->item);
}

#define RELOADED \
    "instance: i\n" \
    "group: another\n" \
    "kafka: {bootstrap.servers: 'b:1'}\n" \
    "sources: [{topic: in, default_target: added}]\n" \
    "targets:\n" \
    "- {name: orders, match: 'orders*', retry: {max_deliver: 2, backoff: 7s, factor: 2, jitter: 0}}\n" \
    "- {name: once, match: once, retry: {max_deliver: 0}}\n"

/* The record's match is an index of the list that the source was opened with. */
static void of_a_reloaded_configuration_only_policies_count(void **state)
{
    static const char *const texts[] = {RELOADED /* without nack */,
                                        RELOADED "nack:\n- {match: '*.DLT', family: spring}\n- {match: 'dlq.*', family: kafka}\n"};
    struct fixture *fixture = *state;
    const char *const kafka[] = {"__dlq.errors.topic", "orders", NULL};
    const char *const spring[] = {"kafka_dlt-original-topic", "orders", NULL};
    const char *const added[] = {"__dlq.errors.topic", "added", NULL};
    const char *const former[] = {"__dlq.errors.topic", "out", NULL};
    char id[LETTER_ID_SIZE];
    memcpy(id, make(fixture, 0, 7, NOW_MS, kafka)->id, LETTER_ID_SIZE);
    for (size_t i = 0; i < 2; i++) {
        struct config *fresh = config_text_good(texts[i]);
        fixture->policies = fresh;
        assert_string_equal(make(fixture, 0, 7, NOW_MS, kafka)->id, id); /* of the same group */
        assert_true(span_equals_text(fixture->item.letter.target, "orders"));
        assert_int_equal(fixture->item.letter.not_before_ms, NOW_MS + 7000);
        assert_true(span_equals_text(make(fixture, 1, 7, NOW_MS, spring)->target, "orders"));
        assert_int_equal(fixture->item.letter.not_before_ms, NOW_MS + 7000);
        assert_int_equal(make(fixture, 0, 7, NOW_MS, added)->reason, LETTER_REASON_TARGET_NOT_ALLOWED);
        assert_int_equal(make(fixture, 0, 7, NOW_MS, former)->reason, LETTER_REASON_CONSUMER_FAILED);
        nack_reader_item_free(&fixture->item);
        fixture->policies = fixture->config;
        config_free(fresh);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_failure_waits_by_its_targets_policy), cmocka_unit_test(a_time_of_its_own_counts),
        cmocka_unit_test(moments_stay_within_the_calendar),      cmocka_unit_test(what_has_no_redelivery_left_is_parked),
        cmocka_unit_test(an_origin_that_is_no_target_is_parked), cmocka_unit_test(a_nack_without_origin_is_parked_whole),
        cmocka_unit_test(the_same_record_has_the_same_id),      cmocka_unit_test(of_a_reloaded_configuration_only_policies_count),
    };
    return cmocka_run_group_tests(tests, load, unload);
}
