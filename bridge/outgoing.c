#include "bridge/outgoing.h"

#include <inttypes.h>
#include <stdio.h>

#include "bridge/time_text.h"

#define ROOT "tarry-root"
#define NOT_BEFORE "tarry-not-before"
#define RUNS "tarry-runs"
#define REQUEST "tarry-request"
#define ROOT_TEXT_MAX 352 /* 249 bytes of topic and four numbers */

struct out {
    outgoing_fn *add;
    void *context;
};

static void add_text(const struct out *out, const char *name, const char *value)
{
    out->add(out->context, span_of_text(name), span_of_text(value));
}

static void add_number(const struct out *out, const char *name, int64_t number)
{
    char text[24];
    snprintf(text, sizeof text, "%" PRId64, number);
    add_text(out, name, text);
}

/* `about` is the drop's own. */
typedef bool drop_fn(const void *about, struct span name);

static bool is_not_before(const void *about, struct span name)
{
    (void)about;
    return span_equals_text(name, NOT_BEFORE);
}

/* What is between tarry and who asked it to write the record. */
static bool is_between_us(const void *about, struct span name)
{
    return span_equals_text(name, REQUEST) || is_not_before(about, name);
}

/* What stands on copies alone. */
static bool is_of_copies(const void *about, struct span name)
{
    return span_equals_text(name, ROOT) || span_equals_text(name, RUNS) || is_not_before(about, name);
}

static bool is_ours_of_copies(const void *about, struct span name)
{
    return is_of_copies(about, name) || is_between_us(about, name);
}

#define ETF1_TIMESTAMP "scheduler-timestamp"
#define ETF1_KEY "scheduler-key"
#define ETF1_TOPIC "scheduler-topic"

struct leaving {
    const struct decode_rules *rules; /* NULL: tarry's own names alone are control headers */
    enum output_headers style;
};

/* Control headers, and those that the style is about to write anew. */
static bool stays_here(const void *about, struct span name)
{
    const struct leaving *leaving = about;
    const struct decode_rules *rules = leaving->rules;
    if (leaving->style == OUTPUT_HEADERS_ETF1 &&
        (span_equals_text(name, ETF1_TIMESTAMP) || span_equals_text(name, ETF1_KEY) || span_equals_text(name, ETF1_TOPIC))) {
        return true;
    }
    return rules == NULL ? decode_is_control_header(name) : dialect_owned(rules->dialects, rules->dialect_count, name);
}

/* The row's own headers in order, less those to drop. False: damaged. */
static bool add_own(const struct out *out, const struct row *row, drop_fn *drop, const void *about)
{
    struct span rest = row->headers;
    struct record_header header;
    bool damaged = false;
    while (row_next_header(&rest, &header, &damaged)) {
        if (!drop(about, header.name)) {
            out->add(out->context, header.name, header.value);
        }
    }
    return !damaged;
}

static void add_place(const struct out *out, const struct row *row, const struct sink_origin *origin)
{
    char place[320]; /* 249 bytes of topic and two numbers */
    snprintf(place, sizeof place, "%s/%" PRId32 "/%" PRId64, origin->topic, origin->partition, origin->offset);
    out->add(out->context, span_of_text("tarry-id"), row->decoded.id.data == NULL ? span_of_text(place) : row->decoded.id);
    add_number(out, "tarry-due", origin->due_ms);
    add_text(out, "tarry-source", place);
}

/* Of the record that a person wrote. One without timestamp says none. */
static void add_etf1(const struct out *out, const struct row *row, const struct sink_origin *origin)
{
    int64_t timestamp_ms = row->root >= 0 ? row->root_timestamp_ms : row->record.timestamp_ms;
    if (timestamp_ms >= 0) {
        add_number(out, ETF1_TIMESTAMP, timestamp_ms / 1000);
    }
    out->add(out->context, span_of_text(ETF1_KEY), row->record.key);
    add_text(out, ETF1_TOPIC, origin->topic);
}

bool outgoing_accepted(const struct row *row, const struct sink_origin *origin, enum output_headers style, outgoing_fn *add, void *context)
{
    struct out out = {add, context};
    const struct leaving leaving = {origin->rules, style};
    if (!add_own(&out, row, stays_here, &leaving)) {
        return false;
    }
    if (style == OUTPUT_HEADERS_TARRY) {
        add_place(&out, row, origin);
    } else if (style == OUTPUT_HEADERS_ETF1) {
        add_etf1(&out, row, origin);
    }
    return true;
}

bool outgoing_refused(const struct row *row, outgoing_fn *add, void *context)
{
    struct out out = {add, context};
    return add_own(&out, row, row->root >= 0 ? is_ours_of_copies : is_between_us, NULL);
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

/* When it is to be looked at again, if that is later than what stands elsewhere (due_ms). What is paused stays so until something else is said. */
static void add_not_before(const struct out *out, const struct row *row, const struct sink_origin *origin, const struct outgoing_again *again, int64_t due_ms)
{
    if (again != NULL && again->not_before_ms > 0) {
        add_number(out, NOT_BEFORE, again->not_before_ms);
    } else if (again == NULL && row->decoded.paused) {
        add_number(out, NOT_BEFORE, TIME_TEXT_LAST_MS);
    } else if (again == NULL && origin->due_ms > due_ms) {
        add_number(out, NOT_BEFORE, origin->due_ms);
    }
}

static void add_runs(const struct out *out, const struct row *row, const struct outgoing_again *again)
{
    int64_t runs = again == NULL || again->runs < 0 ? row->decoded.recurrence.runs : again->runs;
    if (runs > 0) {
        add_number(out, RUNS, runs);
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
static bool add_refused(const struct out *out, const struct row *row, const struct sink_origin *origin, const struct outgoing_again *again)
{
    bool never_good = row->refusal.reason == REFUSAL_TOO_LARGE || row->refusal.reason == REFUSAL_BAD_ROOT;
    if (!add_own(out, row, is_not_before, NULL)) {
        return false;
    }
    for (size_t count = count_roots(row); count < (never_good ? 2u : 1u); count++) {
        add_root(out, row, origin);
    }
    add_not_before(out, row, origin, again, DUE_SINCE_EVER);
    return true;
}

static void add_decided(const struct out *out, const struct row *row, const struct sink_origin *origin, const struct outgoing_again *again)
{
    const struct decoded *decoded = &row->decoded;
    char text[ROOT_TEXT_MAX];
    int length = write_root(text, row, origin);
    length += snprintf(text + length, sizeof text - (size_t)length, ":%" PRId64 ":%.*s", again == NULL ? decoded->due_ms : again->due_ms,
                       (int)decoded->target.length, (const char *)decoded->target.data);
    if (decoded->partition >= 0 && (size_t)length < sizeof text) {
        snprintf(text + length, sizeof text - (size_t)length, ":%" PRId32, decoded->partition);
    }
    add_text(out, ROOT, text);
    add_not_before(out, row, origin, again, decoded->due_ms);
    add_runs(out, row, again);
}

bool outgoing_copied(const struct row *row, const struct sink_origin *origin, const struct outgoing_again *again, outgoing_fn *add, void *context)
{
    struct out out = {add, context};
    if (row->refused) {
        return add_refused(&out, row, origin, again);
    }
    if (!add_own(&out, row, is_of_copies, NULL)) {
        return false;
    }
    if (!row->decoded.undecided || again != NULL) {
        add_decided(&out, row, origin, again);
    } else {
        add_root(&out, row, origin);
        add_not_before(&out, row, origin, NULL, DUE_SINCE_EVER);
    }
    return true;
}
