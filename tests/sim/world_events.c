/* What is to happen, by time and then in the order in which it was arranged: a binary heap. */
#include "base/memory.h"
#include "tests/sim/world_state.h"

static bool before(const struct event *a, const struct event *b)
{
    return a->at != b->at ? a->at < b->at : a->number < b->number;
}

static void swap(struct world *world, size_t a, size_t b)
{
    struct event kept = world->events[a];
    world->events[a] = world->events[b];
    world->events[b] = kept;
}

void world_events_add(struct world *world, const struct event *event)
{
    GROW_FOR_ONE(world->events, world->event_count, world->event_capacity);
    size_t at = world->event_count++;
    world->events[at] = *event;
    world->events[at].number = world->event_number++;
    bool of_group = event->kind == EVENT_TRANSACTION_MARK && event->code != 0;
    world->events[at].at += of_group ? 0 : world->slow_ms[event->kind];
    while (at > 0 && before(&world->events[at], &world->events[(at - 1) / 2])) {
        swap(world, at, (at - 1) / 2);
        at = (at - 1) / 2;
    }
}

static void sink_first(struct world *world)
{
    size_t at = 0;
    while (2 * at + 1 < world->event_count) {
        size_t child = 2 * at + 1;
        if (child + 1 < world->event_count && before(&world->events[child + 1], &world->events[child])) {
            child++;
        }
        if (!before(&world->events[child], &world->events[at])) {
            return;
        }
        swap(world, child, at);
        at = child;
    }
}

bool world_events_take(struct world *world, int64_t until, struct event *event)
{
    if (world->event_count == 0 || world->events[0].at > until) {
        return false;
    }
    *event = world->events[0];
    world->events[0] = world->events[--world->event_count];
    sink_first(world);
    return true;
}

int64_t world_events_next(const struct world *world)
{
    return world->event_count == 0 ? TIME_NEVER : world->events[0].at;
}

bool world_chance(struct world *world, uint32_t percent)
{
    return random_below(&world->random, 100) < percent;
}

/* Mostly short, at times long; in a scenario always the same. */
int64_t world_latency(struct world *world)
{
    if (world->script != NULL) {
        return world->traits.latency_ms;
    }
    int64_t most = world_chance(world, 80) ? world->traits.latency_ms / 10 + 1 : world->traits.latency_ms;
    return random_between(&world->random, 0, most);
}

struct event world_event(const struct world *world, enum event_kind kind, int instance)
{
    struct event event = {.at = world->now, .kind = kind, .instance = instance};
    if (instance >= 0) {
        event.run = world->instances[instance].run;
    }
    return event;
}
