/* Binding slots and lanes to names, and reading what the checkpoint knows of them. Owner thread; nothing is written
 * here. */
#include "store/store_internal.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

static bool invalid_lane(const char *name, struct error *error)
{
    return error_set(error, ERROR_INVALID, "lane \"%.64s\": its name must have 1 to %d bytes, its index be below %d",
                     name, METADATA_LANE_NAME_MAX, LANES_MAX);
}

/* The id that a lane's name has on disk, 0 for none. */
static int stored_lane(struct store *store, const char *name, uint16_t *id)
{
    MDB_txn *txn = NULL;
    MDB_val key = {strlen(name), (void *)(uintptr_t)name};
    MDB_val value;
    *id = 0;
    int code = mdb_txn_begin(store->env, NULL, MDB_RDONLY, &txn);
    if (code != 0) {
        return code;
    }
    code = mdb_get(txn, store->lanes, &key, &value);
    if (code == 0) {
        *id = store_layout_u16(value.mv_data);
    }
    mdb_txn_abort(txn);
    return code == MDB_NOTFOUND ? 0 : code;
}

static bool bind_new_lane(struct store *store, lane_index lane, const char *name, struct error *error)
{
    uint16_t id = 0;
    int code = stored_lane(store, name, &id);
    if (code != 0) {
        return store_error(store->path, code, "reading a lane's name", error);
    }
    struct store_names *names = &store->names;
    if (id == 0 && names->next_lane > UINT16_MAX) {
        return error_set(error, ERROR_FULL, "store %s: 65,535 lane names were used: move it away and start anew",
                         store->path);
    }
    pthread_mutex_lock(&names->lock);
    names->lanes[lane] = id != 0 ? id : (uint16_t)names->next_lane++;
    memcpy(names->lane_names[lane], name, strlen(name) + 1);
    pthread_mutex_unlock(&names->lock);
    return true;
}

bool store_bind_lane(struct store *store, lane_index lane, const char *name, struct error *error)
{
    struct store_names *names = &store->names;
    size_t length = strlen(name);
    if (lane >= LANES_MAX || length == 0 || length > METADATA_LANE_NAME_MAX) {
        return invalid_lane(name, error);
    }
    for (lane_index other = 0; other < LANES_MAX; other++) {
        bool same_name = names->lanes[other] != 0 && strcmp(names->lane_names[other], name) == 0;
        if (same_name && other == lane) {
            return true;
        }
        if (same_name || (other == lane && names->lanes[lane] != 0)) {
            return error_set(error, ERROR_INVALID, "lane %u cannot be bound to \"%s\": one of both is bound already",
                             (unsigned)lane, name);
        }
    }
    return bind_new_lane(store, lane, name, error);
}

/* Marks the ids of lanes that have buckets, jumping from lane to lane. */
static int lanes_with_rows(MDB_cursor *cursor, uint8_t *seen)
{
    uint8_t from[STORE_LAYOUT_BUCKET_KEY] = {0};
    MDB_val key = {sizeof(from), from};
    MDB_val value;
    int code;
    while ((code = mdb_cursor_get(cursor, &key, &value, MDB_SET_RANGE)) == 0) {
        struct store_bucket bucket = store_layout_bucket(key.mv_data);
        seen[bucket.lane] = 1;
        struct store_bucket next = {bucket.partition, (uint16_t)(bucket.lane + 1), 0, 0};
        next.partition += bucket.lane == UINT16_MAX ? 1 : 0;
        store_layout_bucket_key(from, &next);
        key = (MDB_val){sizeof(from), from};
    }
    return code == MDB_NOTFOUND ? 0 : code;
}

static int
name_unbound(struct store *store, MDB_txn *txn, const uint8_t *seen, void (*each)(const char *, void *), void *context)
{
    MDB_cursor *cursor = NULL;
    int code = mdb_cursor_open(txn, store->lanes, &cursor);
    if (code != 0) {
        return code;
    }
    MDB_val key;
    MDB_val value;
    while ((code = mdb_cursor_get(cursor, &key, &value, MDB_NEXT)) == 0) {
        char name[METADATA_LANE_NAME_MAX + 1] = "";
        uint16_t id = store_layout_u16(value.mv_data);
        if (key.mv_size >= sizeof(name) || !seen[id] || store_names_lane_index(store, id) < LANES_MAX) {
            continue;
        }
        memcpy(name, key.mv_data, key.mv_size);
        each(name, context);
    }
    mdb_cursor_close(cursor);
    return code == MDB_NOTFOUND ? 0 : code;
}

bool store_unbound_lanes(struct store *store,
                         void (*each)(const char *name, void *context),
                         void *context,
                         struct error *error)
{
    MDB_txn *txn = NULL;
    MDB_cursor *cursor = NULL;
    uint8_t *seen = memory_new(UINT16_MAX + 1, 1);
    int code = mdb_txn_begin(store->env, NULL, MDB_RDONLY, &txn);
    code = code != 0 ? code : mdb_cursor_open(txn, store->buckets, &cursor);
    code = code != 0 ? code : lanes_with_rows(cursor, seen);
    code = code != 0 ? code : name_unbound(store, txn, seen, each, context);
    if (cursor != NULL) {
        mdb_cursor_close(cursor);
    }
    if (txn != NULL) {
        mdb_txn_abort(txn);
    }
    free(seen);
    return code == 0 || store_error(store->path, code, "reading its lanes", error);
}

