#include "cli/demo_events.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/random.h"
#include "base/text.h"
#include "ops/clock.h"

#define SEED 20261129 /* the same delays every time: what one sees twice can be compared */
#define STEP_MS 50
#define LEAST_STEPS 1
#define MOST_STEPS 100
#define FLUSH_MS 5000 /* twice */
#define HEADERS_MOST 3

static int64_t choose_delay_ms(size_t index, struct random *random)
{
    int64_t steps = random_between(random, LEAST_STEPS, MOST_STEPS);
    return STEP_MS * (index == 0 ? LEAST_STEPS : index == 1 ? MOST_STEPS : steps);
}

static void choose_topics(struct demo_event *event)
{
    switch (event->form) {
    case DEMO_EVENTS_EXAMPLE:
        event->source = DEMO_BROKER_DELAYED;
        event->target = DEMO_BROKER_PAYMENTS;
        break;
    case DEMO_EVENTS_ENVELOPE:
        event->source = DEMO_BROKER_DELAYED;
        event->target = DEMO_BROKER_EVENTS;
        break;
    case DEMO_EVENTS_AT:
        event->source = DEMO_BROKER_REMINDERS;
        event->target = DEMO_BROKER_ORDERS;
        break;
    case DEMO_EVENTS_WRONG_DELAY:
        event->source = DEMO_BROKER_REMINDERS;
        event->target = DEMO_BROKER_NONE;
        break;
    case DEMO_EVENTS_WRONG_JSON:
        event->source = DEMO_BROKER_DELAYED;
        event->target = DEMO_BROKER_NONE;
        break;
    case DEMO_EVENTS_DELAY:
    case DEMO_EVENTS_DELAY_MS:
        event->source = DEMO_BROKER_REMINDERS;
        event->target = DEMO_BROKER_EVENTS;
        break;
    }
}

bool demo_events_is_wrong(const struct demo_event *event)
{
    return event->form >= DEMO_EVENTS_FORMS;
}

struct demo_events demo_events_new(size_t good, size_t wrong)
{
    size_t count = good + wrong;
    struct demo_events events = {memory_new(count, sizeof(struct demo_event)), count, wrong, 0};
    struct random random = random_new(SEED);
    for (size_t i = 0; i < wrong; i++) {
        struct demo_event *event = &events.items[i];
        event->form = (enum demo_events_form)(DEMO_EVENTS_FORMS + i);
        snprintf(event->key, sizeof event->key, "wrong-%03zu", i + 1);
        choose_topics(event);
    }
    for (size_t i = 0; i < good; i++) {
        struct demo_event *event = &events.items[wrong + i];
        event->form = (enum demo_events_form)(i % DEMO_EVENTS_FORMS);
        event->delay_ms = choose_delay_ms(i, &random);
        snprintf(event->key, sizeof event->key, "order-%03zu", i + 1);
        choose_topics(event);
    }
    return events;
}

void demo_events_free(struct demo_events *events)
{
    free(events->items);
    *events = (struct demo_events){0};
}

/* ------------------------------------------------------------------------------------------------- producing */

static void write_header(struct demo_event *event)
{
    switch (event->form) {
    case DEMO_EVENTS_DELAY:
        snprintf(event->header, sizeof event->header, "tarry-delay");
        if (event->delay_ms % 1000 == 0) {
            snprintf(event->header_value, sizeof event->header_value, "%" PRId64 "s", event->delay_ms / 1000);
        } else {
            snprintf(event->header_value, sizeof event->header_value, "%" PRId64 "ms", event->delay_ms);
        }
        break;
    case DEMO_EVENTS_AT:
        snprintf(event->header, sizeof event->header, "tarry-at");
        snprintf(event->header_value, sizeof event->header_value, "%" PRId64, event->due_ms);
        break;
    case DEMO_EVENTS_EXAMPLE:
    case DEMO_EVENTS_DELAY_MS:
    case DEMO_EVENTS_WRONG_JSON:
        snprintf(event->header, sizeof event->header, "delay_ms");
        snprintf(event->header_value, sizeof event->header_value, "%" PRId64, event->delay_ms);
        break;
    case DEMO_EVENTS_WRONG_DELAY:
        snprintf(event->header, sizeof event->header, "tarry-delay");
        snprintf(event->header_value, sizeof event->header_value, "-1e9");
        break;
    case DEMO_EVENTS_ENVELOPE:
        break;
    }
}

