/* What must hold of deliveries and frontiers, computed by looking at every record. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "tests/sim/world_state.h"

static bool pair_claims(struct frontier_pair pair, const struct world_record *record)
{
    bool below = record->due_ms < pair.point.due_ms ||
                 (record->due_ms == pair.point.due_ms && record->offset <= pair.point.offset);
    return record->offset < pair.cut && below;
}

/* What counts of the lane up to the catch-up boundary, NULL: nothing apart. */
static const struct frontier_lane *find_behind(const struct partition_frontier *frontier, lane_index lane)
{
    const struct frontier_lane *found = NULL;
    for (uint16_t i = 0; i < frontier->behind_count && found == NULL; i++) {
        found = frontier->behind[i].lane == lane ? &frontier->behind[i] : NULL;
    }
    return found;
}

static const struct frontier_lane *find_lane(const struct partition_frontier *frontier, lane_index lane)
{
    const struct frontier_lane *found = NULL;
    for (uint16_t i = 0; i < frontier->lane_count && found == NULL; i++) {
        found = frontier->lanes[i].lane == lane ? &frontier->lanes[i] : NULL;
    }
    return found;
}

bool world_oracle_claims(const struct partition_frontier *frontier, const struct world_record *record)
{
    if (record->offset < frontier->low_offset) {
        return true;
    }
    if (record->cancel) {
        return false;
    }
    const struct frontier_lane *behind = record->due_ms <= frontier->boundary_ms ? find_behind(frontier, record->lane) : NULL;
    const struct frontier_lane *lane = behind != NULL ? behind : find_lane(frontier, record->lane);
    bool claimed = pair_claims(lane != NULL ? lane->frontier.live : frontier->shared, record);
    for (uint8_t i = 0; lane != NULL && !claimed && i < lane->frontier.old_count; i++) {
        claimed = pair_claims(lane->frontier.old[i], record);
    }
    return claimed;
}

const struct frontier_pair *world_oracle_behind(const struct partition_frontier *frontier, lane_index lane)
{
    const struct frontier_lane *found = find_behind(frontier, lane);
    return found != NULL ? &found->frontier.live : world_oracle_live(frontier, lane);
}

const struct frontier_pair *world_oracle_live(const struct partition_frontier *frontier, lane_index lane)
{
    const struct frontier_lane *found = find_lane(frontier, lane);
    return found != NULL ? &found->frontier.live : &frontier->shared;
}

/* Valid until the next call. */
struct life_note *world_oracle_note(struct world *world, struct world_slot *slot, const struct world_record *record)
{
    if (record->index >= slot->note_count) {
        size_t count = world->partitions[slot->partition].count * 2 + 16;
        slot->notes = memory_resize(slot->notes, count, sizeof(*slot->notes));
        memset(slot->notes + slot->note_count, 0, (count - slot->note_count) * sizeof(*slot->notes));
        slot->note_count = count;
    }
    return &slot->notes[record->index];
}

static int64_t greatest_cut(const struct partition_frontier *frontier)
{
    int64_t cut = frontier->shared.cut;
    for (uint16_t i = 0; i < frontier->lane_count; i++) {
        int64_t mine = frontier->lanes[i].frontier.live.cut;
        cut = mine > cut ? mine : cut;
    }
    for (uint16_t i = 0; i < frontier->behind_count; i++) {
        int64_t mine = frontier->behind[i].frontier.live.cut;
        cut = mine > cut ? mine : cut;
    }
    return cut;
}

/* ----------------------------------------------------------------------------------------------- deliveries */

/* The row that a command names is where it says. */
void world_oracle_row(struct world *world,
                      const struct world_instance *instance,
                      const struct world_slot *slot,
                      row_ref named,
                      struct bucket_id bucket,
                      const struct world_record *record)
{
    if (named != 0) {
        PROMISE(world, named < world->ref_count && world->refs[named].state == REF_LIVE &&
                           world->refs[named].record == record,
                "the ref of offset %lld is not its own or was released", (long long)record->offset);
    } else {
        PROMISE(world, world_disk_has(&instance->disk.parts[slot->partition], bucket, record->offset),
                "offset %lld is not in the store", (long long)record->offset);
    }
}

/* By (due, offset) among those that were known before either came due. */
static void
check_order(struct world *world, struct world_lane *lane, const struct world_record *record, int64_t known_wall_ms)
{
    struct key key = {record->due_ms, record->offset};
    if (lane->disturbed || known_wall_ms >= record->due_ms) {
        return;
    }
    bool first = lane->greatest.due_ms == 0;
    PROMISE(world, first || key_compare(key, lane->greatest) > 0 || known_wall_ms >= lane->greatest.due_ms,
            "offset %lld of lane %u is out of order", (long long)record->offset, record->lane);
    lane->greatest = first || key_compare(key, lane->greatest) > 0 ? key : lane->greatest;
}

