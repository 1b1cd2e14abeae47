/* See dedupe.h. */
#include "scheduler/dedupe.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/invariant.h"
#include "base/memory.h"

#define CAPACITY_FIRST 64u
#define NOBODY UINT32_MAX

struct dedupe_entry {
    struct record_id id;
    int64_t due_ms;
    int64_t until_ms; /* the window's end */
    int64_t offset;
    uint32_t before; /* by offset, NOBODY: none */
    uint32_t after;
    uint32_t place;  /* in the heap */
};

void dedupe_free(struct dedupe *dedupe)
{
    free(dedupe->entries);
    free(dedupe->heap);
    free(dedupe->places);
    free(dedupe->refused);
    *dedupe = (struct dedupe){0};
}

static int64_t add_or_end(int64_t a, int64_t b)
{
    return a > INT64_MAX - b ? INT64_MAX : a + b;
}

/* --------------------------------------------------------------------------------------------------- by id */

static uint32_t mask_of(const struct dedupe *dedupe)
{
    return 2 * dedupe->capacity - 1;
}

static uint32_t home_of(const struct dedupe *dedupe, struct record_id id)
{
    return (uint32_t)(id.low ^ id.high) & mask_of(dedupe);
}

/* The place of the id, or the free one where it belongs. */
static uint32_t place_of(const struct dedupe *dedupe, struct record_id id)
{
    uint32_t place = home_of(dedupe, id);
    while (dedupe->places[place] != 0 && !record_id_equal(dedupe->entries[dedupe->places[place] - 1].id, id)) {
        place = (place + 1) & mask_of(dedupe);
    }
    return place;
}

static uint32_t find(const struct dedupe *dedupe, struct record_id id)
{
    return dedupe->count == 0 ? NOBODY : dedupe->places[place_of(dedupe, id)] - 1; /* 0 - 1 is NOBODY */
}

/* Closes the gap: what stands behind it and belongs before moves up. */
static void close_gap(struct dedupe *dedupe, uint32_t gap)
{
    uint32_t mask = mask_of(dedupe);
    for (uint32_t next = (gap + 1) & mask; dedupe->places[next] != 0; next = (next + 1) & mask) {
        uint32_t from_home = (next - home_of(dedupe, dedupe->entries[dedupe->places[next] - 1].id)) & mask;
        if (from_home >= ((next - gap) & mask)) {
            dedupe->places[gap] = dedupe->places[next];
            gap = next;
        }
    }
    dedupe->places[gap] = 0;
}

/* ---------------------------------------------------------------------------------- by the end of the window */

static void put_into_heap(struct dedupe *dedupe, uint32_t place, uint32_t index)
{
    dedupe->heap[place] = index;
    dedupe->entries[index].place = place;
}

static int64_t until_at(const struct dedupe *dedupe, uint32_t place)
{
    return dedupe->entries[dedupe->heap[place]].until_ms;
}

static void sift_up(struct dedupe *dedupe, uint32_t place)
{
    uint32_t index = dedupe->heap[place];
    while (place > 0 && until_at(dedupe, (place - 1) / 2) > dedupe->entries[index].until_ms) {
        put_into_heap(dedupe, place, dedupe->heap[(place - 1) / 2]);
        place = (place - 1) / 2;
    }
    put_into_heap(dedupe, place, index);
}

static void sift_down(struct dedupe *dedupe, uint32_t place)
{
    uint32_t index = dedupe->heap[place];
    for (uint32_t child = 2 * place + 1; child < dedupe->count; child = 2 * place + 1) {
        child += child + 1 < dedupe->count && until_at(dedupe, child + 1) < until_at(dedupe, child);
        if (until_at(dedupe, child) >= dedupe->entries[index].until_ms) {
            break;
        }
        put_into_heap(dedupe, place, dedupe->heap[child]);
        place = child;
    }
    put_into_heap(dedupe, place, index);
}

/* ----------------------------------------------------------------------------------------------- by offset */

static void link_last(struct dedupe *dedupe, uint32_t index)
{
    struct dedupe_entry *entry = &dedupe->entries[index];
    entry->before = dedupe->count == 0 ? NOBODY : dedupe->last;
    entry->after = NOBODY;
    if (entry->before == NOBODY) {
        dedupe->first = index;
    } else {
        dedupe->entries[entry->before].after = index;
    }
    dedupe->last = index;
}

