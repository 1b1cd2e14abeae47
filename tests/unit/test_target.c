#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/memory.h"
#include "base/random.h"
#include "bridge/target.h"

static bool match(const char *pattern, const char *text)
{
    return target_glob_match(pattern, span_of_text(text));
}

static void globs(void **state)
{
    (void)state;
    assert_true(match("orders", "orders"));
    assert_false(match("orders", "orders2"));
    assert_false(match("orders", "order"));
    assert_true(match("orders.*", "orders.eu"));
    assert_true(match("orders.*", "orders."));
    assert_false(match("orders.*", "orders"));
    assert_false(match("orders.*", "my.orders.eu"));
    assert_true(match("*", ""));
    assert_true(match("*", "x"));
    assert_true(match("**", "x"));
    assert_true(match("*-dlt", "a-dlt"));
    assert_false(match("*-dlt", "a-dlt2"));
    assert_true(match("a*b*c", "aXbYbZc"));
    assert_false(match("a*b*c", "acb"));
    assert_false(match("a*a", "a"));
    assert_true(match("*ab*ab*", "abab"));
    assert_false(match("*ab*ab*", "aba"));
    assert_false(match("", "a"));
    assert_true(match("", ""));
    assert_false(match("a.c", "abc"));
    assert_false(match("Orders", "orders"));
    assert_false(target_glob_match("*", SPAN_ABSENT));
}

/* The obvious way, exponential: fine for short texts. */
static bool slow_match(const char *pattern, const char *text)
{
    if (*pattern == '*') {
        return slow_match(pattern + 1, text) || (*text != '\0' && slow_match(pattern, text + 1));
    }
    if (*pattern == '\0' || *text == '\0') {
        return *pattern == *text;
    }
    return *pattern == *text && slow_match(pattern + 1, text + 1);
}

static void globs_agree_with_the_obvious_way(void **state)
{
    struct random random = random_new(1);
    size_t matched = 0;
    (void)state;
    for (int round = 0; round < 200000; round++) {
        char pattern[9] = "";
        char text[11] = "";
        size_t pattern_length = (size_t)random_below(&random, sizeof(pattern));
        size_t text_length = (size_t)random_below(&random, sizeof(text));
        for (size_t i = 0; i < pattern_length; i++) {
            pattern[i] = "ab*"[random_below(&random, 3)];
        }
        for (size_t i = 0; i < text_length; i++) {
            text[i] = "ab"[random_below(&random, 2)];
        }
        bool expected = slow_match(pattern, text);
        assert_int_equal(match(pattern, text), expected);
        matched += expected ? 1 : 0;
    }
    assert_in_range(matched, 10000, 190000);
}

/* 20,000 stars with "aa" each against a million "a": a way that goes back over the text for each star would not end
 * within the time limit. */
static void globs_stay_linear(void **state)
{
    size_t stars = 20000;
    size_t length = 1000000;
    char *pattern = memory_new(stars * 3 + 2, 1);
    uint8_t *text = memory_new(length, 1);
    (void)state;
    memset(text, 'a', length);
    for (size_t i = 0; i < stars; i++) {
        memcpy(pattern + i * 3, "*aa", 3);
    }
    assert_true(target_glob_match(pattern, (struct span){text, length}));
    pattern[stars * 3] = 'b';
    assert_false(target_glob_match(pattern, (struct span){text, length}));
    free(pattern);
    free(text);
}

static void names_follow_the_rule_of_kafka(void **state)
{
    char longest[251];
    (void)state;
    memset(longest, 'x', sizeof(longest));
    longest[250] = '\0';
    assert_true(target_name_valid(span_of_text("a")));
    assert_true(target_name_valid(span_of_text("Az09._-")));
    assert_true(target_name_valid(span_of_text("...")));
    assert_true(target_name_valid((struct span){(const uint8_t *)longest, 249}));
    assert_false(target_name_valid((struct span){(const uint8_t *)longest, 250}));
    assert_false(target_name_valid(span_of_text("")));
    assert_false(target_name_valid(SPAN_ABSENT));
    assert_false(target_name_valid(span_of_text(".")));
    assert_false(target_name_valid(span_of_text("..")));
    assert_false(target_name_valid(span_of_text("a b")));
    assert_false(target_name_valid(span_of_text("a/b")));
    assert_false(target_name_valid(span_of_text("\xC3\xA9")));
    assert_false(target_name_valid((struct span){(const uint8_t *)"a\0", 2}));
}

static void the_first_match_wins(void **state)
{
    static const struct target_pattern patterns[] = {{"orders.*", 3}, {"orders.eu", 4}, {"*-x", 5}};
    static const char *const known[] = {"events", "orders.known"};
    struct target_list list = {patterns, 3, known, 2, 1};
    lane_index lane = 99;
    (void)state;
    assert_true(target_lane(&list, span_of_text("orders.eu"), &lane));
    assert_int_equal(lane, 3);
    assert_true(target_lane(&list, span_of_text("a-x"), &lane));
    assert_int_equal(lane, 5);
    assert_true(target_lane(&list, span_of_text("events"), &lane));
    assert_int_equal(lane, 1);
    assert_true(target_lane(&list, span_of_text("orders.known"), &lane));
    assert_int_equal(lane, 3);
    assert_false(target_lane(&list, span_of_text("event"), &lane));
    assert_false(target_lane(&list, span_of_text("events2"), &lane));
    assert_false(target_lane(&(struct target_list){0}, span_of_text("events"), &lane));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(globs),
        cmocka_unit_test(globs_agree_with_the_obvious_way),
        cmocka_unit_test(globs_stay_linear),
        cmocka_unit_test(names_follow_the_rule_of_kafka),
        cmocka_unit_test(the_first_match_wins),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
