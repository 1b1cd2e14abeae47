/* From a file, the environment and flags to a checked configuration; and what is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ops/config_table.h"
#include "scheduler/metadata.h"
#include "support/config_text.h"
#include "support/temp.h"

static void test_defaults(void **state)
{
    (void)state;
    struct config *config = config_text_good(CONFIG_TEXT_LEAST);
    assert_string_equal(config->instance, "i");
    assert_string_equal(config->group, "tarry");
    assert_null(config->advertise);
    assert_string_equal(config->store_path, "/var/lib/tarry");
    assert_int_equal(config->store_max_size_bytes, INT64_C(64) << 30);
    assert_int_equal(config->store_checkpoint_ms, 100);
    assert_int_equal(config->delivery, CONFIG_DELIVERY_AT_LEAST_ONCE);
    assert_int_equal(config->transaction_timeout_ms, 10000);
    assert_true(config->copy_forward);
    assert_int_equal(config->copy_forward_span, 10000000);
    assert_int_equal(config->copy_forward_retention_percent, 50);
    assert_int_equal(config->unknown_topic_grace_ms, 30000);
    assert_int_equal(config->memory_entries, 4000000);
    assert_int_equal(config->memory_unwritten_bytes, 64 << 20);
    assert_string_equal(config->http_listen, "127.0.0.1:7411");
    assert_string_equal(config->http_address.host, "127.0.0.1");
    assert_int_equal(config->http_address.port, 7411);
    assert_null(config->http_token);
    assert_int_equal(config->log_level, LOG_LEVEL_INFO);
    assert_int_equal(config->log_format, CONFIG_LOG_FORMAT_AUTO);
    assert_int_equal(config->shutdown_timeout_ms, 5000);
    assert_int_equal(config->target_count, 0);
    assert_int_equal(config->source_count, 1);
    const struct config_source *source = &config->sources[0];
    assert_string_equal(source->topic, "in");
    assert_int_equal(source->dialects.count, 1);
    assert_string_equal(source->dialects.items[0], "tarry");
    assert_false(source->envelope);
    assert_int_equal(source->envelope_out, CONFIG_ENVELOPE_OUT_PAYLOAD);
    assert_string_equal(source->default_target, "out");
    assert_int_equal(source->default_delay_ms, -1);
    assert_int_equal(source->max_delay_ms, INT64_C(366) * 86400000);
    assert_int_equal(source->late, FIRING_LATE_FIRE);
    assert_int_equal(source->max_lateness_ms, -1);
    assert_int_equal(source->dedupe_ms, 0);
    assert_int_equal(source->misfire, MISFIRE_ONCE);
    assert_int_equal(source->misfire_after_ms, 60000);
    assert_int_equal(source->spread_ms, 0);
    assert_int_equal(config->dialect_count, 0);
    assert_null(config->history_topic);
    assert_int_equal(source->output_headers, OUTPUT_HEADERS_TARRY);
    assert_string_equal(config_source_field(source, "payload"), "payload");
    config_free(config);
}

/* "a.b" and "v" as "a: {b: v}". */
static void nest(const char *path, const char *value, char *text, size_t size)
{
    size_t used = 0;
    size_t depth = 0;
    for (; *path != '\0'; path++) {
        used += (size_t)snprintf(text + used, size - used, *path == '.' ? ": {" : "%c", *path);
        depth += *path == '.';
    }
    used += (size_t)snprintf(text + used, size - used, ": %s", value);
    snprintf(text + used, size - used, "%.*s", (int)depth, "}}}}");
}

