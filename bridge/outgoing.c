#include "bridge/outgoing.h"

#include <inttypes.h>
#include <stdio.h>

#define ROOT "tarry-root"
#define NOT_BEFORE "tarry-not-before"
#define ROOT_TEXT_MAX 352 /* 249 bytes of topic and four numbers */

struct out {
    outgoing_fn *add;
    void *context;
};

static void add_text(const struct out *out, const char *name, const char *value)
{
    out->add(out->context, span_of_text(name), span_of_text(value));
}

typedef bool drop_fn(struct span name);

static bool is_not_before(struct span name)
{
    return span_equals_text(name, NOT_BEFORE);
}

/* What stands on copies alone. */
static bool is_of_copies(struct span name)
{
    return span_equals_text(name, ROOT) || is_not_before(name);
}

/* The row's own headers in order, less those to drop. False: damaged. */
static bool add_own(const struct out *out, const struct row *row, drop_fn *drop)
{
    struct span rest = row->headers;
    struct record_header header;
    bool damaged = false;
    while (row_next_header(&rest, &header, &damaged)) {
        if (!drop(header.name)) {
            out->add(out->context, header.name, header.value);
        }
    }
    return !damaged;
}

bool outgoing_accepted(const struct row *row, const struct sink_origin *origin, enum output_headers style, outgoing_fn *add, void *context)
{
    struct out out = {add, context};
    char place[320]; /* 249 bytes of topic and two numbers */
    char due[24];
    if (!add_own(&out, row, decode_is_control_header)) {
        return false;
    }
    if (style == OUTPUT_HEADERS_NONE) {
        return true;
    }
    snprintf(place, sizeof place, "%s/%" PRId32 "/%" PRId64, origin->topic, origin->partition, origin->offset);
    snprintf(due, sizeof due, "%" PRId64, origin->due_ms);
    add(context, span_of_text("tarry-id"), row->decoded.id.data == NULL ? span_of_text(place) : row->decoded.id);
    add_text(&out, "tarry-due", due);
    add_text(&out, "tarry-source", place);
    return true;
}

bool outgoing_refused(const struct row *row, outgoing_fn *add, void *context)
{
    struct out out = {add, context};
    return add_own(&out, row, row->root >= 0 ? is_of_copies : is_not_before);
}

/* ------------------------------------------------------------------------------------------------- copies */

/* "<offset>:<timestamp>" of the record that a person wrote. */
static int write_root(char text[ROOT_TEXT_MAX], const struct row *row, const struct sink_origin *origin)
{
    bool copy_of_copy = row->root >= 0;
    return snprintf(text, ROOT_TEXT_MAX, "%" PRId64 ":%" PRId64, copy_of_copy ? row->root : origin->offset,
                    copy_of_copy ? row->root_timestamp_ms : row->record.timestamp_ms);
}

static void add_root(const struct out *out, const struct row *row, const struct sink_origin *origin)
{
    char text[ROOT_TEXT_MAX];
    (void)write_root(text, row, origin);
    add_text(out, ROOT, text);
}

/* When it is to be looked at again, if that is later than due_ms, which stands elsewhere. */
static void add_not_before(const struct out *out, const struct sink_origin *origin, int64_t due_ms)
{
    char text[24];
    if (origin->due_ms > due_ms) {
        snprintf(text, sizeof text, "%" PRId64, origin->due_ms);
        add_text(out, NOT_BEFORE, text);
    }
}

static size_t count_roots(const struct row *row)
{
    struct span rest = row->headers;
    struct record_header header;
    bool damaged = false;
    size_t count = 0;
    while (row_next_header(&rest, &header, &damaged)) {
        count += span_equals_text(header.name, ROOT);
    }
    return count;
}

/* What a refused record's root says stands as it is: it may hold what was decided once. And a root that was refused must not become a good one by
 * being written again: two of them are refused, too. So are those of a record whose body is not here: it must not pass for an empty event. */
static bool add_refused(const struct out *out, const struct row *row, const struct sink_origin *origin)
{
    bool never_good = row->refusal.reason == REFUSAL_TOO_LARGE || row->refusal.reason == REFUSAL_BAD_ROOT;
    if (!add_own(out, row, is_not_before)) {
        return false;
    }
    for (size_t count = count_roots(row); count < (never_good ? 2u : 1u); count++) {
        add_root(out, row, origin);
    }
    add_not_before(out, origin, DUE_SINCE_EVER);
    return true;
}

static bool add_accepted(const struct out *out, const struct row *row, const struct sink_origin *origin)
{
    const struct decoded *decoded = &row->decoded;
    char text[ROOT_TEXT_MAX];
    if (!add_own(out, row, is_of_copies)) {
        return false;
    }
    int length = write_root(text, row, origin);
    length += snprintf(text + length, sizeof text - (size_t)length, ":%" PRId64 ":%.*s", decoded->due_ms, (int)decoded->target.length,
                       (const char *)decoded->target.data);
    if (decoded->partition >= 0 && (size_t)length < sizeof text) {
        snprintf(text + length, sizeof text - (size_t)length, ":%" PRId32, decoded->partition);
    }
    add_text(out, ROOT, text);
    add_not_before(out, origin, decoded->due_ms);
    return true;
}

bool outgoing_copied(const struct row *row, const struct sink_origin *origin, outgoing_fn *add, void *context)
{
    struct out out = {add, context};
    return row->refused ? add_refused(&out, row, origin) : add_accepted(&out, row, origin);
}
