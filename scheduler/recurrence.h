/*
 * What follows a firing: does this occurrence fire, and when is the next. Pure; the caller keeps due, runs and the headers that say the rest.
 *
 * An occurrence is an instant of the cron expression, or of the interval; its due time is that plus offset_ms (`spread`). All times are milliseconds
 * since 1970.
 */
#ifndef TARRY_SCHEDULER_RECURRENCE_H
#define TARRY_SCHEDULER_RECURRENCE_H

#include <stdbool.h>
#include <stdint.h>

#include "scheduler/cron.h"
#include "scheduler/zone.h"

#define RECURRENCE_EVERY_MIN_MS 1000
#define RECURRENCE_LAST_MS INT64_C(253402300799999) /* no occurrence is due later: 9999-12-31T23:59:59.999Z */

enum recurrence_kind {
    RECURRENCE_NONE, /* fires once */
    RECURRENCE_EVERY,
    RECURRENCE_CRON,
};

struct recurrence {
    enum recurrence_kind kind;
    int64_t every_ms;        /* EVERY: >= RECURRENCE_EVERY_MIN_MS, else 0 */
    const struct cron *cron; /* CRON: borrowed, else NULL */
    const struct zone *zone; /* CRON: borrowed; NULL: UTC */
    int64_t offset_ms;       /* >= 0: added to each occurrence */
    int64_t until_ms;        /* nothing is due after this; -1: no end */
    uint64_t count;          /* at most so many firings; 0: no end */
    uint64_t runs;           /* firings done before this one */
};

/* What becomes of an occurrence that comes later than after_ms, and of those that have passed meanwhile. */
enum misfire {
    MISFIRE_ONCE, /* fires now; those that passed are one with it */
    MISFIRE_ALL,  /* fires now, and each that passed after it, in order */
    MISFIRE_SKIP, /* does not fire; goes on with the first that has not passed */
};

struct misfire_policy {
    enum misfire rule;
    int64_t after_ms; /* >= 0: lateness up to this is none */
};

/* ONCE, 60 s. */
extern const struct misfire_policy recurrence_misfire_default;

struct recurrence_step {
    bool fire;           /* deliver this occurrence */
    bool finished;       /* it was the last: next_due_ms is -1 */
    int64_t next_due_ms; /* > due_ms */
    uint64_t next_runs;  /* runs of the next: one more when this one fires */
};

/*
 * The due time of the first occurrence of which the instant is strictly after `after_ms`. EVERY counts from there: the first is every_ms later.
 * False: there is none (kind NONE, never, past until_ms or RECURRENCE_LAST_MS, count reached); *due_ms is untouched. after_ms: any; before 1970 is 1970. As cheap as cron_next().
 */
bool recurrence_first(const struct recurrence *recurrence, int64_t after_ms, int64_t *due_ms);

/*
 * At the firing of the occurrence due at due_ms (offset included, >= 0), now. Later than policy.after_ms is a misfire: ONCE and ALL fire, SKIP does
 * not. The next is: with ALL, the first after this one; else the first that is due after this one and after now, so that those that passed are one.
 * EVERY keeps its phase: next - due is a multiple of every_ms. `count` counts firings: what SKIP left out is not counted. An occurrence fires though
 * now is past until_ms, when its due time was not. NONE: fires, finished. As cheap as cron_next().
 */
void recurrence_step(const struct recurrence *recurrence, struct misfire_policy policy, int64_t due_ms, int64_t now_ms,
                     struct recurrence_step *step);

#endif
