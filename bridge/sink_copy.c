/* Records written again to the end of their own partition (R4). */
#include "bridge/sink_copy.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "bridge/sink_headers.h"
#include "bridge/sink_transaction.h"
#include "bridge/sink_transaction_state.h"

/* ------------------------------------------------------------------------------------------------- where they end */

/* The name as it is kept: equal names are the same pointer. */
static const char *keep_name(struct sink_copies *copies, const char *topic)
{
    for (size_t i = 0; i < copies->topic_count; i++) {
        if (strcmp(copies->topics[i], topic) == 0) {
            return copies->topics[i];
        }
    }
    copies->topics = memory_resize(copies->topics, copies->topic_count + 1, sizeof *copies->topics);
    copies->topics[copies->topic_count] = memory_text(topic, strlen(topic));
    return copies->topics[copies->topic_count++];
}

/* The place of a partition. From the last one back: copies come partition by partition. */
static size_t place_of(struct sink_copies *copies, const char *topic, int32_t partition)
{
    const char *name = keep_name(copies, topic);
    for (size_t i = copies->place_count; i > 0; i--) {
        const struct sink_copied *copied = &copies->places[i - 1].copied;
        if (copied->partition == partition && copied->topic == name) {
            return i - 1;
        }
    }
    if (copies->place_count == copies->place_capacity) {
        copies->place_capacity = copies->place_capacity == 0 ? 16 : copies->place_capacity * 2;
        copies->places = memory_resize(copies->places, copies->place_capacity, sizeof *copies->places);
    }
    copies->places[copies->place_count] = (struct sink_copy_place){.copied = {name, partition, -1}};
    return copies->place_count++;
}

void sink_copy_written(struct sink_copies *copies, size_t place, int64_t offset)
{
    struct sink_copy_place *written = &copies->places[place];
    written->unsaid = written->unsaid || offset < 0;
    if (offset >= written->copied.end) {
        written->copied.end = offset + 1;
    }
}

void sink_copy_end(struct sink_copies *copies, struct sink_transaction_result *result)
{
    size_t count = result->committed ? copies->place_count : 0;
    if (copies->said_capacity < count) {
        copies->said_capacity = copies->place_capacity;
        copies->said = memory_resize(copies->said, copies->said_capacity, sizeof *copies->said);
    }
    for (size_t i = 0; i < count; i++) {
        copies->said[i] = copies->places[i].copied;
        copies->said[i].end = copies->places[i].unsaid ? -1 : copies->said[i].end;
    }
    copies->place_count = 0;
    result->copied = copies->said;
    result->copied_count = count;
}

/* ------------------------------------------------------------------------------------------------- what is told of them */

bool sink_copy_tells(const struct sink_report *report)
{
    return !report->copy || (report->token != NULL && !report->delivered && report->failure == DELIVERY_FAULT);
}

static void keep_refused(struct sink_copies *copies, const struct sink_report *report)
{
    if (copies->refused_count == SINK_COPY_REFUSED_MAX) {
        return;
    }
    if (copies->refused_count == copies->refused_capacity) {
        copies->refused_capacity = copies->refused_capacity == 0 ? 16 : copies->refused_capacity * 2;
        copies->refused = memory_resize(copies->refused, copies->refused_capacity, sizeof *copies->refused);
    }
    copies->refused[copies->refused_count++] = *report;
}

size_t sink_copy_poll(struct sink_copies *copies, struct sink_report *reports, size_t most)
{
    size_t count = 0;
    while (count < most && !sink_copy_told(copies)) {
        reports[count++] = copies->refused[copies->refused_first++];
    }
    if (sink_copy_told(copies)) {
        copies->refused_first = 0;
        copies->refused_count = 0;
    }
    return count;
}

bool sink_copy_told(const struct sink_copies *copies)
{
    return copies->refused_first == copies->refused_count;
}

void sink_copy_free(struct sink_copies *copies)
{
    for (size_t i = 0; i < copies->topic_count; i++) {
        free(copies->topics[i]);
    }
    free(copies->topics);
    free(copies->places);
    free(copies->said);
    free(copies->refused);
    *copies = (struct sink_copies){0};
}

/* ------------------------------------------------------------------------------------------------- writing one */

static enum sink_result refuse_name(void *token, struct sink_report *report)
{
    *report = (struct sink_report){.token = token, .copy = true, .failure = DELIVERY_FAULT, .reason = "undeliverable", .offset = -1, .partition = -1};
    snprintf(report->error, sizeof report->error, "the delay topic's name is no legal one");
    return SINK_FAILED;
}

static enum sink_result write_again(struct sink *sink,
                                    const struct row *row,
                                    const struct sink_origin *origin,
                                    const struct outgoing_again *again,
                                    void *token,
                                    struct sink_report *report)
{
    struct sink_transaction *transaction = sink->transaction;
    struct sink_topic *topic = sink_topic_get(sink, span_of_text(origin->topic));
    if (topic == NULL) {
        return refuse_name(token, report);
    }
    size_t place = place_of(&transaction->copies, origin->topic, origin->partition);
    return sink_send_transactional(sink, topic, origin->partition, row->record.key, row->record.value, sink_headers_copied(row, origin, again),
                                 sink_ticket_take(&transaction->tickets, token, true, place), report);
}

enum sink_result sink_copy(struct sink *sink, const struct row *row, const struct sink_origin *origin, const struct outgoing_again *again, void *token)
{
    if (!sink_transaction_open_for_records(sink)) {
        sink_transaction_not_now(sink);
        return SINK_FAILED;
    }
    struct sink_report report;
    enum sink_result result = write_again(sink, row, origin, again, token, &report);
    sink_transaction_sent(sink, result, result == SINK_FAILED ? &report : NULL);
    if (result == SINK_FAILED && sink_copy_tells(&report)) {
        keep_refused(&sink->transaction->copies, &report);
        sink_transaction_hold_wake(sink->transaction); /* no report of librdkafka's calls the owner to sink_poll */
    }
    return result;
}
