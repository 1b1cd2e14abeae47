/* What became of what was under way: next letters are posted, and what is done with is removed. In this order; a crash between leaves both, and the next one
 * who reads the stream removes the older. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "ops/clock.h"
#include "ops/log_record.h"
#include "ops/redelivery_state.h"

#define REPORTS 64
#define REFUSED_MS 60000 /* what JetStream will not take is offered again this much later: its limits may have been changed */

void redelivery_settle_free(struct redelivery_flight *flight)
{
    reader_one_free(flight->message);
    if (flight->message != NULL) {
        nack_stream_room_free(&flight->room);
    }
    buffer_free(&flight->bytes);
    buffer_free(&flight->large);
    buffer_free(&flight->headers);
    memset(flight, 0, sizeof *flight);
}

size_t redelivery_settle_count(const struct redelivery *redelivery, enum redelivery_step step)
{
    size_t count = 0;
    for (size_t i = 0; i < REDELIVERY_FLIGHTS; i++) {
        count += redelivery->flights[i].step == step;
    }
    return count;
}

size_t redelivery_settle_bytes(const struct redelivery_flight *flight)
{
    const struct nack_stream_room *room = &flight->room;
    size_t message = flight->message == NULL ? 0 : reader_one_message(flight->message)->bytes.length;
    return flight->bytes.length + flight->large.length + message + room->bytes.length + room->given.length + room->headers.length;
}

bool redelivery_settle_is_idle(const struct redelivery *redelivery)
{
    size_t idle = 0;
    for (size_t i = 0; i < REDELIVERY_FLIGHTS; i++) {
        idle += redelivery->flights[i].step == REDELIVERY_STEP_FREE || redelivery_stands(&redelivery->flights[i]);
    }
    return idle == REDELIVERY_FLIGHTS;
}

/* ------------------------------------------------------------------------------------------------- Kafka's answers */

void redelivery_settle_next_letter(struct redelivery *redelivery, struct redelivery_flight *flight, const char *error)
{
    struct retry_policy policy;
    struct letter *letter = &flight->letter;
    int64_t now_ms = clock_wall().ms;
    (void)redelivery_policy(redelivery, letter->target, &policy);
    bool spent = retry_spent(&policy, letter->attempt + 1);
    letter->last_failure_ms = now_ms;
    letter_set_error(letter, span_of_text(error), flight->error);
    if (!spent) {
        letter->attempt++;
        letter->not_before_ms = now_ms + retry_wait_ms(&policy, letter->attempt, flight->entry.id.low);
    }
    flight->post_as = spent ? LETTER_PARKED : LETTER_WAITING;
    flight->failed = true;
    flight->step = REDELIVERY_STEP_POST;
}

static void rest(struct redelivery *redelivery, struct redelivery_flight *flight, const char *why)
{
    bool news;
    flight->again_ms = redelivery_targets_rest(&redelivery->targets, flight->entry.target_hash, flight->sent_ms, clock_wall().ms, &news);
    flight->step = REDELIVERY_STEP_AGAIN;
    redelivery->counts.postponed++;
    if (news) {
        log_write(LOG_LEVEL_WARNING, "redelivery_target_rests", LOG_FIELDS(LOG_TEXT("target", flight->topic)),
                  "redelivery to %s rests, and is tried again with waits of up to a minute; no attempt is counted: %s", flight->topic, why);
    }
}

static void note_works(struct redelivery *redelivery, const struct redelivery_flight *flight)
{
    if (redelivery_targets_works(&redelivery->targets, flight->entry.target_hash)) {
        log_write(LOG_LEVEL_INFO, "redelivery_target_works", LOG_FIELDS(LOG_TEXT("target", flight->topic)), "redelivery to %s goes on", flight->topic);
    }
}

void redelivery_settle_judge(struct redelivery *redelivery, struct redelivery_flight *flight, const struct letter_sink_report *report)
{
    if (report->delivered) {
        note_works(redelivery, flight);
        flight->step = REDELIVERY_STEP_DELIVERED;
        flight->partition = report->partition;
        flight->offset = report->offset;
        return;
    }
    switch (report->failure) {
    case DELIVERY_UNKNOWN_TOPIC: /* it had its grace before the first letter was made */
    case DELIVERY_FAULT:
        note_works(redelivery, flight);
        redelivery_settle_next_letter(redelivery, flight, report->error);
        break;
    case DELIVERY_UNDONE:
        flight->step = REDELIVERY_STEP_AGAIN;
        flight->again_ms = flight->entry.not_before_ms;
        break;
    case DELIVERY_RETRIABLE:
    case DELIVERY_NO_LETTER:
    default:
        rest(redelivery, flight, report->error);
        break;
    }
}

