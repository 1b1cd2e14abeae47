/*
 * The catch-up boundary: what was overdue when a slot was gained waits in queues of its own, so that it holds up nothing that comes due from then on.
 *
 * With core_options.catch_up_per_s a lane's records due up to the slot's boundary B are the business of a second queue, the one *behind*; all others are
 * the lane's own. The two have a frontier each: a record due up to B is done if the one behind says so, any other if the lane's own does. Rows stay in the
 * lane's buckets. docs/internals/core.md says why that is right, and how the queue behind ends. Owner thread, as the whole core.
 */
#ifndef TARRY_SCHEDULER_CATCH_UP_H
#define TARRY_SCHEDULER_CATCH_UP_H

#include "scheduler/bucket.h"
#include "scheduler/core_state.h"
#include "scheduler/frontier.h"

/* The lane's queue behind; NULL: it has none. O(1). */
static inline struct queue *catch_up_behind(const struct slot *slot, lane_index lane)
{
    return slot->boundary_ms == 0 ? NULL : slot->queues[LANES_MAX + lane];
}

/* The one queue whose business a record of this lane is that is due then; NULL: nothing of the lane was ever here. O(1). */
static inline struct queue *catch_up_queue(const struct slot *slot, lane_index lane, int64_t due_ms)
{
    struct queue *behind = due_ms <= slot->boundary_ms ? catch_up_behind(slot, lane) : NULL;
    return behind != NULL ? behind : slot->queues[lane];
}

/* The one queue that keeps this bucket's statistics. One that reaches over the boundary is the lane's own, whatever it holds, until it has been split. O(1). */
static inline struct queue *catch_up_bucket_queue(const struct slot *slot, struct bucket_id bucket)
{
    return catch_up_queue(slot, bucket.lane, bucket_last_ms(bucket));
}

/* As frontier_bucket_done, of a bucket of this queue. One that reaches over the boundary is never done: a half of it is not for this queue to say. */
static inline bool catch_up_bucket_done(const struct queue *queue, const struct frontier *frontier, const struct bucket_stats *stats)
{
    return bucket_start_ms(stats->id) > queue->floor.due_ms && frontier_bucket_done(frontier, stats);
}

/* True when a row in this bucket would stand on both sides' ground: it is written at a finer level. */
static inline bool catch_up_is_over(const struct queue *queue, struct bucket_id bucket)
{
    return bucket_start_ms(bucket) <= queue->floor.due_ms || bucket_last_ms(bucket) > queue->ceiling_ms;
}

/* INPUT_SLOT_GAINED, once the lanes' own queues are there: goes on with the boundary that F has, else draws a new one if the options say so. O(lanes + buckets). */
void catch_up_gain(struct core *core, struct slot *slot, const struct input_slot_gained *gained, struct now now);

/* How far a queue may say it has read: its cut is not beyond. For one behind only as far as needed, or it would stay ahead of the lane's own, and never end. O(1). */
int64_t catch_up_read_to(const struct slot *slot, const struct queue *queue);

/* Of queues behind in which nothing is left: the frontier says so, in words that need no entry of its own. Outlooks are up to date. O(lanes). */
void catch_up_pass(const struct slot *slot, struct now now);

/* True when `behind` says other than the lane's own frontier does of what is due up to the boundary: F keeps an entry for it. O(1). */
bool catch_up_is_apart(const struct slot *slot, const struct frontier *behind, const struct frontier *own);

/* Once in a step: counts what the rate lets through, and frees queues behind whose end is acknowledged. O(slots), and O(lanes) where there is a boundary. */
void catch_up_turn(struct core *core, struct now now);

/* What is taken of a lane on both sides, all slots together: records that count against max_in_flight, and bytes. O(1). */
static inline uint32_t catch_up_in_flight(const struct core *core, lane_index lane)
{
    const uint32_t *counts = core->options.exactly_once ? core->lane_sent : core->lane_taken;
    return counts[lane] + counts[LANES_MAX + lane];
}

static inline uint64_t catch_up_taken_bytes(const struct core *core, lane_index lane)
{
    return core->lane_taken_bytes[lane] + core->lane_taken_bytes[LANES_MAX + lane];
}

/* True when the rate lets another record of this queue through, and, of one behind, it leaves room in flight for the lane's own. O(1). */
bool catch_up_admits(const struct core *core, const struct queue *queue);

/* A record was taken. */
void catch_up_taken(struct core *core, struct queue *queue, struct key key);

/* Old pairs' worth of metadata that the slot's entries may take (core_options.old_pairs_max). O(1). */
uint32_t catch_up_pairs(const struct slot *slot);

/* When something of this is due by itself: the monotonic moment at which the rate lets this queue go on, the wall clock at which a boundary ahead of it is
 * reached. TIME_NEVER: never. */
int64_t catch_up_rate_deadline(const struct core *core, const struct queue *queue);
int64_t catch_up_boundary_deadline(const struct slot *slot, int64_t wall_ms);

#endif
