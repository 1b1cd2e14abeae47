/* What instances say became of controls and of what was let fall, and that readers saw just that. */
#include "tests/sim/world_state.h"

static struct world_record *find(const struct world *world, const struct world_slot *slot, int64_t offset)
{
    if (offset < 0) {
        return NULL;
    }
    PROMISE(world, offset < slot->position || slot->marked, "an outcome tells of offset %lld, which was not read", (long long)offset);
    return world_log_find(world, slot->partition, offset);
}

static void check_pair(const struct world *world, const struct world_record *control, const struct world_record *event)
{
    PROMISE(world, !event->cancel && event->id == control->id && event->origin->offset < control->offset && !control->schedule.conditional && control->root < 0,
            "an outcome tells of offsets %lld and %lld, which have nothing to do with each other", (long long)control->offset, (long long)event->offset);
}

/* The event never goes out: in no life where delivery is exactly once, else not in this one. Of a recurrence that has gone out that is what follows. */
static void check_ended(struct world *world, struct world_slot *slot, const struct world_record *control, const struct world_record *event)
{
    struct world_record *first = event->event;
    struct life_note *note = world_oracle_note(world, slot, first);
    bool follows = world_oracle_note(world, slot, event)->went && !world->options.exactly_once;
    PROMISE(world, follows || (world->options.exactly_once ? first->taken == 0 : note->outs == 0), "offset %lld is said to be ended by %lld, and it went out", (long long)first->offset,
            (long long)control->offset);
    first->ended = first->ended || !follows;
    world_oracle_note(world, slot, first)->ended = !follows;
}

static void check_late(struct world *world, struct world_slot *slot, const struct world_record *event)
{
    const struct life_note *note = world_oracle_note(world, slot, event->event);
    bool out = world->options.exactly_once ? event->event->taken > 0 : note->outs > 0;
    PROMISE(world, out || event->event->let_fall, "offset %lld is said to have gone out, and it has not", (long long)event->offset);
}

/* A cancel of its id that was read before waits for its answer: then a second one waits for nothing. */
static bool one_waits(struct world *world, struct world_slot *slot, const struct world_record *control)
{
    const struct world_partition *partition = &world->partitions[slot->partition];
    bool waits = false;
    for (size_t i = world_log_from(partition, slot->known_below); i < control->index && !waits; i++) {
        const struct world_record *before = partition->records[i];
        waits = before->id == control->id && before->cancel && before->state == RECORD_VISIBLE && world_oracle_note(world, slot, before)->told == 0;
    }
    return waits;
}

/* Nothing that it would have ended was pending. */
static void check_not_found(struct world *world, struct world_slot *slot, const struct world_record *control)
{
    const struct world_partition *partition = &world->partitions[slot->partition];
    bool second = one_waits(world, slot, control);
    for (size_t i = 0; i < partition->count && !control->said && !second; i++) {
        const struct world_record *record = partition->records[i];
        const struct life_note *note = world_oracle_note(world, slot, record);
        bool its = record->id == control->id && record->state == RECORD_VISIBLE && !record->cancel && !record->schedule.conditional && record->judged != JUDGED_DUPLICATE && record->offset < slot->position &&
                   world_log_control_of(record, slot->position) == control;
        bool over = record->moved || note->claimed || note->done || record->event->taken > 0 || record->event->let_fall || record->committed;
        PROMISE(world, !its || over, "offset %lld has found nothing, and %lld was pending", (long long)control->offset, (long long)record->offset);
    }
}

