#include "cli/dlq_replay_work.h"

#include <inttypes.h>
#include <poll.h>
#include <stdio.h>

#include "cli/dlq_apart.h"
#include "cli/dlq_flight.h"
#include "cli/dlq_rate.h"
#include "cli/dlq_replay_record.h"
#include "cli/verbs.h"
#include "ops/clock.h"
#include "ops/signals.h"

#define SEND_TIMEOUT_MS 120000 /* librdkafka tries so long, in order, before we begin again from there */
#define LINGER_MS 5            /* nobody waits for the single record: larger batches cost all three less */
#define WAIT_MS 10
#define POLL_EVERY 64       /* letters sent between two looks at Kafka's answers */
#define LOOK_MS 1000        /* between two looks at what came back, and at trouble */
#define STALLED_MS 5000     /* no answer of Kafka for so long is said */
#define CAUTIOUS_MOST 100
#define HOME_MS 10000       /* for what is in flight, when it is to stop */
#define PAUSE_FIRST_MS 1000
#define PAUSE_MOST_MS 60000

enum ending { GOING_ON, SAID_TO_STOP, TOO_MANY_FAILED, STREAM_GONE, FAILED };

struct replay {
    struct dlq_bulk *bulk;
    const struct dlq_replay_options *options;
    struct dlq_replay_record maker;
    struct dlq_settle *settle;
    struct dlq_flight *flight;
    struct dlq_watch *watch; /* NULL: without --stop-after */
    struct dlq_rate rate;
    uint64_t next[2]; /* by enum letter_state: letters before it are sent or passed over */
    uint64_t high[2]; /* the greatest that `next` was, so that none is counted twice */
    uint64_t seen[2]; /* the same of all messages, for progress */
    uint64_t last[2]; /* the letter sent last */
    bool broken[2];   /* a message before the next letter was not sent */
    struct dlq_job_counts before; /* of the job's earlier runs */
    uint64_t skipped;
    uint64_t back;    /* records that consumers gave back */
    unsigned sent;    /* since the last poll */
    int64_t look_ms;
    int64_t pause_ms;
    uint64_t paused_at; /* deliveries at the last pause: when there are more by now, it went on in between */
    enum ending ending;
};

/* ------------------------------------------------------------------------------------------------- keeping an eye */

static void keep_counts(struct replay *replay)
{
    struct dlq_settle_counts settled = dlq_settle_counts(replay->settle);
    struct dlq_job_counts *counts = &replay->bulk->job.counts;
    const struct dlq_job_counts *before = &replay->before;
    *counts = (struct dlq_job_counts){before->done + settled.removed, before->failed + settled.replaced,
                                      before->skipped + replay->skipped + settled.refused, before->gone + settled.gone};
}

static bool too_many_failed(const struct replay *replay)
{
    struct dlq_flight_counts counts = dlq_flight_counts(replay->flight);
    return dlq_replay_options_stops(replay->options, counts.delivered + counts.failed, counts.failed + replay->back);
}

/* Without it, what NATS is still to take out would be waited for without end. */
static void check_streams(struct replay *replay)
{
    if (!dlq_bulk_streams_remain(replay->bulk)) {
        replay->ending = STREAM_GONE;
    }
}

/* What keeps it from getting on, if anything does. */
static void say_trouble(struct replay *replay, int64_t now_ms)
{
    char text[256];
    char all[512];
    struct dlq_flight_counts counts = dlq_flight_counts(replay->flight);
    if (dlq_settle_trouble(replay->settle, text, sizeof text)) {
        snprintf(all, sizeof all, "NATS: %s", text);
        dlq_work_complain(&replay->bulk->work, all);
        check_streams(replay);
    } else if (dlq_flight_flying(replay->flight) > 0 && now_ms - counts.answered_ms >= STALLED_MS) {
        snprintf(all, sizeof all, "Kafka does not answer; %zu letters wait for it", dlq_flight_flying(replay->flight));
        dlq_work_complain(&replay->bulk->work, all);
    } else if (!dlq_flight_trouble(replay->flight)->there) {
        dlq_work_complain(&replay->bulk->work, "");
    }
}

