#include "tests/support/ledger.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#include "base/memory.h"

#define NAME_MAX_BYTES 300
#define SHOWN_MAX 4
#define SHOWN_BYTES 400
#define DIGEST_START UINT64_C(14695981039346656037)

struct entry {
    char *source; /* topic/partition/offset; NULL: not known yet, and not in the table */
    char *topic;
    char *target;
    char *lane;
    int32_t partition;
    int64_t offset;
    int64_t due_ms;
    bool ordered;
    bool id_given;
    uint64_t key;
    uint64_t value;
    uint64_t headers;
    uint64_t id_digest;
    size_t received;
};

/* Outputs of one lane of one input partition in one output partition: their order is what counts. */
struct stream {
    size_t example; /* index of one of its entries */
    char *out_topic;
    int32_t out_partition;
    int64_t last_due_ms;
    int64_t last_offset;
};

struct ledger {
    struct entry *entries;
    size_t count;
    size_t room;
    size_t *table; /* open addressing: index + 1 of an entry */
    size_t table_size;
    struct stream *streams;
    size_t stream_count;
    size_t received;
    size_t repeats;
    int64_t lateness_max_ms;
    double lateness_sum_ms;
    size_t violations[LEDGER_KINDS];
    char shown[LEDGER_KINDS][SHOWN_MAX][SHOWN_BYTES];
};

static const char *const kind_names[LEDGER_KINDS] = {"missing",        "repeated",     "early",
                                                     "out of order",   "wrong bytes",  "wrong headers",
                                                     "wrong identity", "wrong target", "unknown"};

/* ------------------------------------------------------------------------------------------------- digests */

static uint64_t digest_bytes(uint64_t digest, const void *bytes, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        digest = (digest ^ ((const uint8_t *)bytes)[i]) * UINT64_C(1099511628211);
    }
    return digest;
}

static uint64_t digest_span(uint64_t digest, struct span span)
{
    uint64_t length = span.data == NULL ? UINT64_MAX : span.length;
    return digest_bytes(digest_bytes(digest, &length, sizeof(length)), span.data, span.length);
}

static bool has_name(const struct record_header *header, const char *name)
{
    return span_equals_text(header->name, name);
}

/* Names that are tarry's: none of them is passed on as it came. */
static bool is_control(const struct record_header *header)
{
    struct span name = header->name;
    return (name.length >= 6 && memcmp(name.data, "tarry-", 6) == 0) || has_name(header, "delay_ms");
}

static uint64_t digest_headers(const struct record_header *headers, size_t count)
{
    uint64_t digest = DIGEST_START;
    for (size_t i = 0; i < count; i++) {
        if (!is_control(&headers[i])) {
            digest = digest_span(digest_span(digest, headers[i].name), headers[i].value);
        }
    }
    return digest;
}

/* ------------------------------------------------------------------------------------------------- entries */

struct ledger *ledger_new(void)
{
    struct ledger *ledger = memory_new(1, sizeof(*ledger));
    ledger->table_size = 1024;
    ledger->table = memory_new(ledger->table_size, sizeof(*ledger->table));
    ledger->lateness_max_ms = INT64_MIN;
    return ledger;
}

void ledger_free(struct ledger *ledger)
{
    if (ledger == NULL) {
        return;
    }
    for (size_t i = 0; i < ledger->count; i++) {
        free(ledger->entries[i].source);
        free(ledger->entries[i].topic);
        free(ledger->entries[i].target);
        free(ledger->entries[i].lane);
    }
    for (size_t i = 0; i < ledger->stream_count; i++) {
        free(ledger->streams[i].out_topic);
    }
    free(ledger->entries);
    free(ledger->streams);
    free(ledger->table);
    free(ledger);
}

static size_t *table_place(const struct ledger *ledger, const char *source)
{
    size_t place = (size_t)digest_bytes(DIGEST_START, source, strlen(source)) % ledger->table_size;
    while (ledger->table[place] != 0 && strcmp(ledger->entries[ledger->table[place] - 1].source, source) != 0) {
        place = (place + 1) % ledger->table_size;
    }
    return &ledger->table[place];
}

