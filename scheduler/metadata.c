/*
 * Writing the metadata string (metadata.h); metadata_decode.c reads it. Its fields stand in this order, with one blank
 * between:
 *
 *   tarry1                          the format and its version: 2 where something of it is needed, which is marked so below
 *   cluster=ID                      bytes other than [A-Za-z0-9._-] as %hh; may be empty
 *   fingerprint=HEX16
 *   before=HEX16@OFFSET             only after a change of configuration: the fingerprint that counts below OFFSET (R8)
 *   low=OFFSET                      C
 *   anchor=OFFSET:TIMESTAMP:CRC8
 *   moving=1                        version 2: re-appends of steered events may not be read back (steer.h)
 *   boundary=DUE                    version 2: the last due time that is behind the catch-up boundary; only with lanes behind it
 *   shared=PAIR                     where all lanes stand that are not named
 *   NAME=PAIR|PAIR...               a lane: its live pair, then the old ones (R1)
 *   NAME=PAIR|PAIR...!              version 2: that lane is paused
 *   ~NAME=PAIR|PAIR...              version 2: what counts of a lane up to the boundary
 *
 * PAIR is DUE:OFFSET<CUT, or -<CUT while the point is KEY_LEAST. Numbers are decimal, hexadecimal digits are lower
 * case. There is exactly one text for each content, so that two commits can be compared byte by byte.
 */
#include "scheduler/metadata.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define NUMBER_WORST 20                                /* -9223372036854775808 */
#define PAIR_WORST (3 * NUMBER_WORST + 2)              /* due:offset<cut */
#define CLUSTER_WORST (3 * (METADATA_CLUSTER_MAX - 1)) /* every byte as %hh */

_Static_assert(PAIR_WORST + 1 <= METADATA_PAIR_WORST, "an old pair has a | before it");
_Static_assert(sizeof(" boundary=") + NUMBER_WORST <= METADATA_PAIR_WORST, "core_options.old_pairs_max counts it as one");
_Static_assert(sizeof(" ~=") + METADATA_LANE_NAME_MAX + PAIR_WORST <= 2 * METADATA_PAIR_WORST, "and this as two");

/* Text under way: once something did not fit it stays failed. */
struct writer {
    char *text;
    size_t size;
    size_t length;
    bool failed;
};

__attribute__((format(printf, 2, 3))) static void put(struct writer *writer, const char *format, ...)
{
    if (writer->failed) {
        return;
    }
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(writer->text + writer->length, writer->size - writer->length, format, arguments);
    va_end(arguments);
    if (length < 0 || (size_t)length >= writer->size - writer->length) {
        writer->failed = true;
    } else {
        writer->length += (size_t)length;
    }
}

static void put_pair(struct writer *writer, struct frontier_pair pair)
{
    if (key_compare(pair.point, KEY_LEAST) == 0) {
        put(writer, "-<%" PRId64, pair.cut);
    } else {
        put(writer, "%" PRId64 ":%" PRId64 "<%" PRId64, pair.point.due_ms, pair.point.offset, pair.cut);
    }
}

bool metadata_is_name_byte(char byte)
{
    return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') || (byte >= '0' && byte <= '9') || byte == '_'
        || byte == '-';
}

static void put_cluster(struct writer *writer, const char *cluster)
{
    size_t length = strnlen(cluster, METADATA_CLUSTER_MAX);
    writer->failed = writer->failed || length == METADATA_CLUSTER_MAX;
    put(writer, " cluster=");
    for (size_t i = 0; i < length; i++) {
        bool plain = metadata_is_name_byte(cluster[i]) || cluster[i] == '.';
        put(writer, plain ? "%c" : "%%%02x", (unsigned char)cluster[i]);
    }
}

static void put_identity(struct writer *writer, const struct metadata_identity *identity)
{
    put_cluster(writer, identity->cluster);
    put(writer, " fingerprint=%016" PRIx64, identity->fingerprint);
    if (identity->fingerprint_before != 0 || identity->changed_at != 0) {
        put(writer, " before=%016" PRIx64 "@%" PRId64, identity->fingerprint_before, identity->changed_at);
    }
}

static void put_lane(struct writer *writer, const char *before, const struct metadata_lane *lane)
{
    size_t length = strnlen(lane->name, sizeof(lane->name));
    bool valid = length > 0 && length <= METADATA_LANE_NAME_MAX && lane->frontier.old_count <= FRONTIER_PAIRS_MAX;
    for (size_t i = 0; valid && i < length; i++) {
        valid = metadata_is_name_byte(lane->name[i]);
    }
    if (!valid) {
        writer->failed = true;
        return;
    }
    put(writer, "%s%s=", before, lane->name);
    put_pair(writer, lane->frontier.live);
    for (size_t i = 0; i < lane->frontier.old_count; i++) {
        put(writer, "|");
        put_pair(writer, lane->frontier.old[i]);
    }
}

/* A program that knows version 1 alone must not take a text for damaged that it cannot know. */
int metadata_version(const struct metadata *metadata)
{
    bool second = metadata->moving || metadata->behind_count > 0;
    for (size_t i = 0; i < metadata->lane_count && !second; i++) {
        second = metadata->lanes[i].paused;
    }
    return second ? 2 : 1;
}

size_t metadata_encode(const struct metadata *metadata, char *text, size_t size)
{
    struct writer writer = {text, size, 0, size == 0 || metadata->lane_count > LANES_MAX || metadata->behind_count > CATCH_UP_MAX};
    if (writer.failed) {
        return 0;
    }
    put(&writer, "tarry%d", metadata_version(metadata));
    put_identity(&writer, &metadata->identity);
    put(&writer, " low=%" PRId64, metadata->low_offset);
    put(&writer, " anchor=%" PRId64 ":%" PRId64, metadata->anchor.offset, metadata->anchor.timestamp_ms);
    put(&writer, ":%08" PRIx32, metadata->anchor.crc);
    put(&writer, metadata->moving ? " moving=1" : "");
    if (metadata->behind_count > 0) {
        put(&writer, " boundary=%" PRId64, metadata->boundary_ms);
    }
    put(&writer, " shared=");
    put_pair(&writer, metadata->shared);
    for (size_t i = 0; !writer.failed && i < metadata->lane_count; i++) {
        put_lane(&writer, " ", &metadata->lanes[i]);
        put(&writer, metadata->lanes[i].paused ? "!" : "");
    }
    for (size_t i = 0; !writer.failed && i < metadata->behind_count; i++) {
        put_lane(&writer, " ~", &metadata->behind[i]);
    }
    return writer.failed ? 0 : writer.length;
}

static size_t head_worst(void)
{
    size_t names = strlen("tarry1 cluster= fingerprint= before=@ low= anchor=:: moving=1 shared=");
    size_t fingerprints = 2 * 16;
    size_t crc = 8;
    size_t numbers = 4 * NUMBER_WORST; /* changed_at, low, the anchor's offset and timestamp */
    return names + CLUSTER_WORST + fingerprints + crc + numbers + PAIR_WORST;
}

size_t metadata_worst_case(const char *const *lane_names, size_t lane_count)
{
    size_t length = head_worst();
    for (size_t i = 0; i < lane_count; i++) {
        length += 1 + strlen(lane_names[i]) + 1 + PAIR_WORST + 1;
    }
    return length;
}