/* What was overdue at the start, and stood in the log then, leaves in order; and what comes due later is not held up by it. */
static void check_sides(struct world *world, const struct world_slot *slot, struct world_lane *lane, const struct command_deliver *order, const struct world_record *record,
                        int64_t known_wall_ms, int64_t wall)
{
    struct key key = {record->due_ms, record->offset};
    int64_t late_ms = known_wall_ms < record->due_ms ? wall - record->due_ms : 0;
    if ((order->sequence & WORLD_BEHIND) == 0) {
        world->result.late_ms = late_ms > world->result.late_ms ? late_ms : world->result.late_ms;
        PROMISE(world, !world->traits.plain_crashes || late_ms <= WORLD_LATE_MAX_MS, "offset %lld is late by %lld ms", (long long)record->offset, (long long)late_ms);
        return;
    }
    world->result.behind++;
    if (lane->disturbed || record->offset >= slot->catch_up_to || key_compare(key, lane->point) <= 0) {
        return;
    }
    PROMISE(world, key_compare(key, lane->passed) > 0, "offset %lld, which was overdue at the start, is out of order", (long long)record->offset);
    lane->passed = key;
}

static void note_sent(struct world *world,
                      struct world_lane *lane,
                      const struct command_deliver *order,
                      struct world_record *record)
{
    uint64_t number = order->sequence & ~WORLD_BEHIND;
    if (!order->again) {
        PROMISE(world, number == lane->count, "sequence %llu is not the next one",
                (unsigned long long)order->sequence);
        GROW_FOR_ONE(lane->notes, lane->count, lane->capacity);
        lane->notes[lane->count++] = (struct sequence_note){.record = record};
    }
    PROMISE(world,
            number < lane->count && lane->notes[number].record == record && !lane->notes[number].open,
            "sequence %llu is under way or another record's", (unsigned long long)order->sequence);
    lane->notes[number].open = true;
    lane->in_flight++;
    PROMISE(world, lane->in_flight <= world->lane_options[order->lane].max_in_flight, "too many in flight in lane %u",
            order->lane);
}

static void check_taken(struct world *world,
                        const struct world_slot *slot,
                        const struct command_deliver *order,
                        const struct world_record *record,
                        const struct life_note *note)
{
    PROMISE(world, !record->cancel && record->due_ms == order->key.due_ms && record->lane == order->lane,
            "offset %lld is taken for another record", (long long)record->offset);
    bool cut = order->not_reappended && note->goes_on && (note->cut || slot->reading_stopped);
    PROMISE(world, order->again ? note->failed || cut : !note->sent, "offset %lld is delivered twice in one life",
            (long long)record->offset);
    PROMISE(world, !note->claimed, "offset %lld is delivered although it is done", (long long)record->offset);
    PROMISE(world, !note->copying, "offset %lld is delivered while it is copied forward", (long long)record->offset);
    PROMISE(world, order->again || !world_log_outdated(record, slot->position),
            "offset %lld is delivered although it is cancelled or replaced", (long long)record->offset);
    PROMISE(world, !order->as_refused || record->target != TARGET_GOOD || note->cut || cut, "offset %lld is refused for nothing",
            (long long)record->offset);
}

void world_oracle_deliver(struct world *world,
                          struct world_instance *instance,
                          struct world_slot *slot,
                          const struct command_deliver *order)
{
    PROMISE(world, slot->held, "a slot that is not held delivers");
    struct world_record *record = world_log_find(world, slot->partition, order->key.offset);
    struct life_note *note = world_oracle_note(world, slot, record);
    struct world_lane *lane = world_lane_of(slot, order->lane, order->sequence);
    int64_t wall = world_clock_now(world, instance).wall.ms;
    PROMISE(world, record->judged != JUDGED_DUPLICATE, "offset %lld is a duplicate, and is delivered", (long long)record->offset);
    check_taken(world, slot, order, record, note);
    PROMISE(world, record->due_ms <= wall || order->again, "offset %lld is early by %lld ms", (long long)record->offset,
            (long long)(record->due_ms - wall));
    PROMISE(world, order->lane != world->traits.deciding || slot->reading_stopped || slot->position >= slot->high,
            "offset %lld is decided before all re-appends of former owners are read", (long long)record->offset);
    PROMISE(world,
            slot->reading_stopped ||
                (slot->position >= slot->catch_up_to && slot->position >= greatest_cut(&slot->acked)),
            "offset %lld is delivered before the slot caught up", (long long)record->offset);
    PROMISE(world, !record->steered || slot->fenced, "offset %lld is delivered although somebody has moved it", (long long)record->offset);
    PROMISE(world, !slot->leaving && !instance->stopping && !instance->paused[order->lane] && !slot->lane_paused[order->lane],
            "offset %lld is delivered while it must wait", (long long)record->offset);
    world_oracle_row(world, instance, slot, order->ref, order->bucket, record);
    note_sent(world, lane, order, record);
    uint32_t in_flight = slot->lanes[order->lane].in_flight + slot->behind[order->lane].in_flight; /* either side may always have one */
    PROMISE(world, in_flight <= world->lane_options[order->lane].max_in_flight + 1, "too many in flight on both sides of the boundary");
    if (!order->again) {
        check_order(world, lane, record, note->known_wall_ms);
        check_sides(world, slot, lane, order, record, note->known_wall_ms, wall);
        note->read = slot->position;
    }
    note->failed = false;
    note->goes_on = false;
    note->sent = true;
    world->result.deliveries++;
}

