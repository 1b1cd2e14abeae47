/*
 * What people want of one schedule, or of one target, from any thread: the way to the owner and back.
 *
 * A wish is answered once: at the latest when its time is up. It is for this instance's partitions alone; of others it says NOT_HERE. A cancel is none of these:
 * it is a record (tarry-action: cancel) in the delay topic, which whoever owns its partition acts on.
 */
#ifndef TARRY_OPS_STEERING_H
#define TARRY_OPS_STEERING_H

#include "base/error.h"
#include "base/span.h"
#include "base/time_types.h"

#define STEERING_WAITING_MAX 256  /* wishes that were not taken yet: more are refused */
#define STEERING_UNDER_WAY_MAX 64 /* taken and not answered */
#define STEERING_TIMEOUT_MAX_MS 60000

enum steering_verb {
    STEERING_MOVE,        /* to another time */
    STEERING_RUN_NOW,
    STEERING_PAUSE,       /* not before it is resumed */
    STEERING_RESUME,      /* at the time that it had; a recurrence whose time has passed: as misfire says */
    STEERING_LANE_PAUSE,  /* a lane stands still in all partitions of this instance, until it is told to go on */
    STEERING_LANE_RESUME,
};

struct steering_wish {
    enum steering_verb verb;
    struct span topic;  /* of the source; not for lanes */
    int32_t partition;  /* of it; -1: whichever has the id */
    struct span id;     /* 1 to 4,096 bytes; not for lanes */
    int64_t due_ms;     /* MOVE: when, > 0 and up to the year 9999: later than that nothing can be written */
    struct span lane;   /* its name: of `targets`, or "default" */
    int64_t timeout_ms; /* 1 to STEERING_TIMEOUT_MAX_MS */
};

enum steering_result {
    STEERING_DONE,      /* it is written again, and that is committed; or the lane's pause is in the core's hands, and committed with its next commit */
    STEERING_NOT_FOUND, /* no such id is pending here; no such lane */
    STEERING_TOO_LATE,  /* its delivery is under way */
    STEERING_NOT_HERE,  /* this instance has no such partition, or gives it up */
    STEERING_FAILED,    /* it could not be written */
    STEERING_TIMEOUT,   /* nothing is known: it may still be carried out */
    STEERING_UNREADABLE, /* what the checkpoint has of its id cannot be read: failure. Nothing was done */
};
#define STEERING_RESULTS 7

/* "done", "not_found", ... Static. */
const char *steering_result_name(enum steering_result result);

struct steering_answer {
    enum steering_result result;
    int32_t partition; /* where it was found; -1: nowhere */
    int64_t due_ms;    /* that it had; -1: not known */
    struct error failure; /* of UNREADABLE */
};

struct steering;
struct steering_call;

/* NULL: ERROR_SYSTEM. */
struct steering *steering_new(struct error *error);

/* No thread may be in steering_ask any more. NULL is fine. */
void steering_free(struct steering *steering);

/* ---- any thread ---- */

/* Asks, and waits for the answer: wish->timeout_ms at most, and a little. The wish is copied. False: ERROR_INVALID (says which of it), ERROR_FULL (too many wait:
 * try later), ERROR_UNAVAILABLE (the daemon ends, or does not answer). */
bool steering_ask(struct steering *steering, const struct steering_wish *wish, struct steering_answer *answer, struct error *error);

/* ---- owner thread ---- */

/* Readable while something waits to be taken (level). */
int steering_fd(const struct steering *steering);

/* The next wish, NULL: none waits, or STEERING_UNDER_WAY_MAX are not answered. The owner answers each once. */
struct steering_call *steering_take(struct steering *steering);

/* What it wants: spans are the call's own. */
const struct steering_wish *steering_wish_of(const struct steering_call *call);

/* Answers; the call is gone after this. */
void steering_answer(struct steering *steering, struct steering_call *call, const struct steering_answer *answer);

/* No more: who waits is told that the daemon ends. */
void steering_close(struct steering *steering);

#endif