static void answer(struct world *world, struct world_slot *slot, const struct command_outcome *outcome, struct world_record *control, const struct world_record *event)
{
    struct life_note *note = world_oracle_note(world, slot, control);
    PROMISE(world, note->told == 0, "the control at offset %lld is answered twice", (long long)control->offset);
    note->told = (uint8_t)outcome->outcome + 1;
    PROMISE(world, control->cancel == outcome->by_cancel, "the control at offset %lld is taken for another", (long long)control->offset);
    if (event != NULL) {
        check_pair(world, control, event);
        const struct world_record *first = control->judged == JUDGED_DUPLICATE ? control : world_log_control_of(event, slot->position);
        PROMISE(world, first != NULL, "offset %lld is said to have ended %lld, and nothing has", (long long)control->offset, (long long)event->offset);
        bool here = first->offset >= slot->known_below; /* else a former life has answered it */
        bool copied = world_oracle_note(world, slot, event)->copying; /* its copy was met before, and the end of that transaction is not known */
        PROMISE(world, first == control || !here || copied, "offset %lld is said to have met %lld, and %lld was before it", (long long)event->offset, (long long)control->offset, (long long)first->offset);
    }
    PROMISE(world, (event == NULL) == (outcome->outcome == OUTCOME_NOT_FOUND), "the control at offset %lld met something and nothing", (long long)control->offset);
    if (slot->fenced) {
        return; /* somebody else's word counts */
    }
    if (outcome->outcome == OUTCOME_CANCELLED || outcome->outcome == OUTCOME_REPLACED) {
        PROMISE(world, (outcome->outcome == OUTCOME_CANCELLED) == control->cancel, "a cancel is told as a replacement, or the other way");
        check_ended(world, slot, control, event);
    } else if (outcome->outcome == OUTCOME_TOO_LATE) {
        check_late(world, slot, event);
    } else {
        PROMISE(world, control->cancel, "a replacement has found nothing, and that is told");
        check_not_found(world, slot, control);
    }
    control->said = control->said || outcome->outcome != OUTCOME_NOT_FOUND;
}

/* A conditional record was let fall: it never goes out. */
static void refuse(struct world *world, struct world_slot *slot, const struct command_outcome *outcome, const struct world_record *control, struct world_record *event)
{
    PROMISE(world, event != NULL && event->origin->schedule.conditional, "what had no condition is refused");
    PROMISE(world, (outcome->outcome == OUTCOME_DROPPED) == (control != NULL), "a record is dropped by nobody, or rejected by a control");
    struct life_note *note = world_oracle_note(world, slot, event->event);
    PROMISE(world, slot->fenced || (world->options.exactly_once ? event->event->taken == 0 : note->outs == 0), "offset %lld is refused, and it went out", (long long)event->offset);
    note->ended = true;
    event->event->ended = event->event->ended || (world->options.exactly_once && !slot->fenced);
    if (control != NULL) {
        check_pair(world, control, event);
    }
}

void world_outcomes_hear(struct world *world, struct world_instance *instance, const struct command *command)
{
    static const char *const names[OUTCOME_COUNT] = {"cancelled", "replaced", "too late", "not found", "duplicate", "rejected", "dropped", "skipped"};
    const struct command_outcome *outcome = &command->as.outcome;
    struct world_slot *slot = &instance->slots[command->slot];
    world_say(world, "  outcome: slot %u %s, control %lld, event %lld", command->slot, names[outcome->outcome], (long long)outcome->control_offset, (long long)outcome->event_offset);
    if (!slot->held || slot->epoch != command->epoch) {
        return;
    }
    struct world_record *control = find(world, slot, outcome->control_offset);
    struct world_record *event = find(world, slot, outcome->event_offset);
    world->result.outcomes++;
    world->result.told[outcome->outcome]++;
    switch (outcome->outcome) {
    case OUTCOME_CANCELLED:
    case OUTCOME_REPLACED:
    case OUTCOME_TOO_LATE:
    case OUTCOME_NOT_FOUND:
        PROMISE(world, control != NULL, "nobody is answered");
        answer(world, slot, outcome, control, event);
        break;
    case OUTCOME_REJECTED:
    case OUTCOME_DROPPED:
        refuse(world, slot, outcome, control, event);
        break;
    case OUTCOME_SKIPPED:
        PROMISE(world, event != NULL && (control != NULL || slot->gained_position > 0), "a re-append is skipped for nothing"); /* a former life may have read the control */
        if (control != NULL) {
            check_pair(world, control, event);
        }
        break;
    case OUTCOME_DUPLICATE:
        PROMISE(world, event != NULL, "nothing is a duplicate");
        world_dedupe_refused(world, slot, event);
        break;
    case OUTCOME_COUNT:
        break;
    }
}

/* Where everything has come to rest each cancel that was read has its answer. */
void world_outcomes_end(struct world *world, const struct world_instance *instance, int index)
{
    const struct world_slot *slot = &instance->slots[index];
    const struct world_partition *partition = &world->partitions[slot->partition];
    for (size_t i = 0; i < partition->count && i < slot->note_count; i++) {
        const struct world_record *record = partition->records[i];
        bool read = record->state == RECORD_VISIBLE && record->cancel && record->offset >= slot->known_below;
        PROMISE(world, !read || slot->notes[i].told != 0, "the cancel at offset %lld was never answered", (long long)record->offset);
    }
}
