#include "support/sink_watch.h"

#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/memory.h"

static void open_with(struct sink_watch *watch, const char *bootstrap, const char *const *properties, struct sink_options options)
{
    struct kafka_property list[32] = {{"bootstrap.servers", bootstrap}};
    char names[32][64];
    size_t count = 1;
    for (size_t i = 0; properties != NULL && properties[i] != NULL; i++) {
        const char *equals = strchr(properties[i], '=');
        assert_non_null(equals);
        assert_true(count < 32);
        snprintf(names[count], sizeof names[count], "%.*s", (int)(equals - properties[i]), properties[i]);
        list[count] = (struct kafka_property){names[count], equals + 1};
        count++;
    }
    options.properties = list;
    options.property_count = count;
    options.instance = "i-0";
    struct error error;
    *watch = (struct sink_watch){.wake_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)};
    assert_true(watch->wake_fd >= 0);
    options.wake_fd = watch->wake_fd;
    if (!sink_open(&options, &watch->sink, &error)) {
        fail_msg("sink_open: %s", error.text);
    }
}

void sink_watch_open(struct sink_watch *watch, const char *bootstrap, const char *const *properties)
{
    open_with(watch, bootstrap, properties, (struct sink_options){0});
}

void sink_watch_open_transactions(struct sink_watch *watch, const char *bootstrap, const char *const *properties, const char *id,
                                  bool exactly_once, int64_t timeout_ms)
{
    struct sink_options options = {.transactional_id = id, .exactly_once = exactly_once, .transaction_timeout_ms = timeout_ms};
    open_with(watch, bootstrap, properties, options);
}

void sink_watch_close(struct sink_watch *watch)
{
    if (watch->sink != NULL) {
        sink_close(watch->sink);
        close(watch->wake_fd);
    }
    free(watch->reports);
    *watch = (struct sink_watch){0};
}

static struct sink_report *room_for_one(struct sink_watch *watch)
{
    if (watch->count == watch->room) {
        watch->room = watch->room == 0 ? 64 : watch->room * 2;
        watch->reports = memory_resize(watch->reports, watch->room, sizeof *watch->reports);
    }
    return &watch->reports[watch->count];
}

static struct record record_of(const struct sink_watch_row *row)
{
    return (struct record){.key = row->key, .value = row->value, .headers = row->headers, .header_count = row->header_count,
                           .offset = row->offset, .timestamp_ms = row->timestamp_ms, .timestamp = RECORD_TIMESTAMP_CREATE};
}

static struct sink_origin origin_of(const struct sink_watch_row *row)
{
    return (struct sink_origin){.topic = "in", .partition = 1, .offset = row->offset, .due_ms = row->due_ms};
}

/* Through the row's encoding, as in production. */
static void decode(struct buffer *buffer, struct row *row)
{
    struct error error;
    assert_true(row_decode(buffer_span(buffer), row, &error));
}

enum sink_result sink_watch_try(struct sink_watch *watch, const struct sink_watch_row *row, enum output_headers style)
{
    struct record record = record_of(row);
    struct decoded decoded = {.due_ms = row->due_ms, .target = span_of_text(row->target), .partition = row->partition, .key = row->key,
                              .value = row->value, .id = row->id, .root = -1, .root_timestamp_ms = -1};
    struct buffer buffer = buffer_new(100000000);
    struct row stored;
    assert_true(row_encode(&buffer, &record, &decoded, NULL));
    decode(&buffer, &stored);
    struct sink_origin origin = origin_of(row);
    struct sink_report *report = room_for_one(watch);
    /* the token is a number here; the sink only carries it */
    void *token = (void *)++watch->next_token;
    enum sink_result result = sink_send(watch->sink, &stored, &origin, style, token, report);
    watch->count += result == SINK_FAILED;
    buffer_free(&buffer);
    return result;
}

void sink_watch_send(struct sink_watch *watch, const struct sink_watch_row *row, enum output_headers style)
{
    assert_int_not_equal(sink_watch_try(watch, row, style), SINK_FULL);
}

const struct sink_report *sink_watch_until(struct sink_watch *watch, size_t count, int timeout_ms)
{
    int64_t end = source_watch_clock() + timeout_ms;
    while (watch->count < count) {
        if (source_watch_clock() > end) {
            fail_msg("waited %d ms for %zu reports and saw %zu", timeout_ms, count, watch->count);
        }
        size_t got = sink_poll(watch->sink, room_for_one(watch), 1);
        watch->count += got;
        if (got == 0) {
            poll(NULL, 0, 2);
        }
    }
    return &watch->reports[count - 1];
}

/* ------------------------------------------------------------------------------------------------- transactions */

static void poll_reports(struct sink_watch *watch)
{
    size_t got = sink_poll(watch->sink, room_for_one(watch), 1);
    watch->count += got;
    if (got == 0) {
        poll(NULL, 0, 1);
    }
}

