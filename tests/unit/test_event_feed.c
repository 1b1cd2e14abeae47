/* The ring of events: filters, what was missed, who comes back, and a writer that waits for nobody. */
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ops/clock.h"
#include "ops/event_feed.h"

static const struct event_feed_filter any;

/* The clock that the feed sees. */
static atomic_llong now_ms = 1000;

struct mono_ms clock_mono(void)
{
    return (struct mono_ms){now_ms};
}

static struct event_feed *new_feed(void)
{
    struct error error;
    struct event_feed *feed = event_feed_new(&error);
    assert_non_null(feed);
    return feed;
}

static struct event_feed_reader *open_reader(struct event_feed *feed, const char *after, const struct event_feed_filter *filter)
{
    struct error error;
    struct event_feed_reader *reader = NULL;
    assert_true(event_feed_open(feed, span_of_text(after), filter, &reader, &error));
    return reader;
}

static void add(struct event_feed *feed, const char *outcome, const char *id, const char *target, int number)
{
    char json[64];
    (void)snprintf(json, sizeof(json), "{\"n\":%d}", number);
    event_feed_add(feed, outcome, span_of_text(id), span_of_text(target), span_of_text(json));
}

/* What is read with this bound, as a text that the next call replaces. */
static const char *read_text(struct event_feed_reader *reader, size_t most)
{
    static struct buffer text;
    buffer_free(&text);
    text = buffer_new((size_t)64 << 20);
    bool some = event_feed_read(reader, most, &text);
    assert_int_equal(some, text.length > 0);
    buffer_add(&text, "", 1);
    assert_false(text.full);
    return (const char *)text.data;
}

static int count_of(const char *text, const char *part)
{
    int count = 0;
    for (const char *at = text; (at = strstr(at, part)) != NULL; at++) {
        count++;
    }
    return count;
}

/* The id of the last line in the text. */
static void last_id(const char *text, char id[64])
{
    const char *at = NULL;
    for (const char *next = text; (next = strstr(next, "id: ")) != NULL; next++) {
        at = next;
    }
    assert_non_null(at);
    size_t length = strcspn(at + 4, "\n");
    assert_true(length < 64);
    memcpy(id, at + 4, length);
    id[length] = '\0';
}

static void test_nobody_watches(void **state)
{
    (void)state;
    struct event_feed *feed = new_feed();
    assert_false(event_feed_watched(feed));
    struct event_feed_reader *reader = open_reader(feed, NULL, &any);
    assert_true(event_feed_watched(feed));
    event_feed_close(reader);
    assert_true(event_feed_watched(feed)); /* for who comes back */
    event_feed_free(feed);
    event_feed_free(NULL);
}

static void test_lines(void **state)
{
    (void)state;
    struct event_feed *feed = new_feed();
    struct event_feed_reader *reader = open_reader(feed, NULL, &any);
    struct pollfd poll_fd = {event_feed_fd(feed), POLLIN, 0};
    assert_string_equal(read_text(reader, 65536), "");
    assert_int_equal(poll(&poll_fd, 1, 0), 0);
    add(feed, "delivered", "a", "orders", 1);
    assert_int_equal(poll(&poll_fd, 1, 0), 1);
    add(feed, "cancelled", NULL, NULL, 2);
    event_feed_clear(feed);
    assert_int_equal(poll(&poll_fd, 1, 0), 0);
    const char *text = read_text(reader, 65536);
    assert_int_equal(strncmp(text, "id: ", 4), 0);
    assert_non_null(strstr(text, "-1\nevent: delivered\ndata: {\"n\":1}\n\nid: "));
    assert_non_null(strstr(text, "-2\nevent: cancelled\ndata: {\"n\":2}\n\n"));
    assert_string_equal(read_text(reader, 65536), "");
    event_feed_close(reader);
    event_feed_free(feed);
}

