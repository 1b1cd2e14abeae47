#include "support/store_fake.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "support/store_fake_disk.h"

#define TOPIC_MAX 249

struct store {
    struct store_fake_disk *disk;
    struct store_fake_partition **slots; /* NULL: not bound */
    size_t slot_count;
    char lanes[LANES_MAX][METADATA_LANE_NAME_MAX + 1]; /* "": not bound */
    bool reading;
};

bool store_open(const struct store_options *options, struct store **store, struct error *error)
{
    if (options->path == NULL || options->path[0] == '\0' || options->max_size_bytes < 1024 * 1024) {
        return error_set(error, ERROR_INVALID, "store.path is empty or store.max_size below 1 MiB");
    }
    struct store_fake_disk *disk = store_fake_disk_of(options->path);
    if (disk->in_use) {
        return error_set(error, ERROR_BUSY, "store %s is in use by this process", options->path);
    }
    disk->in_use = true;
    struct store *opened = memory_new(1, sizeof(*opened));
    opened->disk = disk;
    *store = opened;
    return true;
}

void store_close(struct store *store)
{
    if (store != NULL) {
        store->disk->in_use = false;
        free(store->slots);
        free(store);
    }
}

bool store_bind_lane(struct store *store, lane_index lane, const char *name, struct error *error)
{
    size_t length = strlen(name);
    if (lane >= LANES_MAX || length == 0 || length > METADATA_LANE_NAME_MAX) {
        return error_set(error, ERROR_INVALID, "lane \"%.64s\" has a name or index out of range", name);
    }
    for (lane_index other = 0; other < LANES_MAX; other++) {
        bool same_name = strcmp(store->lanes[other], name) == 0;
        if (same_name != (other == lane) && (same_name || store->lanes[lane][0] != '\0')) {
            return error_set(error, ERROR_INVALID, "lane %u cannot be bound to \"%s\": one of both is bound already",
                             (unsigned)lane, name);
        }
    }
    memcpy(store->lanes[lane], name, length + 1);
    return true;
}

static lane_index lane_of(const struct store *store, const char *name)
{
    lane_index lane = 0;
    while (lane < LANES_MAX && strcmp(store->lanes[lane], name) != 0) {
        lane++;
    }
    return lane;
}

/* Has an earlier bucket of the image this lane? Then it was named already. */
static bool named_before(const struct store_fake_image *image, size_t partition, size_t bucket)
{
    const char *name = image->partitions[partition]->buckets[bucket].lane;
    for (size_t i = 0; i <= partition; i++) {
        size_t count = i < partition ? image->partitions[i]->count : bucket;
        for (size_t j = 0; j < count; j++) {
            if (strcmp(image->partitions[i]->buckets[j].lane, name) == 0) {
                return true;
            }
        }
    }
    return false;
}

bool store_unbound_lanes(struct store *store,
                         void (*each)(const char *name, void *context),
                         void *context,
                         struct error *error)
{
    (void)error;
    const struct store_fake_image *image = store->disk->image;
    for (size_t i = 0; i < image->count; i++) {
        for (size_t j = 0; j < image->partitions[i]->count; j++) {
            const char *name = image->partitions[i]->buckets[j].lane;
            if (!named_before(image, i, j) && lane_of(store, name) == LANES_MAX) {
                each(name, context);
            }
        }
    }
    return true;
}

static bool list_buckets(const struct store *store,
                         const struct store_fake_partition *partition,
                         struct store_partition *result,
                         struct error *error)
{
    struct bucket_stats *buckets = memory_new(partition->count, sizeof(*buckets));
    for (size_t i = 0; i < partition->count; i++) {
        buckets[i] = partition->buckets[i].stats;
        buckets[i].id.lane = lane_of(store, partition->buckets[i].lane);
        if (buckets[i].id.lane == LANES_MAX) {
            free(buckets);
            return error_set(error, ERROR_INVALID, "rows of lane \"%s\", which is not bound",
                             partition->buckets[i].lane);
        }
    }
    result->buckets = buckets;
    result->bucket_count = partition->count;
    result->marks = store_fake_copy(partition->marks, partition->mark_count, sizeof(*partition->marks));
    result->mark_count = partition->mark_count;
    result->skips = store_fake_copy(partition->skips, partition->skip_count, sizeof(*partition->skips));
    result->skip_count = partition->skip_count;
    return true;
}

