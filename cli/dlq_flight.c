#include "cli/dlq_flight.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/memory.h"
#include "ops/clock.h"

#define REPORTS 512

enum standing { FLYING, DELIVERED, AT_FAULT, LOST };

struct slot {
    struct dlq_settle_item item;
    uint64_t topic; /* dlq_watch_topic */
    size_t bytes;
    enum standing standing;
    bool whole;
};

struct dlq_flight {
    struct letter_sink_options options;
    struct letter_sink *sink;
    struct dlq_settle *settle;
    struct dlq_watch *watch;
    struct slot slots[DLQ_FLIGHT_LETTERS]; /* a ring, in the order of sending */
    size_t first;
    size_t count;
    size_t flying; /* of them, unanswered */
    size_t flying_bytes;
    size_t settling; /* letters handed over and still in their stream, as last asked */
    bool spoilt[2];  /* by enum letter_state: one was not delivered, so what stands below another is not all done with */
    struct dlq_flight_counts counts;
    struct dlq_flight_trouble trouble;
};

static void clear_trouble(struct dlq_flight *flight)
{
    flight->trouble = (struct dlq_flight_trouble){.from = {UINT64_MAX, UINT64_MAX}};
}

bool dlq_flight_open(const struct letter_sink_options *sink, struct dlq_settle *settle, struct dlq_watch *watch, struct dlq_flight **flight, struct error *error)
{
    struct letter_sink *opened = NULL;
    if (!letter_sink_open(sink, &opened, error)) {
        return false;
    }
    struct dlq_flight *made = memory_new(1, sizeof *made);
    made->options = *sink;
    made->sink = opened;
    made->settle = settle;
    made->watch = watch;
    clear_trouble(made);
    *flight = made;
    return true;
}

void dlq_flight_free(struct dlq_flight *flight)
{
    if (flight != NULL) {
        letter_sink_close(flight->sink);
        free(flight);
    }
}

size_t dlq_flight_flying(const struct dlq_flight *flight)
{
    return flight->flying;
}

size_t dlq_flight_settling(const struct dlq_flight *flight)
{
    return flight->settling + flight->count - flight->flying;
}

struct dlq_flight_counts dlq_flight_counts(const struct dlq_flight *flight)
{
    return flight->counts;
}

const struct dlq_flight_trouble *dlq_flight_trouble(const struct dlq_flight *flight)
{
    return &flight->trouble;
}

bool dlq_flight_has_room(const struct dlq_flight *flight, size_t bytes)
{
    bool letters = flight->count + flight->settling < DLQ_FLIGHT_LETTERS;
    return letters && (flight->flying == 0 || (bytes <= DLQ_FLIGHT_BYTES && flight->flying_bytes <= DLQ_FLIGHT_BYTES - bytes));
}

static struct slot *take_slot(struct dlq_flight *flight, const struct dlq_settle_item *item, bool whole, const struct letter_sink_record *record)
{
    struct slot *slot = &flight->slots[(flight->first + flight->count) % DLQ_FLIGHT_LETTERS];
    *slot = (struct slot){.item = *item, .bytes = record->key.length + record->value.length, .standing = FLYING, .whole = whole};
    slot->item.way = DLQ_SETTLE_REMOVE;
    slot->topic = flight->watch == NULL ? 0 : dlq_watch_topic(record->topic, strlen(record->topic));
    if (flight->flying == 0) {
        flight->counts.answered_ms = clock_mono().ms;
    }
    flight->count += 1;
    flight->flying += 1;
    flight->flying_bytes += slot->bytes;
    return slot;
}

/* The last one was not taken after all. */
static void give_slot_back(struct dlq_flight *flight, const struct slot *slot)
{
    flight->count -= 1;
    flight->flying -= 1;
    flight->flying_bytes -= slot->bytes;
}

static void land(struct dlq_flight *flight, struct slot *slot, enum standing standing)
{
    slot->standing = standing;
    flight->flying -= 1;
    flight->flying_bytes -= slot->bytes;
}

static void note_trouble(struct dlq_flight *flight, const struct dlq_settle_item *item, const char *text)
{
    struct dlq_flight_trouble *trouble = &flight->trouble;
    if (!trouble->there) {
        snprintf(trouble->text, sizeof trouble->text, "%s", text);
    }
    trouble->there = true;
    if (item->sequence < trouble->from[item->state]) {
        trouble->from[item->state] = item->sequence;
    }
}

static void put(struct dlq_flight *flight, const struct dlq_settle_item *item)
{
    /* There is room: no more than DLQ_FLIGHT_LETTERS are ever on their way. */
    (void)dlq_settle_put(flight->settle, item);
    flight->settling += item->letters == 0 ? 1 : item->letters;
}

/* Puts what was gathered. */
static void put_run(struct dlq_flight *flight, struct dlq_settle_item *run)
{
    if (run->letters > 0) {
        put(flight, run);
    }
    run->letters = 0;
}

