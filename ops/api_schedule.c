/*
 * POST /api/v1/messages and /schedules: a record in the source topic, and the answer what truly became of it.
 *
 * Body -> record -> (Idempotency-Key) -> partition of ours -> decoded as intake will -> the owner waits for it -> written -> read, and decided.
 */
#include <cjson/cJSON.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/memory.h"
#include "ops/api_owner.h"
#include "ops/api_record.h"
#include "ops/api_write.h"
#include "ops/clock.h"
#include "ops/http_route.h"
#include "ops/json.h"

#define ID_SIZE 48
#define TRIES_MOST 4096 /* ids that are made until one belongs to a partition of ours */
#define MARGIN_MS 3000  /* a request that was under way when librdkafka gave up is answered by its broker, or is not */

struct schedule {
    struct api_write write;
    struct api_record record;
    size_t source;
    char own_id[ID_SIZE];
    bool keyed;   /* it has an Idempotency-Key, and is under way in the table */
    bool unknown; /* an earlier one of that key may stand */
    struct mono_ms until;
    struct mono_ms unknown_until; /* of this one, if nobody knows what became of it */
    bool sent;    /* it was, or may be, written */
    const struct api_question_partition *place;
    struct decoded decoded;
};

/* ------------------------------------------------------------------------------------------------- Idempotency-Key */

static void answer_earlier(struct schedule *schedule, unsigned status)
{
    schedule->write.request->status = status;
    schedule->write.request->content_type = status < 300 ? "application/json" : "application/problem+json";
    schedule->write.result = "repeated";
}

/* True: it is to be carried out. */
static bool begin_keyed(struct schedule *schedule)
{
    struct http_request *request = schedule->write.request;
    unsigned status = 0;
    if (request->idempotency_key.data == NULL) {
        api_write_random_word(schedule->write.word);
        return true;
    }
    api_idempotency_nonce("POST", request->route->path, request->idempotency_key, schedule->write.word);
    enum api_idempotency_state state =
        api_idempotency_begin(schedule->write.api->idempotency, schedule->write.word, buffer_span(&request->upload), &status, &request->body, &schedule->until);
    schedule->keyed = state == API_IDEMPOTENCY_NEW || state == API_IDEMPOTENCY_UNKNOWN;
    schedule->unknown = state == API_IDEMPOTENCY_UNKNOWN;
    if (state == API_IDEMPOTENCY_ANSWERED) {
        answer_earlier(schedule, status);
    } else if (state == API_IDEMPOTENCY_RUNNING) {
        api_write_problem(&schedule->write, 409, "idempotency_in_progress", "Conflict", "A request with this Idempotency-Key is under way; ask again a little later.", NULL);
    } else if (state == API_IDEMPOTENCY_REUSED) {
        api_write_problem(&schedule->write, 422, "idempotency_key_reused", "Unprocessable Content",
                          "This Idempotency-Key stood for another body; take a new key for a new request.", NULL);
    } else if (state == API_IDEMPOTENCY_FULL) {
        api_write_unavailable(&schedule->write, "too many requests with an Idempotency-Key are under way; try again");
    }
    return schedule->keyed;
}

/* Answers are kept of what was written; of what was not, the next one begins anew. */
static void end_keyed(struct schedule *schedule)
{
    struct http_request *request = schedule->write.request;
    struct api_idempotency *table = schedule->write.api->idempotency;
    if (!schedule->keyed) {
        return;
    }
    if (request->status == 504) {
        api_idempotency_unknown(table, schedule->write.word, schedule->sent ? schedule->unknown_until : schedule->until);
    } else if (schedule->sent) {
        api_idempotency_keep(table, schedule->write.word, request->status, buffer_span(&request->body));
    } else if (schedule->unknown) {
        api_idempotency_unknown(table, schedule->write.word, schedule->until);
    } else {
        api_idempotency_forget(table, schedule->write.word);
    }
}

/* ------------------------------------------------------------------------------------------------- answers */

static struct cJSON *result_of(const struct schedule *schedule, const char *result, int64_t offset)
{
    struct cJSON *document = json_object();
    json_add_text(document, "result", result);
    api_answer_add_bytes(document, "id", schedule->record.id);
    struct cJSON *place = json_add_object(document, "source");
    json_add_text(place, "topic", schedule->write.api->sources[schedule->source].topic);
    json_add_number(place, "partition", schedule->place->number);
    if (offset >= 0) {
        json_add_number(place, "offset", (double)offset);
    } else {
        (void)cJSON_AddNullToObject(place, "offset");
    }
    return document;
}

static void answer_scheduled(struct schedule *schedule, int64_t due_ms, int64_t offset, bool repeated)
{
    struct cJSON *document = result_of(schedule, "scheduled", offset);
    if (due_ms > 0) {
        api_answer_add_time(document, "due", due_ms);
    } else {
        (void)cJSON_AddNullToObject(document, "due");
        (void)cJSON_AddNullToObject(document, "due_ms");
    }
    if (repeated) {
        json_add_bool(document, "repeated", true);
    }
    schedule->sent = true;
    schedule->write.result = repeated ? "repeated" : "scheduled";
    api_answer_json(schedule->write.request, 201, document);
}