static void bind(struct store *store, slot_index slot, struct store_fake_partition *partition)
{
    if (slot >= store->slot_count) {
        size_t count = (size_t)slot + 1;
        store->slots = memory_resize(store->slots, count, sizeof(struct store_fake_partition *));
        memset(store->slots + store->slot_count, 0,
               (count - store->slot_count) * sizeof(struct store_fake_partition *));
        store->slot_count = count;
    }
    store->slots[slot] = partition;
}

bool store_bind_slot(struct store *store,
                     slot_index slot,
                     const char *topic,
                     int32_t partition,
                     struct store_partition *result,
                     struct error *error)
{
    size_t length = strnlen(topic, TOPIC_MAX + 1);
    if (length == 0 || length > TOPIC_MAX || partition < 0) {
        return error_set(error, ERROR_INVALID, "topic \"%.64s\" partition %d: not a name that Kafka allows", topic,
                         (int)partition);
    }
    struct store_fake_partition *found = store_fake_partition_of(store->disk->image, topic, partition);
    struct store_partition read = {.found = found->found, .position = found->position};
    memcpy(read.metadata, found->metadata, sizeof(read.metadata));
    if (!list_buckets(store, found, &read, error)) {
        return false;
    }
    bind(store, slot, found);
    *result = read;
    return true;
}

static bool slot_bound(const struct store *store, slot_index slot)
{
    return slot < store->slot_count && store->slots[slot] != NULL;
}

bool store_forget_slot(struct store *store, slot_index slot, struct error *error)
{
    if (!slot_bound(store, slot)) {
        return error_set(error, ERROR_INVALID, "slot %" PRIu32 " is not bound", slot);
    }
    store_fake_partition_clear(store->slots[slot]);
    return true;
}

bool store_partitions(struct store *store,
                      void (*each)(const char *topic, int32_t partition, uint64_t rows, uint64_t bytes, void *context),
                      void *context,
                      struct error *error)
{
    (void)error;
    const struct store_fake_image *image = store->disk->image;
    for (size_t i = 0; i < image->count; i++) {
        const struct store_fake_partition *partition = image->partitions[i];
        uint64_t rows = 0;
        uint64_t bytes = 0;
        for (size_t j = 0; j < partition->count; j++) {
            rows += partition->buckets[j].stats.count;
            bytes += partition->buckets[j].stats.bytes;
        }
        if (rows > 0) {
            each(partition->topic, partition->partition, rows, bytes, context);
        }
    }
    return true;
}

/* The bucket if its slot and lane are bound; *bucket NULL when it has no rows. */
static bool find_bucket(
    struct store *store, slot_index slot, struct bucket_id id, struct store_fake_bucket **bucket, struct error *error)
{
    if (!slot_bound(store, slot) || id.lane >= LANES_MAX || store->lanes[id.lane][0] == '\0') {
        return error_set(error, ERROR_INVALID, "slot %" PRIu32 " or lane %u is not bound", slot, (unsigned)id.lane);
    }
    *bucket = store_fake_bucket_of(store->slots[slot], store->lanes[id.lane], id, false);
    return true;
}

bool store_scan(struct store *store,
                slot_index slot,
                const struct command_scan *scan,
                struct scanned_row *rows,
                size_t *count,
                bool *end,
                struct error *error)
{
    struct store_fake_bucket *bucket = NULL;
    if (!find_bucket(store, slot, scan->bucket, &bucket, error)) {
        return false;
    }
    *count = 0;
    *end = true;
    if (bucket == NULL) {
        return true;
    }
    for (size_t i = store_fake_row_index(bucket, scan->from_offset); i < bucket->count; i++) {
        const struct store_fake_row *row = &bucket->rows[i];
        if (row->offset >= scan->below_offset) {
            break;
        }
        if (*count == scan->rows_max) {
            *end = false;
            break;
        }
        rows[(*count)++] = (struct scanned_row){row->offset, row->due_ms, row->length};
    }
    return true;
}

