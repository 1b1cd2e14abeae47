/* The transactions of a letter sink. librdkafka's calls are resumed by calling them again (docs/internals/kafka.md); here until a deadline. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "bridge/kafka_handle.h"
#include "bridge/letter_sink_state.h"
#include "bridge/sink_failure.h"

#define SLICE_MS 500
#define AGAIN_MS 5 /* between two tries of what failed at once */

enum answer {
    ANSWER_DONE,
    ANSWER_AGAIN, /* not known by the deadline, or when it was stopped */
    ANSWER_ABORT, /* the transaction can only be aborted */
    ANSWER_NEVER, /* the producer is at its end */
};

struct call {
    rd_kafka_error_t *(*function)(rd_kafka_t *handle, int slice_ms, const struct call *call);
    const rd_kafka_topic_partition_list_t *offsets;
    const rd_kafka_consumer_group_metadata_t *members;
};

static rd_kafka_t *handle_of(const struct letter_sink *sink)
{
    return sink->producers[0].handle;
}

static int64_t left_until(int64_t end_ms)
{
    int64_t left_ms = end_ms - kafka_handle_clock_ms();
    return left_ms > 0 ? left_ms : 0;
}

/* Reads and frees what a call said. */
static enum answer read_error(rd_kafka_error_t *failure, struct error *error)
{
    if (failure == NULL) {
        return ANSWER_DONE;
    }
    enum answer answer = rd_kafka_error_is_fatal(failure)              ? ANSWER_NEVER
                         : rd_kafka_error_txn_requires_abort(failure) ? ANSWER_ABORT
                         : rd_kafka_error_is_retriable(failure)       ? ANSWER_AGAIN
                                                                      : ANSWER_ABORT;
    rd_kafka_resp_err_t code = rd_kafka_error_code(failure);
    bool fenced = answer == ANSWER_NEVER && (code == RD_KAFKA_RESP_ERR__FENCED || code == RD_KAFKA_RESP_ERR_PRODUCER_FENCED ||
                                             code == RD_KAFKA_RESP_ERR_INVALID_PRODUCER_EPOCH);
    error_set(error, fenced ? ERROR_FENCED : ERROR_UNAVAILABLE, "%s: %s", rd_kafka_error_name(failure), rd_kafka_error_string(failure));
    rd_kafka_error_destroy(failure);
    return answer;
}

static bool is_stopped(const struct letter_sink *sink)
{
    return sink->stopped != NULL && sink->stopped(sink->stopped_context);
}

/* Calls until the result is known, or end_ms, or it is stopped. Callbacks are served by the calls themselves. */
static enum answer run(struct letter_sink *sink, const struct call *call, int64_t end_ms, struct error *error)
{
    for (;;) {
        int64_t left_ms = left_until(end_ms);
        int slice_ms = left_ms < 1 ? 1 : left_ms < SLICE_MS ? (int)left_ms : SLICE_MS;
        enum answer answer = read_error(call->function(handle_of(sink), slice_ms, call), error);
        if (answer != ANSWER_AGAIN || left_until(end_ms) == 0 || is_stopped(sink)) {
            return answer;
        }
        letter_sink_serve(sink, AGAIN_MS);
    }
}

static rd_kafka_error_t *call_init(rd_kafka_t *handle, int slice_ms, const struct call *call)
{
    (void)call;
    return rd_kafka_init_transactions(handle, slice_ms);
}

/* Not resumable: it gets the transaction's time. */
static rd_kafka_error_t *call_offsets(rd_kafka_t *handle, int slice_ms, const struct call *call)
{
    (void)slice_ms;
    return rd_kafka_send_offsets_to_transaction(handle, call->offsets, call->members, -1);
}

static rd_kafka_error_t *call_commit(rd_kafka_t *handle, int slice_ms, const struct call *call)
{
    (void)call;
    return rd_kafka_commit_transaction(handle, slice_ms);
}

static rd_kafka_error_t *call_abort(rd_kafka_t *handle, int slice_ms, const struct call *call)
{
    (void)call;
    return rd_kafka_abort_transaction(handle, slice_ms);
}

bool letter_sink_settle(struct letter_sink *sink, int64_t timeout_ms, struct error *error)
{
    const struct call call = {.function = call_init};
    if (run(sink, &call, kafka_handle_clock_ms() + timeout_ms, error) == ANSWER_DONE) {
        return true;
    }
    return error_prefix(error, "transactional id %s", sink->transactional_id);
}

bool letter_sink_begin(struct letter_sink *sink, struct error *error)
{
    sink->sent = 0;
    sink->purged = false;
    return read_error(rd_kafka_begin_transaction(handle_of(sink)), error) == ANSWER_DONE;
}