/* An output that readers see, or a letter that counts; `read` is how far its instance had read when it took the record. */
void world_oracle_seen(struct world *world, struct world_record *record, int64_t read, bool letter)
{
    record->event->taken++;
    record->event->outputs += !letter;
    world->result.outputs++;
    world->result.repeats += record->event->taken > 1;
    PROMISE(world, !world_log_outdated(record, read), "offset %lld went out although it was cancelled or replaced",
            (long long)record->offset);
    PROMISE(world, !world->options.exactly_once || !record->event->ended, "offset %lld went out, and was said to have ended", (long long)record->offset);
    PROMISE(world, !world->options.exactly_once || record->event->taken == 1, "offset %lld went out twice",
            (long long)record->event->offset);
}

/* ----------------------------------------------------------------------------------------------- frontiers */

/* This life knows that it was cancelled or replaced: it has read that, or has a mark of it. */
bool world_oracle_outdated(const struct world_slot *slot, const struct world_record *record)
{
    return world_log_outdated(record, slot->marked && record->root >= 0 ? INT64_MAX : slot->position);
}

static bool may_claim(const struct world_slot *slot,
                      const struct world_record *record,
                      const struct life_note *note,
                      const struct world_transaction *transaction)
{
    bool here = transaction != NULL && (note->copying || note->transaction == transaction->number);
    bool read = record->offset < slot->position;
    /* A checkpoint of a former life has it no more; what ended it is read again. */
    bool erased = record->offset < slot->gained_position && note->known_wall_ms == 0;
    return note->claimed || note->done || here || note->moved || (read && (record->cancel || record->judged == JUDGED_DUPLICATE)) ||
           world_log_displaced(record, slot->position) ||
           (read && (world_oracle_outdated(slot, record) || (erased && (record->steered || world_log_outdated(record, INT64_MAX)))));
}

/* What a frontier that is sent says is done must be done, or be done with its transaction (NULL: a plain commit); what one said is not taken back. */
void world_oracle_frontier(struct world *world,
                           struct world_slot *slot,
                           const struct partition_frontier *frontier,
                           const struct world_transaction *transaction)
{
    struct world_partition *partition = &world->partitions[slot->partition];
    int64_t most = greatest_cut(frontier);
    for (size_t i = 0; i < partition->count; i++) {
        struct world_record *record = partition->records[i];
        if (record->state != RECORD_VISIBLE) {
            continue;
        }
        bool claimed = world_oracle_claims(frontier, record);
        struct life_note *note = world_oracle_note(world, slot, record);
        PROMISE(world, claimed || !note->claimed, "a commit no longer says that offset %lld is done",
                (long long)record->offset);
        PROMISE(world, !claimed || may_claim(slot, record, note, transaction),
                "a commit says that offset %lld is done, due %lld, lane %u", (long long)record->offset,
                (long long)(record->due_ms - WORLD_WALL_0), record->lane);
    }
    world_steer_frontier(world, slot, frontier);
    PROMISE(world, !slot->reading_stopped, "a slot whose reading was stopped commits");
    PROMISE(world, frontier->low_offset >= slot->last.low_offset, "C goes back");
    PROMISE(world, frontier->committed_offset >= slot->last.committed_offset, "the committed offset goes back");
    PROMISE(world, most <= slot->position || most <= greatest_cut(&slot->last), "a cut is beyond what was read");
    PROMISE(world, frontier->low_offset <= slot->position || frontier->low_offset == slot->last.low_offset,
            "C is beyond what was read");
    for (int i = 0; i < world->traits.lanes; i++) {
        PROMISE(world,
                world_oracle_live(frontier, (lane_index)i)->cut >= world_oracle_live(&slot->last, (lane_index)i)->cut,
                "the cut of lane %d goes back", i);
        const struct frontier_lane *now = find_behind(frontier, (lane_index)i);
        const struct frontier_lane *before = find_behind(&slot->last, (lane_index)i);
        PROMISE(world, now == NULL || before == NULL || now->frontier.live.cut >= before->frontier.live.cut,
                "the cut of lane %d goes back behind the boundary", i);
        PROMISE(world, now == NULL || before == NULL || frontier->boundary_ms == slot->last.boundary_ms, "a boundary moves");
    }
}

/* From now on this life must say so too. */
void world_oracle_claimed(struct world *world, struct world_slot *slot, const struct partition_frontier *frontier)
{
    struct world_partition *partition = &world->partitions[slot->partition];
    for (size_t i = 0; i < partition->count; i++) {
        if (partition->records[i]->state == RECORD_VISIBLE && world_oracle_claims(frontier, partition->records[i])) {
            world_oracle_note(world, slot, partition->records[i])->claimed = true;
        }
    }
    slot->last = *frontier;
}
