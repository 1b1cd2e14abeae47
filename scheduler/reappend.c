/* See reappend.h. */
#include "scheduler/reappend.h"

#include <stdlib.h>

#include "base/invariant.h"
#include "base/memory.h"
#include "scheduler/queue.h"
#include "scheduler/slot.h"
#include "scheduler/transaction.h"

#define SWEEP_LEAST 64u

/* What was decided and then became a letter, or nothing at all, has no end that anybody tells: its place in the frontier says that it is over. */
static bool is_live(const struct core *core, const struct slot *slot, const struct id_entry *entry)
{
    if (entry->end != REAPPEND_END_UNKNOWN) {
        return entry->end > slot->position;
    }
    const struct queue *queue = slot_deciding_queue(core, slot);
    return !entry->decided || (queue != NULL && entry->offset >= slot->low_committed &&
                               !queue_is_done(slot, queue, (struct key){DUE_SINCE_EVER, entry->offset}));
}

/* What is moving with this id and root: one of another root is another event, though of that schedule. */
static struct id_entry *find(const struct moving *moving, struct record_id id, int64_t root)
{
    struct id_entry *entry = id_table_find(&moving->table, id);
    return entry != NULL && entry->root == root ? entry : NULL;
}

struct sweeping {
    const struct core *core;
    const struct slot *slot;
};

static bool keep_live(struct id_entry *entry, void *context)
{
    const struct sweeping *sweeping = context;
    return is_live(sweeping->core, sweeping->slot, entry);
}

/* Most go when their re-append is read. The rest is swept when the table has doubled. */
static void put(const struct core *core, struct slot *slot, const struct id_entry *entry)
{
    struct moving *moving = &slot->moving;
    if (moving->table.count >= 2 * moving->swept + SWEEP_LEAST) {
        struct sweeping sweeping = {core, slot};
        id_table_filter(&moving->table, keep_live, &sweeping);
        moving->swept = moving->table.count;
    }
    id_table_put(&moving->table, entry);
}

void reappend_note(const struct core *core, struct slot *slot, const struct input_reappended *input)
{
    struct moving *moving = &slot->moving;
    if (core->transaction.state == TRANSACTION_NONE) {
        return;
    }
    marks_reappending(&slot->marks);
    if (record_id_is_none(input->id)) {
        return;
    }
    const struct id_entry *old = find(moving, input->id, input->root);
    bool decided = old != NULL && old->decided;
    put(core, slot, &(struct id_entry){.id = input->id, .offset = input->offset, .end = REAPPEND_END_UNKNOWN, .root = input->root, .decided = decided});
    if (moving->noted_count == moving->noted_capacity) {
        moving->noted_capacity = moving->noted_capacity == 0 ? 64 : moving->noted_capacity * 2;
        moving->noted = memory_resize(moving->noted, moving->noted_capacity, sizeof(*moving->noted));
    }
    moving->noted[moving->noted_count++] = (struct noted){input->id, input->root};
}

void reappend_answered(struct slot *slot, const struct input_transaction *answer)
{
    struct moving *moving = &slot->moving;
    int64_t end = transaction_copied_end(answer, slot);
    if (slot->marks.unknown) {
        marks_reappended(&slot->marks, end);
    }
    for (uint32_t i = 0; i < moving->noted_count; i++) {
        struct id_entry *entry = find(moving, moving->noted[i].id, moving->noted[i].root);
        if (entry == NULL) {
            continue; /* it was read already, or is doomed, and another one of its id was accepted */
        }
        if (end > slot->position) {
            entry->end = end;
        } else if (answer->result == TRANSACTION_COMMITTED || !entry->decided) {
            id_table_remove(&moving->table, entry->id);
        }
    }
    moving->noted_count = 0;
}

void reappend_accept(const struct core *core, struct slot *slot, struct record_id id, int64_t root)
{
    put(core, slot, &(struct id_entry){.id = id, .offset = root, .end = REAPPEND_END_UNKNOWN, .root = root, .decided = true});
}

void reappend_drop(struct slot *slot, struct record_id id, int64_t root)
{
    const struct id_entry *entry = find(&slot->moving, id, root);
    if (entry != NULL && entry->decided) {
        id_table_remove(&slot->moving.table, id);
    }
}

void reappend_read(struct slot *slot, struct record_id id, int64_t root)
{
    if (find(&slot->moving, id, root) != NULL) {
        id_table_remove(&slot->moving.table, id);
    }
}

const struct id_entry *reappend_find(const struct core *core, const struct slot *slot, struct record_id id)
{
    const struct id_entry *entry = id_table_find(&slot->moving.table, id);
    return entry != NULL && is_live(core, slot, entry) ? entry : NULL;
}

void reappend_validate(const struct core *core, const struct slot *slot)
{
    const struct moving *moving = &slot->moving;
    uint32_t unknown = 0;
    for (uint32_t i = 0; moving->table.count > 0 && i < moving->table.capacity; i++) {
        const struct id_entry *entry = &moving->table.entries[i];
        unknown += !record_id_is_none(entry->id) && entry->end == REAPPEND_END_UNKNOWN && !entry->decided;
        INVARIANT(record_id_is_none(entry->id) || entry->offset < slot->position);
    }
    INVARIANT(unknown <= moving->noted_count);
    INVARIANT(moving->noted_count == 0 || (core->transaction.state != TRANSACTION_NONE && slot->marks.unknown));
    INVARIANT(!slot->marks.unknown || core->transaction.state != TRANSACTION_NONE);
}

void reappend_free(struct slot *slot)
{
    id_table_free(&slot->moving.table);
    free(slot->moving.noted);
    slot->moving = (struct moving){0};
}