/* To be called often. False: it is to end. */
static bool tend(struct replay *replay)
{
    int64_t now_ms = clock_mono().ms;
    if (now_ms >= replay->look_ms) {
        keep_counts(replay);
        say_trouble(replay, now_ms);
        replay->back = replay->watch == NULL ? 0 : dlq_watch_look(replay->watch);
        replay->look_ms = clock_mono().ms + LOOK_MS;
    }
    if (replay->ending == GOING_ON && dlq_work_tend(&replay->bulk->work) != DLQ_WORK_GO) {
        replay->ending = SAID_TO_STOP;
    }
    if (replay->ending == GOING_ON && too_many_failed(replay)) {
        replay->ending = TOO_MANY_FAILED;
    }
    return replay->ending == GOING_ON;
}

/* -------------------------------------------------------------------------------------------------------- sending */

static void passed(struct replay *replay, const struct dlq_scan_letter *found)
{
    replay->next[found->state] = found->sequence + 1;
    if (replay->high[found->state] < found->sequence + 1) {
        replay->high[found->state] = found->sequence + 1;
    }
}

static void skip(struct replay *replay, const struct dlq_scan_letter *found)
{
    replay->skipped += found->sequence >= replay->high[found->state];
    passed(replay, found);
}

/* With --stop-after, not so many may be on their way that it stops too late; before Kafka's first answer least of all. */
static bool is_cautious(const struct replay *replay)
{
    struct dlq_flight_counts counts = dlq_flight_counts(replay->flight);
    size_t most = counts.delivered + counts.failed > 0 ? CAUTIOUS_MOST : DLQ_REPLAY_OPTIONS_SHARE_LEAST;
    return replay->watch != NULL && dlq_flight_flying(replay->flight) >= most;
}

/* Waits until one of this size may go. False: not now, or never. */
static bool wait_turn(struct replay *replay, size_t bytes)
{
    while (tend(replay) && !dlq_flight_trouble(replay->flight)->there) {
        bool room = dlq_flight_has_room(replay->flight, bytes) && !is_cautious(replay);
        int64_t now_ms = clock_mono().ms;
        if (room && dlq_rate_take(&replay->rate, now_ms)) {
            return true;
        }
        int64_t wait_ms = room ? dlq_rate_wait_ms(&replay->rate, now_ms, WAIT_MS) : WAIT_MS;
        if (dlq_flight_flying(replay->flight) + dlq_flight_settling(replay->flight) == 0) {
            (void)poll(NULL, 0, (int)wait_ms);
        }
        dlq_flight_poll(replay->flight, wait_ms);
    }
    return false;
}

static bool send(struct replay *replay, const struct dlq_scan_letter *found, const struct letter_sink_record *record)
{
    struct dlq_settle_item item = {.state = found->state, .sequence = found->sequence, .apart = found->letter->parts > 0};
    memcpy(item.id, found->letter->id, sizeof item.id);
    bool whole = !replay->broken[found->state];
    bool sent = dlq_flight_send(replay->flight, &item, whole, record);
    while (!sent && !dlq_flight_trouble(replay->flight)->there && tend(replay)) {
        dlq_flight_poll(replay->flight, WAIT_MS);
        sent = dlq_flight_send(replay->flight, &item, whole, record);
    }
    return sent;
}

static bool visit(void *visitor, const struct dlq_scan_letter *found)
{
    struct replay *replay = visitor;
    struct letter_sink_record record;
    struct error error = {ERROR_NONE, ""};
    if (found->letter->replays >= replay->options->max_replays || found->record_missing) {
        skip(replay, found);
        return tend(replay);
    }
    if (!dlq_replay_record_make(&replay->maker, found->letter, &record, &error)) {
        dlq_work_complain(&replay->bulk->work, error.text);
        skip(replay, found);
        return tend(replay);
    }
    if (!wait_turn(replay, record.key.length + record.value.length) || !send(replay, found, &record)) {
        return false;
    }
    passed(replay, found);
    replay->last[found->state] = found->sequence;
    replay->sent += 1;
    if (replay->sent >= POLL_EVERY) {
        replay->sent = 0;
        dlq_flight_poll(replay->flight, 0);
    }
    return true;
}

