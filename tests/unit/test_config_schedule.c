/* Keys of schedules: dialects of one's own, lateness, misfires, history; what must hold between them, and the dialects that come of it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ops/dialects.h"
#include "support/config_text.h"

#define HEAD "instance: i\nkafka: {bootstrap.servers: 'b:1'}\n"

struct bad {
    const char *text; /* after HEAD, whose two lines come first */
    const char *place;
    const char *part;
};

static void load(const char *rest, bool good, struct config_problems *problems, const struct bad *wanted)
{
    char text[4096];
    snprintf(text, sizeof text, HEAD "%s", rest);
    struct config *config = config_text_load(text, NULL, problems);
    if ((config != NULL) != good || !config_text_has(problems, good, wanted->place, wanted->part)) {
        fail_msg("no problem at %s with \"%s\" (%zu others) in:\n%s", wanted->place, wanted->part, problems->count, text);
    }
    config_free(config);
    config_problems_free(problems);
}

static void test_what_is_wrong(void **state)
{
    static const struct bad cases[] = {
        {"sources: [{topic: in, default_target: out, dialects: [mine]}]\n", "tarry.yaml:3:44", "'mine' is neither tarry, etf1,"},
        {"sources: [{topic: in, default_target: out, dialects: [rabitmq]}]\n", "tarry.yaml:3:44", "did you mean rabbitmq?"},
        {"sources: [{topic: in, default_target: out, dialects: [min]}]\ndialects: {mine: {headers: {X: delay}}}\n", "tarry.yaml:3:44", "did you mean mine?"},
        {"sources: [{topic: in, default_target: out, dialects: [etf1, tarry, etf1]}]\n", "tarry.yaml:3:44", "stands in it twice"},
        {"sources: [{topic: in, default_target: out, dialects: [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q]}]\n", "tarry.yaml:3:44",
         "17 of them, 16 are the most"},
        {"sources: [{topic: in, default_target: out}]\ndialects: {tarry: {headers: {X: delay}}}\n", "tarry.yaml:4:1", "the name of a built-in one"},
        {"sources: [{topic: in, default_target: out}]\ndialects: {'a b': {headers: {X: delay}}}\n", "tarry.yaml:4:1", "'a b' is not a name"},
        {"sources: [{topic: in, default_target: out}]\ndialects: {mine: {}}\n", "tarry.yaml:4:18", "dialects.mine.headers: missing"},
        {"sources: [{topic: in, default_target: out}]\ndialects: {mine: {headers: {}}}\n", "tarry.yaml:4:19", "names no header"},
        {"sources: [{topic: in, default_target: out}]\ndialects: {mine: {headers: {X: dely_ms}}}\n", "tarry.yaml:4:19", "did you mean delay_ms?"},
        {"sources: [{topic: in, default_target: out}]\ndialects: {mine: {headers: {X: 7}}}\n", "tarry.yaml:4:19", "docs/configuration.md lists all"},
        {"sources: [{topic: in, default_target: out}]\ndialects: {mine: {headers: {tarry-root: ignore}}}\n", "tarry.yaml:4:19", "is tarry's own"},
        {"sources: [{topic: in, default_target: out}]\ndialects: {mine: {headers: {'': ignore}}}\n", "tarry.yaml:4:19", "is not the name of a header"},
        {"sources: [{topic: in, default_target: out}]\ndialects: {mine: {headers: {X: [a]}}}\n", "tarry.yaml:4:32", "dialects.mine.headers.X: expects a single text"},
        {"sources: [{topic: in, default_target: out}]\ndialects: {mine: {header: {X: delay}}}\n", "tarry.yaml:4:19",
         "dialects.mine.header: unknown key; did you mean headers?"},
        {"sources: [{topic: in, default_target: out}]\ndialects: {mine: {headers: {X: delay}, id_from_key: yes}}\n", "tarry.yaml:4:53",
         "dialects.mine.id_from_key: 'yes' is neither true nor false"},
        {"sources: [{topic: in, default_target: out}]\ndialects: {mine: 7}\n", "tarry.yaml:4:18", "dialects.mine: expects a map"},
        {"sources: [{topic: in, default_target: out}]\ndialects: [mine]\n", "tarry.yaml:4:11", "dialects: expects a map of maps"},
        {"sources: [{topic: in, default_target: out, late: letter}]\n", "tarry.yaml:3:44", "Give max_lateness"},
        {"sources: [{topic: in, default_target: out, misfire: twice}]\n", "tarry.yaml:3:53", "is none of once|all|skip"},
        {"sources: [{topic: in, default_target: out, spread: 25h}]\n", "tarry.yaml:3:52", "out of range"},
        {"sources: [{topic: in, default_target: out}]\nhistory: {topic: in}\n", "tarry.yaml:4:11", "would be read as records to be delayed"},
        {"sources: [{topic: in, default_target: out}]\ntargets: [{name: a, match: a, rate: 1000001}]\n", "tarry.yaml:4:37", "rate, 1/s to 1000000/s"},
        {"sources: [{topic: in, default_target: out}]\ntargets: [{name: a, match: a, rate: 0}]\n", "tarry.yaml:4:37", "out of range"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct config_problems problems = {0};
        load(cases[i].text, false, &problems, &cases[i]);
    }
}

static void test_what_is_strange(void **state)
{
    static const struct bad cases[] = {
        {"sources: [{topic: in, default_target: out}]\ndialects: {mine: {headers: {X: delay}}}\n", "tarry.yaml:4:1", "no source speaks it"},
        {"sources: [{topic: in, default_target: out, max_lateness: 1h}]\n", "tarry.yaml:3:44", "no effect with late: fire"},
        {"sources: [{topic: in, default_target: out, misfire_after: 5s, spread: 6s}]\n", "tarry.yaml:3:63", "longer than misfire_after"},
        {"sources: [{topic: in, default_target: out}]\nhistory: {topic: out}\n", "tarry.yaml:4:11", "is a target, too"},
        {"sources: [{topic: in, default_target: out}]\ntargets: [{name: h, match: 'h*'}]\nhistory: {topic: history}\n", "tarry.yaml:5:11", "is a target, too"},
        {"sources: [{topic: in, default_target: b}, {topic: b, default_target: out}]\n", "tarry.yaml:3:23",
         "sources[0].default_target: 'b' is sources[1].topic: what is delivered there is read as a record to be delayed again"},
        {"sources: [{topic: a, default_target: out}, {topic: in, default_target: out, envelope: true, routes: {X: out, Y: a}}]\n", "tarry.yaml:3:93",
         "sources[1].routes: 'a' is sources[0].topic"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct config_problems problems = {0};
        load(cases[i].text, true, &problems, &cases[i]);
    }
}

static void test_dialects_are_made(void **state)
{
    (void)state;
    struct config *config = config_text_good(HEAD "sources: [{topic: in, default_target: out, dialects: [mine, other, karafka]}]\n"
                                                  "dialects:\n  mine: {headers: {X-Delay: delay_ms, X-Id: id}, id_from_key: true}\n"
                                                  "  other: {headers: {Y: expires_ms}, null_is_cancel: true}\n");
    struct dialects dialects = dialects_new(config);
    const struct dialect *mine = dialects_find(&dialects, "mine");
    const struct dialect *other = dialects_find(&dialects, "other");
    assert_non_null(mine);
    assert_int_equal(mine->count, 2);
    assert_true(mine->id_from_key);
    assert_false(mine->null_is_cancel);
    const struct dialect_entry *entry = dialect_find(mine, span_of_text("X-Delay"));
    assert_non_null(entry);
    assert_int_equal(entry->field, DIALECT_DELAY);
    assert_int_equal(entry->form, DIALECT_FORM_MS);
    assert_null(dialect_find(mine, span_of_text("X-Dela")));
    assert_null(dialect_find(mine, span_of_text("Y")));
    assert_true(other->null_is_cancel);
    assert_int_equal(dialect_find(other, span_of_text("Y"))->field, DIALECT_EXPIRES);
    assert_ptr_equal(dialects_find(&dialects, "karafka"), dialect_preset(span_of_text("karafka")));
    assert_null(dialects_find(&dialects, "nobody"));
    dialects_free(&dialects);
    config_free(config);
}

static void test_changes_are_named(void **state)
{
    (void)state;
    static const char *const before = HEAD "sources: [{topic: in, default_target: out, dialects: [mine]}]\ndialects: {mine: {headers: {X: delay}}}\n";
    static const char *const after = HEAD "sources: [{topic: in, default_target: out, dialects: [mine, tarry]}]\n"
                                          "dialects: {mine: {headers: {X: delay_s}, id_from_key: true}}\nhistory: {topic: h}\n";
    static const char *const paths[] = {"history.topic", "sources[0].dialects", "dialects.mine.headers", "dialects.mine.id_from_key"};
    struct config *a = config_text_good(before);
    struct config *b = config_text_good(after);
    struct config_changes changes = config_diff(a, b);
    assert_int_equal(changes.count, 4);
    for (size_t i = 0; i < changes.count; i++) {
        assert_string_equal(changes.items[i].path, paths[i]);
        assert_false(changes.items[i].reloadable);
    }
    free(changes.items);
    config_free(a);
    config_free(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_is_wrong),
        cmocka_unit_test(test_what_is_strange),
        cmocka_unit_test(test_dialects_are_made),
        cmocka_unit_test(test_changes_are_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
