/* The outbox's thread. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/thread.h"
#include "dlq/link_state.h"
#include "dlq/outbox_state.h"

#define BATCH_LETTERS 1024 /* posted at once */
#define LOOK_MS 3000       /* between two looks at the streams' state */
#define LINK_LOOK_MS 500   /* between two looks at a link that is down */
#define START_MS 1000      /* for a connection that is being made when the outbox is opened */
#define ASK_MS 2000        /* for one stream's state */

static void wake(const struct outbox *outbox)
{
    uint64_t one = 1;
    if (outbox->options.wake_fd >= 0 && write(outbox->options.wake_fd, &one, sizeof one) < 0) {
        return; /* the counter is at its limit: the owner is awake already */
    }
}

/* Becomes ready, or not with a reason; wakes the owner when that is new. */
static void set_ready(struct outbox *outbox, bool ready, const char *text)
{
    pthread_mutex_lock(&outbox->lock);
    struct outbox_status *status = &outbox->status;
    bool news = status->ready != ready || strncmp(status->text, text, sizeof status->text - 1) != 0;
    status->ready = ready;
    snprintf(status->text, sizeof status->text, "%s", text);
    pthread_mutex_unlock(&outbox->lock);
    if (news) {
        wake(outbox);
    }
}

static uint64_t connection_number(struct link *link, struct error *error)
{
    struct link_session *session = link_session_hold(link, error);
    uint64_t number = session == NULL ? 0 : link_session_number(session);
    link_session_drop(session);
    return number;
}

/* The streams, once a connection and again after each failure. */
static bool check_streams(struct outbox_thread *thread, struct error *error)
{
    struct outbox *outbox = thread->outbox;
    uint64_t number = connection_number(outbox->options.link, error);
    if (number == 0) {
        thread->checked = false;
        return false;
    }
    if (thread->checked && thread->number == number) {
        return true;
    }
    struct streams_findings *findings = memory_new(1, sizeof *findings);
    thread->number = number;
    thread->checked = streams_ensure(outbox->options.link, &outbox->options.streams, outbox->options.timeout_ms, findings, error);
    pthread_mutex_lock(&outbox->lock);
    outbox->status.findings = *findings;
    pthread_mutex_unlock(&outbox->lock);
    free(findings);
    return thread->checked;
}

/* Asks what stands in the streams. False: no answer, or one of them is gone. */
static bool look(struct outbox_thread *thread, struct error *error)
{
    struct outbox *outbox = thread->outbox;
    struct streams_state waiting;
    struct streams_state parked;
    if (!streams_state(outbox->options.link, outbox->options.streams.stream, ASK_MS, &waiting, error) ||
        !streams_state(outbox->options.link, outbox->options.streams.parked_stream, ASK_MS, &parked, error)) {
        return false;
    }
    uint64_t bytes = waiting.bytes + parked.bytes;
    pthread_mutex_lock(&outbox->lock);
    outbox->status.waiting = waiting.messages;
    outbox->status.parked = parked.messages;
    outbox->status.bytes = bytes;
    outbox->status.oldest_waiting_ms = waiting.oldest_ms;
    outbox->status.oldest_parked_ms = parked.oldest_ms;
    pthread_mutex_unlock(&outbox->lock);
    /* full until something was taken out, or a letter gets in */
    if (thread->full && thread->full_bytes > 0 && bytes < thread->full_bytes) {
        thread->full = false;
    }
    thread->full_bytes = bytes;
    return true;
}

/* Checks what is due to be checked; what is wrong is told in the status. True: letters can be posted. */
static bool tend(struct outbox_thread *thread, struct error *error)
{
    int64_t now_ms = link_session_clock_ms();
    bool ok = check_streams(thread, error);
    if (ok && now_ms >= thread->look_ms) {
        thread->look_ms = now_ms + LOOK_MS;
        ok = look(thread, error);
        thread->checked = ok;
    }
    if (!ok) {
        set_ready(thread->outbox, false, error->text);
    } else if (!thread->full) {
        set_ready(thread->outbox, true, "");
    }
    return ok;
}

/* Takes a batch off the queue. */
static size_t take_batch(struct outbox *outbox, struct outbox_entry **entries)
{
    size_t count = 0;
    pthread_mutex_lock(&outbox->lock);
    while (count < BATCH_LETTERS && outbox->waiting.first != NULL) {
        entries[count++] = outbox_entry_list_take(&outbox->waiting);
    }
    pthread_mutex_unlock(&outbox->lock);
    return count;
}

