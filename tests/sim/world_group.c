/* Commits as Kafka keeps them: as text beside the offset, read back from it. */
#include <string.h>

#include "scheduler/metadata.h"
#include "tests/sim/world_state.h"

static void
to_text(struct world *world, const struct partition_frontier *frontier, struct metadata *metadata, char *text)
{
    *metadata = (struct metadata){.identity = {.cluster = "sim", .fingerprint = 1}};
    metadata->low_offset = frontier->low_offset;
    metadata->anchor = frontier->anchor;
    metadata->moving = frontier->moving;
    metadata->shared = frontier->shared;
    metadata->lane_count = frontier->lane_count;
    for (uint16_t i = 0; i < frontier->lane_count; i++) {
        char name[] = {'l', 'a', 'n', 'e', (char)('0' + frontier->lanes[i].lane), '\0'};
        memcpy(metadata->lanes[i].name, name, sizeof(name));
        metadata->lanes[i].paused = frontier->lanes[i].paused;
        metadata->lanes[i].frontier = frontier->lanes[i].frontier;
    }
    metadata->boundary_ms = frontier->boundary_ms;
    metadata->behind_count = frontier->behind_count;
    for (uint16_t i = 0; i < frontier->behind_count; i++) {
        char name[] = {'l', 'a', 'n', 'e', (char)('0' + frontier->behind[i].lane), '\0'};
        memcpy(metadata->behind[i].name, name, sizeof(name));
        metadata->behind[i].frontier = frontier->behind[i].frontier;
    }
    PROMISE(world, metadata_encode(metadata, text, METADATA_MAX + 1) > 0, "the metadata of a commit does not fit");
}

static void
from_text(struct world *world, const char *text, struct metadata *metadata, struct partition_frontier *frontier)
{
    struct error error;
    struct span span = {(const uint8_t *)text, strlen(text)};
    PROMISE(world, metadata_decode(span, metadata, &error), "the metadata does not read back: %s", error.text);
    frontier->low_offset = metadata->low_offset;
    frontier->anchor = metadata->anchor;
    frontier->moving = metadata->moving;
    frontier->shared = metadata->shared;
    frontier->lane_count = metadata->lane_count;
    for (uint16_t i = 0; i < metadata->lane_count; i++) {
        frontier->lanes[i].lane = (lane_index)(metadata->lanes[i].name[4] - '0');
        frontier->lanes[i].paused = metadata->lanes[i].paused;
        frontier->lanes[i].frontier = metadata->lanes[i].frontier;
    }
    frontier->boundary_ms = metadata->boundary_ms;
    frontier->behind_count = metadata->behind_count;
    for (uint16_t i = 0; i < metadata->behind_count; i++) {
        frontier->behind[i].lane = (lane_index)(metadata->behind[i].name[4] - '0');
        frontier->behind[i].frontier = metadata->behind[i].frontier;
    }
}

/* What was sent is there now, unless something that was sent later stands there. */
void world_group_apply(struct world *world, int number, const struct partition_frontier *frontier, uint64_t sequence)
{
    struct world_partition *partition = &world->partitions[number];
    if (sequence < partition->group_sequence) {
        return;
    }
    partition->group_sequence = sequence;
    static struct metadata metadata; /* large, and of no meaning between two calls */
    char text[METADATA_MAX + 1];
    to_text(world, frontier, &metadata, text);
    from_text(world, text, &metadata, &partition->group);
    partition->group.committed_offset = frontier->committed_offset;
    partition->has_group = true;
    for (size_t i = 0; i < partition->count; i++) {
        struct world_record *record = partition->records[i];
        bool covered = world_oracle_claims(&partition->group, record);
        PROMISE(world, covered || !record->committed, "a commit takes back offset %lld", (long long)record->offset);
        record->committed = covered;
    }
}
