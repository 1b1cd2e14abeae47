/* Nack topics: see nack_source.h. The group's protocol is the eager one: after each rebalance everything begins at what is committed, so there is nothing to
 * keep track of but the batch at hand. */
#include "bridge/nack_source.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/log.h"
#include "base/memory.h"
#include "bridge/kafka_handle.h"
#include "bridge/source_state.h"
#include "bridge/target.h"

#define COMMIT_MS 10000
#define LEAVE_MS 3000
#define TROUBLE_EVERY_MS 60000
#define PATTERN_MAX 4096

/* What a record borrows from. */
struct slot {
    rd_kafka_event_t *event;
    struct record_header *headers;
    size_t header_room;
};

struct nack_source {
    rd_kafka_t *handle;
    rd_kafka_queue_t *queue;
    const char *const *matches;
    size_t match_count;
    struct slot *slots;
    size_t slot_room;
    size_t taken;                           /* slots in use */
    rd_kafka_topic_partition_list_t *next;  /* behind what was read: what a commit says */
    bool paused;
    bool disturbed;                         /* partitions changed hands since the last read */
    int64_t trouble_said_ms;                /* -TROUBLE_EVERY_MS: never */
};

static const struct kafka_handle_setting defaults[] = {
    {"topic.metadata.refresh.interval.ms", "10000"},
    {"queued.max.messages.kbytes", "16384"},
    {"fetch.error.backoff.ms", "50"},
    {"reconnect.backoff.max.ms", "2000"},
};

static rd_kafka_conf_t *configuration(const struct nack_source_options *options, const char *client_id, struct error *error)
{
    const struct kafka_handle_setting fixed[] = {
        {"group.id", options->group},
        {"client.id", client_id},
        {"isolation.level", "read_committed"},
        {"enable.auto.commit", "false"},
        {"enable.auto.offset.store", "false"},
        {"auto.offset.reset", "earliest"},
        {"partition.assignment.strategy", "range,roundrobin"},
    };
    rd_kafka_conf_t *conf = kafka_handle_conf(defaults, sizeof defaults / sizeof defaults[0], options->properties, options->property_count, fixed,
                                              sizeof fixed / sizeof fixed[0], error);
    if (conf != NULL) {
        rd_kafka_conf_set_events(conf, RD_KAFKA_EVENT_FETCH | RD_KAFKA_EVENT_REBALANCE | RD_KAFKA_EVENT_ERROR | RD_KAFKA_EVENT_OFFSET_COMMIT);
    }
    return conf;
}

/* A regular expression for exactly the topics that the glob means: all that is not a letter, digit, '_' or '-' is quoted, but for `*`. */
static void pattern_of(const char *match, struct buffer *pattern)
{
    buffer_clear(pattern);
    buffer_add_text(pattern, "^");
    for (const char *at = match; *at != '\0'; at++) {
        bool plain = (*at >= 'a' && *at <= 'z') || (*at >= 'A' && *at <= 'Z') || (*at >= '0' && *at <= '9') || *at == '_' || *at == '-';
        buffer_add_text(pattern, *at == '*' ? "." : plain ? "" : "\\");
        buffer_add(pattern, at, 1);
    }
    buffer_add(pattern, "$", 2);
}

static bool subscribe(rd_kafka_t *handle, const struct nack_source_options *options, struct error *error)
{
    rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new((int)options->match_count);
    struct buffer pattern = buffer_new(PATTERN_MAX);
    for (size_t i = 0; i < options->match_count && !pattern.full; i++) {
        pattern_of(options->matches[i], &pattern);
        rd_kafka_topic_partition_list_add(list, (const char *)pattern.data, RD_KAFKA_PARTITION_UA);
    }
    rd_kafka_resp_err_t code = pattern.full ? RD_KAFKA_RESP_ERR__INVALID_ARG : rd_kafka_subscribe(handle, list);
    rd_kafka_topic_partition_list_destroy(list);
    buffer_free(&pattern);
    return code == RD_KAFKA_RESP_ERR_NO_ERROR ? true : error_set(error, ERROR_INVALID, "subscribing to the nack topics: %s", rd_kafka_err2str(code));
}

