/* The owner's side of transactions: nothing here waits for anybody. */
#include "bridge/sink_transaction.h"

#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "bridge/kafka_handle.h"
#include "bridge/sink_failure.h"
#include "bridge/sink_transaction_state.h"

#define ALONE_MOST_MS 60000

bool sink_transaction_ready(const struct sink *sink)
{
    if (sink->transaction == NULL) {
        return false;
    }
    struct sink_transaction_shared *shared = sink->transaction->shared;
    pthread_mutex_lock(&shared->lock);
    bool ready = shared->ready;
    pthread_mutex_unlock(&shared->lock);
    return ready;
}

const char *sink_transaction_trouble(struct sink *sink)
{
    struct sink_transaction *transaction = sink->transaction;
    if (transaction == NULL) {
        return "";
    }
    struct sink_transaction_shared *shared = transaction->shared;
    pthread_mutex_lock(&shared->lock);
    memcpy(transaction->trouble, shared->fatal ? shared->fatal_text : shared->trouble, sizeof transaction->trouble);
    pthread_mutex_unlock(&shared->lock);
    return transaction->trouble;
}

bool sink_transaction_refused(const struct sink *sink)
{
    if (sink->transaction == NULL || sink->exactly_once) {
        return false;
    }
    struct sink_transaction_shared *shared = sink->transaction->shared;
    pthread_mutex_lock(&shared->lock);
    bool refused = shared->fatal && !shared->ready;
    pthread_mutex_unlock(&shared->lock);
    return refused;
}

bool sink_transaction_needed(const struct sink *sink)
{
    return sink->exactly_once || sink_transaction_ready(sink);
}

bool sink_transaction_fatal(struct sink *sink, char *text, size_t size)
{
    if (sink->transaction == NULL || !sink_transaction_needed(sink)) {
        return false;
    }
    struct sink_transaction_shared *shared = sink->transaction->shared;
    pthread_mutex_lock(&shared->lock);
    bool fatal = shared->fatal;
    if (fatal) {
        snprintf(text, size, "%s", shared->fatal_text);
    }
    pthread_mutex_unlock(&shared->lock);
    return fatal;
}

/* ------------------------------------------------------------------------------------------------- what goes in */

bool sink_transaction_open_for_records(const struct sink *sink)
{
    if (sink->transaction == NULL) {
        return false;
    }
    struct sink_transaction_shared *shared = sink->transaction->shared;
    pthread_mutex_lock(&shared->lock);
    bool open = shared->ready && !shared->fatal && shared->stage == SINK_TRANSACTION_IDLE;
    pthread_mutex_unlock(&shared->lock);
    return open;
}

/* The first real reason stays; one thrown out because of another is none, and only says that there is one. */
static void note_failure(struct sink_transaction *transaction, bool purge, const char *words)
{
    if (!transaction->failed || (transaction->purge_only && !purge)) {
        snprintf(transaction->error, sizeof transaction->error, "%s", words);
        transaction->purge_only = purge;
    }
    transaction->failed = true;
}

static const char not_now[] = "a record was to go into a transaction before that could begin";

void sink_transaction_not_now(struct sink *sink)
{
    struct sink_transaction *transaction = sink->transaction;
    if (transaction != NULL && transaction->ending) {
        transaction->early = true;
    } else if (transaction != NULL) {
        note_failure(transaction, false, not_now);
    }
}

void sink_transaction_note_topic(struct sink *sink, struct sink_topic *topic)
{
    struct sink_transaction *transaction = sink->transaction;
    topic->transaction = transaction->number;
    transaction->suspect = transaction->suspect || topic->suspect;
}

void sink_transaction_sent(struct sink *sink, enum sink_result result, const struct sink_report *report)
{
    struct sink_transaction *transaction = sink->transaction;
    transaction->used = true;
    if (result == SINK_FULL) {
        transaction->full = true;
        note_failure(transaction, false, "the local queue had no room for all of it");
    } else if (result == SINK_FAILED) {
        note_failure(transaction, report->failure == DELIVERY_UNDONE, report->error);
    }
}

