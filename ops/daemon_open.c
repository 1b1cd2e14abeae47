/* Partitions as they come and go: looked up, identified (R8), handed to the core; finished and given up. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "bridge/time_text.h"
#include "ops/daemon_opening.h"

#define RETRY_MS 1000
#define RETRIES_SLOWER 5  /* the pause between attempts grows up to so many RETRY_MS */
#define LEAVE_MS 3000     /* what is in flight gets this long before a partition is given up */
#define FAILED_WAITS 2    /* after a failed look-up none is made for so many times as long as it took */
#define OPEN_AT_ONCE 16   /* in one turn, and */
#define OPEN_MS 200       /* none is begun later in it, so that deliveries go on between */
#define PAUSED_MS (TIME_TEXT_LAST_MS - INT64_C(31536000000)) /* due in the last year that there is (buckets are coarse): of the paused alone */

void daemon_open_assigned(struct daemon *daemon, const char *topic, int32_t number)
{
    size_t index = 0;
    while (index < daemon->config->source_count && strcmp(daemon->config->sources[index].topic, topic) != 0) {
        index++;
    }
    if (index == daemon->config->source_count || partitions_find(&daemon->partitions, topic, number) != NULL) {
        return;
    }
    partitions_add(&daemon->partitions, topic, number, index);
    daemon->last_partition = NULL;
}

static void tell(struct partition *partition, enum log_level level, const char *event, const char *text)
{
    char problem[PARTITIONS_PROBLEM_MAX];
    snprintf(problem, sizeof(problem), "%s/%" PRId32 ": %s", partition->topic, partition->number, text);
    bool same = strcmp(partition->problem, problem) == 0;
    memcpy(partition->problem, problem, sizeof(problem));
    if (!same) {
        log_write(level, event,
                  LOG_FIELDS(LOG_TEXT("topic", partition->topic), LOG_NUMBER("partition", partition->number)), "%s", text);
    }
}

/* Lanes that the frontier names and the configuration does not: they live on until they can adopt (R7). */
static bool add_retired_lanes(struct daemon *daemon, const struct metadata *metadata, struct error *error)
{
    for (uint32_t i = 0; i < (uint32_t)metadata->lane_count + metadata->behind_count; i++) {
        lane_index lane;
        const char *name = i < metadata->lane_count ? metadata->lanes[i].name : metadata->behind[i - metadata->lane_count].name;
        if (lanes_find(&daemon->lanes, name, &lane)) {
            continue;
        }
        if (!lanes_add(&daemon->lanes, name, &lane, error) || !store_bind_lane(daemon->store, lane, name, error)) {
            return false;
        }
        struct core_lane_options limits = lanes_options(&daemon->lanes, daemon->config, lane);
        core_lane_add(daemon->core, &limits);
        metrics_label_add(daemon->metrics, METRICS_LABEL_TARGET, name);
    }
    return true;
}

static void gain(struct daemon *daemon, struct partition *partition, struct opening *opening)
{
    const struct identity_decision *decision = &opening->decision;
    struct input_slot_gained *gained = memory_new(1, sizeof(*gained));
    daemon->gained[daemon->gained_count++] = gained;
    partition->epoch = partitions_next_epoch(&daemon->partitions);
    partition->gained = true;
    partition->identity = decision->frontier.identity;
    partition->has_ids = opening->stored.found && opening->stored.bucket_count > 0;
    bool reads = decision->verdict == IDENTITY_START;
    gained->epoch = partition->epoch;
    gained->position = reads ? decision->position : opening->stored.position;
    gained->catch_up_to = reads ? opening->lookup.end : 0;
    gained->high = reads ? opening->lookup.high : 0;
    gained->stored_position = opening->stored.found ? opening->stored.position : 0;
    gained->buckets = opening->stored.buckets;
    gained->bucket_count = opening->stored.bucket_count;
    gained->marks = opening->stored.marks;
    gained->mark_count = opening->stored.mark_count;
    gained->skips = opening->stored.skips;
    gained->skip_count = opening->stored.skip_count;
    opening->stored.buckets = NULL; /* the core borrows them: freed after its step */
    opening->stored.marks = NULL;
    opening->stored.skips = NULL;
    lanes_frontier(&daemon->lanes, &decision->frontier, &gained->frontier);
    daemon_input(daemon, INPUT_SLOT_GAINED, partition)->as.gained = gained;
    if (!reads) {
        daemon_input(daemon, INPUT_READING_STOPPED, partition);
    }
}

