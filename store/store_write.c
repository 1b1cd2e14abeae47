/* A plan as one LMDB transaction: drops, trims and erases first, as they make room, then splits, then new rows, then
 * what all of them changed. */
#include "store/store_job.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

#define ROW_OVERHEAD 48 /* key, due_ms, LMDB's node */
#define ID_BYTES 144     /* of a record id: in its row, and an entry in a page half full */
#define MARK_BYTES 96    /* the same for a mark */

static bool has_rows(const struct checkpoint_plan *plan)
{
    for (size_t i = 0; i < plan->slot_count; i++) {
        if (plan->slots[i].row_count > 0) {
            return true;
        }
    }
    return false;
}

static int write_partition(struct store_job *job, const struct store_name *name)
{
    uint8_t bytes[STORE_LAYOUT_NAME_KEY_MAX];
    uint8_t record[STORE_LAYOUT_PARTITION_HEAD + METADATA_MAX];
    const char *metadata = job->source->metadata(job->slot, job->source->context);
    size_t length = metadata == NULL ? 0 : strnlen(metadata, METADATA_MAX + 1);
    if (length > METADATA_MAX) {
        return EINVAL;
    }
    store_layout_put_u32(record, name->id);
    store_layout_put_u64(record + 4, (uint64_t)job->slot->position);
    if (length > 0) {
        memcpy(record + STORE_LAYOUT_PARTITION_HEAD, metadata, length);
    }
    MDB_val key = {store_layout_name_key(bytes, name->topic, name->partition), bytes};
    MDB_val value = {STORE_LAYOUT_PARTITION_HEAD + length, record};
    return mdb_put(job->txn, job->store->partitions, &key, &value, 0);
}

static int apply_slot(struct store_job *job)
{
    const struct checkpoint_slot *slot = job->slot;
    const struct store_name *name = store_names_of_slot(job->store, slot->slot);
    if (name == NULL) {
        return EINVAL;
    }
    job->partition = name->id;
    int code = write_partition(job, name);
    for (size_t i = 0; i < slot->drop_count && code == 0; i++) {
        code = store_drop_bucket(job, &slot->drops[i]);
    }
    for (size_t i = 0; i < slot->trim_count && code == 0; i++) {
        code = store_drop_below(job, &slot->trims[i]);
    }
    for (size_t i = 0; i < slot->erase_count && code == 0; i++) {
        code = store_erase_row(job, &slot->erases[i]);
    }
    for (size_t i = 0; i < slot->split_count && code == 0; i++) {
        code = store_split_bucket(job, &slot->splits[i]);
    }
    code = code != 0 ? code : store_put_rows(job);
    return code != 0 ? code : store_marks_write(job);
}

/* Puts leave the reserve free, splits (without which nothing more is loaded) half of it, what makes room uses all. */
static int check_reserve(const struct store_job *job, uint64_t used)
{
    uint64_t reserve = has_rows(job->plan)   ? job->store->reserve_bytes
                       : job->rows_split > 0 ? job->store->reserve_bytes / 2
                                             : 0;
    return used + reserve > job->store->max_bytes && reserve > 0 ? MDB_MAP_FULL : 0;
}

/* How much a plan's rows may make the file grow: their pages, and copies of pages that they change. Generous: it is
 * only secured. */
static uint64_t growth_of(const struct store_job *job)
{
    uint64_t ids = 0;
    uint64_t bytes = 64 * job->page_bytes;
    for (size_t i = 0; i < job->plan->slot_count; i++) {
        const struct checkpoint_slot *slot = &job->plan->slots[i];
        for (size_t j = 0; j < slot->row_count; j++) {
            uint64_t length = job->source->row(slot->rows[j].ref, job->source->context).length + ROW_OVERHEAD;
            bytes += length > job->page_bytes / 2 ? length + job->page_bytes : length + length / 4;
            ids += record_id_is_none(slot->rows[j].id) ? 0 : 1;
        }
        bytes += (slot->mark_count + slot->skip_count) * MARK_BYTES;
    }
    return bytes + ids * ID_BYTES + (ids < job->id_pages ? ids : job->id_pages) * job->page_bytes;
}

/* Ids lie anywhere in their index: to remove one costs the copy of a page, until all pages were copied. So many are
 * allowed as there surely is room for, even if the store is full but for its reserve. */
static void bound_id_drops(struct store_job *job, uint64_t used)
{
    uint64_t room = store_room_left(job->store, used) / 4;
    uint64_t pages = (room < STORE_DROP_BYTES_MAX ? room : STORE_DROP_BYTES_MAX) / job->page_bytes + 1;
    job->id_drops_left = job->id_pages <= pages ? UINT64_MAX : pages;
}

