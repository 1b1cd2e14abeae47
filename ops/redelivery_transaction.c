/* Exactly once: a batch of letters is a transaction, whose end also commits which ones they were. Until those are removed from the stream no other is begun. */
#include "base/log.h"
#include "ops/clock.h"
#include "ops/redelivery_state.h"
#include "ops/redelivery_text.h"

#define REPORT_MS 100
#define MESSAGE_MOST (128u << 20) /* a server's max_payload is 64 MiB at most */
#define LATER_MS 250 /* a batch that was aborted for no record's fault goes again after this */

static int64_t end_timeout_ms(const struct redelivery *redelivery)
{
    return redelivery->view.transaction_timeout_ms;
}

/* It is owed if that letter is still there. False: that could not be asked. */
static bool recall_one(struct redelivery *redelivery, const struct redelivery_text_letter *delivered, struct buffer *bytes, struct error *error)
{
    struct letter letter;
    struct error why = {0};
    if (!reader_get(redelivery->link, redelivery->streams.stream, delivered->sequence, REDELIVERY_NATS_TIMEOUT_MS, bytes, &why)) {
        *error = why;
        return why.code == ERROR_NOT_FOUND;
    }
    if (letter_decode(buffer_span(bytes), &letter, NULL) && redelivery_text_check(&letter) == delivered->check) {
        redelivery_settle_owe(redelivery, delivered->sequence);
    }
    return true;
}

bool redelivery_transaction_recall(struct redelivery *redelivery, struct error *error)
{
    char text[REDELIVERY_TEXT_SIZE];
    struct redelivery_text_letter letters[REDELIVERY_FLIGHTS];
    size_t count;
    int64_t created_ms;
    if (!letter_sink_committed(redelivery->sink, &redelivery->place, REDELIVERY_NATS_TIMEOUT_MS * 2, text, sizeof text, error) ||
        !redelivery_text_read(text, &created_ms, letters, REDELIVERY_FLIGHTS, &count, error)) {
        return false;
    }
    struct buffer bytes = buffer_new(MESSAGE_MOST);
    bool done = true;
    for (size_t i = 0; done && i < count && created_ms == redelivery->created_ms; i++) {
        done = recall_one(redelivery, &letters[i], &bytes, error);
    }
    buffer_free(&bytes);
    return done;
}

/* Waits until each letter has its answer. False: the time is over, and what has none is thrown out. */
static bool hear_all(struct redelivery *redelivery)
{
    int64_t end_ms = clock_mono().ms + redelivery->send_timeout_ms + end_timeout_ms(redelivery);
    while (redelivery_settle_count(redelivery, REDELIVERY_STEP_SENT) > 0) {
        if (clock_mono().ms >= end_ms || redelivery_out_of_time(redelivery)) {
            return false;
        }
        redelivery_settle_collect(redelivery, REPORT_MS);
    }
    return true;
}

/* True: it was in the transaction, and Kafka said why it cannot be; so the next batch is another one. */
static bool is_culprit(const struct redelivery_flight *flight)
{
    bool rests = flight->step == REDELIVERY_STEP_AGAIN && flight->again_ms > flight->entry.not_before_ms;
    return flight->sent && (flight->step == REDELIVERY_STEP_POST || rests);
}

/* Nothing of the transaction is there: who was delivered or not heard of goes again, at once if others were at fault. */
static bool undo(struct redelivery *redelivery, int64_t later_ms)
{
    bool culprit = false;
    for (size_t i = 0; i < REDELIVERY_FLIGHTS; i++) {
        culprit = culprit || is_culprit(&redelivery->flights[i]);
    }
    for (size_t i = 0; i < REDELIVERY_FLIGHTS; i++) {
        struct redelivery_flight *flight = &redelivery->flights[i];
        bool undone = flight->step == REDELIVERY_STEP_DELIVERED || flight->step == REDELIVERY_STEP_SENT ||
                      (flight->step == REDELIVERY_STEP_AGAIN && !is_culprit(flight));
        if (undone) {
            int64_t at_ms = culprit ? flight->entry.not_before_ms : later_ms;
            bool waits = flight->step == REDELIVERY_STEP_AGAIN && flight->again_ms > at_ms; /* for a reason of its own: its parts, its target */
            flight->step = REDELIVERY_STEP_AGAIN;
            flight->again_ms = waits ? flight->again_ms : at_ms;
        }
    }
    return culprit;
}