static bool begin(struct daemon *daemon, struct partition *partition, struct opening *opening, struct error *error)
{
    const struct identity_decision *decision = &opening->decision;
    if (decision->verdict == IDENTITY_HOLD) {
        partition->state = PARTITIONS_HELD;
        return source_hold(daemon->source, partition->topic, partition->number, error);
    }
    if (!add_retired_lanes(daemon, &decision->frontier, error) || !daemon_opening_choose(daemon, partition, opening, error)) {
        daemon_fail(daemon, error);
        return false;
    }
    bool reads = decision->verdict == IDENTITY_START;
    bool done = reads ? source_start(daemon->source, partition->topic, partition->number, decision->position, error)
                      : source_hold(daemon->source, partition->topic, partition->number, error);
    if (done) {
        gain(daemon, partition, opening);
        partition->state = reads ? PARTITIONS_OPEN : PARTITIONS_DRAINING;
        partition->restart = decision->restart;
        partition->start_over = false;
    }
    return done;
}

static void tell_outcome(struct partition *partition, const struct opening *opening)
{
    const struct identity_decision *decision = &opening->decision;
    bool well = decision->verdict == IDENTITY_START && !decision->refire;
    if (decision->text[0] != '\0') {
        tell(partition, well ? LOG_LEVEL_INFO : LOG_LEVEL_ERROR,
             decision->verdict == IDENTITY_START ? "partition_reset" : "topic_changed", decision->text);
    }
    if (decision->verdict == IDENTITY_START) {
        partition->problem[0] = '\0';
        log_write(LOG_LEVEL_INFO, "partition_gained",
                  LOG_FIELDS(LOG_TEXT("topic", partition->topic), LOG_NUMBER("partition", partition->number),
                             LOG_NUMBER("position", decision->position), LOG_NUMBER("end", opening->lookup.end),
                             LOG_NUMBER("buckets", opening->stored.bucket_count)),
                  "reading %s/%" PRId32 " from %" PRId64, partition->topic, partition->number, decision->position);
    }
}

/* False: it is tried again later. */
static bool open_one(struct daemon *daemon, struct partition *partition)
{
    struct error error = {0};
    struct opening *opening = memory_new(1, sizeof(*opening));
    bool done = daemon_opening_find_out(daemon, partition, opening, &error);
    if (done) {
        identity_decide(&opening->facts, &opening->decision);
        done = begin(daemon, partition, opening, &error);
    }
    if (done) {
        tell_outcome(partition, opening);
        partition->failures = 0;
    } else {
        tell(partition, LOG_LEVEL_WARNING, "partition_waits", error.text);
        partition->failures += partition->failures < RETRIES_SLOWER;
        partition->retry_at_ms = clock_mono().ms + (int64_t)partition->failures * RETRY_MS; /* the attempt itself took its time */
    }
    daemon_opening_free(opening);
    free(opening);
    return done;
}

bool daemon_open_only_paused(const struct daemon *daemon, const struct partition *partition)
{
    uint64_t pending = 0;
    struct core_slot_stats slot;
    core_slot_stats(daemon->core, partition->slot, &slot);
    for (lane_index lane = 0; lane < daemon->lanes.count; lane++) {
        struct core_queue_stats stats;
        core_queue_stats(daemon->core, partition->slot, lane, daemon->now, &stats);
        if (stats.pending > 0 && (stats.in_flight > 0 || stats.overdue > 0 || stats.next_due_ms < PAUSED_MS)) {
            return false;
        }
        pending += stats.pending;
    }
    return pending > 0 && slot.unwritten_rows == 0; /* of those nobody has counted when they are due */
}

/* A person has to do something: by itself no paused one leaves. */
static void tell_paused(const struct daemon *daemon, struct partition *partition)
{
    if (daemon_open_only_paused(daemon, partition)) {
        tell(partition, LOG_LEVEL_ERROR, "topic_paused",
             "only paused schedules of the former topic are pending, and they never leave, so that the new one is not read: give them to the new topic, "
             "then stop, move store.path away and start with --accept-change");
    }
}

/* The former topic's records have all left: what stands there now is read, as accepted. The checkpoint is forgotten first: else a process that ends
 * before the next one would fire its rows again. */
static void look_drained(struct daemon *daemon, struct partition *partition)
{
    struct error error;
    if (!partition->restart || daemon->stopping || daemon->now.mono.ms < partition->retry_at_ms) {
        return;
    }
    struct core_slot_stats stats;
    core_slot_stats(daemon->core, partition->slot, &stats);
    partition->retry_at_ms = daemon->now.mono.ms + RETRY_MS;
    if (writer_busy(daemon->writer) || stats.pending > 0) {
        tell_paused(daemon, partition);
        return;
    }
    if (!store_forget_slot(daemon->store, partition->slot, &error)) {
        daemon_fail(daemon, &error);
        return;
    }
    daemon_input(daemon, INPUT_SLOT_LOST, partition);
    partition->gained = false;
    partition->start_over = true;
    partition->state = PARTITIONS_OPENING;
}

