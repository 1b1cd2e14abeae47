/* What the daemon says of itself: metrics and health, made when somebody asks. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "ops/clock_kernel.h"
#include "ops/daemon_state.h"
#include "ops/http_owner.h"

struct lane_sums {
    uint64_t overdue;
    uint64_t in_flight;
    int64_t oldest_due_ms;
    uint64_t paused;
};

struct source_sums {
    uint64_t pending;
    uint64_t pending_bytes;
    uint64_t in_memory;
    int64_t lag;
    int64_t span;
    uint64_t mismatched;
    uint64_t dedupe_ids;
    int64_t headroom_ms; /* the least; TIME_NEVER: none */
};

struct sums {
    struct lane_sums lanes[LANES_MAX];
    struct source_sums *sources;
    int64_t next_due_ms;
    int64_t last_due_ms;
    uint64_t lanes_apart;
    uint64_t lanes_behind;
    uint64_t dedupe_forgotten;
};

static void add_queue(const struct daemon *daemon, const struct partition *partition, lane_index lane, struct sums *sums)
{
    struct core_queue_stats stats;
    core_queue_stats(daemon->core, partition->slot, lane, daemon->now, &stats);
    struct source_sums *source = &sums->sources[partition->source_index];
    source->pending += stats.pending;
    source->pending_bytes += stats.pending_bytes;
    source->in_memory += stats.in_memory + stats.in_flight;
    sums->lanes[lane].overdue += stats.overdue;
    sums->lanes[lane].in_flight += stats.in_flight;
    sums->lanes[lane].paused += stats.paused;
    if (stats.oldest_due_ms < sums->lanes[lane].oldest_due_ms) {
        sums->lanes[lane].oldest_due_ms = stats.oldest_due_ms;
    }
    sums->next_due_ms = stats.next_due_ms < sums->next_due_ms ? stats.next_due_ms : sums->next_due_ms;
    sums->last_due_ms = stats.last_due_ms > sums->last_due_ms ? stats.last_due_ms : sums->last_due_ms;
}

static void add_partition(const struct daemon *daemon, const struct partition *partition, struct sums *sums)
{
    struct source_sums *source = &sums->sources[partition->source_index];
    source->mismatched += partition->state == PARTITIONS_DRAINING || partition->state == PARTITIONS_HELD;
    if (!partition->gained) {
        return;
    }
    struct core_slot_stats stats;
    core_slot_stats(daemon->core, partition->slot, &stats);
    int64_t lag = source_lag(daemon->source, partition->topic, partition->number, stats.position);
    source->lag += lag > 0 ? lag : 0;
    source->span += (lag > 0 ? lag : 0) + stats.position - stats.low_offset;
    source->dedupe_ids += stats.dedupe_ids;
    sums->dedupe_forgotten += stats.dedupe_forgotten;
    sums->lanes_apart += stats.lanes_apart;
    sums->lanes_behind += stats.lanes_behind;
    int64_t headroom_ms = daemon_retention_headroom_ms(daemon, partition);
    source->headroom_ms = headroom_ms < source->headroom_ms ? headroom_ms : source->headroom_ms;
    for (lane_index lane = 0; lane < daemon->lanes.count; lane++) {
        add_queue(daemon, partition, lane, sums);
    }
}

static struct sums sum_up(const struct daemon *daemon)
{
    struct sums sums = {.next_due_ms = TIME_NEVER, .last_due_ms = 0};
    sums.sources = memory_new(daemon->config->source_count, sizeof(*sums.sources));
    for (size_t i = 0; i < daemon->config->source_count; i++) {
        sums.sources[i].headroom_ms = TIME_NEVER;
    }
    for (lane_index lane = 0; lane < LANES_MAX; lane++) {
        sums.lanes[lane].oldest_due_ms = TIME_NEVER;
    }
    for (slot_index slot = 0; slot < daemon->partitions.count; slot++) {
        const struct partition *partition = partitions_at(&daemon->partitions, slot);
        if (partition != NULL) {
            add_partition(daemon, partition, &sums);
        }
    }
    return sums;
}

static void set_retention(struct daemon *daemon, size_t index, int64_t headroom_ms)
{
    const struct daemon_source *source = &daemon->sources[index];
    bool ends = source->facts_known && source->facts.deletes && source->facts.retention_ms > 0;
    metrics_set(daemon->metrics, METRIC_RETENTION, index, 0, ends ? (double)source->facts.retention_ms / 1000.0 : (double)NAN);
    metrics_set(daemon->metrics, METRIC_RETENTION_HEADROOM, index, 0, headroom_ms == TIME_NEVER ? (double)NAN : (double)headroom_ms / 1000.0);
}

