/* Header tarry-request: by which who wrote a record knows it again when it is read. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "bridge/outgoing.h"
#include "support/sample_record.h"

#define ROOT "3:1795961500000:1795961505000:events"
#define LONGEST "0123456789012345678901234567890123456789012345678901234567890123"
#define LONGEST_AND_ONE "01234567890123456789012345678901234567890123456789012345678901234"
#define HEADERS(...) ((const char *const[]){__VA_ARGS__, NULL})

static struct sample sample;

static const struct record *record_of(const char *const *headers)
{
    sample_begin(&sample, "k", "v");
    for (; headers[0] != NULL; headers += 2) {
        sample_add(&sample, headers[0], headers[1]);
    }
    return &sample.record;
}

static bool decode(const char *const *headers, struct decoded *decoded, struct refusal *refusal)
{
    struct decode_rules rules = sample_rules();
    return decode_record(&rules, record_of(headers), decoded, refusal);
}

static void it_is_read(void **state)
{
    struct decoded decoded;
    struct refusal refusal;
    (void)state;
    assert_true(decode(HEADERS("tarry-delay", "1s", "tarry-request", "a1"), &decoded, &refusal));
    assert_true(span_equals_text(decoded.request, "a1"));
    assert_true(decode(HEADERS("tarry-delay", "1s", "tarry-request", LONGEST), &decoded, &refusal));
    assert_true(span_equals_text(decoded.request, LONGEST));
    assert_true(decode(HEADERS("tarry-delay", "1s"), &decoded, &refusal));
    assert_null(decoded.request.data);
    assert_true(decode(HEADERS("tarry-id", "x", "tarry-action", "cancel", "tarry-request", "a1"), &decoded, &refusal));
    assert_true(decoded.action == DECODE_CANCEL && span_equals_text(decoded.request, "a1"));
}

static void what_is_none_is_refused(void **state)
{
    static const char *const bad[] = {"", NULL, LONGEST_AND_ONE, "a b", "a\n", "\xc3\xa9", "a\x7f", "\x1b[0m"};
    struct decoded decoded;
    struct refusal refusal;
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        assert_false(decode(HEADERS("tarry-delay", "1s", "tarry-request", bad[i]), &decoded, &refusal));
        assert_int_equal(refusal.reason, REFUSAL_UNSUPPORTED);
        assert_non_null(strstr(refusal.text, "tarry-request"));
        /* of a cancel only the id counts, and what was accepted once is not refused for it */
        assert_true(decode(HEADERS("tarry-id", "x", "tarry-action", "cancel", "tarry-request", bad[i]), &decoded, &refusal));
        assert_null(decoded.request.data);
        assert_true(decode(HEADERS("tarry-root", ROOT, "tarry-request", bad[i]), &decoded, &refusal));
    }
    assert_false(decode(HEADERS("tarry-delay", "1s", "tarry-request", "a", "tarry-request", "a"), &decoded, &refusal));
    assert_int_equal(refusal.reason, REFUSAL_AMBIGUOUS);
}

/* A record that is refused for something else is known again, too, unless anything of it is in doubt. */
static void it_is_found_on_refused_ones(void **state)
{
    struct decode_rules rules = sample_rules();
    const struct dialect *const others[] = {dialect_preset(span_of_text("etf1"))};
    (void)state;
    assert_true(span_equals_text(decode_request(&rules, record_of(HEADERS("tarry-delay", "nonsense", "tarry-request", "a1"))), "a1"));
    assert_null(decode_request(&rules, record_of(HEADERS("tarry-delay", "1s"))).data);
    assert_null(decode_request(&rules, record_of(HEADERS("tarry-request", "a1", "tarry-request", "a1"))).data);
    assert_null(decode_request(&rules, record_of(HEADERS("tarry-request", "a1", "tarry-request", "b"))).data);
    assert_null(decode_request(&rules, record_of(HEADERS("tarry-request", "a b"))).data);
    assert_null(decode_request(&rules, record_of(HEADERS("tarry-request", NULL))).data);
    assert_null(decode_request(&rules, record_of(HEADERS("tarry-request", "a1", "tarry-root", "3:1"))).data);
    assert_null(decode_request(&rules, record_of(HEADERS("tarry-root", "3:1", "tarry-request", "a1"))).data);
    rules.dialects = others;
    assert_null(decode_request(&rules, record_of(HEADERS("tarry-request", "a1"))).data);
}

/* ------------------------------------------------------------------------------------------------- it stays here */

static size_t seen;

static void count(void *context, struct span name, struct span value)
{
    (void)context;
    seen += span_equals_text(name, "tarry-request") && span_equals_text(value, "a1");
}

static void it_goes_nowhere(void **state)
{
    struct decode_rules rules = sample_rules();
    struct decoded decoded;
    struct refusal refusal;
    struct error error;
    struct row row;
    struct buffer bytes = buffer_new(1 << 16);
    (void)state;
    assert_true(decode(HEADERS("tarry-delay", "1s", "tarry-request", "a1", "kept", "yes"), &decoded, &refusal));
    assert_true(row_encode(&bytes, &sample.record, &decoded, &error) && row_decode(buffer_span(&bytes), &row, &error));
    struct sink_origin origin = {"in", 3, sample.record.offset, decoded.due_ms, &rules};
    seen = 0;
    assert_true(outgoing_accepted(&row, &origin, OUTPUT_HEADERS_NONE, count, NULL));
    assert_true(outgoing_refused(&row, count, NULL));
    assert_int_equal(seen, 0);
    assert_true(outgoing_copied(&row, &origin, NULL, count, NULL)); /* a row keeps it, moved or not */
    assert_int_equal(seen, 1);
    buffer_clear(&bytes);
    refusal.reason = REFUSAL_NO_TIME;
    assert_true(row_encode_refused(&bytes, &sample.record, &refusal, &error) && row_decode(buffer_span(&bytes), &row, &error));
    assert_true(outgoing_refused(&row, count, NULL));
    assert_int_equal(seen, 1);
    buffer_free(&bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_is_read),
        cmocka_unit_test(what_is_none_is_refused),
        cmocka_unit_test(it_is_found_on_refused_ones),
        cmocka_unit_test(it_goes_nowhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