bool store_find_id(
    struct store *store, slot_index slot, struct record_id id, struct stored_event *event, struct error *error)
{
    *event = (struct stored_event){.offset = -1};
    if (!slot_bound(store, slot)) {
        return error_set(error, ERROR_INVALID, "slot %" PRIu32 " is not bound", slot);
    }
    const struct store_fake_id *found = store_fake_ids_find(store->slots[slot], id);
    if (found == NULL) {
        return true;
    }
    *event = found->event;
    event->lane = lane_of(store, found->lane);
    return event->lane < LANES_MAX || error_set(error, ERROR_INVALID, "lane \"%s\" is not bound", found->lane);
}

bool store_read_begin(struct store *store, struct error *error)
{
    if (store->reading) {
        return error_set(error, ERROR_INVALID, "reading has begun already");
    }
    store->reading = true;
    return true;
}

bool store_read(
    struct store *store, slot_index slot, struct bucket_id id, int64_t offset, struct span *row, struct error *error)
{
    struct store_fake_bucket *bucket = NULL;
    if (!store->reading || offset < 0) {
        return error_set(error, ERROR_INVALID, "store_read_begin comes first");
    }
    if (!find_bucket(store, slot, id, &bucket, error)) {
        return false;
    }
    size_t at = bucket == NULL ? 0 : store_fake_row_index(bucket, offset);
    if (bucket == NULL || at == bucket->count || bucket->rows[at].offset != offset) {
        return error_set(error, ERROR_NOT_FOUND, "no row at offset %" PRId64, offset);
    }
    *row = (struct span){bucket->rows[at].bytes, bucket->rows[at].length};
    return true;
}

void store_read_end(struct store *store)
{
    store->reading = false;
}

void store_usage(struct store *store, uint64_t *used_bytes, uint64_t *max_bytes)
{
    *used_bytes = store_fake_image_bytes(store->disk->image);
    *max_bytes = store->disk->bytes_most;
}

void store_result_free(struct store_result *result)
{
    free(result->touched);
    *result = (struct store_result){0};
}

/* --------------------------------------------------------------------------------------------------- writing */

struct fake_job {
    struct store *store;
    const struct checkpoint_slot *slot;
    struct store_fake_partition *partition;
    struct store_result result;
    uint64_t drops_left;
};

static bool bucket_valid(const struct store *store, struct bucket_id id)
{
    return id.lane < LANES_MAX && store->lanes[id.lane][0] != '\0' && id.level < BUCKET_LEVELS && id.number >= 0;
}

static bool slot_valid(const struct store *store, const struct checkpoint_slot *slot, const struct store_source *source)
{
    bool valid = slot_bound(store, slot->slot);
    for (size_t i = 0; i < slot->row_count && valid; i++) {
        int64_t due_ms = slot->rows[i].due_ms;
        valid = bucket_valid(store, slot->rows[i].bucket) && slot->rows[i].offset >= 0 && due_ms < STORE_DUE_BOUND &&
                due_ms >= -STORE_DUE_BOUND &&
                source->row(slot->rows[i].ref, source->context).data != NULL;
    }
    for (size_t i = 0; i < slot->split_count && valid; i++) {
        valid = bucket_valid(store, slot->splits[i].from) && slot->splits[i].from.level > 0;
    }
    for (size_t i = 0; i < slot->drop_count && valid; i++) {
        valid = bucket_valid(store, slot->drops[i]);
    }
    for (size_t i = 0; i < slot->trim_count && valid; i++) {
        valid = bucket_valid(store, slot->trims[i].bucket);
    }
    for (size_t i = 0; i < slot->erase_count && valid; i++) {
        valid = bucket_valid(store, (struct bucket_id){slot->erases[i].lane, 0, 0});
    }
    return valid;
}

static uint64_t new_bytes(const struct checkpoint_slot *slot, const struct store_source *source)
{
    uint64_t bytes = 0;
    for (size_t i = 0; i < slot->row_count; i++) {
        bytes += source->row(slot->rows[i].ref, source->context).length;
    }
    return bytes;
}

