#include "support/sink_watch.h"

#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"

void sink_watch_open(struct sink_watch *watch, const char *bootstrap, const char *const *properties)
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
    struct sink_options options = {.properties = list, .property_count = count, .instance = "i-0", .wake_fd = -1};
    struct error error;
    *watch = (struct sink_watch){0};
    if (!sink_open(&options, &watch->sink, &error)) {
        fail_msg("sink_open: %s", error.text);
    }
}

void sink_watch_close(struct sink_watch *watch)
{
    sink_close(watch->sink);
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
    return (struct sink_origin){.topic = "in", .partition = 1, .offset = row->offset, .due_ms = row->due_ms, .group = "g"};
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
                              .value = row->value, .id = row->id};
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

void sink_watch_send_refused(struct sink_watch *watch, const char *refused_topic, const struct sink_watch_row *row,
                             const struct refusal *refusal)
{
    struct record record = record_of(row);
    struct buffer buffer = buffer_new(100000000);
    struct row stored;
    assert_true(row_encode_refused(&buffer, &record, refusal, NULL));
    decode(&buffer, &stored);
    struct sink_origin origin = origin_of(row);
    struct sink_report *report = room_for_one(watch);
    enum sink_result result = sink_send_refused(watch->sink, refused_topic, &stored, &origin, &stored.refusal, (void *)++watch->next_token, report);
    watch->count += result == SINK_FAILED;
    assert_int_not_equal(result, SINK_FULL);
    buffer_free(&buffer);
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
