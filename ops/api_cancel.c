/*
 * DELETE /api/v1/messages/{id} and /schedules/{id}: a cancel in each partition where the event may stand.
 *
 * An id does not say in which partition its event is, so one goes to each, in two rounds when the key is known: first where that leads. Those of this instance answer;
 * of the others it is said who has them. A partition that is named is the only one: who has seen the event in a list means that one, and none of the same id elsewhere.
 */
#include <cjson/cJSON.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "ops/api_owner.h"
#include "ops/api_record.h"
#include "ops/api_write.h"
#include "ops/clock.h"
#include "ops/json.h"

/* One partition that a cancel goes to. */
struct goal {
    size_t source;
    int32_t partition;
    const struct api_question_partition *here; /* NULL: another instance's, or not open */
    bool done;                                 /* in an earlier round */
    struct request_sink_answer sent;
    struct request_watch_place place; /* of `here` */
};

struct cancel {
    struct api_write write;
    struct api_record record;
    struct span id;
    struct span key; /* absent: not given */
    int64_t only;    /* the one partition that is named; -1: all */
    struct api_question_here here;
    struct goal *goals;
    size_t count;
};

/* ------------------------------------------------------------------------------------------------- goals */

/* False: answered. */
static bool add_goals(struct cancel *cancel, size_t source)
{
    struct http_request *request = cancel->write.request;
    int32_t partitions = api_owner_partitions(request, cancel->write.api, source);
    if (partitions < 1) {
        return false;
    }
    if (cancel->count + (size_t)partitions > REQUEST_WATCH_PLACES_MAX) {
        api_answer_problem(request, 422, "refused", "Unprocessable Content",
                           "There are more than %d partitions in which it may stand: name its source, and write the cancel (tarry-action: cancel) to its partition yourself.",
                           REQUEST_WATCH_PLACES_MAX);
        return false;
    }
    if (cancel->only >= partitions) {
        api_answer_problem(request, 400, "bad_parameter", "Bad Request", "partition: %s has %" PRId32 " of them, from 0 on.", cancel->write.api->sources[source].topic, partitions);
        return false;
    }
    cancel->goals = memory_resize(cancel->goals, cancel->count + (size_t)partitions, sizeof(*cancel->goals));
    for (int32_t i = 0; i < partitions; i++) {
        if (cancel->only >= 0 && cancel->only != i) {
            continue;
        }
        const struct api_question_partition *place = api_question_find(&cancel->here, source, i);
        cancel->goals[cancel->count++] =
            (struct goal){.source = source, .partition = i, .here = place != NULL && place->open ? place : NULL, .place = {.offset = -1, .at_ms = -1}};
    }
    return true;
}

static bool add_all_goals(struct cancel *cancel, size_t source)
{
    const struct api *api = cancel->write.api;
    for (size_t i = 0; i < api->source_count; i++) {
        if ((source == i || source == API_OWNER_ALL) && api->sources[i].dialect_tarry && !add_goals(cancel, i)) {
            return false;
        }
    }
    if (cancel->count == 0) {
        api_answer_problem(cancel->write.request, 422, "source_without_tarry_dialect", "Unprocessable Content",
                           "No source reads tarry's headers, so nothing can be written into any: add tarry to the dialects of one in the configuration.");
    }
    return cancel->count > 0;
}

/* Where the key leads, of its source. */
static bool is_first(const struct cancel *cancel, const struct goal *goal)
{
    int32_t partitions = 0;
    for (size_t i = 0; i < cancel->count; i++) {
        partitions += cancel->goals[i].source == goal->source;
    }
    return cancel->key.data != NULL && goal->partition == request_sink_partition_of(cancel->key, partitions);
}

/* ------------------------------------------------------------------------------------------------- one round */

struct round {
    struct goal **goals; /* owned */
    size_t count;
    const struct api_question_partition **places; /* owned: of those here */
    size_t place_count;
    struct request_sink_record *records; /* owned */
    struct request_sink_answer *answers; /* owned */
};

