/*
 * How much time is left until a topic's retention reaches the oldest record that is still needed (R6 keeps that from happening, if it may write).
 *
 * The record is asked for from the broker, as nobody here remembers timestamps: once in a hundredth of the retention, so what is said is that much too small at worst, when
 * the record has been passed meanwhile.
 */
#include <inttypes.h>

#include "ops/daemon_state.h"

#define ASK_MS 200
#define RETRY_MS 30000
#define LEAST_MS 1000
#define MOST_MS 600000
#define REST_MS 30000 /* between two looks, from which on the connection for them is let go */

bool daemon_retention_watches(const struct daemon *daemon, const struct partition *partition)
{
    const struct daemon_source *source = &daemon->sources[partition->source_index];
    return partition->state == PARTITIONS_OPEN && partition->gained && source->facts_known && source->facts.deletes && source->facts.retention_ms > 0;
}

struct partition *daemon_retention_next(const struct daemon *daemon)
{
    for (slot_index slot = 0; slot < daemon->partitions.count; slot++) {
        struct partition *partition = partitions_at(&daemon->partitions, slot);
        if (partition != NULL && daemon_retention_watches(daemon, partition) && daemon->now.mono.ms >= partition->oldest_at_ms) {
            return partition;
        }
    }
    return NULL;
}

static int64_t pause_ms(const struct daemon *daemon, const struct partition *partition)
{
    int64_t share_ms = daemon->sources[partition->source_index].facts.retention_ms / 100;
    return share_ms < LEAST_MS ? LEAST_MS : share_ms > MOST_MS ? MOST_MS : share_ms;
}

/* Nothing stands at that offset: expired, or a mark of a transaction, of which nothing can be said. */
static bool find_gone(struct daemon *daemon, struct partition *partition, int64_t offset, struct error *error)
{
    int64_t first;
    if (!source_offset_at(daemon->source, partition->topic, partition->number, 0, ASK_MS, &first, error)) {
        return false;
    }
    partition->oldest_known = first > offset;
    partition->oldest_ms = INT64_MIN;
    return true;
}

static bool find(struct daemon *daemon, struct partition *partition, int64_t offset, struct error *error)
{
    struct source_lookup lookup = {0};
    if (!source_read_anchor(daemon->source, partition->topic, partition->number, offset, ASK_MS, &lookup, error)) {
        return false;
    }
    if (!lookup.anchor_found) {
        return find_gone(daemon, partition, offset, error);
    }
    partition->oldest_known = lookup.anchor_timestamp_ms >= 0;
    partition->oldest_ms = lookup.anchor_timestamp_ms;
    return true;
}

void daemon_retention_look(struct daemon *daemon, struct partition *partition)
{
    struct core_slot_stats stats;
    struct error error;
    core_slot_stats(daemon->core, partition->slot, &stats);
    int64_t wait_ms = pause_ms(daemon, partition);
    bool found = true;
    if (stats.pending == 0) {
        partition->oldest_known = false;
    } else { /* also of one that is known: it may be gone by other ways than its age */
        found = find(daemon, partition, stats.low_offset, &error);
    }
    if (!found) {
        partition->oldest_known = false;
        wait_ms = wait_ms < RETRY_MS ? wait_ms : RETRY_MS;
    }
    partition->oldest_at_ms = (daemon->now.mono.ms / wait_ms + 1) * wait_ms; /* those of one retention at the same time, so that they share a connection */
    if (wait_ms >= REST_MS && daemon_retention_next(daemon) == NULL && partitions_count(&daemon->partitions, PARTITIONS_OPENING) == 0) {
        source_read_rest(daemon->source); /* nobody else reads so now */
    }
}

int64_t daemon_retention_headroom_ms(const struct daemon *daemon, const struct partition *partition)
{
    struct core_slot_stats stats;
    if (!partition->oldest_known || !daemon_retention_watches(daemon, partition)) {
        return TIME_NEVER;
    }
    core_slot_stats(daemon->core, partition->slot, &stats);
    if (stats.pending == 0) {
        return TIME_NEVER;
    }
    int64_t age_ms = partition->oldest_ms == INT64_MIN ? INT64_MAX : daemon->now.wall.ms - partition->oldest_ms;
    int64_t retention_ms = daemon->sources[partition->source_index].facts.retention_ms;
    return age_ms >= retention_ms ? 0 : retention_ms - (age_ms < 0 ? 0 : age_ms);
}
