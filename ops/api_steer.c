/* POST .../{id}/run-now, reschedule, pause, resume: wishes that the owner carries out (ops/steering.h). Of targets: api_steer_target.c. */
#include <cjson/cJSON.h>
#include <stdio.h>
#include <time.h>

#include "bridge/request_sink.h"
#include "bridge/time_text.h"
#include "ops/api_owner.h"
#include "ops/api_steer_time.h"
#include "ops/api_write.h"
#include "ops/clock.h"
#include "ops/json.h"

#define DUE_WAIT_MS 1000 /* for the re-append to be read back, to say when it is due now */
#define DUE_PAUSE_MS 20
#define FAILED_WAIT_MS 5000
#define FAILED_PAUSE_MS 250

struct steer {
    struct api_write write;
    enum steering_verb verb;
    int64_t due_ms;  /* MOVE */
    size_t source;   /* API_OWNER_ALL: any */
    struct span key; /* absent: not given */
};

/* ------------------------------------------------------------------------------------------------- answers */

static void add_due(struct cJSON *document, const char *name, int64_t due_ms)
{
    char number_name[32];
    if (due_ms > 0 && due_ms != TIME_TEXT_LAST_MS) {
        api_answer_add_time(document, name, due_ms);
        return;
    }
    (void)snprintf(number_name, sizeof(number_name), "%s_ms", name);
    (void)cJSON_AddNullToObject(document, name);
    (void)cJSON_AddNullToObject(document, number_name);
}

static void pause_a_little(long ms)
{
    const struct timespec time = {0, ms * 1000000};
    (void)nanosleep(&time, NULL);
}

/* -1: it is not known, or it is paused. */
static int64_t due_now(struct steer *steer, size_t source, int32_t partition)
{
    struct api_write *write = &steer->write;
    int64_t give_up_ms = clock_mono().ms + DUE_WAIT_MS;
    int64_t due_ms = -1;
    bool moving = true;
    if (steer->verb == STEERING_MOVE || steer->verb == STEERING_PAUSE) {
        return steer->verb == STEERING_MOVE ? steer->due_ms : -1;
    }
    while (moving && clock_mono().ms < give_up_ms && !api_stopping(write->api) &&
           api_question_due(write->api, source, partition, write->subject, write->request->deadline, &due_ms, &moving, NULL)) {
        if (moving) {
            pause_a_little(DUE_PAUSE_MS);
        }
    }
    return due_ms;
}

static void answer_done(struct steer *steer, size_t source, const struct steering_answer *answer)
{
    struct cJSON *document = json_object();
    json_add_text(document, "result", "done");
    api_answer_add_bytes(document, "id", steer->write.subject);
    json_add_text(document, "source", steer->write.api->sources[source].topic);
    json_add_number(document, "partition", answer->partition);
    add_due(document, "due", due_now(steer, source, answer->partition));
    add_due(document, "was_due", answer->due_ms);
    steer->write.result = "done";
    api_answer_json(steer->write.request, 200, document);
}

/* It may be with another instance: which ones there are. */
static void answer_not_found(struct steer *steer)
{
    struct api *api = steer->write.api;
    struct api_question_here here = {0};
    struct cJSON *members = json_object();
    struct cJSON *list = json_add_array(members, "elsewhere");
    struct error error;
    bool known = api_question_here(api, steer->write.request->deadline, &here, &error);
    for (size_t i = 0; known && i < api->source_count; i++) {
        bool meant = steer->source == i || steer->source == API_OWNER_ALL;
        int32_t partitions = meant ? request_sink_partitions(api->sink, api->sources[i].topic, api_owner_left_ms(steer->write.request, 1000), &error) : 0;
        for (int32_t p = 0; p < partitions && cJSON_GetArraySize(list) < REQUEST_WATCH_PLACES_MAX; p++) {
            if (api_question_find(&here, i, p) == NULL) {
                api_owner_add_elsewhere(list, steer->write.request, api, i, p, "not_asked");
            }
        }
    }
    api_question_here_free(&here);
    api_write_problem(&steer->write, 404, "not_found", "Not Found",
                      cJSON_GetArraySize(list) > 0 ? "Nothing of this id is pending here. Other instances, under `elsewhere`, may have it." : "Nothing of this id is pending.", members);
}

static void answer_failure(struct steer *steer, const struct error *error)
{
    if (error->code == ERROR_INVALID) {
        api_write_problem(&steer->write, 422, "refused", "Unprocessable Content", error->text, NULL);
    } else {
        api_write_unavailable(&steer->write, error->text);
    }
}

static void answer_other(struct steer *steer, const struct steering_answer *answer)
{
    struct cJSON *members = json_object();
    switch (answer->result) {
    case STEERING_TOO_LATE:
        add_due(members, "was_due", answer->due_ms);
        api_write_problem(&steer->write, 409, "too_late", "Conflict", "Its delivery is under way, or was a moment ago.", members);
        return;
    case STEERING_FAILED:
        api_write_problem(&steer->write, 502, "not_written", "Bad Gateway", "It could not be written again: Kafka refused it again and again. It stays as it was; the log says why.", members);
        return;
    case STEERING_TIMEOUT:
        api_write_problem(&steer->write, 504, "unknown_outcome", "Gateway Timeout",
                          "It is not known whether it was carried out: it may still be. Look at the event, and repeat the request if it was not.", members);
        return;
    case STEERING_UNREADABLE:
        cJSON_Delete(members);
        api_write_unreadable(&steer->write, answer->failure.text);
        return;
    case STEERING_DONE:
    case STEERING_NOT_FOUND:
    case STEERING_NOT_HERE:
        break;
    }
    cJSON_Delete(members);
    answer_not_found(steer);
}

