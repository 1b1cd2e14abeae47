#include "cli/dlq_scan.h"

#include <inttypes.h>
#include <time.h>

#include "cli/verbs.h"
#include "dlq/reader.h"
#include "dlq/subject.h"
#include "ops/clock.h"

#define RECORD_MAX ((size_t)1024 * 1024 * 1024) /* of one that stands apart */
#define GIVE_UP_MS 15000                         /* of failing to read on, without any message */
#define RETRY_MS 200                             /* a server that has just started answers, and cannot serve the stream yet */

/* One scan that is going on. */
struct run {
    const struct dlq_scan *scan;
    struct dlq_scan_totals *totals;
    enum letter_state state;
    struct dlq_scan_bound bound;
    uint64_t next;      /* where to go on */
    int64_t failing_ms; /* since when, monotonic; -1: the last message was read well */
    bool enough;        /* the visitor, or the filter's limit */
    struct buffer room; /* of a record that stood apart */
};

/* ------------------------------------------------------------------------------------------------ how it stands */

static bool look(const struct dlq_context *context, enum letter_state state, struct dlq_scan_bound *bound, struct error *error)
{
    struct streams_state now;
    struct error own = {ERROR_NONE, ""};
    if (!streams_state(context->link, dlq_context_stream(context, state), DLQ_CONTEXT_TIMEOUT_MS, &now, &own)) {
        return own.code == ERROR_NOT_FOUND || error_set(error, own.code, "%s", own.text);
    }
    *bound = (struct dlq_scan_bound){now.messages > 0, now.first_sequence, now.last_sequence, now.messages, now.created_ms};
    return true;
}

bool dlq_scan_look(const struct dlq_context *context, const struct dlq_filter *filter, struct dlq_scan_bounds *bounds, struct error *error)
{
    struct dlq_scan_bounds seen = {0};
    for (int state = LETTER_WAITING; state <= LETTER_PARKED; state++) {
        if (dlq_filter_wants(filter, (enum letter_state)state) && !look(context, (enum letter_state)state, &seen.of[state], error)) {
            return false;
        }
    }
    *bounds = seen;
    return true;
}

/* ------------------------------------------------------------------------------------------------- one message */

static void say_about(const struct run *run, const struct reader_message *message, const char *what, const struct error *error)
{
    const struct dlq_context *context = run->scan->context;
    dlq_context_say(context, "%s message %" PRIu64 ": %s: %s", dlq_context_stream(context, run->state), message->sequence, what, error->text);
}

enum loaded {
    LOADED,
    LOADED_NOT,   /* told */
    LOADED_GONE,  /* the letter itself is there no more: done meanwhile */
    LOADED_LATER, /* nobody answers */
};

static enum loaded load_record(struct run *run, const struct reader_message *message, struct letter *letter, struct error *error)
{
    struct error own = {ERROR_NONE, ""};
    const struct dlq_context *context = run->scan->context;
    buffer_clear(&run->room);
    if (letter->parts == 0 || reader_load(context->link, &context->streams, letter, &run->room, &own)) {
        return LOADED;
    }
    if (own.code == ERROR_UNAVAILABLE) {
        error_set(error, own.code, "%s", own.text);
        return LOADED_LATER;
    }
    struct error gone = {ERROR_NONE, ""};
    struct buffer again = buffer_new(RECORD_MAX);
    bool there = reader_get(context->link, dlq_context_stream(context, run->state), message->sequence, DLQ_CONTEXT_TIMEOUT_MS, &again, &gone);
    buffer_free(&again);
    if (!there && gone.code == ERROR_NOT_FOUND) {
        return LOADED_GONE;
    }
    run->totals->missing += 1;
    say_about(run, message, "its record, which stands apart, could not be loaded", &own);
    return LOADED_NOT;
}

static void give(struct run *run, const struct reader_message *message, const struct letter *letter, bool missing)
{
    const struct dlq_scan *scan = run->scan;
    struct dlq_scan_letter found = {
        run->state, message->sequence, message->stored_ms, message->bytes.length + letter->parts_bytes, letter, missing};
    run->totals->matched += 1;
    bool more = scan->visit(scan->visitor, &found);
    run->enough = !more || (scan->filter->limit > 0 && run->totals->matched >= (uint64_t)scan->filter->limit);
}

/* False: nobody answers, this message is to be read again. */
static bool take(struct run *run, const struct reader_message *message, struct error *error)
{
    struct letter letter;
    struct error own = {ERROR_NONE, ""};
    const struct dlq_filter *filter = run->scan->filter;
    if (!letter_decode(message->bytes, &letter, &own)) {
        run->totals->damaged += 1;
        say_about(run, message, "not a letter that can be read", &own);
        return true;
    }
    bool needed = dlq_filter_needs_record(filter);
    if (!needed && !dlq_filter_matches(filter, &letter, run->state)) {
        return true;
    }
    enum loaded loaded = needed || run->scan->records ? load_record(run, message, &letter, error) : LOADED;
    bool hidden = needed && (loaded != LOADED || !dlq_filter_matches(filter, &letter, run->state));
    if (loaded != LOADED_LATER && loaded != LOADED_GONE && !hidden) {
        give(run, message, &letter, loaded == LOADED_NOT);
    }
    return loaded != LOADED_LATER;
}

