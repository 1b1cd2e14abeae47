/*
 * The life of one schedule, a record and the re-appends that come of it, as a table: state and event give the next state, and what is not in the table cannot
 * happen. docs/schedules-states.md draws it. Pure, O(1).
 */
#ifndef TARRY_SCHEDULER_SCHEDULE_STATE_H
#define TARRY_SCHEDULER_SCHEDULE_STATE_H

#include <stdbool.h>

enum schedule_state {
    SCHEDULE_NEW,      /* not read yet */
    SCHEDULE_PENDING,  /* waits for its due time */
    SCHEDULE_RUNNING,  /* an occurrence is due and under way: not yet acknowledged and committed */
    SCHEDULE_PAUSED,   /* does not fire until resumed */
    SCHEDULE_STOPPED,  /* somebody ended it */
    SCHEDULE_FINISHED, /* nothing is left of it to fire */
};
#define SCHEDULE_STATES 6

enum schedule_event {
    SCHEDULE_READ,         /* accepted */
    SCHEDULE_READ_PAUSED,  /* accepted, and was paused before: after a start, or on another instance */
    SCHEDULE_REJECTED,     /* its id exists, a duplicate, or dropped before it was decided */
    SCHEDULE_DUE,          /* taken for delivery */
    SCHEDULE_FIRED,        /* acknowledged; the next occurrence is written */
    SCHEDULE_FIRED_LAST,   /* acknowledged; there is no next */
    SCHEDULE_SKIPPED,      /* a misfire that is not delivered; the next occurrence is written */
    SCHEDULE_SKIPPED_LAST, /* ... and there is no next */
    SCHEDULE_LETTER,       /* the occurrence is a dead letter; the next is written */
    SCHEDULE_LETTER_LAST,  /* ... and there is no next */
    SCHEDULE_DROPPED,      /* too late, and the source drops what is late */
    SCHEDULE_FAILED,       /* not acknowledged: it is tried again */
    SCHEDULE_RESCHEDULED,  /* a new due time; run-now, too */
    SCHEDULE_PAUSE,
    SCHEDULE_RESUME,
    SCHEDULE_CANCELLED,    /* while running: what is under way arrives, and nothing after it */
    SCHEDULE_REPLACED,     /* a newer record has its id, and a life of its own */
};
#define SCHEDULE_EVENTS 17

struct schedule_transition {
    enum schedule_state from;
    enum schedule_event event;
    enum schedule_state to;
};

/* The table: each pair of state and event at most once, in the order in which it is drawn. */
extern const struct schedule_transition schedule_state_table[];
extern const int schedule_state_table_rows;

/* The state after the event. False: the event cannot happen in that state; *to is untouched. */
bool schedule_state_next(enum schedule_state from, enum schedule_event event, enum schedule_state *to);

/* True for the two states that nothing leaves: stopped and finished. */
bool schedule_state_ended(enum schedule_state state);

/* "pending", ... as in the docs, the API and the history. Static. */
const char *schedule_state_name(enum schedule_state state);

/* "fired last", ... as in the drawing. Static. */
const char *schedule_state_event_name(enum schedule_event event);

#endif
