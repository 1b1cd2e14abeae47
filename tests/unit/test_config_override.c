/* Flag before environment before file before default, for every key. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ops/config_node.h"
#include "ops/config_table.h"
#include "support/config_text.h"

static struct config *load(const char *text,
                           const char *const *environment,
                           const struct config_setting *settings,
                           size_t count,
                           struct config_problems *problems)
{
    struct config_request request = {.environment = environment, .settings = settings, .setting_count = count};
    return config_text_load(text, &request, problems);
}

static void test_precedence(void **state)
{
    static const char *const environment[] = {"TARRY_LOG_LEVEL=debug", "TARRY_STORE_MAX_SIZE=2GiB", "HOME=/", NULL};
    const struct config_setting setting = {"log.level", "error", "--log-level"};
    struct config_problems problems = {0};
    (void)state;
    struct config *config =
        load(CONFIG_TEXT_LEAST "log: {level: warning}\nstore: {max_size: 1GiB}\n", environment, NULL, 0, &problems);
    assert_int_equal(config->log_level, LOG_LEVEL_DEBUG);
    assert_int_equal(config->store_max_size_bytes, INT64_C(2) << 30);
    config_free(config);
    config = load(CONFIG_TEXT_LEAST "log: {level: warning}\n", environment, &setting, 1, &problems);
    assert_int_equal(config->log_level, LOG_LEVEL_ERROR);
    assert_int_equal(problems.count, 0);
    config_free(config);
}

/* Copies turned off by a flag: what the file says of them has no effect then, which is a warning and no more. */
static void test_delivery_and_copies(void **state)
{
    static const char *const environment[] = {"TARRY_DELIVERY=exactly_once", "TARRY_TRANSACTION_TIMEOUT=20s",
                                              "TARRY_COPY_FORWARD_RETENTION_PERCENT=30", NULL};
    static const struct config_setting settings[] = {{"copy_forward.enabled", "false", "--set copy_forward.enabled"},
                                                     {"transaction_timeout", "30s", "--set transaction_timeout"}};
    struct config_problems problems = {0};
    (void)state;
    struct config *config =
        load(CONFIG_TEXT_LEAST "copy_forward: {span: 2000}\n", environment, settings, 2, &problems);
    assert_non_null(config);
    assert_int_equal(config->delivery, CONFIG_DELIVERY_EXACTLY_ONCE);
    assert_int_equal(config->transaction_timeout_ms, 30000);
    assert_false(config->copy_forward);
    assert_int_equal(config->copy_forward_span, 2000);
    assert_int_equal(config->copy_forward_retention_percent, 30);
    assert_int_equal(problems.warnings, 2);
    assert_true(config_text_has(&problems, true, "tarry.yaml:4:16", "copy_forward.span: has no effect"));
    assert_true(config_text_has(&problems, true, "TARRY_COPY_FORWARD_RETENTION_PERCENT", "has no effect"));
    config_problems_free(&problems);
    config_free(config);
}

static void test_everything_from_the_environment(void **state)
{
    static const char *const environment[] = {"TARRY_INSTANCE=e",
                                              "TARRY_KAFKA_BOOTSTRAP_SERVERS=b:1,c:2",
                                              "TARRY_KAFKA_PRODUCER_LINGER_MS=7",
                                              "TARRY_KAFKA_CONSUMER_FETCH_MIN_BYTES=8",
                                              "TARRY_SOURCES_0_TOPIC=in",
                                              "TARRY_SOURCES_0_DEFAULT_TARGET=out",
                                              "TARRY_SOURCES_0_DIALECTS=tarry",
                                              "TARRY_SOURCES_1_TOPIC=in2",
                                              "TARRY_SOURCES_1_DEFAULT_TARGET=out",
                                              "TARRY_TARGETS_0_NAME=n",
                                              "TARRY_TARGETS_0_MATCH=*",
                                              "TARRY_TARGETS_0_MAX_IN_FLIGHT=5",
                                              "TARRY_SHUTDOWN_TIMEOUT=",
                                              NULL};
    struct config_problems problems = {0};
    struct config *config = NULL;
    struct config_request request = {.environment = environment};
    (void)state;
    assert_true(config_load(&request, &config, &problems));
    assert_int_equal(problems.count, 0);
    assert_string_equal(config->instance, "e");
    assert_string_equal(config->kafka_producer.items[0].value, "b:1,c:2");
    assert_string_equal(config->kafka_producer.items[1].name, "linger.ms");
    assert_string_equal(config->kafka_consumer.items[1].name, "fetch.min.bytes");
    assert_int_equal(config->source_count, 2);
    assert_string_equal(config->sources[1].topic, "in2");
    assert_true(config_source_speaks(&config->sources[0], "tarry"));
    assert_int_equal(config->targets[0].max_in_flight, 5);
    assert_int_equal(config->shutdown_timeout_ms, 5000);
    config_free(config);
}

