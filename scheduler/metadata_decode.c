/* Reading the metadata string back; its syntax stands in metadata.c. Strict: what this accepts, metadata_encode
 * writes again byte by byte. */
#include "scheduler/metadata.h"

#include <string.h>

#include "base/checked.h"

#define MAGIC "tarry"

/* A place in the text. `expected` names what was missing at `at` once a read failed. */
struct reader {
    const uint8_t *at;
    const uint8_t *end;
    const char *expected;
};

static bool fail(struct reader *reader, const char *expected)
{
    reader->expected = expected;
    return false;
}

static bool at_byte(const struct reader *reader, char byte)
{
    return reader->at < reader->end && *reader->at == (uint8_t)byte;
}

static bool take_text(struct reader *reader, const char *text)
{
    size_t length = strlen(text);
    if ((size_t)(reader->end - reader->at) < length || memcmp(reader->at, text, length) != 0) {
        return fail(reader, text);
    }
    reader->at += length;
    return true;
}

static bool at_digit(const struct reader *reader)
{
    return reader->at < reader->end && *reader->at >= '0' && *reader->at <= '9';
}

/* Decimal, the way printf writes it: no blank, plus sign, leading zero or minus zero. */
static bool take_number(struct reader *reader, int64_t *number)
{
    bool negative = at_byte(reader, '-');
    reader->at += negative;
    const uint8_t *first = reader->at;
    int64_t value = 0;
    for (; at_digit(reader); reader->at++) {
        int64_t digit = *reader->at - '0';
        if (!checked_mul_i64(value, 10, &value) || !checked_add_i64(value, negative ? -digit : digit, &value)) {
            return fail(reader, "a number of 64 bits");
        }
    }
    ptrdiff_t digits = reader->at - first;
    if (digits == 0 || (*first == '0' && (digits > 1 || negative))) {
        return fail(reader, "a decimal number");
    }
    *number = value;
    return true;
}

static int hex_value(uint8_t byte)
{
    if (byte >= '0' && byte <= '9') {
        return byte - '0';
    }
    return byte >= 'a' && byte <= 'f' ? byte - 'a' + 10 : -1;
}

static bool take_hex(struct reader *reader, size_t digits, uint64_t *number)
{
    uint64_t value = 0;
    for (size_t i = 0; i < digits; i++, reader->at++) {
        int digit = reader->at < reader->end ? hex_value(*reader->at) : -1;
        if (digit < 0) {
            return fail(reader, "a lower case hexadecimal digit");
        }
        value = (value << 4) | (uint64_t)digit;
    }
    *number = value;
    return true;
}

static bool take_pair(struct reader *reader, struct frontier_pair *pair)
{
    /* "-<" is KEY_LEAST and its only spelling. */
    if (reader->end - reader->at >= 2 && memcmp(reader->at, "-<", 2) == 0) {
        reader->at += 2;
        pair->point = KEY_LEAST;
        return take_number(reader, &pair->cut);
    }
    bool taken = take_number(reader, &pair->point.due_ms) && take_text(reader, ":")
        && take_number(reader, &pair->point.offset);
    if (taken && key_compare(pair->point, KEY_LEAST) == 0) {
        return fail(reader, "'-' for the least key");
    }
    return taken && take_text(reader, "<") && take_number(reader, &pair->cut);
}

static bool take_frontier(struct reader *reader, struct frontier *frontier)
{
    if (!take_pair(reader, &frontier->live)) {
        return false;
    }
    while (at_byte(reader, '|')) {
        if (frontier->old_count == FRONTIER_PAIRS_MAX) {
            return fail(reader, "no further pair");
        }
        reader->at++;
        if (!take_pair(reader, &frontier->old[frontier->old_count])) {
            return false;
        }
        frontier->old_count++;
    }
    return true;
}

static bool take_escaped_byte(struct reader *reader, char *byte)
{
    uint64_t value;
    reader->at++;
    if (!take_hex(reader, 2, &value)) {
        return false;
    }
    *byte = (char)(uint8_t)value;
    bool needless = metadata_is_name_byte(*byte) || *byte == '.' || *byte == '\0';
    return needless ? fail(reader, "an escape only where one is needed") : true;
}

static bool take_cluster(struct reader *reader, char cluster[METADATA_CLUSTER_MAX])
{
    size_t length = 0;
    while (reader->at < reader->end && *reader->at != ' ') {
        char byte = (char)*reader->at;
        if (length == METADATA_CLUSTER_MAX - 1) {
            return fail(reader, "a shorter cluster id");
        }
        if (byte == '%') {
            if (!take_escaped_byte(reader, &byte)) {
                return false;
            }
        } else if (metadata_is_name_byte(byte) || byte == '.') {
            reader->at++;
        } else {
            return fail(reader, "a byte of a cluster id, or %hh");
        }
        cluster[length++] = byte;
    }
    return true;
}

static bool take_identity(struct reader *reader, struct metadata_identity *identity)
{
    if (!take_text(reader, " cluster=") || !take_cluster(reader, identity->cluster)
        || !take_text(reader, " fingerprint=") || !take_hex(reader, 16, &identity->fingerprint)) {
        return false;
    }
    struct reader ahead = *reader;
    if (!take_text(&ahead, " before=")) {
        return true;
    }
    *reader = ahead;
    if (!take_hex(reader, 16, &identity->fingerprint_before) || !take_text(reader, "@")
        || !take_number(reader, &identity->changed_at)) {
        return false;
    }
    bool empty = identity->fingerprint_before == 0 && identity->changed_at == 0;
    return empty ? fail(reader, "no before= without a change") : true;
}

