/* Splits: rows of a wide bucket move to the narrower ones below it, in portions that are copied out first, as LMDB's
 * memory is only valid until the next change. */
#include "store/store_job.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

#define PORTION_ROWS 32768u
#define PORTION_BYTES ((size_t)8 * 1024 * 1024)

struct portion {
    struct store_placed *rows;
    size_t count;
    size_t rows_most;
    uint8_t *bytes; /* the rows' bytes, one after another */
    size_t length;
    size_t room;
    bool exhausted; /* the bucket has no further row */
};

static void free_portion(struct portion *portion)
{
    free(portion->rows);
    free(portion->bytes);
}

/* Offsets into `bytes` until it stops growing: the spans are set by fix_spans. */
static int copy_row(struct portion *portion, const MDB_val *key, const MDB_val *value, lane_index lane)
{
    struct store_row from;
    if (!store_layout_row(value->mv_data, value->mv_size, &from)) {
        return MDB_CORRUPTED;
    }
    struct store_placed *row = &portion->rows[portion->count++];
    size_t length = from.bytes.length;
    if (portion->bytes == NULL || portion->room - portion->length < length) {
        portion->room = (portion->length + length) * 2;
        portion->bytes = memory_resize(portion->bytes, portion->room, 1);
    }
    if (length > 0) {
        memcpy(portion->bytes + portion->length, from.bytes.data, length);
    }
    portion->length += length;
    memcpy(row->key, key->mv_data, STORE_LAYOUT_ROW_KEY);
    row->lane = lane;
    row->due_ms = from.due_ms;
    row->id = from.id;
    row->row = (struct span){NULL, length};
    return 0;
}

static void fix_spans(struct portion *portion, uint8_t child_level)
{
    size_t at = 0;
    for (size_t i = 0; i < portion->count; i++) {
        struct store_placed *row = &portion->rows[i];
        row->row.data = portion->bytes + at;
        at += row->row.length;
        struct store_bucket bucket = store_layout_bucket(row->key);
        bucket.level = child_level;
        bucket.number = store_layout_number(row->due_ms, child_level);
        store_layout_bucket_key(row->key, &bucket);
    }
}

/* Copies rows and deletes them from where they are. At least one is taken; the byte budget stops what follows. */
static int take_out(struct store_job *job, const uint8_t *bucket, lane_index lane, struct portion *portion)
{
    uint8_t from[STORE_LAYOUT_ROW_KEY];
    memcpy(from, bucket, STORE_LAYOUT_BUCKET_KEY);
    store_layout_row_offset(from, 0);
    MDB_val key = {sizeof(from), from};
    MDB_val value;
    portion->count = 0;
    portion->length = 0;
    int code = mdb_cursor_get(job->rows, &key, &value, MDB_SET_RANGE);
    while (code == 0) {
        if (memcmp(key.mv_data, bucket, STORE_LAYOUT_BUCKET_KEY) != 0) {
            portion->exhausted = true;
            return 0;
        }
        size_t most = PORTION_BYTES < job->split_bytes_left ? PORTION_BYTES : (size_t)job->split_bytes_left;
        if (portion->count == portion->rows_most || (portion->count > 0 && portion->length + value.mv_size > most)) {
            return 0;
        }
        code = copy_row(portion, &key, &value, lane);
        code = code != 0 ? code : mdb_cursor_del(job->rows, 0);
        code = code != 0 ? code : mdb_cursor_get(job->rows, &key, &value, MDB_NEXT);
    }
    portion->exhausted = code == MDB_NOTFOUND;
    return portion->exhausted ? 0 : code;
}

static int count_out(struct store_job *job, const uint8_t *bucket, lane_index lane, const struct portion *portion)
{
    struct bucket_stats *stats = NULL;
    int code = store_touch_get(job, bucket, lane, &stats);
    if (code != 0) {
        return code;
    }
    if (portion->count > stats->count || portion->length > stats->bytes ||
        (portion->exhausted && portion->count != stats->count)) {
        return MDB_CORRUPTED;
    }
    stats->count -= portion->count;
    stats->bytes -= portion->length;
    return 0;
}

static int move_portion(struct store_job *job,
                        const uint8_t *bucket,
                        const struct checkpoint_split *split,
                        struct portion *portion)
{
    int code = take_out(job, bucket, split->from.lane, portion);
    code = code != 0 ? code : count_out(job, bucket, split->from.lane, portion);
    if (code != 0) {
        return code;
    }
    job->split_bytes_left -= portion->length < job->split_bytes_left ? portion->length : job->split_bytes_left;
    job->rows_split += portion->count;
    fix_spans(portion, (uint8_t)(split->from.level - 1));
    return store_place(job, portion->rows, portion->count);
}

int store_split_bucket(struct store_job *job, const struct checkpoint_split *split)
{
    uint8_t bucket[STORE_LAYOUT_BUCKET_KEY];
    if (split->from.level == 0) {
        return EINVAL;
    }
    int code = store_put_bucket_key(job, split->from, bucket);
    uint32_t left = split->rows_max;
    struct portion portion = {.rows =
                                  memory_new(left < PORTION_ROWS ? left : PORTION_ROWS, sizeof(struct store_placed))};
    while (code == 0 && left > 0 && !portion.exhausted && job->split_bytes_left > 0) {
        portion.rows_most = left < PORTION_ROWS ? left : PORTION_ROWS;
        code = move_portion(job, bucket, split, &portion);
        left -= (uint32_t)portion.count;
    }
    free_portion(&portion);
    return code;
}
