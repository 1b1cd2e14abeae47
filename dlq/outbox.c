/* See outbox.h. */
#include "dlq/outbox.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/thread.h"
#include "dlq/outbox_state.h"

static struct outbox *new_outbox(const struct outbox_options *options)
{
    struct outbox *outbox = memory_new(1, sizeof *outbox);
    outbox->options = *options;
    thread_condition(&outbox->changed);
    pthread_mutex_init(&outbox->lock, NULL);
    outbox_entry_list_init(&outbox->waiting);
    outbox_entry_list_init(&outbox->reports);
    outbox->status.oldest_waiting_ms = -1;
    outbox->status.oldest_parked_ms = -1;
    snprintf(outbox->status.text, sizeof outbox->status.text, "the streams for letters are not yet checked");
    return outbox;
}

static void free_list(struct outbox_list *list)
{
    for (struct outbox_entry *entry = outbox_entry_list_take(list); entry != NULL; entry = outbox_entry_list_take(list)) {
        free(entry);
    }
}

static void free_outbox(struct outbox *outbox)
{
    free_list(&outbox->waiting);
    free_list(&outbox->reports);
    pthread_cond_destroy(&outbox->changed);
    pthread_mutex_destroy(&outbox->lock);
    free(outbox);
}

bool outbox_open(const struct outbox_options *options, struct outbox **outbox, struct error *error)
{
    struct outbox *made = new_outbox(options);
    if (!thread_start(&made->thread, outbox_thread_run, made)) {
        free_outbox(made);
        return error_set(error, ERROR_SYSTEM, "no thread for the outbox: raise the limit of processes");
    }
    *outbox = made;
    return true;
}

bool outbox_put(struct outbox *outbox, const struct letter *letter, enum letter_state state, void *token)
{
    struct outbox_entry *entry = outbox_entry_new(letter, state, token);
    pthread_mutex_lock(&outbox->lock);
    size_t most = outbox->options.bytes_max;
    bool fits = outbox->bytes == 0 || (outbox->bytes < most && entry->size <= most - outbox->bytes);
    bool room = fits && outbox->letters < outbox->options.letters_max;
    if (room) {
        outbox->letters++;
        outbox->bytes += entry->size;
        outbox_entry_list_add(&outbox->waiting, entry);
        pthread_cond_signal(&outbox->changed);
    }
    pthread_mutex_unlock(&outbox->lock);
    if (!room) {
        free(entry);
    }
    return room;
}

size_t outbox_take(struct outbox *outbox, struct outbox_report *reports, size_t most)
{
    struct outbox_list taken;
    outbox_entry_list_init(&taken);
    size_t count = 0;
    pthread_mutex_lock(&outbox->lock);
    while (count < most && outbox->reports.first != NULL) {
        struct outbox_entry *entry = outbox_entry_list_take(&outbox->reports);
        reports[count++] = entry->report;
        outbox_entry_list_add(&taken, entry);
    }
    outbox->letters -= count;
    pthread_mutex_unlock(&outbox->lock);
    free_list(&taken);
    return count;
}

void outbox_status(struct outbox *outbox, struct outbox_status *status)
{
    pthread_mutex_lock(&outbox->lock);
    *status = outbox->status;
    pthread_mutex_unlock(&outbox->lock);
}

void outbox_close(struct outbox *outbox)
{
    if (outbox == NULL) {
        return;
    }
    pthread_mutex_lock(&outbox->lock);
    outbox->stop = true;
    pthread_cond_signal(&outbox->changed);
    pthread_mutex_unlock(&outbox->lock);
    pthread_join(outbox->thread, NULL);
    free_outbox(outbox);
}