static bool take_anchor(struct reader *reader, struct anchor *anchor)
{
    uint64_t crc = 0;
    bool taken = take_text(reader, " anchor=") && take_number(reader, &anchor->offset) && take_text(reader, ":")
        && take_number(reader, &anchor->timestamp_ms) && take_text(reader, ":") && take_hex(reader, 8, &crc);
    anchor->crc = (uint32_t)crc;
    return taken;
}

static bool take_lane_name(struct reader *reader, char name[METADATA_LANE_NAME_MAX + 1])
{
    size_t length = 0;
    for (; reader->at < reader->end && metadata_is_name_byte((char)*reader->at); reader->at++) {
        if (length == METADATA_LANE_NAME_MAX) {
            return fail(reader, "a shorter lane name");
        }
        name[length++] = (char)*reader->at;
    }
    return length > 0 ? true : fail(reader, "a lane name");
}

/* One more entry of a list of at most `most`. */
static bool take_lane(struct reader *reader, const char *before, struct metadata_lane *lanes, uint16_t *count, uint16_t most)
{
    if (*count == most) {
        return fail(reader, "no further lane");
    }
    struct metadata_lane *lane = &lanes[*count];
    if (!take_text(reader, before) || !take_lane_name(reader, lane->name)) {
        return false;
    }
    for (size_t i = 0; i < *count; i++) {
        if (strcmp(lanes[i].name, lane->name) == 0) {
            return fail(reader, "each lane only once");
        }
    }
    (*count)++;
    return take_text(reader, "=") && take_frontier(reader, &lane->frontier);
}

static bool take_moving(struct reader *reader, bool *moving)
{
    struct reader ahead = *reader;
    *moving = take_text(&ahead, " moving=1");
    *reader = *moving ? ahead : *reader;
    return true;
}

static bool at_behind(const struct reader *reader)
{
    return reader->end - reader->at >= 2 && memcmp(reader->at, " ~", 2) == 0;
}

/* A boundary stands there only for what is behind it. */
static bool take_boundary(struct reader *reader, struct metadata *metadata)
{
    struct reader ahead = *reader;
    if (!take_text(&ahead, " boundary=")) {
        return true;
    }
    return take_text(reader, " boundary=") && take_number(reader, &metadata->boundary_ms) &&
           (metadata->boundary_ms > 0 || fail(reader, "a boundary after the epoch"));
}

static bool take_lanes(struct reader *reader, struct metadata *metadata)
{
    bool bounded = metadata->boundary_ms > 0;
    while (reader->at < reader->end && !(bounded && at_behind(reader))) {
        if (!take_lane(reader, " ", metadata->lanes, &metadata->lane_count, LANES_MAX)) {
            return false;
        }
        struct metadata_lane *lane = &metadata->lanes[metadata->lane_count - 1];
        lane->paused = at_byte(reader, '!');
        reader->at += lane->paused;
    }
    while (reader->at < reader->end) {
        if (!take_lane(reader, " ~", metadata->behind, &metadata->behind_count, CATCH_UP_MAX)) {
            return false;
        }
    }
    return !bounded || metadata->behind_count > 0 || fail(reader, "a lane behind the boundary");
}

static bool take_all(struct reader *reader, struct metadata *metadata, int64_t version)
{
    if (!take_identity(reader, &metadata->identity) || !take_text(reader, " low=")
        || !take_number(reader, &metadata->low_offset) || !take_anchor(reader, &metadata->anchor)
        || !take_moving(reader, &metadata->moving) || !take_boundary(reader, metadata)
        || !take_text(reader, " shared=") || !take_pair(reader, &metadata->shared) || !take_lanes(reader, metadata)) {
        return false;
    }
    int least = metadata_version(metadata); /* there is one text for each content */
    return least == version ? true : fail(reader, least == 2 ? "version 2" : "version 1");
}

/* "tarry" and the version; a version we do not know says so instead of "damaged". */
static bool take_version(struct reader *reader, int64_t *version, struct error *error)
{
    if (!take_text(reader, MAGIC) || !take_number(reader, version) || *version < 1) {
        return error_set(error, ERROR_INVALID, "the metadata of the committed offset does not begin with \"" MAGIC
                         "\" and a version: another program committed for this group; give tarry a group of its own");
    }
    if (*version > METADATA_VERSION) {
        return error_set(error, ERROR_TOO_NEW, "the metadata of the committed offset has format %lld, this program "
                         "knows up to %d: a newer tarry ran here; run that version or a later one",
                         (long long)*version, METADATA_VERSION);
    }
    return true;
}

bool metadata_decode(struct span text, struct metadata *metadata, struct error *error)
{
    if (text.data == NULL || text.length > METADATA_MAX) {
        return error_set(error, ERROR_INVALID, "the metadata of the committed offset has %zu bytes, 1 to %d are expected: "
                         "it is not tarry's; give tarry a group of its own", text.length, METADATA_MAX);
    }
    struct reader reader = {text.data, text.data + text.length, NULL};
    int64_t version = 0;
    if (!take_version(&reader, &version, error)) {
        return false;
    }
    struct metadata decoded = {.lane_count = 0};
    if (!take_all(&reader, &decoded, version)) {
        return error_set(error, ERROR_INVALID, "the metadata of the committed offset is damaged at byte %td: \"%s\" "
                         "expected; see it with kafka-consumer-groups, and set the group's offset anew to read again "
                         "from there", reader.at - text.data, reader.expected);
    }
    *metadata = decoded;
    return true;
}