/* ------------------------------------------------------------------------------------------------- asking */

/* False: answered. */
static bool ask(struct steer *steer, const char *topic, int32_t partition, struct steering_answer *answer)
{
    struct error error;
    int64_t left_ms = api_write_send_deadline(&steer->write).ms - clock_mono().ms;
    struct steering_wish wish = {.verb = steer->verb,
                                 .topic = span_of_text(topic),
                                 .partition = partition,
                                 .id = steer->write.subject,
                                 .due_ms = steer->due_ms,
                                 .timeout_ms = left_ms < STEERING_TIMEOUT_MAX_MS ? left_ms : STEERING_TIMEOUT_MAX_MS};
    if (!api_write_in_time(&steer->write)) {
        return false;
    }
    if (!steering_ask(steer->write.api->steering, &wish, answer, &error)) {
        answer_failure(steer, &error);
        return false;
    }
    return true;
}

/* Where the key leads. -1: it was not given. False: answered. */
static bool find_partition(struct steer *steer, const struct api_question_here *here, int32_t *partition)
{
    *partition = -1;
    if (steer->key.data == NULL) {
        return true;
    }
    int32_t partitions = api_owner_partitions(steer->write.request, steer->write.api, steer->source);
    if (partitions < 1) {
        return false;
    }
    *partition = request_sink_partition_of(steer->key, partitions);
    return api_owner_place(steer->write.request, steer->write.api, here, steer->source, *partition) != NULL;
}

/* What failed leaves the event as it was, and is mostly a matter of moments (a coordinator that moves): a few times more. False: answered. */
static bool ask_again(struct steer *steer, const char *topic, int32_t partition, struct steering_answer *answer)
{
    int64_t give_up_ms = clock_mono().ms + FAILED_WAIT_MS;
    bool asked = ask(steer, topic, partition, answer);
    while (asked && answer->result == STEERING_FAILED && clock_mono().ms < give_up_ms && !api_stopping(steer->write.api)) {
        pause_a_little(FAILED_PAUSE_MS);
        asked = ask(steer, topic, partition, answer);
    }
    return asked;
}

/* In one source after the other, until it is found. */
static void ask_all(struct steer *steer, int32_t partition)
{
    struct steering_answer answer = {.result = STEERING_NOT_FOUND, .partition = -1, .due_ms = -1};
    const struct api *api = steer->write.api;
    for (size_t i = 0; i < api->source_count; i++) {
        if (steer->source != i && steer->source != API_OWNER_ALL) {
            continue;
        }
        if (!ask_again(steer, api->sources[i].topic, partition, &answer)) {
            return;
        }
        if (answer.result == STEERING_DONE) {
            answer_done(steer, i, &answer);
            return;
        }
        if (answer.result != STEERING_NOT_FOUND && answer.result != STEERING_NOT_HERE) {
            break;
        }
    }
    answer_other(steer, &answer);
}

static void carry_out(struct steer *steer)
{
    struct api_question_here here;
    struct error error;
    int32_t partition;
    if (!api_question_here(steer->write.api, steer->write.request->deadline, &here, &error)) {
        api_write_unavailable(&steer->write, error.text);
        return;
    }
    bool found = find_partition(steer, &here, &partition);
    api_question_here_free(&here);
    if (found) {
        ask_all(steer, partition);
    }
}

/* Steering writes no headers of its own: sources of any dialect. */
static bool find_source(struct steer *steer, struct span name)
{
    const struct api *api = steer->write.api;
    size_t i = 0;
    steer->source = api->source_count == 1 ? 0 : API_OWNER_ALL;
    if (name.data == NULL) {
        if (steer->source == API_OWNER_ALL && steer->key.data != NULL) {
            api_answer_problem(steer->write.request, 400, "bad_parameter", "Bad Request", "source: there are several, so a key needs one.");
        }
        return steer->source != API_OWNER_ALL || steer->key.data == NULL;
    }
    while (i < api->source_count && !span_equals_text(name, api->sources[i].topic)) {
        i++;
    }
    steer->source = i;
    if (i == api->source_count) {
        api_answer_problem(steer->write.request, 404, "not_found", "Not Found", "There is no such source; /api/v1/info names them.");
    }
    return i < api->source_count;
}

/* ------------------------------------------------------------------------------------------------- handlers */

static void steer_event(struct http_request *request, struct api *api, enum steering_verb verb, const char *action)
{
    static const char *const known[] = {"source", "key", NULL};
    struct steer steer = {.write = {.request = request, .api = api, .action = action, .what = "id", .subject = request->parameter}, .verb = verb};
    if (!api_parameter_known(request, known) || !(verb == STEERING_MOVE ? api_steer_time_read(request, &steer.due_ms) : api_steer_time_none(request))) {
        return;
    }
    steer.key = http_request_query(request, "key");
    if (find_source(&steer, http_request_query(request, "source"))) {
        carry_out(&steer);
    }
    api_write_end(&steer.write);
}

void api_steer_run_now(struct http_request *request, struct api *api)
{
    steer_event(request, api, STEERING_RUN_NOW, "run_now");
}

void api_steer_reschedule(struct http_request *request, struct api *api)
{
    steer_event(request, api, STEERING_MOVE, "reschedule");
}

void api_steer_pause(struct http_request *request, struct api *api)
{
    steer_event(request, api, STEERING_PAUSE, "pause");
}

void api_steer_resume(struct http_request *request, struct api *api)
{
    steer_event(request, api, STEERING_RESUME, "resume");
}