static void write_value(struct demo_event *event)
{
    char due[CLOCK_TEXT_SIZE];
    char payload[128];
    clock_text((struct wall_ms){event->due_ms}, due, sizeof due);
    int length = snprintf(payload, sizeof payload, "{\"order_id\":\"%s\",\"timeout_at\":\"%s\"}", event->key, due);
    int before = 0;
    if (event->form == DEMO_EVENTS_EXAMPLE) {
        before = snprintf(event->value, sizeof event->value, "{\"type\":\"PAYMENT_TIMEOUT\",\"payload\":");
        snprintf(event->value + before, sizeof event->value - (size_t)before, "%s,\"retry_count\":0}", payload);
    } else if (event->form == DEMO_EVENTS_ENVELOPE) {
        before = snprintf(event->value, sizeof event->value, "{\"delay_ms\":%" PRId64 ",\"payload\":", event->delay_ms);
        snprintf(event->value + before, sizeof event->value - (size_t)before, "%s}", payload);
    } else {
        length = snprintf(event->value, sizeof event->value, "%s%s",
                          event->form == DEMO_EVENTS_WRONG_JSON ? "{\"type\":\"PAYMENT_TIMEOUT\",\"payload\":" : "",
                          payload);
    }
    event->payload_at = (size_t)before;
    event->payload_length = (size_t)length;
}

static bool
send_one(struct demo_event *event, const struct demo_broker *broker, struct playground *playground, struct error *error)
{
    event->sent_ms = clock_wall().ms;
    event->due_ms = event->sent_ms + event->delay_ms;
    write_header(event);
    write_value(event);
    struct record_header headers[HEADERS_MOST] = {{span_of_text("trace"), span_of_text(event->key)}};
    size_t count = 1;
    if (event->header[0] != '\0') {
        headers[count++] = (struct record_header){span_of_text(event->header), span_of_text(event->header_value)};
    }
    if (event->form == DEMO_EVENTS_AT) {
        headers[count++] =
            (struct record_header){span_of_text("tarry-topic"), span_of_text(broker->names[event->target])};
    }
    const struct record record = {.key = span_of_text(event->key),
                                  .value = span_of_text(event->value),
                                  .headers = headers,
                                  .header_count = count,
                                  .timestamp_ms = event->sent_ms,
                                  .timestamp = RECORD_TIMESTAMP_CREATE};
    return playground_send(playground, broker->names[event->source], &record, error);
}

static int compare_due(const void *a, const void *b)
{
    const struct demo_event *left = a;
    const struct demo_event *right = b;
    return (left->due_ms > right->due_ms) - (left->due_ms < right->due_ms);
}

static int compare_delay_down(const void *a, const void *b)
{
    const struct demo_event *left = a;
    const struct demo_event *right = b;
    return (left->delay_ms < right->delay_ms) - (left->delay_ms > right->delay_ms);
}

static bool send_some(struct demo_event *first,
                      size_t count,
                      const struct demo_broker *broker,
                      struct playground *playground,
                      struct error *error)
{
    for (size_t i = 0; i < count; i++) {
        if (!send_one(&first[i], broker, playground, error)) {
            return false;
        }
    }
    return playground_flush(playground, FLUSH_MS, error);
}

