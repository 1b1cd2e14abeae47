/* Decisions (R10): how an instance's shell asks for them, and what must hold of them. */
#include "tests/sim/world_state.h"

/* The first time of a schedule that said none counts from when a person wrote it. */
static void resolve(const struct world_record *record, struct world_record *decided)
{
    *decided = world_schedules_again(record, record->schedule.nominal_ms);
    if (record->schedule.first_unknown) {
        decided->due_ms = record->origin->timestamp_ms + record->schedule.every_ms;
    }
    decided->lane = record->schedule.lane;
    decided->schedule.nominal_ms = decided->due_ms;
    decided->schedule.conditional = false;
    decided->schedule.undecided = false;
    decided->schedule.first_unknown = false;
}

static bool may_count(const struct world_slot *slot, const struct world_record *other, const struct world_record *record)
{
    return other->id == record->id && !other->cancel && !other->schedule.conditional && other->judged != JUDGED_DUPLICATE && other->origin != record->origin &&
           other->state != RECORD_ABORTED && world_log_control_of(other, slot->position) == NULL;
}

/* A younger one that was read has taken its place. */
static bool is_displaced(const struct world_partition *partition, const struct world_slot *slot, const struct world_record *other)
{
    bool displaced = other->moved;
    for (size_t i = other->index + 1; i < partition->count && partition->records[i]->offset < slot->position && !displaced; i++) {
        const struct world_record *later = partition->records[i];
        displaced = later->id == other->id && later->state == RECORD_VISIBLE && !later->schedule.conditional && later->judged != JUDGED_DUPLICATE && later->origin->offset >= other->origin->offset;
    }
    return displaced;
}

/* Beyond doubt: read, and nothing was begun with it. */
static bool is_pending(struct world *world, struct world_slot *slot, const struct world_record *other)
{
    const struct life_note *note = world_oracle_note(world, slot, other);
    return other->state == RECORD_VISIBLE && other->offset < slot->position && note->known_wall_ms != 0 && !note->claimed && !note->sent && other->event->taken == 0 &&
           !is_displaced(&world->partitions[slot->partition], slot, other);
}

/* A newer control drops it, something pending or moving of its id refuses it, else it is accepted. */
static void check_decision(struct world *world, struct world_slot *slot, const struct world_record *record, enum decision decision)
{
    const struct world_partition *partition = &world->partitions[slot->partition];
    bool newer = world_log_control_of(record, slot->position) != NULL;
    bool some = false;
    for (size_t i = 0; i < partition->count; i++) {
        const struct world_record *other = partition->records[i];
        bool counts = may_count(slot, other, record);
        bool accepted = other->id == record->id && other->schedule.conditional && other != record && world_oracle_note(world, slot, other)->sent; /* and not written yet */
        some = some || counts || accepted;
        PROMISE(world, decision != DECISION_ACCEPT || !counts || !is_pending(world, slot, other), "offset %lld is accepted, and %lld of its id is pending", (long long)record->offset,
                (long long)other->offset);
    }
    PROMISE(world, decision == DECISION_DROP || !newer, "offset %lld is decided over a newer control", (long long)record->offset);
    PROMISE(world, decision != DECISION_DROP || newer || slot->marked, "offset %lld is dropped for nothing", (long long)record->offset);
    PROMISE(world, decision != DECISION_REJECT || some, "offset %lld is rejected for nothing", (long long)record->offset);
}

enum world_decided world_decide(struct world *world, struct world_instance *instance, int index, struct world_record *record, struct world_record *decided)
{
    struct world_slot *slot = &instance->slots[index];
    PROMISE(world, record->schedule.undecided, "offset %lld is decided, and it was before", (long long)record->offset);
    if (record->schedule.conditional) {
        struct record_id id = {record->id, record->id};
        struct stored_event found = world_disk_by_id(&instance->disk.parts[slot->partition], record->id);
        enum decision decision = core_decide(instance->core, (slot_index)index, slot->epoch, id, record->origin->offset, &found);
        world_say(world, "  offset %lld is %s", (long long)record->offset, decision == DECISION_ACCEPT ? "accepted" : decision == DECISION_REJECT ? "rejected" : "dropped");
        check_decision(world, slot, record, decision);
        if (decision != DECISION_ACCEPT) {
            return WORLD_DECIDED_NOTHING;
        }
    }
    if (record->schedule.never) {
        return WORLD_DECIDED_NEVER;
    }
    resolve(record, decided);
    return WORLD_DECIDED_WRITE;
}
