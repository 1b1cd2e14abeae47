/* What is due: fetched and judged; then sent. Kafka's transaction is begun between the two: fetching may take longer than it may last. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/memory.h"
#include "dlq/failure_headers.h"
#include "ops/clock.h"
#include "ops/log_record.h"
#include "ops/nack_reader.h"
#include "ops/redelivery_state.h"

#define MESSAGE_MOST (128u << 20) /* a server's max_payload is 64 MiB at most */
#define LARGE_MOST (1u << 30)
#define FULL_MS 100               /* our own queue to Kafka is full: look again then */
#define TAKE_MS 1000              /* with a slow JetStream: what was fetched by then is sent, and answers are heard, before more is fetched */

static struct redelivery_flight *free_flight(struct redelivery *redelivery, size_t most)
{
    size_t used = 0;
    struct redelivery_flight *found = NULL;
    for (size_t i = 0; i < REDELIVERY_FLIGHTS; i++) {
        bool free_one = redelivery->flights[i].step == REDELIVERY_STEP_FREE;
        used += !free_one && !redelivery_stands(&redelivery->flights[i]);
        found = free_one && found == NULL ? &redelivery->flights[i] : found;
    }
    return used < most ? found : NULL;
}

static size_t bytes_under_way(const struct redelivery *redelivery)
{
    size_t bytes = 0;
    for (size_t i = 0; i < REDELIVERY_FLIGHTS; i++) {
        bytes += redelivery_stands(&redelivery->flights[i]) ? 0 : redelivery_settle_bytes(&redelivery->flights[i]);
    }
    return bytes;
}

static void again(struct redelivery_flight *flight, int64_t at_ms)
{
    flight->step = REDELIVERY_STEP_AGAIN;
    flight->again_ms = at_ms;
}

/* To be parked, as it is. */
static void park(struct redelivery_flight *flight)
{
    flight->post_as = LETTER_PARKED;
    flight->step = REDELIVERY_STEP_POST;
}

/* To be parked, for another reason than that of its first failure. */
static void park_because(struct redelivery_flight *flight, enum letter_reason reason, const char *why)
{
    flight->letter.reason = reason;
    flight->letter.last_failure_ms = clock_wall().ms;
    letter_set_error(&flight->letter, span_of_text(why), flight->error);
    park(flight);
}

/* ------------------------------------------------------------------------------------------------- nacks */

/* False: not now. A message that is not there any more leaves the flight free. */
static bool fetch_nack(struct redelivery *redelivery, struct redelivery_flight *flight, struct error *error)
{
    return reader_take(redelivery->link, redelivery->streams.stream, flight->entry.sequence, REDELIVERY_NATS_TIMEOUT_MS, &flight->message, error);
}

/* Waits as its consumer said, or by the target's policy; when that has no redelivery left, it is parked. */
static void place_nack(struct redelivery *redelivery, struct redelivery_flight *flight, const struct nack_stream *nack)
{
    struct retry_policy policy;
    struct letter *letter = &flight->letter;
    int64_t now_ms = clock_wall().ms;
    if (letter->target.data == NULL) {
        flight->post_as = LETTER_PARKED; /* bad: its error says why */
        letter->not_before_ms = now_ms;
        return;
    }
    bool allowed = redelivery_policy(redelivery, letter->target, &policy);
    int64_t wait_ms = retry_wait_ms(&policy, letter->attempt, flight->entry.sequence);
    bool own = nack->has_not_before && nack->delay.data == NULL;
    letter->not_before_ms = own ? letter->not_before_ms : nack_reader_not_before(nack->delay, SPAN_ABSENT, now_ms, now_ms + wait_ms);
    if (!allowed) {
        park_because(flight, LETTER_REASON_TARGET_NOT_ALLOWED, "the topic that the nack names is not among targets");
    } else if (retry_spent(&policy, letter->attempt)) {
        flight->post_as = LETTER_PARKED;
        letter->attempt -= letter->attempt > 1; /* as in nack_reader_item.c */
    }
}