/* Every scalar key of the table can be set both ways: what is wrong is complained of at that variable or flag. */
static void test_every_key_has_its_names(void **state)
{
    size_t count;
    const struct config_key *keys = config_table_keys(&count);
    (void)state;
    for (size_t i = 0; i < count; i++) {
        bool scalar = keys[i].type != CONFIG_TYPE_MAP && keys[i].type != CONFIG_TYPE_PROPERTIES &&
                      keys[i].type != CONFIG_TYPE_LIST && keys[i].type != CONFIG_TYPE_NAMED && !config_table_named(keys[i].section);
        if (!scalar || keys[i].type == CONFIG_TYPE_PATH || keys[i].type == CONFIG_TYPE_TEXT) {
            continue; /* any text is one */
        }
        char variable[256];
        struct config_table_name path = config_table_path_at(&keys[i], 0, NULL);
        struct config_setting setting = {path.text, "? ?", "--set it"};
        snprintf(variable, sizeof variable, "%s=? ?", config_table_environment_at(&keys[i], 0).text);
        const char *const environment[] = {variable, NULL};
        struct config_problems problems = {0};
        assert_null(load(CONFIG_TEXT_LEAST "targets: [{name: n, match: m}]\nnack: [{match: x}]\n", environment, NULL, 0, &problems));
        assert_true(config_text_has(&problems, false, config_table_environment_at(&keys[i], 0).text, "'? ?'"));
        config_problems_free(&problems);
        assert_null(load(CONFIG_TEXT_LEAST "targets: [{name: n, match: m}]\nnack: [{match: x}]\n", NULL, &setting, 1, &problems));
        assert_true(config_text_has(&problems, false, "--set it", path.text));
        config_problems_free(&problems);
    }
}

static void test_paths_of_flags(void **state)
{
    static const struct config_setting settings[] = {
        {"sources[0].max_delay", "1h", "--set a"},
        {"targets.0.name", "t", "--set b"},
        {"targets.0.match", "t.*", "--set b"},
        {"targets[0].retry.max_deliver", "7", "--set b"},
        {"nack.0.match", "*.DLT", "--set b"},
        {"nats.tls.ca_file", "/ca", "--set b"},
        {"sources.0.envelope", "true", "--set c"},
        {"sources.0.routes.A.b", "r", "--set d"},
        {"sources[1].topic", "in2", "--set e"},
        {"sources[1].default_target", "o", "--set f"},
        {"kafka.producer.linger.ms", "3", "--set g"},
        {"kafka.client.rack", "x", "--set h"},
        {"log.level", "debug", "--set i"},
        {"log.level", "error", "--set j"},
    };
    struct config_problems problems = {0};
    (void)state;
    struct config *config = load(CONFIG_TEXT_LEAST, NULL, settings, sizeof settings / sizeof settings[0], &problems);
    assert_non_null(config);
    assert_int_equal(config->sources[0].max_delay_ms, 3600000);
    assert_int_equal(config->targets[0].retry.max_deliver, 7);
    assert_string_equal(config->nacks[0].match, "*.DLT");
    assert_string_equal(config->nats_tls_ca_file, "/ca");
    assert_string_equal(config->sources[0].routes.items[0].name, "A.b");
    assert_string_equal(config->sources[1].topic, "in2");
    assert_int_equal(config->kafka_common.count, 2);
    assert_string_equal(config->kafka_producer.items[2].name, "linger.ms");
    assert_int_equal(config->log_level, LOG_LEVEL_ERROR);
    config_free(config);
}

static void test_bad_paths_of_flags(void **state)
{
    static const char *const paths[] = {"",
                                        "nope",
                                        "sources",
                                        "sources[0]",
                                        "sources[0].nope",
                                        "sources[x].topic",
                                        "sources[0.topic",
                                        "sources0",
                                        "store",
                                        "kafka",
                                        "kafka.",
                                        "log.level.x",
                                        "targets.0",
                                        "sources[99999999999999999999].topic",
                                        "sources.0].topic"};
    (void)state;
    for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++) {
        struct config_problems problems = {0};
        struct config_setting setting = {paths[i], "v", "--set it"};
        struct config *config = load(CONFIG_TEXT_LEAST, NULL, &setting, 1, &problems);
        if (config != NULL) {
            fail_msg("path '%s' was taken", paths[i]);
        }
        assert_true(config_text_has(&problems, false, "--set it", "names no key"));
        config_problems_free(&problems);
    }
}

