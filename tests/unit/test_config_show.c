/* What is printed from a configuration and from the table: it loads again to the same, hides secrets, and the documents
 * in the tree are true. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <cjson/cJSON.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "bridge/kafka_conf.h"
#include "ops/config_node.h"
#include "ops/config_table.h"
#include "support/config_text.h"

#define FULL                                                                                                           \
    "instance: tarry-0\nadvertise: 'h:1'\nkafka: {bootstrap.servers: 'b:9092', client.rack: \"q\\\"\\\\\\n\\x07ä\", " \
    "producer: {linger.ms: 1}, consumer: {fetch.min.bytes: 2}}\n"                                                      \
    "store: {max_size: 10TB}\ndelivery: exactly_once\ntransaction_timeout: 5s\ncopy_forward: {span: 5000}\n"           \
    "sources:\n  - {topic: in, dialects: [], envelope: true, envelope_out: whole, "                                    \
    "fields: {deliver_at: 'delay until'}, routes: {'A: b': a, '': c}, default_delay: 1s}\n  - {topic: in2, "           \
    "default_target: out, dialects: [tarry, mine], late: letter, max_lateness: 1h, spread: 5s}\n"                       \
    "dialects: {mine: {headers: {'X Delay: 1': delay_s, X-Id: id}, null_is_cancel: true}}\nhistory: {topic: h}\n"                                                                                            \
    "nats: {url: 'nats://n:1', tls: {ca_file: /ca}}\ndlq: {subject_prefix: pay}\nnack: [{match: '*.DLT', family: spring}]\n"           \
    "targets:\n  - {name: o, match: 'orders.*', rate: 300/m, retry: {factor: 1.25}}\n  - {name: all, match: '*'}\nlog: {level: error}\n"

static char *show(const struct config *config, bool effective)
{
    struct buffer out = buffer_new(1 << 20);
    config_show(config, effective, &out);
    assert_false(out.full);
    buffer_add(&out, "", 1);
    char *text = strdup((const char *)out.data);
    buffer_free(&out);
    return text;
}

static void test_shown_loads_again_to_the_same(void **state)
{
    static const char *const texts[] = {CONFIG_TEXT_LEAST, FULL};
    (void)state;
    for (size_t i = 0; i < 4; i++) {
        struct config *config = config_text_good(texts[i / 2]);
        char *text = show(config, i % 2 == 1);
        struct config *again = config_text_good(text);
        struct config_changes changes = config_diff(config, again);
        for (size_t j = 0; j < changes.count; j++) {
            print_message("%s\n", changes.items[j].path);
        }
        assert_int_equal(changes.count, 0);
        free(changes.items);
        free(text);
        config_free(config);
        config_free(again);
    }
}

static void test_effective_names_every_value_and_its_origin(void **state)
{
    static const char *const environment[] = {"TARRY_GROUP=g", NULL};
    const struct config_setting setting = {"log.level", "debug", "--log-level"};
    struct config_request request = {.environment = environment, .settings = &setting, .setting_count = 1};
    struct config_problems problems = {0};
    (void)state;
    struct config *config = config_text_load(CONFIG_TEXT_LEAST "store: {path: /x}\n", &request, &problems);
    assert_non_null(config);
    char *text = show(config, true);
    assert_non_null(strstr(text, "group: g  # environment TARRY_GROUP\n"));
    assert_non_null(strstr(text, "  level: debug  # flag --log-level\n"));
    assert_non_null(strstr(text, "tarry.yaml:4\n"));
    assert_non_null(strstr(text, "  max_size: 64GiB  # default\n"));
    assert_non_null(strstr(text, "    late: fire  # default\n"));
    assert_non_null(strstr(text, "delivery: at_least_once  # default\ntransaction_timeout: 10s  # default\n"
                                 "copy_forward:\n  enabled: true  # default\n  span: 10000000  # default\n"
                                 "  retention_percent: 50  # default\n"));
    size_t count;
    const struct config_key *keys = config_table_keys(&count);
    for (size_t i = 0; i < count; i++) {
        const char *leaf = strrchr(keys[i].path, '.') == NULL ? keys[i].path : strrchr(keys[i].path, '.') + 1;
        if (keys[i].fallback != NULL && keys[i].section < CONFIG_SECTION_TARGET) {
            assert_non_null(strstr(text, leaf));
        }
    }
    free(text);
    text = show(config, false);
    assert_null(strstr(text, "# default"));
    assert_null(strstr(text, "max_size"));
    free(text);
    config_free(config);
}

static void test_secrets_are_hidden(void **state)
{
    (void)state;
    struct config *config = config_text_good(CONFIG_TEXT_LEAST "advertise: 'h:1'\nhttp: {listen: '127.0.0.1:1'}\n");
    config_free(config);
    config = config_text_good("instance: i\nsources: [{topic: in, default_target: out}]\nkafka: {bootstrap.servers: b, "
                              "sasl.password: canary, "
                              "producer: {ssl.key.password: canary}, consumer: {ssl.key.pem: canary}}\n");
    for (int effective = 0; effective < 2; effective++) {
        char *text = show(config, effective == 1);
        assert_null(strstr(text, "canary"));
        assert_non_null(strstr(text, "sasl.password: \"***\""));
        free(text);
    }
    config_free(config);
}

/* ------------------------------------------------------------------------------------------- generated */