static void table_grow(struct ledger *ledger)
{
    free(ledger->table);
    ledger->table_size *= 2;
    ledger->table = memory_new(ledger->table_size, sizeof(*ledger->table));
    for (size_t i = 0; i < ledger->count; i++) {
        if (ledger->entries[i].source != NULL) {
            *table_place(ledger, ledger->entries[i].source) = i + 1;
        }
    }
}

static char *copy_text(const char *text)
{
    return memory_text(text, strlen(text));
}

void ledger_place(struct ledger *ledger, size_t number, int64_t offset)
{
    char source[NAME_MAX_BYTES];
    struct entry *entry = &ledger->entries[number];
    assert_true(number < ledger->count && entry->source == NULL && offset >= 0);
    snprintf(source, sizeof(source), "%s/%d/%" PRId64, entry->topic, entry->partition, offset);
    size_t *place = table_place(ledger, source);
    assert_int_equal(*place, 0); /* the same source was entered before: the test is wrong */
    entry->source = copy_text(source);
    entry->offset = offset;
    entry->id_digest = entry->id_given ? entry->id_digest : digest_span(DIGEST_START, span_of_text(source));
    *place = number + 1;
}

size_t ledger_send(struct ledger *ledger, const struct ledger_sent *sent)
{
    if (ledger->count == ledger->room) {
        ledger->room = ledger->room == 0 ? 256 : ledger->room * 2;
        ledger->entries = memory_resize(ledger->entries, ledger->room, sizeof(*ledger->entries));
    }
    size_t number = ledger->count++;
    ledger->entries[number] = (struct entry){
        .topic = copy_text(sent->topic),
        .target = copy_text(sent->target),
        .lane = copy_text(sent->lane),
        .partition = sent->partition,
        .offset = -1,
        .due_ms = sent->due_ms,
        .ordered = sent->ordered,
        .key = digest_span(DIGEST_START, sent->key),
        .value = digest_span(DIGEST_START, sent->value),
        .headers = digest_headers(sent->headers, sent->header_count),
        .id_given = sent->id.data != NULL,
        .id_digest = digest_span(DIGEST_START, sent->id),
    };
    if (sent->offset >= 0) {
        ledger_place(ledger, number, sent->offset);
    }
    if (ledger->count * 2 > ledger->table_size) {
        table_grow(ledger);
    }
    return number;
}

/* ---------------------------------------------------------------------------------------------- violations */