static void test_an_index_beyond_the_next_is_an_error(void **state)
{
    struct config_problems problems = {0};
    struct config_setting setting = {"sources[2].topic", "v", "--set it"};
    (void)state;
    assert_null(load(CONFIG_TEXT_LEAST, NULL, &setting, 1, &problems));
    assert_true(config_text_has(&problems, false, "--set it", "the next index is 1"));
    config_problems_free(&problems);
}

static void test_unknown_variables_are_warnings(void **state)
{
    static const char *const environment[] = {"TARRY_STORE_MAXSIZE=1",
                                              "TARRY_SERVICE_HOST=10.0.0.1",
                                              "TARRY_PORT_7411_TCP=x",
                                              "TARRY_PORT=tcp://x",
                                              "TARRY_CONFIG=x",
                                              "TARRY_SOURCES_0_TOPIK=x",
                                              "TARRY_ENTIRELY_OTHER=1",
                                              "TARRYX=1",
                                              "TARRY_",
                                              NULL};
    struct config_problems problems = {0};
    (void)state;
    struct config *config = load(CONFIG_TEXT_LEAST, environment, NULL, 0, &problems);
    assert_non_null(config);
    assert_int_equal(problems.warnings, 3);
    assert_true(config_text_has(&problems, true, "TARRY_STORE_MAXSIZE", "did you mean TARRY_STORE_MAX_SIZE?"));
    assert_true(config_text_has(&problems, true, "TARRY_SOURCES_0_TOPIK", "did you mean TARRY_SOURCES_0_TOPIC?"));
    config_problems_free(&problems);
    config_free(config);
}

static void test_bytes_that_are_no_text(void **state)
{
    static const char *const environment[] = {"TARRY_STORE_PATH=/\xff", NULL};
    struct config_problems problems = {0};
    (void)state;
    assert_null(load(CONFIG_TEXT_LEAST, environment, NULL, 0, &problems));
    assert_true(config_text_has(&problems, false, "TARRY_STORE_PATH", "not UTF-8"));
    config_problems_free(&problems);
}

/* The file has something else where the overlay must go: the file's problem is told, nothing crashes. */
static void test_overlay_on_a_wrong_shape(void **state)
{
    static const char *const texts[] = {"store: 5\n",     "store: [1]\n", "targets: {}\n",
                                        "targets: [5]\n", "kafka: 5\n",   "kafka: {producer: 5}\n"};
    static const char *const environment[] = {"TARRY_STORE_PATH=/x", "TARRY_TARGETS_0_NAME=n",
                                              "TARRY_KAFKA_PRODUCER_LINGER_MS=5", "TARRY_KAFKA_BOOTSTRAP_SERVERS=b",
                                              NULL};
    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        char text[256];
        struct config_problems problems = {0};
        snprintf(text, sizeof text, "instance: i\n%s", texts[i]);
        assert_null(load(text, environment, NULL, 0, &problems));
        assert_true(config_text_has(&problems, false, "", "expects a"));
        config_problems_free(&problems);
    }
}

static void test_a_secret_as_a_flag_is_a_warning(void **state)
{
    struct config_problems problems = {0};
    struct config_setting setting = {"kafka.sasl.password", "canary", "--set kafka.sasl.password"};
    (void)state;
    struct config *config = load(CONFIG_TEXT_LEAST, NULL, &setting, 1, &problems);
    assert_non_null(config);
    assert_true(config_text_has(&problems, true, "--set kafka.sasl.password", "use sasl.password_file"));
    assert_null(strstr(problems.items[0].text, "canary"));
    config_problems_free(&problems);
    config_free(config);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_precedence),
        cmocka_unit_test(test_delivery_and_copies),
        cmocka_unit_test(test_everything_from_the_environment),
        cmocka_unit_test(test_every_key_has_its_names),
        cmocka_unit_test(test_paths_of_flags),
        cmocka_unit_test(test_bad_paths_of_flags),
        cmocka_unit_test(test_an_index_beyond_the_next_is_an_error),
        cmocka_unit_test(test_unknown_variables_are_warnings),
        cmocka_unit_test(test_bytes_that_are_no_text),
        cmocka_unit_test(test_overlay_on_a_wrong_shape),
        cmocka_unit_test(test_a_secret_as_a_flag_is_a_warning),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
