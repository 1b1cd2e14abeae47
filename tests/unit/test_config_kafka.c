/* librdkafka's properties: checked, secrets read from files and never told. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "bridge/kafka_conf.h"
#include "support/config_text.h"
#include "support/temp.h"

struct bad {
    const char *more; /* after CONFIG_TEXT_LEAST, whose three lines come first */
    const char *place;
    const char *part;
};

static const char *refuse_acks(const char *name)
{
    return strcmp(name, "acks") == 0 ? "a promise rests on it" : NULL;
}

static bool refuse_values(const char *name, const char *value, struct error *error)
{
    return strcmp(value, "bad") != 0 || error_set(error, ERROR_INVALID, "%s does not take %s\x1b", name, value);
}

static struct config *
load_kafka(const char *kafka, const struct config_setting *setting, struct config_problems *problems)
{
    char text[1024];
    struct config_request request = {.settings = setting,
                                     .setting_count = setting == NULL ? 0 : 1,
                                     .hooks = {.property_refused = refuse_acks, .property_check = refuse_values}};
    snprintf(text, sizeof text,
             "instance: i\nsources: [{topic: in, default_target: out}]\nkafka: {bootstrap.servers: b, %s}\n", kafka);
    return config_text_load(text, &request, problems);
}

static void test_kafka_properties_are_checked(void **state)
{
    static const struct bad cases[] = {
        {"acks: 1", "tarry.yaml:3:31", "kafka.acks: may not be set: a promise rests on it"},
        {"producer: {acks: 1}", "tarry.yaml:3:42", "kafka.producer.acks: may not be set"},
        {"consumer: {x.y: bad}", "tarry.yaml:3:42", "kafka.consumer.x.y: x.y does not take bad\\x1b"},
        {"producer: x", "tarry.yaml:3:41", "kafka.producer: expects a map"},
        {"bootstrap: {servers: b}", "tarry.yaml:3:42", "written whole"},
        {"'A b': 1", "tarry.yaml:3:31", "no name of librdkafka's"},
        {"x.y_file: /etc/hostname", "tarry.yaml:3:31", "only secrets"},
        {"sasl.password: a, sasl.password_file: b", "tarry.yaml:3:49", "both with and without"},
        {"sasl.password_file: /does/not/exist", "tarry.yaml:3:31", "No such file"},
        {"sasl.password: ", "tarry.yaml:3:46", "not nothing"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct config_problems problems = {0};
        assert_null(load_kafka(cases[i].more, NULL, &problems));
        assert_true(config_text_has(&problems, false, cases[i].place, cases[i].part));
        config_problems_free(&problems);
    }
}

static void test_secrets_are_in_no_problem(void **state)
{
    struct config_problems problems = {0};
    (void)state;
    struct config_request request = {
        .hooks = {.property_refused = kafka_conf_refused, .property_check = kafka_conf_check}};
    assert_null(config_text_load(
        "kafka: {sasl.password: 'canary', ssl.key.pem: 'canary', sasl.mechanisms: canary.not.secret}\n", &request,
        &problems));
    for (size_t i = 0; i < problems.count; i++) {
        const char *canary = strstr(problems.items[i].text, "canary");
        assert_true(canary == NULL || strncmp(canary, "canary.not.secret", 17) == 0);
    }
    config_problems_free(&problems);
}

/* The real hooks: what is refused, unknown and wrong in librdkafka's own eyes. */
static void test_librdkafka_is_asked(void **state)
{
    static const char *const bad[] = {"acks: 1", "group.id: x", "enable.auto.commit: true", "lingr.ms: 5",
                                      "linger.ms: soon"};
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct config_problems problems = {0};
        char text[512];
        struct config_request request = {
            .hooks = {.property_refused = kafka_conf_refused, .property_check = kafka_conf_check}};
        snprintf(text, sizeof text,
                 "instance: i\nsources: [{topic: in, default_target: out}]\nkafka: {bootstrap.servers: b, %s}\n",
                 bad[i]);
        assert_null(config_text_load(text, &request, &problems));
        assert_int_equal(problems.errors, 1);
        assert_true(config_text_has(&problems, false, "tarry.yaml:3:31", ""));
        config_problems_free(&problems);
    }
}

/* ------------------------------------------------------------------------------------------- times and delivery */

