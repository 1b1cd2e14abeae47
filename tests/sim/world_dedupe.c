/* Duplicates: each life judges alike, and what is refused was preceded by what makes it a duplicate. */
#include "tests/sim/world_state.h"

void world_dedupe_record(const struct world *world, const struct world_record *record, struct input_record *input)
{
    bool unknown = record->schedule.every_ms > 0 && (record->root >= 0 || record->schedule.first_unknown);
    input->dedupe_ms = world->traits.dedupe_ms > 0 && unknown ? -1 : world->traits.dedupe_ms;
    input->dedupe_due_ms = record->schedule.nominal_ms;
}

static bool is_within(const struct world *world, const struct world_record *before, const struct world_record *record)
{
    int64_t since_ms = record->timestamp_ms - before->schedule.nominal_ms;
    bool counts = !before->cancel && !before->schedule.conditional && !(before->schedule.every_ms > 0 && before->root >= 0) && !before->schedule.first_unknown;
    return counts && before->id == record->id && before->judged != JUDGED_DUPLICATE && before->state == RECORD_VISIBLE && since_ms >= 0 && since_ms < world->traits.dedupe_ms;
}

/* Some event of its id stands before it that came due at most the window before it was written. */
static bool may_be_second(const struct world *world, const struct world_partition *partition, const struct world_record *record)
{
    bool found = false;
    for (size_t i = 0; i < record->index && !found; i++) {
        found = is_within(world, partition->records[i], record);
    }
    return found;
}

/* The same of somebody who has read from there on, beyond doubt: the last word of its id that a person wrote. */
static bool must_be_second(const struct world *world, const struct world_partition *partition, const struct world_record *record, int64_t from)
{
    const struct world_record *last = NULL;
    for (size_t i = world_log_from(partition, from); i < record->index; i++) {
        const struct world_record *before = partition->records[i];
        last = before->id == record->id && before->state == RECORD_VISIBLE ? before : last;
    }
    return last != NULL && last->root < 0 && !last->schedule.undecided && is_within(world, last, record);
}

void world_dedupe_refused(struct world *world, struct world_slot *slot, struct world_record *record)
{
    bool found = may_be_second(world, &world->partitions[slot->partition], record);
    PROMISE(world, found && record->id != 0 && record->root < 0 && !record->cancel, "offset %lld is refused as a duplicate of nothing", (long long)record->offset);
    PROMISE(world, record->judged != JUDGED_ACCEPTED, "offset %lld is a duplicate now, and was none in another life", (long long)record->offset);
    record->judged = JUDGED_DUPLICATE;
    world_oracle_note(world, slot, record)->duplicate = true;
    world->result.duplicates++;
}

/* After a step: what was read in it and not refused is accepted for good. */
void world_dedupe_step(struct world *world, struct world_slot *slot)
{
    const struct world_partition *partition = &world->partitions[slot->partition];
    if (world->traits.dedupe_ms == 0) {
        return;
    }
    size_t i = world_log_from(partition, slot->judged_to > slot->known_below ? slot->judged_to : slot->known_below);
    for (; i < partition->count && partition->records[i]->offset < slot->position; i++) {
        struct world_record *record = partition->records[i];
        if (record->id == 0 || record->root >= 0 || record->cancel || record->state != RECORD_VISIBLE) {
            continue;
        }
        bool other = record->judged == JUDGED_DUPLICATE && !world_oracle_note(world, slot, record)->duplicate;
        if (other && !must_be_second(world, partition, record, slot->gained_low)) {
            world->unsure = true; /* a checkpoint that this life does not have knew it (dedupe.h) */
            return;
        }
        PROMISE(world, !other, "offset %lld is no duplicate now, and was one in another life", (long long)record->offset);
        record->judged = record->judged == JUDGED_NOT ? JUDGED_ACCEPTED : record->judged;
    }
    slot->judged_to = slot->position;
}