static void take_nack(struct redelivery *redelivery, struct redelivery_flight *flight)
{
    struct nack_stream nack;
    flight->room = nack_stream_room_new(MESSAGE_MOST);
    (void)nack_stream_read(reader_one_message(flight->message), redelivery->streams.prefix, &flight->room, &nack); /* a bad one is a letter, too */
    flight->letter = nack.letter;
    if (flight->letter.attempt == 1) { /* perhaps its consumer did not hand tarry-redelivery back */
        flight->letter.attempt += redelivery_lately_attempt(redelivery->lately, &flight->letter);
    }
    flight->post_as = LETTER_WAITING;
    flight->step = REDELIVERY_STEP_POST;
    place_nack(redelivery, flight, &nack);
}

/* ------------------------------------------------------------------------------------------------- letters */

/* True: it may be sent. Else it is to be parked. */
static bool may_be_sent(struct redelivery *redelivery, struct redelivery_flight *flight)
{
    struct retry_policy policy;
    const struct letter *letter = &flight->letter;
    if (letter->target.data == NULL || letter->target.length >= sizeof flight->topic ||
        !redelivery_policy(redelivery, letter->target, &policy)) {
        park_because(flight, LETTER_REASON_TARGET_NOT_ALLOWED, "the target is not among targets any more: add it there, or replay to another topic");
        return false;
    }
    if (retry_spent(&policy, letter->attempt)) {
        park(flight); /* the policy allows fewer than when it was made */
        return false;
    }
    return true;
}

/* READY, or its parts are damaged, or are not to be had now: the large stream may be without a leader while the other one works, so that only this one waits. */
static void load(struct redelivery *redelivery, struct redelivery_flight *flight)
{
    struct error why = {0};
    flight->large = buffer_new(LARGE_MOST);
    if (reader_load(redelivery->link, &redelivery->streams, &flight->letter, &flight->large, &why)) {
        flight->step = REDELIVERY_STEP_READY;
    } else if (why.code == ERROR_NOT_FOUND || why.code == ERROR_CORRUPT) {
        park_because(flight, LETTER_REASON_UNDELIVERABLE, why.text);
    } else {
        struct log_record line;
        log_record_letter(&line, &flight->letter);
        log_record_end(&line);
        log_write(LOG_LEVEL_WARNING, "letter_not_loaded", line.fields, line.count,
                  "the record of letter %s stands apart and cannot be read now; it is tried again: %s", flight->letter.id, why.text);
        again(flight, clock_wall().ms + REDELIVERY_HOLD_MS);
    }
}

static size_t list_headers(struct span headers, struct record_header **list)
{
    size_t count = 0;
    size_t room = 16;
    struct span name;
    struct span value;
    *list = memory_new(room, sizeof **list);
    while (letter_next_header(&headers, &name, &value)) {
        if (count == room) {
            room *= 2;
            *list = memory_resize(*list, room, sizeof **list);
        }
        (*list)[count++] = (struct record_header){name, value};
    }
    return count;
}

static void send(struct redelivery *redelivery, struct redelivery_flight *flight)
{
    const struct letter *letter = &flight->letter;
    struct record_header *headers;
    struct letter_sink_report report;
    flight->headers = buffer_new(LARGE_MOST);
    failure_headers_add(&flight->headers, letter, FAILURE_HEADERS_REDELIVERED);
    size_t count = list_headers(buffer_span(&flight->headers), &headers);
    snprintf(flight->topic, sizeof flight->topic, "%.*s", (int)letter->target.length, (const char *)letter->target.data);
    const struct letter_sink_record record = {.topic = flight->topic,
                                              .partition = letter->target_partition,
                                              .key = letter->record.key,
                                              .value = letter->record.value,
                                              .headers = headers,
                                              .header_count = count};
    enum letter_sink_result result = letter_sink_send(redelivery->sink, &record, flight, &report);
    flight->step = REDELIVERY_STEP_SENT;
    flight->sent = result == LETTER_SINK_TAKEN;
    flight->sent_ms = clock_wall().ms;
    if (result == LETTER_SINK_FULL) {
        again(flight, clock_wall().ms + FULL_MS);
    } else if (result == LETTER_SINK_FAILED) {
        redelivery_settle_judge(redelivery, flight, &report);
    }
    free(headers);
    buffer_free(&flight->headers); /* copied; a next letter carries its own */
}

