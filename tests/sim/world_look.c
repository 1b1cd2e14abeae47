/* What core_look says of each record and id is what this world knows of it, and the forecast is the sum of that. */
#include "tests/sim/world_state.h"

#define BINS 16
#define LOOK_EVERY 6 /* of the steps that are validated: each record is asked about */

/* Something is told with the next step, or known when a transaction has ended. */
static bool is_in_between(const struct world_instance *instance, const struct world_slot *slot)
{
    const struct world_transaction *transaction = instance->transaction;
    return slot->fenced || instance->input_count > 0 || (transaction != NULL && (transaction->copy_count > 0 || transaction->failed));
}

static const char *name_of(enum core_event_state state)
{
    static const char *const names[] = {"ended", "pending", "running", "moving", "undecided"};
    return names[state];
}

static enum core_event_state look(const struct world_instance *instance, int index, const struct world_record *record)
{
    return core_look_row(instance->core, (slot_index)index, record->lane, (struct key){record->due_ms, record->offset});
}

/* Only of what is read and not written, or stands in the checkpoint, is anything said: of other rows the core may know nothing any more. */
static bool is_there(const struct world_instance *instance, int index, const struct world_record *record)
{
    const struct store_part *stored = &instance->disk.parts[instance->slots[index].partition];
    struct core_event event;
    bool found = core_look_offset(instance->core, (slot_index)index, record->offset, &event);
    for (size_t i = 0; i < stored->count && !found; i++) {
        found = stored->rows[i].record == record;
    }
    return found;
}

static void check_record(struct world *world, const struct world_instance *instance, int index, const struct world_record *record)
{
    const struct world_slot *slot = &instance->slots[index];
    enum core_event_state state = look(instance, index, record);
    enum core_event_state waiting = record->lane == world->traits.deciding ? CORE_EVENT_UNDECIDED : CORE_EVENT_PENDING;
    if ((record->index < slot->note_count && slot->notes[record->index].sent) || (slot->marked && record->root >= 0)) {
        return; /* see check_sent; and what a mark of an earlier life ends, this world does not know for sure */
    }
    if (world_check_waits(slot, record)) {
        PROMISE(world, state == waiting, "offset %lld of slot %d waits, and is said to be %s", (long long)record->offset, index, name_of(state));
    } else if (state != CORE_EVENT_ENDED) {
        PROMISE(world, !is_there(instance, index, record), "offset %lld of slot %d does not wait, and is said to be %s", (long long)record->offset, index, name_of(state));
    }
}

/* What was sent, by the order of sending: what the prefix has passed is over. */
static void check_sent(struct world *world, const struct world_instance *instance, int index, const struct world_lane *lane, size_t number)
{
    const struct world_slot *slot = &instance->slots[index];
    const struct world_record *record = lane->notes[number].record;
    enum core_event_state state = look(instance, index, record);
    enum core_event_state under_way = record->lane == world->traits.deciding ? CORE_EVENT_UNDECIDED : CORE_EVENT_RUNNING;
    bool ended = world_oracle_outdated(slot, record) || world_log_displaced(record, slot->position);
    if (number < lane->prefix) {
        PROMISE(world, state == CORE_EVENT_ENDED, "offset %lld of slot %d is over, and said to be %s", (long long)record->offset, index, name_of(state));
    } else if (lane->notes[number].open) {
        PROMISE(world, state == (ended ? CORE_EVENT_ENDED : under_way), "offset %lld of slot %d is under way, and said to be %s", (long long)record->offset, index, name_of(state));
    }
}

static void check_lane(struct world *world, const struct world_instance *instance, int index, const struct world_lane *lane)
{
    for (size_t i = 0; i < lane->count; i++) {
        check_sent(world, instance, index, lane, i);
    }
}

/* ---------------------------------------------------------------------------------------------------------- by id */

/* The last record of the id that a person or the schedule itself has put there, and that is still to come as this life knows it; NULL: none. */
static const struct world_record *pending_of(const struct world *world, const struct world_instance *instance, int index, uint32_t id)
{
    const struct world_slot *slot = &instance->slots[index];
    const struct world_partition *partition = &world->partitions[slot->partition];
    const struct world_record *found = NULL;
    for (size_t i = 0; i < partition->count && partition->records[i]->offset < slot->position; i++) {
        const struct world_record *record = partition->records[i];
        bool is_it = record->state == RECORD_VISIBLE && record->id == id && !record->cancel && !record->schedule.conditional;
        found = is_it && look(instance, index, record) != CORE_EVENT_ENDED && is_there(instance, index, record) ? record : found;
    }
    return found;
}

/* A record of the id that this life has written again, where that is committed and not read back; NULL: none. */
static const struct world_record *moving_of(const struct world *world, const struct world_instance *instance, int index, uint32_t id)
{
    const struct world_slot *slot = &instance->slots[index];
    const struct world_partition *partition = &world->partitions[slot->partition];
    const struct world_record *found = NULL;
    for (size_t i = 0; i < partition->count && i < slot->note_count && partition->records[i]->offset < slot->position; i++) {
        const struct world_record *record = partition->records[i];
        bool is_it = record->state == RECORD_VISIBLE && record->id == id && !record->cancel && slot->notes[i].moved && !slot->notes[i].copying && record->moved;
        found = is_it && record->copy->offset >= slot->position && !world_oracle_outdated(slot, record) && !record->copy->schedule.conditional ? record : found;
    }
    return found;
}