/* Hands over the first ones that are answered for: those that leave their stream together as one item. */
static void hand_over(struct dlq_flight *flight)
{
    struct dlq_settle_item run = {.way = DLQ_SETTLE_REMOVE_BEFORE};
    bool single = flight->count > 0 && dlq_settle_prefers_single(flight->settle);
    while (flight->count > 0 && flight->slots[flight->first].standing != FLYING) {
        const struct slot *slot = &flight->slots[flight->first];
        enum letter_state state = slot->item.state;
        bool delivered = slot->standing == DELIVERED;
        flight->spoilt[state] = flight->spoilt[state] || !delivered;
        flight->first = (flight->first + 1) % DLQ_FLIGHT_LETTERS;
        flight->count -= 1;
        if (delivered && slot->whole && !single && !flight->spoilt[state] && !slot->item.apart) {
            if (run.state != state) {
                put_run(flight, &run);
            }
            run.state = state;
            run.sequence = slot->item.sequence + 1;
            run.letters += 1;
        } else {
            put_run(flight, &run);
            if (slot->standing != LOST) {
                put(flight, &slot->item);
            }
        }
    }
    put_run(flight, &run);
}

static void take_report(struct dlq_flight *flight, struct slot *slot, const struct letter_sink_report *report)
{
    if (report->delivered) {
        flight->counts.delivered += 1;
        if (flight->watch != NULL) {
            dlq_watch_note(flight->watch, slot->topic, report->partition, report->offset);
        }
        land(flight, slot, DELIVERED);
    } else if (report->failure == DELIVERY_FAULT || report->failure == DELIVERY_UNKNOWN_TOPIC) {
        flight->counts.failed += 1;
        slot->item.way = DLQ_SETTLE_REPLACE;
        snprintf(slot->item.error, sizeof slot->item.error, "%s", report->error);
        land(flight, slot, AT_FAULT);
    } else {
        note_trouble(flight, &slot->item, report->error);
        land(flight, slot, LOST);
    }
}

bool dlq_flight_send(struct dlq_flight *flight, const struct dlq_settle_item *item, bool whole, const struct letter_sink_record *record)
{
    if (flight->trouble.there || flight->count == DLQ_FLIGHT_LETTERS) {
        return false;
    }
    struct letter_sink_report report;
    struct slot *slot = take_slot(flight, item, whole, record);
    enum letter_sink_result result = letter_sink_send(flight->sink, record, slot, &report);
    if (result == LETTER_SINK_FULL) {
        give_slot_back(flight, slot);
        return false;
    }
    if (result == LETTER_SINK_FAILED) {
        take_report(flight, slot, &report);
        hand_over(flight);
        return !flight->trouble.there;
    }
    return true;
}

/* Nothing will be said of what is in flight any more: all of it is to be read again. */
static void lose_all(struct dlq_flight *flight, const char *text)
{
    for (size_t i = 0; i < flight->count; i++) {
        struct slot *slot = &flight->slots[(flight->first + i) % DLQ_FLIGHT_LETTERS];
        if (slot->standing == FLYING) {
            note_trouble(flight, &slot->item, text);
            land(flight, slot, LOST);
        }
    }
    flight->trouble.there = true;
}

static void check_fatal(struct dlq_flight *flight)
{
    char text[256];
    bool fenced = false;
    if (flight->sink != NULL && letter_sink_fatal(flight->sink, &fenced, text, sizeof text)) {
        letter_sink_close(flight->sink);
        flight->sink = NULL;
        lose_all(flight, text);
        snprintf(flight->trouble.text, sizeof flight->trouble.text, "%s", text);
    }
}

void dlq_flight_poll(struct dlq_flight *flight, int64_t timeout_ms)
{
    struct letter_sink_report reports[REPORTS];
    /* Room for the next letters comes from Kafka's answers, or else from what is settled. */
    bool kafka = flight->flying > 0 && flight->sink != NULL;
    size_t left = flight->settling > DLQ_FLIGHT_LETTERS / 2 ? DLQ_FLIGHT_LETTERS / 2 : 0;
    int64_t settle_ms = kafka && flight->flying >= flight->settling ? 0 : timeout_ms;
    size_t count = kafka ? letter_sink_poll(flight->sink, settle_ms == 0 ? timeout_ms : 0, reports, REPORTS) : 0;
    for (size_t i = 0; i < count; i++) {
        take_report(flight, reports[i].token, &reports[i]);
    }
    if (count > 0) {
        flight->counts.answered_ms = clock_mono().ms;
    }
    check_fatal(flight);
    hand_over(flight);
    flight->settling = dlq_settle_wait(flight->settle, left, count > 0 ? 0 : settle_ms);
}

bool dlq_flight_again(struct dlq_flight *flight, struct error *error)
{
    clear_trouble(flight);
    return flight->sink != NULL || letter_sink_open(&flight->options, &flight->sink, error);
}
