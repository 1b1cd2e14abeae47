/*
 * The metadata string of a committed offset: the frontier, readable and versioned.
 *
 * Kafka keeps up to 4,096 bytes beside a committed offset. What stands in them is the progress of the partition and its
 * identity (R7, R8). It is text, so that `kafka-consumer-groups` and a tired person can read it; docs/semantics.md shows one.
 */
#ifndef TARRY_SCHEDULER_METADATA_H
#define TARRY_SCHEDULER_METADATA_H

#include "base/error.h"
#include "base/span.h"
#include "scheduler/types.h"

#define METADATA_VERSION 2 /* the latest; a text that needs nothing of it is written as version 1, byte by byte as ever */
#define METADATA_MAX 4096
#define METADATA_CLUSTER_MAX 64
#define METADATA_LANE_NAME_MAX 48 /* [a-zA-Z0-9_-]; longer or other names are refused by the configuration */

struct metadata_identity {
    char cluster[METADATA_CLUSTER_MAX]; /* cluster id, empty: unknown */
    uint64_t fingerprint;               /* of what decides due time and lane */
    uint64_t fingerprint_before;        /* 0: none. Records below changed_at were decoded with it */
    int64_t changed_at;
};

struct metadata_lane {
    char name[METADATA_LANE_NAME_MAX + 1];
    bool paused;
    struct frontier frontier;
};

/* The decoded form, with lanes by name: a reader may know other lanes than the writer. */
struct metadata {
    struct metadata_identity identity;
    int64_t low_offset;
    struct anchor anchor;
    bool moving; /* as in partition_frontier */
    struct frontier_pair shared;
    struct metadata_lane lanes[LANES_MAX];
    uint16_t lane_count;
    int64_t boundary_ms; /* of catching up, as in struct partition_frontier; counts only with entries behind it */
    struct metadata_lane behind[CATCH_UP_MAX];
    uint16_t behind_count;
};

/* The version of its text: the least that has all that is in it, so 1 without a pause, a move under way and a catch-up boundary. Any thread; O(lanes). */
int metadata_version(const struct metadata *metadata);

/* Writes the text form. Returns its length without the NUL, or 0 when it does not fit `size` (<= METADATA_MAX + 1), or a name or
 * count is not one that metadata_decode would accept. */
size_t metadata_encode(const struct metadata *metadata, char *text, size_t size);

/* Reads it back; strict: every byte is accounted for. ERROR_INVALID: not ours or damaged (an operator's reset carries none: the
 * caller checks for empty first). ERROR_TOO_NEW: a later format. Nothing is written to *metadata on failure. */
bool metadata_decode(struct span text, struct metadata *metadata, struct error *error);

/* The bytes that `lane_count` lanes with these names take at worst (every lane apart and paused, greatest numbers, no old pairs, no catch-up boundary):
 * the configuration refuses more than METADATA_MAX. */
size_t metadata_worst_case(const char *const *lane_names, size_t lane_count);

/* The bytes that one old pair takes at worst: what is left of METADATA_MAX divided by it is core_options.old_pairs_max. The boundary takes no more than one, a
 * lane's entry behind it no more than two. */
#define METADATA_PAIR_WORST 64

/* True for the bytes that a lane's name may have: [a-zA-Z0-9_-]. */
bool metadata_is_name_byte(char byte);

#endif