static void test_filters(void **state)
{
    (void)state;
    struct event_feed *feed = new_feed();
    struct event_feed_filter by_id = {.id = span_of_text("a")};
    struct event_feed_filter by_target = {.target = span_of_text("orders"), .outcome = span_of_text("delivered")};
    struct event_feed_filter by_empty = {.id = span_of_text("")};
    struct event_feed_reader *readers[] = {open_reader(feed, NULL, &by_id), open_reader(feed, NULL, &by_target), open_reader(feed, NULL, &by_empty)};
    add(feed, "delivered", "a", "orders", 1);
    add(feed, "delivered", "b", "orders", 2);
    add(feed, "cancelled", "a", NULL, 3);
    add(feed, "cancelled", NULL, "orders", 4);
    add(feed, "expired", "aa", "order", 5);
    const char *text = read_text(readers[0], 65536);
    assert_int_equal(count_of(text, "data:"), 2);
    assert_non_null(strstr(text, "{\"n\":1}"));
    assert_non_null(strstr(text, "{\"n\":3}"));
    text = read_text(readers[1], 65536);
    assert_int_equal(count_of(text, "data:"), 2);
    assert_non_null(strstr(text, "{\"n\":2}"));
    assert_string_equal(read_text(readers[2], 65536), "");
    for (size_t i = 0; i < 3; i++) {
        event_feed_close(readers[i]);
    }
    event_feed_free(feed);
}

/* Whole lines within the bound; one that is longer, alone. */
static void test_bound(void **state)
{
    (void)state;
    struct event_feed *feed = new_feed();
    struct event_feed_reader *reader = open_reader(feed, NULL, &any);
    for (int i = 0; i < 100; i++) {
        add(feed, "delivered", "a", "orders", 100 + i);
    }
    size_t one = strlen(read_text(reader, 1));
    assert_int_equal(count_of(read_text(reader, one * 3), "data:"), 3);
    assert_int_equal(count_of(read_text(reader, one * 4 - 1), "data:"), 3);
    assert_int_equal(count_of(read_text(reader, 65536), "data:"), 93);
    event_feed_close(reader);
    event_feed_free(feed);
}

static void test_missed(void **state)
{
    (void)state;
    struct event_feed *feed = new_feed();
    struct event_feed_reader *reader = open_reader(feed, NULL, &any);
    for (int i = 0; i < EVENT_FEED_LINES + 10; i++) {
        add(feed, "delivered", "a", "orders", i);
    }
    const char *text = read_text(reader, (size_t)32 << 20);
    assert_int_equal(strncmp(text, "event: missed\ndata: {\"missed\":10}\n\nid: ", 39), 0);
    assert_int_equal(count_of(text, "data:"), EVENT_FEED_LINES + 1);
    assert_non_null(strstr(text, "{\"n\":10}"));
    assert_null(strstr(text, "{\"n\":9}"));
    /* By bytes, too. */
    char *large = calloc(1, ((size_t)1 << 20) + 1);
    assert_non_null(large);
    memset(large, 'x', (size_t)1 << 20);
    for (int i = 0; i < 12; i++) {
        event_feed_add(feed, "delivered", SPAN_ABSENT, SPAN_ABSENT, span_of_text(large));
    }
    text = read_text(reader, (size_t)64 << 20);
    assert_int_equal(count_of(text, "event: delivered"), 7); /* with their names eight are more than the bound */
    assert_non_null(strstr(text, "{\"missed\":5}"));
    free(large);
    event_feed_close(reader);
    event_feed_free(feed);
}

static void test_coming_back(void **state)
{
    (void)state;
    char id[64];
    struct event_feed *feed = new_feed();
    struct event_feed_reader *reader = open_reader(feed, NULL, &any);
    add(feed, "delivered", "a", NULL, 1);
    last_id(read_text(reader, 65536), id);
    event_feed_close(reader);
    add(feed, "delivered", "b", NULL, 2);
    reader = open_reader(feed, id, &any);
    assert_non_null(strstr(read_text(reader, 65536), "{\"n\":2}"));
    assert_string_equal(read_text(reader, 65536), "");
    event_feed_close(reader);
    reader = open_reader(feed, NULL, &any); /* from now on */
    assert_string_equal(read_text(reader, 65536), "");
    event_feed_close(reader);
    /* Of another recording, or none of ours: nobody knows how much was missed, and what is here comes. */
    char later[80];
    (void)snprintf(later, sizeof(later), "%s9", id);
    const char *const strange[] = {"", "0123456789abcdef-1", "1", later, "0123456789abcdef", "-", "0123456789abcdef-x", "0123456789abcdef-99999999999999999999"};
    for (size_t i = 0; i < sizeof(strange) / sizeof(strange[0]); i++) {
        reader = open_reader(feed, strange[i], &any);
        const char *text = read_text(reader, 65536);
        assert_int_equal(strncmp(text, "event: missed\ndata: {\"missed\":null}\n\nid: ", 41), 0);
        assert_int_equal(count_of(text, "event: delivered"), 2);
        event_feed_close(reader);
    }
    for (int i = 0; i < EVENT_FEED_LINES + 5; i++) {
        add(feed, "delivered", "a", NULL, i);
    }
    reader = open_reader(feed, id, &any); /* ours, and gone */
    assert_int_equal(strncmp(read_text(reader, 65536), "event: missed\ndata: {\"missed\":6}\n\n", 34), 0);
    event_feed_close(reader);
    event_feed_free(feed);
}

