#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "bridge/kafka_conf.h"

static void test_promises_are_refused(void **state)
{
    (void)state;
    static const char *const names[] = {"isolation.level", "enable.auto.commit", "enable.auto.offset.store", "transactional.id", "acks",
                                        "request.required.acks", "enable.idempotence", "group.instance.id", "group.id", "client.id",
                                        "auto.offset.reset", "enable.partition.eof", "delivery.report.only.error", "transaction.timeout.ms",
                                        "queuing.strategy"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        struct error error;
        assert_non_null(kafka_conf_refused(names[i]));
        assert_false(kafka_conf_check(names[i], "x", &error));
        assert_int_equal(error.code, ERROR_INVALID);
        assert_non_null(strstr(error.text, names[i]));
        assert_non_null(strstr(error.text, kafka_conf_refused(names[i])));
    }
}

static void test_others_pass(void **state)
{
    (void)state;
    static const char *const settings[][2] = {{"bootstrap.servers", "a:1,b:2"}, {"compression.type", "zstd"},      {"linger.ms", "5"},
                                              {"session.timeout.ms", "30000"},  {"security.protocol", "SASL_SSL"}, {"sasl.password", "x"},
                                              {"partition.assignment.strategy", "cooperative-sticky"},
                                              {"retry.backoff.ms", "10"},       {"message.timeout.ms", "60000"},   {"retries", "1"},
                                              {"message.send.max.retries", "9"}, {"max.in.flight", "5"},
                                              {"max.in.flight.requests.per.connection", "1"}};
    for (size_t i = 0; i < sizeof settings / sizeof settings[0]; i++) {
        struct error error = {0};
        assert_null(kafka_conf_refused(settings[i][0]));
        assert_true(kafka_conf_check(settings[i][0], settings[i][1], &error));
    }
}

/* What tarry has a key for is refused with the key's name. */
static void test_refusals_name_the_key_to_use(void **state)
{
    (void)state;
    assert_non_null(strstr(kafka_conf_refused("transaction.timeout.ms"), "`transaction_timeout`"));
    assert_non_null(strstr(kafka_conf_refused("transactional.id"), "`instance` and `group`"));
}

/* librdkafka takes each of these alone, and would not start with them. */
static void test_numbers_that_idempotence_forbids(void **state)
{
    (void)state;
    static const char *const settings[][2] = {{"retries", "0"},
                                              {"message.send.max.retries", "0"},
                                              {"max.in.flight", "6"},
                                              {"max.in.flight.requests.per.connection", "1000"}};
    for (size_t i = 0; i < sizeof settings / sizeof settings[0]; i++) {
        struct error error = {0};
        assert_null(kafka_conf_refused(settings[i][0]));
        assert_false(kafka_conf_check(settings[i][0], settings[i][1], &error));
        assert_int_equal(error.code, ERROR_INVALID);
        assert_non_null(strstr(error.text, settings[i][0]));
        assert_non_null(strstr(error.text, settings[i][1]));
    }
}

static void test_errors_name_what_is_wrong(void **state)
{
    (void)state;
    struct error error;
    assert_false(kafka_conf_check("linger.msec", "5", &error));
    assert_non_null(strstr(error.text, "linger.msec"));
    assert_false(kafka_conf_check("compression.type", "brotli", &error));
    assert_non_null(strstr(error.text, "brotli"));
    assert_int_equal(error.code, ERROR_INVALID);
}

static void test_secrets_stay_hidden(void **state)
{
    (void)state;
    assert_true(kafka_conf_secret("sasl.password"));
    assert_true(kafka_conf_secret("ssl.key.password"));
    assert_true(kafka_conf_secret("ssl.key.pem"));
    assert_true(kafka_conf_secret("sasl.oauthbearer.client.secret"));
    assert_false(kafka_conf_secret("bootstrap.servers"));
    struct error error;
    /* librdkafka's own words would repeat the value */
    assert_false(kafka_conf_check("sasl.oauthbearer.method", "hunter2", &error));
    assert_null(strstr(error.text, "hunter2"));
    assert_non_null(strstr(error.text, "sasl.oauthbearer.method"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_promises_are_refused),
        cmocka_unit_test(test_others_pass),
        cmocka_unit_test(test_refusals_name_the_key_to_use),
        cmocka_unit_test(test_numbers_that_idempotence_forbids),
        cmocka_unit_test(test_errors_name_what_is_wrong),
        cmocka_unit_test(test_secrets_stay_hidden),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