static void add_bucket(struct store_partition *result, size_t *room, const struct bucket_stats *stats)
{
    if (result->bucket_count == *room) {
        *room = *room == 0 ? 64 : *room * 2;
        result->buckets = memory_resize(result->buckets, *room, sizeof(*result->buckets));
    }
    result->buckets[result->bucket_count++] = *stats;
}

/* All bucket statistics of a partition. */
static bool
read_buckets(struct store *store, MDB_cursor *cursor, uint32_t id, struct store_partition *result, struct error *error)
{
    size_t room = 0;
    uint8_t from[STORE_LAYOUT_PREFIX];
    store_layout_put_u32(from, id);
    MDB_val key = {sizeof(from), from};
    MDB_val value;
    int code = mdb_cursor_get(cursor, &key, &value, MDB_SET_RANGE);
    while (code == 0 && store_layout_u32(key.mv_data) == id) {
        struct store_bucket bucket = store_layout_bucket(key.mv_data);
        lane_index lane = store_names_lane_index(store, bucket.lane);
        if (lane == LANES_MAX) {
            return error_set(error, ERROR_INVALID,
                             "store %s: rows of a lane that is not bound: bind all of store_unbound_lanes first",
                             store->path);
        }
        struct bucket_stats stats = {.id = {lane, bucket.level, bucket.number}};
        store_layout_stats(value.mv_data, &stats);
        add_bucket(result, &room, &stats);
        code = mdb_cursor_get(cursor, &key, &value, MDB_NEXT);
    }
    return code == 0 || code == MDB_NOTFOUND || store_error(store->path, code, "reading bucket statistics", error);
}

/* The record of a partition; its id, or 0 for none. */
static int
read_partition(struct store *store, MDB_txn *txn, MDB_val *name_key, struct store_partition *result, uint32_t *id)
{
    MDB_val value;
    *id = 0;
    int code = mdb_get(txn, store->partitions, name_key, &value);
    if (code != 0) {
        return code == MDB_NOTFOUND ? 0 : code;
    }
    size_t text = value.mv_size - STORE_LAYOUT_PARTITION_HEAD;
    if (value.mv_size < STORE_LAYOUT_PARTITION_HEAD || text > METADATA_MAX) {
        return MDB_CORRUPTED;
    }
    const uint8_t *at = value.mv_data;
    *id = store_layout_u32(at);
    result->found = true;
    result->position = (int64_t)store_layout_u64(at + 4);
    memcpy(result->metadata, at + STORE_LAYOUT_PARTITION_HEAD, text);
    result->metadata[text] = '\0';
    return 0;
}

static bool read_slot(struct store *store,
                      MDB_txn *txn,
                      MDB_val *name_key,
                      struct store_partition *result,
                      uint32_t *id,
                      struct error *error)
{
    int code = read_partition(store, txn, name_key, result, id);
    if (code != 0) {
        return store_error(store->path, code, "reading a partition", error);
    }
    if (*id == 0) {
        return true;
    }
    MDB_cursor *cursor = NULL;
    code = mdb_cursor_open(txn, store->buckets, &cursor);
    if (code != 0) {
        return store_error(store->path, code, "reading bucket statistics", error);
    }
    bool ok = read_buckets(store, cursor, *id, result, error);
    mdb_cursor_close(cursor);
    if (!ok) {
        return false;
    }
    result->ids_missing = *id < store->indexed_from && result->bucket_count > 0;
    code = store_marks_read(store, txn, *id, result);
    return code == 0 || store_error(store->path, code, "reading marks", error);
}

bool store_bind_slot(struct store *store,
                     slot_index slot,
                     const char *topic,
                     int32_t partition,
                     struct store_partition *result,
                     struct error *error)
{
    uint8_t name[STORE_LAYOUT_NAME_KEY_MAX];
    size_t length = store_layout_name_key(name, topic, partition);
    if (length == 0) {
        return error_set(error, ERROR_INVALID, "topic \"%.64s\" partition %d: not a name that Kafka allows", topic,
                         (int)partition);
    }
    MDB_txn *txn = NULL;
    int code = mdb_txn_begin(store->env, NULL, MDB_RDONLY, &txn);
    if (code != 0) {
        return store_error(store->path, code, "reading a partition", error);
    }
    uint32_t id = 0;
    MDB_val key = {length, name};
    struct store_partition read = {0};
    bool ok = read_slot(store, txn, &key, &read, &id, error);
    mdb_txn_abort(txn);
    if (!ok) {
        free(read.buckets);
        free(read.marks);
        free(read.skips);
        return false;
    }
    store_names_bind(store, slot, store_names_add(store, topic, partition, id));
    *result = read;
    return true;
}
