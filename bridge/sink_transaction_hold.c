/*
 * Whose topic is it that a transaction is refused for?
 *
 * The coordinator refuses a transaction when one of its topics may not be written to, and librdkafka then throws all of its records out without
 * naming the topic. So the next one is done topic by topic: the records are held here, and those of one topic are handed on when those of the one
 * before are acknowledged. What is thrown out then is of the topic at fault. Slow, and only until a transaction has committed.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "bridge/sink_failure.h"
#include "bridge/sink_transaction_state.h"

#define RECORDS_MOST 100000u
#define BYTES_MOST 268435456u

struct sink_transaction_held {
    struct sink_transaction_held *next;
    char topic[250];
    int32_t partition;
    struct span key; /* both behind the struct */
    struct span value;
    rd_kafka_headers_t *headers;
    void *ticket;
    uint8_t bytes[];
};

static struct span keep(struct span from, uint8_t *to)
{
    if (from.data == NULL) {
        return SPAN_ABSENT;
    }
    memcpy(to, from.data, from.length);
    return (struct span){to, from.length};
}

static size_t size_of(const struct sink_transaction_held *held)
{
    return held->key.length + held->value.length;
}

enum sink_result sink_transaction_hold(struct sink *sink,
                                       const struct sink_topic *topic,
                                       int32_t partition,
                                       struct span key,
                                       struct span value,
                                       rd_kafka_headers_t *headers,
                                       void *ticket)
{
    struct sink_transaction *transaction = sink->transaction;
    size_t length = key.length + value.length;
    if (transaction->held_count >= RECORDS_MOST || transaction->held_bytes + length > BYTES_MOST) {
        rd_kafka_headers_destroy(headers);
        return SINK_FULL;
    }
    struct sink_transaction_held *held = memory_new(1, sizeof *held + length + 2); /* so that what is empty has bytes to point to */
    memcpy(held->topic, topic->name, sizeof held->topic);
    held->partition = partition;
    held->key = keep(key, held->bytes);
    held->value = keep(value, held->bytes + key.length + 1);
    held->headers = headers;
    held->ticket = ticket;
    if (transaction->held == NULL) {
        transaction->held = held;
    } else {
        transaction->held_last->next = held;
    }
    transaction->held_last = held;
    transaction->held_count++;
    transaction->held_bytes += length;
    sink->queued_messages++;
    sink->queued_bytes += length;
    return SINK_TAKEN;
}

/* Takes the one behind `before` (NULL: the first) out and frees it. */
static void drop(struct sink *sink, struct sink_transaction_held *before)
{
    struct sink_transaction *transaction = sink->transaction;
    struct sink_transaction_held *held = before == NULL ? transaction->held : before->next;
    if (before == NULL) {
        transaction->held = held->next;
    } else {
        before->next = held->next;
    }
    if (transaction->held_last == held) {
        transaction->held_last = before;
    }
    transaction->held_count--;
    transaction->held_bytes -= size_of(held);
    sink->queued_messages--;
    sink->queued_bytes -= size_of(held);
    rd_kafka_headers_destroy(held->headers);
    free(held);
}

void sink_transaction_hold_free(struct sink *sink)
{
    while (sink->transaction->held != NULL) {
        drop(sink, NULL);
    }
}

/* False: there is no room now. *tells: it was refused, and *report is to be handed out. */
static bool hand_on(struct sink *sink, const struct sink_transaction_held *held, struct sink_report *report, bool *tells)
{
    struct sink_topic *topic = sink_topic_get(sink, span_of_text(held->topic));
    enum sink_result result = sink_send_on(sink, sink->transaction->way, topic, held->partition, held->key, held->value,
                                           rd_kafka_headers_copy(held->headers), held->ticket, report);
    if (result == SINK_FAILED) {
        (void)sink_ticket_redeem(&sink->transaction->tickets, report);
        sink_transaction_sent(sink, result, report);
    }
    *tells = result == SINK_FAILED && sink_copy_tells(report);
    return result != SINK_FULL;
}

/* Hands on all of the first one's topic; returns how many reports that made. */
static size_t release_topic(struct sink *sink, struct sink_report *reports, size_t most)
{
    struct sink_transaction *transaction = sink->transaction;
    char topic[sizeof transaction->held->topic];
    memcpy(topic, transaction->held->topic, sizeof topic);
    struct sink_transaction_held *before = NULL;
    struct sink_transaction_held *held = transaction->held;
    size_t count = 0;
    while (held != NULL && count < most) {
        struct sink_transaction_held *next = held->next;
        struct sink_report report;
        bool tells = false;
        if (strcmp(held->topic, topic) != 0) {
            before = held;
        } else if (!hand_on(sink, held, &report, &tells)) {
            break;
        } else {
            drop(sink, before);
        }
        if (tells) {
            reports[count++] = report;
        }
        held = next;
    }
    return count;
}

/* The transaction will be aborted: they are not tried. */
static size_t give_back(struct sink *sink, struct sink_report *reports, size_t most)
{
    struct sink_transaction *transaction = sink->transaction;
    size_t count = 0;
    while (transaction->held != NULL && count < most) {
        const struct sink_transaction_held *held = transaction->held;
        struct sink_report *report = &reports[count];
        *report = (struct sink_report){.token = held->ticket, .failure = DELIVERY_UNDONE, .offset = -1, .partition = -1,
                                       .target_hash = sink_target_hash(span_of_text(held->topic))};
        snprintf(report->error, sizeof report->error, "not tried: the transaction is aborted for another record");
        (void)sink_ticket_redeem(&transaction->tickets, report);
        count += sink_copy_tells(report);
        drop(sink, NULL);
    }
    return count;
}

void sink_transaction_hold_wake(const struct sink_transaction *transaction)
{
    pthread_mutex_lock(&transaction->shared->lock);
    sink_transaction_shared_wake(transaction->shared);
    pthread_mutex_unlock(&transaction->shared->lock);
}

size_t sink_transaction_hold_poll(struct sink *sink, struct sink_report *reports, size_t most)
{
    struct sink_transaction *transaction = sink->transaction;
    size_t count = 0;
    if (transaction == NULL || !transaction->probing) {
        return 0;
    }
    if (transaction->held != NULL && (transaction->failed || transaction->told)) {
        count = give_back(sink, reports, most);
    } else if (transaction->held != NULL && sink->producers[transaction->way].queued == 0) {
        count = release_topic(sink, reports, most);
    }
    if (transaction->delayed && sink->producers[transaction->way].queued == 0) {
        if (transaction->held == NULL) {
            sink_transaction_post(transaction);
        } else {
            sink_transaction_hold_wake(transaction); /* none of the topic's was taken: no report will come */
        }
    }
    return count;
}

void sink_transaction_hold_judge(struct sink *sink, struct sink_report *report)
{
    rd_kafka_resp_err_t code;
    char words[SINK_ERROR_MAX];
    if (sink_transaction_thread_cause(sink->producers[sink->transaction->way].handle, &code, words) && sink_failure_of(code) == DELIVERY_FAULT) {
        report->failure = DELIVERY_FAULT;
        report->reason = sink_failure_reason(code);
        memcpy(report->error, words, sizeof report->error);
    }
}