static void round_free(struct round *round)
{
    free(round->goals);
    free(round->places);
    free(round->records);
    free(round->answers);
}

static struct round round_of(struct cancel *cancel, bool first)
{
    struct round round = {memory_new(cancel->count, sizeof(struct goal *)), 0, memory_new(cancel->count, sizeof(*round.places)), 0,
                          memory_new(cancel->count, sizeof(*round.records)), memory_new(cancel->count, sizeof(*round.answers))};
    for (size_t i = 0; i < cancel->count; i++) {
        struct goal *goal = &cancel->goals[i];
        if (goal->done || (first && !is_first(cancel, goal)) || (first && goal->here == NULL)) {
            continue;
        }
        if (goal->here != NULL) {
            round.places[round.place_count++] = goal->here;
        }
        round.records[round.count] = api_record_sent(&cancel->record, cancel->write.api->sources[goal->source].topic, goal->partition);
        round.goals[round.count++] = goal;
    }
    return round;
}

static void take_places(const struct round *round, struct request_watch *watch)
{
    struct request_watch_place *places = memory_new(round->place_count, sizeof(*places));
    size_t next = 0;
    request_watch_copy(watch, places, NULL);
    for (size_t i = 0; i < round->count; i++) {
        if (round->goals[i]->here != NULL) {
            round->goals[i]->place = places[next++];
        }
    }
    free(places);
}

/* What cannot have been written, nobody has to wait for. */
static bool some_may_come(const struct round *round)
{
    for (size_t i = 0; i < round->count; i++) {
        if (round->goals[i]->here != NULL && round->answers[i].result == REQUEST_SINK_WRITTEN) {
            return true;
        }
    }
    return false;
}

/* False: answered, and nothing was written. */
static bool send_round(struct cancel *cancel, struct round *round, struct request_watch *watch)
{
    struct error error;
    if (!request_sink_send(cancel->write.api->sink, round->records, round->count, api_write_send_deadline(&cancel->write), round->answers, &error)) {
        api_write_unavailable(&cancel->write, error.text);
        return false;
    }
    for (size_t i = 0; i < round->count; i++) {
        round->goals[i]->sent = round->answers[i];
        round->goals[i]->done = true;
    }
    if (watch != NULL) {
        if (some_may_come(round)) {
            api_write_wait(&cancel->write, watch);
        }
        take_places(round, watch);
    }
    return true;
}

/* A round has a word of its own: a cancel of the first does not pass for one of the second. */
static bool carry_out_round(struct cancel *cancel, bool first)
{
    struct api_question_begin begun = {.watch = NULL};
    struct api_write *write = &cancel->write;
    struct decoded decoded;
    struct refusal refusal;
    bool done = true;
    api_write_random_word(write->word);
    api_record_cancel(cancel->id, cancel->key, &cancel->record);
    api_record_name(&cancel->record, cancel->id, span_of_text(write->word));
    struct round round = round_of(cancel, first);
    struct api_question_write question = {.word = span_of_text(write->word), .id = cancel->id, .places = round.places, .count = round.place_count};
    for (size_t i = 0; done && i < round.count; i++) {
        done = api_record_check(&cancel->record, write->api->sources[round.goals[i]->source].rules, round.goals[i]->partition, clock_wall().ms, &decoded, &refusal);
    }
    if (!done) {
        api_write_refused(write, &refusal, -1);
    } else if (round.count > 0) {
        done = api_write_in_time(write) && (round.place_count == 0 || api_write_begin(write, &question, &begun)) && send_round(cancel, &round, begun.watch);
    }
    request_watch_drop(begun.watch);
    round_free(&round);
    api_record_free(&cancel->record);
    return done;
}

/* ------------------------------------------------------------------------------------------------- the answer */