bool nack_source_open(const struct nack_source_options *options, struct nack_source **source, struct error *error)
{
    char client_id[256];
    snprintf(client_id, sizeof client_id, "tarry-%s-nacks", options->instance);
    rd_kafka_conf_t *conf = configuration(options, client_id, error);
    rd_kafka_t *handle = conf == NULL ? NULL : kafka_handle_new(RD_KAFKA_CONSUMER, conf, error);
    if (handle == NULL) {
        return false;
    }
    rd_kafka_poll_set_consumer(handle);
    struct nack_source *made = memory_new(1, sizeof *made);
    made->handle = handle;
    made->queue = rd_kafka_queue_get_consumer(handle);
    made->matches = options->matches;
    made->match_count = options->match_count;
    made->next = rd_kafka_topic_partition_list_new(8);
    made->trouble_said_ms = -TROUBLE_EVERY_MS;
    if (!subscribe(handle, options, error)) {
        nack_source_close(made);
        return false;
    }
    *source = made;
    return true;
}

/* ------------------------------------------------------------------------------------------------- events */

static void forget(struct nack_source *source)
{
    for (size_t i = 0; i < source->taken; i++) {
        rd_kafka_event_destroy(source->slots[i].event);
        source->slots[i].event = NULL;
    }
    source->taken = 0;
}

/* A pause outlives an assignment inside librdkafka. */
static void set_paused(struct nack_source *source, bool paused)
{
    rd_kafka_topic_partition_list_t *list = NULL;
    if (source->paused == paused || rd_kafka_assignment(source->handle, &list) != RD_KAFKA_RESP_ERR_NO_ERROR) {
        return;
    }
    (void)(paused ? rd_kafka_pause_partitions(source->handle, list) : rd_kafka_resume_partitions(source->handle, list));
    rd_kafka_topic_partition_list_destroy(list);
    source->paused = paused;
}

/* What is assigned begins at what is committed: the list has no offsets. NULL: nothing is. */
static void assign(struct nack_source *source, const rd_kafka_topic_partition_list_t *list)
{
    forget(source);
    rd_kafka_topic_partition_list_destroy(source->next);
    source->next = rd_kafka_topic_partition_list_new(8);
    source->disturbed = true;
    rd_kafka_resp_err_t code = rd_kafka_assign(source->handle, list);
    if (code != RD_KAFKA_RESP_ERR_NO_ERROR) {
        log_write(LOG_LEVEL_WARNING, "nack_assign", NULL, 0, "partitions of nack topics could not be taken over; it is tried again with the next change of the group: %s", rd_kafka_err2str(code));
    }
}

static void rebalance(struct nack_source *source, rd_kafka_event_t *event)
{
    set_paused(source, false);
    bool assigned = rd_kafka_event_error(event) == RD_KAFKA_RESP_ERR__ASSIGN_PARTITIONS;
    const rd_kafka_topic_partition_list_t *list = rd_kafka_event_topic_partition_list(event);
    assign(source, assigned ? list : NULL);
    log_write(LOG_LEVEL_INFO, "nack_partitions", LOG_FIELDS(LOG_NUMBER("partitions", assigned && list != NULL ? list->cnt : 0)),
              assigned ? "reading nack topics" : "the nack topics' partitions are shared out anew");
}

/* A record came while the batch before it is not done with: it would be lost from sight. So all begins again at what is committed. */
static void start_over(struct nack_source *source)
{
    rd_kafka_topic_partition_list_t *list = NULL;
    if (rd_kafka_assignment(source->handle, &list) != RD_KAFKA_RESP_ERR_NO_ERROR) {
        return;
    }
    for (int i = 0; i < list->cnt; i++) {
        list->elems[i].offset = RD_KAFKA_OFFSET_INVALID;
    }
    assign(source, list);
    rd_kafka_topic_partition_list_destroy(list);
}

