#include "ops/redelivery_targets.h"

uint64_t redelivery_targets_hash(struct span topic)
{
    uint64_t hash = 0xcbf29ce484222325u; /* FNV-1a */
    for (size_t i = 0; i < topic.length; i++) {
        hash = (hash ^ topic.data[i]) * 0x100000001b3u;
    }
    return hash;
}

static struct redelivery_target *find(struct redelivery_targets *targets, uint64_t hash)
{
    for (size_t i = 0; i < targets->count; i++) {
        if (targets->items[i].hash == hash) {
            return &targets->items[i];
        }
    }
    return NULL;
}

bool redelivery_targets_open(struct redelivery_targets *targets, uint64_t hash, int64_t now_ms, int64_t *until_ms)
{
    struct redelivery_target *target = find(targets, hash);
    if (target == NULL) {
        return true;
    }
    bool over = now_ms >= target->until_ms;
    if (over) {
        target->until_ms = now_ms + target->wait_ms; /* the others look again then, and another may try if nothing is heard of this one */
    }
    *until_ms = target->until_ms;
    return over;
}

/* Where a new one goes: behind, or in place of the one that rests the least. */
static struct redelivery_target *place_for_new(struct redelivery_targets *targets)
{
    if (targets->count < REDELIVERY_TARGETS_MAX) {
        return &targets->items[targets->count++];
    }
    struct redelivery_target *least = &targets->items[0];
    for (size_t i = 1; i < targets->count; i++) {
        least = targets->items[i].until_ms < least->until_ms ? &targets->items[i] : least;
    }
    return least;
}

int64_t redelivery_targets_rest(struct redelivery_targets *targets, uint64_t hash, int64_t sent_ms, int64_t now_ms, bool *news)
{
    struct redelivery_target *known = find(targets, hash);
    *news = known == NULL;
    if (known != NULL && sent_ms < known->since_ms && known->until_ms > now_ms) {
        return known->until_ms; /* one of those that were on their way when it began to rest */
    }
    struct redelivery_target *target = known != NULL ? known : place_for_new(targets);
    if (known == NULL) {
        *target = (struct redelivery_target){.hash = hash};
    }
    int64_t doubled = target->wait_ms == 0 ? REDELIVERY_TARGETS_FIRST_MS : target->wait_ms * 2;
    target->wait_ms = doubled < REDELIVERY_TARGETS_MOST_MS ? doubled : REDELIVERY_TARGETS_MOST_MS;
    target->since_ms = now_ms;
    target->until_ms = now_ms + target->wait_ms;
    return target->until_ms;
}

bool redelivery_targets_works(struct redelivery_targets *targets, uint64_t hash)
{
    struct redelivery_target *target = find(targets, hash);
    if (target == NULL) {
        return false;
    }
    *target = targets->items[--targets->count];
    return true;
}