static char *read_file(const char *name)
{
    char path[1024];
    snprintf(path, sizeof path, "%s/%s", TARRY_SOURCE_DIR, name);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    char *text = calloc(1, 1 << 20);
    assert_non_null(text);
    assert_true(fread(text, 1, (1 << 20) - 1, file) > 0);
    fclose(file);
    return text;
}

static void expect_file(const char *name, void (*generate)(struct buffer *))
{
    struct buffer out = buffer_new(1 << 20);
    char *text = read_file(name);
    generate(&out);
    buffer_add(&out, "", 1);
    if (strcmp(text, (const char *)out.data) != 0) {
        fail_msg("%s is not what the table says: run scripts/docs", name);
    }
    free(text);
    buffer_free(&out);
}

static void test_documents_are_as_generated(void **state)
{
    (void)state;
    expect_file("docs/configuration.md", config_docs_markdown);
    expect_file("man/tarry.yaml.5", config_docs_mdoc);
}

static void test_the_example_is_good(void **state)
{
    struct config_request request = {
        .hooks = {.property_refused = kafka_conf_refused, .property_check = kafka_conf_check}};
    struct config_problems problems = {0};
    char *text = read_file("examples/tarry.yaml");
    (void)state;
    struct config *config = config_text_load(text, &request, &problems);
    assert_non_null(config);
    assert_int_equal(problems.count, 0);
    config_free(config);
    free(text);
}

static const cJSON *schema_of(const cJSON *schema, const char *path)
{
    char copy[128];
    snprintf(copy, sizeof copy, "%s", path);
    char *rest = NULL;
    for (char *name = strtok_r(copy, ".", &rest); name != NULL; name = strtok_r(NULL, ".", &rest)) {
        schema = cJSON_GetObjectItemCaseSensitive(cJSON_GetObjectItemCaseSensitive(schema, "properties"), name);
    }
    return schema;
}

static void test_the_schema_knows_every_key(void **state)
{
    struct buffer out = buffer_new(1 << 20);
    size_t count;
    const struct config_key *keys = config_table_keys(&count);
    (void)state;
    config_schema_json(&out);
    cJSON *schema = cJSON_ParseWithLength((const char *)out.data, out.length);
    assert_non_null(schema);
    for (size_t i = 0; i < count; i++) {
        const char *section = config_table_section_name(keys[i].section);
        const cJSON *map = schema;
        if (section != NULL) {
            map = cJSON_GetObjectItemCaseSensitive(schema_of(schema, section), config_table_named(keys[i].section) ? "additionalProperties" : "items");
        }
        const cJSON *key = schema_of(map, keys[i].path);
        assert_non_null(key);
        assert_string_equal(cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(key, "description")),
                            keys[i].meaning);
        assert_non_null(cJSON_GetObjectItemCaseSensitive(key, "type"));
    }
    const cJSON *words = cJSON_GetObjectItemCaseSensitive(schema_of(schema, "delivery"), "enum");
    assert_string_equal(cJSON_GetStringValue(cJSON_GetArrayItem(words, 1)), "exactly_once");
    const cJSON *percent = schema_of(schema, "copy_forward.retention_percent");
    assert_int_equal(cJSON_GetNumberValue(cJSON_GetObjectItemCaseSensitive(percent, "maximum")), 90);
    const cJSON *enabled = schema_of(schema, "copy_forward.enabled");
    assert_true(cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(enabled, "default")));
    assert_true(cJSON_IsFalse(cJSON_GetObjectItemCaseSensitive(schema, "additionalProperties")));
    assert_int_equal(cJSON_GetArraySize(cJSON_GetObjectItemCaseSensitive(schema, "required")), 2);
    cJSON_Delete(schema);
    buffer_free(&out);
}

/* The example with a few bytes changed: an answer always; and what still loads is shown so that it loads to the same. */
static void test_mutations(void **state)
{
    static const char bytes[] = ":{}[],'\"&*!|- #\n\\0a9~\xff";
    char *text = read_file("examples/tarry.yaml");
    size_t length = strlen(text);
    size_t good = 0;
    (void)state;
    struct random source = random_new(5);
    for (int i = 0; i < 1500; i++) {
        char *changed = strdup(text);
        for (uint64_t j = random_below(&source, 4); j < 4; j++) {
            changed[random_below(&source, length)] = bytes[random_below(&source, sizeof bytes - 1)];
        }
        struct config_problems problems = {0};
        struct config *config = config_text_load(changed, NULL, &problems);
        if (config != NULL) {
            char *shown = show(config, true);
            struct config *again = config_text_good(shown);
            struct config_changes changes = config_diff(config, again);
            assert_int_equal(changes.count, 0);
            good++;
            config_free(again);
            free(changes.items);
            free(shown);
        }
        config_free(config);
        config_problems_free(&problems);
        free(changed);
    }
    assert_true(good > 50 && good < 1450);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shown_loads_again_to_the_same),
        cmocka_unit_test(test_effective_names_every_value_and_its_origin),
        cmocka_unit_test(test_secrets_are_hidden),
        cmocka_unit_test(test_documents_are_as_generated),
        cmocka_unit_test(test_the_example_is_good),
        cmocka_unit_test(test_the_schema_knows_every_key),
        cmocka_unit_test(test_mutations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
