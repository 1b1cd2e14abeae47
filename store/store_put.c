/* New rows of a plan. */
#include "store/store_job.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

/* Rows are placed in portions, to bound the memory beside the plan's own. */
#define PORTION_ROWS 65536u

static int write_lane_name(struct store_job *job, lane_index lane, char *name, uint16_t id)
{
    uint8_t bytes[2];
    store_layout_put_u16(bytes, id);
    MDB_val key = {strlen(name), name};
    MDB_val value = {sizeof(bytes), bytes};
    int code = mdb_put(job->txn, job->store->lanes, &key, &value, 0);
    job->lane_written[lane] = code == 0;
    return code;
}

int store_put_bucket_key(struct store_job *job, struct bucket_id id, uint8_t *key)
{
    char name[METADATA_LANE_NAME_MAX + 1];
    uint16_t lane = store_names_lane(job->store, id.lane, name);
    if (lane == 0 || id.level >= BUCKET_LEVELS || id.number < 0 || id.number > STORE_LAYOUT_NUMBER_MAX) {
        return EINVAL;
    }
    struct store_bucket bucket = {job->partition, lane, id.level, id.number};
    store_layout_bucket_key(key, &bucket);
    return job->lane_written[id.lane] ? 0 : write_lane_name(job, id.lane, name, lane);
}

static int prepare(struct store_job *job, const struct checkpoint_row *row, struct store_placed *placed)
{
    placed->row = job->source->row(row->ref, job->source->context);
    placed->lane = row->bucket.lane;
    placed->due_ms = row->due_ms;
    placed->id = row->id;
    if (placed->row.data == NULL || placed->row.length > STORE_ROW_MAX || row->offset < 0 ||
        row->due_ms >= STORE_DUE_BOUND || row->due_ms < -STORE_DUE_BOUND) {
        return EINVAL;
    }
    store_layout_row_offset(placed->key, row->offset);
    return store_put_bucket_key(job, row->bucket, placed->key);
}

/* Not from what was placed: that was sorted for its own tree. */
static int put_ids(struct store_job *job, const struct checkpoint_row *rows, size_t count)
{
    int code = 0;
    for (size_t i = 0; i < count && code == 0; i++) {
        if (!record_id_is_none(rows[i].id)) {
            code = store_ids_put(job, &rows[i], job->source->row(rows[i].ref, job->source->context).length);
        }
    }
    return code;
}

int store_put_rows(struct store_job *job)
{
    size_t total = job->slot->row_count;
    size_t portion = total < PORTION_ROWS ? total : PORTION_ROWS;
    struct store_placed *placed = memory_new(portion, sizeof(*placed));
    int code = 0;
    for (size_t done = 0; done < total && code == 0;) {
        size_t count = 0;
        while (count < portion && done + count < total && code == 0) {
            code = prepare(job, &job->slot->rows[done + count], &placed[count]);
            count += code == 0 ? 1 : 0;
        }
        code = code != 0 ? code : store_place(job, placed, count);
        code = code != 0 ? code : put_ids(job, job->slot->rows + done, count);
        done += count;
    }
    free(placed);
    job->rows_put += code == 0 ? total : 0;
    return code;
}
