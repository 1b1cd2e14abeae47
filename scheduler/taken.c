#include "scheduler/taken.h"

#include <assert.h>
#include <stdlib.h>

#include "base/memory.h"

#define CAPACITY_FIRST 16u

void taken_free(struct taken_fifo *fifo)
{
    free(fifo->items);
    *fifo = (struct taken_fifo){.first_sequence = fifo->first_sequence + fifo->count};
}

static void grow(struct taken_fifo *fifo)
{
    uint32_t capacity = fifo->capacity == 0 ? CAPACITY_FIRST : fifo->capacity * 2;
    struct taken *items = memory_new(capacity, sizeof(*items));
    for (uint32_t i = 0; i < fifo->count; i++) {
        items[i] = *taken_at(fifo, i);
    }
    free(fifo->items);
    fifo->items = items;
    fifo->capacity = capacity;
    fifo->head = 0;
}

uint64_t taken_add(struct taken_fifo *fifo, const struct taken *item)
{
    assert(item->state == TAKEN_SENT);
    if (fifo->count == fifo->capacity) {
        grow(fifo);
    }
    fifo->count++;
    fifo->sent++;
    fifo->late += item->late;
    fifo->bytes += item->bytes;
    *taken_at(fifo, fifo->count - 1) = *item;
    return fifo->first_sequence + fifo->count - 1;
}

struct taken *taken_find(const struct taken_fifo *fifo, uint64_t sequence)
{
    if (sequence < fifo->first_sequence || sequence - fifo->first_sequence >= fifo->count) {
        return NULL;
    }
    return taken_at(fifo, (uint32_t)(sequence - fifo->first_sequence));
}

struct taken *taken_find_sent(const struct taken_fifo *fifo, uint64_t sequence)
{
    struct taken *item = taken_find(fifo, sequence);
    return item != NULL && item->state == TAKEN_SENT ? item : NULL;
}

void taken_move(struct taken_fifo *fifo, struct taken *item, enum taken_state state)
{
    fifo->sent -= item->state == TAKEN_SENT;
    fifo->failed -= item->state == TAKEN_FAILED;
    fifo->ended -= item->state == TAKEN_ENDED;
    fifo->postponed -= item->state == TAKEN_POSTPONED;
    fifo->moved -= item->state == TAKEN_MOVED;
    item->state = (uint8_t)state;
    fifo->sent += state == TAKEN_SENT;
    fifo->failed += state == TAKEN_FAILED;
    fifo->ended += state == TAKEN_ENDED;
    fifo->postponed += state == TAKEN_POSTPONED;
    fifo->moved += state == TAKEN_MOVED;
}

bool taken_pop(struct taken_fifo *fifo, bool done_too, struct taken *item)
{
    if (fifo->count == 0 || (taken_at(fifo, 0)->state != TAKEN_ENDED && !(done_too && taken_at(fifo, 0)->state == TAKEN_DONE))) {
        return false;
    }
    *item = *taken_at(fifo, 0);
    fifo->ended -= item->state == TAKEN_ENDED;
    fifo->head = (fifo->head + 1) & (fifo->capacity - 1);
    fifo->count--;
    fifo->late -= item->late;
    fifo->bytes -= item->bytes;
    fifo->first_sequence++;
    return true;
}

int64_t taken_first_late(const struct taken_fifo *fifo, uint32_t position)
{
    for (; fifo->late > 0 && position < fifo->count; position++) {
        if (taken_at(fifo, position)->late) {
            return taken_at(fifo, position)->key.offset;
        }
    }
    return INT64_MAX;
}
