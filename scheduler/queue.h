/*
 * A queue: the pending records of one lane of one slot, and how far they are done. What a queue decides by itself; what goes to
 * disk and comes from it is window.h's and checkpoint_plan.h's affair.
 */
#ifndef TARRY_SCHEDULER_QUEUE_H
#define TARRY_SCHEDULER_QUEUE_H

#include "scheduler/core_state.h"

/* The slot's queue of this lane (LANES_MAX + lane: the one behind its boundary); made, standing at `frontier`, if there is none yet. Never NULL. */
struct queue *queue_get(struct core *core, struct slot *slot, uint16_t index, const struct frontier *frontier);

/* Frees a queue and what it holds in memory. */
void queue_free(struct core *core, struct queue *queue);

/* A record was read and is pending (it stands in the unwritten list): keep it in memory if it is within the window. */
void queue_arrive(struct core *core, struct queue *queue, struct key key, uint32_t bytes);

/* Puts a record that is not in memory there: into the late heap or the wheel, by the point. A late one may be left on disk
 * (`spilled_from`) when the heap is at its limit. */
void queue_remember(struct core *core, struct queue *queue, struct key key, uint32_t bytes);

/* Takes what is next and due, and appends it to the FIFO (R1): late arrivals by offset, then by (due, offset). False: nothing to take now. The
 * caller has checked that the queue may take at all (queue_may_take). */
bool queue_take(struct core *core, struct slot *slot, struct queue *queue, struct now now, uint64_t *sequence);

/* True when nothing but the clock, the window and the lane's rate keeps it from taking: R2 held, lane open, FIFO with room. */
bool queue_is_open(const struct core *core, const struct slot *slot, const struct queue *queue);

/* True when nothing but the clock and the window keeps it from taking. */
bool queue_may_take(const struct core *core, const struct slot *slot, const struct queue *queue);

/* Takes what is ended off the head of the FIFO, and with done_too what is done; the point follows. */
void queue_advance(struct core *core, struct queue *queue, bool done_too);

/* True when this record, read earlier, is done; also when the cut, which moves with commits, does not say so yet. O(1) unless late ones are in flight. */
bool queue_is_done(const struct slot *slot, const struct queue *queue, struct key key);

/* The same for many: all that is passed below this cut is done. O(1) unless late ones are in flight, then O(FIFO); and O(pairs). */
int64_t queue_cut(const struct slot *slot, const struct queue *queue);
bool queue_is_done_below(const struct queue *queue, struct key key, int64_t cut);

/* The record's place in the FIFO, NULL: it is not there. O(FIFO), O(1) for what is beyond all that was taken. */
struct taken *queue_find_taken(const struct queue *queue, struct key key);

/* Brings the frontier up to date with what was read and what the clock has passed: what is needed before F is committed or asked. O(FIFO)
 * when late ones are in it. */
void queue_refresh(const struct slot *slot, struct queue *queue, int64_t wall_ms);

/* Computes `outlook`: F as the next commit says it. `sent_too`: what is in flight counts as done, as the commit stands or falls with it. */
void queue_look_ahead(const struct slot *slot, struct queue *queue, bool sent_too);

/* The wall clock at which queue_refresh may have something to do with an old pair or a bucket in which nothing is left to fire, TIME_NEVER: it has nothing. */
int64_t queue_next_pass(struct queue *queue, int64_t wall_ms);

/* The wall clock at which the queue will have something to take, TIME_NEVER: none in memory. */
int64_t queue_next_due(const struct slot *slot, struct queue *queue);

/* True when all the queue's records up to `point` are done (R7: it may adopt a frontier with this point). */
bool queue_is_clear_up_to(struct queue *queue, struct key point);

/* Wheel and heap entries. */
static inline uint32_t queue_entries(const struct queue *queue)
{
    return wheel_count(&queue->wheel) + queue->late.count;
}

#endif