/* It was read before. If another message, or none of ours, is there now, the stream was made anew. */
static bool is_what_was_read(struct redelivery_flight *flight, struct error *error)
{
    if (!letter_decode(buffer_span(&flight->bytes), &flight->letter, error)) {
        return false;
    }
    struct waiting_id id = waiting_id_of(flight->letter.id);
    return (id.high == flight->entry.id.high && id.low == flight->entry.id.low) || error_set(error, ERROR_UNAVAILABLE, "the stream is another one than before");
}

static bool take_letter(struct redelivery *redelivery, struct redelivery_flight *flight, struct error *error)
{
    if (!is_what_was_read(flight, error)) {
        return false;
    }
    if (may_be_sent(redelivery, flight)) {
        load(redelivery, flight);
    }
    return true;
}

static bool fetch_letter(struct redelivery *redelivery, struct redelivery_flight *flight, struct error *error)
{
    flight->bytes = buffer_new(MESSAGE_MOST);
    return reader_get(redelivery->link, redelivery->streams.stream, flight->entry.sequence, REDELIVERY_NATS_TIMEOUT_MS, &flight->bytes, error);
}

/* ------------------------------------------------------------------------------------------------- one */

/* Nacks have no attempt yet. */
static bool is_nack(const struct waiting_entry *entry)
{
    return entry->id.high == 0 && entry->attempt == 0;
}

/* False: it could not be fetched now; begin anew, and it is read again. */
static bool take_one(struct redelivery *redelivery, struct redelivery_flight *flight, const struct waiting_entry *entry, struct error *error)
{
    struct error why = {0};
    flight->entry = *entry;
    flight->nack = is_nack(entry);
    bool fetched = flight->nack ? fetch_nack(redelivery, flight, &why) : fetch_letter(redelivery, flight, &why);
    if (!fetched) {
        redelivery_settle_free(flight);
        if (why.code == ERROR_NOT_FOUND) {
            return true; /* a person took it out */
        }
        *error = why;
        return false;
    }
    if (flight->nack) {
        take_nack(redelivery, flight);
        return true;
    }
    return take_letter(redelivery, flight, error);
}

bool redelivery_take(struct redelivery *redelivery, size_t most, struct error *error)
{
    struct waiting_entry entry;
    struct redelivery_flight *flight;
    int64_t now_ms = clock_wall().ms;
    int64_t end_ms = clock_mono().ms + TAKE_MS;
    redelivery->taken = 0;
    while (clock_mono().ms < end_ms && (flight = free_flight(redelivery, most)) != NULL && bytes_under_way(redelivery) < REDELIVERY_FLIGHT_BYTES &&
           redelivery_wanted(redelivery) && waiting_take(redelivery->waiting, now_ms, &entry)) {
        int64_t until_ms;
        redelivery->taken++;
        if (!is_nack(&entry) && !redelivery_targets_open(&redelivery->targets, entry.target_hash, now_ms, &until_ms)) {
            entry.not_before_ms = until_ms;
            (void)redelivery_read_put(redelivery, &entry); /* there is room: it was there just now */
        } else if (!take_one(redelivery, flight, &entry, error)) {
            return false;
        }
    }
    return true;
}

/* In the order they were taken in: flights are given out from the first on. */
void redelivery_take_send(struct redelivery *redelivery)
{
    for (size_t i = 0; i < REDELIVERY_FLIGHTS; i++) {
        if (redelivery->flights[i].step == REDELIVERY_STEP_READY) {
            send(redelivery, &redelivery->flights[i]);
        }
    }
}