/* -------------------------------------------------------------------------------------------------- one stream */

static bool past_end(const struct run *run)
{
    return run->enough || run->next > run->bound.last;
}

/* Reads until the end, or until reading fails: false, and run->next says where to go on. */
static bool read_on(struct run *run, struct reader *reader, struct error *error)
{
    struct reader_message message;
    enum reader_result result = READER_MESSAGE;
    while (!past_end(run)) {
        result = reader_next(reader, 0, &message, error);
        if (result != READER_MESSAGE) {
            return result == READER_NOTHING;
        }
        if (message.sequence > run->bound.last) {
            return true; /* stored since */
        }
        if (!take(run, &message, error)) {
            return false;
        }
        run->failing_ms = -1;
        run->next = message.sequence + 1;
        run->totals->seen += 1;
        if (run->scan->at != NULL) {
            run->scan->at(run->scan->visitor, run->state, message.sequence);
        }
    }
    return true;
}

static void pause_ms(int64_t ms)
{
    struct timespec span = {.tv_nsec = ms * 1000000};
    (void)nanosleep(&span, NULL);
}

/* After a failure: waits until the stream is there again, and makes sure that it is the one whose sequences we go by. The error stays the failure's own. */
static bool settle(struct run *run, struct error *error)
{
    struct error own = {ERROR_NONE, ""};
    const struct dlq_context *context = run->scan->context;
    pause_ms(run->failing_ms < 0 ? 0 : RETRY_MS); /* the first failure is most often a lost connection */
    run->failing_ms = run->failing_ms < 0 ? clock_mono().ms : run->failing_ms;
    while (!dlq_context_refused(error) && clock_mono().ms - run->failing_ms < GIVE_UP_MS) {
        struct dlq_scan_bound now = {0};
        bool there = link_wait(context->link, RETRY_MS, &own) && look(context, run->state, &now, &own) && now.created_ms != 0;
        if (there) {
            return now.created_ms == run->bound.created_ms ||
                   error_set(error, ERROR_UNAVAILABLE, "stream %s was deleted while it was read", dlq_context_stream(context, run->state));
        }
        pause_ms(RETRY_MS);
    }
    return false;
}

void dlq_scan_subject(const struct dlq_context *context, const struct dlq_filter *filter, enum letter_state state, char text[SUBJECT_SIZE])
{
    enum subject_kind kind = state == LETTER_WAITING ? SUBJECT_DLQ : SUBJECT_PARKED;
    struct span target = dlq_filter_only_target(filter);
    const char *prefix = context->streams.prefix;
    if (target.data == NULL) {
        subject_all(text, prefix, kind);
    } else {
        subject_of(text, prefix, kind, span_equals_text(target, SUBJECT_REFUSED) ? SPAN_ABSENT : target);
    }
}

static bool read_stream(struct run *run, struct error *error)
{
    char filter[SUBJECT_SIZE];
    dlq_scan_subject(run->scan->context, run->scan->filter, run->state, filter);
    bool done = false;
    while (!done) {
        struct reader *reader = NULL;
        const char *stream = dlq_context_stream(run->scan->context, run->state);
        done = reader_open(run->scan->context->link, stream, filter, run->next, &reader, error) && read_on(run, reader, error);
        reader_close(reader);
        if (!done && !settle(run, error)) {
            return false;
        }
    }
    return true;
}

bool dlq_scan_run(const struct dlq_scan *scan, struct dlq_scan_totals *totals, struct error *error)
{
    struct run run = {.scan = scan, .totals = totals, .room = buffer_new(RECORD_MAX)};
    bool done = true;
    *totals = (struct dlq_scan_totals){0};
    for (int state = LETTER_WAITING; state <= LETTER_PARKED && done && !run.enough; state++) {
        run.state = (enum letter_state)state;
        run.bound = scan->bounds.of[state];
        run.next = run.bound.first;
        run.failing_ms = -1;
        done = !run.bound.looked_at || past_end(&run) || read_stream(&run, error);
    }
    buffer_free(&run.room);
    return done;
}

int dlq_scan_exit(const struct dlq_context *context, const struct dlq_scan_totals *totals)
{
    if (totals->damaged > 0) {
        dlq_context_say(context, "%" PRIu64 " message%s could not be read: see above", totals->damaged, totals->damaged == 1 ? "" : "s");
    }
    if (totals->missing > 0) {
        dlq_context_say(context, "%" PRIu64 " record%s could not be loaded: see above", totals->missing, totals->missing == 1 ? "" : "s");
    }
    return totals->damaged + totals->missing > 0 ? VERBS_EXIT_PARTLY : VERBS_EXIT_DONE;
}
