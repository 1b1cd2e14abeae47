/* "tarry-root: <offset>:<timestamp in ms, -1 for none>[:<due in ms>:<target topic>[:<partition>]]", which stands on re-appends alone (R4). The short
 * form is for records that were refused: nothing of theirs was decided. A topic's name has no colon. */
#include "bridge/decimal.h"
#include "bridge/decode.h"
#include "bridge/refusal.h"
#include "bridge/time_text.h"

#define NAME "tarry-root"
#define NOT_BEFORE "tarry-not-before"
#define RUNS "tarry-runs"
#define PARTS_MAX 5

static bool refuse(struct span value, const char *what, struct refusal *refusal)
{
    return refusal_set(refusal, REFUSAL_BAD_ROOT, "header " NAME " is %s: %s; tarry writes it on records that it writes again, leave it out",
                       refusal_show(value).text, what);
}

static bool read_timestamp(struct span text, int64_t *timestamp_ms)
{
    if (span_equals_text(text, "-1")) {
        *timestamp_ms = -1;
        return true;
    }
    return decimal_parse(text, timestamp_ms) == DECIMAL_READ;
}

/* The pieces between the colons; 0 when there are more than PARTS_MAX. */
static size_t split(struct span value, struct span parts[PARTS_MAX])
{
    for (size_t count = 1; count <= PARTS_MAX; count++) {
        const uint8_t *colon = value.length == 0 ? NULL : memchr(value.data, ':', value.length);
        size_t length = colon == NULL ? value.length : (size_t)(colon - value.data);
        parts[count - 1] = (struct span){value.data, length};
        if (colon == NULL) {
            return count;
        }
        value = (struct span){colon + 1, value.length - length - 1};
    }
    return 0;
}

static bool read_decision(const struct span *parts, size_t count, struct decode_root *root)
{
    int64_t partition = -1;
    if (count == PARTS_MAX && (decimal_parse(parts[4], &partition) != DECIMAL_READ || partition > INT32_MAX)) {
        return false;
    }
    root->decided = true;
    root->target = parts[3];
    root->partition = (int32_t)partition;
    return decimal_parse(parts[2], &root->due_ms) == DECIMAL_READ && root->due_ms <= TIME_TEXT_LAST_MS && target_name_valid(root->target);
}

static bool read_value(struct span value, struct decode_root *root)
{
    struct span parts[PARTS_MAX];
    size_t count = split(value, parts);
    if ((count != 2 && count != 4 && count != PARTS_MAX) || decimal_parse(parts[0], &root->offset) != DECIMAL_READ ||
        !read_timestamp(parts[1], &root->timestamp_ms)) {
        return false;
    }
    return count == 2 || read_decision(parts, count, root);
}

/* The one header of that name: NULL if there is none. False: there are more. */
static bool find(const struct record *record, const struct record_header **found)
{
    *found = NULL;
    for (size_t i = 0; i < record->header_count; i++) {
        if (!span_equals_text(record->headers[i].name, NAME)) {
            continue;
        }
        if (*found != NULL) {
            return false;
        }
        *found = &record->headers[i];
    }
    return true;
}

bool decode_root(const struct record *record, struct decode_root *root, struct refusal *refusal)
{
    static const struct decode_root none = {.offset = -1, .timestamp_ms = -1, .partition = -1};
    struct decode_root read = none;
    const struct record_header *header;
    *root = none;
    if (!find(record, &header)) {
        return refuse(header->value, "it is given more than once", refusal);
    }
    if (header == NULL) {
        return true;
    }
    if (!read_value(header->value, &read)) {
        return refuse(header->value, "not <offset>:<timestamp in ms>[:<due in ms>:<topic>[:<partition>]]", refusal);
    }
    if (read.offset >= record->offset) {
        return refuse(header->value, "its offset is not below the record's own", refusal);
    }
    *root = read;
    return true;
}

/* The greatest number up to `most` that a header of that name says; `least` if there is none greater. */
static int64_t greatest_of(const struct record *record, const char *name, int64_t least, int64_t most)
{
    int64_t greatest = least;
    for (size_t i = 0; i < record->header_count; i++) {
        int64_t number;
        if (span_equals_text(record->headers[i].name, name) && decimal_parse(record->headers[i].value, &number) == DECIMAL_READ && number <= most &&
            number > greatest) {
            greatest = number;
        }
    }
    return greatest;
}

int64_t decode_not_before(const struct record *record)
{
    return greatest_of(record, NOT_BEFORE, DUE_SINCE_EVER, TIME_TEXT_LAST_MS);
}

int64_t decode_refused_due(const struct record *record)
{
    int64_t not_before_ms = decode_not_before(record);
    return not_before_ms == TIME_TEXT_LAST_MS ? DUE_SINCE_EVER : not_before_ms;
}

int64_t decode_runs(const struct record *record)
{
    return greatest_of(record, RUNS, 0, DECODE_COUNT_MOST);
}