/* Everything that could fail is looked at before anything changes. */
static bool plan_possible(const struct store *store,
                          const struct checkpoint_plan *plan,
                          const struct store_source *source,
                          struct error *error)
{
    uint64_t bytes = 0;
    for (size_t i = 0; i < plan->slot_count; i++) {
        if (!slot_valid(store, &plan->slots[i], source)) {
            return error_set(error, ERROR_INVALID, "the plan names what is not bound, or rows that cannot be");
        }
        bytes += new_bytes(&plan->slots[i], source);
    }
    if (bytes > 0 && store_fake_image_bytes(store->disk->image) + bytes > store->disk->bytes_most) {
        return error_set(error, ERROR_FULL, "the store is full");
    }
    return true;
}

static void touch(struct fake_job *job, const struct bucket_id id)
{
    struct store_result *result = &job->result;
    struct checkpoint_touched item = {job->slot->slot, job->slot->epoch, {.id = id}};
    for (size_t i = result->touched_count; i-- > 0;) {
        const struct checkpoint_touched *other = &result->touched[i];
        if (other->slot == item.slot && other->stats.id.lane == id.lane && other->stats.id.level == id.level &&
            other->stats.id.number == id.number) {
            return;
        }
    }
    result->touched = memory_resize(result->touched, result->touched_count + 1, sizeof(*result->touched));
    result->touched[result->touched_count++] = item;
}

static struct store_fake_bucket *bucket_of(struct fake_job *job, struct bucket_id id, bool make)
{
    touch(job, id);
    return store_fake_bucket_of(job->partition, job->store->lanes[id.lane], id, make);
}

/* Deletes the first rows of a bucket, at most `most` and what is left for this write. Returns how many. */
static size_t delete_first(struct fake_job *job, struct store_fake_bucket *bucket, size_t most)
{
    size_t count = most < job->drops_left ? most : (size_t)job->drops_left;
    for (size_t i = 0; i < count; i++) {
        store_fake_ids_remove(job->partition, bucket->rows[i].id, bucket->rows[i].offset);
    }
    store_fake_rows_cut(bucket, count, false);
    job->drops_left -= count;
    return count;
}

static void drop(struct fake_job *job, struct bucket_id id)
{
    struct store_fake_bucket *bucket = bucket_of(job, id, false);
    if (bucket == NULL) {
        return;
    }
    job->result.rows_dropped += delete_first(job, bucket, bucket->count);
    if (bucket->count == 0) {
        store_fake_bucket_remove(job->partition, bucket);
    }
}

/* After rows went one by one. */
static void settle(struct fake_job *job, struct store_fake_bucket *bucket)
{
    if (bucket->count == 0) {
        store_fake_bucket_remove(job->partition, bucket);
    } else {
        bucket->stats.least_offset = bucket->rows[0].offset;
    }
}

static void trim(struct fake_job *job, const struct checkpoint_trim *trim)
{
    struct store_fake_bucket *bucket = bucket_of(job, trim->bucket, false);
    if (bucket == NULL) {
        return;
    }
    size_t below = store_fake_row_index(bucket, trim->below_offset);
    job->result.rows_trimmed += delete_first(job, bucket, below < trim->rows_max ? below : trim->rows_max);
    settle(job, bucket);
}

static void erase(struct fake_job *job, const struct checkpoint_erase *erase)
{
    for (uint8_t level = 0; level < BUCKET_LEVELS; level++) {
        int64_t due_ms = erase->key.due_ms < 0 ? 0 : erase->key.due_ms;
        struct bucket_id id = {erase->lane, level, due_ms >> (BUCKET_SHIFT_0 + BUCKET_SHIFT_STEP * level)};
        struct store_fake_bucket *bucket =
            store_fake_bucket_of(job->partition, job->store->lanes[id.lane], id, false);
        size_t at = bucket == NULL ? 0 : store_fake_row_index(bucket, erase->key.offset);
        if (bucket == NULL || at == bucket->count || bucket->rows[at].offset != erase->key.offset ||
            bucket->rows[at].due_ms != erase->key.due_ms) {
            continue;
        }
        touch(job, id);
        store_fake_ids_remove(job->partition, bucket->rows[at].id, erase->key.offset);
        store_fake_row_remove(bucket, at);
        settle(job, bucket);
        job->result.rows_erased++;
        return;
    }
}