static void at(void *visitor, enum letter_state state, uint64_t sequence)
{
    struct replay *replay = visitor;
    replay->broken[state] = replay->broken[state] || sequence != replay->last[state];
    if (sequence >= replay->seen[state]) {
        replay->bulk->work.seen += 1;
        replay->seen[state] = sequence + 1;
    }
}

/* ---------------------------------------------------------------------------------------------------- coming home */

/* What can still come home. */
static size_t on_their_way(const struct replay *replay)
{
    return dlq_flight_flying(replay->flight) + (replay->ending == STREAM_GONE ? 0 : dlq_flight_settling(replay->flight));
}

/* Waits until Kafka has answered for all, and NATS for what is settled: when it is to end, HOME_MS at most. */
static void come_home(struct replay *replay)
{
    int64_t deadline_ms = INT64_MAX;
    while (on_their_way(replay) > 0 && clock_mono().ms < deadline_ms) {
        dlq_flight_poll(replay->flight, WAIT_MS);
        if (!tend(replay) && deadline_ms == INT64_MAX) {
            deadline_ms = clock_mono().ms + HOME_MS;
        }
    }
    keep_counts(replay);
}

static void pause_a_while(struct replay *replay)
{
    struct dlq_flight_counts counts = dlq_flight_counts(replay->flight);
    replay->pause_ms = replay->pause_ms == 0 || counts.delivered > replay->paused_at ? PAUSE_FIRST_MS
                       : replay->pause_ms > PAUSE_MOST_MS / 2                         ? PAUSE_MOST_MS
                                                                                      : 2 * replay->pause_ms;
    replay->paused_at = counts.delivered;
    int64_t deadline_ms = clock_mono().ms + replay->pause_ms;
    while (tend(replay) && clock_mono().ms < deadline_ms) {
        struct pollfd wake = {.fd = signals_fd(), .events = POLLIN};
        (void)poll(&wake, 1, WAIT_MS);
    }
}

/* Where to read on: what an outage kept from Kafka, and what was not sent yet. */
static void rewind_bounds(struct replay *replay, struct dlq_scan_bounds *bounds)
{
    const struct dlq_flight_trouble *trouble = dlq_flight_trouble(replay->flight);
    for (size_t i = 0; i < 2; i++) {
        uint64_t from = trouble->from[i] < replay->next[i] ? trouble->from[i] : replay->next[i];
        if (from > bounds->of[i].first) {
            bounds->of[i].first = from;
        }
    }
}

/* After trouble. False: there is no going on. */
static bool again(struct replay *replay, const char *text, struct dlq_scan_bounds *bounds)
{
    char all[ERROR_TEXT_MAX + 64];
    struct error error = {ERROR_NONE, ""};
    snprintf(all, sizeof all, "%s; the rest waits, and is tried again", text);
    dlq_work_complain(&replay->bulk->work, all);
    pause_a_while(replay);
    rewind_bounds(replay, bounds);
    check_streams(replay);
    if (replay->ending == STREAM_GONE) {
        return false;
    }
    if (!dlq_flight_again(replay->flight, &error)) {
        (void)dlq_context_failed(&replay->bulk->command.context, &error);
        replay->ending = FAILED;
        return false;
    }
    dlq_rate_restart(&replay->rate, clock_mono().ms);
    return replay->ending == GOING_ON;
}