static void join(struct dedupe *dedupe, uint32_t before, uint32_t after)
{
    if (before == NOBODY) {
        dedupe->first = after;
    } else {
        dedupe->entries[before].after = after;
    }
    if (after == NOBODY) {
        dedupe->last = before;
    } else {
        dedupe->entries[after].before = before;
    }
}

/* ------------------------------------------------------------------------------------------ ids come and go */

static void grow(struct dedupe *dedupe)
{
    dedupe->capacity = dedupe->capacity == 0 ? CAPACITY_FIRST : dedupe->capacity * 2;
    dedupe->entries = memory_resize(dedupe->entries, dedupe->capacity, sizeof(*dedupe->entries));
    dedupe->heap = memory_resize(dedupe->heap, dedupe->capacity, sizeof(*dedupe->heap));
    free(dedupe->places);
    dedupe->places = memory_new(2 * (size_t)dedupe->capacity, sizeof(*dedupe->places));
    for (uint32_t i = 0; i < dedupe->count; i++) {
        dedupe->places[place_of(dedupe, dedupe->entries[i].id)] = i + 1;
    }
}

/* The last entry of the array takes the place of the one that goes, so that there are no holes. */
static void move_entry(struct dedupe *dedupe, uint32_t from, uint32_t into)
{
    struct dedupe_entry *entry = &dedupe->entries[from];
    dedupe->places[place_of(dedupe, entry->id)] = into + 1;
    dedupe->heap[entry->place] = into;
    dedupe->entries[into] = *entry;
    join(dedupe, entry->before, into);
    join(dedupe, into, entry->after);
}

static void forget(struct dedupe *dedupe, uint32_t index)
{
    struct dedupe_entry *entry = &dedupe->entries[index];
    uint32_t place = entry->place;
    close_gap(dedupe, place_of(dedupe, entry->id));
    join(dedupe, entry->before, entry->after);
    dedupe->count--;
    if (place < dedupe->count) {
        put_into_heap(dedupe, place, dedupe->heap[dedupe->count]);
        sift_down(dedupe, place);
        sift_up(dedupe, place);
    }
    if (index < dedupe->count) {
        move_entry(dedupe, dedupe->count, index);
    }
}

static void forget_until(struct dedupe *dedupe, int64_t ms)
{
    while (dedupe->count > 0 && until_at(dedupe, 0) <= ms) {
        forget(dedupe, dedupe->heap[0]);
    }
}

static void accept(struct dedupe *dedupe, const struct dedupe_record *record)
{
    if (dedupe->count == DEDUPE_IDS_MAX) {
        assert(dedupe->heap != NULL && dedupe->entries != NULL);
        dedupe->forgotten += until_at(dedupe, 0) > record->timestamp_ms; /* one that is kept for clocks that differ alone is not missed */
        forget(dedupe, dedupe->heap[0]);
    }
    if (dedupe->count == dedupe->capacity) {
        grow(dedupe);
    }
    assert(dedupe->heap != NULL && dedupe->entries != NULL && dedupe->places != NULL);
    uint32_t index = dedupe->count;
    dedupe->entries[index] = (struct dedupe_entry){
        .id = record->id, .due_ms = record->due_ms, .until_ms = add_or_end(record->due_ms, record->window_ms), .offset = record->offset};
    link_last(dedupe, index);
    dedupe->places[place_of(dedupe, record->id)] = index + 1;
    put_into_heap(dedupe, index, index);
    dedupe->count++;
    sift_up(dedupe, index);
}

/* ----------------------------------------------------------------------------------------------- duplicates */

/* The one at this offset was one when it was read before. What is behind it was not read yet. */
static bool was_refused(struct dedupe *dedupe, int64_t offset)
{
    while (dedupe->refused_next < dedupe->refused_count && dedupe->refused[dedupe->refused_next] < offset) {
        dedupe->refused_next++;
    }
    return dedupe->refused_next < dedupe->refused_count && dedupe->refused[dedupe->refused_next] == offset;
}

static void drop_first(struct dedupe *dedupe, uint32_t count)
{
    dedupe->refused_count -= count;
    dedupe->refused_next -= dedupe->refused_next < count ? dedupe->refused_next : count;
    memmove(dedupe->refused, &dedupe->refused[count], dedupe->refused_count * sizeof(*dedupe->refused));
}

