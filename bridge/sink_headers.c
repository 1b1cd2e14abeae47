#include "bridge/sink_headers.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const char dlq_prefix[] = "__dlq.errors.";

static void add(rd_kafka_headers_t *list, struct span name, struct span value)
{
    /* a NULL value is a null header; an empty one has bytes to point to and the length 0 */
    rd_kafka_header_add(list, (const char *)name.data, (ssize_t)name.length, value.data, (ssize_t)value.length);
}

static void add_text(rd_kafka_headers_t *list, const char *name, const char *value)
{
    rd_kafka_header_add(list, name, (ssize_t)strlen(name), value, (ssize_t)strlen(value));
}

static void add_number(rd_kafka_headers_t *list, const char *name, int64_t value)
{
    char text[24];
    snprintf(text, sizeof text, "%" PRId64, value);
    add_text(list, name, text);
}

typedef bool drop_fn(struct span name);

static bool is_dlq_header(struct span name)
{
    return name.length >= sizeof dlq_prefix - 1 && memcmp(name.data, dlq_prefix, sizeof dlq_prefix - 1) == 0;
}

static bool is_root_header(struct span name)
{
    return span_equals_text(name, "tarry-root");
}

/* The row's own headers in order, less those to drop. NULL: damaged. */
static rd_kafka_headers_t *own(const struct row *row, drop_fn *drop)
{
    rd_kafka_headers_t *list = rd_kafka_headers_new(row->record.header_count + 8);
    struct span rest = row->headers;
    struct record_header header;
    bool damaged = false;
    while (row_next_header(&rest, &header, &damaged)) {
        if (!drop(header.name)) {
            add(list, header.name, header.value);
        }
    }
    if (damaged) {
        rd_kafka_headers_destroy(list);
        return NULL;
    }
    return list;
}

rd_kafka_headers_t *sink_headers_accepted(const struct row *row, const struct sink_origin *origin, enum output_headers style)
{
    rd_kafka_headers_t *list = own(row, decode_is_control_header);
    if (list == NULL || style == OUTPUT_HEADERS_NONE) {
        return list;
    }
    char place[320]; /* 249 bytes of topic and two numbers */
    snprintf(place, sizeof place, "%s/%" PRId32 "/%" PRId64, origin->topic, origin->partition, origin->offset);
    struct span source = span_of_text(place);
    add(list, span_of_text("tarry-id"), row->decoded.id.data == NULL ? source : row->decoded.id);
    add_number(list, "tarry-due", origin->due_ms);
    add(list, span_of_text("tarry-source"), source);
    return list;
}

rd_kafka_headers_t *sink_headers_refused(const struct row *row, const struct sink_origin *origin, const struct refusal *refusal)
{
    rd_kafka_headers_t *list = own(row, is_dlq_header);
    if (list == NULL) {
        return NULL;
    }
    add_text(list, "__dlq.errors.topic", origin->topic);
    add_number(list, "__dlq.errors.partition", origin->partition);
    add_number(list, "__dlq.errors.offset", origin->offset);
    add_text(list, "__dlq.errors.group", origin->group);
    add_text(list, "__dlq.errors.delivery.count", "1");
    add_text(list, "__dlq.errors.message", refusal->text);
    add_text(list, "__dlq.errors.reason", refusal_name(refusal->reason));
    /* the copy carries the time of its own writing; relative delays count from this one */
    add_number(list, "__dlq.errors.timestamp", row->record.timestamp_ms);
    return list;
}

static bool is_none(struct span name)
{
    (void)name;
    return false;
}

/* "<offset>:<timestamp>" of the record that a person wrote. */
static int write_root(char *text, size_t size, const struct row *row, const struct sink_origin *origin)
{
    bool copy_of_copy = row->root >= 0;
    return snprintf(text, size, "%" PRId64 ":%" PRId64, copy_of_copy ? row->root : origin->offset,
                    copy_of_copy ? row->root_timestamp_ms : row->record.timestamp_ms);
}

/* What a refused record's root says stands as it is: it may hold what was decided once. And a root that was refused must not become a good one by
 * being written again: two of them are refused, too. */
static void add_root_of_refused(rd_kafka_headers_t *list, const struct row *row, const struct sink_origin *origin)
{
    char text[48];
    if (row->root < 0) {
        (void)write_root(text, sizeof text, row, origin);
        add_text(list, "tarry-root", text);
    }
    if (row->refusal.reason == REFUSAL_TOO_LARGE) { /* its body is not here: what is written again must not pass for an empty event */
        (void)write_root(text, sizeof text, row, origin);
        add_text(list, "tarry-root", text);
    }
}

static void add_root(rd_kafka_headers_t *list, const struct row *row, const struct sink_origin *origin)
{
    const struct decoded *decoded = &row->decoded;
    char text[352]; /* 249 bytes of topic and four numbers */
    int length = write_root(text, sizeof text, row, origin);
    length += snprintf(text + length, sizeof text - (size_t)length, ":%" PRId64 ":%.*s", decoded->due_ms, (int)decoded->target.length,
                       (const char *)decoded->target.data);
    if (decoded->partition >= 0 && (size_t)length < sizeof text) {
        snprintf(text + length, sizeof text - (size_t)length, ":%" PRId32, decoded->partition);
    }
    add_text(list, "tarry-root", text);
}

rd_kafka_headers_t *sink_headers_copied(const struct row *row, const struct sink_origin *origin)
{
    rd_kafka_headers_t *list = own(row, row->refused ? is_none : is_root_header);
    if (list == NULL) {
        return NULL;
    }
    if (row->refused) {
        add_root_of_refused(list, row, origin);
    } else {
        add_root(list, row, origin);
    }
    return list;
}
