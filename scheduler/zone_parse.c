/*
 * Reads TZif (RFC 8536): a header and a block of 32-bit times; from version 2 on, which is what is used then, a second header and block of 64-bit times and a
 * footer. A block: times, one type index each, types (offset, summer or not, name), names, leap seconds, and two rows of flags for each type.
 */
#include <inttypes.h>

#include "base/memory.h"
#include "scheduler/zone_state.h"

#define HEADER_BYTES 44
#define TYPE_BYTES 6
#define TYPES_MAX 256
#define NAMES_MAX 4096
#define OFFSET_LEAST_S (-89999)
#define OFFSET_MOST_S 93599

/* The counts of a header. */
struct counts {
    uint32_t utc_flags;
    uint32_t standard_flags;
    uint32_t leaps;
    uint32_t changes;
    uint32_t types;
    uint32_t name_bytes;
};

static uint32_t read_u32(const uint8_t *bytes)
{
    return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
}

/* Two's complement, of 4 or 8 bytes. */
static int64_t read_time(const uint8_t *bytes, size_t size)
{
    if (size == 4) {
        return (int32_t)read_u32(bytes);
    }
    return (int64_t)((uint64_t)read_u32(bytes) << 32 | read_u32(bytes + 4));
}

/* Takes `length` bytes from the front. */
static bool take(struct span *rest, size_t length, struct span *taken)
{
    if (rest->data == NULL || length > rest->length) {
        return false;
    }
    *taken = (struct span){rest->data, length};
    rest->data += length;
    rest->length -= length;
    return true;
}

static bool refuse(struct error *error, const char *what)
{
    (void)error_set(error, ERROR_INVALID, "not a usable time zone file (TZif): %s", what);
    return false;
}

static bool check_counts(const struct counts *counts, struct error *error)
{
    if (counts->changes > ZONE_CHANGES_MAX) {
        (void)error_set(error, ERROR_INVALID, "not a usable time zone file (TZif): %" PRIu32 " changes, at most %d", counts->changes, ZONE_CHANGES_MAX);
        return false;
    }
    if (counts->types == 0 || counts->types > TYPES_MAX) {
        return refuse(error, "it must have 1 to 256 kinds of local time");
    }
    if (counts->name_bytes == 0 || counts->name_bytes > NAMES_MAX) {
        return refuse(error, "it must have 1 to 4,096 bytes of names");
    }
    if ((counts->utc_flags != 0 && counts->utc_flags != counts->types) || (counts->standard_flags != 0 && counts->standard_flags != counts->types)) {
        return refuse(error, "its flags and its kinds of local time differ in number");
    }
    if (counts->leaps != 0) {
        return refuse(error, "it counts leap seconds; take the zone of the same name without `right/`");
    }
    return true;
}

static bool take_header(struct span *rest, uint8_t *version, struct counts *counts, struct error *error)
{
    struct span header;
    if (!take(rest, HEADER_BYTES, &header)) {
        return refuse(error, "it is cut off");
    }
    const uint8_t *bytes = header.data;
    if (memcmp(bytes, "TZif", 4) != 0) {
        return refuse(error, "it does not begin with TZif");
    }
    if (bytes[4] != 0 && bytes[4] < '2') {
        return refuse(error, "its version is unknown");
    }
    *version = bytes[4];
    *counts = (struct counts){
        .utc_flags = read_u32(bytes + 20),
        .standard_flags = read_u32(bytes + 24),
        .leaps = read_u32(bytes + 28),
        .changes = read_u32(bytes + 32),
        .types = read_u32(bytes + 36),
        .name_bytes = read_u32(bytes + 40),
    };
    return true;
}

/* Where the parts of a block stand. */
struct block {
    size_t time_size;
    struct counts counts;
    struct span times;
    struct span indices;
    struct span types;
};

static bool take_block(struct span *rest, struct block *block, struct error *error)
{
    const struct counts *counts = &block->counts;
    struct span unused;
    if (!check_counts(counts, error)) {
        return false;
    }
    bool whole = take(rest, counts->changes * block->time_size, &block->times) && take(rest, counts->changes, &block->indices) &&
                 take(rest, (size_t)counts->types * TYPE_BYTES, &block->types) && take(rest, counts->name_bytes, &unused) &&
                 take(rest, counts->standard_flags, &unused) && take(rest, counts->utc_flags, &unused);
    return whole || refuse(error, "it is cut off");
}