/* A whole configuration of four lines whose second is `kafka`, with the real hooks. */
static struct config *load_timed(const char *kafka, const char *more, struct config_problems *problems)
{
    char text[1024];
    struct config_request request = {
        .hooks = {.property_refused = kafka_conf_refused, .property_check = kafka_conf_check}};
    snprintf(text, sizeof text,
             "instance: i\nkafka: {bootstrap.servers: b%s}\nsources: [{topic: in, default_target: out}]\n%s\n", kafka,
             more);
    return config_text_load(text, &request, problems);
}

struct timed {
    const char *kafka;
    const char *more;
    const char *place; /* NULL: it is good, without a word */
    const char *part;
};

#define ONCE "delivery: exactly_once"

static void test_times_that_contradict_each_other(void **state)
{
    static const struct timed cases[] = {
        {", producer: {message.timeout.ms: 10001}", ONCE, "tarry.yaml:2:42",
         "kafka.producer.message.timeout.ms: 10001 is longer than transaction_timeout (10000 ms)"},
        {", producer: {delivery.timeout.ms: 60000}", ONCE, "tarry.yaml:2:42",
         "kafka.producer.delivery.timeout.ms: 60000"},
        {", message.timeout.ms: 10001", ONCE, "tarry.yaml:2:31", "kafka.message.timeout.ms: 10001"},
        {", producer: {message.timeout.ms: 0}", ONCE, "tarry.yaml:2:42", "0 (never) is longer"},
        {", producer: {message.timeout.ms: 5001}", ONCE "\ntransaction_timeout: 5s", "tarry.yaml:2:42", "raise"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct config_problems problems = {0};
        assert_null(load_timed(cases[i].kafka, cases[i].more, &problems));
        assert_int_equal(problems.errors, 1);
        assert_true(config_text_has(&problems, false, cases[i].place, cases[i].part));
        config_problems_free(&problems);
    }
}

static void test_times_that_make_a_takeover_or_a_transaction_slow(void **state)
{
    static const struct timed cases[] = {
        {", consumer: {session.timeout.ms: 60001}", "", "tarry.yaml:2:42", "kafka.consumer.session.timeout.ms: 60001"},
        {", session.timeout.ms: 120000", ONCE, "tarry.yaml:2:31", "stand still that long"},
        {"", ONCE "\ntransaction_timeout: 45001ms", "tarry.yaml:5:1",
         "45001 ms is longer than session.timeout.ms (45000 ms)"},
        {", session.timeout.ms: 8000", ONCE, "tarry.yaml:2:31", "10000 ms is longer than session.timeout.ms (8000 ms)"},
        {", session.timeout.ms: 8000", ONCE "\ntransaction_timeout: 9s", "tarry.yaml:5:1", "9000 ms is longer"},
        {", producer: {retry.backoff.ms: 21}", ONCE, "tarry.yaml:2:42", "each transaction may wait 21 ms"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct config_problems problems = {0};
        struct config *config = load_timed(cases[i].kafka, cases[i].more, &problems);
        assert_non_null(config);
        assert_int_equal(problems.count, 1);
        assert_true(config_text_has(&problems, true, cases[i].place, cases[i].part));
        config_problems_free(&problems);
        config_free(config);
    }
}

/* At the limits, in the other mode, in the other client, and with what its own group overrules. */
static void test_times_that_go_together(void **state)
{
    static const struct timed cases[] = {
        {", producer: {message.timeout.ms: 10000, socket.timeout.ms: 60000, retry.backoff.ms: 20}", ONCE, NULL, NULL},
        {", producer: {message.timeout.ms: 30000}", ONCE "\ntransaction_timeout: 30s", NULL, NULL},
        {", producer: {message.timeout.ms: 60000, socket.timeout.ms: 60000, retry.backoff.ms: 500}", "", NULL, NULL},
        {", message.timeout.ms: 60000, producer: {message.timeout.ms: 5000}", ONCE, NULL, NULL},
        {", consumer: {retry.backoff.ms: 500}", ONCE, NULL, NULL},
        {", session.timeout.ms: 60000", ONCE, NULL, NULL},
        {", session.timeout.ms: 10000", ONCE, NULL, NULL},
        {", session.timeout.ms: 6000", "", NULL, NULL},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct config_problems problems = {0};
        struct config *config = load_timed(cases[i].kafka, cases[i].more, &problems);
        assert_non_null(config);
        assert_int_equal(problems.count, 0);
        config_problems_free(&problems);
        config_free(config);
    }
}

/* ------------------------------------------------------------------------------------------- secret files */

static char *write_file(const char *folder, const char *name, const char *text, size_t length, mode_t mode)
{
    char *path = temp_path(folder, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, length, file), length);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(chmod(path, mode), 0);
    return path;
}

static void test_secret_files_are_read(void **state)
{
    char *folder = temp_directory("secret");
    char *password = write_file(folder, "password", "pass word\r\n", 11, 0600);
    char *token = write_file(folder, "token", "tok\n", 4, 0644);
    char text[1024];
    struct config_problems problems = {0};
    (void)state;
    snprintf(text, sizeof text,
             "instance: i\nsources: [{topic: in, default_target: out}]\nkafka: {bootstrap.servers: b, "
             "sasl.password_file: %s}\n"
             "http: {listen: '0.0.0.0:1', token_file: %s}\n",
             password, token);
    struct config *config = config_text_load(text, NULL, &problems);
    assert_non_null(config);
    assert_string_equal(config->kafka_common.items[1].name, "sasl.password");
    assert_string_equal(config->kafka_common.items[1].value, "pass word");
    assert_string_equal(config->http_token, "tok");
    assert_int_equal(problems.count, 1);
    assert_true(config_text_has(&problems, true, "tarry.yaml:4:29", "chmod 600"));
    config_problems_free(&problems);
    config_free(config);
    free(password);
    free(token);
    temp_remove(folder);
}

static void test_bad_secret_files(void **state)
{
    static const char big[CONFIG_PROBLEMS_MAX * 4096] = "x";
    struct {
        const char *text;
        size_t length;
        const char *part;
    } cases[] = {
        {"", 0, "is empty"}, {"\n\n", 2, "is empty"}, {"a\0b", 3, "NUL"}, {big, sizeof big, "larger than 65536"}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char *folder = temp_directory("secret");
        char *path = write_file(folder, "token", cases[i].text, cases[i].length, 0600);
        char text[512];
        struct config_problems problems = {0};
        snprintf(text, sizeof text, CONFIG_TEXT_LEAST "http: {token_file: %s}\n", path);
        assert_null(config_text_load(text, NULL, &problems));
        assert_true(config_text_has(&problems, false, "tarry.yaml:4:8", cases[i].part));
        config_problems_free(&problems);
        free(path);
        temp_remove(folder);
    }
}

static struct config_problems load_file_of_mode(const char *text, mode_t mode)
{
    char *folder = temp_directory("config");
    char *path = write_file(folder, "tarry.yaml", text, strlen(text), mode);
    struct config_problems problems = {0};
    struct config *config = NULL;
    struct config_request request = {.path = path};
    assert_true(config_load(&request, &config, &problems));
    config_free(config);
    free(path);
    temp_remove(folder);
    return problems;
}

static void test_a_file_open_to_all_with_a_secret_is_a_warning(void **state)
{
    static const char secret[] = "instance: i\nsources: [{topic: in, default_target: out}]\nkafka: {bootstrap.servers: "
                                 "b, sasl.password: canary}\n";
    static const char none[] =
        "instance: i\nsources: [{topic: in, default_target: out}]\nkafka: {bootstrap.servers: b, sasl.username: u}\n";
    (void)state;
    struct config_problems problems = load_file_of_mode(secret, 0644);
    assert_int_equal(problems.count, 1);
    assert_true(config_text_has(&problems, true, "tarry.yaml:3:31", "use sasl.password_file"));
    assert_null(strstr(problems.items[0].text, "canary"));
    config_problems_free(&problems);
    problems = load_file_of_mode(secret, 0640);
    assert_int_equal(problems.count, 0);
    problems = load_file_of_mode(none, 0644);
    assert_int_equal(problems.count, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_kafka_properties_are_checked),
        cmocka_unit_test(test_secrets_are_in_no_problem),
        cmocka_unit_test(test_librdkafka_is_asked),
        cmocka_unit_test(test_times_that_contradict_each_other),
        cmocka_unit_test(test_times_that_make_a_takeover_or_a_transaction_slow),
        cmocka_unit_test(test_times_that_go_together),
        cmocka_unit_test(test_secret_files_are_read),
        cmocka_unit_test(test_bad_secret_files),
        cmocka_unit_test(test_a_file_open_to_all_with_a_secret_is_a_warning),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