/* librdkafka tells the same trouble again and again, and never that it is over. */
static void say_trouble(struct nack_source *source, const char *text)
{
    int64_t now_ms = kafka_handle_clock_ms();
    if (now_ms - source->trouble_said_ms >= TROUBLE_EVERY_MS) {
        source->trouble_said_ms = now_ms;
        log_write(LOG_LEVEL_WARNING, "nack_trouble", NULL, 0, "reading nack topics has trouble, and is tried again: %s", text == NULL ? "unknown" : text);
    }
}

static size_t match_of(const struct nack_source *source, const char *topic)
{
    size_t match = 0;
    while (match + 1 < source->match_count && !target_glob_match(source->matches[match], span_of_text(topic))) {
        match++;
    }
    return match;
}

static void note_position(struct nack_source *source, const char *topic, int32_t partition, int64_t offset)
{
    rd_kafka_topic_partition_t *place = rd_kafka_topic_partition_list_find(source->next, topic, partition);
    if (place == NULL) {
        place = rd_kafka_topic_partition_list_add(source->next, topic, partition);
    }
    place->offset = offset + 1;
}

/* True: a record was added, and the event is kept with it. */
static bool take_record(struct nack_source *source, rd_kafka_event_t *event, struct nack_source_record *record)
{
    const rd_kafka_message_t *message = rd_kafka_event_message_next(event);
    if (message == NULL) {
        return false;
    }
    if (message->err != RD_KAFKA_RESP_ERR_NO_ERROR) {
        say_trouble(source, rd_kafka_message_errstr(message));
        return false;
    }
    struct slot *slot = &source->slots[source->taken];
    record->topic = rd_kafka_topic_name(message->rkt);
    record->partition = message->partition;
    record->match = match_of(source, record->topic);
    source_record_fill(message, &record->record, &slot->headers, &slot->header_room);
    note_position(source, record->topic, record->partition, message->offset);
    slot->event = event;
    source->taken++;
    return true;
}

/* All that is no record. */
static void handle(struct nack_source *source, rd_kafka_event_t *event)
{
    if (rd_kafka_event_type(event) == RD_KAFKA_EVENT_REBALANCE) {
        rebalance(source, event);
    } else if (rd_kafka_event_type(event) == RD_KAFKA_EVENT_ERROR) {
        say_trouble(source, rd_kafka_event_error_string(event));
    }
}

/* ------------------------------------------------------------------------------------------------- reading */

static void make_room(struct nack_source *source, size_t most)
{
    if (most > source->slot_room) {
        source->slots = memory_resize(source->slots, most, sizeof *source->slots);
        memset(source->slots + source->slot_room, 0, (most - source->slot_room) * sizeof *source->slots);
        source->slot_room = most;
    }
}

size_t nack_source_read(struct nack_source *source, int64_t timeout_ms, struct nack_source_record *records, size_t most)
{
    int64_t until_ms = kafka_handle_clock_ms() + timeout_ms;
    forget(source);
    make_room(source, most);
    set_paused(source, false);
    while (source->taken < most) {
        int64_t left_ms = source->taken > 0 ? 0 : until_ms - kafka_handle_clock_ms();
        rd_kafka_event_t *event = rd_kafka_queue_poll(source->queue, left_ms > 0 ? (int)left_ms : 0);
        if (event == NULL) {
            break;
        }
        bool record = rd_kafka_event_type(event) == RD_KAFKA_EVENT_FETCH;
        if (!record) {
            handle(source, event); /* what a rebalance takes from us is forgotten: taken is 0 again */
        }
        if (!record || !take_record(source, event, &records[source->taken])) {
            rd_kafka_event_destroy(event);
        }
    }
    source->disturbed = false;
    return source->taken;
}

