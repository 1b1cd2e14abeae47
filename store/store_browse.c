/* A snapshot of one's own: opening, renewing, and whose rows there are. Any thread. */
#include "store/store_browse.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "store/store_internal.h"

#define DOING "looking through it"

static bool take_place(struct store *store, struct error *error)
{
    if (atomic_fetch_add(&store->browses, 1) < STORE_BROWSES_MAX) {
        return true;
    }
    (void)atomic_fetch_sub(&store->browses, 1);
    return error_set(error, ERROR_FULL, "store %s: %d look through it already: try again in a moment", store->path, STORE_BROWSES_MAX);
}

static void close_cursor(MDB_cursor *cursor)
{
    if (cursor != NULL) {
        mdb_cursor_close(cursor);
    }
}

void store_browse_close(struct store_browse *browse)
{
    if (browse == NULL) {
        return;
    }
    close_cursor(browse->rows);
    close_cursor(browse->buckets);
    close_cursor(browse->ids);
    if (browse->txn != NULL) {
        mdb_txn_abort(browse->txn);
    }
    (void)atomic_fetch_sub(&browse->store->browses, 1);
    free(browse->lanes);
    free(browse);
}

struct store_browse *store_browse_open(struct store *store, struct error *error)
{
    if (!take_place(store, error)) {
        return NULL;
    }
    struct store_browse *browse = memory_new(1, sizeof(*browse));
    browse->store = store;
    int code = mdb_txn_begin(store->env, NULL, MDB_RDONLY, &browse->txn);
    code = code != 0 ? code : mdb_cursor_open(browse->txn, store->rows, &browse->rows);
    code = code != 0 ? code : mdb_cursor_open(browse->txn, store->buckets, &browse->buckets);
    code = code != 0 ? code : mdb_cursor_open(browse->txn, store->ids, &browse->ids);
    if (code != 0) {
        (void)store_error(store->path, code, DOING, error);
        store_browse_close(browse);
        return NULL;
    }
    return browse;
}

void store_browse_rest(struct store_browse *browse)
{
    if (!browse->resting) {
        mdb_txn_reset(browse->txn);
        browse->resting = true;
        browse->lanes_read = false;
    }
}

bool store_browse_renew(struct store_browse *browse, struct error *error)
{
    store_browse_rest(browse);
    int code = mdb_txn_renew(browse->txn);
    if (code != 0) {
        return store_error(browse->store->path, code, DOING, error);
    }
    code = mdb_cursor_renew(browse->txn, browse->rows);
    code = code != 0 ? code : mdb_cursor_renew(browse->txn, browse->buckets);
    code = code != 0 ? code : mdb_cursor_renew(browse->txn, browse->ids);
    browse->resting = false;
    if (code != 0) {
        store_browse_rest(browse);
        return store_error(browse->store->path, code, DOING, error);
    }
    return true;
}

uint64_t store_browse_commit(const struct store_browse *browse)
{
    return mdb_txn_id(browse->txn);
}

/* False: this cannot be a partition's entry. `text` has room for the longest metadata. */
static bool
read_partition(const MDB_val *key, const MDB_val *value, struct store_browse_partition *partition, char *topic, char *text)
{
    if (key->mv_size < 6 || key->mv_size > STORE_LAYOUT_NAME_KEY_MAX || value->mv_size < STORE_LAYOUT_PARTITION_HEAD ||
        value->mv_size - STORE_LAYOUT_PARTITION_HEAD > METADATA_MAX) {
        return false;
    }
    const uint8_t *name = key->mv_data;
    const uint8_t *at = value->mv_data;
    size_t length = key->mv_size - 5;
    size_t text_length = value->mv_size - STORE_LAYOUT_PARTITION_HEAD;
    uint32_t number = store_layout_u32(name + length + 1);
    if (name[length] != 0 || memchr(name, 0, length) != NULL || number > INT32_MAX) {
        return false;
    }
    memcpy(topic, name, length);
    topic[length] = '\0';
    memcpy(text, at + STORE_LAYOUT_PARTITION_HEAD, text_length);
    text[text_length] = '\0';
    *partition =
        (struct store_browse_partition){topic, (int32_t)number, store_layout_u32(at), (int64_t)store_layout_u64(at + 4), text};
    return true;
}

static int each_partition(MDB_cursor *cursor, void (*each)(const struct store_browse_partition *partition, void *context), void *context)
{
    char topic[STORE_LAYOUT_TOPIC_MAX + 1];
    char text[METADATA_MAX + 1];
    struct store_browse_partition partition;
    MDB_val key;
    MDB_val value;
    int code;
    while ((code = mdb_cursor_get(cursor, &key, &value, MDB_NEXT)) == 0) {
        if (!read_partition(&key, &value, &partition, topic, text)) {
            return MDB_CORRUPTED;
        }
        each(&partition, context);
    }
    return code == MDB_NOTFOUND ? 0 : code;
}

bool store_browse_partitions(struct store_browse *browse,
                             void (*each)(const struct store_browse_partition *partition, void *context),
                             void *context,
                             struct error *error)
{
    MDB_cursor *cursor = NULL;
    int code = mdb_cursor_open(browse->txn, browse->store->partitions, &cursor);
    if (code == 0) {
        code = each_partition(cursor, each, context);
        mdb_cursor_close(cursor);
    }
    return code == 0 || store_error(browse->store->path, code, DOING, error);
}

static void add_lane(struct store_browse *browse, const MDB_val *key, const MDB_val *value)
{
    if (key->mv_size == 0 || key->mv_size > METADATA_LANE_NAME_MAX || value->mv_size != sizeof(uint16_t)) {
        return; /* no lane's: rows of it have no name then, and whoever looks says so */
    }
    if (browse->lane_count == browse->lane_room) {
        browse->lane_room = browse->lane_room == 0 ? 16 : browse->lane_room * 2;
        browse->lanes = memory_resize(browse->lanes, browse->lane_room, sizeof(*browse->lanes));
    }
    struct store_browse_name *name = &browse->lanes[browse->lane_count++];
    *name = (struct store_browse_name){.id = store_layout_u16(value->mv_data)};
    memcpy(name->name, key->mv_data, key->mv_size);
}

static void read_lanes(struct store_browse *browse)
{
    MDB_cursor *cursor = NULL;
    MDB_val key;
    MDB_val value;
    browse->lane_count = 0;
    browse->lanes_read = true;
    if (mdb_cursor_open(browse->txn, browse->store->lanes, &cursor) != 0) {
        return;
    }
    while (mdb_cursor_get(cursor, &key, &value, MDB_NEXT) == 0) {
        add_lane(browse, &key, &value);
    }
    mdb_cursor_close(cursor);
}

const char *store_browse_lane(struct store_browse *browse, uint16_t lane_id)
{
    if (!browse->lanes_read) {
        read_lanes(browse);
    }
    size_t at = 0;
    while (at < browse->lane_count && browse->lanes[at].id != lane_id) {
        at++;
    }
    return at < browse->lane_count ? browse->lanes[at].name : NULL;
}
