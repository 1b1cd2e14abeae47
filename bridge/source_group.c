/*
 * Rebalances. librdkafka asks (a REBALANCE event) and waits for an *assign call; meanwhile the other partitions stand still.
 *
 * Assigning: what is started by the time the notices are handed over goes into the call. A partition whose look-up must be repeated
 * does not hold up the others: it is added by a later call. Under the eager protocol such a call names the whole assignment again,
 * each partition at the offset that comes next; under the cooperative one it adds the new ones only. Held partitions are simply never
 * named: the group knows them as ours, nothing is fetched.
 *
 * Revoking: the call is made when all partitions of the revocation were released.
 */
#include <inttypes.h>
#include <string.h>

#include "base/log.h"
#include "base/memory.h"
#include "bridge/source_state.h"

static bool cooperative(const struct source *source)
{
    const char *protocol = rd_kafka_rebalance_protocol(source->handle);
    return protocol != NULL && strcmp(protocol, "COOPERATIVE") == 0;
}

static void note(struct source *source, enum source_event_kind kind, struct source_topic *topic, int32_t partition, bool lost)
{
    if (source->notice_count == source->notice_room) {
        source->notice_room = source->notice_room == 0 ? 16 : source->notice_room * 2;
        source->notices = memory_resize(source->notices, source->notice_room, sizeof *source->notices);
    }
    source->notices[source->notice_count++] = (struct source_notice){kind, topic, partition, lost};
}

static void take_assigned(struct source *source, const rd_kafka_topic_partition_list_t *list)
{
    for (int i = 0; i < list->cnt; i++) {
        struct source_topic *topic = source_topic_intern(source, list->elems[i].topic);
        struct source_partition *partition = source_topic_partition(topic, list->elems[i].partition);
        partition->phase = SOURCE_PHASE_ASKED;
        partition->fetching = false;
        partition->paused = false;
        note(source, SOURCE_ASSIGNED, topic, list->elems[i].partition, false);
    }
    source->assign_owed = true;
}

static void take_revoked(struct source *source, const rd_kafka_topic_partition_list_t *list)
{
    bool lost = rd_kafka_assignment_lost(source->handle) != 0;
    for (int i = 0; i < list->cnt; i++) {
        struct source_topic *topic = source_topic_intern(source, list->elems[i].topic);
        struct source_partition *partition = source_topic_partition(topic, list->elems[i].partition);
        if (partition->phase == SOURCE_PHASE_NONE) {
            continue;
        }
        partition->phase = SOURCE_PHASE_REVOKED;
        source->unreleased++;
        note(source, SOURCE_REVOKED, topic, list->elems[i].partition, lost);
    }
    if (!lost) {
        source_members_take(source); /* cooperative: it is a new generation, and until they are released all are still ours in it */
    }
    source->revoke_owed = true;
    source->assign_first = !lost;
    source->assign_owed = false; /* overtaken; what was started of it goes with the next call */
}

/* The event says that a join has come to its end, and librdkafka knows the new generation. */
static void end_rejoin(struct source *source, bool assigns)
{
    if (!assigns || !source->assign_first) {
        source->rejoining = false;
        source_commit_send_deferred(source);
    }
    source->assign_first = false;
}

void source_group_take(struct source *source, rd_kafka_event_t *event)
{
    const rd_kafka_topic_partition_list_t *list = rd_kafka_event_topic_partition_list(event);
    bool assigns = rd_kafka_event_error(event) == RD_KAFKA_RESP_ERR__ASSIGN_PARTITIONS;
    end_rejoin(source, assigns);
    if (assigns) {
        take_assigned(source, list);
    } else {
        take_revoked(source, list);
    }
}

bool source_group_notice(struct source *source, struct source_event *event)
{
    if (source->notice_next == source->notice_count) {
        source->notice_next = source->notice_count = 0;
        return false;
    }
    const struct source_notice *notice = &source->notices[source->notice_next++];
    event->kind = notice->kind;
    event->topic = notice->topic->name;
    event->partition = notice->partition;
    event->lost = notice->lost;
    return true;
}

/* ------------------------------------------------------------------------------------- telling librdkafka */

static void report(rd_kafka_error_t *error, const char *what)
{
    if (error != NULL) {
        log_write(LOG_LEVEL_WARNING, "kafka_assignment", NULL, 0, "a change of partitions did not get through to Kafka's client (%s), which asks again: %s", what, rd_kafka_error_string(error));
        rd_kafka_error_destroy(error);
    }
}

typedef bool choose_fn(const struct source_partition *partition);

static bool is_started(const struct source_partition *partition)
{
    return partition->phase == SOURCE_PHASE_STARTED;
}

