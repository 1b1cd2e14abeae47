#include "scheduler/unknown_topics.h"

#include <stddef.h>

#define FORGET_MS 60000

static struct unknown_topic *find(struct unknown_topics *table, uint64_t hash)
{
    struct unknown_topic *oldest = &table->items[0];
    for (size_t i = 0; i < UNKNOWN_TOPICS_MAX; i++) {
        struct unknown_topic *item = &table->items[i];
        if (item->used && item->hash == hash) {
            return item;
        }
        if (oldest->used && (!item->used || item->seen_ms < oldest->seen_ms)) {
            oldest = item;
        }
    }
    oldest->used = false;
    return oldest;
}

bool unknown_topics_expired(struct unknown_topics *table, uint64_t hash, struct mono_ms now, int64_t grace_ms)
{
    struct unknown_topic *item = find(table, hash);
    if (!item->used || now.ms - item->seen_ms > grace_ms + FORGET_MS) {
        *item = (struct unknown_topic){.hash = hash, .since_ms = now.ms, .used = true};
    }
    item->seen_ms = now.ms;
    return now.ms - item->since_ms >= grace_ms;
}
