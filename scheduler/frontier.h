/*
 * What can be said of a frontier and done with it (docs/frontier.md, R1 and R7). Pure functions on `struct
 * frontier`, O(pairs), any thread.
 *
 * A pair (point, cut) says: every record of the lane with offset < cut and key <= point is done. A frontier says
 * what any of its pairs says.
 */
#ifndef TARRY_SCHEDULER_FRONTIER_H
#define TARRY_SCHEDULER_FRONTIER_H

#include "scheduler/types.h"

/* Nothing is done yet; reading begins at `offset`. */
struct frontier frontier_fresh(int64_t offset);

/* A lane that stands at the shared pair. */
struct frontier frontier_of(struct frontier_pair pair);

/* True when the record at `offset` that is due at due_ms is done. */
bool frontier_done(const struct frontier *frontier, int64_t offset, int64_t due_ms);

/* True when the live point has reached `point`. */
bool frontier_covers_point(const struct frontier *frontier, struct key point);

/* True when everything that `pair` says is said by one of the frontier's pairs too. */
bool frontier_covers_pair(const struct frontier *frontier, struct frontier_pair pair);

/* Moves the live pair on; neither its point nor its cut ever goes back (R1): what is behind in one of them is
 * ignored for that one. The caller knows that all is done below both as they are then. Old pairs that the live one
 * has come to include are dropped. */
void frontier_advance(struct frontier *frontier, struct key point, int64_t cut);

/* Keeps the live pair among the old ones and starts a new one below it, with the same cut (R1: a late arrival is not
 * yet due by our clock). Nothing ceases to be done. False: no room for another old pair, nothing changed. */
bool frontier_step_back(struct frontier *frontier);

/* R7: true when `pair` is not behind the live pair in point or cut and covers no unfinished record of the lane, the
 * least key of which is `unfinished`; NULL: there is none. */
bool frontier_can_adopt(const struct frontier *frontier, struct frontier_pair pair, const struct key *unfinished);

/* Takes the pair over. Only when frontier_can_adopt. Old pairs that say more are kept. */
void frontier_adopt(struct frontier *frontier, struct frontier_pair pair);

/* True when one pair covers every record that the bucket ever held, by its statistics: then it can be dropped whole. A
 * bucket without records is done. */
bool frontier_bucket_done(const struct frontier *frontier, const struct bucket_stats *stats);

/* Same pairs in the same order. */
bool frontier_pair_equal(struct frontier_pair a, struct frontier_pair b);
bool frontier_equal(const struct frontier *a, const struct frontier *b);

#endif