static bool is_started_newly(const struct source_partition *partition)
{
    return partition->phase == SOURCE_PHASE_STARTED && !partition->fetching;
}

static bool is_fetched_no_more(const struct source_partition *partition)
{
    return partition->phase != SOURCE_PHASE_STARTED && partition->fetching;
}

static bool is_pause_wrong(const struct source_partition *partition)
{
    return partition->phase == SOURCE_PHASE_STARTED && partition->paused && !partition->client_paused;
}

static bool is_resume_wrong(const struct source_partition *partition)
{
    return partition->phase == SOURCE_PHASE_STARTED && !partition->paused && partition->client_paused;
}

/* Those chosen, each at the offset that comes next. The caller destroys the list. */
static rd_kafka_topic_partition_list_t *list_of(const struct source *source, choose_fn *choose)
{
    rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new(8);
    for (size_t i = 0; i < source->topic_count; i++) {
        for (int32_t p = 0; p < source->topics[i]->partition_count; p++) {
            const struct source_partition *partition = &source->topics[i]->partitions[p];
            if (choose(partition)) {
                rd_kafka_topic_partition_list_add(list, source->topics[i]->name, p)->offset = partition->next;
            }
        }
    }
    return list;
}

/* After a call: nothing but what is started is fetched. With `all`, all of that is; and as librdkafka may have forgotten a pause, each is
 * ordered anew. */
static void note_fetching(struct source *source, bool all)
{
    for (size_t i = 0; i < source->topic_count; i++) {
        for (int32_t p = 0; p < source->topics[i]->partition_count; p++) {
            struct source_partition *partition = &source->topics[i]->partitions[p];
            bool started = partition->phase == SOURCE_PHASE_STARTED;
            partition->fetching = started && (all || partition->fetching);
            partition->client_paused = partition->client_paused && !(all && started && partition->paused);
        }
    }
}

/* A pause outlives an assignment in librdkafka: bring it to what is wanted now. */
static void settle_pauses(struct source *source)
{
    rd_kafka_topic_partition_list_t *pause = list_of(source, is_pause_wrong);
    rd_kafka_topic_partition_list_t *resume = list_of(source, is_resume_wrong);
    if (pause->cnt > 0) {
        rd_kafka_pause_partitions(source->handle, pause);
    }
    if (resume->cnt > 0) {
        rd_kafka_resume_partitions(source->handle, resume);
    }
    rd_kafka_topic_partition_list_destroy(pause);
    rd_kafka_topic_partition_list_destroy(resume);
    for (size_t i = 0; i < source->topic_count; i++) {
        for (int32_t p = 0; p < source->topics[i]->partition_count; p++) {
            struct source_partition *partition = &source->topics[i]->partitions[p];
            if (partition->phase == SOURCE_PHASE_STARTED) {
                partition->client_paused = partition->paused;
            }
        }
    }
}

static void unassign_some(struct source *source)
{
    rd_kafka_topic_partition_list_t *list = list_of(source, is_fetched_no_more);
    report(rd_kafka_incremental_unassign(source->handle, list), "incremental_unassign");
    rd_kafka_topic_partition_list_destroy(list);
    note_fetching(source, false);
}

static void assign_some(struct source *source)
{
    rd_kafka_topic_partition_list_t *list = list_of(source, is_started_newly);
    report(rd_kafka_incremental_assign(source->handle, list), "incremental_assign");
    rd_kafka_topic_partition_list_destroy(list);
}

static void assign_whole(struct source *source)
{
    rd_kafka_topic_partition_list_t *list = list_of(source, is_started);
    rd_kafka_resp_err_t code = rd_kafka_assign(source->handle, list);
    if (code != RD_KAFKA_RESP_ERR_NO_ERROR) {
        log_write(LOG_LEVEL_WARNING, "kafka_assignment", NULL, 0, "a change of partitions did not get through to Kafka's client (assign), which asks again: %s", rd_kafka_err2str(code));
    }
    rd_kafka_topic_partition_list_destroy(list);
}

static bool some_fetched_no_more(const struct source *source)
{
    rd_kafka_topic_partition_list_t *list = list_of(source, is_fetched_no_more);
    bool some = list->cnt > 0;
    rd_kafka_topic_partition_list_destroy(list);
    return some;
}

static void call_assign(struct source *source)
{
    if (!cooperative(source)) {
        assign_whole(source);
    } else {
        if (some_fetched_no_more(source)) { /* held since */
            unassign_some(source);
        }
        assign_some(source);
    }
    note_fetching(source, true);
    settle_pauses(source);
}

static void call_unassign(struct source *source)
{
    if (cooperative(source)) {
        unassign_some(source);
        source->rejoining = true;
    } else {
        rd_kafka_assign(source->handle, NULL);
        note_fetching(source, false);
        source->assign_changed = false; /* a revocation is of all: nothing is started */
    }
}