static void set_source_gauges(struct daemon *daemon, const struct sums *sums)
{
    for (size_t i = 0; i < daemon->config->source_count; i++) {
        const struct source_sums *source = &sums->sources[i];
        uint64_t in_memory = source->in_memory < source->pending ? source->in_memory : source->pending;
        metrics_set(daemon->metrics, METRIC_PENDING, i, METRICS_TIER_MEMORY, (double)in_memory);
        metrics_set(daemon->metrics, METRIC_PENDING, i, METRICS_TIER_DISK, (double)(source->pending - in_memory));
        metrics_set(daemon->metrics, METRIC_PENDING_BYTES, i, 0, (double)source->pending_bytes);
        metrics_set(daemon->metrics, METRIC_INTAKE_LAG, i, 0, (double)source->lag);
        metrics_set(daemon->metrics, METRIC_LOG_SPAN, i, 0, (double)source->span);
        metrics_set(daemon->metrics, METRIC_IDENTITY_MISMATCH, i, 0, (double)source->mismatched);
        metrics_set(daemon->metrics, METRIC_DEDUPE_IDS, i, 0, (double)source->dedupe_ids);
        set_retention(daemon, i, source->headroom_ms);
    }
}

static void set_lane_gauges(struct daemon *daemon, const struct sums *sums)
{
    for (lane_index lane = 0; lane < daemon->lanes.count; lane++) {
        const struct lane_sums *sum = &sums->lanes[lane];
        int64_t age_ms = sum->oldest_due_ms == TIME_NEVER ? 0 : daemon->now.wall.ms - sum->oldest_due_ms;
        metrics_set(daemon->metrics, METRIC_OVERDUE, lane, 0, (double)sum->overdue);
        metrics_set(daemon->metrics, METRIC_OLDEST_OVERDUE, lane, 0, age_ms > 0 ? (double)age_ms / 1000.0 : 0.0);
        metrics_set(daemon->metrics, METRIC_IN_FLIGHT, lane, 0, (double)sum->in_flight);
        metrics_set(daemon->metrics, METRIC_LANES_PAUSED, lane, 0, (double)sum->paused);
    }
}

static void set_due_gauge(struct daemon *daemon, enum metrics_id id, int64_t due_ms)
{
    if (due_ms == TIME_NEVER || due_ms <= 0) {
        metrics_unset(daemon->metrics, id, 0, 0);
    } else {
        metrics_set(daemon->metrics, id, 0, 0, (double)due_ms / 1000.0);
    }
}

static void set_common(struct daemon *daemon, const struct sums *sums)
{
    struct core_stats stats;
    uint64_t used;
    uint64_t most;
    core_stats(daemon->core, &stats);
    store_usage(daemon->store, &used, &most);
    set_due_gauge(daemon, METRIC_NEXT_DUE, sums->next_due_ms);
    set_due_gauge(daemon, METRIC_LAST_DUE, sums->last_due_ms);
    metrics_set(daemon->metrics, METRIC_LANES_APART, 0, 0, (double)sums->lanes_apart);
    metrics_set(daemon->metrics, METRIC_LANES_BEHIND, 0, 0, (double)sums->lanes_behind);
    metrics_set(daemon->metrics, METRIC_STORE_FULL, 0, 0, stats.store_full ? 1.0 : 0.0);
    metrics_set(daemon->metrics, METRIC_STORE_USED_BYTES, 0, 0, (double)used);
    metrics_set(daemon->metrics, METRIC_STORE_MAX_BYTES, 0, 0, (double)most);
    metrics_set(daemon->metrics, METRIC_CHECKPOINT_AGE, 0, 0,
                (double)(daemon->now.mono.ms - daemon->written_at_ms) / 1000.0);
    metrics_set(daemon->metrics, METRIC_CONNECTION_UP, METRICS_SYSTEM_KAFKA, 0, daemon->connected ? 1.0 : 0.0);
    metrics_set(daemon->metrics, METRIC_CONNECTION_UP, METRICS_SYSTEM_NATS, 0, link_up(daemon->letters.link, NULL, 0) ? 1.0 : 0.0);
    metrics_set(daemon->metrics, METRIC_LAST_TURN, 0, 0, (double)daemon->now.wall.ms / 1000.0);
    metrics_set_total(daemon->metrics, METRIC_TURNS, 0, 0, (double)daemon->turns);
    metrics_set_total(daemon->metrics, METRIC_DEDUPE_FORGOTTEN, 0, 0, (double)sums->dedupe_forgotten);
    metrics_set_total(daemon->metrics, METRIC_CLOCK_STEPS, METRICS_DIRECTION_BACK, 0, (double)stats.clock_steps_back);
    metrics_set_total(daemon->metrics, METRIC_CLOCK_STEPS, METRICS_DIRECTION_FORWARD, 0, (double)stats.clock_steps_forward);
}

static void set_clock(struct daemon *daemon)
{
    struct clock_kernel clock = clock_kernel_read();
    metrics_set(daemon->metrics, METRIC_CLOCK_SYNCHRONISED, 0, 0, !clock.known ? (double)NAN : clock.synchronised ? 1.0 : 0.0);
    metrics_set(daemon->metrics, METRIC_CLOCK_OFFSET, 0, 0, clock.known ? clock.offset_seconds : (double)NAN);
    metrics_set(daemon->metrics, METRIC_CLOCK_MAX_ERROR, 0, 0, clock.known ? clock.max_error_seconds : (double)NAN);
}

