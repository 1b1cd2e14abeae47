/* What recurs and what is undecided: what an instance's shell does with it at a delivery and at a copy, and what must hold of chains. */
#include "tests/sim/world_state.h"

static bool chance(struct world *world, uint32_t percent)
{
    return random_below(&world->schedules, 100) < percent;
}

static int64_t one_of(struct world *world, const int64_t *values, size_t count)
{
    return values[random_below(&world->schedules, count)];
}
#define ONE_OF(world, ...)                                                                                             \
    one_of((world), (const int64_t[]){__VA_ARGS__}, sizeof((const int64_t[]){__VA_ARGS__}) / sizeof(int64_t))

/* ------------------------------------------------------------------------------------------------- what people write */

static void add_deciding_lane(struct world *world)
{
    struct world_traits *traits = &world->traits;
    traits->deciding = traits->lanes++;
    world->lane_options[traits->deciding] = (struct core_lane_options){
        .max_in_flight = (uint32_t)ONE_OF(world, 1, 3, 20, 1000), .max_in_flight_bytes = (uint64_t)ONE_OF(world, 1, 500, 1 << 20), .decides = true};
}

void world_schedules_traits(struct world *world)
{
    struct world_traits *traits = &world->traits;
    world->schedules = random_new(world->seed ^ UINT64_C(0x7363686564756c65));
    if (chance(world, 40)) {
        return;
    }
    traits->every_percent = (uint32_t)ONE_OF(world, 0, 20, 60);
    traits->unwritable_percent = (uint32_t)ONE_OF(world, 0, 0, 5, 30);
    traits->every_ms = ONE_OF(world, 1000, 1000, 10 * SECOND_MS, 10 * MINUTE_MS, DAY_MS);
    traits->misfire = (enum misfire)ONE_OF(world, MISFIRE_ONCE, MISFIRE_ONCE, MISFIRE_ALL, MISFIRE_SKIP);
    int64_t slow_ms = traits->misfire == MISFIRE_SKIP ? MINUTE_MS + 500 * traits->latency_ms : 0; /* less, and what is slow would be let fall for ever */
    traits->misfire_ms = ONE_OF(world, slow_ms, MINUTE_MS + slow_ms);
    traits->records = traits->records > 100 ? 100 : traits->records;
    traits->undecided_percent = (uint32_t)ONE_OF(world, 0, 30, 80);
    if (traits->undecided_percent > 0) {
        add_deciding_lane(world);
    }
    traits->dedupe_ms = traits->ids > 0 && chance(world, 35) ? ONE_OF(world, 1000, 10 * SECOND_MS, HOUR_MS) : 0;
}

void world_schedules_draw(struct world *world, struct world_record *record)
{
    const struct world_traits *traits = &world->traits;
    record->timestamp_ms = WORLD_WALL_0 + world->now;
    record->schedule = (struct world_schedule){.nominal_ms = record->due_ms, .until_ms = -1, .lane = record->lane};
    struct world_schedule *schedule = &record->schedule;
    if (record->cancel) {
        return;
    }
    if (chance(world, traits->every_percent)) {
        schedule->every_ms = traits->every_ms;
        schedule->count = (uint32_t)random_between(&world->schedules, 1, 5);
        schedule->until_ms = chance(world, 20) ? record->due_ms + random_between(&world->schedules, 0, 4) * traits->every_ms : -1;
    }
    schedule->unwritable = chance(world, traits->unwritable_percent);
    if (traits->deciding >= 0 && chance(world, traits->undecided_percent)) {
        schedule->conditional = record->id != 0 && chance(world, 70);
        schedule->first_unknown = schedule->every_ms > 0 && chance(world, 50);
        schedule->never = schedule->first_unknown && chance(world, 10);
        schedule->undecided = schedule->conditional || schedule->first_unknown;
    }
    world_schedules_place(world, record);
}

/* What is undecided waits for nothing, in a lane of its own. */
void world_schedules_place(const struct world *world, struct world_record *record)
{
    if (record->schedule.undecided) {
        record->lane = (lane_index)world->traits.deciding;
        record->due_ms = DUE_SINCE_EVER;
    }
}

/* ------------------------------------------------------------------------------------------------- what follows */