/* From now on one record a batch, until a transaction with what is suspected now has committed: others' commits prove nothing. */
static void go_alone(struct sink_transaction *transaction)
{
    transaction->alone_ms = transaction->alone ? transaction->alone_ms : kafka_handle_clock_ms();
    transaction->alone = true;
}

static void suspect_hash(struct sink *sink, uint64_t hash)
{
    struct sink_topic *topic = sink->topics[hash % SINK_TOPICS];
    if (topic != NULL && topic->hash == hash) {
        topic->suspect = true;
    }
}

bool sink_transaction_report(struct sink *sink, enum sink_way way, rd_kafka_resp_err_t code, struct sink_report *report)
{
    struct sink_transaction *transaction = sink->transaction;
    struct sink_ticket ticket = sink_ticket_redeem(&transaction->tickets, report);
    if (report->delivered) {
        if (ticket.copy) {
            sink_copy_written(&transaction->copies, ticket.place, report->offset);
        }
        return sink_copy_tells(report);
    }
    bool purge = sink_failure_is_purge(code);
    if (purge && transaction->probing && !transaction->told) {
        sink_transaction_hold_judge(sink, report);
        purge = report->failure != DELIVERY_FAULT;
    }
    report->failure = purge ? DELIVERY_UNDONE : report->failure;
    note_failure(transaction, purge, report->error);
    if (way != SINK_WAY_SINGLE && sink_failure_of_batch(code)) {
        report->failure = DELIVERY_UNDONE; /* it may be innocent: its own verdict comes when it goes alone */
        suspect_hash(sink, report->target_hash);
        go_alone(transaction);
    }
    return sink_copy_tells(report);
}

/* ------------------------------------------------------------------------------------------------- the end */

static rd_kafka_topic_partition_list_t *list_of(const struct sink_offset *offsets, size_t count)
{
    rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new((int)count);
    for (size_t i = 0; i < count; i++) {
        rd_kafka_topic_partition_t *item = rd_kafka_topic_partition_list_add(list, offsets[i].topic, offsets[i].partition);
        item->offset = offsets[i].offset;
        item->metadata_size = strlen(offsets[i].metadata);
        item->metadata = memory_text(offsets[i].metadata, item->metadata_size); /* the list frees it */
    }
    return list;
}

/* NULL: they do not read, and the transaction has failed. */
static rd_kafka_consumer_group_metadata_t *read_members(struct sink_transaction *transaction, struct span members)
{
    rd_kafka_consumer_group_metadata_t *read = NULL;
    rd_kafka_error_t *error = rd_kafka_consumer_group_metadata_read(&read, members.data, members.length);
    if (error != NULL) {
        note_failure(transaction, false, rd_kafka_error_string(error));
        rd_kafka_error_destroy(error);
    }
    return read;
}

void sink_transaction_end(struct sink *sink, bool abort, const struct sink_offset *offsets, size_t count, struct span members)
{
    struct sink_transaction *transaction = sink->transaction;
    struct sink_transaction_order order = {.way = transaction->way};
    transaction->told = abort;
    transaction->ending = true;
    transaction->ended_ms = kafka_handle_clock_ms();
    if (!abort && !transaction->failed && count > 0) {
        if (members.data == NULL) {
            note_failure(transaction, false, "no partition is assigned any more");
        } else if ((order.members = read_members(transaction, members)) != NULL) {
            order.offsets = list_of(offsets, count);
        }
    }
    transaction->order = order;
    transaction->delayed = transaction->probing && !abort;
    if (transaction->delayed) {
        sink_transaction_hold_wake(transaction);
    } else {
        sink_transaction_post(transaction);
    }
}

void sink_transaction_post(struct sink_transaction *transaction)
{
    struct sink_transaction_shared *shared = transaction->shared;
    transaction->order.abort = transaction->told || transaction->failed;
    transaction->delayed = false;
    pthread_mutex_lock(&shared->lock);
    shared->order = transaction->order;
    shared->stage = SINK_TRANSACTION_ORDERED;
    pthread_cond_broadcast(&shared->changed);
    pthread_mutex_unlock(&shared->lock);
    transaction->order = (struct sink_transaction_order){0};
}