bool demo_events_send(struct demo_events *events,
                      const struct demo_broker *broker,
                      struct playground *playground,
                      struct error *error)
{
    struct demo_event *good = events->items + events->wrong;
    size_t good_count = events->count - events->wrong;
    size_t first = events->wrong + good_count / 2;
    qsort(good, good_count, sizeof *good, compare_delay_down);
    bool done = send_some(events->items, first, broker, playground, error) &&
                send_some(events->items + first, events->count - first, broker, playground, error);
    qsort(good, good_count, sizeof *good, compare_due);
    return done;
}

/* -------------------------------------------------------------------------------------------------- arriving */

static struct span header_of(const struct record *record, const char *name)
{
    for (size_t i = record->header_count; i > 0; i--) {
        if (span_equals_text(record->headers[i - 1].name, name)) {
            return record->headers[i - 1].value;
        }
    }
    return SPAN_ABSENT;
}

static struct demo_event *find(struct demo_events *events, struct span key)
{
    for (size_t i = 0; i < events->count; i++) {
        if (span_equals_text(key, events->items[i].key)) {
            return &events->items[i];
        }
    }
    return NULL;
}

static bool
is_altered(const struct demo_event *event, const struct demo_broker *broker, const struct playground_arrival *arrival)
{
    struct span expected = {(const uint8_t *)event->value + event->payload_at, event->payload_length};
    return event->target == DEMO_BROKER_NONE || strcmp(arrival->topic, broker->names[event->target]) != 0 ||
           !span_equal(arrival->record.value, expected) || !span_equals_text(header_of(&arrival->record, "trace"), event->key);
}

struct demo_event *demo_events_take(struct demo_events *events,
                                    const struct demo_broker *broker,
                                    const struct playground_arrival *arrival,
                                    int64_t now_ms)
{
    const struct record *record = &arrival->record;
    struct demo_event *event = find(events, record->key);
    if (event == NULL) {
        return NULL;
    }
    event->arrivals++;
    event->altered = event->altered || is_altered(event, broker, arrival);
    if (event->state != DEMO_EVENTS_WAITING) {
        return event;
    }
    event->arrived_ms = now_ms;
    events->finished++;
    event->state = DEMO_EVENTS_LEFT;
    bool stamped_early = record->timestamp != RECORD_TIMESTAMP_NONE && record->timestamp_ms < event->due_ms;
    event->early = now_ms < event->due_ms || stamped_early;
    return event;
}

static void keep_reason(struct demo_event *event, const struct letter *letter)
{
    char message[sizeof event->reason - 64];
    text_printable(letter->error, message, sizeof message);
    snprintf(event->reason, sizeof event->reason, "%s: %s", letter_reason_name(letter->reason), message);
}

struct demo_event *demo_events_take_letter(struct demo_events *events, const struct letter *letter, int64_t now_ms)
{
    struct demo_event *event = find(events, letter->record.key);
    if (event == NULL) {
        return NULL;
    }
    event->arrivals++;
    /* whole, as it came */
    event->altered = event->altered || letter->target.data != NULL || !span_equals_text(letter->record.value, event->value);
    if (event->state != DEMO_EVENTS_WAITING) {
        return event;
    }
    event->arrived_ms = now_ms;
    events->finished++;
    event->state = DEMO_EVENTS_REFUSED;
    keep_reason(event, letter);
    return event;
}

void demo_events_say_form(const struct demo_event *event, char *text, size_t size)
{
    if (event->form == DEMO_EVENTS_ENVELOPE) {
        snprintf(text, size, "{\"delay_ms\": %" PRId64 "}", event->delay_ms);
    } else if (event->form == DEMO_EVENTS_WRONG_JSON) {
        snprintf(text, size, "a broken envelope");
    } else if (event->form == DEMO_EVENTS_EXAMPLE) {
        snprintf(text, size, "delay_ms: %s by type", event->header_value);
    } else {
        snprintf(text, size, "%s: %s", event->header, event->header_value);
    }
}