void redelivery_settle_collect(struct redelivery *redelivery, int64_t timeout_ms)
{
    struct letter_sink_report reports[REPORTS];
    size_t count;
    do {
        count = letter_sink_poll(redelivery->sink, timeout_ms, reports, REPORTS);
        for (size_t i = 0; i < count; i++) {
            redelivery_settle_judge(redelivery, reports[i].token, &reports[i]);
        }
        timeout_ms = 0;
    } while (count == REPORTS);
}

/* ------------------------------------------------------------------------------------------------- removing */

void redelivery_settle_owe(struct redelivery *redelivery, uint64_t sequence)
{
    if (redelivery->owed_count < REDELIVERY_OWED) {
        redelivery->owed[redelivery->owed_count++] = sequence;
    } /* else only a double that stays until the next start: what was delivered has its place (REDELIVERY_FLIGHTS below the limit) */
}

bool redelivery_settle_pay(struct redelivery *redelivery, struct error *error)
{
    bool gone[REDELIVERY_OWED];
    size_t left = 0;
    if (redelivery->owed_count == 0) {
        return true;
    }
    const struct reader_stream stream = {redelivery->streams.stream, redelivery->created_ms};
    bool done = reader_remove(redelivery->link, &stream, redelivery->owed, redelivery->owed_count, REDELIVERY_NATS_TIMEOUT_MS, gone,
                              error);
    for (size_t i = 0; i < redelivery->owed_count; i++) {
        if (!gone[i]) {
            redelivery->owed[left++] = redelivery->owed[i];
        }
    }
    redelivery->owed_count = left;
    return done;
}

/* ------------------------------------------------------------------------------------------------- posting */

static void say_parked(const struct redelivery_flight *flight)
{
    const struct letter *letter = &flight->letter;
    char target[REDELIVERY_TOPIC_SIZE];
    snprintf(target, sizeof target, "%.*s", (int)letter->target.length, letter->target.data == NULL ? "" : (const char *)letter->target.data);
    struct log_record line;
    log_record_letter(&line, letter);
    log_record_add(&line, LOG_TEXT("target", target));
    log_record_add(&line, LOG_TEXT("reason", letter_reason_name(letter->reason)));
    log_record_add(&line, LOG_NUMBER("attempt", letter->attempt));
    log_record_end(&line);
    log_write(LOG_LEVEL_INFO, "letter_parked", line.fields, line.count,
              "letter %s is parked, and waits for a person (`tarry dlq list`): %.*s", letter->id, (int)letter->error.length,
              letter->error.data == NULL ? "" : (const char *)letter->error.data);
}

/* JetStream has what comes next: the message itself is done with. */
static void take_kept(struct redelivery *redelivery, struct redelivery_flight *flight)
{
    bool parked = flight->post_as == LETTER_PARKED;
    redelivery->counts.nacks += flight->nack;
    redelivery->counts.parked += parked;
    redelivery->counts.failed += flight->failed && parked;
    redelivery->counts.retried += flight->failed && !parked;
    if (parked) {
        say_parked(flight);
    }
    redelivery_settle_owe(redelivery, flight->entry.sequence);
    redelivery_settle_free(flight);
}

static bool too_many_stand(const struct redelivery *redelivery)
{
    size_t count = 0;
    size_t bytes = 0;
    for (size_t i = 0; i < REDELIVERY_FLIGHTS; i++) {
        bool stands = redelivery_stands(&redelivery->flights[i]);
        count += stands;
        bytes += stands ? redelivery_settle_bytes(&redelivery->flights[i]) : 0;
    }
    return count > REDELIVERY_FLIGHTS / 2 || bytes > REDELIVERY_FLIGHT_BYTES / 2;
}

/* The old message stays where it is, and what Kafka said of it is kept in memory: only the post is tried again. Beyond half of the flights, or of their bytes,
 * the verdict is forgotten, so that others find a place: then the record is sent once more, and no attempt is counted. */