static void test_every_default_is_legal(void **state)
{
    size_t count;
    const struct config_key *keys = config_table_keys(&count);
    (void)state;
    for (size_t i = 0; i < count; i++) {
        if (keys[i].fallback == NULL) {
            continue;
        }
        static const char *const around[][2] = {
            [CONFIG_SECTION_TOP] = {CONFIG_TEXT_LEAST, "\n"},
            [CONFIG_SECTION_SOURCE] =
                {"instance: i\nkafka: {bootstrap.servers: b}\nsources: [{topic: in, default_target: out, ", "}]\n"},
            [CONFIG_SECTION_TARGET] = {CONFIG_TEXT_LEAST "targets: [{name: n, match: m, ", "}]\n"},
            [CONFIG_SECTION_NACK] = {CONFIG_TEXT_LEAST "nack: [{match: m, ", "}]\n"},
            [CONFIG_SECTION_DIALECT] = {"instance: i\nkafka: {bootstrap.servers: b}\nsources: [{topic: in, default_target: out, dialects: [own]}]\n"
                                        "dialects: {own: {headers: {X: delay}, ",
                                        "}}\n"},
        };
        char text[1024];
        char value[128];
        char nested[256];
        snprintf(value, sizeof value, keys[i].type == CONFIG_TYPE_NAMES ? "[%s]" : "\"%s\"", keys[i].fallback);
        nest(keys[i].path, value, nested, sizeof nested);
        snprintf(text, sizeof text, "%s%s%s", around[keys[i].section][0], nested, around[keys[i].section][1]);
        config_free(config_text_good(text));
    }
}

static void assert_schedule_keys(const struct config *config)
{
    const struct config_source *source = &config->sources[0];
    assert_int_equal(source->late, FIRING_LATE_DROP);
    assert_int_equal(source->max_lateness_ms, 7200000);
    assert_int_equal(source->dedupe_ms, 3600000);
    assert_int_equal(source->misfire, MISFIRE_SKIP);
    assert_int_equal(source->misfire_after_ms, 90000);
    assert_int_equal(source->spread_ms, 30000);
    assert_int_equal(config->sources[1].dialects.count, 3);
    assert_true(config_source_speaks(&config->sources[1], "mine"));
    assert_false(config_source_speaks(&config->sources[1], "min"));
    assert_int_equal(config->sources[1].output_headers, OUTPUT_HEADERS_ETF1);
    assert_int_equal(config->dialect_count, 1);
    assert_string_equal(config->dialects[0].name, "mine");
    assert_int_equal(config->dialects[0].headers.count, 2);
    assert_string_equal(config->dialects[0].headers.items[0].value, "delay_ms");
    assert_true(config->dialects[0].id_from_key);
    assert_true(config->dialects[0].null_is_cancel);
    assert_string_equal(config->history_topic, "h.istory");
    assert_int_equal(config->targets[0].rate_per_s, 100);
    assert_int_equal(config->targets[1].rate_per_s, 0);
}

