/*
 * Arithmetic of time buckets (docs/internals/core.md): which bucket a due time belongs to, and what time a bucket
 * covers.
 *
 * Pure functions, any thread, O(1). Due times are 0 or greater, levels less than BUCKET_LEVELS, numbers those of a
 * due time: what comes from a store is checked with bucket_is_valid first.
 */
#ifndef TARRY_SCHEDULER_BUCKET_H
#define TARRY_SCHEDULER_BUCKET_H

#include "scheduler/types.h"

/* A row is written to the finest level at which its bucket is fewer than this many ahead of now. */
#define BUCKET_AHEAD_MAX 64

/* Width of the level's buckets in ms: 2^(13 + 6 level). */
int64_t bucket_width_ms(unsigned level);

/* The bucket of this level that covers due_ms. */
struct bucket_id bucket_of(lane_index lane, unsigned level, int64_t due_ms);

/* Level that a row due at due_ms is written to at now_ms: the finest one at which its bucket is fewer than
 * BUCKET_AHEAD_MAX ahead (overdue: 0), the coarsest if there is none. */
unsigned bucket_level_for(int64_t due_ms, int64_t now_ms);

/* True when level and number can be those of a due time. */
bool bucket_is_valid(struct bucket_id id);

/* First ms that the bucket covers. */
int64_t bucket_start_ms(struct bucket_id id);

/* Last ms that the bucket covers. */
int64_t bucket_last_ms(struct bucket_id id);

/* First ms behind it; TIME_NEVER for the last bucket of all time, which also covers that ms. */
int64_t bucket_end_ms(struct bucket_id id);

/* True when a record of the bucket's lane due at due_ms belongs to it, if written at its level. */
bool bucket_covers(struct bucket_id id, int64_t due_ms);

/* The bucket one level up that covers its time. Not for the coarsest level. */
struct bucket_id bucket_parent(struct bucket_id id);

/* The first of the 64 buckets one level down that cover its time. Not for level 0. */
struct bucket_id bucket_first_child(struct bucket_id id);

/* The moment from which a bucket of level > 0 is split: its start is nearer than a quarter of its width. May be
 * negative. */
int64_t bucket_split_ms(struct bucket_id id);

/* By lane, level, number: -1, 0, 1. */
int bucket_compare(struct bucket_id a, struct bucket_id b);

#endif