static void take_not_kept(struct redelivery *redelivery, struct redelivery_flight *flight, const struct mailer_item *item)
{
    bool refused = item->result == MAILER_REFUSED;
    int64_t later_ms = clock_wall().ms + (refused ? REFUSED_MS : REDELIVERY_HOLD_MS);
    struct log_record line;
    log_record_letter(&line, &flight->letter);
    log_record_end(&line);
    log_write(refused ? LOG_LEVEL_ERROR : LOG_LEVEL_WARNING, "letter_not_kept", line.fields, line.count,
              "JetStream does not take what follows letter %s, which stays where it is and is tried again: %s", flight->letter.id, item->error);
    flight->sent = false;
    flight->post_at_ms = later_ms;
    if (too_many_stand(redelivery)) {
        flight->step = REDELIVERY_STEP_AGAIN;
        flight->again_ms = later_ms;
    }
}

static void post(struct redelivery *redelivery)
{
    struct mailer_item items[REDELIVERY_FLIGHTS];
    struct redelivery_flight *flights[REDELIVERY_FLIGHTS];
    size_t count = 0;
    int64_t now_ms = clock_wall().ms;
    for (size_t i = 0; i < REDELIVERY_FLIGHTS; i++) {
        struct redelivery_flight *flight = &redelivery->flights[i];
        if (flight->step == REDELIVERY_STEP_POST && flight->post_at_ms <= now_ms) {
            items[count] = (struct mailer_item){.letter = &flight->letter, .state = flight->post_as};
            flights[count++] = flight;
        }
    }
    if (count == 0) {
        return;
    }
    mailer_post(redelivery->mailer, items, count, REDELIVERY_NATS_TIMEOUT_MS);
    for (size_t i = 0; i < count; i++) {
        if (items[i].result == MAILER_KEPT) {
            take_kept(redelivery, flights[i]);
        } else {
            take_not_kept(redelivery, flights[i], &items[i]);
        }
    }
}

/* ------------------------------------------------------------------------------------------------- all of it */

/* Parts of records that were delivered: nothing refers to them any more, once their letters are removed. */
struct apart {
    char ids[REDELIVERY_FLIGHTS][LETTER_ID_SIZE];
    size_t count;
};

static void take_delivered(struct redelivery *redelivery, struct apart *apart)
{
    for (size_t i = 0; i < REDELIVERY_FLIGHTS; i++) {
        struct redelivery_flight *flight = &redelivery->flights[i];
        if (flight->step != REDELIVERY_STEP_DELIVERED) {
            continue;
        }
        redelivery->counts.delivered++;
        redelivery_settle_owe(redelivery, flight->entry.sequence);
        redelivery_lately_delivered(redelivery->lately, &flight->letter, flight->partition, flight->offset, clock_wall().ms);
        struct waiting_entry other;
        if (flight->letter.parts > 0 && !waiting_find(redelivery->waiting, flight->entry.id, &other)) {
            memcpy(apart->ids[apart->count++], flight->letter.id, LETTER_ID_SIZE);
        }
        redelivery_settle_free(flight);
    }
}

static void put_back(struct redelivery *redelivery)
{
    for (size_t i = 0; i < REDELIVERY_FLIGHTS; i++) {
        struct redelivery_flight *flight = &redelivery->flights[i];
        if (flight->step == REDELIVERY_STEP_AGAIN) {
            flight->entry.not_before_ms = flight->again_ms;
            (void)redelivery_read_put(redelivery, &flight->entry); /* there is room: SPARE of redelivery_read.c */
            redelivery_settle_free(flight);
        }
    }
}

static void forget_parts(struct redelivery *redelivery, const struct apart *apart)
{
    for (size_t i = 0; i < apart->count; i++) {
        struct error error;
        if (!mailer_forget_large(redelivery->mailer, apart->ids[i], &error)) {
            log_write(LOG_LEVEL_WARNING, "letter_parts_left", LOG_FIELDS(LOG_TEXT("letter", apart->ids[i])),
                      "the parts of letter %s, which is delivered, could not be removed, and take up room in the stream until they are: %s", apart->ids[i], error.text);
        }
    }
}

bool redelivery_settle(struct redelivery *redelivery, struct error *error)
{
    struct apart apart = {.count = 0};
    post(redelivery);
    take_delivered(redelivery, &apart);
    put_back(redelivery);
    bool paid = redelivery_settle_pay(redelivery, error);
    if (paid) {
        forget_parts(redelivery, &apart);
    }
    return paid;
}
