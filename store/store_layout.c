#include "store/store_layout.h"

#include <string.h>

#define LEVEL_SHIFT 56
#define ID_FLAG ((uint64_t)1 << 62) /* turned over in the due of a row with an id: there it differs from the sign */
#define KIND_MARK 1
#define KIND_SKIP 2
#define MARK_PLACE 5 /* of what follows partition id and kind */

void store_layout_put_u16(uint8_t *at, uint16_t value)
{
    at[0] = (uint8_t)(value >> 8);
    at[1] = (uint8_t)value;
}

void store_layout_put_u32(uint8_t *at, uint32_t value)
{
    store_layout_put_u16(at, (uint16_t)(value >> 16));
    store_layout_put_u16(at + 2, (uint16_t)value);
}

void store_layout_put_u64(uint8_t *at, uint64_t value)
{
    store_layout_put_u32(at, (uint32_t)(value >> 32));
    store_layout_put_u32(at + 4, (uint32_t)value);
}

uint16_t store_layout_u16(const uint8_t *at)
{
    return (uint16_t)((uint16_t)(at[0] << 8) | at[1]);
}

uint32_t store_layout_u32(const uint8_t *at)
{
    return ((uint32_t)store_layout_u16(at) << 16) | store_layout_u16(at + 2);
}

uint64_t store_layout_u64(const uint8_t *at)
{
    return ((uint64_t)store_layout_u32(at) << 32) | store_layout_u32(at + 4);
}

void store_layout_bucket_key(uint8_t *key, const struct store_bucket *bucket)
{
    store_layout_put_u32(key, bucket->partition);
    store_layout_put_u16(key + 4, bucket->lane);
    store_layout_put_u64(key + 6, ((uint64_t)bucket->level << LEVEL_SHIFT) | (uint64_t)bucket->number);
}

struct store_bucket store_layout_bucket(const uint8_t *key)
{
    uint64_t word = store_layout_u64(key + 6);
    return (struct store_bucket){
        .partition = store_layout_u32(key),
        .lane = store_layout_u16(key + 4),
        .level = (uint8_t)(word >> LEVEL_SHIFT),
        .number = (int64_t)(word & (((uint64_t)1 << LEVEL_SHIFT) - 1)),
    };
}

void store_layout_row_offset(uint8_t *key, int64_t offset)
{
    store_layout_put_u64(key + STORE_LAYOUT_BUCKET_KEY, offset < 0 ? 0 : (uint64_t)offset);
}

int64_t store_layout_offset(const uint8_t *row_key)
{
    return (int64_t)store_layout_u64(row_key + STORE_LAYOUT_BUCKET_KEY);
}

size_t store_layout_row_head(struct record_id id)
{
    return STORE_LAYOUT_ROW_HEAD + (record_id_is_none(id) ? 0 : STORE_LAYOUT_ID);
}

static void put_id(uint8_t *at, struct record_id id)
{
    store_layout_put_u64(at, id.high);
    store_layout_put_u64(at + 8, id.low);
}

static struct record_id read_id(const uint8_t *at)
{
    return (struct record_id){store_layout_u64(at), store_layout_u64(at + 8)};
}

void store_layout_put_row_head(uint8_t *value, int64_t due_ms, struct record_id id)
{
    if (record_id_is_none(id)) {
        store_layout_put_u64(value, (uint64_t)due_ms);
        return;
    }
    store_layout_put_u64(value, (uint64_t)due_ms ^ ID_FLAG);
    put_id(value + STORE_LAYOUT_ROW_HEAD, id);
}

bool store_layout_row(const uint8_t *value, size_t length, struct store_row *row)
{
    if (length < STORE_LAYOUT_ROW_HEAD) {
        return false;
    }
    size_t head = STORE_LAYOUT_ROW_HEAD;
    uint64_t due = store_layout_u64(value);
    row->id = RECORD_ID_NONE;
    if (((due << 1) ^ due) >> 63 != 0) {
        head += STORE_LAYOUT_ID;
        due ^= ID_FLAG;
        if (length < head) {
            return false;
        }
        row->id = read_id(value + STORE_LAYOUT_ROW_HEAD);
    }
    row->due_ms = (int64_t)due;
    row->bytes = (struct span){value + head, length - head};
    return true;
}

void store_layout_id_key(uint8_t *key, uint32_t partition, struct record_id id)
{
    store_layout_put_u32(key, partition);
    put_id(key + STORE_LAYOUT_PREFIX, id);
}

void store_layout_put_event(uint8_t *value, uint16_t lane_id, const struct stored_event *event)
{
    store_layout_put_u16(value, lane_id);
    store_layout_put_u64(value + 2, (uint64_t)event->due_ms);
    store_layout_put_u64(value + 10, (uint64_t)event->offset);
    store_layout_put_u64(value + 18, (uint64_t)event->root);
    store_layout_put_u32(value + 26, event->bytes);
}