static void test_everything_given(void **state)
{
    (void)state;
    struct config *config =
        config_text_good("instance: tarry-0\ngroup: g\nadvertise: host.example:7411\n"
                         "kafka:\n  bootstrap.servers: 'b:9092'\n  client.rack: r1\n  producer: {linger.ms: 1, "
                         "client.rack: r2}\n  consumer: {fetch.min.bytes: 2}\n"
                         "store: {path: /x, max_size: 10TB, checkpoint: 1s}\ndelivery: exactly_once\n"
                         "transaction_timeout: 15s\ncopy_forward: {enabled: true, span: 1000, retention_percent: 90}\n"
                         "sources:\n"
                         "  - topic: in\n    dialects: []\n    envelope: true\n    envelope_out: whole\n    fields: "
                         "{deliver_at: delayUntil}\n"
                         "    routes: {A: a, B.c: b}\n    default_delay: 1s\n    max_delay: 2d\n    late: drop\n    max_lateness: 2h\n"
                         "    dedupe: 1h\n    misfire: skip\n    misfire_after: 90s\n    spread: 30s\n    "
                         "output_headers: none\n"
                         "  - {topic: in2, default_target: out, dialects: [tarry, mine, etf1], output_headers: etf1}\n"
                         "dialects: {mine: {headers: {X-Delay: delay_ms, X-Id: id}, id_from_key: true, null_is_cancel: true}}\nhistory: {topic: h.istory}\n"
                         "targets:\n  - {name: o, match: 'orders.*', max_in_flight: 7, rate: 6000/m}\n  - {name: all, match: '*'}\n"
                         "unknown_topic_grace: 0s\nmemory: {entries: 10000, unwritten: 1MiB}\n"
                         "http: {listen: '[::1]:0'}\nlog: {level: error, format: json}\nshutdown_timeout: 1m\n");
    assert_string_equal(config->advertise, "host.example:7411");
    assert_int_equal(config->store_max_size_bytes, INT64_C(10000000000000));
    assert_int_equal(config->delivery, CONFIG_DELIVERY_EXACTLY_ONCE);
    assert_int_equal(config->transaction_timeout_ms, 15000);
    assert_true(config->copy_forward);
    assert_int_equal(config->copy_forward_span, 1000);
    assert_int_equal(config->copy_forward_retention_percent, 90);
    const struct config_source *source = &config->sources[0];
    assert_int_equal(source->dialects.count, 0);
    assert_true(source->envelope);
    assert_int_equal(source->envelope_out, CONFIG_ENVELOPE_OUT_WHOLE);
    assert_string_equal(config_source_field(source, "deliver_at"), "delayUntil");
    assert_string_equal(config_source_field(source, "type"), "type");
    assert_int_equal(source->routes.count, 2);
    assert_string_equal(source->routes.items[1].name, "B.c");
    assert_string_equal(source->routes.items[1].value, "b");
    assert_int_equal(source->default_delay_ms, 1000);
    assert_int_equal(source->output_headers, OUTPUT_HEADERS_NONE);
    assert_schedule_keys(config);
    assert_int_equal(config->target_count, 2);
    assert_int_equal(config->targets[0].max_in_flight, 7);
    assert_int_equal(config->targets[1].max_in_flight, 10000);
    assert_int_equal(config->log_level, LOG_LEVEL_ERROR);
    assert_int_equal(config->log_format, CONFIG_LOG_FORMAT_JSON);
    assert_int_equal(config->unknown_topic_grace_ms, 0);
    assert_int_equal(config->kafka_common.count, 2);
    assert_int_equal(config->kafka_producer.count, 3); /* its own client.rack in place of the common one */
    assert_string_equal(config->kafka_producer.items[0].name, "bootstrap.servers");
    assert_string_equal(config->kafka_producer.items[2].value, "r2");
    assert_int_equal(config->kafka_producer.own, 2);
    assert_int_equal(config->kafka_consumer.count, 3);
    assert_string_equal(config->kafka_consumer.items[1].value, "r1");
    config_free(config);
}

struct bad {
    const char *more; /* after CONFIG_TEXT_LEAST, whose three lines come first */
    const char *place;
    const char *part;
};

static void expect_bad(const char *text, const char *place, const char *part)
{
    struct config_problems problems = {0};
    assert_null(config_text_load(text, NULL, &problems));
    if (!config_text_has(&problems, false, place, part)) {
        fail_msg("no problem at %s with \"%s\" in:\n%s", place, part, text);
    }
    config_problems_free(&problems);
}

