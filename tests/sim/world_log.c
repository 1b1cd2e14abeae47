/* The partitions: what persons write, what is written again, holes, and how far readers see. */
#include <stdlib.h>

#include "base/memory.h"
#include "tests/sim/world_state.h"

static void link_id(struct world *world, int partition, struct world_record *record)
{
    struct world_record **last = &world->last_of_id[partition][record->id];
    if (record->id != 0 && record->origin == record) {
        if (*last != NULL) {
            (*last)->same_id = record;
        }
        *last = record;
    }
}

/* At the end; `origin` NULL: a person's. */
struct world_record *world_log_append(struct world *world, int number, const struct world_record *record)
{
    struct world_partition *partition = &world->partitions[number];
    GROW_FOR_ONE(partition->records, partition->count, partition->capacity);
    struct world_record *new = memory_new(1, sizeof(*new));
    *new = *record;
    new->index = partition->count;
    new->offset = partition->log_end++;
    new->origin = record->origin == NULL ? new : record->origin;
    new->event = record->event == NULL ? new : record->event;
    partition->records[partition->count++] = new;
    link_id(world, number, new);
    world->result.records++;
    world_say(world, "record: partition %d offset %lld lane %u due %lld%s%s id %u root %lld", number,
              (long long)new->offset, new->lane, (long long)(new->due_ms - WORLD_WALL_0),
              new->cancel ? " cancel" : new->schedule.conditional ? " if none" : new->schedule.undecided ? " first unknown" : "", new->state == RECORD_OPEN ? " in a transaction" : "", new->id,
              (long long)new->root);
    return new;
}

/* A marker of a transaction, or anything else that is no record. */
void world_log_control(struct world *world, int partition)
{
    world->partitions[partition].log_end++;
}

/* Index of the first record at or beyond the offset. */
size_t world_log_from(const struct world_partition *partition, int64_t offset)
{
    size_t low = 0;
    size_t high = partition->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (partition->records[middle]->offset < offset) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

struct world_record *world_log_find(const struct world *world, int number, int64_t offset)
{
    const struct world_partition *partition = &world->partitions[number];
    size_t index = world_log_from(partition, offset);
    PROMISE(world,
            index < partition->count && partition->records[index]->offset == offset &&
                partition->records[index]->state == RECORD_VISIBLE,
            "there is no record at offset %lld", (long long)offset);
    return partition->records[index];
}

/* The last stable offset. */
int64_t world_log_stable(const struct world *world, int partition)
{
    int64_t stable = world->partitions[partition].log_end;
    for (size_t i = 0; i < world->transaction_count; i++) {
        const struct world_transaction *transaction = world->transactions[i];
        for (size_t j = 0; j < transaction->copy_count; j++) {
            const struct world_copy *copy = &transaction->copies[j];
            bool open = copy->partition == partition && copy->to != NULL && copy->to->state == RECORD_OPEN;
            stable = open && copy->to->offset < stable ? copy->to->offset : stable;
        }
    }
    return stable;
}

/* True when somebody who has read up to `read` knows a copy of it, which displaces it. */
bool world_log_displaced(const struct world_record *record, int64_t read)
{
    return record->moved && record->copy->offset < read;
}

/* The first control that was written after it, and that somebody who has read up to `read` knows; NULL: there is none. */
const struct world_record *world_log_control_of(const struct world_record *record, int64_t read)
{
    const struct world_record *later = record->origin->same_id;
    while (later != NULL && later->offset < read && (later->state != RECORD_VISIBLE || later->schedule.conditional || later->judged == JUDGED_DUPLICATE)) {
        later = later->same_id;
    }
    return later != NULL && later->offset < read ? later : NULL;
}

/* True when somebody who has read up to `read` knows that the record was cancelled or replaced after a person wrote it. One with a condition is let fall only when it is
 * decided, unless it was written again before that. */
bool world_log_outdated(const struct world_record *record, int64_t read)
{
    const struct world_record *control = world_log_control_of(record, read);
    return control != NULL && (!record->schedule.conditional || control->offset < record->offset);
}

/* Whoever holds it sees that there is more. */
void world_log_wake(struct world *world, int partition)
{
    for (int i = 0; i < world->traits.instances; i++) {
        for (int j = 0; j < WORLD_PARTITIONS_MAX; j++) {
            struct world_slot *slot = &world->instances[i].slots[j];
            if (slot->held && slot->partition == partition) {
                world_shell_wake_poll(world, &world->instances[i], j);
            }
        }
    }
}

static struct world_transaction *foreign_of(struct world *world, int partition)
{
    struct world_transaction *found = NULL;
    for (size_t i = 0; i < world->transaction_count && found == NULL; i++) {
        struct world_transaction *transaction = world->transactions[i];
        bool open = transaction->instance < 0 && transaction->state == TX_OPEN;
        found = open && transaction->copies[0].partition == partition ? transaction : NULL;
    }
    return found;
}

/* An event or cancel that somebody else writes in a transaction: one that is open, or a new one that ends after `open_ms`. */
void world_log_foreign(
    struct world *world, int partition, struct world_record *record, int64_t open_ms, bool commits)
{
    struct world_transaction *transaction = foreign_of(world, partition);
    if (transaction == NULL) {
        transaction = world_transaction_begin(world, -1);
        struct event event = world_event(world, EVENT_TRANSACTION_OVER, -1);
        event.at += open_ms;
        event.sequence = transaction->number;
        event.code = commits;
        world_events_add(world, &event);
    }
    record->state = RECORD_OPEN;
    struct world_copy copy = {.to = world_log_append(world, partition, record), .partition = partition};
    world_transaction_add(transaction, &copy);
}

static struct world_record draw(struct world *world)
{
    const struct world_traits *traits = &world->traits;
    struct world_record record = {
        .due_ms = world_traits_due(world),
        .bytes = (uint32_t)random_between(&world->random, 1, 100),
        .lane = (lane_index)random_below(&world->random, (uint64_t)(traits->lanes - (traits->deciding >= 0))),
        .root = -1,
        .target = world_chance(world, traits->odd_target_percent)
                      ? (world_chance(world, 50) ? TARGET_UNKNOWN : TARGET_FAULT)
                      : TARGET_GOOD,
    };
    if (traits->ids > 0 && world_chance(world, 70)) {
        record.id = (uint32_t)random_between(&world->random, 1, traits->ids);
        record.cancel = world_chance(world, traits->cancel_percent);
    }
    if (record.cancel) {
        record.due_ms = 0;
        record.bytes = 0;
        record.lane = 0;
    }
    world_schedules_draw(world, &record);
    return record;
}

void world_log_produce(struct world *world)
{
    int number = (int)random_below(&world->random, (uint64_t)world->traits.partitions);
    struct world_partition *partition = &world->partitions[number];
    partition->log_end += world_chance(world, 15) ? random_between(&world->random, 1, 5) : 0;
    struct world_record record = draw(world);
    if (!world->calm && world_chance(world, world->traits.foreign_percent)) {
        int64_t most = world_chance(world, 50) ? world->traits.latency_ms : world->traits.timeout_ms;
        world_log_foreign(world, number, &record, random_between(&world->random, 1, most), world_chance(world, 60));
    } else {
        (void)world_log_append(world, number, &record);
    }
    if (world_chance(world, 20)) {
        world_log_control(world, number); /* at times one stands at the end */
    }
    world->produced++;
    world_log_wake(world, number);
}
