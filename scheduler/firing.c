/* See firing.h. */
#include "scheduler/firing.h"

enum firing firing_decide(struct firing_rules rules, int64_t due_ms, int64_t expires_ms, bool recurs, int64_t now_ms)
{
    if (expires_ms != FIRING_NO_EXPIRY && now_ms >= expires_ms) {
        return FIRING_LETTER_EXPIRED;
    }
    if (recurs || rules.late == FIRING_LATE_FIRE || now_ms <= due_ms) {
        return FIRING_DELIVER;
    }
    /* Unsigned: now > due, so their distance fits whatever they are. */
    if ((uint64_t)now_ms - (uint64_t)due_ms <= (uint64_t)rules.max_lateness_ms) {
        return FIRING_DELIVER;
    }
    return rules.late == FIRING_LATE_LETTER ? FIRING_LETTER_LATE : FIRING_DROP_LATE;
}
