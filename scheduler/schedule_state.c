/* See schedule_state.h. */
#include "scheduler/schedule_state.h"

#include <stddef.h>

const struct schedule_transition schedule_state_table[] = {
    {SCHEDULE_NEW, SCHEDULE_READ, SCHEDULE_PENDING},
    {SCHEDULE_NEW, SCHEDULE_READ_PAUSED, SCHEDULE_PAUSED},
    {SCHEDULE_NEW, SCHEDULE_REJECTED, SCHEDULE_STOPPED},
    {SCHEDULE_PENDING, SCHEDULE_DUE, SCHEDULE_RUNNING},
    {SCHEDULE_PENDING, SCHEDULE_RESCHEDULED, SCHEDULE_PENDING},
    {SCHEDULE_PENDING, SCHEDULE_PAUSE, SCHEDULE_PAUSED},
    {SCHEDULE_PENDING, SCHEDULE_CANCELLED, SCHEDULE_STOPPED},
    {SCHEDULE_PENDING, SCHEDULE_REPLACED, SCHEDULE_STOPPED},
    {SCHEDULE_RUNNING, SCHEDULE_FIRED, SCHEDULE_PENDING},
    {SCHEDULE_RUNNING, SCHEDULE_SKIPPED, SCHEDULE_PENDING},
    {SCHEDULE_RUNNING, SCHEDULE_LETTER, SCHEDULE_PENDING},
    {SCHEDULE_RUNNING, SCHEDULE_FAILED, SCHEDULE_PENDING},
    {SCHEDULE_RUNNING, SCHEDULE_FIRED_LAST, SCHEDULE_FINISHED},
    {SCHEDULE_RUNNING, SCHEDULE_SKIPPED_LAST, SCHEDULE_FINISHED},
    {SCHEDULE_RUNNING, SCHEDULE_LETTER_LAST, SCHEDULE_FINISHED},
    {SCHEDULE_RUNNING, SCHEDULE_DROPPED, SCHEDULE_FINISHED},
    {SCHEDULE_RUNNING, SCHEDULE_CANCELLED, SCHEDULE_STOPPED},
    {SCHEDULE_RUNNING, SCHEDULE_REPLACED, SCHEDULE_STOPPED},
    {SCHEDULE_PAUSED, SCHEDULE_RESUME, SCHEDULE_PENDING},
    {SCHEDULE_PAUSED, SCHEDULE_RESCHEDULED, SCHEDULE_PENDING},
    {SCHEDULE_PAUSED, SCHEDULE_PAUSE, SCHEDULE_PAUSED},
    {SCHEDULE_PAUSED, SCHEDULE_CANCELLED, SCHEDULE_STOPPED},
    {SCHEDULE_PAUSED, SCHEDULE_REPLACED, SCHEDULE_STOPPED},
};
const int schedule_state_table_rows = (int)(sizeof(schedule_state_table) / sizeof(schedule_state_table[0]));

bool schedule_state_next(enum schedule_state from, enum schedule_event event, enum schedule_state *to)
{
    for (int i = 0; i < schedule_state_table_rows; i++) {
        if (schedule_state_table[i].from == from && schedule_state_table[i].event == event) {
            *to = schedule_state_table[i].to;
            return true;
        }
    }
    return false;
}

bool schedule_state_ended(enum schedule_state state)
{
    return state == SCHEDULE_STOPPED || state == SCHEDULE_FINISHED;
}

const char *schedule_state_name(enum schedule_state state)
{
    static const char *const names[SCHEDULE_STATES] = {
        [SCHEDULE_NEW] = "new",       [SCHEDULE_PENDING] = "pending", [SCHEDULE_RUNNING] = "running",
        [SCHEDULE_PAUSED] = "paused", [SCHEDULE_STOPPED] = "stopped", [SCHEDULE_FINISHED] = "finished",
    };
    return names[state];
}

const char *schedule_state_event_name(enum schedule_event event)
{
    static const char *const names[SCHEDULE_EVENTS] = {
        [SCHEDULE_READ] = "read",
        [SCHEDULE_READ_PAUSED] = "read paused",
        [SCHEDULE_REJECTED] = "rejected",
        [SCHEDULE_DUE] = "due",
        [SCHEDULE_FIRED] = "fired",
        [SCHEDULE_FIRED_LAST] = "fired last",
        [SCHEDULE_SKIPPED] = "skipped",
        [SCHEDULE_SKIPPED_LAST] = "skipped last",
        [SCHEDULE_LETTER] = "letter",
        [SCHEDULE_LETTER_LAST] = "letter last",
        [SCHEDULE_DROPPED] = "dropped",
        [SCHEDULE_FAILED] = "failed",
        [SCHEDULE_RESCHEDULED] = "rescheduled",
        [SCHEDULE_PAUSE] = "pause",
        [SCHEDULE_RESUME] = "resume",
        [SCHEDULE_CANCELLED] = "cancelled",
        [SCHEDULE_REPLACED] = "replaced",
    };
    return names[event];
}
