/* The strict subset of YAML: what is read, and what is refused where. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/random.h"
#include "ops/yaml_tree.h"

struct parsed {
    struct config_arena arena;
    struct config_problems problems;
    struct config_node *root;
    bool done;
};

static struct parsed parse_bytes(const void *bytes, size_t length)
{
    struct parsed parsed = {0};
    parsed.done =
        yaml_tree_parse((struct span){bytes, length}, "f.yaml", &parsed.arena, &parsed.problems, &parsed.root);
    assert_true(parsed.done == (parsed.root != NULL));
    assert_true(parsed.done || parsed.problems.errors > 0);
    return parsed;
}

static struct parsed parse(const char *text)
{
    return parse_bytes(text, strlen(text));
}

static void drop(struct parsed *parsed)
{
    config_arena_free(&parsed->arena);
    config_problems_free(&parsed->problems);
}

static const char *text_at(const struct parsed *parsed, const char *path)
{
    const struct config_entry *entry = config_node_at(parsed->root, NULL, 0, path);
    return entry == NULL ? NULL : entry->node->text;
}

static void test_scalars_stay_text(void **state)
{
    (void)state;
    struct parsed parsed = parse("a: on\nb: 1e3\nc: ~\nd: 'x: y'\ne:\nf: ''\ng: {h: 0x10}\n");
    assert_true(parsed.done);
    assert_int_equal(parsed.problems.count, 0);
    assert_string_equal(text_at(&parsed, "a"), "on");
    assert_string_equal(text_at(&parsed, "b"), "1e3");
    assert_string_equal(text_at(&parsed, "c"), "~");
    assert_string_equal(text_at(&parsed, "d"), "x: y");
    assert_string_equal(text_at(&parsed, "e"), "");
    assert_false(config_node_find(parsed.root, "e")->node->quoted);
    assert_true(config_node_find(parsed.root, "f")->node->quoted);
    assert_string_equal(text_at(&parsed, "g.h"), "0x10");
    assert_null(text_at(&parsed, "g.x"));
    drop(&parsed);
}

static void test_places_and_lists(void **state)
{
    (void)state;
    struct parsed parsed = parse("a:\n  - {b: 1}\n  - b: 2\n");
    const struct config_entry *second = config_node_at(parsed.root, "a", 1, "b");
    assert_non_null(second);
    assert_string_equal(second->node->text, "2");
    assert_string_equal(config_node_place_text(second->place).text, "f.yaml:3:5");
    assert_string_equal(config_node_place_text(second->node->place).text, "f.yaml:3:8");
    assert_null(config_node_at(parsed.root, "a", 2, "b"));
    assert_null(config_node_at(parsed.root, "b", 0, "b"));
    drop(&parsed);
}

static void test_empty_documents_are_empty_maps(void **state)
{
    static const char *const empty[] = {"", "\n", "# nothing\n", "{}", "---\n{}\n...\n"};
    (void)state;
    for (size_t i = 0; i < sizeof empty / sizeof empty[0]; i++) {
        struct parsed parsed = parse(empty[i]);
        assert_true(parsed.done);
        assert_int_equal(parsed.problems.count, 0);
        assert_int_equal(parsed.root->count, 0);
        drop(&parsed);
    }
}

struct refusal_case {
    const char *text;
    bool done; /* the rest is read all the same */
    const char *place;
    const char *part;
};

