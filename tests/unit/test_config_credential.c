/* `credential:NAME` in *_file keys: a file below $CREDENTIALS_DIRECTORY, and nothing else. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "ops/config_credential.h"
#include "support/config_text.h"
#include "support/temp.h"

static void test_names(void **state)
{
    (void)state;
    static const char *const bad[] = {"credential:", "credential:.", "credential:..", "credential:a/b", "credential:/etc/passwd", "credential:a b",
                                      "credential:a\nb"};
    struct config_arena arena = {0};
    struct error error;
    const char *path = NULL;
    assert_true(config_credential_path("/etc/tarry/token", NULL, &arena, &path, &error)); /* no credential */
    assert_string_equal(path, "/etc/tarry/token");
    assert_true(config_credential_path("credentials:x", NULL, &arena, &path, &error));
    assert_string_equal(path, "credentials:x");
    assert_true(config_credential_path("credential:http-token", "/run/credentials/tarry.service", &arena, &path, &error));
    assert_string_equal(path, "/run/credentials/tarry.service/http-token");
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        assert_false(config_credential_path(bad[i], "/run/credentials", &arena, &path, &error));
        assert_non_null(strstr(error.text, "LoadCredential="));
    }
    assert_false(config_credential_path("credential:a", NULL, &arena, &path, &error));
    assert_non_null(strstr(error.text, "CREDENTIALS_DIRECTORY is not set: have the unit say LoadCredential=a:"));
    assert_false(config_credential_path("credential:a", "", &arena, &path, &error));
    assert_false(config_credential_path("credential:a", "relative", &arena, &path, &error));
    assert_non_null(strstr(error.text, "no absolute path"));
    config_arena_free(&arena);
}

static void write_file(const char *folder, const char *name, const char *text)
{
    char *path = temp_path(folder, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(chmod(path, 0400), 0);
    free(path);
}

static const char all[] = "instance: i\nsources: [{topic: in, default_target: out}]\n"
                          "kafka: {bootstrap.servers: b, sasl.password_file: 'credential:sasl', consumer: {ssl.key.password_file: 'credential:key'}}\n"
                          "nats: {token_file: 'credential:nats', tls: {ca_file: 'credential:ca'}}\nhttp: {token_file: 'credential:http'}\n";

static void test_all_keys(void **state)
{
    (void)state;
    char *folder = temp_directory("credentials");
    char variable[512];
    const char *const environment[] = {"HOME=/root", variable, NULL};
    struct config_request request = {.environment = environment};
    struct config_problems problems = {0};
    snprintf(variable, sizeof variable, "CREDENTIALS_DIRECTORY=%s", folder);
    write_file(folder, "sasl", "of sasl\n");
    write_file(folder, "key", "of the key\n");
    write_file(folder, "nats", "of nats\n");
    write_file(folder, "http", "of http\n");
    struct config *config = config_text_load(all, &request, &problems);
    assert_non_null(config);
    assert_int_equal(problems.count, 0);
    assert_string_equal(config->kafka_common.items[1].value, "of sasl");
    assert_string_equal(config->kafka_consumer.items[config->kafka_consumer.count - 1].name, "ssl.key.password");
    assert_string_equal(config->kafka_consumer.items[config->kafka_consumer.count - 1].value, "of the key");
    assert_string_equal(config->nats_token, "of nats");
    assert_string_equal(config->http_token, "of http");
    char ca[512];
    snprintf(ca, sizeof ca, "%s/ca", folder);
    assert_string_equal(config->nats_tls_ca_file, ca); /* who uses it finds out whether it is there */
    config_free(config);
    temp_remove(folder);
}

/* Each is told where it stands, once. */
static void test_without_a_directory(void **state)
{
    (void)state;
    static const char *const keys[] = {"kafka.sasl.password_file: 'credential:sasl' is a credential", "kafka.consumer.ssl.key.password_file: 'credential:key' is a credential",
                                       "nats.token_file: 'credential:nats' is a credential", "nats.tls.ca_file: 'credential:ca' is a credential",
                                       "http.token_file: 'credential:http' is a credential"};
    struct config_problems problems = {0};
    assert_null(config_text_load(all, NULL, &problems));
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        assert_true(config_text_has(&problems, false, "", keys[i]));
    }
    assert_int_equal(problems.errors, sizeof keys / sizeof keys[0]);
    config_problems_free(&problems);
}

static void test_a_credential_that_is_not_there(void **state)
{
    (void)state;
    const char *const environment[] = {"CREDENTIALS_DIRECTORY=/nonexistent", "TARRY_HTTP_TOKEN_FILE=credential:http", NULL};
    struct config_request request = {.environment = environment};
    struct config_problems problems = {0};
    assert_null(config_text_load(CONFIG_TEXT_LEAST, &request, &problems));
    assert_true(config_text_has(&problems, false, "TARRY_HTTP_TOKEN_FILE", "http.token_file: file '/nonexistent/http': cannot be opened"));
    config_problems_free(&problems);
}

/* Only keys of files: a path of the store and a topic are what they are. */
static void test_other_keys(void **state)
{
    (void)state;
    struct config *config = config_text_good(CONFIG_TEXT_LEAST "store: {path: 'credential:x'}\n");
    assert_string_equal(config->store_path, "credential:x");
    config_free(config);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_all_keys),
        cmocka_unit_test(test_without_a_directory),
        cmocka_unit_test(test_a_credential_that_is_not_there),
        cmocka_unit_test(test_other_keys),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
