/* The keys of dead letters: nats, dlq, nack, targets[].retry; and what of a configuration they are asked through. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "bridge/decode.h"
#include "dlq/letter_reason.h"
#include "ops/letter_options.h"
#include "support/config_text.h"
#include "support/temp.h"

static void test_defaults(void **state)
{
    (void)state;
    struct config *config = config_text_good(CONFIG_TEXT_LEAST "targets: [{name: n, match: m}]\n");
    assert_string_equal(config->nats_url, "nats://localhost:4222");
    assert_null(config->nats_user);
    assert_null(config->nats_credentials_file);
    assert_string_equal(config->dlq_stream, "TARRY_DLQ");
    assert_string_equal(config->dlq_parked_stream, "TARRY_PARKED");
    assert_string_equal(config->dlq_subject_prefix, "");
    assert_int_equal(config->dlq_replicas, 1);
    assert_int_equal(config->dlq_max_bytes, INT64_C(10) << 30);
    assert_int_equal(config->dlq_retry_later_ms, 60000);
    assert_int_equal(config->nack_count, 0);
    /* what a target has that says nothing is what a topic without a target has */
    assert_memory_equal(&config->targets[0].retry, &retry_default, sizeof retry_default);
    config_free(config);
}

static void test_everything_given(void **state)
{
    (void)state;
    struct config *config = config_text_good(
        CONFIG_TEXT_LEAST "nats: {url: 'nats://a:4222,tls://[::1]:4223', credentials_file: /c, tls: {ca_file: /ca, certificate_file: /crt, "
                          "key_file: /key}}\n"
                          "dlq: {stream: S-1, parked_stream: P_2, subject_prefix: pay.eu, replicas: 3, max_bytes: 5MB, retry_later: 2s}\n"
                          "nack: [{match: '*.DLT', family: spring}, {match: c.errors, family: connect}]\n"
                          "targets: [{name: n, match: 'm.*', retry: {max_deliver: 0, backoff: 10ms, factor: 1.5, backoff_max: 1h, jitter: "
                          "0.05}}]\n");
    assert_string_equal(config->nats_url, "nats://a:4222,tls://[::1]:4223");
    assert_string_equal(config->nats_tls_key_file, "/key");
    assert_string_equal(config->dlq_stream, "S-1");
    assert_string_equal(config->dlq_subject_prefix, "pay.eu.");
    assert_int_equal(config->dlq_replicas, 3);
    assert_int_equal(config->dlq_max_bytes, 5000000);
    assert_int_equal(config->dlq_retry_later_ms, 2000);
    assert_int_equal(config->nack_count, 2);
    assert_string_equal(config->nacks[0].match, "*.DLT");
    assert_int_equal(config->nacks[0].family, CONFIG_NACK_SPRING);
    assert_int_equal(config->nacks[1].family, CONFIG_NACK_CONNECT);
    const struct retry_policy *retry = &config->targets[0].retry;
    assert_int_equal(retry->max_deliver, 0);
    assert_int_equal(retry->backoff_ms, 10);
    assert_int_equal(retry->factor_percent, 150);
    assert_int_equal(retry->backoff_max_ms, 3600000);
    assert_int_equal(retry->jitter_percent, 5);
    config_free(config);
}

struct bad {
    const char *more; /* after CONFIG_TEXT_LEAST, whose three lines come first */
    const char *place;
    const char *part;
};