/* Down to one, of which the reason is its own. */
static void halve(struct redelivery *redelivery)
{
    redelivery->batch_most -= redelivery->batch_most / 2;
}

static void take_back(struct redelivery *redelivery)
{
    if (!undo(redelivery, clock_wall().ms + LATER_MS)) {
        halve(redelivery);
    }
}

static size_t delivered_of(const struct redelivery *redelivery, struct redelivery_text_letter letters[REDELIVERY_FLIGHTS])
{
    size_t count = 0;
    for (size_t i = 0; i < REDELIVERY_FLIGHTS; i++) {
        if (redelivery->flights[i].step == REDELIVERY_STEP_DELIVERED) {
            letters[count++] = (struct redelivery_text_letter){redelivery->flights[i].entry.sequence, redelivery_text_check(&redelivery->flights[i].letter)};
        }
    }
    return count;
}

/* False: whether it is committed is not known: begin anew, and read it. */
static bool commit(struct redelivery *redelivery, struct error *error)
{
    char text[REDELIVERY_TEXT_SIZE];
    struct redelivery_text_letter letters[REDELIVERY_FLIGHTS];
    bool aborted = false;
    size_t count = delivered_of(redelivery, letters);
    (void)redelivery_text_write(redelivery->created_ms, letters, count, text); /* it fits: most_of */
    if (letter_sink_commit(redelivery->sink, &redelivery->place, text, end_timeout_ms(redelivery), &aborted, error)) {
        size_t doubled = redelivery->batch_most * 2;
        redelivery->batch_most = doubled < REDELIVERY_FLIGHTS ? doubled : REDELIVERY_FLIGHTS;
        return true;
    }
    if (aborted) {
        log_write(LOG_LEVEL_WARNING, "redelivery", NULL, 0, "a transaction of redelivery was aborted, and goes again: %s", error->text);
        take_back(redelivery);
    }
    return aborted;
}

static bool all_delivered(const struct redelivery *redelivery)
{
    for (size_t i = 0; i < REDELIVERY_FLIGHTS; i++) {
        if (redelivery->flights[i].sent && redelivery->flights[i].step != REDELIVERY_STEP_DELIVERED) {
            return false;
        }
    }
    return true;
}

/* Of a transaction that has records. */
static bool end(struct redelivery *redelivery, struct error *error)
{
    if (hear_all(redelivery) && all_delivered(redelivery)) {
        return commit(redelivery, error);
    }
    take_back(redelivery);
    return letter_sink_abort(redelivery->sink, end_timeout_ms(redelivery), error);
}

static bool any_sent(const struct redelivery *redelivery)
{
    bool any = false;
    for (size_t i = 0; i < REDELIVERY_FLIGHTS; i++) {
        any = any || redelivery->flights[i].sent;
    }
    return any;
}

static size_t most_of(const struct redelivery *redelivery)
{
    size_t room = redelivery_text_room(redelivery->read_from);
    return redelivery->batch_most < room ? redelivery->batch_most : room;
}

/* Begun when all is fetched: its time is Kafka's alone. False: its end is not known. It may have been too much for its time, so the next one is smaller. */
static bool transact(struct redelivery *redelivery, struct error *error)
{
    if (!letter_sink_begin(redelivery->sink, error)) {
        return false;
    }
    redelivery_take_send(redelivery);
    /* None sent: an empty transaction costs no broker anything. */
    bool ended = any_sent(redelivery) ? end(redelivery, error) : letter_sink_abort(redelivery->sink, end_timeout_ms(redelivery), error);
    if (!ended) {
        halve(redelivery);
    }
    return ended;
}

bool redelivery_transaction(struct redelivery *redelivery, struct error *error)
{
    struct waiting_entry first;
    if (!waiting_first(redelivery->waiting, &first) || first.not_before_ms > clock_wall().ms) {
        return redelivery_settle(redelivery, error);
    }
    if (!redelivery_take(redelivery, most_of(redelivery), error)) {
        return false;
    }
    bool ready = redelivery_settle_count(redelivery, REDELIVERY_STEP_READY) > 0; /* else nacks alone, or letters to be parked */
    if (ready && !transact(redelivery, error)) {
        return false;
    }
    return redelivery_settle(redelivery, error);
}