static void report(struct outbox *outbox, struct outbox_entry **entries, size_t count)
{
    pthread_mutex_lock(&outbox->lock);
    for (size_t i = 0; i < count; i++) {
        outbox->bytes -= entries[i]->size;
        outbox_entry_list_add(&outbox->reports, entries[i]);
    }
    pthread_mutex_unlock(&outbox->lock);
    wake(outbox);
}

static void fail_batch(struct outbox_entry **entries, size_t count, const char *text)
{
    for (size_t i = 0; i < count; i++) {
        entries[i]->report.result = MAILER_UNAVAILABLE;
        snprintf(entries[i]->report.error, sizeof entries[i]->report.error, "%.255s", text);
    }
}

/* What the batch says of JetStream: after a failure the streams are looked at again. */
static void learn(struct outbox_thread *thread, const struct mailer_item *items, size_t count)
{
    const char *text = NULL;
    bool kept = false;
    bool full = false;
    for (size_t i = 0; i < count; i++) {
        bool trouble = items[i].result == MAILER_FULL || items[i].result == MAILER_UNAVAILABLE;
        kept = kept || items[i].result == MAILER_KEPT;
        full = full || items[i].result == MAILER_FULL;
        if (trouble && text == NULL) {
            text = items[i].error;
        }
    }
    if (text == NULL && kept) {
        thread->full = false;
        set_ready(thread->outbox, true, "");
    } else if (text != NULL) {
        char words[256];
        snprintf(words, sizeof words, "%.150s%s", text, full ? ": purge or replay letters (tarry dlq), or raise dlq.max_bytes and the stream's" : "");
        thread->full = full;
        thread->full_bytes = 0;
        thread->checked = thread->checked && full;
        thread->look_ms = 0;
        set_ready(thread->outbox, false, words);
    }
}

static void post_batch(struct outbox_thread *thread, struct outbox_entry **entries, size_t count)
{
    struct mailer_item *items = memory_new(count, sizeof *items);
    for (size_t i = 0; i < count; i++) {
        items[i].letter = &entries[i]->letter;
        items[i].state = entries[i]->state;
    }
    mailer_post(thread->mailer, items, count, thread->outbox->options.timeout_ms);
    for (size_t i = 0; i < count; i++) {
        entries[i]->report.result = items[i].result;
        entries[i]->report.duplicate = items[i].duplicate;
        if (items[i].error[0] != '\0') { /* it is empty in a new entry */
            snprintf(entries[i]->report.error, sizeof entries[i]->report.error, "%s", items[i].error);
        }
    }
    learn(thread, items, count);
    free(items);
}

/* One turn: look after the streams, post what waits. With JetStream away letters are given back at once. */
static void turn(struct outbox_thread *thread)
{
    struct error error = {ERROR_NONE, ""};
    bool ok = tend(thread, &error);
    struct outbox_entry **entries = memory_new(BATCH_LETTERS, sizeof *entries);
    size_t count = take_batch(thread->outbox, entries);
    if (count > 0 && ok) {
        post_batch(thread, entries, count);
    } else {
        fail_batch(entries, count, error.text);
    }
    if (count > 0) {
        report(thread->outbox, entries, count);
    }
    free(entries);
}

/* Until there is something to post, or to look at. False: the end is asked for. */
static bool await_turn(const struct outbox_thread *thread)
{
    struct outbox *outbox = thread->outbox;
    pthread_mutex_lock(&outbox->lock);
    struct timespec at = thread_moment(outbox->status.ready ? LOOK_MS : LINK_LOOK_MS);
    int waited = 0;
    while (!outbox->stop && outbox->waiting.first == NULL && waited == 0) {
        waited = pthread_cond_timedwait(&outbox->changed, &outbox->lock, &at);
    }
    bool go_on = !outbox->stop;
    pthread_mutex_unlock(&outbox->lock);
    return go_on;
}

void *outbox_thread_run(void *context)
{
    struct outbox *outbox = context;
    struct outbox_thread thread = {.outbox = outbox, .mailer = mailer_new(outbox->options.link, &outbox->options.streams)};
    (void)link_wait(outbox->options.link, START_MS, NULL); /* letters put before the first connection need not come back */
    do {
        turn(&thread);
    } while (await_turn(&thread));
    mailer_free(thread.mailer);
    return NULL;
}