bool nack_source_wait(struct nack_source *source, int64_t timeout_ms)
{
    int64_t until_ms = kafka_handle_clock_ms() + timeout_ms;
    int64_t left_ms = timeout_ms;
    set_paused(source, true);
    while (left_ms > 0 && !source->disturbed) {
        rd_kafka_event_t *event = rd_kafka_queue_poll(source->queue, (int)left_ms);
        if (event != NULL && rd_kafka_event_type(event) == RD_KAFKA_EVENT_FETCH && rd_kafka_event_message_next(event) != NULL) {
            set_paused(source, false);
            start_over(source);
        } else if (event != NULL) {
            handle(source, event);
        }
        if (event != NULL) {
            rd_kafka_event_destroy(event);
        }
        left_ms = until_ms - kafka_handle_clock_ms();
    }
    return !source->disturbed;
}

/* ------------------------------------------------------------------------------------------------- commit, end */

static rd_kafka_resp_err_t commit(struct nack_source *source)
{
    rd_kafka_queue_t *answers = rd_kafka_queue_new(source->handle);
    rd_kafka_resp_err_t code = rd_kafka_commit_queue(source->handle, source->next, answers, NULL, NULL);
    if (code == RD_KAFKA_RESP_ERR_NO_ERROR) {
        rd_kafka_event_t *event = rd_kafka_queue_poll(answers, COMMIT_MS);
        code = event == NULL ? RD_KAFKA_RESP_ERR__TIMED_OUT : rd_kafka_event_error(event);
        const rd_kafka_topic_partition_list_t *list = event == NULL ? NULL : rd_kafka_event_topic_partition_list(event);
        for (int i = 0; list != NULL && code == RD_KAFKA_RESP_ERR_NO_ERROR && i < list->cnt; i++) {
            code = list->elems[i].err;
        }
        if (event != NULL) {
            rd_kafka_event_destroy(event);
        }
    }
    rd_kafka_queue_destroy(answers);
    return code;
}

bool nack_source_commit(struct nack_source *source, struct error *error)
{
    if (source->next->cnt == 0) {
        return true;
    }
    rd_kafka_resp_err_t code = commit(source);
    if (code != RD_KAFKA_RESP_ERR_NO_ERROR) {
        return error_set(error, ERROR_UNAVAILABLE, "committing nacks: %s", rd_kafka_err2str(code));
    }
    rd_kafka_topic_partition_list_destroy(source->next);
    source->next = rd_kafka_topic_partition_list_new(8);
    return true;
}

/* The close protocol asks us to give up our partitions, as any rebalance does; librdkafka never ends while one waits for our answer. */
static void leave(struct nack_source *source)
{
    int64_t until_ms = kafka_handle_clock_ms() + LEAVE_MS;
    rd_kafka_queue_t *last = rd_kafka_queue_new(source->handle);
    rd_kafka_error_t *refused = rd_kafka_consumer_close_queue(source->handle, last);
    while (refused == NULL && !rd_kafka_consumer_closed(source->handle) && kafka_handle_clock_ms() < until_ms) {
        rd_kafka_event_t *event = rd_kafka_queue_poll(last, 100);
        if (event != NULL) {
            handle(source, event);
            rd_kafka_event_destroy(event);
        }
    }
    if (refused != NULL || !rd_kafka_consumer_closed(source->handle)) {
        (void)rd_kafka_assign(source->handle, NULL);
    }
    if (refused != NULL) {
        rd_kafka_error_destroy(refused);
    }
    rd_kafka_queue_destroy(last);
}

void nack_source_close(struct nack_source *source)
{
    if (source == NULL) {
        return;
    }
    forget(source);
    leave(source);
    rd_kafka_topic_partition_list_destroy(source->next);
    rd_kafka_queue_destroy(source->queue);
    kafka_handle_destroy(source->handle);
    for (size_t i = 0; i < source->slot_room; i++) {
        free(source->slots[i].headers);
    }
    free(source->slots);
    free(source);
}
