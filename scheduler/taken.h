/*
 * The FIFO of a queue: records taken to be delivered, in the order in which they were taken, until the acknowledged prefix passes them.
 *
 * Reports name a record by its sequence number and may come in any order; what counts for the frontier is the prefix
 * (docs/internals/core.md). A ring of at most max_in_flight records; with exactly_once of a
 * transaction's.
 */
#ifndef TARRY_SCHEDULER_TAKEN_H
#define TARRY_SCHEDULER_TAKEN_H

#include "scheduler/types.h"

enum taken_state {
    TAKEN_SENT,      /* a report will come */
    TAKEN_FAILED,    /* to be sent again */
    TAKEN_DONE,      /* delivered; with exactly_once, if its transaction commits */
    TAKEN_ENDED,     /* cancelled or moved: it is not sent again */
    TAKEN_POSTPONED, /* to be written again (postpone.h): its letter could not be kept, or it goes on after its delivery */
    TAKEN_MOVED,     /* is being written again, if its transaction commits */
};

struct taken {
    struct key key;
    uint32_t bytes;
    uint8_t state;   /* enum taken_state */
    uint8_t reason;  /* enum delivery_failure, when refused */
    bool late;       /* was covered by the point when it was taken: counts for the cut, not for the point */
    bool refused;    /* goes out as a letter */
    bool cancelled;  /* its event was, while it was under way */
    bool untold;     /* cancelled: what became of it is to be told to the control, once it is known */
    bool by_cancel;  /* of `control` */
    uint8_t why;     /* enum copy_why, when postponed or moved: COPY_LATER, COPY_NEXT or COPY_DECIDED; else COPY_FORWARD */
    bool at_fault;   /* it can never be written again, so the transaction is aborted */
    uint8_t verdict; /* enum verdict: what is to be told of it when it is done */
    int64_t control; /* untold, or dropped: offset of the control */
};

/* What was decided of a conditional record, and is not final yet (R10). */
enum verdict {
    VERDICT_NONE,
    VERDICT_REJECTED,
    VERDICT_DROPPED,
};

struct taken_fifo {
    struct taken *items;
    uint32_t capacity; /* a power of two, or 0 */
    uint32_t head;
    uint32_t count;
    uint32_t sent;   /* in state TAKEN_SENT */
    uint32_t failed; /* in state TAKEN_FAILED */
    uint32_t ended;  /* in state TAKEN_ENDED */
    uint32_t postponed; /* in state TAKEN_POSTPONED */
    uint32_t moved;  /* in state TAKEN_MOVED */
    uint32_t late;   /* with `late` set, done ones included */
    uint64_t bytes;  /* of all that are here */
    uint64_t first_sequence;
};

/* Frees the room; the FIFO is empty and usable. */
void taken_free(struct taken_fifo *fifo);

/* Appends a record in state TAKEN_SENT and returns its sequence number. O(1) on the average. */
uint64_t taken_add(struct taken_fifo *fifo, const struct taken *item);

/* The record at a position, 0 = head. Borrowed until the next add. */
static inline struct taken *taken_at(const struct taken_fifo *fifo, uint32_t position)
{
    return &fifo->items[(fifo->head + position) & (fifo->capacity - 1)];
}

/* The record of this sequence number, NULL: it is not here (any more). O(1). */
struct taken *taken_find(const struct taken_fifo *fifo, uint64_t sequence);

/* The same in state TAKEN_SENT; NULL: there is none (a report that answers nothing). */
struct taken *taken_find_sent(const struct taken_fifo *fifo, uint64_t sequence);

/* Moves a record from one state to another, with the counts. */
void taken_move(struct taken_fifo *fifo, struct taken *item, enum taken_state state);

/* Takes the head out if it is ended, or with done_too if it is done; copies it, and returns true. */
bool taken_pop(struct taken_fifo *fifo, bool done_too, struct taken *item);

/* Offset of the first late record at this position or behind it, done or not; INT64_MAX: none. O(count), O(1) when there is none at all. */
int64_t taken_first_late(const struct taken_fifo *fifo, uint32_t position);

#endif
