/* See outcome.h. */
#include "scheduler/outcome.h"

#include "scheduler/command_list.h"
#include "scheduler/slot.h"

static void tell(struct command_list *list, const struct slot *slot, const struct command_outcome *outcome)
{
    command_list_add(list, COMMAND_OUTCOME, slot)->as.outcome = *outcome;
}

enum outcome outcome_of(bool cancel)
{
    return cancel ? OUTCOME_CANCELLED : OUTCOME_REPLACED;
}

static void tell_waiting(struct command_list *list, struct slot *slot, struct record_id id, int64_t root, struct key event)
{
    struct waiting_control control;
    if (marks_met(&slot->marks, id, root, &control)) {
        tell(list, slot, &(struct command_outcome){outcome_of(control.by_cancel), control.offset, event.offset, event.due_ms, control.by_cancel});
    }
}

void outcome_tell(struct core *core, const struct slot *slot, const struct command_outcome *outcome)
{
    tell(&core->commands, slot, outcome);
}

void outcome_met(struct core *core, struct slot *slot, struct record_id id, int64_t root, struct key event)
{
    tell_waiting(&core->commands, slot, id, root, event);
}

void outcome_not_found(struct core *core, const struct slot *slot, struct waiting_control control)
{
    if (control.by_cancel) {
        tell(&core->commands, slot, &(struct command_outcome){OUTCOME_NOT_FOUND, control.offset, -1, 0, true});
    }
}

void outcome_duplicate(struct core *core, const struct slot *slot, const struct input_record *record)
{
    tell(&core->commands, slot, &(struct command_outcome){OUTCOME_DUPLICATE, -1, record->offset, record->dedupe_due_ms, false});
}

void outcome_settle(struct core *core, struct slot *slot, struct taken *item, enum outcome outcome)
{
    if (item->untold) {
        item->untold = false;
        slot->untold--;
        tell(&core->commands, slot, &(struct command_outcome){outcome, item->control, item->key.offset, item->key.due_ms, item->by_cancel});
    }
}

static enum outcome outcome_of_verdict(enum verdict verdict)
{
    return verdict == VERDICT_REJECTED ? OUTCOME_REJECTED : OUTCOME_DROPPED;
}

static void set_verdict(struct slot *slot, struct taken *item, enum verdict verdict)
{
    slot->untold -= item->verdict != VERDICT_NONE;
    item->verdict = (uint8_t)verdict;
    slot->untold += item->verdict != VERDICT_NONE;
}

void outcome_delivered(struct core *core, struct slot *slot, struct taken *item)
{
    outcome_settle(core, slot, item, OUTCOME_TOO_LATE);
    if (item->verdict != VERDICT_NONE) {
        enum outcome outcome = outcome_of_verdict(item->verdict);
        tell(&core->commands, slot, &(struct command_outcome){outcome, item->control, item->key.offset, item->key.due_ms, item->by_cancel});
        set_verdict(slot, item, VERDICT_NONE);
    }
}

void outcome_forget(struct slot *slot, struct taken *item)
{
    set_verdict(slot, item, VERDICT_NONE);
}

/* The undecided record at this offset, NULL: it is not in the FIFO. They are all due since ever, so they were taken in the order of their offsets. */
static struct taken *find_undecided(const struct core *core, const struct slot *slot, int64_t offset)
{
    const struct queue *queue = slot_deciding_queue(core, slot);
    uint32_t low = 0;
    uint32_t high = queue == NULL ? 0 : queue->taken.count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (taken_at(&queue->taken, middle)->key.offset < offset) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    struct taken *item = queue == NULL || low == queue->taken.count ? NULL : taken_at(&queue->taken, low);
    return item != NULL && item->key.offset == offset ? item : NULL;
}

void outcome_judge(struct core *core, struct slot *slot, struct record_id id, int64_t root, enum verdict verdict, const struct id_entry *mark)
{
    struct taken *item = find_undecided(core, slot, root);
    int64_t control = mark == NULL ? -1 : mark->offset;
    bool by_cancel = mark != NULL && mark->by_cancel;
    if (item != NULL) {
        set_verdict(slot, item, verdict);
        item->control = control;
        item->by_cancel = by_cancel;
    } else if (verdict != VERDICT_NONE) { /* it was copied forward undecided, which is rare: after an abort it is told once more */
        tell(&core->told, slot, &(struct command_outcome){outcome_of_verdict(verdict), control, root, DUE_SINCE_EVER, by_cancel});
    }
    if (mark != NULL) {
        tell_waiting(&core->told, slot, id, root, (struct key){DUE_SINCE_EVER, root});
    }
}

struct telling {
    struct core *core;
    const struct slot *slot;
};

static void tell_gone(struct waiting_control control, void *context)
{
    const struct telling *telling = context;
    outcome_not_found(telling->core, telling->slot, control);
}

void outcome_proved(struct core *core, struct slot *slot)
{
    struct telling telling = {core, slot};
    marks_proved(&slot->marks, slot->proving, slot->low_committed, tell_gone, &telling);
}

void outcome_stop(struct core *core, struct slot *slot)
{
    struct telling telling = {core, slot};
    marks_stop(&slot->marks, tell_gone, &telling);
}