/* The suspects were in a transaction that committed: whoever spoilt the other one is set aside. One whose records do not come again (the partition was
 * lost, or the cache has forgotten it) must not slow down the others for ever. */
static void look_at_suspects(struct sink *sink, bool committed)
{
    struct sink_transaction *transaction = sink->transaction;
    bool cleared = transaction->way == SINK_WAY_SINGLE && committed && transaction->suspect;
    bool too_long = transaction->alone && kafka_handle_clock_ms() - transaction->alone_ms > ALONE_MOST_MS;
    if (!cleared && !too_long) {
        return;
    }
    transaction->alone = false;
    transaction->probing = false;
    for (size_t i = 0; i < SINK_TOPICS; i++) {
        if (sink->topics[i] != NULL) {
            sink->topics[i]->suspect = false;
        }
    }
}

/* The two take turns; the single one goes on until the suspects are cleared. */
static void choose_next(struct sink *sink, bool committed)
{
    struct sink_transaction *transaction = sink->transaction;
    look_at_suspects(sink, committed);
    transaction->number++;
    transaction->suspect = false;
    if (transaction->way == transaction->turn) {
        transaction->turn = transaction->turn == SINK_WAY_FIRST ? SINK_WAY_SECOND : SINK_WAY_FIRST;
    }
    transaction->way = transaction->alone ? SINK_WAY_SINGLE : transaction->turn;
    transaction->used = false;
    transaction->failed = false;
    transaction->purge_only = false;
    transaction->full = false;
    transaction->told = false;
    transaction->ending = false;
    transaction->error[0] = '\0';
    if (transaction->early) {
        transaction->early = false;
        note_failure(transaction, false, not_now);
    }
}

/* A record's own reason says more than the producer's, which says more than that something was thrown out. */
static void word_error(const struct sink_transaction *transaction, const char *producer_words, char *error)
{
    bool own = transaction->error[0] != '\0' && (!transaction->purge_only || producer_words[0] == '\0');
    snprintf(error, SINK_ERROR_MAX, "%s", own ? transaction->error : producer_words);
}

/* All were thrown out for one topic, and nobody said which: it is one of those that were in it, and going topic by topic will tell. */
static void find_topic(struct sink *sink, rd_kafka_resp_err_t code)
{
    struct sink_transaction *transaction = sink->transaction;
    if (!transaction->failed || !transaction->purge_only || sink_failure_of(code) != DELIVERY_FAULT) {
        return;
    }
    go_alone(transaction);
    transaction->probing = true;
    for (size_t i = 0; i < SINK_TOPICS; i++) {
        struct sink_topic *topic = sink->topics[i];
        if (topic != NULL && topic->transaction == transaction->number) {
            topic->suspect = true;
        }
    }
}

/* All reports on its records were handed over. */
static bool is_told(const struct sink *sink)
{
    return sink->producers[sink->transaction->way].queued == 0 && sink_copy_told(&sink->transaction->copies);
}

bool sink_transaction_poll(struct sink *sink, struct sink_transaction_result *result)
{
    struct sink_transaction *transaction = sink->transaction;
    if (transaction == NULL || !is_told(sink) || transaction->held != NULL || transaction->delayed) {
        return false;
    }
    struct sink_transaction_shared *shared = transaction->shared;
    rd_kafka_resp_err_t code = RD_KAFKA_RESP_ERR_NO_ERROR;
    char words[SINK_ERROR_MAX] = "";
    pthread_mutex_lock(&shared->lock);
    bool ended = shared->stage == SINK_TRANSACTION_ENDED;
    if (ended) {
        shared->stage = SINK_TRANSACTION_IDLE;
        result->committed = shared->committed;
        code = shared->code;
        memcpy(words, shared->error, sizeof words);
    }
    pthread_mutex_unlock(&shared->lock);
    if (!ended) {
        return false;
    }
    sink_copy_end(&transaction->copies, result);
    result->took_ms = kafka_handle_clock_ms() - transaction->ended_ms;
    result->error[0] = '\0';
    result->full = !result->committed && transaction->full;
    if (!result->committed && !transaction->told) {
        word_error(transaction, words, result->error);
        find_topic(sink, code);
    }
    choose_next(sink, result->committed);
    return true;
}
