/* Becoming the one who redelivers, and ceasing to be. */
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/memory.h"
#include "ops/clock.h"
#include "ops/redelivery_state.h"

#define LINK_MS 1000
#define KAFKA_MS 30000
#define CLOCKS_APART_MS 3600000 /* the server's clock may be so far behind ours */

static bool out_of_time(void *redelivery)
{
    return redelivery_out_of_time(redelivery);
}

static bool open_sink(struct redelivery *redelivery, struct error *error)
{
    const struct letter_sink_options options = {
        .properties = redelivery->view.kafka_producer.items,
        .property_count = redelivery->view.kafka_producer.count,
        .client = redelivery->client,
        .transactional_id = redelivery->exactly_once ? redelivery->transactional_id : NULL,
        .transaction_timeout_ms = redelivery->view.transaction_timeout_ms,
        .send_timeout_ms = redelivery->send_timeout_ms,
        .stopped = out_of_time,
        .stopped_context = redelivery,
    };
    return letter_sink_open(&options, &redelivery->sink, error) &&
           (!redelivery->exactly_once || letter_sink_settle(redelivery->sink, KAFKA_MS, error));
}

/* What is owed in a stream that is no more is owed no more. */
static bool look_at_stream(struct redelivery *redelivery, struct error *error)
{
    struct streams_state state;
    if (!streams_state(redelivery->link, redelivery->streams.stream, REDELIVERY_NATS_TIMEOUT_MS, &state, error)) {
        return false;
    }
    if (state.created_ms != redelivery->created_ms) {
        redelivery->owed_count = 0;
        redelivery->unreadable_told = 0;
    }
    redelivery->created_ms = state.created_ms;
    return true;
}

/* ------------------------------------------------------------------------------------------------- parked doubles */

/* The oldest time at which a letter that is due now may have been parked already by who was before us; false: there is none. A letter with redeliveries left
 * cannot have been, but its policy may have changed since. */
static bool oldest_due(const struct redelivery *redelivery, int64_t *oldest_ms)
{
    struct waiting_entry first;
    if (!waiting_first(redelivery->waiting, &first) || first.not_before_ms > clock_wall().ms) {
        return false;
    }
    *oldest_ms = first.not_before_ms - CLOCKS_APART_MS;
    return true;
}

static void drop_if_parked(struct redelivery *redelivery, const struct reader_message *message)
{
    struct letter letter;
    struct waiting_entry entry;
    if (!letter_decode(message->bytes, &letter, NULL) || !waiting_find(redelivery->waiting, waiting_id_of(letter.id), &entry) ||
        entry.attempt != letter.attempt || entry.replays != letter.replays) {
        return;
    }
    (void)waiting_remove(redelivery->waiting, entry.id);
    redelivery->counts.doubles++;
    redelivery_settle_owe(redelivery, entry.sequence);
}

/* A letter that was parked and not yet removed from here stands in both streams: it is parked. */
static bool drop_parked(struct redelivery *redelivery, struct error *error)
{
    struct reader *reader = NULL;
    int64_t since_ms;
    if (!oldest_due(redelivery, &since_ms)) {
        return true;
    }
    if (!reader_open_since(redelivery->link, redelivery->streams.parked_stream, NULL, since_ms, &reader, error)) {
        return false;
    }
    struct reader_message message;
    enum reader_result result = READER_NOTHING;
    bool paid = true;
    while (paid && redelivery_wanted(redelivery) && (result = reader_next(reader, 0, &message, error)) == READER_MESSAGE) {
        drop_if_parked(redelivery, &message);
        paid = redelivery->owed_count < REDELIVERY_OWED / 2 || redelivery_settle_pay(redelivery, error);
    }
    reader_close(reader);
    return paid && result != READER_FAILED;
}

/* ------------------------------------------------------------------------------------------------- begin and end */

static bool read_streams(struct redelivery *redelivery, struct error *error)
{
    waiting_clear(redelivery->waiting);
    redelivery->read_from = 1;
    return redelivery_read_all(redelivery, error) && drop_parked(redelivery, error) && redelivery_settle_pay(redelivery, error);
}

bool redelivery_start_begin(struct redelivery *redelivery, struct error *error)
{
    struct streams_findings findings;
    return link_wait(redelivery->link, LINK_MS, error) &&
           streams_ensure(redelivery->link, &redelivery->streams, REDELIVERY_NATS_TIMEOUT_MS, &findings, error) &&
           look_at_stream(redelivery, error) && redelivery_settle_pay(redelivery, error) && open_sink(redelivery, error) &&
           (!redelivery->exactly_once || redelivery_transaction_recall(redelivery, error)) && redelivery_settle_pay(redelivery, error) &&
           read_streams(redelivery, error);
}

/* What Kafka says of what is on its way is still heard, so that what it took is removed and not sent again. */
static void hear_out(struct redelivery *redelivery)
{
    int64_t end_ms = clock_mono().ms + redelivery->send_timeout_ms + 1000;
    while (!redelivery->exactly_once && redelivery_settle_count(redelivery, REDELIVERY_STEP_SENT) > 0 && clock_mono().ms < end_ms &&
           !redelivery_out_of_time(redelivery)) {
        redelivery_settle_collect(redelivery, 50);
    }
    for (size_t i = 0; i < REDELIVERY_FLIGHTS; i++) {
        struct redelivery_flight *flight = &redelivery->flights[i];
        if (flight->step == REDELIVERY_STEP_DELIVERED && !redelivery->exactly_once) {
            redelivery->counts.delivered++;
            redelivery_settle_owe(redelivery, flight->entry.sequence);
        }
        redelivery_settle_free(flight);
    }
}

void redelivery_start_let_go(struct redelivery *redelivery)
{
    struct error error;
    hear_out(redelivery);
    if (redelivery->owed_count > 0 && link_up(redelivery->link, NULL, 0) && !redelivery_settle_pay(redelivery, &error)) {
        log_write(LOG_LEVEL_WARNING, "redelivery", NULL, 0, "some letters that were delivered could not be removed yet: %s", error.text);
    }
    reader_close(redelivery->reader);
    redelivery->reader = NULL;
    letter_sink_close(redelivery->sink);
    redelivery->sink = NULL;
    waiting_clear(redelivery->waiting);
    memset(&redelivery->targets, 0, sizeof redelivery->targets);
}
