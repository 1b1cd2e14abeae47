/* What a reload changes, and whether it can at once. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/config_text.h"
#include "support/temp.h"

struct change_case {
    const char *before; /* after CONFIG_TEXT_LEAST */
    const char *after;
    const char *changes; /* "path! path": ! stands for reloadable, in order */
};

static void expect_changes(const struct config *before, const struct config *after, const char *wanted)
{
    struct config_changes changes = config_diff(before, after);
    char text[1024] = "";
    for (size_t i = 0; i < changes.count; i++) {
        size_t used = strlen(text);
        snprintf(text + used, sizeof text - used, "%s%s%s", i == 0 ? "" : " ", changes.items[i].path,
                 changes.items[i].reloadable ? "!" : "");
    }
    assert_string_equal(text, wanted);
    free(changes.items);
}

static void test_changes(void **state)
{
    static const struct change_case cases[] = {
        {"", "", ""},
        {"log: {level: info}\n", "", ""},
        {"", "log: {level: debug}\n", "log.level!"},
        {"", "log: {format: text}\nshutdown_timeout: 6s\ngroup: g\n", "group log.format shutdown_timeout!"},
        {"", "store: {path: /x, max_size: 1GiB, checkpoint: 1s}\n", "store.path store.max_size store.checkpoint"},
        {"", "delivery: exactly_once\n", "delivery"},
        {"delivery: exactly_once\ntransaction_timeout: 11s\n", "delivery: at_least_once\n",
         "delivery transaction_timeout"},
        {"", "transaction_timeout: 10s\ncopy_forward: {enabled: true, span: 10000000, retention_percent: 50}\n", ""},
        {"", "copy_forward: {span: 1000, retention_percent: 10}\n",
         "copy_forward.span copy_forward.retention_percent"},
        {"copy_forward: {enabled: false}\n", "", "copy_forward.enabled"},
        {"", "advertise: 'h:1'\n", "advertise"},
        {"advertise: 'h:1'\n", "", "advertise"},
        {"targets: [{name: a, match: m}]\n", "targets: [{name: a, match: m, max_in_flight: 5}]\n",
         "targets[0].max_in_flight!"},
        {"targets: [{name: a, match: m}]\n", "targets: [{name: a, match: n}]\n", "targets[0].match"},
        {"targets: [{name: a, match: m}]\n", "targets: [{name: b, match: m}]\n", "targets"},
        {"", "targets: [{name: b, match: m}]\n", "targets"},
        {"targets: [{name: a, match: m}]\n", "targets: [{name: a, match: m, retry: {max_deliver: 4, factor: 1.5, jitter: 0}}]\n",
         "targets[0].retry.max_deliver! targets[0].retry.factor! targets[0].retry.jitter!"},
        {"targets: [{name: a, match: m, retry: {factor: 2.00, jitter: 0.20}}]\n", "targets: [{name: a, match: m}]\n", ""},
        {"", "nack: [{match: x}]\n", "nack"},
        {"nack: [{match: x}]\n", "nack: [{match: x, family: spring}]\n", "nack[0].family"},
        {"", "nats: {url: 'nats://n:1', tls: {ca_file: /c}}\ndlq: {stream: S, subject_prefix: p, replicas: 3}\n",
         "nats.url nats.tls.ca_file dlq.stream dlq.subject_prefix dlq.replicas"},
        {"dlq: {subject_prefix: p}\n", "dlq: {subject_prefix: p.}\n", ""},
        {"targets: [{name: a, match: m}, {name: b, match: n}]\n",
         "targets: [{name: b, match: n}, {name: a, match: m}]\n", "targets"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char texts[2][1024];
        snprintf(texts[0], sizeof texts[0], "%s%s", CONFIG_TEXT_LEAST, cases[i].before);
        snprintf(texts[1], sizeof texts[1], "%s%s", CONFIG_TEXT_LEAST, cases[i].after);
        struct config *before = config_text_good(texts[0]);
        struct config *after = config_text_good(texts[1]);
        expect_changes(before, after, cases[i].changes);
        config_free(before);
        config_free(after);
    }
}

static void test_changes_of_sources_and_kafka(void **state)
{
#define REST                                                                                                           \
    "instance: i\nkafka: {bootstrap.servers: b%s}\nsources: [{topic: %s, envelope: true, default_target: out%s}]\n"
    static const char *const cases[][4] = {
        {"", "in", ", routes: {A: b}", "sources[0].routes"},
        {"", "in", ", max_delay: 1h, output_headers: none", "sources[0].max_delay sources[0].output_headers"},
        {"", "in2", "", "sources"},
        {", client.rack: x", "in", "", "kafka.client.rack"},
        {", producer: {client.rack: x}", "in", "", "kafka.producer.client.rack"},
        {", consumer: {client.rack: x}", "in", "", "kafka.consumer.client.rack"},
        {"x", "in", "", "kafka.bootstrap.servers"},
    };
    char text[1024];
    (void)state;
    snprintf(text, sizeof text, REST, "", "in", "");
    struct config *before = config_text_good(text);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        snprintf(text, sizeof text, REST, cases[i][0], cases[i][1], cases[i][2]);
        struct config *after = config_text_good(text);
        expect_changes(before, after, cases[i][3]);
        expect_changes(after, before, cases[i][3]);
        config_free(after);
    }
    config_free(before);
}

static void write_secret(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

/* The same file name with another secret in it is a change: that is how secrets are rotated. */
static void test_secrets_are_read_again(void **state)
{
    char *folder = temp_directory("secret");
    char *path = temp_path(folder, "secret");
    char text[1024];
    struct config_problems problems = {0};
    (void)state;
    snprintf(text, sizeof text, CONFIG_TEXT_LEAST "http: {token_file: %s}\n", path);
    write_secret(path, "one\n");
    struct config *before = config_text_load(text, NULL, &problems);
    write_secret(path, "two\n");
    struct config *after = config_text_load(text, NULL, &problems);
    assert_non_null(before);
    assert_non_null(after);
    assert_string_equal(after->http_token, "two");
    expect_changes(before, after, "http.token_file!");
    expect_changes(after, after, "");
    config_free(before);
    config_free(after);
    config_problems_free(&problems);
    free(path);
    temp_remove(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_changes),
        cmocka_unit_test(test_changes_of_sources_and_kafka),
        cmocka_unit_test(test_secrets_are_read_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