static void set_oldest(struct daemon *daemon, enum metrics_state state, int64_t stored_ms)
{
    int64_t age_ms = daemon->now.wall.ms - stored_ms;
    if (stored_ms < 0) {
        metrics_unset(daemon->metrics, METRIC_OLDEST_DEAD_LETTER, state, 0);
    } else {
        metrics_set(daemon->metrics, METRIC_OLDEST_DEAD_LETTER, state, 0, age_ms > 0 ? (double)age_ms / 1000.0 : 0.0);
    }
}

static void set_letters(struct daemon *daemon)
{
    const struct outbox_status *status = daemon_letters_status(daemon);
    struct redelivery_status redelivery;
    if (daemon->letters.known) {
        metrics_set(daemon->metrics, METRIC_DEAD_LETTERS, METRICS_STATE_WAITING, 0, (double)status->waiting);
        metrics_set(daemon->metrics, METRIC_DEAD_LETTERS, METRICS_STATE_PARKED, 0, (double)status->parked);
        metrics_set(daemon->metrics, METRIC_DEAD_LETTERS_BYTES, 0, 0, (double)status->bytes);
        set_oldest(daemon, METRICS_STATE_WAITING, status->oldest_waiting_ms);
        set_oldest(daemon, METRICS_STATE_PARKED, status->oldest_parked_ms);
    }
    daemon_letters_redelivery(daemon, &redelivery);
    const struct redelivery_counts *counts = &redelivery.counts;
    metrics_set_total(daemon->metrics, METRIC_REDELIVERIES, METRICS_REDELIVERY_DELIVERED, 0, (double)counts->delivered);
    metrics_set_total(daemon->metrics, METRIC_REDELIVERIES, METRICS_REDELIVERY_RETRIED, 0, (double)counts->retried);
    metrics_set_total(daemon->metrics, METRIC_REDELIVERIES, METRICS_REDELIVERY_FAILED, 0, (double)counts->failed);
    metrics_set_total(daemon->metrics, METRIC_REDELIVERIES, METRICS_REDELIVERY_POSTPONED, 0, (double)counts->postponed);
    struct nack_reader_counts nacks = nack_reader_counts(daemon->letters.nack_reader);
    metrics_set_total(daemon->metrics, METRIC_PARKED, 0, 0, (double)(counts->parked + nacks.parked + daemon->letters.parked));
    metrics_set_total(daemon->metrics, METRIC_NACKS, METRICS_RESULT_OK, 0, (double)(counts->nacks + nacks.read));
    metrics_set_total(daemon->metrics, METRIC_NACKS, METRICS_RESULT_FAILED, 0, (double)nacks.failed);
}

static void set_history(struct daemon *daemon)
{
    const struct daemon_outcomes *outcomes = &daemon->outcomes;
    metrics_set_total(daemon->metrics, METRIC_HISTORY, 0, 0, (double)outcomes->counts.delivered);
    metrics_set_total(daemon->metrics, METRIC_HISTORY_DROPPED, 0, 0, (double)(outcomes->counts.failed + outcomes->no_room));
}

static void refresh(void *context)
{
    struct daemon *daemon = context;
    struct sums sums = sum_up(daemon);
    set_letters(daemon);
    set_history(daemon);
    set_source_gauges(daemon, &sums);
    set_lane_gauges(daemon, &sums);
    set_common(daemon, &sums);
    set_clock(daemon);
    metrics_aliases_update(daemon->metrics);
    free(sums.sources);
}

static void config_text(void *context, struct buffer *buffer)
{
    const struct daemon *daemon = context;
    config_show(daemon->config, true, buffer);
}

void daemon_observe_serve(struct daemon *daemon)
{
    if (!daemon->asked) {
        return;
    }
    struct daemon_health parts;
    daemon_health_fill(daemon, &parts);
    struct health health = {parts.components, DAEMON_COMPONENTS, daemon->now.wall};
    const char *sources[256];
    const char *targets[LANES_MAX];
    size_t source_count = daemon->config->source_count < 256 ? daemon->config->source_count : 256;
    for (size_t i = 0; i < source_count; i++) {
        sources[i] = daemon->config->sources[i].topic;
    }
    for (size_t i = 0; i < daemon->lanes.count; i++) {
        targets[i] = daemon->lanes.names[i];
    }
    struct http_owner_info info = {.instance = daemon->config->instance,
                                   .group = daemon->config->group,
                                   .cluster_id = daemon->cluster[0] == '\0' ? NULL : daemon->cluster,
                                   .delivery = daemon_transaction_exact(daemon) ? "exactly_once" : "at_least_once",
                                   .sources = sources,
                                   .source_count = source_count,
                                   .targets = targets,
                                   .target_count = daemon->lanes.count,
                                   .started = {daemon->started_wall_ms}};
    struct http_owner_view view = {daemon->now, daemon->metrics, &health, &info, refresh, config_text, daemon};
    http_owner_serve(daemon->mailbox, &view);
}
