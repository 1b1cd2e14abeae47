/* Headers that tell of a failure: see failure_headers.h. */
#include "dlq/failure_headers.h"

#include <inttypes.h>
#include <stdio.h>

#define OURS "__dlq.errors."

static const char *const prefixes[] = {OURS, "__connect.errors.", "__streams.errors.", "kafka_dlt-"};

bool failure_headers_is(struct span name)
{
    if (span_equals_text(name, FAILURE_HEADERS_REDELIVERY) || span_equals_text(name, FAILURE_HEADERS_REPLAYS)) {
        return true;
    }
    for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++) {
        size_t length = strlen(prefixes[i]);
        if (name.length >= length && memcmp(name.data, prefixes[i], length) == 0) {
            return true;
        }
    }
    return false;
}

void failure_headers_strip(struct buffer *out, struct span headers)
{
    struct span name, value;
    while (letter_next_header(&headers, &name, &value)) {
        if (!failure_headers_is(name)) {
            letter_add_header(out, name, value);
        }
    }
}

static void add_text(struct buffer *out, const char *name, struct span text)
{
    if (text.length > 0) {
        letter_add_header(out, span_of_text(name), text);
    }
}

static void add_number(struct buffer *out, const char *name, int64_t number)
{
    char text[24];
    (void)snprintf(text, sizeof(text), "%" PRId64, number);
    if (number >= 0) {
        letter_add_header(out, span_of_text(name), span_of_text(text));
    }
}

void failure_headers_add(struct buffer *out, const struct letter *letter, enum failure_headers_way way)
{
    bool redelivered = way == FAILURE_HEADERS_REDELIVERED;
    failure_headers_strip(out, letter->record.headers);
    add_text(out, OURS "topic", letter->origin.topic);
    add_number(out, OURS "partition", letter->origin.partition);
    add_number(out, OURS "offset", letter->origin.offset);
    add_text(out, OURS "group", letter->group);
    if (redelivered) {
        add_number(out, OURS "delivery.count", letter->attempt);
    }
    add_text(out, OURS "message", letter->error);
    if (redelivered) {
        add_number(out, FAILURE_HEADERS_REDELIVERY, letter->attempt);
    }
    if (letter->replays > 0) {
        add_number(out, FAILURE_HEADERS_REPLAYS, letter->replays);
    }
}