static void fail_if_fatal(struct sink_watch *watch)
{
    char text[700];
    if (sink_fatal(watch->sink, text, sizeof text)) {
        fail_msg("the sink is at its end: %s", text);
    }
}

void sink_watch_start(struct sink_watch *watch)
{
    struct error error;
    if (!sink_transaction_start(watch->sink, &error)) {
        fail_msg("sink_transaction_start: %s", error.text);
    }
}

int sink_watch_wake_fd(const struct sink_watch *watch)
{
    return watch->wake_fd;
}

void sink_watch_take(struct sink_watch *watch)
{
    size_t got;
    while ((got = sink_poll(watch->sink, room_for_one(watch), 1)) > 0) {
        watch->count += got;
    }
}

void sink_watch_trouble(struct sink_watch *watch, const char *word, int timeout_ms)
{
    int64_t end = source_watch_clock() + timeout_ms;
    while (strstr(sink_transaction_trouble(watch->sink), word) == NULL) {
        if (source_watch_clock() > end) {
            fail_msg("nothing with \"%s\" after %d ms; said is: %s", word, timeout_ms, sink_transaction_trouble(watch->sink));
        }
        poll_reports(watch);
    }
}

void sink_watch_ready(struct sink_watch *watch, int timeout_ms)
{
    int64_t end = source_watch_clock() + timeout_ms;
    while (!sink_transaction_ready(watch->sink)) {
        if (source_watch_clock() > end) {
            fail_msg("not ready after %d ms: %s", timeout_ms, sink_transaction_trouble(watch->sink));
        }
        fail_if_fatal(watch);
        poll_reports(watch);
    }
}

struct sink_transaction_result sink_watch_end(struct sink_watch *watch, bool abort, const struct sink_offset *offsets, size_t count,
                                              struct span members)
{
    struct sink_transaction_result result;
    sink_transaction_end(watch->sink, abort, offsets, count, members);
    int64_t end = source_watch_clock() + 60000;
    while (!sink_transaction_poll(watch->sink, &result)) {
        if (source_watch_clock() > end) {
            fail_msg("the transaction did not end");
        }
        fail_if_fatal(watch);
        poll_reports(watch);
    }
    return result;
}

const char *sink_watch_fatal(struct sink_watch *watch, int timeout_ms)
{
    static char text[700];
    struct sink_transaction_result result;
    int64_t end = source_watch_clock() + timeout_ms;
    while (!sink_fatal(watch->sink, text, sizeof text)) {
        if (source_watch_clock() > end) {
            fail_msg("not at its end after %d ms", timeout_ms);
        }
        assert_false(sink_transaction_poll(watch->sink, &result));
        poll_reports(watch);
    }
    return text;
}

static void copy(struct sink_watch *watch, const struct sink_watch_row *row, const char *topic, int32_t partition, int64_t root,
                 int64_t root_timestamp_ms, void *token)
{
    struct record record = record_of(row);
    struct decoded decoded = {.due_ms = row->due_ms, .target = span_of_text("elsewhere"), .partition = -1, .key = span_of_text("other key"),
                              .value = span_of_text("payload"), .root = root, .root_timestamp_ms = root_timestamp_ms};
    struct buffer buffer = buffer_new(100000000);
    struct row stored;
    assert_true(row_encode(&buffer, &record, &decoded, NULL));
    decode(&buffer, &stored);
    struct sink_origin origin = {.topic = topic, .partition = partition, .offset = row->offset, .due_ms = row->due_ms};
    sink_copy(watch->sink, &stored, &origin, NULL, token);
    buffer_free(&buffer);
}

void sink_watch_copy(struct sink_watch *watch, const struct sink_watch_row *row, const char *topic, int32_t partition, int64_t root,
                     int64_t root_timestamp_ms)
{
    copy(watch, row, topic, partition, root, root_timestamp_ms, NULL);
}

uintptr_t sink_watch_copy_told(struct sink_watch *watch, const struct sink_watch_row *row, const char *topic, int32_t partition)
{
    copy(watch, row, topic, partition, -1, -1, (void *)++watch->next_token);
    return watch->next_token;
}

void sink_watch_copy_refused(struct sink_watch *watch, const struct sink_watch_row *row, const struct refusal *refusal, const char *topic,
                             int32_t partition)
{
    struct record record = record_of(row);
    struct buffer buffer = buffer_new(100000000);
    struct row stored;
    assert_true(row_encode_refused(&buffer, &record, refusal, NULL));
    decode(&buffer, &stored);
    struct sink_origin origin = {.topic = topic, .partition = partition, .offset = row->offset, .due_ms = row->due_ms};
    sink_copy(watch->sink, &stored, &origin, NULL, NULL);
    buffer_free(&buffer);
}

const struct sink_report *sink_watch_report(const struct sink_watch *watch, uintptr_t token)
{
    for (size_t i = 0; i < watch->count; i++) {
        if (watch->reports[i].token == (void *)token) {
            return &watch->reports[i];
        }
    }
    fail_msg("no report on %zu", (size_t)token);
    return NULL;
}