static void refuse(struct dedupe *dedupe, int64_t offset)
{
    if (dedupe->refused_count == DEDUPE_REFUSED_MAX) {
        drop_first(dedupe, DEDUPE_REFUSED_MAX / 4);
    }
    if (dedupe->refused_count == dedupe->refused_capacity) {
        dedupe->refused_capacity = dedupe->refused_capacity == 0 ? 64 : dedupe->refused_capacity * 2;
        dedupe->refused = memory_resize(dedupe->refused, dedupe->refused_capacity, sizeof(*dedupe->refused));
    }
    int64_t *place = &dedupe->refused[dedupe->refused_next];
    memmove(place + 1, place, (dedupe->refused_count - dedupe->refused_next) * sizeof(*place));
    *place = offset;
    dedupe->refused_count++;
}

/* ----------------------------------------------------------------------------------------------------------- */

void dedupe_gain(struct dedupe *dedupe, int64_t low_offset, const struct skip *skips, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        bool ascends = dedupe->refused_count == 0 || skips[i].skipped > dedupe->refused[dedupe->refused_count - 1];
        dedupe->refused_next = ascends ? dedupe->refused_count : 0; /* the store keeps them in that order */
        if (skips[i].offset == skips[i].skipped && skips[i].skipped >= low_offset && !was_refused(dedupe, skips[i].skipped)) {
            refuse(dedupe, skips[i].skipped);
        }
    }
    dedupe->refused_next = 0;
}

void dedupe_pass(struct dedupe *dedupe, int64_t timestamp_ms)
{
    if (dedupe->count > 0 && timestamp_ms > DEDUPE_SLACK_MS) {
        forget_until(dedupe, timestamp_ms - DEDUPE_SLACK_MS);
    }
}

bool dedupe_take(struct dedupe *dedupe, const struct dedupe_record *record)
{
    uint32_t index = find(dedupe, record->id);
    const struct dedupe_entry *entry = index == NOBODY ? NULL : &dedupe->entries[index];
    if (record->cancel) {
        if (entry != NULL && record->timestamp_ms < entry->due_ms) {
            forget(dedupe, index);
        }
        return false;
    }
    if (!record->again && was_refused(dedupe, record->offset)) {
        return true;
    }
    if (!record->again && entry != NULL && entry->due_ms <= record->timestamp_ms && record->timestamp_ms < entry->until_ms) {
        refuse(dedupe, record->offset);
        return true;
    }
    if (record->conditional) {
        return false;
    }
    if (entry != NULL) {
        forget(dedupe, index);
    }
    accept(dedupe, record);
    return false;
}

void dedupe_rest(struct dedupe *dedupe, int64_t wall_ms)
{
    dedupe->wall_ms = wall_ms;
    if (dedupe->count > 0) {
        forget_until(dedupe, wall_ms - DEDUPE_SLACK_MS - DEDUPE_REST_MS);
    }
}

void dedupe_committed(struct dedupe *dedupe, int64_t low_offset)
{
    uint32_t count = 0;
    while (count < dedupe->refused_count && dedupe->refused[count] < low_offset) {
        count++;
    }
    if (count > 0) {
        drop_first(dedupe, count);
    }
}

int64_t dedupe_bound(const struct dedupe *dedupe, int64_t low)
{
    uint32_t index = dedupe->count == 0 ? NOBODY : dedupe->first;
    for (uint32_t i = 0; index != NOBODY && i < DEDUPE_LOOK_MAX && dedupe->entries[index].due_ms > dedupe->wall_ms; i++) {
        index = dedupe->entries[index].after;
    }
    return index != NOBODY && dedupe->entries[index].offset < low ? dedupe->entries[index].offset : low;
}

void dedupe_validate(const struct dedupe *dedupe)
{
    uint32_t linked = 0;
    int64_t offset = -1;
    for (uint32_t i = dedupe->count == 0 ? NOBODY : dedupe->first; i != NOBODY; i = dedupe->entries[i].after) {
        INVARIANT(i < dedupe->count && dedupe->entries[i].offset > offset && linked < dedupe->count);
        INVARIANT(dedupe->heap[dedupe->entries[i].place] == i && find(dedupe, dedupe->entries[i].id) == i);
        offset = dedupe->entries[i].offset;
        linked++;
    }
    INVARIANT(linked == dedupe->count && dedupe->count <= DEDUPE_IDS_MAX);
    for (uint32_t i = 1; i < dedupe->count; i++) {
        INVARIANT(until_at(dedupe, (i - 1) / 2) <= until_at(dedupe, i));
    }
    for (uint32_t i = 1; i < dedupe->refused_count; i++) {
        INVARIANT(dedupe->refused[i - 1] < dedupe->refused[i]);
    }
    INVARIANT(dedupe->refused_next <= dedupe->refused_count && dedupe->refused_count <= DEDUPE_REFUSED_MAX);
}