/* A minute after the last reader recording ends; who comes back later is told that something may be missing, and nothing old. */
static void test_lapse(void **state)
{
    (void)state;
    char id[64];
    char later_id[64];
    struct event_feed *feed = new_feed();
    struct event_feed_reader *reader = open_reader(feed, NULL, &any);
    add(feed, "delivered", "a", NULL, 1);
    last_id(read_text(reader, 65536), id);
    now_ms += 1000000;
    assert_true(event_feed_watched(feed));
    event_feed_close(reader);
    now_ms += 59999;
    assert_true(event_feed_watched(feed));
    add(feed, "delivered", "b", NULL, 2);
    reader = open_reader(feed, id, &any);
    assert_null(strstr(read_text(reader, 65536), "missed"));
    event_feed_close(reader);
    now_ms += 60000;
    assert_false(event_feed_watched(feed));
    reader = open_reader(feed, id, &any);
    assert_true(event_feed_watched(feed));
    assert_string_equal(read_text(reader, 65536), "event: missed\ndata: {\"missed\":null}\n\n");
    add(feed, "delivered", "c", NULL, 3);
    const char *text = read_text(reader, 65536);
    last_id(text, later_id);
    assert_int_not_equal(strncmp(id, later_id, 16), 0);
    assert_int_equal(count_of(text, "data:"), 1);
    event_feed_close(reader);
    event_feed_free(feed);
}

static void test_too_many(void **state)
{
    (void)state;
    struct error error;
    struct event_feed *feed = new_feed();
    struct event_feed_reader *readers[EVENT_FEED_READERS_MAX];
    struct event_feed_reader *one_more = NULL;
    for (size_t i = 0; i < EVENT_FEED_READERS_MAX; i++) {
        readers[i] = open_reader(feed, NULL, &any);
    }
    assert_false(event_feed_open(feed, SPAN_ABSENT, &any, &one_more, &error));
    assert_int_equal(error.code, ERROR_FULL);
    event_feed_close(readers[3]);
    readers[3] = open_reader(feed, NULL, &any);
    for (size_t i = 0; i < EVENT_FEED_READERS_MAX; i++) {
        event_feed_close(readers[i]);
    }
    event_feed_free(feed);
}

#define WRITTEN 50000

static void *write_all(void *context)
{
    for (int i = 0; i < WRITTEN; i++) {
        if (event_feed_watched(context)) {
            add(context, "delivered", "a", "orders", i);
        }
    }
    return NULL;
}

/* A thread writes as fast as it can: each line is read, or counted as missed. */
static void test_threads(void **state)
{
    (void)state;
    struct event_feed *feed = new_feed();
    struct event_feed_reader *reader = open_reader(feed, NULL, &any);
    pthread_t writer;
    struct buffer text = buffer_new((size_t)1 << 20);
    long seen = 0;
    assert_int_equal(pthread_create(&writer, NULL, write_all, feed), 0);
    while (seen < WRITTEN) {
        struct pollfd poll_fd = {event_feed_fd(feed), POLLIN, 0};
        assert_int_equal(poll(&poll_fd, 1, 20000), 1);
        event_feed_clear(feed);
        for (buffer_clear(&text); event_feed_read(reader, 65536, &text); buffer_clear(&text)) {
            buffer_add(&text, "", 1);
            seen += count_of((const char *)text.data, "event: delivered");
            const char *missed = strstr((const char *)text.data, "{\"missed\":");
            seen += missed == NULL ? 0 : strtol(missed + 10, NULL, 10);
        }
    }
    assert_int_equal(seen, WRITTEN);
    assert_int_equal(pthread_join(writer, NULL), 0);
    buffer_free(&text);
    event_feed_close(reader);
    event_feed_free(feed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nobody_watches), cmocka_unit_test(test_lines),       cmocka_unit_test(test_filters),  cmocka_unit_test(test_bound),
        cmocka_unit_test(test_missed),         cmocka_unit_test(test_coming_back), cmocka_unit_test(test_lapse),   cmocka_unit_test(test_too_many), cmocka_unit_test(test_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