struct world_record world_schedules_again(const struct world_record *from, int64_t due_ms)
{
    return (struct world_record){
        .due_ms = due_ms,
        .bytes = from->bytes,
        .id = from->id,
        .lane = from->lane,
        .schedule = from->schedule,
        .target = from->target,
        .state = RECORD_OPEN,
        .root = from->origin->offset,
        .origin = from->origin,
        .event = from->event,
        .timestamp_ms = from->timestamp_ms, /* a former time does no harm: it is looked at only to forget */
    };
}

static bool is_misfire(const struct world *world, const struct world_record *record, int64_t wall_ms)
{
    return record->schedule.every_ms > 0 && wall_ms - record->schedule.nominal_ms > world->traits.misfire_ms;
}

/* False: it was the last. */
static bool next_of(const struct world *world, const struct world_record *record, int64_t wall_ms, bool fired, struct world_record *next)
{
    const struct world_schedule *schedule = &record->schedule;
    int64_t nominal = schedule->nominal_ms;
    int64_t after = world->traits.misfire == MISFIRE_ALL || wall_ms < nominal ? nominal : wall_ms;
    uint32_t runs = schedule->runs + fired;
    if (schedule->every_ms == 0 || runs >= schedule->count) {
        return false;
    }
    int64_t due_ms = nominal + ((after - nominal) / schedule->every_ms + 1) * schedule->every_ms;
    *next = world_schedules_again(record, due_ms);
    next->event = NULL;
    next->schedule.nominal_ms = due_ms;
    next->schedule.runs = runs;
    return schedule->until_ms < 0 || due_ms <= schedule->until_ms;
}

/* Into the transaction that is open; NULL: nothing. One that can never be written is reported. */
static void write_again(struct world *world, struct world_instance *instance, const struct world_copy *copy, const struct world_record *record)
{
    if (record == NULL || !copy->from->schedule.unwritable) {
        world_transaction_write(world, instance, copy, record);
        return;
    }
    world_shell_input(instance, INPUT_REAPPENDED, copy->slot, copy->epoch)->as.reappended = (struct input_reappended){{record->id, record->id}, copy->from->offset, copy->from->origin->offset};
    world_transaction_refuse(world, instance);
    struct event event = world_event(world, EVENT_REPORT, instance->number);
    event.at += world_latency(world);
    event.slot = copy->slot;
    event.epoch = copy->epoch;
    event.lane = copy->lane;
    event.sequence = copy->sequence;
    event.of_copy = true;
    world_events_add(world, &event);
}

static struct world_copy copy_of(const struct command *command, struct world_record *from, lane_index lane, uint64_t sequence, enum copy_why why)
{
    return (struct world_copy){.from = from, .slot = (int)command->slot, .epoch = command->epoch, .why = why, .lane = lane, .sequence = sequence};
}

static void answer(struct world *world, struct world_instance *instance, struct event *event, int code)
{
    event->code = code;
    world_shell_report(world, instance, event);
}

/* With exactly_once what follows a delivery is in its transaction. */
static void follow(struct world *world, struct world_instance *instance, const struct command *command, struct world_record *from, const struct world_record *next, struct event *event)
{
    const struct command_deliver *order = &command->as.deliver;
    if (event->again && world->options.exactly_once) {
        struct world_copy copy = copy_of(command, from, order->lane, order->sequence, event->why);
        write_again(world, instance, &copy, next);
    }
}

/* Without a delivery: it was decided about, or let fall. */
static void silently(struct world *world, struct world_instance *instance, const struct command *command, struct world_record *record, const struct world_record *next, struct event *event)
{
    bool falls = record->schedule.undecided ? !event->again : true;
    event->why = COPY_DECIDED;
    if (world->options.exactly_once) {
        world_transaction_silent(instance, falls);
    } else {
        record->event->let_fall = record->event->let_fall || (falls && !instance->slots[command->slot].fenced);
    }
    follow(world, instance, command, record, next, event);
    answer(world, instance, event, -1);
}

static void cut(struct world *world, struct world_instance *instance, const struct command *command, const struct world_record *record, struct event *event)
{
    world_oracle_note(world, &instance->slots[command->slot], record)->cut = true;
    answer(world, instance, event, DELIVERY_FAULT);
}

