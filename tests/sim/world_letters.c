/* JetStream, and what must hold of letters: a failure that is published twice within the window is one letter. */
#include "tests/sim/world_state.h"

#define WINDOW_MS (2 * MINUTE_MS)

static void keep(struct world *world, struct world_record *origin)
{
    bool again = origin->letters > 0 && world->now - origin->lettered_at < WINDOW_MS;
    origin->lettered_at = again ? origin->lettered_at : world->now;
    origin->letters += !again;
    world->result.letters += !again;
    world_say(world, "  letter of offset %lld%s", (long long)origin->offset, again ? ": it is there" : "");
}

/* True when it is kept and that is said. */
bool world_letters_publish(struct world *world, struct world_record *record)
{
    bool away = world->letters_down_until > world->now ||
                (!world->calm && world_chance(world, world->traits.letter_fail_percent));
    bool unsaid = !away && !world->calm &&
                  (world->letters_unsaid_next > 0 || world_chance(world, world->traits.letter_unsaid_percent));
    if (away) {
        return false;
    }
    keep(world, record->event);
    record->event->unsaid += unsaid;
    world->letters_unsaid_next -= unsaid && world->letters_unsaid_next > 0;
    return !unsaid;
}

/* The last word on the record in this life. */
void world_letters_report(struct world *world, struct world_slot *slot, const struct world_record *record, int code)
{
    struct life_note *note = world_oracle_note(world, slot, record);
    note->unkept = code == DELIVERY_NO_LETTER;
    note->back = false;
}

void world_letters_back(struct world_slot *slot)
{
    for (size_t i = 0; i < slot->note_count; i++) {
        slot->notes[i].back = slot->notes[i].unkept;
    }
}

/* One whose letter was not kept is due later than now, and all others when they were. */
void world_letters_copied(struct world *world, struct world_instance *instance, const struct world_slot *slot, const struct command_copy *order)
{
    const struct world_record *record = world_log_find(world, slot->partition, order->key.offset);
    int64_t wall = world_clock_now(world, instance).wall.ms;
    int64_t later = (record->due_ms > wall ? record->due_ms : wall) + world->options.letter_later_ms;
    const struct life_note *note = &slot->notes[record->index];
    int64_t due = note->unkept ? later : record->due_ms;
    PROMISE(world, order->due_ms == due || (note->back && order->due_ms == record->due_ms), "the copy of offset %lld is due %lld ms from where it should be", (long long)record->offset,
            (long long)(order->due_ms - due));
}

/* Each end is one output or one letter, and more letters there are only where one was kept for nothing. */
void world_letters_end(struct world *world, const struct world_record *record)
{
    uint32_t there = record->outputs + record->letters;
    PROMISE(world, record->taken == 0 || there > 0, "offset %lld ended, and there is nothing of it", (long long)record->offset);
    PROMISE(world, there <= record->taken + record->unsaid, "offset %lld left %u outputs and %u letters, for %u ends and %u letters not said to be kept",
            (long long)record->offset, record->outputs, record->letters, record->taken, record->unsaid);
}
