/* Persons who steer: events are moved or told to wait, lanes stand still for as long as somebody wants; and what must hold of that. */
#include "base/memory.h"
#include "tests/sim/world_state.h"

#define STEERS_MAX 200
#define PAUSED_DUE_MS (WORLD_WALL_0 + 400 * DAY_MS) /* far off, as the shell writes what is to wait; it comes in the end */

static bool is_asked(const struct world *world, const struct world_steer *steer)
{
    const struct world_instance *instance = &world->instances[steer->instance];
    return !steer->answered && instance->alive && instance->run == steer->run;
}

/* ----------------------------------------------------------------------------------------------- what persons want */

static int held_slot(struct world *world, const struct world_instance *instance)
{
    int slot = (int)random_below(&world->random, WORLD_PARTITIONS_MAX);
    return instance->alive && instance->slots[slot].held ? slot : -1;
}

void world_steer_ask(struct world *world, int number, int index, uint32_t id, enum steer_verb verb, int64_t due_ms)
{
    struct world_instance *instance = &world->instances[number];
    const struct world_slot *slot = &instance->slots[index];
    GROW_FOR_ONE(world->steers, world->steer_count, world->steer_capacity);
    struct world_steer *steer = &world->steers[world->steer_count];
    *steer = (struct world_steer){.instance = number, .run = instance->run, .slot = index, .epoch = slot->epoch, .id = id, .verb = verb, .due_ms = due_ms, .read = slot->position};
    world_shell_input(instance, INPUT_STEER, index, slot->epoch)->as.steer = (struct input_steer){
        .token = world->steer_count++,
        .verb = verb,
        .due_ms = due_ms,
        .id = {id, id},
        .found = world_disk_by_id(&instance->disk.parts[slot->partition], id),
    };
    world_say(world, "somebody steers id %u of slot %d of instance %d: %s, due %lld", id, index, number, verb == STEER_PAUSE ? "wait" : "move",
              (long long)(due_ms - WORLD_WALL_0));
}

/* Mostly that of an event which has not left yet. */
static uint32_t some_id(struct world *world, int number)
{
    const struct world_partition *partition = &world->partitions[number];
    for (int tries = 0; partition->count > 0 && tries < 8; tries++) {
        const struct world_record *record = partition->records[random_below(&world->random, partition->count)];
        if (record->id != 0 && record->origin->taken == 0 && !world_log_outdated(record, INT64_MAX)) {
            return record->id;
        }
    }
    return (uint32_t)random_between(&world->random, 1, world->traits.ids);
}

void world_steer_some(struct world *world)
{
    if (world->traits.steer_percent == 0 || world->steer_count >= STEERS_MAX || !world_chance(world, world->traits.steer_percent)) {
        return;
    }
    int number = (int)random_below(&world->random, (uint64_t)world->traits.instances);
    int slot = held_slot(world, &world->instances[number]);
    int64_t count = world_chance(world, 10) ? random_between(&world->random, 2, 80) : 1;
    for (; slot >= 0 && count > 0; count--) {
        uint32_t id = some_id(world, world->instances[number].slots[slot].partition);
        enum steer_verb verb = world_chance(world, 80) ? STEER_MOVE : STEER_PAUSE;
        world_steer_ask(world, number, slot, id, verb, verb == STEER_MOVE ? world_traits_due(world) : PAUSED_DUE_MS);
    }
}

void world_steer_pause(struct world *world, int number, int index, int lane, bool paused)
{
    struct world_instance *instance = &world->instances[number];
    struct world_slot *slot = &instance->slots[index];
    slot->lane_paused[lane] = paused;
    world_shell_input(instance, INPUT_LANE_PAUSE, index, slot->epoch)->as.lane_pause = (struct input_lane_pause){(lane_index)lane, paused};
    world_say(world, "somebody %s lane %d of slot %d of instance %d", paused ? "pauses" : "resumes", lane, index, number);
}

void world_steer_turn_lane(struct world *world, struct world_instance *instance)
{
    int slot = held_slot(world, instance);
    int lane = (int)random_below(&world->random, (uint64_t)world->traits.lanes);
    if (slot >= 0) {
        world_steer_pause(world, instance->number, slot, lane, world_chance(world, 60));
    }
}

/* No lane stands still for ever. */
static void resume(struct world *world, struct world_instance *instance, int index)
{
    for (int lane = 0; lane < world->traits.lanes; lane++) {
        if (instance->slots[index].lane_paused[lane]) {
            world_steer_pause(world, instance->number, index, lane, false);
        }
    }
}

void world_steer_calm(struct world *world)
{
    for (int i = 0; i < world->traits.instances; i++) {
        for (int slot = 0; slot < WORLD_PARTITIONS_MAX; slot++) {
            if (world->instances[i].alive && world->instances[i].slots[slot].held) {
                resume(world, &world->instances[i], slot);
            }
        }
    }
}