void store_layout_event(const uint8_t *value, uint16_t *lane_id, struct stored_event *event)
{
    *lane_id = store_layout_u16(value);
    event->due_ms = (int64_t)store_layout_u64(value + 2);
    event->offset = (int64_t)store_layout_u64(value + 10);
    event->root = (int64_t)store_layout_u64(value + 18);
    event->bytes = store_layout_u32(value + 26);
}

static void begin_mark(struct store_mark *at, uint32_t partition, uint8_t kind, int64_t offset)
{
    *at = (struct store_mark){0};
    store_layout_put_u32(at->key, partition);
    at->key[STORE_LAYOUT_PREFIX] = kind;
    store_layout_put_u64(at->key + MARK_PLACE, (uint64_t)offset);
}

void store_layout_mark(struct store_mark *at, uint32_t partition, const struct mark *mark)
{
    begin_mark(at, partition, KIND_MARK, mark->offset);
    put_id(at->key + MARK_PLACE + 8, mark->id);
    store_layout_put_u64(at->value, (uint64_t)mark->end);
    at->key_length = MARK_PLACE + 8 + STORE_LAYOUT_ID;
    at->value_length = STORE_LAYOUT_MARK_VALUE;
}

void store_layout_skip(struct store_mark *at, uint32_t partition, const struct skip *skip)
{
    begin_mark(at, partition, KIND_SKIP, skip->offset);
    store_layout_put_u64(at->key + MARK_PLACE + 8, (uint64_t)skip->skipped);
    at->key_length = MARK_PLACE + 16;
}

bool store_layout_read_mark(const uint8_t *key, const uint8_t *value, struct mark *mark, struct skip *skip)
{
    int64_t offset = (int64_t)store_layout_u64(key + MARK_PLACE);
    if (key[STORE_LAYOUT_PREFIX] == KIND_MARK) {
        *mark = (struct mark){read_id(key + MARK_PLACE + 8), offset, (int64_t)store_layout_u64(value)};
        return true;
    }
    *skip = (struct skip){offset, (int64_t)store_layout_u64(key + MARK_PLACE + 8)};
    return false;
}

bool store_layout_mark_valid(const uint8_t *key, size_t key_length, size_t value_length)
{
    if (key_length <= STORE_LAYOUT_PREFIX) {
        return false;
    }
    return key[STORE_LAYOUT_PREFIX] == KIND_MARK
               ? key_length == MARK_PLACE + 8 + STORE_LAYOUT_ID && value_length == STORE_LAYOUT_MARK_VALUE
               : key[STORE_LAYOUT_PREFIX] == KIND_SKIP && key_length == MARK_PLACE + 16 && value_length == 0;
}

void store_layout_put_stats(uint8_t *value, const struct bucket_stats *stats)
{
    store_layout_put_u64(value, stats->count);
    store_layout_put_u64(value + 8, stats->bytes);
    store_layout_put_u64(value + 16, (uint64_t)stats->least_offset);
    store_layout_put_u64(value + 24, (uint64_t)stats->last_offset);
    store_layout_put_u64(value + 32, (uint64_t)stats->greatest.due_ms);
    store_layout_put_u64(value + 40, (uint64_t)stats->greatest.offset);
}

void store_layout_stats(const uint8_t *value, struct bucket_stats *stats)
{
    stats->count = store_layout_u64(value);
    stats->bytes = store_layout_u64(value + 8);
    stats->least_offset = (int64_t)store_layout_u64(value + 16);
    stats->last_offset = (int64_t)store_layout_u64(value + 24);
    stats->greatest.due_ms = (int64_t)store_layout_u64(value + 32);
    stats->greatest.offset = (int64_t)store_layout_u64(value + 40);
}

size_t store_layout_name_key(uint8_t *key, const char *topic, int32_t partition)
{
    size_t length = strnlen(topic, STORE_LAYOUT_TOPIC_MAX + 1);
    if (length == 0 || length > STORE_LAYOUT_TOPIC_MAX || partition < 0) {
        return 0;
    }
    memcpy(key, topic, length);
    key[length] = 0;
    store_layout_put_u32(key + length + 1, (uint32_t)partition);
    return length + 5;
}

void store_layout_garbage_key(uint8_t *key, uint32_t partition)
{
    static const uint8_t name[] = {'g', 'a', 'r', 'b', 'a', 'g', 'e'};
    memcpy(key, name, sizeof name);
    store_layout_put_u32(key + sizeof name, partition);
}

int64_t store_layout_number(int64_t due_ms, uint8_t level)
{
    return due_ms < 0 ? 0 : due_ms >> (BUCKET_SHIFT_0 + BUCKET_SHIFT_STEP * level);
}
