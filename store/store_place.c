/* Puts rows in key order, so that those of one bucket fill pages one after another. */
#include "store/store_job.h"

#include <stdlib.h>
#include <string.h>

static int by_key(const void *a, const void *b)
{
    return memcmp(((const struct store_placed *)a)->key, ((const struct store_placed *)b)->key, STORE_LAYOUT_ROW_KEY);
}

static void fill(void *at, const struct store_placed *row)
{
    uint8_t *bytes = at;
    store_layout_put_row_head(bytes, row->due_ms, row->id);
    if (row->row.length > 0) {
        memcpy(bytes + store_layout_row_head(row->id), row->row.data, row->row.length);
    }
}

/* Writes a row; *before is the length of one that it replaces, SIZE_MAX if it is new. The id of the replaced one no
 * longer leads here. */
static int put_row(struct store_job *job, struct store_placed *row, size_t *before)
{
    struct store_row replaced = {.id = RECORD_ID_NONE};
    MDB_val key = {STORE_LAYOUT_ROW_KEY, row->key};
    MDB_val value = {store_layout_row_head(row->id) + row->row.length, NULL};
    *before = SIZE_MAX;
    int code = mdb_cursor_put(job->rows, &key, &value, MDB_NOOVERWRITE | MDB_RESERVE);
    if (code == MDB_KEYEXIST) {
        if (!store_layout_row(value.mv_data, value.mv_size, &replaced)) {
            return MDB_CORRUPTED;
        }
        *before = replaced.bytes.length;
        value.mv_size = store_layout_row_head(row->id) + row->row.length;
        code = mdb_cursor_put(job->rows, &key, &value, MDB_RESERVE);
    }
    if (code != 0) {
        return code;
    }
    fill(value.mv_data, row);
    return record_id_equal(replaced.id, row->id) ? 0
                                                 : store_ids_remove(job, replaced.id, store_layout_offset(row->key));
}

static void count_in(struct bucket_stats *stats, const struct store_placed *row, size_t before)
{
    int64_t offset = store_layout_offset(row->key);
    if (stats->count == 0 || offset < stats->least_offset) {
        stats->least_offset = offset;
    }
    if (stats->count == 0 || offset > stats->last_offset) {
        stats->last_offset = offset;
    }
    struct key key = {row->due_ms, offset};
    if (stats->count == 0 || key_compare(key, stats->greatest) > 0) {
        stats->greatest = key;
    }
    if (before == SIZE_MAX) {
        stats->count++;
        before = 0;
    }
    stats->bytes = stats->bytes - before + row->row.length;
}

static size_t group_length(const struct store_placed *rows, size_t count)
{
    size_t length = 1;
    while (length < count && memcmp(rows[length].key, rows[0].key, STORE_LAYOUT_BUCKET_KEY) == 0) {
        length++;
    }
    return length;
}

static int place_group(struct store_job *job, struct store_placed *rows, size_t count)
{
    struct store_aside aside;
    struct bucket_stats *stats = NULL;
    int code = store_touch_get(job, rows[0].key, rows[0].lane, &stats);
    code = code != 0 ? code : store_aside_take(job, rows, count, &aside);
    for (size_t i = 0; i < count && code == 0; i++) {
        size_t before = SIZE_MAX;
        code = put_row(job, &rows[i], &before);
        if (code == 0) {
            count_in(stats, &rows[i], before);
        }
    }
    return code != 0 ? code : store_aside_put_back(job, &aside);
}

int store_place(struct store_job *job, struct store_placed *rows, size_t count)
{
    int code = 0;
    if (count > 1) {
        qsort(rows, count, sizeof(*rows), by_key);
    }
    for (size_t i = 0; i < count && code == 0;) {
        size_t length = group_length(rows + i, count - i);
        code = place_group(job, rows + i, length);
        i += length;
    }
    return code;
}
