/* Durations, sizes, numbers and the like: exact or refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "base/random.h"
#include "ops/config_near.h"
#include "ops/config_value.h"

struct number {
    const char *text;
    int64_t value;
};

static void test_durations_are_exact(void **state)
{
    static const struct number good[] = {
        {"0ms", 0},
        {"0s", 0},
        {"100ms", 100},
        {"5s", 5000},
        {"1h30m", 5400000},
        {"366d", INT64_C(31622400000)},
        {"1d2h3m4s5ms", 93784005},
        {"90m", 5400000},
        {"9223372036854775807ms", INT64_MAX},
        {"106751991167d", INT64_C(9223372036828800000)},
    };
    (void)state;
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        int64_t value = -1;
        assert_true(config_value_duration(good[i].text, &value, NULL));
        assert_int_equal(value, good[i].value);
    }
}

static void test_rates(void **state)
{
    static const struct number good[] = {{"5000", 5000}, {"5000/s", 5000}, {"300/m", 5}, {"60/m", 1}, {"3600/h", 1}, {"18000000/h", 5000}, {"0", 0}};
    static const char *const bad[] = {"",      "/s",   "5/",   "5/d",  "5 /s", "5/s ", "5s",    "1.5/s",
                                      "90/m", "1/m", "1/h", "-5/s", "05",   "5/S",  "5//s", "9223372036854775808/s"};
    (void)state;
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        int64_t value = -1;
        assert_true(config_value_rate(good[i].text, &value, NULL));
        assert_int_equal(value, good[i].value);
    }
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        int64_t value = -7;
        struct error error = {0};
        if (config_value_rate(bad[i], &value, &error)) {
            fail_msg("'%s' was taken for %lld a second", bad[i], (long long)value);
        }
        assert_int_equal(value, -7);
        assert_non_null(strstr(error.text, "300/m"));
    }
}

static void test_other_durations_are_refused(void **state)
{
    static const char *const bad[] = {
        "",
        "5",
        "s",
        "-5s",
        "+5s",
        " 5s",
        "5s ",
        "5 s",
        "1.5h",
        "1e3s",
        "5S",
        "5sec",
        "1m1h",
        "1s1s",
        "5ms1s",
        "0x5s",
        "1h30",
        "9223372036854775808ms",
        "106751991168d",
        "9223372036854775807s",
        "99999999999999999999ms",
        "9223372036854775807ms1s",
        "1w",
        "106751991167d25975808ms",
    };
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        int64_t value = -7;
        struct error error = {0};
        if (config_value_duration(bad[i], &value, &error)) {
            fail_msg("'%s' was taken for %lld ms", bad[i], (long long)value);
        }
        assert_int_equal(value, -7);
        assert_non_null(strstr(error.text, "1h30m"));
    }
}

static void test_durations_round_trip(void **state)
{
    (void)state;
    struct random source = random_new(7);
    for (int i = 0; i < 20000; i++) {
        int64_t wanted = (int64_t)(random_next(&source) >> (1 + random_next(&source) % 60));
        int64_t rest = wanted;
        char text[128];
        int64_t value = -1;
        snprintf(text, sizeof text, "%lldd%lldh%lldm%llds%lldms", (long long)(rest / 86400000),
                 (long long)(rest / 3600000 % 24), (long long)(rest / 60000 % 60), (long long)(rest / 1000 % 60),
                 (long long)(rest % 1000));
        assert_true(config_value_duration(text, &value, NULL));
        assert_int_equal(value, wanted);
    }
}

static void test_sizes_are_exact(void **state)
{
    static const struct number good[] = {
        {"0", 0},
        {"1048576", 1048576},
        {"3GB", INT64_C(3000000000)},
        {"5GiB", INT64_C(5368709120)},
        {"10TB", INT64_C(10000000000000)},
        {"64GiB", INT64_C(68719476736)},
        {"4294967296", INT64_C(4294967296)},
        {"10kB", 10000},
        {"10KB", 10000},
        {"10KiB", 10240},
        {"8388607TiB", INT64_C(9223370937343148032)},
        {"9223372036854775807", INT64_MAX},
    };
    static const char *const bad[] = {"",
                                      "-1",
                                      "1g",
                                      "1G",
                                      "1 GiB",
                                      "1.5GiB",
                                      "GiB",
                                      "1Gib",
                                      "1b",
                                      "+1",
                                      "1e9",
                                      "0x10",
                                      "8388608TiB",
                                      "9223372036854775808",
                                      "99999999999999999999999",
                                      "1GiBx",
                                      "1B"};
    (void)state;
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        int64_t value = -1;
        assert_true(config_value_size(good[i].text, &value, NULL));
        assert_int_equal(value, good[i].value);
    }
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        int64_t value = -7;
        if (config_value_size(bad[i], &value, NULL)) {
            fail_msg("'%s' was taken for %lld bytes", bad[i], (long long)value);
        }
        assert_int_equal(value, -7);
    }
}

static void test_counts(void **state)
{
    static const char *const bad[] = {
        "", "-1", "+1", "01", "1_000", "1,000", "1.0", "1e3", " 1", "1 ", "9223372036854775808", "one"};
    int64_t value = -7;
    (void)state;
    assert_true(config_value_count("0", &value, NULL));
    assert_int_equal(value, 0);
    assert_true(config_value_count("9223372036854775807", &value, NULL));
    assert_int_equal(value, INT64_MAX);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        assert_false(config_value_count(bad[i], &value, NULL));
    }
    assert_int_equal(value, INT64_MAX);
}

static void test_bools_and_choices(void **state)
{
    static const char *const bad[] = {"", "yes", "on", "True", "TRUE", "1", "false ", "tru"};
    bool truth = false;
    unsigned choice = 9;
    struct error error = {0};
    (void)state;
    assert_true(config_value_bool("true", &truth, NULL));
    assert_true(truth);
    assert_true(config_value_bool("false", &truth, NULL));
    assert_false(truth);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        assert_false(config_value_bool(bad[i], &truth, NULL));
    }
    assert_true(config_value_choice("c", "a|bb|c", &choice, NULL));
    assert_int_equal(choice, 2);
    assert_true(config_value_choice("bb", "a|bb|c", &choice, NULL));
    assert_int_equal(choice, 1);
    assert_false(config_value_choice("b", "a|bb|c", &choice, &error));
    assert_string_equal(error.text, "is none of a|bb|c");
    assert_false(config_value_choice("", "a|bb|c", &choice, NULL));
    assert_false(config_value_choice("a|bb", "a|bb|c", &choice, NULL));
    assert_int_equal(choice, 1);
}

static void test_addresses(void **state)
{
    static const char *const bad[] = {
        "",        ":80",    "host",   "host:",  "host:x",   "host:65536",  "host:-1", "[::1]",
        "[::1:80", "::1:80", "a b:80", "a/b:80", "host:80 ", "http://a:80", "[]:80",   "host:99999999999999999999"};
    struct config_address address;
    (void)state;
    assert_true(config_value_address("127.0.0.1:7411", &address, NULL));
    assert_string_equal(address.host, "127.0.0.1");
    assert_int_equal(address.port, 7411);
    assert_true(address.loopback);
    assert_true(config_value_address("[::1]:0", &address, NULL));
    assert_string_equal(address.host, "::1");
    assert_true(address.loopback && !address.any);
    assert_true(config_value_address("localhost:1", &address, NULL) && address.loopback);
    assert_true(config_value_address("0.0.0.0:65535", &address, NULL) && address.any && !address.loopback);
    assert_true(config_value_address("[::]:1", &address, NULL) && address.any && !address.loopback);
    assert_true(config_value_address("127.evil.example:1", &address, NULL) && !address.loopback);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        if (config_value_address(bad[i], &address, NULL)) {
            fail_msg("'%s' was taken for an address", bad[i]);
        }
    }
}

static void test_names_and_shown_values(void **state)
{
    char long_text[500];
    memset(long_text, 'x', sizeof long_text - 1);
    long_text[sizeof long_text - 1] = '\0';
    (void)state;
    assert_true(config_value_name("a.B-9_", 6, NULL));
    assert_false(config_value_name("a.B-9_", 5, NULL));
    assert_false(config_value_name("", 5, NULL));
    assert_false(config_value_name("a b", 5, NULL));
    assert_false(config_value_name("\xc3\xa4", 5, NULL));
    assert_string_equal(config_value_show("a\x1b[31m").text, "'a\\x1b[31m'");
    assert_true(strlen(config_value_show(long_text).text) < CONFIG_VALUE_SHOWN_MAX);
}

static void test_near_names(void **state)
{
    size_t distance;
    (void)state;
    assert_int_equal(config_near_distance("", "abc"), 3);
    assert_int_equal(config_near_distance("abc", ""), 3);
    assert_int_equal(config_near_distance("abc", "abc"), 0);
    assert_int_equal(config_near_distance("kitten", "sitting"), 3);
    assert_int_equal(config_near_distance("tpoic", "topic"), 1);
    assert_int_equal(config_near_distance("ab", "ba"), 1);
    assert_true(config_near_is("instence", "instance", &distance));
    assert_int_equal(distance, 1);
    assert_false(config_near_is("completely", "topic", &distance));
    assert_false(config_near_is("xy", "late", &distance));
}

/* Against the plain recursive definition, on short words of a small alphabet. */
static size_t slow_distance(const char *a, size_t n, const char *b, size_t m)
{
    if (n == 0 || m == 0) {
        return n + m;
    }
    size_t best = slow_distance(a, n - 1, b, m - 1) + (a[n - 1] == b[m - 1] ? 0 : 1);
    size_t left = slow_distance(a, n - 1, b, m) + 1;
    size_t up = slow_distance(a, n, b, m - 1) + 1;
    best = left < best ? left : best;
    best = up < best ? up : best;
    if (n > 1 && m > 1 && a[n - 1] == b[m - 2] && a[n - 2] == b[m - 1]) {
        size_t swapped = slow_distance(a, n - 2, b, m - 2) + 1;
        best = swapped < best ? swapped : best;
    }
    return best;
}

static void test_near_against_oracle(void **state)
{
    (void)state;
    struct random source = random_new(11);
    for (int i = 0; i < 400; i++) {
        char words[2][8];
        for (int w = 0; w < 2; w++) {
            size_t length = random_next(&source) % 6;
            for (size_t j = 0; j < length; j++) {
                words[w][j] = (char)('a' + random_next(&source) % 3);
            }
            words[w][length] = '\0';
        }
        assert_int_equal(config_near_distance(words[0], words[1]),
                         slow_distance(words[0], strlen(words[0]), words[1], strlen(words[1])));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_durations_are_exact),
        cmocka_unit_test(test_rates),
        cmocka_unit_test(test_other_durations_are_refused),
        cmocka_unit_test(test_durations_round_trip),
        cmocka_unit_test(test_sizes_are_exact),
        cmocka_unit_test(test_counts),
        cmocka_unit_test(test_bools_and_choices),
        cmocka_unit_test(test_addresses),
        cmocka_unit_test(test_names_and_shown_values),
        cmocka_unit_test(test_near_names),
        cmocka_unit_test(test_near_against_oracle),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
