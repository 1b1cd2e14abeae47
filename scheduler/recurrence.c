/* See recurrence.h. */
#include "scheduler/recurrence.h"

#include "base/checked.h"

const struct misfire_policy recurrence_misfire_default = {MISFIRE_ONCE, 60000};

/* The first instant of the interval's grid (base_ms and each every_ms from it) strictly after after_ms and base_ms. */
static bool next_of_interval(int64_t every_ms, int64_t base_ms, int64_t after_ms, int64_t *next_ms)
{
    int64_t passed_ms;
    int64_t steps_ms;
    if (after_ms < base_ms) {
        after_ms = base_ms;
    }
    return checked_add_i64(after_ms, -base_ms, &passed_ms) && checked_add_i64(passed_ms / every_ms * every_ms, every_ms, &steps_ms) &&
           checked_add_i64(base_ms, steps_ms, next_ms);
}

/* The due time of the first occurrence after after_ms. base_ms: an instant of the interval. */
static bool next_due(const struct recurrence *recurrence, int64_t base_ms, int64_t after_ms, int64_t *due_ms)
{
    int64_t next_ms = 0;
    int64_t found_ms;
    bool found = recurrence->kind == RECURRENCE_EVERY  ? next_of_interval(recurrence->every_ms, base_ms, after_ms, &next_ms)
                 : recurrence->kind == RECURRENCE_CRON ? cron_next(recurrence->cron, recurrence->zone, after_ms, &next_ms)
                                                       : false;
    if (!found || !checked_add_i64(next_ms, recurrence->offset_ms, &found_ms) || found_ms > RECURRENCE_LAST_MS) {
        return false;
    }
    if (recurrence->until_ms >= 0 && found_ms > recurrence->until_ms) {
        return false;
    }
    *due_ms = found_ms;
    return true;
}

static bool is_spent(const struct recurrence *recurrence, uint64_t runs)
{
    return recurrence->count > 0 && runs >= recurrence->count;
}

bool recurrence_first(const struct recurrence *recurrence, int64_t after_ms, int64_t *due_ms)
{
    int64_t base_ms = after_ms < 0 ? 0 : after_ms;
    return !is_spent(recurrence, recurrence->runs) && next_due(recurrence, base_ms, after_ms < 0 ? -1 : after_ms, due_ms);
}

/* What the next occurrence has to be after, before offset_ms is added. */
static int64_t after_which(const struct recurrence *recurrence, enum misfire rule, int64_t base_ms, int64_t now_ms)
{
    int64_t now_base_ms;
    if (rule == MISFIRE_ALL || !checked_add_i64(now_ms, -recurrence->offset_ms, &now_base_ms)) {
        return base_ms;
    }
    return now_base_ms > base_ms ? now_base_ms : base_ms;
}

void recurrence_step(const struct recurrence *recurrence, struct misfire_policy policy, int64_t due_ms, int64_t now_ms, struct recurrence_step *step)
{
    int64_t base_ms = due_ms - recurrence->offset_ms;
    bool spent = is_spent(recurrence, recurrence->runs);
    bool misfired = recurrence->kind != RECURRENCE_NONE && now_ms > due_ms && now_ms - due_ms > policy.after_ms;
    *step = (struct recurrence_step){.fire = !spent && !(misfired && policy.rule == MISFIRE_SKIP), .next_due_ms = -1, .next_runs = recurrence->runs};
    if (step->fire) {
        step->next_runs++;
    }
    step->finished = is_spent(recurrence, step->next_runs) ||
                     !next_due(recurrence, base_ms, after_which(recurrence, policy.rule, base_ms, now_ms), &step->next_due_ms);
}