static const char *name_of(const struct goal *goal)
{
    if (goal->sent.result != REQUEST_SINK_WRITTEN && goal->place.end == REQUEST_WATCH_OPEN) {
        return goal->sent.result == REQUEST_SINK_UNKNOWN ? "unknown" : "not_written";
    }
    switch (goal->place.end) {
    case REQUEST_WATCH_CANCELLED:
    case REQUEST_WATCH_STOPPED:
        return "cancelled";
    case REQUEST_WATCH_ALREADY:
        return "already_cancelled";
    case REQUEST_WATCH_TOO_LATE:
        return "too_late";
    case REQUEST_WATCH_DELIVERED:
        return "delivered";
    case REQUEST_WATCH_NOT_FOUND:
        return "not_found";
    case REQUEST_WATCH_REFUSED:
        return "refused";
    case REQUEST_WATCH_OPEN:
    case REQUEST_WATCH_LOST:
    case REQUEST_WATCH_SCHEDULED:
    case REQUEST_WATCH_EXISTS:
    case REQUEST_WATCH_DUPLICATE:
    case REQUEST_WATCH_DROPPED:
        break;
    }
    return "sent";
}

static const struct goal *find_goal(const struct cancel *cancel, const char *name)
{
    for (size_t i = 0; i < cancel->count; i++) {
        if (cancel->goals[i].done && strcmp(name_of(&cancel->goals[i]), name) == 0) {
            return &cancel->goals[i];
        }
    }
    return NULL;
}

static void add_partition(struct cJSON *list, struct cancel *cancel, const struct goal *goal)
{
    if (goal->here == NULL) {
        api_owner_add_elsewhere(list, cancel->write.request, cancel->write.api, goal->source, goal->partition, name_of(goal));
        return;
    }
    struct cJSON *item = json_object_in_array(list);
    json_add_text(item, "topic", cancel->write.api->sources[goal->source].topic);
    json_add_number(item, "partition", goal->partition);
    json_add_text(item, "result", name_of(goal));
}

/* Of partitions where nothing was found only the number is of use; of all others it is told which. */
static struct cJSON *document_of(struct cancel *cancel, const char *result)
{
    struct cJSON *document = json_object();
    json_add_text(document, "result", result);
    api_answer_add_bytes(document, "id", cancel->id);
    struct cJSON *list = json_add_array(document, "partitions");
    for (size_t i = 0; i < cancel->count; i++) {
        if (cancel->goals[i].done) {
            add_partition(list, cancel, &cancel->goals[i]);
        }
    }
    return document;
}

static void answer_done(struct cancel *cancel, const struct goal *cancelled, const struct goal *already)
{
    struct cJSON *document = document_of(cancel, "cancelled");
    if (cancelled == NULL) {
        json_add_bool(document, "already", true);
        api_answer_add_time(document, "cancelled", already->place.at_ms);
    } else if (cancelled->place.end == REQUEST_WATCH_STOPPED) {
        json_add_text(document, "last_occurrence", "went_out");
    }
    cancel->write.result = cancelled == NULL ? "already_cancelled" : "cancelled";
    api_answer_json(cancel->write.request, 200, document);
}

static void answer_too_late(struct cancel *cancel, const struct goal *late, const struct goal *delivered)
{
    struct cJSON *members = json_object();
    if (late != NULL) {
        api_write_problem(&cancel->write, 409, "too_late", "Conflict", "Its delivery was under way.", members);
        return;
    }
    api_answer_add_time(members, "delivered", delivered->place.at_ms);
    api_write_problem(&cancel->write, 409, "delivered", "Conflict", "It was delivered.", members);
}

