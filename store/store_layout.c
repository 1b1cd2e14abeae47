#include "store/store_layout.h"

#include <string.h>

#define LEVEL_SHIFT 56

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
