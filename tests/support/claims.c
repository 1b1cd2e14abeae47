#include "tests/support/claims.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#include "base/memory.h"
#include "scheduler/metadata.h"

#define SHOWN_MAX 5

struct claim {
    int64_t committed; /* -1: nothing committed yet */
    char text[KAFKA_CLIENT_METADATA_MAX];
    struct metadata metadata;
    int32_t partition;
    size_t done;
    size_t untrue;
};

static bool pair_covers(const struct frontier_pair *pair, struct key key)
{
    return key.offset < pair->cut && key_compare(key, pair->point) <= 0;
}

static bool frontier_covers(const struct frontier *frontier, struct key key)
{
    bool covers = pair_covers(&frontier->live, key);
    for (uint8_t i = 0; i < frontier->old_count; i++) {
        covers = covers || pair_covers(&frontier->old[i], key);
    }
    return covers;
}

/* A lane without an entry stands at the shared pair. */
static bool says_done(const struct metadata *metadata, const char *lane, struct key key)
{
    if (key.offset < metadata->low_offset) {
        return true;
    }
    for (uint16_t i = 0; i < metadata->lane_count; i++) {
        if (strcmp(metadata->lanes[i].name, lane) == 0) {
            return frontier_covers(&metadata->lanes[i].frontier, key);
        }
    }
    return pair_covers(&metadata->shared, key);
}

static void check_record(const char *lane, int64_t offset, int64_t due_ms, size_t received, void *context)
{
    struct claim *claim = context;
    if (claim->committed < 0 || !says_done(&claim->metadata, lane, (struct key){due_ms, offset})) {
        return;
    }
    claim->done++;
    if (received == 0 && claim->untrue < SHOWN_MAX) {
        fprintf(stderr,
                "partition %d offset %" PRId64 " (due %" PRId64 ", lane %s) is called done and never came out\n",
                claim->partition, offset, due_ms, lane);
    }
    claim->untrue += received == 0;
}

static void read_claim(const struct scene *scene, int32_t partition, struct claim *claim)
{
    struct error error = {.code = ERROR_NONE};
    claim->partition = partition;
    claim->committed = kafka_client_committed(scene->bootstrap, scene->prefix, scene->in, partition, claim->text);
    if (claim->committed >= 0 && !metadata_decode(span_of_text(claim->text), &claim->metadata, &error)) {
        fail_msg("partition %d: committed metadata does not read: %s: %s", partition, error.text, claim->text);
    }
}

/* The committed offset is the least cut (docs/frontier.md), and C is not beyond it. */
static void check_cuts(const struct claim *claim)
{
    const struct metadata *metadata = &claim->metadata;
    bool apart = claim->committed > metadata->shared.cut;
    for (uint16_t i = 0; i < metadata->lane_count; i++) {
        apart = apart || claim->committed > metadata->lanes[i].frontier.live.cut;
    }
    if (apart || metadata->low_offset > claim->committed) {
        fail_msg("partition %d: committed offset %" PRId64 " is beyond a cut, or C is beyond it: %s", claim->partition,
                 claim->committed, claim->text);
    }
}

static void check_forward(const struct claim *claim, struct claims *claims)
{
    int32_t partition = claim->partition;
    if (claim->committed < claims->committed[partition] || claim->metadata.low_offset < claims->low[partition]) {
        fail_msg("partition %d went back: committed %" PRId64 " after %" PRId64 ", C %" PRId64 " after %" PRId64,
                 partition, claim->committed, claims->committed[partition], claim->metadata.low_offset,
                 claims->low[partition]);
    }
    claims->committed[partition] = claim->committed;
    claims->low[partition] = claim->metadata.low_offset;
}

void claims_check(struct scene *scene, struct claims *claims)
{
    struct claim *read = memory_new((size_t)scene->partitions, sizeof(*read));
    size_t untrue = 0;
    for (int32_t partition = 0; partition < scene->partitions; partition++) {
        read_claim(scene, partition, &read[partition]);
    }
    scene_read(scene);
    claims->done = 0;
    for (int32_t partition = 0; partition < scene->partitions; partition++) {
        struct claim *claim = &read[partition];
        if (claim->committed >= 0) {
            check_cuts(claim);
            check_forward(claim, claims);
            ledger_each(scene->ledger, scene->in, partition, check_record, claim);
            if (claim->untrue > 0) {
                fprintf(stderr, "partition %d: committed %" PRId64 ", metadata %s\n", partition, claim->committed,
                        claim->text);
            }
        }
        claims->done += claim->done;
        untrue += claim->untrue;
    }
    free(read);
    if (untrue > 0) {
        fail_msg("%zu records are called done by committed metadata and never came out", untrue);
    }
}
