/*
 * How keys and values look on disk: pure functions between numbers and bytes, no LMDB. docs/internals/store.md draws
 * them.
 *
 * All numbers are big-endian, so that byte order is number order. A bucket's key is the prefix of its rows' keys.
 */
#ifndef TARRY_STORE_LAYOUT_H
#define TARRY_STORE_LAYOUT_H

#include "base/span.h"
#include "scheduler/types.h"

#define STORE_LAYOUT_PREFIX 4      /* partition id */
#define STORE_LAYOUT_BUCKET_KEY 14 /* partition id 4, lane id 2, level 1 and bucket number 7 */
#define STORE_LAYOUT_NUMBER_MAX (INT64_MAX >> BUCKET_SHIFT_0)
#define STORE_LAYOUT_ROW_KEY 22 /* the same and offset 8 */
#define STORE_LAYOUT_ROW_HEAD 8 /* due_ms before the row's bytes */
#define STORE_LAYOUT_ID 16      /* between the two, if the row has one */
#define STORE_LAYOUT_ID_KEY 20  /* partition id 4, record id */
#define STORE_LAYOUT_EVENT 30   /* lane id 2, due_ms 8, offset 8, root 8, bytes 4 */
#define STORE_LAYOUT_MARK_KEY_MAX 29 /* partition id 4, kind 1, offset 8, record id (mark) or skipped 8 (skip) */
#define STORE_LAYOUT_MARK_VALUE 8    /* a mark's end; a skip has none */
#define STORE_LAYOUT_STATS 48
#define STORE_LAYOUT_GARBAGE_KEY 11    /* "garbage" and partition id */
#define STORE_LAYOUT_PARTITION_HEAD 12 /* id 4, position 8; metadata text follows */
#define STORE_LAYOUT_TOPIC_MAX 249     /* Kafka's own limit */
#define STORE_LAYOUT_NAME_KEY_MAX (STORE_LAYOUT_TOPIC_MAX + 5)

/* A bucket as the store knows it: ids of its own instead of slot and lane index. */
struct store_bucket {
    uint32_t partition;
    uint16_t lane;
    uint8_t level;
    int64_t number; /* 0 to STORE_LAYOUT_NUMBER_MAX */
};

/* A row's value in parts; `bytes` are borrowed from it. */
struct store_row {
    int64_t due_ms;
    struct record_id id;
    struct span bytes;
};

/* A mark or a skip as key and value. */
struct store_mark {
    uint8_t key[STORE_LAYOUT_MARK_KEY_MAX];
    uint8_t key_length;
    uint8_t value_length;
    uint8_t value[STORE_LAYOUT_MARK_VALUE];
};

void store_layout_put_u16(uint8_t *at, uint16_t value);
void store_layout_put_u32(uint8_t *at, uint32_t value);
void store_layout_put_u64(uint8_t *at, uint64_t value);
uint16_t store_layout_u16(const uint8_t *at);
uint32_t store_layout_u32(const uint8_t *at);
uint64_t store_layout_u64(const uint8_t *at);

/* Writes STORE_LAYOUT_BUCKET_KEY bytes. */
void store_layout_bucket_key(uint8_t *key, const struct store_bucket *bucket);
struct store_bucket store_layout_bucket(const uint8_t *key);

/* Writes the offset behind a bucket's key. A negative offset counts as 0: none is below it. */
void store_layout_row_offset(uint8_t *key, int64_t offset);
int64_t store_layout_offset(const uint8_t *row_key);

/* Bytes before those of a row. */
size_t store_layout_row_head(struct record_id id);

/* Writes store_layout_row_head bytes. The due is within STORE_DUE_BOUND. */
void store_layout_put_row_head(uint8_t *value, int64_t due_ms, struct record_id id);

/* Takes a row's value apart; false if it is too short for one. */
bool store_layout_row(const uint8_t *value, size_t length, struct store_row *row);

/* Writes STORE_LAYOUT_ID_KEY bytes. */
void store_layout_id_key(uint8_t *key, uint32_t partition, struct record_id id);

/* Reads and writes STORE_LAYOUT_EVENT bytes; lane_index is the caller's affair. */
void store_layout_put_event(uint8_t *value, uint16_t lane_id, const struct stored_event *event);
void store_layout_event(const uint8_t *value, uint16_t *lane_id, struct stored_event *event);

/* Marks and skips. Reading: true and `mark`, or false and `skip`. */
void store_layout_mark(struct store_mark *at, uint32_t partition, const struct mark *mark);
void store_layout_skip(struct store_mark *at, uint32_t partition, const struct skip *skip);
bool store_layout_read_mark(const uint8_t *key, const uint8_t *value, struct mark *mark, struct skip *skip);

/* True if key and value have the lengths of a mark's or a skip's. */
bool store_layout_mark_valid(const uint8_t *key, size_t key_length, size_t value_length);

/* Reads and writes STORE_LAYOUT_STATS bytes; id is left alone. */
void store_layout_put_stats(uint8_t *value, const struct bucket_stats *stats);
void store_layout_stats(const uint8_t *value, struct bucket_stats *stats);

/* Writes the key of (topic, partition) and returns its length, 0 when the topic is empty or longer than Kafka allows.
 */
size_t store_layout_name_key(uint8_t *key, const char *topic, int32_t partition);

/* The key in `meta` that says: rows of this partition id are garbage. */
void store_layout_garbage_key(uint8_t *key, uint32_t partition);

/* The bucket number that a due time has at a level. */
int64_t store_layout_number(int64_t due_ms, uint8_t level);

#endif
