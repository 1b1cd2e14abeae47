/* What is decided of a conditional record (R10). */
#include "scheduler/core_state.h"

enum decision core_decide(struct core *core, slot_index index, uint32_t epoch, struct record_id id, int64_t offset, const struct stored_event *found)
{
    (void)core;
    (void)index;
    (void)epoch;
    (void)id;
    (void)offset;
    (void)found;
    return DECISION_ACCEPT;
}