static bool some_ours(const struct source *source)
{
    for (size_t i = 0; i < source->topic_count; i++) {
        for (int32_t p = 0; p < source->topics[i]->partition_count; p++) {
            if (source->topics[i]->partitions[p].phase != SOURCE_PHASE_NONE) {
                return true;
            }
        }
    }
    return false;
}

/* For the assignment that is about to be answered; nothing is ours when it is empty. */
static void settle_members(struct source *source)
{
    if (some_ours(source)) {
        source_members_take(source);
    } else {
        source_members_forget(source);
    }
}

void source_group_apply(struct source *source)
{
    if (source->revoke_owed && source->unreleased == 0) {
        source->revoke_owed = false;
        call_unassign(source);
        if (!some_ours(source)) {
            source_members_forget(source);
        }
    }
    /* While a revocation waits librdkafka takes no assign call; what was started meanwhile goes with the next one. */
    if (!source->revoke_owed && (source->assign_owed || source->assign_changed)) {
        if (source->assign_owed) {
            settle_members(source);
        }
        source->assign_owed = false;
        source->assign_changed = false;
        call_assign(source);
    }
}

static void forget_all(struct source *source)
{
    for (size_t i = 0; i < source->topic_count; i++) {
        for (int32_t p = 0; p < source->topics[i]->partition_count; p++) {
            source->topics[i]->partitions[p].phase = SOURCE_PHASE_NONE;
        }
    }
    source->unreleased = 0;
}

/* librdkafka 2.0 never comes to an end (and spins) when it is taken down while it waits for an assign call. */
void source_group_abandon(struct source *source)
{
    forget_all(source);
    source_members_forget(source);
    if (source->revoke_owed) {
        call_unassign(source);
    } else {
        call_assign(source);
    }
    rd_kafka_event_t *event;
    while ((event = rd_kafka_queue_poll(source->queue, 0)) != NULL) {
        if (rd_kafka_event_type(event) == RD_KAFKA_EVENT_REBALANCE) {
            source_group_take(source, event);
            forget_all(source);
            source_group_apply(source);
        }
        rd_kafka_event_destroy(event);
    }
}

/* --------------------------------------------------------------------------------------- the shell's calls */

static bool no_longer_ours(const char *topic, int32_t partition, struct error *error)
{
    return error_set(error, ERROR_NOT_FOUND, "%s [%" PRId32 "] is not assigned to this instance (any more)", topic, partition);
}

static bool is_ours(const struct source_partition *partition)
{
    return partition != NULL && partition->phase != SOURCE_PHASE_NONE && partition->phase != SOURCE_PHASE_REVOKED;
}

bool source_group_start(struct source *source, const char *topic, int32_t partition, int64_t offset, struct error *error)
{
    struct source_partition *found = source_topic_find(source, topic, partition);
    if (!is_ours(found)) {
        return no_longer_ours(topic, partition, error);
    }
    if (found->fetching && !source->revoke_owed) {
        found->phase = SOURCE_PHASE_HELD; /* elsewhere than where it is read: out and in again */
        call_assign(source);
    }
    found->phase = SOURCE_PHASE_STARTED;
    found->next = offset;
    source->assign_changed = true;
    return true;
}

bool source_group_hold(struct source *source, const char *topic, int32_t partition, struct error *error)
{
    struct source_partition *found = source_topic_find(source, topic, partition);
    if (!is_ours(found)) {
        return no_longer_ours(topic, partition, error);
    }
    found->phase = SOURCE_PHASE_HELD;
    /* was it read until now, it must be taken out; else there is nothing to tell */
    source->assign_changed = source->assign_changed || found->fetching;
    return true;
}

void source_group_release(struct source *source, const char *topic, int32_t partition)
{
    struct source_partition *found = source_topic_find(source, topic, partition);
    if (found == NULL || found->phase != SOURCE_PHASE_REVOKED) {
        return;
    }
    found->phase = SOURCE_PHASE_NONE;
    source->unreleased--;
}

bool source_group_pause(struct source *source, const char *topic, int32_t partition, bool pause, struct error *error)
{
    struct source_partition *found = source_topic_find(source, topic, partition);
    if (!is_ours(found)) {
        return no_longer_ours(topic, partition, error);
    }
    found->paused = pause;
    if (found->fetching) {
        settle_pauses(source);
    }
    return true;
}

bool source_group_waiting(const struct source *source)
{
    for (size_t i = 0; i < source->topic_count; i++) {
        for (int32_t p = 0; p < source->topics[i]->partition_count; p++) {
            if (source->topics[i]->partitions[p].phase == SOURCE_PHASE_ASKED) {
                return true;
            }
        }
    }
    return false;
}
