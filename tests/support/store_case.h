/* A store in a folder of its own, and plans for it: shared by the tests of the store. */
#ifndef TARRY_TESTS_STORE_CASE_H
#define TARRY_TESTS_STORE_CASE_H

#include "store/store.h"

#define STORE_CASE_ROWS 250000
#define STORE_CASE_ITEMS 4096

struct store_case {
    char *folder;   /* a temporary one, removed at the end */
    char path[256]; /* of the store within it */
    uint64_t max_size_bytes;
    struct store *store;
    /* The plan under construction: one slot. */
    struct checkpoint_slot slot;
    struct checkpoint_row *rows;
    struct checkpoint_split splits[STORE_CASE_ITEMS];
    struct bucket_id drops[STORE_CASE_ITEMS];
    struct checkpoint_trim trims[STORE_CASE_ITEMS];
    struct checkpoint_erase erases[STORE_CASE_ITEMS];
    const char *metadata;
    /* What the last store_write said. */
    struct store_result result;
    struct error error;
};

/* A temporary folder, no store opened yet. */
struct store_case *store_case_new(void);
void store_case_free(struct store_case *test);

/* Opens with lanes 0 "default" and 1 "orders" bound, slot 0 = (t, 0), slot 1 = (t, 1). Fails the test if it cannot. */
void store_case_open(struct store_case *test);
void store_case_open_bare(struct store_case *test);
void store_case_close(struct store_case *test);

/* A ref that says what the bytes are: `length` bytes of a fixed pattern that starts differently for each `kind`. */
row_ref store_case_ref(uint32_t kind, uint32_t length);
struct span store_case_bytes(row_ref ref);

/* Adds to the plan. */
void store_case_put(struct store_case *test, struct bucket_id bucket, int64_t offset, int64_t due_ms, row_ref ref);
void store_case_split(struct store_case *test, struct bucket_id from, uint32_t rows_max);
void store_case_drop(struct store_case *test, struct bucket_id bucket);
void store_case_trim(struct store_case *test, struct bucket_id bucket, int64_t below_offset, uint32_t rows_max);
void store_case_erase(struct store_case *test, lane_index lane, int64_t due_ms, int64_t offset);

/* Gives the row that was added last an id. */
void store_case_name(struct store_case *test, struct record_id id, int64_t root);

/* Marks and skips of the plan; borrowed until it is written. */
void store_case_marks(struct store_case *test, const struct mark *marks, size_t count);
void store_case_skips(struct store_case *test, const struct skip *skips, size_t count);

/* Writes the plan for a slot and begins a new one; `result` and `error` are those of the call. */
bool store_case_try(struct store_case *test, slot_index slot, int64_t position);
void store_case_write(struct store_case *test, slot_index slot, int64_t position);

/* The statistics of a bucket that the last write touched; fails the test if it is not among them. */
struct bucket_stats store_case_touched(const struct store_case *test, struct bucket_id bucket);

/* What is known of an id; offset -1: nothing. */
struct stored_event store_case_find(struct store_case *test, slot_index slot, struct record_id id);

/* Reads all rows of a bucket by scans of `slice` rows. Returns the count; rows must have room. */
size_t store_case_scan(
    struct store_case *test, slot_index slot, struct bucket_id bucket, uint32_t slice, struct scanned_row *rows);

/* Asserts that the row is there with the bytes of the ref. */
void store_case_assert_row(
    struct store_case *test, slot_index slot, struct bucket_id bucket, int64_t offset, row_ref ref);

/* The bucket of a due time. */
struct bucket_id store_case_bucket(lane_index lane, uint8_t level, int64_t due_ms);

#endif