void world_steer_gained(struct world *world, struct world_instance *instance, int index)
{
    struct world_slot *slot = &instance->slots[index];
    for (uint16_t i = 0; i < slot->last.lane_count; i++) {
        slot->lane_paused[slot->last.lanes[i].lane] = slot->last.lanes[i].paused;
    }
    if (world->calm) {
        resume(world, instance, index);
    }
}

/* --------------------------------------------------------------------------------------------------- what must hold */

/* No more than the rate, from the start of the instance on, and what it lets through in 100 ms. */
void world_steer_rate(struct world *world, struct world_instance *instance, lane_index lane)
{
    int64_t rate = world->lane_options[lane].rate_per_s;
    int64_t burst = rate / 10 > 0 ? rate / 10 : 1;
    instance->sent[lane]++;
    PROMISE(world, rate == 0 || (int64_t)instance->sent[lane] <= burst + (world->now - instance->started_at) * rate / 1000, "lane %u sends more than its rate", lane);
}

void world_steer_frontier(struct world *world, const struct world_slot *slot, const struct partition_frontier *frontier)
{
    bool said[WORLD_LANES_MAX] = {false};
    for (uint16_t i = 0; i < frontier->lane_count; i++) {
        said[frontier->lanes[i].lane] = frontier->lanes[i].paused;
    }
    for (int lane = 0; lane < world->traits.lanes; lane++) {
        PROMISE(world, said[lane] == slot->lane_paused[lane], "a commit says that lane %d is%s paused", lane, said[lane] ? "" : " not");
    }
}

static struct world_steer *find_asked(struct world *world, const struct world_instance *instance, int slot, uint32_t id)
{
    for (size_t i = 0; i < world->steer_count; i++) {
        struct world_steer *steer = &world->steers[i];
        if (is_asked(world, steer) && steer->instance == instance->number && steer->slot == slot && steer->epoch == instance->slots[slot].epoch && steer->id == id) {
            return steer;
        }
    }
    return NULL;
}

int64_t world_steer_due(struct world *world, const struct world_instance *instance, const struct command *command, struct world_record *from)
{
    const struct command_copy *order = &command->as.copy;
    struct world_steer *steer = find_asked(world, instance, (int)command->slot, from->id);
    PROMISE(world, steer != NULL, "offset %lld is moved, and nobody asked for that", (long long)from->offset);
    PROMISE(world, (order->why == COPY_PAUSED) == (steer->verb == STEER_PAUSE) && (order->why == COPY_PAUSED || order->due_ms == steer->due_ms),
            "offset %lld is moved to another time than was asked for", (long long)from->offset);
    steer->from = from;
    return steer->due_ms;
}

/* Nothing of that id is pending as far as the slot has read. */
static void check_nothing(struct world *world, struct world_slot *slot, uint32_t id, int64_t read)
{
    const struct world_partition *partition = &world->partitions[slot->partition];
    for (size_t i = 0; i < partition->count && partition->records[i]->offset < read; i++) {
        const struct world_record *record = partition->records[i];
        const struct life_note *note = world_oracle_note(world, slot, record);
        bool over = note->claimed || note->done || note->moved || world_oracle_outdated(slot, record) || world_log_displaced(record, slot->position);
        PROMISE(world, record->id != id || record->cancel || record->schedule.conditional || record->judged == JUDGED_DUPLICATE || record->state != RECORD_VISIBLE || over || note->known_wall_ms == 0,
                "id %u is not found, and offset %lld is pending", id, (long long)record->offset);
    }
}

void world_steer_answer(struct world *world, struct world_instance *instance, const struct command *command)
{
    const struct command_steered *answer = &command->as.steered;
    PROMISE(world, answer->token < world->steer_count, "an answer to nobody");
    struct world_steer *steer = &world->steers[answer->token];
    struct world_slot *slot = &instance->slots[steer->slot];
    bool moved = steer->from != NULL && steer->from->steered;
    PROMISE(world, is_asked(world, steer) && steer->instance == instance->number && (uint32_t)steer->slot == command->slot && steer->epoch == command->epoch,
            "what was asked is answered twice, or by another");
    steer->answered = true;
    world_say(world, "  steered: id %u: %d", steer->id, (int)answer->result);
    PROMISE(world, answer->result != STEER_DONE || moved, "id %u is said to be moved, and it is not", steer->id);
    bool fenced = slot->held && slot->epoch == steer->epoch && slot->fenced; /* then it was somebody else who moved it */
    PROMISE(world, answer->result == STEER_DONE || answer->result == STEER_STOPPED || !moved || fenced || world_log_outdated(steer->from, INT64_MAX),
            "id %u is said not to be moved, and it is", steer->id);
    if (answer->result == STEER_NOT_FOUND && steer->from == NULL && slot->held && slot->epoch == steer->epoch) {
        check_nothing(world, slot, steer->id, steer->read);
    }
    world->result.steered += answer->result == STEER_DONE;
}

void world_steer_end(struct world *world)
{
    for (size_t i = 0; i < world->steer_count; i++) {
        PROMISE(world, !is_asked(world, &world->steers[i]), "what was asked of id %u was never answered", world->steers[i].id);
    }
}