static void answer_written(struct schedule *schedule, int64_t offset)
{
    schedule->write.result = "written";
    api_answer_json(schedule->write.request, 202, result_of(schedule, "written", offset));
}

static void answer_unknown(struct schedule *schedule, const char *why)
{
    char detail[512];
    struct cJSON *members = json_object();
    api_answer_add_bytes(members, "id", schedule->record.id);
    json_add_text(members, "request", schedule->write.word);
    (void)snprintf(detail, sizeof(detail), "It is not known whether it was written (%s). Ask for its id, or repeat the request with the same Idempotency-Key.", why);
    api_write_problem(&schedule->write, 504, "unknown_outcome", "Gateway Timeout", detail, members);
}

static void answer_place(struct schedule *schedule, const struct request_watch_place *place, const struct refusal *refusal, int64_t offset)
{
    struct api_write *write = &schedule->write;
    switch (place->end) {
    case REQUEST_WATCH_SCHEDULED:
        answer_scheduled(schedule, place->due_ms, place->offset, false);
        break;
    case REQUEST_WATCH_REFUSED:
        api_write_refused(write, refusal, place->offset);
        break;
    case REQUEST_WATCH_EXISTS:
        api_write_problem(write, 409, "exists", "Conflict", "An event of this id is pending, and if_exists is reject.", NULL);
        break;
    case REQUEST_WATCH_DUPLICATE:
        api_write_problem(write, 409, "duplicate", "Conflict", "An event of this id came due within the source's dedupe.", NULL);
        break;
    case REQUEST_WATCH_DROPPED:
        api_write_problem(write, 409, "dropped", "Conflict", "Before it was decided, something newer of this id was written, which counts.", NULL);
        break;
    case REQUEST_WATCH_OPEN:
    case REQUEST_WATCH_LOST:
    case REQUEST_WATCH_CANCELLED:
    case REQUEST_WATCH_STOPPED:
    case REQUEST_WATCH_TOO_LATE:
    case REQUEST_WATCH_NOT_FOUND:
    case REQUEST_WATCH_DELIVERED:
    case REQUEST_WATCH_ALREADY:
        answer_written(schedule, place->offset >= 0 ? place->offset : offset);
        break;
    }
}

/* ------------------------------------------------------------------------------------------------- writing */

/* Kafka's word: that it stands, or that nobody knows and it was read, is answered with what became of it. */
static void answer_sent(struct schedule *schedule, const struct request_sink_answer *sent, struct request_watch *watch)
{
    struct request_watch_place place;
    struct refusal refusal;
    char why[320];
    if (sent->result == REQUEST_SINK_WRITTEN) {
        api_write_wait(&schedule->write, watch);
    }
    request_watch_copy(watch, &place, &refusal);
    schedule->sent = sent->result == REQUEST_SINK_WRITTEN || sent->result == REQUEST_SINK_UNKNOWN || place.offset >= 0;
    if (sent->result == REQUEST_SINK_WRITTEN || place.offset >= 0) {
        answer_place(schedule, &place, &refusal, sent->offset);
    } else if (sent->result == REQUEST_SINK_UNKNOWN) {
        answer_unknown(schedule, sent->text);
    } else if (sent->result == REQUEST_SINK_FAILED) {
        (void)snprintf(why, sizeof(why), "Kafka did not take it (%s)", sent->text);
        api_write_unavailable(&schedule->write, why);
    } else {
        (void)snprintf(why, sizeof(why), "Kafka will never take it: %s.", sent->text);
        api_write_problem(&schedule->write, 502, "not_written", "Bad Gateway", why, NULL);
    }
}

static void send_and_wait(struct schedule *schedule, struct request_watch *watch)
{
    struct request_sink_answer sent;
    struct error error;
    struct api *api = schedule->write.api;
    struct request_sink_record record = api_record_sent(&schedule->record, api->sources[schedule->source].topic, schedule->place->number);
    bool findable = schedule->record.id.data != NULL;
    schedule->unknown_until.ms = findable ? clock_mono().ms + REQUEST_SINK_TIMEOUT_MS + MARGIN_MS : TIME_NEVER;
    if (request_sink_send(api->sink, &record, 1, api_write_send_deadline(&schedule->write), &sent, &error)) {
        answer_sent(schedule, &sent, watch);
    } else {
        api_write_unavailable(&schedule->write, error.text);
    }
}

