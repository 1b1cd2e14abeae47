/*
 * Marks and skips (R5): a control beats re-appends of older records of its id that stand further up the log. Without re-appends under way there are
 * none, and nothing is kept.
 */
#ifndef TARRY_SCHEDULER_MARKS_H
#define TARRY_SCHEDULER_MARKS_H

#include "scheduler/id_table.h"
#include "scheduler/types.h"

struct marks {
    struct id_table table; /* offset: the control's; end: re-appends that it may have to end stand below */
    struct skip *skips;
    uint32_t skip_count;
    uint32_t skip_capacity;
    int64_t high;          /* of the partition when it was gained: what others appended is below */
    int64_t own_end;       /* of our own last re-append, 0: none */
    bool unknown;          /* a transaction with re-appends is under way: where they will stand is not known yet */
};

#define MARKS_END_UNKNOWN INT64_MAX

void marks_free(struct marks *marks);

/* What a checkpoint kept: as of another time, so the marks reach to our high watermark too. Those below C have been proved. */
void marks_gain(struct marks *marks, int64_t high, int64_t low_offset, const struct mark *list, size_t count, const struct skip *skips, size_t skip_count);

/* A control of a person was read at this offset: keeps a mark if a re-append may stand beyond it, or if something undecided may before it (R10). True: it
 * is kept. */
bool marks_control(struct marks *marks, struct record_id id, int64_t offset, bool by_cancel, bool undecided);

/* The control, whose mark is kept, has found nothing that is pending: what it ends may be moving, or undecided, so its outcome is known when the mark meets
 * that, or goes. False: one before it waits for the same already. */
bool marks_wait(struct marks *marks, struct record_id id, int64_t offset, bool by_cancel);

/* What waits, and what for is known: the mark of the id has met something of this root. True: that was it, and it is told now. */
struct waiting_control {
    int64_t offset;
    bool by_cancel;
};
bool marks_met(struct marks *marks, struct record_id id, int64_t root, struct waiting_control *control);

/* The mark of this id, NULL: none. Borrowed until the next call. */
static inline const struct id_entry *marks_find(const struct marks *marks, struct record_id id)
{
    return id_table_find(&marks->table, id);
}

/* True when a mark ends the re-append of this root at this offset; that is kept in mind for C. */
bool marks_skip(struct marks *marks, struct record_id id, int64_t root, int64_t offset);

/* The re-append at `skipped` was let fall for another reason: one who does not read what stands at `offset` must not read it either. */
void marks_add_skip(struct marks *marks, int64_t offset, int64_t skipped);

/* True when the re-append at this offset was ended, as far as C does not know. O(skips). */
bool marks_skipped(const struct marks *marks, int64_t skipped);

/* True when there is anything here. */
bool marks_any(const struct marks *marks);

/* Re-appends are being written; and were, up to `end` (0: they are not there). Marks made meanwhile get that end. */
void marks_reappending(struct marks *marks);
void marks_reappended(struct marks *marks, int64_t end);

/* How far reading and deciding had come when a commit was built. */
struct marks_proof {
    int64_t position;
    int64_t decided; /* everything undecided below it is done, if the commit holds (R10) */
};

/* True when a commit built now would let a mark go: one is built for that alone. O(capacity). */
bool marks_provable(const struct marks *marks, struct marks_proof proof);

typedef void marks_gone_fn(struct waiting_control control, void *context);

/* A commit was acknowledged that was built when so much was read and decided, with C at `low_offset`: what it proved goes. `gone` is told of each control that
 * still waited. */
void marks_proved(struct marks *marks, struct marks_proof proof, int64_t low_offset, marks_gone_fn *gone, void *context);

/* Nothing more will be read: nothing waits any more. */
void marks_stop(struct marks *marks, marks_gone_fn *gone, void *context);

/* C may not be greater than this, if nothing else is below `low`. O(marks + skips). */
int64_t marks_bound(const struct marks *marks, int64_t low);

#endif