static void split(struct fake_job *job, const struct checkpoint_split *split)
{
    struct store_fake_bucket *from = bucket_of(job, split->from, false);
    if (from == NULL) {
        return;
    }
    size_t count = from->count < split->rows_max ? from->count : split->rows_max;
    struct store_fake_row *rows = memory_new(count, sizeof(*rows));
    if (count > 0) {
        memcpy(rows, from->rows, count * sizeof(*rows));
    }
    store_fake_rows_cut(from, count, true);
    if (from->count == 0) {
        store_fake_bucket_remove(job->partition, from);
    }
    for (size_t i = 0; i < count; i++) {
        uint8_t level = (uint8_t)(split->from.level - 1);
        int64_t due_ms = rows[i].due_ms < 0 ? 0 : rows[i].due_ms;
        struct bucket_id id = {split->from.lane, level, due_ms >> (BUCKET_SHIFT_0 + BUCKET_SHIFT_STEP * level)};
        store_fake_row_put(bucket_of(job, id, true), rows[i]);
    }
    job->result.rows_split += count;
    free(rows);
}

static void put(struct fake_job *job, const struct checkpoint_row *row, struct span bytes)
{
    uint32_t length = (uint32_t)bytes.length;
    struct store_fake_row copy = {row->offset, row->due_ms, row->id, memory_new(bytes.length, 1), length};
    memcpy(copy.bytes, bytes.data, bytes.length);
    struct store_fake_bucket *bucket = bucket_of(job, row->bucket, true);
    size_t at = store_fake_row_index(bucket, row->offset);
    if (at < bucket->count && bucket->rows[at].offset == row->offset) {
        store_fake_ids_remove(job->partition, bucket->rows[at].id, row->offset);
    }
    store_fake_row_put(bucket, copy);
    struct store_fake_id entry = {.id = row->id, .event = {row->offset, row->due_ms, row->root, length, 0}};
    memcpy(entry.lane, job->store->lanes[row->bucket.lane], sizeof(entry.lane));
    store_fake_ids_put(job->partition, entry);
    job->result.rows_put++;
}

static void apply_slot(struct fake_job *job, const struct store_source *source)
{
    const struct checkpoint_slot *slot = job->slot;
    const char *metadata = source->metadata(slot, source->context);
    size_t length = metadata == NULL ? 0 : strnlen(metadata, METADATA_MAX);
    job->partition = job->store->slots[slot->slot];
    job->partition->found = true;
    job->partition->position = slot->position;
    memset(job->partition->metadata, 0, sizeof(job->partition->metadata));
    if (length > 0) {
        memcpy(job->partition->metadata, metadata, length);
    }
    for (size_t i = 0; i < slot->drop_count; i++) {
        drop(job, slot->drops[i]);
    }
    for (size_t i = 0; i < slot->trim_count; i++) {
        trim(job, &slot->trims[i]);
    }
    for (size_t i = 0; i < slot->erase_count; i++) {
        erase(job, &slot->erases[i]);
    }
    for (size_t i = 0; i < slot->split_count; i++) {
        split(job, &slot->splits[i]);
    }
    for (size_t i = 0; i < slot->row_count; i++) {
        put(job, &slot->rows[i], source->row(slot->rows[i].ref, source->context));
    }
    store_fake_marks_set(job->partition, slot);
}

static void fill_touched(struct fake_job *job)
{
    for (size_t i = 0; i < job->result.touched_count; i++) {
        struct checkpoint_touched *item = &job->result.touched[i];
        struct bucket_id id = item->stats.id;
        const struct store_fake_bucket *bucket =
            store_fake_bucket_of(job->store->slots[item->slot], job->store->lanes[id.lane], id, false);
        if (bucket != NULL) {
            item->stats = bucket->stats;
            item->stats.id = id;
        }
    }
}

bool store_write(struct store *store,
                 const struct checkpoint_plan *plan,
                 const struct store_source *source,
                 struct store_result *result,
                 struct error *error)
{
    struct fake_job job = {.store = store, .drops_left = STORE_DROP_ROWS_MAX};
    if (!plan_possible(store, plan, source, error)) {
        return false;
    }
    for (size_t i = 0; i < plan->slot_count; i++) {
        job.slot = &plan->slots[i];
        apply_slot(&job, source);
    }
    fill_touched(&job);
    job.result.used_bytes = store_fake_image_bytes(store->disk->image);
    *result = job.result;
    return true;
}