static void test_bad_values(void **state)
{
    static const struct bad cases[] = {
        {"nats: {url: 'nats://u:hunter2@h:4222'}\n", "tarry.yaml:4:13", "nats.password_file"},
        {"nats: {url: 'nats://a:1,nats://tok@h:4222'}\n", "tarry.yaml:4:13", "secrets never stand in the file"},
        {"nats: {url: 'http://h:4222'}\n", "tarry.yaml:4:13", "nats://host:port"},
        {"nats: {url: 'nats://h:4222,'}\n", "tarry.yaml:4:13", "nats://host:port"},
        {"nats: {url: 'nats://'}\n", "tarry.yaml:4:13", "nats://host:port"},
        {"nats: {password: hunter2}\n", "tarry.yaml:4:8", "nats.password_file"},
        {"nats: {token: hunter2}\n", "tarry.yaml:4:8", "nats.token_file"},
        {"nats: {user: u}\n", "tarry.yaml:4:8", "of no use without nats.password_file"},
        {"nats: {password_file: /does/not/exist}\n", "tarry.yaml:4:8", "nats.password_file: file '/does/not/exist'"},
        {"nats: {token_file: /does/not/exist}\n", "tarry.yaml:4:8", "nats.token_file: file '/does/not/exist'"},
        {"nats: {tls: {key_file: /k}}\n", "tarry.yaml:4:14", "of no use without nats.tls.certificate_file"},
        {"nats: {tls: {cert_file: /k}}\n", "tarry.yaml:4:14", "nats.tls.cert_file: unknown key"},
        {"nats: {tls: /k}\n", "tarry.yaml:4:13", "nats.tls: expects a map"},
        {"nats: {token_file: /does/not/exist, credentials_file: /c}\n", "tarry.yaml:4:1", "more than one way to log in"},
        {"dlq: {stream: a.b}\n", "tarry.yaml:4:15", "not a stream's name"},
        {"dlq: {stream: 'a b'}\n", "tarry.yaml:4:15", "not a stream's name"},
        {"dlq: {stream: '*'}\n", "tarry.yaml:4:15", "not a stream's name"},
        {"dlq: {stream: X, parked_stream: X}\n", "tarry.yaml:4:18", "name of another stream"},
        {"dlq: {stream: X, parked_stream: X_LARGE}\n", "tarry.yaml:4:18", "name of another stream"},
        {"dlq: {subject_prefix: 'a..b'}\n", "tarry.yaml:4:23", "nothing that subjects may begin with"},
        {"dlq: {subject_prefix: '.a'}\n", "tarry.yaml:4:23", "nothing that subjects may begin with"},
        {"dlq: {subject_prefix: 'a.*'}\n", "tarry.yaml:4:23", "nothing that subjects may begin with"},
        {"dlq: {replicas: 6}\n", "tarry.yaml:4:17", "out of range (number, 1 to 5)"},
        {"dlq: {max_bytes: 1kB}\n", "tarry.yaml:4:18", "out of range"},
        {"dlq: {retry_later: 50ms}\n", "tarry.yaml:4:20", "out of range"},
        {"nack: [{family: kafka}]\n", "tarry.yaml:4:8", "nack[0].match: missing"},
        {"nack: [{match: x, family: nats}]\n", "tarry.yaml:4:27", "none of kafka|connect|streams|spring"},
        {"nack: [{match: x}, {match: x}]\n", "tarry.yaml:4:21", "first match wins"},
        {"nack: [{match: 'i*'}]\n", "tarry.yaml:4:9", "is sources[0].topic in too"},
        {"nack: [{match: 'o*'}]\n", "tarry.yaml:4:9", "is sources[0].default_target out too"},
        {"targets: [{name: a, match: b, retry: {max_deliver: -1}}]\n", "tarry.yaml:4:52", "whole number"},
        {"targets: [{name: a, match: b, retry: {max_deliver: 1001}}]\n", "tarry.yaml:4:52", "number, 0 to 1000"},
        {"targets: [{name: a, match: b, retry: {factor: 0.99}}]\n", "tarry.yaml:4:47", "out of range (number, 1 to 100)"},
        {"targets: [{name: a, match: b, retry: {jitter: 1.01}}]\n", "tarry.yaml:4:47", "out of range (number, 0 to 1)"},
        {"targets: [{name: a, match: b, retry: {jitter: 0.125}}]\n", "tarry.yaml:4:47", "at most two decimals"},
        {"targets: [{name: a, match: b, retry: {backoff: 2m}}]\n", "tarry.yaml:4:39", "longer than backoff_max"},
        {"targets: [{name: a, match: b, retry: {backof: 2m}}]\n", "tarry.yaml:4:39", "did you mean backoff?"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[1024];
        struct config_problems problems = {0};
        snprintf(text, sizeof text, "%s%s", CONFIG_TEXT_LEAST, cases[i].more);
        assert_null(config_text_load(text, NULL, &problems));
        if (!config_text_has(&problems, false, cases[i].place, cases[i].part)) {
            fail_msg("no problem at %s with \"%s\" in:\n%s", cases[i].place, cases[i].part, text);
        }
        for (size_t p = 0; p < problems.count; p++) {
            assert_null(strstr(problems.items[p].text, "hunter2"));
        }
        config_problems_free(&problems);
    }
}

static void write_file(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(chmod(path, 0600), 0);
}

static void test_a_password_comes_from_its_file_and_is_not_shown(void **state)
{
    char *folder = temp_directory("secret");
    char *path = temp_path(folder, "password");
    char text[1024];
    (void)state;
    snprintf(text, sizeof text, CONFIG_TEXT_LEAST "nats: {user: u, password_file: %s}\n", path);
    write_file(path, "canary\n");
    struct config *config = config_text_good(text);
    assert_string_equal(config->nats_password, "canary");
    struct link_options link = letter_options_link(config, "test");
    assert_string_equal(link.user, "u");
    assert_string_equal(link.password, "canary");
    struct buffer shown = buffer_new(1 << 20);
    config_show(config, true, &shown);
    buffer_add(&shown, "", 1);
    assert_non_null(strstr((const char *)shown.data, "nats:\n  url: \"nats://localhost:4222\""));
    assert_null(strstr((const char *)shown.data, "canary"));
    buffer_free(&shown);
    write_file(path, "canary2\n");
    struct config *after = config_text_good(text);
    struct config_changes changes = config_diff(config, after);
    assert_int_equal(changes.count, 1);
    assert_string_equal(changes.items[0].path, "nats.password_file");
    assert_false(changes.items[0].reloadable);
    free(changes.items);
    config_free(after);
    config_free(config);
    free(path);
    temp_remove(folder);
}

static void test_what_a_topic_has(void **state)
{
    (void)state;
    struct config *config = config_text_good(
        "instance: i\nkafka: {bootstrap.servers: b}\nsources: [{topic: in, envelope: true, default_target: out, routes: {A: routed}}]\n"
        "targets: [{name: eu, match: 'orders.eu.*', retry: {max_deliver: 9}}, {name: orders, match: 'orders.*'}]\n");
    assert_int_equal(letter_options_retry(config, span_of_text("orders.eu.x"))->max_deliver, 9);
    assert_int_equal(letter_options_retry(config, span_of_text("orders.us"))->max_deliver, 3);
    assert_ptr_equal(letter_options_retry(config, span_of_text("out")), &retry_default);
    assert_ptr_equal(letter_options_retry(config, (struct span){NULL, 0}), &retry_default);
    assert_string_equal(letter_options_label(config, span_of_text("orders.eu.x")), "eu");
    assert_string_equal(letter_options_label(config, span_of_text("orders.us")), "orders");
    assert_string_equal(letter_options_label(config, span_of_text("out")), "default");
    assert_string_equal(letter_options_label(config, (struct span){NULL, 0}), "_refused");
    static const char *const allowed[] = {"orders.eu.x", "orders.us", "out", "routed"};
    for (size_t i = 0; i < sizeof allowed / sizeof allowed[0]; i++) {
        assert_true(letter_options_allowed(config, span_of_text(allowed[i])));
    }
    assert_false(letter_options_allowed(config, span_of_text("in")));
    assert_false(letter_options_allowed(config, span_of_text("orders")));
    assert_false(letter_options_allowed(config, span_of_text("")));
    assert_false(letter_options_allowed(config, span_of_text("orders.a b")));
    config_free(config);
}

/* daemon_letters.c finds the reason of a letter by the name of the refusal. */
static void test_each_refusal_is_a_reason_of_letters(void **state)
{
    (void)state;
    for (int reason = REFUSAL_NONE + 1; reason < REFUSAL_REASONS; reason++) {
        enum letter_reason same;
        assert_true(letter_reason_of(span_of_text(refusal_name((enum refusal_reason)reason)), &same));
    }
    static const char *const at_delivery[] = {"too_large", "not_authorised", "invalid", "undeliverable"}; /* sink_failure_reason */
    for (size_t i = 0; i < sizeof at_delivery / sizeof at_delivery[0]; i++) {
        enum letter_reason same;
        assert_true(letter_reason_of(span_of_text(at_delivery[i]), &same));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_defaults),
        cmocka_unit_test(test_everything_given),
        cmocka_unit_test(test_bad_values),
        cmocka_unit_test(test_a_password_comes_from_its_file_and_is_not_shown),
        cmocka_unit_test(test_what_a_topic_has),
        cmocka_unit_test(test_each_refusal_is_a_reason_of_letters),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
