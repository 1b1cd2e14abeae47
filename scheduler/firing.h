/* What becomes of an event that is due, before it leaves: delivered, a letter, or dropped. Pure, O(1). */
#ifndef TARRY_SCHEDULER_FIRING_H
#define TARRY_SCHEDULER_FIRING_H

#include <stdbool.h>
#include <stdint.h>

#define FIRING_NO_EXPIRY (-1)

/* What a source does with an event that is later than max_lateness_ms. */
enum firing_late {
    FIRING_LATE_FIRE,
    FIRING_LATE_LETTER,
    FIRING_LATE_DROP,
};

struct firing_rules {
    enum firing_late late;
    int64_t max_lateness_ms; /* >= 0; LETTER and DROP: lateness up to this is none. FIRE: not looked at */
};

enum firing {
    FIRING_DELIVER,
    FIRING_LETTER_EXPIRED, /* reason `expired` */
    FIRING_LETTER_LATE,    /* reason `late` */
    FIRING_DROP_LATE,      /* counted and told, nothing else */
};

/*
 * due_ms, now_ms: milliseconds since 1970. expires_ms: FIRING_NO_EXPIRY or the moment from which nobody wants it any more: now >= expires is expired, and that
 * goes before late. `recurs`: an occurrence of a schedule is never late; that is for the misfire policy (recurrence.h).
 */
enum firing firing_decide(struct firing_rules rules, int64_t due_ms, int64_t expires_ms, bool recurs, int64_t now_ms);

#endif
