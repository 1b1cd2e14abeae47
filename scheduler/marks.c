#include "scheduler/marks.h"

#include <stdlib.h>

#include "base/memory.h"

void marks_free(struct marks *marks)
{
    id_table_free(&marks->table);
    free(marks->skips);
    marks->skips = NULL;
    marks->skip_count = 0;
    marks->skip_capacity = 0;
}

static void add_skip(struct marks *marks, struct skip skip)
{
    if (marks->skip_count == marks->skip_capacity) {
        marks->skip_capacity = marks->skip_capacity == 0 ? 16 : marks->skip_capacity * 2;
        marks->skips = memory_resize(marks->skips, marks->skip_capacity, sizeof(*marks->skips));
    }
    marks->skips[marks->skip_count++] = skip;
}

static int64_t greater(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

void marks_gain(struct marks *marks, int64_t high, int64_t low_offset, const struct mark *list, size_t count, const struct skip *skips, size_t skip_count)
{
    marks->high = high;
    for (size_t i = 0; i < count; i++) {
        if (list[i].offset >= low_offset) {
            /* What was under way when the checkpoint was made has ended by now: it is below the watermark, or was fenced. */
            int64_t end = list[i].end == MARKS_END_UNKNOWN ? high : greater(list[i].end, high);
            id_table_put(&marks->table, &(struct id_entry){.id = list[i].id, .offset = list[i].offset, .end = end, .waits = -1, .before = -1});
        }
    }
    for (size_t i = 0; i < skip_count; i++) {
        if (skips[i].skipped >= low_offset && skips[i].offset < skips[i].skipped) { /* else a duplicate (dedupe.h) */
            add_skip(marks, skips[i]);
        }
    }
}

bool marks_control(struct marks *marks, struct record_id id, int64_t offset, bool by_cancel, bool undecided)
{
    int64_t end = marks->unknown ? MARKS_END_UNKNOWN : greater(marks->high, marks->own_end);
    if (end <= offset + 1 && !undecided) {
        return false;
    }
    const struct id_entry *old = id_table_find(&marks->table, id);
    struct id_entry mark = {.id = id, .offset = offset, .end = greater(end, offset + 1), .waits = -1, .before = -1, .by_cancel = by_cancel};
    if (old != NULL && old->waits >= 0 && !old->waits_by_cancel) {
        mark.before = old->offset; /* that an event has replaced something need not be told: a cancel that follows it is to be answered */
    } else if (old != NULL) {
        mark.waits = old->waits;
        mark.waits_by_cancel = old->waits_by_cancel;
        mark.before = old->waits < 0 ? old->offset : old->before;
    }
    id_table_put(&marks->table, &mark);
    return true;
}

bool marks_wait(struct marks *marks, struct record_id id, int64_t offset, bool by_cancel)
{
    struct id_entry *mark = id_table_find(&marks->table, id);
    if (mark->waits >= 0) {
        return false;
    }
    mark->waits = offset;
    mark->waits_by_cancel = by_cancel;
    return true;
}

bool marks_met(struct marks *marks, struct record_id id, int64_t root, struct waiting_control *control)
{
    struct id_entry *mark = id_table_find(&marks->table, id);
    if (mark == NULL || mark->waits <= root || root < mark->before) { /* what is older than the mark before was that one's */
        return false;
    }
    *control = (struct waiting_control){mark->waits, mark->waits_by_cancel};
    mark->waits = -1;
    return true;
}

bool marks_skip(struct marks *marks, struct record_id id, int64_t root, int64_t offset)
{
    const struct id_entry *mark = id_table_find(&marks->table, id);
    for (uint32_t i = 0; i < marks->skip_count && (mark == NULL || mark->offset <= root); i++) {
        if (marks->skips[i].skipped == offset) {
            return true; /* it was when it was read before; its control may stand below the checkpoint */
        }
    }
    if (mark == NULL || mark->offset <= root) {
        return false;
    }
    add_skip(marks, (struct skip){mark->offset, offset});
    return true;
}

void marks_add_skip(struct marks *marks, int64_t offset, int64_t skipped)
{
    add_skip(marks, (struct skip){offset, skipped});
}

bool marks_skipped(const struct marks *marks, int64_t skipped)
{
    bool found = false;
    for (uint32_t i = 0; i < marks->skip_count && !found; i++) {
        found = marks->skips[i].skipped == skipped;
    }
    return found;
}

bool marks_any(const struct marks *marks)
{
    return marks->table.count > 0 || marks->skip_count > 0;
}

void marks_reappending(struct marks *marks)
{
    marks->unknown = true;
}

static bool give_end(struct id_entry *entry, void *context)
{
    const struct marks *marks = context;
    entry->end = entry->end == MARKS_END_UNKNOWN ? greater(marks->high, marks->own_end) : entry->end;
    return true;
}

void marks_reappended(struct marks *marks, int64_t end)
{
    marks->unknown = false;
    marks->own_end = greater(marks->own_end, end);
    id_table_filter(&marks->table, give_end, marks);
}

static bool is_proved(const struct id_entry *mark, struct marks_proof proof)
{
    return mark->end <= proof.position && mark->offset <= proof.decided;
}

bool marks_provable(const struct marks *marks, struct marks_proof proof)
{
    bool provable = false;
    for (uint32_t i = 0; marks->table.count > 0 && i < marks->table.capacity && !provable; i++) {
        const struct id_entry *entry = &marks->table.entries[i];
        provable = !record_id_is_none(entry->id) && is_proved(entry, proof);
    }
    return provable;
}

struct proving {
    struct marks_proof proof;
    marks_gone_fn *gone;
    void *context;
};

static void tell_gone(const struct proving *proving, struct id_entry *mark)
{
    if (mark->waits >= 0) {
        proving->gone((struct waiting_control){mark->waits, mark->waits_by_cancel}, proving->context);
        mark->waits = -1;
    }
}

static bool keep_unproved(struct id_entry *entry, void *context)
{
    const struct proving *proving = context;
    if (!is_proved(entry, proving->proof)) {
        return true;
    }
    tell_gone(proving, entry);
    return false;
}

void marks_proved(struct marks *marks, struct marks_proof proof, int64_t low_offset, marks_gone_fn *gone, void *context)
{
    uint32_t kept = 0;
    struct proving proving = {proof, gone, context};
    id_table_filter(&marks->table, keep_unproved, &proving);
    for (uint32_t i = 0; i < marks->skip_count; i++) {
        if (marks->skips[i].skipped >= low_offset) {
            marks->skips[kept++] = marks->skips[i];
        }
    }
    marks->skip_count = kept;
}

static bool keep_all(struct id_entry *entry, void *context)
{
    tell_gone(context, entry);
    return true;
}

void marks_stop(struct marks *marks, marks_gone_fn *gone, void *context)
{
    struct proving proving = {.gone = gone, .context = context};
    id_table_filter(&marks->table, keep_all, &proving);
}

/* One skip may lower the bound into another's range, so all are looked at until nothing changes; there are few. */
static int64_t leave_skips(const struct marks *marks, int64_t low)
{
    bool lowered = marks->skip_count > 0;
    while (lowered) {
        lowered = false;
        for (uint32_t i = 0; i < marks->skip_count; i++) {
            if (marks->skips[i].offset < low && low <= marks->skips[i].skipped) {
                low = marks->skips[i].offset;
                lowered = true;
            }
        }
    }
    return low;
}

int64_t marks_bound(const struct marks *marks, int64_t low)
{
    for (uint32_t i = 0; marks->table.count > 0 && i < marks->table.capacity; i++) {
        const struct id_entry *entry = &marks->table.entries[i];
        low = !record_id_is_none(entry->id) && entry->offset < low ? entry->offset : low;
    }
    return leave_skips(marks, low);
}
