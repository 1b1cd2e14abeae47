/*
 * Keeps pages full where buckets meet.
 *
 * LMDB splits a full page in the middle, unless the new row comes after all others of it: then the old page stays full.
 * Rows of a bucket come in offset order, but the page on which it ends also holds the beginning of the next bucket, so
 * that every split would be one in the middle. Which rows share a page is told from where LMDB's memory lies. A wrong
 * guess costs some work or some space, never a row.
 */
#include "store/store_job.h"

#include <string.h>

#define PAGE_HEADER 16u
#define NODE_BYTES 10u /* header and place of a node */

static size_t node_bytes(size_t value_bytes)
{
    return (NODE_BYTES + STORE_LAYOUT_ROW_KEY + value_bytes + 1) & ~(size_t)1;
}

static bool same_page(const MDB_val *a, const MDB_val *b, size_t page_bytes)
{
    uintptr_t left = (uintptr_t)a->mv_data;
    uintptr_t right = (uintptr_t)b->mv_data;
    return (left < right ? right - left : left - right) < page_bytes;
}

/* Adds up what stands on the page of the cursor's row before it. */
static int bytes_before(MDB_cursor *cursor, const MDB_val *of, size_t page_bytes, size_t *bytes)
{
    MDB_val key;
    MDB_val value;
    int code;
    *bytes = 0;
    while ((code = mdb_cursor_get(cursor, &key, &value, MDB_PREV)) == 0 && same_page(&key, of, page_bytes) &&
           *bytes < page_bytes) {
        *bytes += node_bytes(value.mv_size);
    }
    return code == MDB_NOTFOUND ? 0 : code;
}

/* Copies the rows from `from` to the end of its page. Gives up (count 0) when they are not small ones. */
static int
copy_rest(MDB_cursor *cursor, const MDB_val *from, size_t page_bytes, struct store_aside *aside, size_t *bytes)
{
    size_t at = 0;
    MDB_val key = *from;
    MDB_val value;
    aside->count = 0;
    *bytes = 0;
    int code = mdb_cursor_get(cursor, &key, &value, MDB_SET_KEY);
    MDB_val first = key;
    while (code == 0 && same_page(&key, &first, page_bytes)) {
        size_t length = key.mv_size + value.mv_size;
        if (length > sizeof(aside->bytes) - at || value.mv_size > page_bytes / 2 || aside->count == STORE_ASIDE_ROWS) {
            aside->count = 0;
            return 0;
        }
        memcpy(aside->bytes + at, key.mv_data, key.mv_size);
        memcpy(aside->bytes + at + key.mv_size, value.mv_data, value.mv_size);
        aside->lengths[aside->count++] = value.mv_size;
        at += length;
        *bytes += node_bytes(value.mv_size);
        code = mdb_cursor_get(cursor, &key, &value, MDB_NEXT);
    }
    return code == MDB_NOTFOUND ? 0 : code;
}

static size_t bytes_of(const struct store_placed *rows, size_t count, size_t most)
{
    size_t bytes = 0;
    for (size_t i = 0; i < count && bytes <= most; i++) {
        bytes += node_bytes(store_layout_row_head(rows[i].id) + rows[i].row.length);
    }
    return bytes;
}

static int delete_rows(MDB_cursor *cursor, const struct store_aside *aside)
{
    size_t at = 0;
    int code = 0;
    for (size_t i = 0; i < aside->count && code == 0; i++) {
        MDB_val key = {STORE_LAYOUT_ROW_KEY, (void *)(uintptr_t)(aside->bytes + at)};
        MDB_val value;
        code = mdb_cursor_get(cursor, &key, &value, MDB_SET);
        code = code != 0 ? code : mdb_cursor_del(cursor, 0);
        at += STORE_LAYOUT_ROW_KEY + aside->lengths[i];
    }
    return code;
}

int store_aside_take(struct store_job *job, const struct store_placed *rows, size_t count, struct store_aside *aside)
{
    size_t page_bytes = job->page_bytes;
    uint8_t next[STORE_LAYOUT_ROW_KEY];
    MDB_val key = {STORE_LAYOUT_ROW_KEY, (void *)(uintptr_t)rows[0].key};
    MDB_val value;
    aside->count = 0;
    int code = mdb_cursor_get(job->rows, &key, &value, MDB_SET_RANGE);
    if (code != 0 || memcmp(key.mv_data, rows[0].key, STORE_LAYOUT_BUCKET_KEY) == 0) {
        return code == MDB_NOTFOUND ? 0 : code;
    }
    memcpy(next, key.mv_data, sizeof(next));
    size_t before = 0;
    size_t rest = 0;
    MDB_val place = key;
    code = bytes_before(job->rows, &place, page_bytes, &before);
    if (code != 0 || before == 0) {
        return code;
    }
    key = (MDB_val){sizeof(next), next};
    code = copy_rest(job->rows, &key, page_bytes, aside, &rest);
    if (code != 0 || before + rest + PAGE_HEADER + bytes_of(rows, count, page_bytes) <= page_bytes) {
        aside->count = 0;
        return code;
    }
    return delete_rows(job->rows, aside);
}

int store_aside_put_back(struct store_job *job, struct store_aside *aside)
{
    size_t at = 0;
    int code = 0;
    for (size_t i = 0; i < aside->count && code == 0; i++) {
        MDB_val key = {STORE_LAYOUT_ROW_KEY, aside->bytes + at};
        MDB_val value = {aside->lengths[i], aside->bytes + at + STORE_LAYOUT_ROW_KEY};
        code = mdb_cursor_put(job->rows, &key, &value, 0);
        at += STORE_LAYOUT_ROW_KEY + aside->lengths[i];
    }
    return code;
}