static void test_bad_keys_and_values(void **state)
{
    static const struct bad cases[] = {
        {"grop: x\n", "tarry.yaml:4:1", "grop: unknown key; did you mean group?"},
        {"zzzzzz: x\n", "tarry.yaml:4:1", "zzzzzz: unknown key: remove it"},
        {"store: {max_sise: 1GiB}\n", "tarry.yaml:4:9", "store.max_sise: unknown key; did you mean max_size?"},
        {"store.path: /x\n", "tarry.yaml:4:1", "write it nested"},
        {"store: /x\n", "tarry.yaml:4:8", "store: expects a map, not a single text"},
        {"store:\n", "tarry.yaml:4:7", "expects a map, not nothing"},
        {"store: {path: }\n", "tarry.yaml:4:15", "store.path: expects a single text, not nothing"},
        {"store: {path: ''}\n", "tarry.yaml:4:15", "is not a path"},
        {"store: {path: [a]}\n", "tarry.yaml:4:15", "not a list"},
        {"store: {max_size: -1}\n", "tarry.yaml:4:19", "store.max_size: '-1' is not a size"},
        {"store: {max_size: 0}\n", "tarry.yaml:4:19", "'0' is out of range (size, 1MiB to 64TiB)"},
        {"store: {max_size: 1g}\n", "tarry.yaml:4:19", "for example 64GiB"},
        {"store: {checkpoint: 100}\n", "tarry.yaml:4:21", "units d h m s ms"},
        {"store: {checkpoint: 61s}\n", "tarry.yaml:4:21", "out of range (duration, 1ms to 1m)"},
        {"delivery: at_most_once\n", "tarry.yaml:4:11", "is none of at_least_once|exactly_once"},
        {"transaction_timeout: 10\n", "tarry.yaml:4:22", "units d h m s ms"},
        {"transaction_timeout: 999ms\n", "tarry.yaml:4:22", "out of range (duration, 1s to 15m)"},
        {"transaction_timeout: 15m1s\n", "tarry.yaml:4:22", "out of range (duration, 1s to 15m)"},
        {"copy_forward: true\n", "tarry.yaml:4:15", "copy_forward: expects a map"},
        {"copy_forward: {enabled: no}\n", "tarry.yaml:4:25", "neither true nor false"},
        {"copy_forward: {span: 999}\n", "tarry.yaml:4:22", "out of range (number, 1000 to 1000000000000)"},
        {"copy_forward: {retention_precent: 50}\n", "tarry.yaml:4:16", "did you mean retention_percent?"},
        {"copy_forward: {retention_percent: 91}\n", "tarry.yaml:4:35", "out of range (number, 10 to 90)"},
        {"copy_forward: {retention_percent: 9}\n", "tarry.yaml:4:35", "out of range (number, 10 to 90)"},
        {"copy_forward: {retention_percent: 50%}\n", "tarry.yaml:4:35", "whole number"},
        {"history: {topic: 'a b'}\n", "tarry.yaml:4:18", "not a topic"},
        {"targets: [{name: a, match: b, rate: 90/m}]\n", "tarry.yaml:4:37", "targets[0].rate: '90/m' is not a rate"},
        {"targets: [{name: a, match: b, send_timeout: 1s}]\n", "tarry.yaml:4:31", "message.timeout.ms"},
        {"targets: [{match: b}]\n", "tarry.yaml:4:11", "targets[0].name: missing"},
        {"targets: [{name: default, match: b}]\n", "tarry.yaml:4:18", "name of tarry's own"},
        {"targets: [{name: _x, match: b}]\n", "tarry.yaml:4:18", "name of tarry's own"},
        {"targets: [{name: a.b, match: b}]\n", "tarry.yaml:4:18", "lane's name"},
        {"targets: [{name: a, match: 'a b'}]\n", "tarry.yaml:4:28", "not a topic with *"},
        {"targets: [{name: a, match: b, max_in_flight: 1000001}]\n", "tarry.yaml:4:46",
         "out of range (number, 1 to 1000000)"},
        {"targets: [{name: a, match: b}, {name: a, match: c}]\n", "tarry.yaml:4:33", "a is targets[0] too"},
        {"targets: [{name: a, match: b}, {name: c, match: b}]\n", "tarry.yaml:4:42", "first match wins"},
        {"targets: x\n", "tarry.yaml:4:10", "expects a list of maps"},
        {"targets: [x]\n", "tarry.yaml:4:11", "targets[0]: expects a map"},
        {"log: {level: trace}\n", "tarry.yaml:4:14", "is none of debug|info|warning|error"},
        {"memory: {entries: 0x10}\n", "tarry.yaml:4:19", "whole number"},
        {"http: {listen: '0.0.0.0:7411'}\n", "tarry.yaml:4:8", "set http.token_file"},
        {"http: {listen: '7411'}\n", "tarry.yaml:4:16", "host:port"},
        {"http: {token_file: /does/not/exist}\n", "tarry.yaml:4:8", "No such file"},
        {"advertise: '0.0.0.0:7411'\n", "tarry.yaml:4:1", "no address that others can reach"},
        {"advertise: 'host:0'\n", "tarry.yaml:4:1", "no address that others can reach"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[1024];
        snprintf(text, sizeof text, "%s%s", CONFIG_TEXT_LEAST, cases[i].more);
        expect_bad(text, cases[i].place, cases[i].part);
    }
}

static void test_bad_sources(void **state)
{
    static const struct bad cases[] = {
        {"topic: in", "tarry.yaml:3:5", "no record of it could go anywhere"},
        {"default_target: out", "tarry.yaml:3:4", "sources[0].topic: missing"},
        {"topic: 'a b', default_target: out", "tarry.yaml:3:12", "not a topic"},
        {"topic: '..', default_target: out", "tarry.yaml:3:12", "not a topic"},
        {"topic: in, default_target: in", "tarry.yaml:3:16", "go round for ever"},
        {"topic: in, envelope: true, routes: {X: in}", "tarry.yaml:3:32", "go round for ever"},
        {"topic: in, envelope: true, routes: {X: 'a b'}", "tarry.yaml:3:32", "'a b' is not a topic"},
        {"topic: in, envelope: true, routes: {X: [a]}", "tarry.yaml:3:44",
         "sources[0].routes.X: expects a single text"},
        {"topic: in, default_target: out, routes: {X: y}", "tarry.yaml:3:37", "no effect without an envelope"},
        {"topic: in, default_target: out, fields: {type: y}", "tarry.yaml:3:37", "no effect without an envelope"},
        {"topic: in, default_target: out, envelope_out: whole", "tarry.yaml:3:37", "no effect without an envelope"},
        {"topic: in, default_target: out, envelope: true, fields: {typ: y}", "tarry.yaml:3:62",
         "is none of type|payload"},
        {"topic: in, default_target: out, envelope: true, fields: {type: payload}", "tarry.yaml:3:53",
         "both called 'payload'"},
        {"topic: in, default_target: out, envelope: true, fields: {type: ''}", "tarry.yaml:3:53", "mapped to nothing"},
        {"topic: in, default_target: out, envelope: yes", "tarry.yaml:3:47", "neither true nor false"},
        {"topic: in, default_target: out, dialects: []", "tarry.yaml:3:37", "no record could be understood"},
        {"topic: in, default_target: out, dialects: tarry", "tarry.yaml:3:47", "a list, as [tarry]"},
        {"topic: in, default_target: out, dialects: [etf]", "tarry.yaml:3:37", "'etf' is neither tarry, etf1, karafka, rabbitmq, rocketmq, activemq nor a name under the key dialects; did you mean etf1?"},
        {"topic: in, default_target: out, dialects: [[tarry]]", "tarry.yaml:3:48", "plain words"},
        {"topic: in, default_target: out, late: never", "tarry.yaml:3:43", "is none of fire|letter|drop"},
        {"topic: in, default_target: out, max_delay: 1h, default_delay: 2h", "tarry.yaml:3:52",
         "longer than max_delay"},
        {"topic: in, default_target: out, max_delay: 36526d", "tarry.yaml:3:48", "out of range"},
        {"topic: in, default_target: out, refused_topic: in", "tarry.yaml:3:37", "becomes a dead letter in JetStream"},
        {"topic: in, default_target: out, late: drop", "tarry.yaml:3:37", "how late is too late? Give max_lateness"},
        {"topic: in, default_target: out, dialects: [tarry, tarry]", "tarry.yaml:3:37", "'tarry' stands in it twice"},
        {"topic: in, default_target: out}, {topic: in, default_target: out", "tarry.yaml:3:39", "is sources[0] too"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[1024];
        snprintf(text, sizeof text, "{instance: i, kafka: {bootstrap.servers: b},\nsources: [\n   {%s}]}\n",
                 cases[i].more);
        char place[64];
        snprintf(place, sizeof place, "%s", cases[i].place);
        expect_bad(text, place, cases[i].part);
    }
}

static void test_what_is_missing(void **state)
{
    (void)state;
    expect_bad("", "tarry.yaml:1:1", "instance: missing; give each process");
    expect_bad("", "tarry.yaml:1:1", "sources: missing; name at least one topic");
    expect_bad("", "tarry.yaml:1:1", "kafka.bootstrap.servers: missing");
    expect_bad("instance: i\nkafka: {bootstrap.servers: b}\nsources: []\n", "tarry.yaml:1:1", "sources: missing");
    expect_bad("instance: i\nkafka: {producer: {bootstrap.servers: b}}\n", "tarry.yaml:2:1",
               "kafka.bootstrap.servers: missing");
}

static void test_twenty_errors_are_kept_and_all_counted(void **state)
{
    struct config_problems problems = {0};
    char text[2048] = "";
    (void)state;
    for (int i = 0; i < 40; i++) {
        size_t used = strlen(text);
        snprintf(text + used, sizeof text - used, "unknown%d: 1\n", i);
    }
    assert_null(config_text_load(text, NULL, &problems));
    assert_int_equal(problems.errors, 43);
    assert_int_equal(problems.count, CONFIG_PROBLEMS_MAX);
    config_problems_free(&problems);
}

/* ------------------------------------------------------------------------------------------------- lanes */

static bool lanes_fit(size_t count, size_t name_length, struct config_problems *problems)
{
    struct buffer text = buffer_new(1 << 20);
    buffer_add_text(&text, CONFIG_TEXT_LEAST "targets:\n");
    for (size_t i = 0; i < count; i++) {
        buffer_add_format(&text, "  - {name: n%0*zu, match: m%zu}\n", (int)name_length - 1, i, i);
    }
    buffer_add(&text, "", 1);
    struct config *config = config_text_load((const char *)text.data, NULL, problems);
    bool fit = config != NULL;
    config_free(config);
    buffer_free(&text);
    return fit;
}

static void test_lanes_must_fit_the_metadata(void **state)
{
    (void)state;
    for (size_t length = 3; length <= METADATA_LANE_NAME_MAX; length += 15) {
        struct config_problems problems = {0};
        size_t fit = 1;
        while (lanes_fit(fit + 1, length, &problems)) {
            fit++;
            assert_true(fit < LANES_MAX);
        }
        char part[64];
        snprintf(part, sizeof part, "first %zu do", fit);
        assert_true(fit > 5);
        assert_true(config_text_has(&problems, false, "tarry.yaml:4:1", part));
        config_problems_free(&problems);
    }
    struct config_problems problems = {0};
    assert_false(lanes_fit(LANES_MAX + 100, 4, &problems));
    config_problems_free(&problems);
}

static void expect_unreadable(const char *path, const char *part)
{
    struct config_problems problems = {0};
    struct config *config = NULL;
    struct config_request request = {.path = path};
    assert_false(config_load(&request, &config, &problems));
    assert_int_equal(problems.errors, 1);
    assert_true(config_text_has(&problems, false, path, part));
    config_problems_free(&problems);
}

static void test_unreadable_files(void **state)
{
    char *folder = temp_directory("config");
    char *path = temp_path(folder, "big.yaml");
    FILE *file = fopen(path, "w");
    (void)state;
    assert_non_null(file);
    for (int i = 0; i < 10 * 1024; i++) {
        static const char block[1024] = "# ";
        assert_int_equal(fwrite(block, 1, sizeof block, file), sizeof block);
    }
    assert_int_equal(fclose(file), 0);
    expect_unreadable(path, "larger than 1048576 bytes");
    expect_unreadable(folder, "is a directory");
    expect_unreadable("/does/not/exist.yaml", "No such file");
    expect_unreadable("/dev/zero", "larger than 1048576 bytes");
    free(path);
    temp_remove(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_defaults),
        cmocka_unit_test(test_every_default_is_legal),
        cmocka_unit_test(test_everything_given),
        cmocka_unit_test(test_bad_keys_and_values),
        cmocka_unit_test(test_bad_sources),
        cmocka_unit_test(test_what_is_missing),
        cmocka_unit_test(test_twenty_errors_are_kept_and_all_counted),
        cmocka_unit_test(test_lanes_must_fit_the_metadata),
        cmocka_unit_test(test_unreadable_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