/* Refuses rows before anything is touched when they surely find no room. */
static int secure_room(struct store_job *job)
{
    uint64_t used = 0;
    int code = store_usage_of(job->store, job->txn, &used);
    bound_id_drops(job, used);
    if (code != 0 || !has_rows(job->plan)) {
        return code;
    }
    code = check_reserve(job, used);
    return code != 0 ? code : store_room_secure(job->store, used, growth_of(job));
}

static int apply(struct store_job *job)
{
    uint64_t used = 0;
    int code = secure_room(job);
    for (size_t i = 0; i < job->plan->slot_count && code == 0; i++) {
        job->slot = &job->plan->slots[i];
        code = apply_slot(job);
    }
    code = code != 0 ? code : store_drop_garbage(job);
    code = code != 0 ? code : store_touch_flush(job);
    code = code != 0 ? code : store_usage_of(job->store, job->txn, &used);
    return code != 0 ? code : check_reserve(job, used);
}

static void start_budgets(struct store_job *job)
{
    uint64_t share = job->store->reserve_bytes / 4;
    job->drop_rows_left = STORE_DROP_ROWS_MAX;
    job->drop_bytes_left = STORE_DROP_BYTES_MAX;
    job->split_bytes_left = share < STORE_SPLIT_BYTES_MAX ? share : STORE_SPLIT_BYTES_MAX;
    memcpy(job->lane_written, job->store->lane_written, sizeof(job->lane_written));
}

static int read_sizes(struct store_job *job)
{
    MDB_stat stat = {0};
    int code = mdb_stat(job->txn, job->store->ids, &stat);
    job->page_bytes = stat.ms_psize;
    job->id_pages = stat.ms_leaf_pages;
    return code;
}

static int open_cursors(struct store_job *job)
{
    int code = mdb_cursor_open(job->txn, job->store->rows, &job->rows);
    return code != 0 ? code : mdb_cursor_open(job->txn, job->store->ids, &job->ids);
}

static void close_cursors(struct store_job *job)
{
    if (job->rows != NULL) {
        mdb_cursor_close(job->rows);
    }
    if (job->ids != NULL) {
        mdb_cursor_close(job->ids);
    }
}

static int run(struct store_job *job)
{
    int code = mdb_txn_begin(job->store->env, NULL, 0, &job->txn);
    if (code != 0) {
        return code;
    }
    start_budgets(job);
    code = read_sizes(job);
    code = code != 0 ? code : open_cursors(job);
    code = code != 0 ? code : apply(job);
    close_cursors(job);
    if (code != 0) {
        mdb_txn_abort(job->txn);
        return code;
    }
    code = mdb_txn_commit(job->txn);
    if (code == 0) {
        memcpy(job->store->lane_written, job->lane_written, sizeof(job->lane_written));
    }
    return code;
}

static void hand_over(struct store_job *job, struct store_result *result)
{
    uint64_t used = 0;
    uint64_t most = 0;
    store_usage(job->store, &used, &most); /* after the commit, which itself takes and frees pages */
    *result = (struct store_result){
        .touched = memory_new(job->touch.count, sizeof(struct checkpoint_touched)),
        .touched_count = job->touch.count,
        .rows_put = job->rows_put,
        .rows_split = job->rows_split,
        .rows_dropped = job->rows_dropped,
        .rows_trimmed = job->rows_trimmed,
        .rows_erased = job->rows_erased,
        .used_bytes = used,
    };
    for (size_t i = 0; i < job->touch.count; i++) {
        const struct store_touched *item = &job->touch.items[i];
        result->touched[i] = (struct checkpoint_touched){item->slot, item->epoch, item->stats};
    }
}

bool store_write(struct store *store,
                 const struct checkpoint_plan *plan,
                 const struct store_source *source,
                 struct store_result *result,
                 struct error *error)
{
    struct store_job job = {.store = store, .plan = plan, .source = source};
    int code = run(&job);
    code = code == EIO && store_room_lacks(store) ? ENOSPC : code; /* LMDB says EIO for a write that was cut short */
    if (store_error_is_full(code) && store_room_make(store)) {
        /* Pages that the last transaction freed are usable one transaction later: make it, and try once more. */
        store_touch_free(&job.touch);
        job = (struct store_job){.store = store, .plan = plan, .source = source};
        code = run(&job);
    }
    if (code == 0) {
        hand_over(&job, result);
    }
    store_touch_free(&job.touch);
    if (code == EINVAL) {
        return error_set(error, ERROR_INVALID,
                         "store %s: the plan names a slot or lane that is not bound, or a row that cannot be",
                         store->path);
    }
    return code == 0 || store_error(store->path, code, "writing a checkpoint", error);
}

void store_result_free(struct store_result *result)
{
    free(result->touched);
    *result = (struct store_result){0};
}