/* True: it is done with; else it is sent, with what the event says follows. */
bool world_schedules_deliver(struct world *world, struct world_instance *instance, const struct command *command, struct world_record *record, struct event *event)
{
    const struct world_slot *slot = &instance->slots[command->slot];
    const struct command_deliver *order = &command->as.deliver;
    int64_t wall_ms = world_clock_now(world, instance).wall.ms;
    struct world_record next;
    bool fires = order->as_refused || !(is_misfire(world, record, wall_ms) && world->traits.misfire == MISFIRE_SKIP);
    event->why = COPY_NEXT;
    if (order->lane == world->traits.deciding && !order->as_refused) {
        enum world_decided decided = slot->reading_stopped ? WORLD_DECIDED_NEVER : world_decide(world, instance, (int)command->slot, record, &next);
        event->again = decided == WORLD_DECIDED_WRITE;
        if (decided == WORLD_DECIDED_NEVER) {
            cut(world, instance, command, record, event);
        } else {
            silently(world, instance, command, record, &next, event);
        }
        return true;
    }
    bool ends = order->as_refused && (order->not_reappended || slot->notes[record->index].cut || slot->reading_stopped);
    event->again = !ends && !record->schedule.undecided && next_of(world, record, wall_ms, fires, &next);
    record->event->over = record->event->over || !event->again;
    if (event->again && slot->reading_stopped) {
        cut(world, instance, command, record, event);
        return true;
    }
    if (!fires) {
        silently(world, instance, command, record, &next, event);
        return true;
    }
    follow(world, instance, command, record, &next, event);
    return false;
}

void world_schedules_copy(struct world *world, struct world_instance *instance, const struct command *command, struct world_record *from)
{
    const struct command_copy *order = &command->as.copy;
    struct world_slot *slot = &instance->slots[command->slot];
    int64_t wall_ms = world_clock_now(world, instance).wall.ms;
    struct world_record next;
    PROMISE(world, world_oracle_note(world, slot, from)->goes_on && !world->options.exactly_once, "what follows offset %lld is written, and it was not delivered", (long long)from->offset);
    PROMISE(world, (order->sequence & ~WORLD_BEHIND) < world_lane_of(slot, order->lane, order->sequence)->count && world_sequence(slot, order->lane, order->sequence)->record == from, "what follows offset %lld is written for another record",
            (long long)from->offset);
    bool follows = from->schedule.undecided ? world_decide(world, instance, (int)command->slot, from, &next) == WORLD_DECIDED_WRITE
                                            : next_of(world, from, wall_ms, order->why == COPY_NEXT, &next);
    from->event->over = from->event->over || (!follows && !from->schedule.undecided);
    world_oracle_note(world, slot, from)->copying = true;
    struct world_copy copy = copy_of(command, from, order->lane, order->sequence, order->why);
    write_again(world, instance, &copy, follows ? &next : NULL);
}

/* What is written again can never be: its own fault. */
void world_schedules_report(struct world *world, struct world_instance *instance, const struct event *event)
{
    struct world_slot *slot = &instance->slots[event->slot];
    world_transaction_reported(world, instance, true);
    if (slot->held && slot->epoch == event->epoch) {
        struct world_lane *lane = world_lane_of(slot, event->lane, event->sequence);
        struct sequence_note *note = world_sequence(slot, event->lane, event->sequence);
        slot->notes[note->record->index].cut = true;
        slot->notes[note->record->index].copying = false;
        slot->notes[note->record->index].failed = world->options.exactly_once;
        lane->in_flight -= note->open;
        note->open = false;
    }
    world_shell_input(instance, INPUT_DELIVERY_FAILED, event->slot, event->epoch)->as.delivery =
        (struct input_delivery){.lane = event->lane, .sequence = event->sequence, .failure = DELIVERY_FAULT};
    world_say(world, "  report: what follows lane %u sequence %llu can never be written", event->lane, (unsigned long long)event->sequence);
}

/* ------------------------------------------------------------------------------------------------- what must hold */

/* Each occurrence is followed by the next one, up to the last. Of a record that nothing has cancelled or replaced. */
void world_schedules_end(struct world *world, const struct world_record *record)
{
    const struct world_schedule *schedule = &record->schedule;
    bool undecided = schedule->undecided;
    PROMISE(world, undecided || schedule->every_ms == 0 || record->moved || record->event->over, "nothing follows offset %lld", (long long)record->offset);
    PROMISE(world, !undecided || record->moved || record->event->let_fall || record->event->over, "offset %lld was never decided", (long long)record->offset);
}
