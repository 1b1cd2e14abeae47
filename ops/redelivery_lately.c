/* See redelivery_lately.h. */
#include "ops/redelivery_lately.h"

#include <stdlib.h>

#include "base/memory.h"

#define BUCKETS 65536u /* a power of two */
#define WAYS 4u

struct mark {
    uint64_t hash;
    uint32_t attempt; /* 0: free */
    uint32_t stamp;   /* counts marks: by it the oldest is found, also after it has gone round */
    int64_t made_ms;
};

struct redelivery_lately {
    struct mark (*buckets)[WAYS];
    uint32_t stamp;
};

struct redelivery_lately *redelivery_lately_new(void)
{
    struct redelivery_lately *lately = memory_new(1, sizeof *lately);
    lately->buckets = memory_new(BUCKETS, sizeof *lately->buckets);
    return lately;
}

void redelivery_lately_free(struct redelivery_lately *lately)
{
    if (lately != NULL) {
        free(lately->buckets);
    }
    free(lately);
}

/* ------------------------------------------------------------------------------------------------- hashes */

enum kind { KIND_PLACE = 1, KIND_RECORD, KIND_LETTER };

static uint64_t mix(uint64_t hash, uint64_t number) /* the finisher of MurmurHash3 over the two */
{
    hash ^= number + 0x9e3779b97f4a7c15u + (hash << 6) + (hash >> 2);
    hash = (hash ^ (hash >> 33)) * 0xff51afd7ed558ccdu;
    hash = (hash ^ (hash >> 33)) * 0xc4ceb9fe1a85ec53u;
    return hash ^ (hash >> 33);
}

static uint64_t mix_span(uint64_t hash, struct span span)
{
    uint64_t word = 0;
    if (span.data == NULL) {
        return mix(hash, UINT64_MAX);
    }
    hash = mix(hash, span.length);
    for (size_t i = 0; i < span.length; i++) {
        word = word << 8 | span.data[i];
        if (i % 8 == 7) {
            hash = mix(hash, word);
            word = 0;
        }
    }
    return mix(hash, word);
}

static uint64_t hash_of_place(struct span topic, int32_t partition, int64_t offset)
{
    return mix(mix(mix_span(KIND_PLACE, topic), (uint64_t)partition), (uint64_t)offset);
}

static uint64_t hash_of_record(struct span topic, const struct letter_record *record)
{
    return mix_span(mix_span(mix_span(KIND_RECORD, topic), record->key), record->value);
}

static uint64_t hash_of_letter(struct waiting_id id, uint32_t replays)
{
    return mix(mix(mix(KIND_LETTER, id.high), id.low), replays);
}

/* ------------------------------------------------------------------------------------------------- marks */

static void note(struct redelivery_lately *lately, uint64_t hash, uint32_t attempt, int64_t now_ms)
{
    struct mark *bucket = lately->buckets[hash & (BUCKETS - 1)];
    struct mark *place = &bucket[0];
    for (unsigned i = 0; i < WAYS; i++) {
        bool same = bucket[i].attempt != 0 && bucket[i].hash == hash;
        bool older = bucket[i].attempt == 0 || (place->attempt != 0 && lately->stamp - bucket[i].stamp > lately->stamp - place->stamp);
        if (same) {
            place = &bucket[i];
            break;
        }
        place = older ? &bucket[i] : place;
    }
    *place = (struct mark){.hash = hash, .attempt = attempt, .stamp = lately->stamp++, .made_ms = now_ms};
}

/* Attempt 0: none. */
static struct mark find(const struct redelivery_lately *lately, uint64_t hash)
{
    const struct mark *bucket = lately->buckets[hash & (BUCKETS - 1)];
    for (unsigned i = 0; i < WAYS; i++) {
        if (bucket[i].attempt != 0 && bucket[i].hash == hash) {
            return bucket[i];
        }
    }
    return (struct mark){0};
}

void redelivery_lately_delivered(struct redelivery_lately *lately, const struct letter *letter, int32_t partition, int64_t offset, int64_t now_ms)
{
    note(lately, hash_of_letter(waiting_id_of(letter->id), letter->replays), letter->attempt, now_ms);
    note(lately, hash_of_record(letter->target, &letter->record), letter->attempt, now_ms);
    if (offset >= 0) {
        note(lately, hash_of_place(letter->target, partition, offset), letter->attempt, now_ms);
    }
}

uint32_t redelivery_lately_attempt(const struct redelivery_lately *lately, const struct letter *nack)
{
    const struct letter_origin *origin = &nack->origin;
    return origin->offset >= 0 ? find(lately, hash_of_place(origin->topic, origin->partition, origin->offset)).attempt
                               : find(lately, hash_of_record(nack->target, &nack->record)).attempt;
}

bool redelivery_lately_outdates(const struct redelivery_lately *lately, const struct letter *letter, int64_t stored_ms)
{
    const struct mark delivered = find(lately, hash_of_letter(waiting_id_of(letter->id), letter->replays));
    if (delivered.attempt == 0) {
        return false;
    }
    bool next = letter->attempt == delivered.attempt + 1;
    bool again = letter->attempt <= delivered.attempt && stored_ms <= delivered.made_ms;
    return next || again;
}