static void test_what_is_not_allowed(void **state)
{
    static const struct refusal_case cases[] = {
        {"a: &x 1\n", true, "f.yaml:1:4", "anchors"},
        {"a: &x {b: 1}\n", true, "f.yaml:1:4", "anchors"},
        {"a: &x [1]\n", true, "f.yaml:1:4", "anchors"},
        {"b: *x\n", true, "f.yaml:1:4", "aliases"},
        {"a: !!str 1\n", true, "f.yaml:1:4", "tags"},
        {"a: !x {b: 1}\n", true, "f.yaml:1:4", "tags"},
        {"a: {<<: {b: 1}}\n", true, "f.yaml:1:5", "merge keys"},
        {"a: 1\nb: 2\na: 3\n", true, "f.yaml:3:1", "first at line 1"},
        {"? [a]\n: 1\n", true, "f.yaml:1:3", "a key must be a single text"},
        {"a: \"x\\0y\"\n", true, "f.yaml:1:4", "NUL"},
        {"a: 1\n---\nb: 1\n", false, "f.yaml:2:1", "second document"},
        {"[1]\n", false, "f.yaml:1:1", "must be a map"},
        {"just text\n", false, "f.yaml:1:1", "must be a map"},
        {"a: [\n", false, "f.yaml:2:1", "not YAML"},
        {"a: 1\n b: 2\n", false, "f.yaml:2:3", "not YAML"},
        {"a: 'x\n", false, "f.yaml:2:1", "not YAML"},
        {"\ta: 1\n", false, "f.yaml:1:1", "not YAML"},
        {"a: 1\nb: \xff\n", false, "f.yaml:2:4", "UTF-8"},
        {"a: \xed\xa0\x80\n", false, "f.yaml:1:4", "UTF-8"},
        {"a: \x01\n", false, "f.yaml:1:4", "control characters"},
        {"%TAG ! x\n---\na: 1\n", true, NULL, NULL},
        {"\xff\xfe"
         "a",
         false, "f.yaml:1:1", "UTF-8"},
        {"a: [[[[[[[[1]]]]]]]]\n", false, "f.yaml:1:12", "nested deeper than 8"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct parsed parsed = parse(cases[i].text);
        if (parsed.done != cases[i].done) {
            fail_msg("case %zu: %s", i, cases[i].text);
        }
        if (cases[i].place != NULL) {
            assert_true(parsed.problems.count > 0);
            assert_string_equal(parsed.problems.items[0].place, cases[i].place);
            if (strstr(parsed.problems.items[0].text, cases[i].part) == NULL) {
                fail_msg("case %zu: %s", i, parsed.problems.items[0].text);
            }
        }
        drop(&parsed);
    }
}

static void test_all_problems_are_collected_up_to_a_bound(void **state)
{
    struct buffer text = buffer_new(1 << 20);
    (void)state;
    for (int i = 0; i < 50; i++) {
        buffer_add_format(&text, "k%d: &a 1\n", i);
    }
    struct parsed parsed = parse_bytes(text.data, text.length);
    assert_true(parsed.done);
    assert_int_equal(parsed.problems.errors, 50);
    assert_int_equal(parsed.problems.count, CONFIG_PROBLEMS_MAX);
    drop(&parsed);
    buffer_free(&text);
}

static void test_too_many_nodes_and_deep_nesting_end_early(void **state)
{
    struct buffer text = buffer_new(1 << 20);
    (void)state;
    for (int i = 0; i < 10100; i++) {
        buffer_add_format(&text, "k%d: 1\n", i);
    }
    struct parsed parsed = parse_bytes(text.data, text.length);
    assert_false(parsed.done);
    assert_non_null(strstr(parsed.problems.items[0].text, "more than 20000"));
    drop(&parsed);
    buffer_clear(&text);
    while (!text.full && text.length < 1000000) {
        buffer_add_text(&text, "{");
    }
    parsed = parse_bytes(text.data, text.length);
    assert_false(parsed.done);
    assert_non_null(strstr(parsed.problems.items[0].text, "nested deeper"));
    drop(&parsed);
    buffer_free(&text);
}

/* Any bytes: an answer, never a crash; sanitizers watch. */
static void test_random_bytes(void **state)
{
    static const char alphabet[] = "ab:{}[],'\"&*!|>-? \n\n  #%@\\x\t0~<\xc3\xa4\xff";
    (void)state;
    struct random source = random_new(3);
    for (int i = 0; i < 20000; i++) {
        char text[40];
        size_t length = random_next(&source) % sizeof text;
        for (size_t j = 0; j < length; j++) {
            text[j] = alphabet[random_next(&source) % (sizeof alphabet - 1)];
        }
        struct parsed parsed = parse_bytes(text, length);
        drop(&parsed);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_scalars_stay_text),
        cmocka_unit_test(test_places_and_lists),
        cmocka_unit_test(test_empty_documents_are_empty_maps),
        cmocka_unit_test(test_what_is_not_allowed),
        cmocka_unit_test(test_all_problems_are_collected_up_to_a_bound),
        cmocka_unit_test(test_too_many_nodes_and_deep_nesting_end_early),
        cmocka_unit_test(test_random_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
