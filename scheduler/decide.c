/* See decide.h. */
#include "scheduler/decide.h"

#include "scheduler/control.h"
#include "scheduler/outcome.h"
#include "scheduler/core_state.h"
#include "scheduler/reappend.h"
#include "scheduler/slot.h"

/* Something of this id is moving that counts: not the record itself, and nothing that a newer control ends when it is read. */
static bool is_moving(const struct core *core, const struct slot *slot, struct record_id id, int64_t root)
{
    const struct id_entry *moving = reappend_find(core, slot, id);
    const struct id_entry *mark = marks_find(&slot->marks, id);
    bool itself = moving != NULL && moving->decided && moving->root == root;
    return moving != NULL && !itself && (mark == NULL || mark->offset <= moving->offset);
}

enum decision decide_conditional(struct core *core, slot_index index, uint32_t epoch, struct record_id id, int64_t root, const struct stored_event *found)
{
    struct slot *slot = slot_find(core, index, epoch);
    if (slot == NULL) {
        return DECISION_DROP; /* its next owner decides */
    }
    const struct id_entry *mark = marks_find(&slot->marks, id);
    if (mark != NULL && mark->offset > root) {
        reappend_drop(slot, id, root);
        outcome_judge(core, slot, id, root, VERDICT_DROPPED, mark);
        return DECISION_DROP;
    }
    if (is_moving(core, slot, id, root) || control_is_pending(slot, id, found)) {
        reappend_drop(slot, id, root);
        outcome_judge(core, slot, id, root, VERDICT_REJECTED, NULL);
        return DECISION_REJECT;
    }
    outcome_judge(core, slot, id, root, VERDICT_NONE, NULL);
    reappend_accept(core, slot, id, root);
    return DECISION_ACCEPT;
}