static void release(struct daemon *daemon, struct partition *partition)
{
    if (partition->gained) {
        daemon_input(daemon, INPUT_SLOT_LOST, partition);
    }
    source_release(daemon->source, partition->topic, partition->number);
    log_write(LOG_LEVEL_INFO, "partition_released",
              LOG_FIELDS(LOG_TEXT("topic", partition->topic), LOG_NUMBER("partition", partition->number)),
              "gave up %s/%" PRId32 ": whoever has it next delivers what is pending there", partition->topic, partition->number);
    daemon->last_partition = NULL;
    partitions_remove(&daemon->partitions, partition);
}

void daemon_open_leave(struct daemon *daemon, struct partition *partition, bool lost)
{
    if (lost || !partition->gained) {
        release(daemon, partition);
        return;
    }
    partition->state = PARTITIONS_LEAVING;
    partition->leave_by_ms = daemon->now.mono.ms + LEAVE_MS;
    daemon_input(daemon, INPUT_SLOT_LEAVING, partition);
}

void daemon_open_left(struct daemon *daemon, struct partition *partition)
{
    if (partition != NULL && partition->state == PARTITIONS_LEAVING) {
        release(daemon, partition);
    }
}

/* The one that has waited longest for its attempt; NULL: none is due. */
static struct partition *next_to_open(const struct daemon *daemon)
{
    struct partition *next = NULL;
    for (slot_index slot = 0; slot < daemon->partitions.count; slot++) {
        struct partition *partition = partitions_at(&daemon->partitions, slot);
        if (partition != NULL && partition->state == PARTITIONS_OPENING && partition->retry_at_ms <= daemon->now.mono.ms &&
            (next == NULL || partition->retry_at_ms < next->retry_at_ms)) {
            next = partition;
        }
    }
    return next;
}

/* Each may hold the owner up, one that fails for seconds: then the others wait for the next turn, too. */
static void open_some(struct daemon *daemon)
{
    bool done = daemon->now.mono.ms >= daemon->open_at_ms && !daemon->stopping && !writer_busy(daemon->writer) && daemon_transaction_settled(daemon);
    while (done && daemon->gained_count < OPEN_AT_ONCE && clock_mono().ms - daemon->now.mono.ms < OPEN_MS) {
        struct partition *partition = next_to_open(daemon);
        int64_t began_ms = clock_mono().ms;
        done = partition != NULL && open_one(daemon, partition);
        daemon->open_at_ms = done || partition == NULL ? 0 : clock_mono().ms + (clock_mono().ms - began_ms) * FAILED_WAITS;
    }
}

void daemon_open_partitions(struct daemon *daemon)
{
    for (slot_index slot = 0; slot < daemon->partitions.count; slot++) {
        struct partition *partition = partitions_at(&daemon->partitions, slot);
        if (partition != NULL && partition->state == PARTITIONS_DRAINING) {
            look_drained(daemon, partition);
        } else if (partition != NULL && partition->state == PARTITIONS_LEAVING && daemon->now.mono.ms >= partition->leave_by_ms) {
            release(daemon, partition);
        }
    }
    open_some(daemon);
}

int64_t daemon_open_deadline(const struct daemon *daemon)
{
    int64_t least = TIME_NEVER;
    bool settled = !daemon_transaction_exact(daemon) || sink_transaction_ready(daemon->sink); /* the sink wakes us */
    for (slot_index slot = 0; slot < daemon->partitions.count; slot++) {
        const struct partition *partition = partitions_at(&daemon->partitions, slot);
        if (partition == NULL) {
            continue;
        }
        bool retries = (partition->state == PARTITIONS_OPENING && !writer_busy(daemon->writer)) ||
                       (partition->state == PARTITIONS_DRAINING && partition->restart);
        int64_t at_ms = partition->retry_at_ms > daemon->open_at_ms ? partition->retry_at_ms : daemon->open_at_ms;
        if (retries && !daemon->stopping && settled && at_ms < least) {
            least = at_ms;
        }
        if (partition->state == PARTITIONS_LEAVING && partition->leave_by_ms < least) {
            least = partition->leave_by_ms;
        }
    }
    return least;
}