static void check_id(struct world *world, const struct world_instance *instance, int index, uint32_t id)
{
    const struct world_slot *slot = &instance->slots[index];
    struct stored_event stored = world_disk_by_id(&instance->disk.parts[slot->partition], id);
    const struct world_record *pending = pending_of(world, instance, index, id);
    struct core_event event;
    bool found = core_look_id(instance->core, (slot_index)index, (struct record_id){id, id}, &stored, &event);
    const struct world_record *moving = moving_of(world, instance, index, id);
    PROMISE(world, found || moving == NULL, "offset %lld of slot %d is written again, and its id is not found", (long long)moving->offset, index);
    PROMISE(world, found || pending == NULL, "offset %lld of slot %d is pending, but not by its id", (long long)pending->offset, index);
    if (!found || event.state == CORE_EVENT_MOVING) {
        return;
    }
    PROMISE(world, pending != NULL && event.key.offset == pending->offset && event.key.due_ms == pending->due_ms && event.lane == pending->lane,
            "of id %u of slot %d offset %lld is said to be pending", id, index, (long long)event.key.offset);
    PROMISE(world, event.state == look(instance, index, pending), "offset %lld of slot %d is %s, by its id %s", (long long)pending->offset, index,
            name_of(look(instance, index, pending)), name_of(event.state));
    PROMISE(world, event.root == (pending->root >= 0 ? pending->root : pending->offset), "the root of offset %lld of slot %d is said to be %lld",
            (long long)pending->offset, index, (long long)event.root);
    PROMISE(world, event.ref == 0 || world->refs[event.ref].record == pending, "the row of offset %lld of slot %d is said to be another's", (long long)pending->offset, index);
}

/* ------------------------------------------------------------------------------------------------------- forecast */

struct expected {
    double waiting[BINS];
    double running[BINS]; /* after the clock was set back */
};

/* As the records say, one by one. */
static struct expected expect(const struct world *world, const struct world_instance *instance, int index, const struct core_forecast *forecast, const bool *lanes)
{
    const struct world_slot *slot = &instance->slots[index];
    const struct world_partition *partition = &world->partitions[slot->partition];
    struct expected expected = {.waiting = {0}};
    for (size_t i = 0; i < partition->count && partition->records[i]->offset < slot->position; i++) {
        const struct world_record *record = partition->records[i];
        int64_t bin = record->due_ms / forecast->bin_ms - forecast->from_ms / forecast->bin_ms;
        bool is_in = record->state == RECORD_VISIBLE && !record->cancel && lanes[record->lane] && record->due_ms >= forecast->from_ms && bin < BINS;
        enum core_event_state state = is_in ? look(instance, index, record) : CORE_EVENT_ENDED;
        if (state != CORE_EVENT_ENDED && is_there(instance, index, record)) {
            (*(state == CORE_EVENT_RUNNING ? &expected.running[bin] : &expected.waiting[bin]))++;
        }
    }
    return expected;
}

/* What is due before now may be delivered and not passed, so it is not compared; all else is, where it is not said to be estimated. */
static void check_forecast(struct world *world, const struct world_instance *instance, int index, int64_t bin_ms, uint32_t walk_max)
{
    double counts[BINS] = {0};
    bool estimated[BINS] = {false};
    bool lanes[WORLD_LANES_MAX];
    for (int lane = 0; lane < WORLD_LANES_MAX; lane++) {
        lanes[lane] = lane != world->traits.deciding;
    }
    struct core_forecast forecast = {
        .from_ms = world_clock_now(world, instance).wall.ms + 1, .bin_ms = bin_ms, .bins = BINS, .walk_max = walk_max, .counts = counts, .estimated = estimated};
    core_look_forecast(instance->core, (slot_index)index, lanes, &forecast);
    struct expected expected = expect(world, instance, index, &forecast, lanes);
    for (int i = 0; i < BINS; i++) {
        bool right = counts[i] >= expected.waiting[i] && counts[i] <= expected.waiting[i] + expected.running[i];
        PROMISE(world, estimated[i] || right, "bin %d of %lld ms of slot %d has %g events, and is said to have %g", i, (long long)bin_ms, index, expected.waiting[i], counts[i]);
        PROMISE(world, counts[i] >= 0, "bin %d has %g events", i, counts[i]);
        world->result.foreseen += (uint64_t)(estimated[i] ? 0 : counts[i]);
    }
}

void world_look_step(struct world *world, struct world_instance *instance, int index)
{
    const struct world_slot *slot = &instance->slots[index];
    const struct world_partition *partition = &world->partitions[slot->partition];
    if (is_in_between(instance, slot) || world->result.steps / world->traits.validate_every % LOOK_EVERY != 0) {
        return;
    }
    for (size_t i = 0; i < partition->count && partition->records[i]->offset < slot->position; i++) {
        if (partition->records[i]->state == RECORD_VISIBLE && !partition->records[i]->cancel) {
            check_record(world, instance, index, partition->records[i]);
        }
    }
    for (int lane = 0; lane < world->traits.lanes; lane++) {
        check_lane(world, instance, index, &slot->lanes[lane]);
        check_lane(world, instance, index, &slot->behind[lane]);
    }
    for (uint32_t id = 1; id <= world->traits.ids; id++) {
        check_id(world, instance, index, id);
    }
    check_forecast(world, instance, index, SECOND_MS, UINT32_MAX);
    check_forecast(world, instance, index, HOUR_MS, 0);
}