static void violation(struct ledger *ledger, enum ledger_violation kind, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static void violation(struct ledger *ledger, enum ledger_violation kind, const char *format, ...)
{
    size_t seen = ledger->violations[kind]++;
    if (seen < SHOWN_MAX) {
        va_list arguments;
        va_start(arguments, format);
        vsnprintf(ledger->shown[kind][seen], SHOWN_BYTES, format, arguments);
        va_end(arguments);
    }
}

/* --------------------------------------------------------------------------------------------- comparisons */

/* The only header of that name, or an absent span; *count says how many there are. */
static struct span find_header(const struct record *record, const char *name, size_t *count)
{
    struct span found = SPAN_ABSENT;
    *count = 0;
    for (size_t i = 0; i < record->header_count; i++) {
        if (has_name(&record->headers[i], name)) {
            found = record->headers[i].value;
            *count += 1;
        }
    }
    return found;
}

static struct entry *find_entry(struct ledger *ledger, const struct record *record, size_t *sources)
{
    char text[NAME_MAX_BYTES];
    struct span source = find_header(record, "tarry-source", sources);
    if (source.data == NULL || source.length >= sizeof(text)) {
        return NULL;
    }
    memcpy(text, source.data, source.length);
    text[source.length] = '\0';
    size_t index = *table_place(ledger, text);
    return index == 0 ? NULL : &ledger->entries[index - 1];
}

static void
compare_identity(struct ledger *ledger, const struct entry *entry, const struct record *record, size_t sources)
{
    size_t ids = 0;
    size_t dues = 0;
    char due_text[32];
    struct span id = find_header(record, "tarry-id", &ids);
    struct span due = find_header(record, "tarry-due", &dues);
    snprintf(due_text, sizeof(due_text), "%" PRId64, entry->due_ms);
    if (sources != 1 || ids != 1 || dues != 1) {
        violation(ledger, LEDGER_IDENTITY, "%s: %zu tarry-source, %zu tarry-id, %zu tarry-due", entry->source, sources,
                  ids, dues);
    } else if (digest_span(DIGEST_START, id) != entry->id_digest) {
        violation(ledger, LEDGER_IDENTITY, "%s: tarry-id is %.*s", entry->source, (int)id.length,
                  (const char *)id.data);
    } else if (!span_equals_text(due, due_text)) {
        violation(ledger, LEDGER_IDENTITY, "%s: tarry-due is %.*s, not %s", entry->source, (int)due.length,
                  (const char *)due.data, due_text);
    }
}

/* The record's own headers, then tarry's three; no other control header among them. */
static void compare_headers(struct ledger *ledger, const struct entry *entry, const struct record *record)
{
    size_t own = 0;
    for (size_t i = 0; i < record->header_count; i++) {
        own += !is_control(&record->headers[i]);
    }
    if (record->header_count != own + 3) {
        violation(ledger, LEDGER_HEADERS, "%s: %zu headers are tarry's, not 3", entry->source,
                  record->header_count - own);
    } else if (digest_headers(record->headers, record->header_count) != entry->headers) {
        violation(ledger, LEDGER_HEADERS, "%s: its %zu own headers are not as they were", entry->source, own);
    }
}

static void compare_bytes(struct ledger *ledger, const struct entry *entry, const struct record *record)
{
    if (digest_span(DIGEST_START, record->key) != entry->key) {
        violation(ledger, LEDGER_BYTES, "%s: key differs (%zu bytes%s)", entry->source, record->key.length,
                  record->key.data == NULL ? ", null" : "");
    }
    if (digest_span(DIGEST_START, record->value) != entry->value) {
        violation(ledger, LEDGER_BYTES, "%s: value differs (%zu bytes%s)", entry->source, record->value.length,
                  record->value.data == NULL ? ", null" : "");
    }
}

static struct stream *
find_stream(struct ledger *ledger, const struct entry *entry, const char *topic, int32_t partition)
{
    for (size_t i = 0; i < ledger->stream_count; i++) {
        struct stream *stream = &ledger->streams[i];
        const struct entry *example = &ledger->entries[stream->example];
        if (example->partition == entry->partition && stream->out_partition == partition &&
            strcmp(example->lane, entry->lane) == 0 && strcmp(example->topic, entry->topic) == 0 &&
            strcmp(stream->out_topic, topic) == 0) {
            return stream;
        }
    }
    ledger->streams = memory_resize(ledger->streams, ledger->stream_count + 1, sizeof(*ledger->streams));
    struct stream *stream = &ledger->streams[ledger->stream_count++];
    *stream = (struct stream){.example = (size_t)(entry - ledger->entries),
                              .out_topic = copy_text(topic),
                              .out_partition = partition,
                              .last_due_ms = INT64_MIN};
    return stream;
}

static void compare_order(struct ledger *ledger, const struct entry *entry, const char *topic, int32_t partition)
{
    if (!entry->ordered) {
        return;
    }
    struct stream *stream = find_stream(ledger, entry, topic, partition);
    bool behind = entry->due_ms < stream->last_due_ms ||
                  (entry->due_ms == stream->last_due_ms && entry->offset < stream->last_offset);
    if (behind) {
        violation(ledger, LEDGER_ORDER, "%s (due %" PRId64 ") came after offset %" PRId64 " (due %" PRId64 ")",
                  entry->source, entry->due_ms, stream->last_offset, stream->last_due_ms);
        return;
    }
    stream->last_due_ms = entry->due_ms;
    stream->last_offset = entry->offset;
}

static void note_time(struct ledger *ledger, const struct entry *entry, const struct record *record)
{
    int64_t lateness_ms = record->timestamp_ms - entry->due_ms;
    if (lateness_ms < 0) {
        violation(ledger, LEDGER_EARLY, "%s came %" PRId64 " ms before it was due", entry->source, -lateness_ms);
    }
    if (entry->received == 0) {
        ledger->lateness_sum_ms += (double)lateness_ms;
        if (lateness_ms > ledger->lateness_max_ms) {
            ledger->lateness_max_ms = lateness_ms;
        }
    }
}

void ledger_receive(struct ledger *ledger, const char *topic, int32_t partition, const struct record *record)
{
    size_t sources = 0;
    struct entry *entry = find_entry(ledger, record, &sources);
    if (entry == NULL) {
        violation(ledger, LEDGER_UNKNOWN,
                  "%s/%d/%" PRId64 ": its tarry-source (%zu of them) names nothing that was sent", topic, partition,
                  record->offset, sources);
        return;
    }
    if (strcmp(entry->target, topic) != 0) {
        violation(ledger, LEDGER_TARGET, "%s came out in %s, not in %s", entry->source, topic, entry->target);
    }
    compare_identity(ledger, entry, record, sources);
    compare_headers(ledger, entry, record);
    compare_bytes(ledger, entry, record);
    note_time(ledger, entry, record);
    if (entry->received == 0) {
        compare_order(ledger, entry, topic, partition);
        ledger->received++;
    } else {
        ledger->repeats++;
        violation(ledger, LEDGER_REPEATED, "%s came out %zu times", entry->source, entry->received + 1);
    }
    entry->received++;
}

/* ------------------------------------------------------------------------------------------------- figures */

size_t ledger_sent_count(const struct ledger *ledger)
{
    return ledger->count;
}

size_t ledger_received_count(const struct ledger *ledger)
{
    return ledger->received;
}

size_t ledger_repeat_count(const struct ledger *ledger)
{
    return ledger->repeats;
}

int64_t ledger_lateness_max_ms(const struct ledger *ledger)
{
    return ledger->lateness_max_ms;
}

double ledger_lateness_mean_ms(const struct ledger *ledger)
{
    return ledger->received == 0 ? 0 : ledger->lateness_sum_ms / (double)ledger->received;
}

size_t ledger_violations(const struct ledger *ledger, enum ledger_violation kind)
{
    return kind == LEDGER_MISSING ? ledger->count - ledger->received : ledger->violations[kind];
}

void ledger_each(const struct ledger *ledger, const char *topic, int32_t partition, ledger_each_fn *each, void *context)
{
    for (size_t i = 0; i < ledger->count; i++) {
        const struct entry *entry = &ledger->entries[i];
        if (entry->partition == partition && strcmp(entry->topic, topic) == 0) {
            each(entry->lane, entry->offset, entry->due_ms, entry->received, context);
        }
    }
}

static void show_missing(const struct ledger *ledger)
{
    size_t shown = 0;
    for (size_t i = 0; i < ledger->count && shown < SHOWN_MAX; i++) {
        const struct entry *entry = &ledger->entries[i];
        if (entry->received == 0) {
            fprintf(stderr, "  %s, due %" PRId64 ", lane %s\n", entry->source == NULL ? "not placed" : entry->source, entry->due_ms,
                    entry->lane);
            shown++;
        }
    }
}

static void show_kind(const struct ledger *ledger, enum ledger_violation kind)
{
    fprintf(stderr, "%zu %s\n", ledger_violations(ledger, kind), kind_names[kind]);
    if (kind == LEDGER_MISSING) {
        show_missing(ledger);
        return;
    }
    for (size_t i = 0; i < ledger->violations[kind] && i < SHOWN_MAX; i++) {
        fprintf(stderr, "  %s\n", ledger->shown[kind][i]);
    }
}

void ledger_assert(const struct ledger *ledger, bool repeats)
{
    size_t bad = 0;
    for (int kind = 0; kind < LEDGER_KINDS; kind++) {
        if (ledger_violations(ledger, (enum ledger_violation)kind) > 0 && !(repeats && kind == LEDGER_REPEATED)) {
            show_kind(ledger, (enum ledger_violation)kind);
            bad++;
        }
    }
    fprintf(stderr, "ledger: %zu sent, %zu came out, %zu repeats, lateness mean %.1f ms, most %" PRId64 " ms\n",
            ledger->count, ledger->received, ledger->repeats, ledger_lateness_mean_ms(ledger), ledger->lateness_max_ms);
    if (bad > 0) {
        fail_msg("the ledger does not add up: %zu kinds of violations, listed above", bad);
    }
}