/* Over the 32-bit block, which nobody uses: its counts may be anything that fits. */
static bool skip_old_block(struct span *rest, const struct counts *counts, struct error *error)
{
    uint64_t length = (uint64_t)counts->changes * 5 + (uint64_t)counts->types * TYPE_BYTES + counts->name_bytes + (uint64_t)counts->leaps * 8 +
                      counts->standard_flags + counts->utc_flags;
    struct span unused;
    return (length <= rest->length && take(rest, (size_t)length, &unused)) || refuse(error, "it is cut off");
}

static bool check_types(const struct block *block, struct error *error)
{
    for (size_t i = 0; i < block->counts.types; i++) {
        const uint8_t *type = block->types.data + i * TYPE_BYTES;
        int64_t offset_s = read_time(type, 4);
        if (offset_s < OFFSET_LEAST_S || offset_s > OFFSET_MOST_S) {
            return refuse(error, "an offset from UTC is beyond -25 to +26 hours");
        }
        if (type[4] > 1 || type[5] >= block->counts.name_bytes) {
            return refuse(error, "a kind of local time does not read");
        }
    }
    return true;
}

static bool check_changes(const struct block *block, struct error *error)
{
    for (size_t i = 0; i < block->counts.changes; i++) {
        if (block->indices.data[i] >= block->counts.types) {
            return refuse(error, "a change is to a kind of local time that is not there");
        }
        const uint8_t *at = block->times.data + i * block->time_size;
        if (i > 0 && read_time(at, block->time_size) <= read_time(at - block->time_size, block->time_size)) {
            return refuse(error, "its changes are not in order");
        }
    }
    return true;
}

/* "\nTEXT\n". An empty text says nothing about the time after the last change. */
static bool take_footer(struct span rest, bool *ruled, struct zone_rule *rule, struct error *error)
{
    const uint8_t *end = rest.length < 2 || rest.data[0] != '\n' ? NULL : memchr(rest.data + 1, '\n', rest.length - 1);
    if (end == NULL) {
        return refuse(error, "its footer is cut off");
    }
    struct span text = {rest.data + 1, (size_t)(end - rest.data) - 1};
    *ruled = text.length > 0;
    if (*ruled && !zone_rule_parse(text, rule)) {
        return refuse(error, "the rule in its footer does not read");
    }
    return true;
}

static int32_t offset_of(const struct block *block, size_t type)
{
    return (int32_t)read_time(block->types.data + type * TYPE_BYTES, 4);
}

static struct zone *build(const struct block *block, bool ruled, const struct zone_rule *rule)
{
    struct zone *zone = memory_new(1, sizeof(*zone) + block->counts.changes * sizeof(zone->changes[0]));
    zone->first_offset_s = offset_of(block, 0);
    zone->ruled = ruled;
    zone->rule = *rule;
    zone->change_count = block->counts.changes;
    for (size_t i = 0; i < zone->change_count; i++) {
        zone->changes[i].at_s = read_time(block->times.data + i * block->time_size, block->time_size);
        zone->changes[i].offset_s = offset_of(block, block->indices.data[i]);
    }
    return zone;
}

bool zone_parse(struct span bytes, struct zone **zone, struct error *error)
{
    struct span rest = bytes;
    struct block block = {.time_size = 4};
    struct zone_rule rule = {.summer = false};
    bool ruled = false;
    uint8_t version = 0;
    if (!take_header(&rest, &version, &block.counts, error)) {
        return false;
    }
    if (version != 0) {
        block.time_size = 8;
        if (!skip_old_block(&rest, &block.counts, error) || !take_header(&rest, &version, &block.counts, error)) {
            return false;
        }
    }
    if (!take_block(&rest, &block, error) || !check_types(&block, error) || !check_changes(&block, error) ||
        (block.time_size == 8 && !take_footer(rest, &ruled, &rule, error))) {
        return false;
    }
    *zone = build(&block, ruled, &rule);
    return true;
}