static void answer_nowhere(struct cancel *cancel)
{
    const struct goal *failed = find_goal(cancel, "not_written");
    const struct goal *unknown = find_goal(cancel, "unknown");
    char detail[400];
    if (find_goal(cancel, "sent") != NULL) {
        cancel->write.result = "sent";
        api_answer_json(cancel->write.request, 202, document_of(cancel, "sent"));
    } else if (unknown != NULL) {
        (void)snprintf(detail, sizeof(detail), "It is not known whether the cancel was written (%s): repeat it.", unknown->sent.text);
        api_write_problem(&cancel->write, 504, "unknown_outcome", "Gateway Timeout", detail, document_of(cancel, "unknown"));
    } else if (failed != NULL && failed->sent.result == REQUEST_SINK_FAILED) {
        (void)snprintf(detail, sizeof(detail), "Kafka did not take the cancel for partition %" PRId32 " (%s)", failed->partition, failed->sent.text);
        api_write_unavailable(&cancel->write, detail);
    } else if (failed != NULL) {
        (void)snprintf(detail, sizeof(detail), "Kafka will never take the cancel for partition %" PRId32 ": %s.", failed->partition, failed->sent.text);
        api_write_problem(&cancel->write, 502, "not_written", "Bad Gateway", detail, NULL);
    } else {
        api_write_problem(&cancel->write, 404, "not_found", "Not Found", "Nothing of this id is pending. (It may have been delivered or cancelled before tarry's last start: that is not known.)",
                          NULL);
    }
}

static void answer(struct cancel *cancel)
{
    const struct goal *cancelled = find_goal(cancel, "cancelled");
    const struct goal *already = find_goal(cancel, "already_cancelled");
    const struct goal *late = find_goal(cancel, "too_late");
    const struct goal *delivered = find_goal(cancel, "delivered");
    if (cancelled != NULL || already != NULL) {
        answer_done(cancel, cancelled, already);
    } else if (late != NULL || delivered != NULL) {
        answer_too_late(cancel, late, delivered);
    } else {
        answer_nowhere(cancel);
    }
}

/* Another instance's partition, which is named or to which the key leads: that one can answer, we could only send. True: answered. */
static bool answered_elsewhere(struct cancel *cancel, size_t source)
{
    if (cancel->only >= 0) {
        return api_owner_place(cancel->write.request, cancel->write.api, &cancel->here, source, (int32_t)cancel->only) == NULL;
    }
    if (cancel->key.data == NULL || source == API_OWNER_ALL) {
        return false;
    }
    for (size_t i = 0; i < cancel->count; i++) {
        if (is_first(cancel, &cancel->goals[i])) {
            return api_owner_place(cancel->write.request, cancel->write.api, &cancel->here, source, cancel->goals[i].partition) == NULL;
        }
    }
    return false;
}

static bool ended(const struct cancel *cancel)
{
    static const char *const ends[] = {"cancelled", "already_cancelled", "too_late", "delivered"};
    for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
        if (find_goal(cancel, ends[i]) != NULL) {
            return true;
        }
    }
    return false;
}

static void carry_out(struct cancel *cancel, size_t source)
{
    struct error error;
    if (!api_question_here(cancel->write.api, cancel->write.request->deadline, &cancel->here, &error)) {
        api_write_unavailable(&cancel->write, error.text);
        return;
    }
    if (!add_all_goals(cancel, source) || answered_elsewhere(cancel, source)) {
        return;
    }
    if (cancel->key.data != NULL && !carry_out_round(cancel, true)) {
        return;
    }
    if (ended(cancel) || carry_out_round(cancel, false)) {
        answer(cancel);
    }
}

void api_cancel(struct http_request *request, struct api *api)
{
    static const char *const known[] = {"source", "key", "partition", NULL};
    struct cancel cancel = {.write = {.request = request, .api = api, .action = "cancel", .what = "id", .subject = request->parameter}};
    size_t source;
    if (!api_parameter_known(request, known)) {
        return;
    }
    cancel.id = request->parameter;
    cancel.key = http_request_query(request, "key");
    if (api_owner_source(request, api, http_request_query(request, "source"), true, &source) && api_owner_partition(request, source, cancel.key.data != NULL, &cancel.only)) {
        carry_out(&cancel, source);
    }
    api_write_end(&cancel.write);
    api_question_here_free(&cancel.here);
    free(cancel.goals);
}
