/* Server-sent events: every way to cut them gives the same events. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cli/sse.h"

struct seen {
    char text[4096];
    size_t count;
    size_t most; /* then no more */
};

static bool on_event(void *context, const char *event, const char *data)
{
    struct seen *seen = context;
    size_t used = strlen(seen->text);
    (void)snprintf(seen->text + used, sizeof seen->text - used, "[%s|%s]", event, data);
    seen->count += 1;
    return seen->count != seen->most;
}

/* Feeds it in pieces of `step` bytes. */
static void check(const char *stream, const char *expected, const char *last_id)
{
    for (size_t step = 1; step <= strlen(stream); step++) {
        struct seen seen = {.text = ""};
        struct sse sse = sse_new(on_event, &seen);
        for (size_t at = 0; at < strlen(stream); at += step) {
            size_t left = strlen(stream) - at;
            assert_true(sse_take(&sse, stream + at, left < step ? left : step));
        }
        assert_string_equal(seen.text, expected);
        if (last_id == NULL) {
            assert_null(sse_last_id(&sse));
        } else {
            assert_string_equal(sse_last_id(&sse), last_id);
        }
        sse_free(&sse);
    }
}

static void test_forms(void **state)
{
    (void)state;
    check("data: a\n\n", "[message|a]", NULL);
    check("id: 1\nevent: delivered\ndata: {}\n\n", "[delivered|{}]", "1");
    check("data:a\ndata: b\ndata\n\n", "[message|a\nb\n]", NULL);
    check("data: a\r\n\r\ndata: b\r\rdata: c\n\n", "[message|a][message|b][message|c]", NULL);
    check(": still here\n\n: again\n\ndata: x\n\n", "[message|x]", NULL);
    check("event: only a name\n\ndata: next\n\n", "[message|next]", NULL);
    check("unknown: 1\nretry: 5\ndata: x\n\n", "[message|x]", NULL);
    check("data:  two blanks\n\n", "[message| two blanks]", NULL);
    check("\n\n\n", "", NULL);
}

static void test_ids_count_when_their_event_is_whole(void **state)
{
    (void)state;
    check("id: 1\ndata: a\n\nid: 2\ndata: b\n", "[message|a]", "1");
    check("id: 1\ndata: a\n\ndata: b\n\n", "[message|a][message|b]", "1");
    check("id: 1\n\n", "", "1");
    check("id: 1\n\nid: a\x01" "b\ndata: x\n\n", "[message|x]", "1"); /* would break a header */
    check("id: 1\n\nid\ndata: x\n\n", "[message|x]", NULL);           /* taken back */
}

static void test_restart_forgets_the_half(void **state)
{
    (void)state;
    struct seen seen = {.text = ""};
    struct sse sse = sse_new(on_event, &seen);
    assert_true(sse_take(&sse, "id: 1\ndata: a\n\nid: 2\ndata: b\nda", strlen("id: 1\ndata: a\n\nid: 2\ndata: b\nda")));
    sse_restart(&sse);
    assert_string_equal(sse_last_id(&sse), "1");
    assert_true(sse_take(&sse, "ta: c\n\ndata: d\n\n", strlen("ta: c\n\ndata: d\n\n")));
    assert_string_equal(seen.text, "[message|a][message|d]");
    sse_free(&sse);
}

static void test_no_more_is_taken_after_a_no(void **state)
{
    (void)state;
    struct seen seen = {.text = "", .most = 1};
    struct sse sse = sse_new(on_event, &seen);
    assert_false(sse_take(&sse, "data: a\n\ndata: b\n\n", strlen("data: a\n\ndata: b\n\n")));
    assert_false(sse_take(&sse, "data: c\n\n", strlen("data: c\n\n")));
    assert_string_equal(seen.text, "[message|a]");
    sse_free(&sse);
}

static void test_too_large_is_left_out(void **state)
{
    (void)state;
    struct seen seen = {.text = ""};
    struct sse sse = sse_new(on_event, &seen);
    size_t length = SSE_EVENT_MAX + 100;
    char *text = calloc(1, length);
    assert_non_null(text);
    memset(text, 'x', length);
    memcpy(text, "data: ", 6);
    assert_true(sse_take(&sse, text, length));
    assert_true(sse_take(&sse, "\n\ndata: after\n\n", strlen("\n\ndata: after\n\n")));
    for (size_t i = 0; i < 3; i++) { /* many lines together */
        assert_true(sse_take(&sse, text, length / 2));
        assert_true(sse_take(&sse, "\n", 1));
    }
    assert_true(sse_take(&sse, "\ndata: end\n\n", strlen("\ndata: end\n\n")));
    assert_string_equal(seen.text, "[message|after][message|end]");
    assert_int_equal(sse.left_out, 2);
    free(text);
    sse_free(&sse);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_forms),
        cmocka_unit_test(test_ids_count_when_their_event_is_whole),
        cmocka_unit_test(test_restart_forgets_the_half),
        cmocka_unit_test(test_no_more_is_taken_after_a_no),
        cmocka_unit_test(test_too_large_is_left_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