/* False: answered. What may still come to stand is not written again. */
static bool begin(struct schedule *schedule, struct api_question_begin *begun)
{
    struct api_question_write question = {.word = span_of_text(schedule->write.word),
                                          .id = schedule->record.id,
                                          .places = &schedule->place,
                                          .count = 1,
                                          .recurrence = &schedule->decoded.recurrence,
                                          .look_first = schedule->keyed,
                                          .own_id = schedule->keyed && !schedule->record.id_given};
    if (!api_write_in_time(&schedule->write) || !api_write_begin(&schedule->write, &question, begun)) {
        return false;
    }
    if (begun->result == API_QUESTION_THERE) {
        answer_scheduled(schedule, begun->due_ms, begun->offset, true);
    } else if (begun->result == API_QUESTION_REFUSED) {
        api_write_refused(&schedule->write, &begun->refusal, -1);
    } else if (schedule->unknown && clock_mono().ms < schedule->until.ms) {
        answer_unknown(schedule, "an earlier request with this Idempotency-Key may still come to stand");
        request_watch_drop(begun->watch);
    } else {
        return true;
    }
    return false;
}

static void write_record(struct schedule *schedule)
{
    struct api_question_begin begun;
    struct refusal refusal;
    const struct api *api = schedule->write.api;
    if (!api_record_check(&schedule->record, api->sources[schedule->source].rules, schedule->place->number, clock_wall().ms, &schedule->decoded, &refusal)) {
        api_write_refused(&schedule->write, &refusal, -1);
    } else if (begin(schedule, &begun)) {
        send_and_wait(schedule, begun.watch);
        request_watch_drop(begun.watch);
    }
}

/* ------------------------------------------------------------------------------------------------- where to */

static const struct api_question_partition *any_open(const struct schedule *schedule, const struct api_question_here *here)
{
    struct span word = span_of_text(schedule->write.word);
    size_t first = here->count == 0 ? 0 : (size_t)request_sink_partition_of(word, (int32_t)here->count); /* not always the same one */
    for (size_t i = 0; i < here->count; i++) {
        const struct api_question_partition *place = &here->items[(first + i) % here->count];
        if (place->source == schedule->source && place->open) {
            return place;
        }
    }
    return NULL;
}

/* A made id belongs to a partition of ours, so that whoever has it can find the partition by it. */
static const struct api_question_partition *make_id(struct schedule *schedule, const struct api_question_here *here, int32_t partitions)
{
    char word[API_IDEMPOTENCY_NONCE_SIZE];
    for (int i = 0; i < TRIES_MOST && any_open(schedule, here) != NULL; i++) {
        api_write_random_word(word);
        (void)snprintf(schedule->own_id, sizeof(schedule->own_id), "m-%s", word);
        const struct api_question_partition *place =
            api_question_find(here, schedule->source, request_sink_partition_of(span_of_text(schedule->own_id), partitions));
        if (place != NULL && place->open) {
            return place;
        }
    }
    return NULL;
}

/* The place, and the record's id. False: answered. */
static bool choose(struct schedule *schedule, const struct api_question_here *here)
{
    struct api_write *write = &schedule->write;
    struct api_record *record = &schedule->record;
    int32_t partitions = api_owner_partitions(write->request, write->api, schedule->source);
    if (partitions < 1) {
        return false;
    }
    struct span id = record->id;
    if (!record->id_given) {
        (void)snprintf(schedule->own_id, sizeof(schedule->own_id), "req-%s", write->word);
        bool by_chance = !schedule->keyed && record->key.data == NULL;
        schedule->place = by_chance ? make_id(schedule, here, partitions) : NULL;
        id = span_of_text(schedule->own_id);
    }
    api_record_name(record, id, span_of_text(write->word));
    write->subject = id;
    struct span by = record->key.data != NULL ? record->key : id;
    if (schedule->place == NULL) {
        schedule->place = by.data == NULL ? any_open(schedule, here)
                                          : api_owner_place(write->request, write->api, here, schedule->source, request_sink_partition_of(by, partitions));
    }
    if (schedule->place == NULL && by.data == NULL) {
        api_write_unavailable(write, "this instance has no open partition of the source just now: ask another one, or again later");
    }
    return schedule->place != NULL;
}

static void carry_out(struct schedule *schedule)
{
    struct api_question_here here;
    struct error error;
    if (!api_question_here(schedule->write.api, schedule->write.request->deadline, &here, &error)) {
        api_write_unavailable(&schedule->write, error.text);
        return;
    }
    if (choose(schedule, &here)) {
        write_record(schedule);
    }
    api_question_here_free(&here);
}

static void post(struct http_request *request, struct api *api, bool recurring)
{
    static const char *const known[] = {NULL};
    struct span source;
    struct schedule *schedule = memory_new(1, sizeof(*schedule));
    schedule->write = (struct api_write){.request = request, .api = api, .action = "schedule", .what = "id"};
    if (api_parameter_known(request, known) && api_record_read(request, recurring, &schedule->record, &source)) {
        schedule->write.subject = schedule->record.id;
        if (api_owner_source(request, api, source, false, &schedule->source) && begin_keyed(schedule)) {
            carry_out(schedule);
            end_keyed(schedule);
        }
        api_write_end(&schedule->write);
        api_record_free(&schedule->record);
    }
    free(schedule);
}

void api_schedule_message(struct http_request *request, struct api *api)
{
    post(request, api, false);
}

void api_schedule_recurring(struct http_request *request, struct api *api)
{
    post(request, api, true);
}