static void run(struct replay *replay)
{
    struct dlq_bulk *bulk = replay->bulk;
    struct dlq_scan scan = {
        .context = &bulk->command.context,
        .filter = &bulk->command.filter,
        .bounds = bulk->job.bounds,
        .records = true,
        .visit = visit,
        .visitor = replay,
        .at = at,
    };
    bool more = true;
    while (more) {
        struct error error = {ERROR_NONE, ""};
        struct dlq_scan_totals totals;
        bool read = dlq_scan_run(&scan, &totals, &error);
        replay->skipped += totals.damaged;
        come_home(replay);
        const struct dlq_flight_trouble *trouble = dlq_flight_trouble(replay->flight);
        more = replay->ending == GOING_ON && (!read || trouble->there) && again(replay, read ? trouble->text : error.text, &scan.bounds);
    }
}

/* ------------------------------------------------------------------------------------------------------ the whole */

static struct letter_sink_options sink_options(const struct config *config)
{
    return (struct letter_sink_options){
        .properties = config->kafka_producer.items,
        .property_count = config->kafka_producer.count,
        .client = "tarry-dlq-replay",
        .send_timeout_ms = SEND_TIMEOUT_MS,
        .linger_ms = LINGER_MS,
    };
}

static enum dlq_job_state state_of(const struct replay *replay)
{
    return replay->ending == GOING_ON || replay->ending == SAID_TO_STOP ? dlq_work_state(&replay->bulk->work) : DLQ_JOB_STOPPED;
}

static int finish(struct replay *replay)
{
    struct error error = {ERROR_NONE, ""};
    struct dlq_apart apart = {0};
    uint64_t left = replay->ending == STREAM_GONE ? 0 : dlq_flight_settling(replay->flight); /* a stream that is gone gives none again */
    if (replay->watch != NULL) {
        replay->back = dlq_watch_look(replay->watch);
    }
    int64_t back = replay->watch == NULL ? -1 : (int64_t)replay->back;
    if (replay->ending == TOO_MANY_FAILED) {
        dlq_work_complain(&replay->bulk->work, "stopped: too many failed again (--stop-after)");
    }
    enum dlq_job_state state = state_of(replay);
    dlq_flight_free(replay->flight);
    dlq_settle_free(replay->settle, &apart);
    if (!dlq_apart_sweep(&apart, &replay->bulk->command.context, &error)) {
        dlq_context_say(&replay->bulk->command.context, "parts of large records could not be removed: %s", error.text);
    }
    dlq_apart_free(&apart);
    dlq_watch_free(replay->watch);
    dlq_replay_record_free(&replay->maker);
    return dlq_bulk_end(replay->bulk, state, "replayed", left, back);
}

int dlq_replay_work(struct dlq_bulk *bulk, const struct dlq_replay_options *options, uint64_t matched)
{
    struct error error = {ERROR_NONE, ""};
    struct replay replay = {.bulk = bulk, .options = options, .before = bulk->job.counts};
    const struct config *config = bulk->command.context.config;
    struct letter_sink_options sink = sink_options(config);
    double per_s = options->spread_ms > 0 ? (double)(matched > 0 ? matched : 1) * 1000 / (double)options->spread_ms : options->rate_per_s;
    bool stops = options->stop_count > 0 || options->stop_percent > 0;
    replay.maker = dlq_replay_record_new(config, options);
    replay.settle = dlq_settle_new(&bulk->command.context, &bulk->command.filter, &bulk->job.bounds, DLQ_FLIGHT_LETTERS);
    replay.watch = stops ? dlq_watch_new(&bulk->command.context) : NULL;
    if (!dlq_flight_open(&sink, replay.settle, replay.watch, &replay.flight, &error)) {
        dlq_settle_free(replay.settle, NULL);
        dlq_watch_free(replay.watch);
        (void)dlq_work_end(&bulk->work, DLQ_JOB_STOPPED);
        dlq_context_say(&bulk->command.context, "%s", error.text);
        return VERBS_EXIT_CONFIG;
    }
    dlq_rate_start(&replay.rate, per_s, options->ramp_ms, clock_mono().ms);
    run(&replay);
    return finish(&replay);
}
