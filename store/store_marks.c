/* Marks and skips of a partition (R5): one entry each, so that a checkpoint writes only those that changed. */
#include "store/store_job.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

static int compare_keys(const void *a, size_t a_length, const void *b, size_t b_length)
{
    int order = memcmp(a, b, a_length < b_length ? a_length : b_length);
    return order != 0 ? order : (a_length > b_length) - (a_length < b_length);
}

static int by_key(const void *a, const void *b)
{
    const struct store_mark *left = a;
    const struct store_mark *right = b;
    return compare_keys(left->key, left->key_length, right->key, right->key_length);
}

/* Moves the cursor (MDB_SET_RANGE from the key, or MDB_NEXT). MDB_NOTFOUND at the end of the partition. */
static int move(MDB_cursor *cursor, MDB_cursor_op to, uint32_t partition, MDB_val *key, MDB_val *value)
{
    uint8_t from[STORE_LAYOUT_PREFIX];
    store_layout_put_u32(from, partition);
    *key = (MDB_val){sizeof(from), from};
    int code = mdb_cursor_get(cursor, key, value, to);
    if (code != 0) {
        return code;
    }
    if (store_layout_u32(key->mv_data) != partition) {
        return MDB_NOTFOUND;
    }
    return store_layout_mark_valid(key->mv_data, key->mv_size, value->mv_size) ? 0 : MDB_CORRUPTED;
}

/* ---------------------------------------------------------------------------------------------------- writing */

/* All of the slot under way, in key order. */
static struct store_mark *sorted(const struct store_job *job, size_t *count)
{
    const struct checkpoint_slot *slot = job->slot;
    *count = slot->mark_count + slot->skip_count;
    struct store_mark *all = memory_new(*count, sizeof(*all));
    for (size_t i = 0; i < slot->mark_count; i++) {
        store_layout_mark(&all[i], job->partition, &slot->marks[i]);
    }
    for (size_t i = 0; i < slot->skip_count; i++) {
        store_layout_skip(&all[slot->mark_count + i], job->partition, &slot->skips[i]);
    }
    if (*count > 1) {
        qsort(all, *count, sizeof(*all), by_key);
    }
    return all;
}

static bool same_value(const struct store_mark *mark, const MDB_val *value)
{
    return memcmp(mark->value, value->mv_data, mark->value_length) == 0;
}

/* Deletes what is no longer there, and leaves of `all` only what must be written. */
static int compare_all(MDB_cursor *cursor, uint32_t partition, struct store_mark *all, size_t *count)
{
    size_t kept = 0;
    size_t at = 0;
    MDB_val key;
    MDB_val value;
    int code = move(cursor, MDB_SET_RANGE, partition, &key, &value);
    while (code == 0) {
        int order = at == *count ? 1 : compare_keys(all[at].key, all[at].key_length, key.mv_data, key.mv_size);
        if (order < 0) {
            all[kept++] = all[at++];
            continue;
        }
        if (order > 0) {
            code = mdb_cursor_del(cursor, 0);
        } else if (!same_value(&all[at++], &value)) {
            all[kept++] = all[at - 1];
        }
        code = code != 0 ? code : move(cursor, MDB_NEXT, partition, &key, &value);
    }
    while (at < *count) {
        all[kept++] = all[at++];
    }
    *count = kept;
    return code == MDB_NOTFOUND ? 0 : code;
}

int store_marks_write(struct store_job *job)
{
    size_t count = 0;
    MDB_cursor *cursor = NULL;
    int code = mdb_cursor_open(job->txn, job->store->marks, &cursor);
    if (code != 0) {
        return code;
    }
    struct store_mark *all = sorted(job, &count);
    code = compare_all(cursor, job->partition, all, &count);
    for (size_t i = 0; i < count && code == 0; i++) {
        MDB_val key = {all[i].key_length, all[i].key};
        MDB_val value = {all[i].value_length, all[i].value};
        code = mdb_cursor_put(cursor, &key, &value, 0);
    }
    free(all);
    mdb_cursor_close(cursor);
    return code;
}

/* ---------------------------------------------------------------------------------------------------- reading */

static void *with_room(void *items, size_t count, size_t *room, size_t item_bytes)
{
    if (count < *room) {
        return items;
    }
    *room = *room == 0 ? 64 : *room * 2;
    return memory_resize(items, *room, item_bytes);
}

int store_marks_read(const struct store *store, MDB_txn *txn, uint32_t partition, struct store_partition *result)
{
    MDB_cursor *cursor = NULL;
    MDB_val key;
    MDB_val value;
    size_t mark_room = 0;
    size_t skip_room = 0;
    int code = mdb_cursor_open(txn, store->marks, &cursor);
    if (code != 0) {
        return code;
    }
    code = move(cursor, MDB_SET_RANGE, partition, &key, &value);
    while (code == 0) {
        struct mark mark;
        struct skip skip;
        if (store_layout_read_mark(key.mv_data, value.mv_data, &mark, &skip)) {
            result->marks = with_room(result->marks, result->mark_count, &mark_room, sizeof(mark));
            result->marks[result->mark_count++] = mark;
        } else {
            result->skips = with_room(result->skips, result->skip_count, &skip_room, sizeof(skip));
            result->skips[result->skip_count++] = skip;
        }
        code = move(cursor, MDB_NEXT, partition, &key, &value);
    }
    mdb_cursor_close(cursor);
    return code == MDB_NOTFOUND ? 0 : code;
}

int store_marks_forget(const struct store *store, MDB_txn *txn, uint32_t partition)
{
    MDB_cursor *cursor = NULL;
    MDB_val key;
    MDB_val value;
    int code = mdb_cursor_open(txn, store->marks, &cursor);
    if (code != 0) {
        return code;
    }
    code = move(cursor, MDB_SET_RANGE, partition, &key, &value);
    while (code == 0) {
        code = mdb_cursor_del(cursor, 0);
        code = code != 0 ? code : move(cursor, MDB_NEXT, partition, &key, &value);
    }
    mdb_cursor_close(cursor);
    return code == MDB_NOTFOUND ? 0 : code;
}