bool letter_sink_transaction_cause(const struct letter_sink *sink, rd_kafka_resp_err_t *code, char *words, size_t size)
{
    rd_kafka_error_t *failure = rd_kafka_begin_transaction(handle_of(sink)); /* begun it is already: it says no, with the first reason */
    bool failed = failure != NULL && (rd_kafka_error_txn_requires_abort(failure) || rd_kafka_error_is_fatal(failure));
    if (failed) {
        *code = rd_kafka_error_code(failure);
        if (words != NULL) {
            snprintf(words, size, "%s: %s", rd_kafka_error_name(failure), rd_kafka_error_string(failure));
        }
    }
    if (failure != NULL) {
        rd_kafka_error_destroy(failure);
    }
    return failed;
}

/* ------------------------------------------------------------------------------------------------- the end */

static rd_kafka_topic_partition_list_t *offsets_of(const struct letter_sink_place *place, const char *text)
{
    rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new(1);
    rd_kafka_topic_partition_t *item = rd_kafka_topic_partition_list_add(list, place->topic, place->partition);
    size_t size = strlen(text);
    item->offset = 0;
    item->metadata = rd_kafka_mem_malloc(NULL, size + 1); /* freed with the list, by librdkafka */
    memcpy(item->metadata, text, size + 1);
    item->metadata_size = size;
    return list;
}

static enum answer send_offsets(struct letter_sink *sink, const struct letter_sink_place *place, const char *text, int64_t end_ms, struct error *error)
{
    rd_kafka_topic_partition_list_t *offsets = offsets_of(place, text);
    rd_kafka_consumer_group_metadata_t *members = rd_kafka_consumer_group_metadata_new(place->group);
    const struct call call = {.function = call_offsets, .offsets = offsets, .members = members};
    enum answer answer = run(sink, &call, end_ms, error);
    rd_kafka_consumer_group_metadata_destroy(members);
    rd_kafka_topic_partition_list_destroy(offsets);
    return answer;
}

bool letter_sink_commit(struct letter_sink *sink, const struct letter_sink_place *place, const char *text, int64_t timeout_ms, bool *aborted, struct error *error)
{
    const struct call call = {.function = call_commit};
    int64_t end_ms = kafka_handle_clock_ms() + timeout_ms;
    *aborted = false;
    enum answer answer = send_offsets(sink, place, text, end_ms, error);
    if (answer == ANSWER_DONE) {
        answer = run(sink, &call, end_ms, error);
    } else if (answer == ANSWER_AGAIN) {
        answer = ANSWER_ABORT; /* nothing was decided yet */
    }
    if (answer == ANSWER_ABORT) {
        *aborted = letter_sink_abort(sink, timeout_ms, NULL);
    }
    return answer == ANSWER_DONE;
}

bool letter_sink_abort(struct letter_sink *sink, int64_t timeout_ms, struct error *error)
{
    const struct call call = {.function = call_abort};
    enum answer answer = run(sink, &call, kafka_handle_clock_ms() + timeout_ms, error);
    letter_sink_serve(sink, 0);
    letter_sink_drop_reports(sink);
    return answer == ANSWER_DONE;
}

/* ------------------------------------------------------------------------------------------------- the text */

static bool take_text(const rd_kafka_topic_partition_t *item, char *text, size_t size, struct error *error)
{
    if (item->metadata_size >= size) {
        return error_set(error, ERROR_CORRUPT, "the metadata of %s [%" PRId32 "] are %zu bytes long", item->topic, item->partition, item->metadata_size);
    }
    if (item->metadata_size > 0) {
        memcpy(text, item->metadata, item->metadata_size);
    }
    text[item->metadata_size] = '\0';
    return true;
}

/* A consumer that joins nothing: by read_committed, its default, an offset of a transaction that has not ended is waited for. */
static rd_kafka_t *open_asker(const struct letter_sink *sink, const char *group, struct error *error)
{
    const struct kafka_handle_setting fixed[] = {{"group.id", group}, {"client.id", sink->client}, {"isolation.level", "read_committed"}};
    rd_kafka_conf_t *conf = kafka_handle_conf(NULL, 0, sink->properties, sink->property_count, fixed, sizeof fixed / sizeof fixed[0], error);
    return conf == NULL ? NULL : kafka_handle_new(RD_KAFKA_CONSUMER, conf, error);
}

bool letter_sink_committed(struct letter_sink *sink, const struct letter_sink_place *place, int64_t timeout_ms, char *text, size_t size, struct error *error)
{
    rd_kafka_t *asker = open_asker(sink, place->group, error);
    if (asker == NULL) {
        return false;
    }
    rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new(1);
    const rd_kafka_topic_partition_t *item = rd_kafka_topic_partition_list_add(list, place->topic, place->partition);
    rd_kafka_resp_err_t code = rd_kafka_committed(asker, list, (int)timeout_ms);
    code = code == RD_KAFKA_RESP_ERR_NO_ERROR ? item->err : code;
    bool done = code == RD_KAFKA_RESP_ERR_NO_ERROR
                    ? take_text(item, text, size, error)
                    : error_set(error, ERROR_UNAVAILABLE, "the committed offset of group %s, %s [%" PRId32 "]: %s", place->group, place->topic,
                                place->partition, rd_kafka_err2str(code));
    rd_kafka_topic_partition_list_destroy(list);
    kafka_handle_destroy(asker);
    return done;
}
