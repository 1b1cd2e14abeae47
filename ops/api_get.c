/*
 * One event: by its id, or by its place, topic/partition/offset.
 *
 * The owner says where it is and how it stands; its row comes from memory with that, or from the checkpoint. What is being written again is asked for once more a
 * little later. What is not pending may be in the history; and where neither is so, the answer says what that means.
 */
#include <cjson/cJSON.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/text.h"
#include "ops/api.h"
#include "ops/api_event.h"
#include "ops/api_get_absent.h"
#include "ops/api_get_elsewhere.h"
#include "ops/api_get_past.h"
#include "ops/api_get_place.h"
#include "ops/api_get_row.h"
#include "ops/clock.h"
#include "ops/daemon_api_get.h"
#include "ops/daemon_api_list.h"
#include "ops/json.h"

#define PATIENCE_MS 300 /* for what is being written again to be read, which takes some 20 ms: no longer, as one of the few readers sleeps meanwhile */
#define AGAIN_MS 20
#define ANSWER_MS 500 /* of the request's time, left for the answer */
#define SHOWN 200

struct get {
    struct http_request *request;
    struct api *api;
    const char *topic;               /* of the source that was named; NULL: any */
    bool schedule;                   /* asked for as one */
    int64_t patient_ms;              /* monotonic */
    struct daemon_api_get *question; /* answered */
    struct api_get_row row;          /* from the checkpoint */
};

/* ------------------------------------------------------------------------------------------------- asking */

static void answer_unreadable(const struct get *get, const struct error *error)
{
    api_answer_problem(get->request, 500, "unreadable", "Internal Server Error", "What is stored of the event does not read back: %s", error->text);
}

static void answer_error(const struct get *get, const struct error *error)
{
    bool stopping = api_stopping(get->api);
    if (error->code == ERROR_CORRUPT || error->code == ERROR_TOO_NEW) {
        answer_unreadable(get, error);
        return;
    }
    api_answer_problem(get->request, 503, stopping ? "stopping" : "unavailable", "Service Unavailable", "%s", stopping ? "The scheduler is stopping." : error->text);
    get->request->allow_retry_s = "1";
}

/* Turn by turn of the owner, until all is asked. False: answered. */
static bool ask(struct get *get, struct daemon_api_get *question)
{
    struct error error;
    get->question = NULL;
    while (!question->done) {
        if (!api_ask(get->api, question, daemon_api_get_free, get->request->deadline, &error)) {
            answer_error(get, &error);
            return false;
        }
    }
    if (question->failure.code != ERROR_NONE) {
        answer_unreadable(get, &question->failure);
        daemon_api_get_free(question);
        return false;
    }
    get->question = question;
    return true;
}

static void forget(struct get *get)
{
    daemon_api_get_free(get->question);
    free(get->row.bytes);
    get->question = NULL;
    get->row.bytes = NULL;
}

/* True: it is worth while to ask once more, and some time has passed. */
static bool wait_a_little(const struct get *get)
{
    bool more = clock_mono().ms + AGAIN_MS < get->patient_ms && !api_stopping(get->api);
    if (more) {
        (void)nanosleep(&(struct timespec){.tv_nsec = AGAIN_MS * 1000000L}, NULL);
    }
    return more;
}

/* ------------------------------------------------------------------------------------------------- what is there */

static const struct decode_rules *rules_of(const struct api *api, const char *topic)
{
    const struct decode_rules *rules = NULL;
    for (size_t i = 0; i < api->source_count && rules == NULL; i++) {
        rules = strcmp(api->sources[i].topic, topic) == 0 ? api->sources[i].rules : NULL;
    }
    return rules;
}

static void add_also(struct cJSON *document, const struct daemon_api_get *question)
{
    struct cJSON *also = question->also_count == 0 ? NULL : json_add_array(document, "also");
    for (size_t i = 0; i < question->also_count; i++) {
        struct cJSON *item = json_object_in_array(also);
        json_add_text(item, "topic", question->also[i].topic);
        json_add_number(item, "partition", question->also[i].partition);
    }
}

static void finish(const struct get *get, struct cJSON *document)
{
    add_also(document, get->question);
    api_get_past_history(document, get->question->history, get->question->history_count);
    api_answer_json(get->request, 200, document);
}

/* `brief`: its value is not at hand, nor are all headers, perhaps. False: it was refused when it was read, and is on its way to the dead letters. */
static bool show_row(const struct get *get, const struct row *row, const struct api_row_brief *brief, const char *lane, const struct core_event *event)
{
    if (row->refused) {
        return false;
    }
    struct api_event shown = {.row = row,
                              .topic = get->question->at.topic,
                              .partition = get->question->at.partition,
                              .due_ms = event->key.due_ms,
                              .lane = lane,
                              .state = event->state,
                              .rules = rules_of(get->api, get->question->at.topic),
                              .payloads = get->api->payloads,
                              .shows_payload = true,
                              .lacks_value = brief != NULL,
                              .lacks_headers = brief != NULL && brief->cut};
    struct cJSON *document = json_object();
    (void)api_event_add(document, &shown);
    finish(get, document);
    return true;
}

/* As show_row. */
static bool show(const struct get *get, struct span bytes, const char *lane, const struct core_event *event)
{
    struct row row;
    struct error error;
    if (!row_decode(bytes, &row, &error)) {
        answer_error(get, &error);
        return true;
    }
    return show_row(get, &row, NULL, lane, event);
}

/* It is being written again, or is gone while its row was looked for, and this has lasted: its id and place are all that is known. */
static void show_place(const struct get *get)
{
    const struct daemon_api_get *question = get->question;
    struct cJSON *document = json_object();
    api_answer_add_bytes(document, "id", (struct span){question->id, question->id_length});
    json_add_text(document, "kind", get->schedule ? "schedule" : "message");
    json_add_text(document, "state", "moving");
    (void)cJSON_AddNullToObject(document, "due");
    (void)cJSON_AddNullToObject(document, "due_ms");
    struct cJSON *source = json_add_object(document, "source");
    json_add_text(source, "topic", question->at.topic);
    json_add_number(source, "partition", question->at.partition);
    json_add_number(source, "offset", (double)question->event.key.offset);
    finish(get, document);
}

/* ------------------------------------------------------------------------------------------------- by id */

enum step {
    STEP_ANSWERED,
    STEP_AGAIN,
    STEP_NONE, /* nothing is pending */
};

static enum step show_stored(struct get *get)
{
    const struct daemon_api_get *question = get->question;
    struct error error;
    if (!api_get_row_by_id(get->api->store, &question->at, question->hash, question->event.key.offset, &get->row, &error)) {
        answer_error(get, &error);
        return STEP_ANSWERED;
    }
    if (get->row.bytes == NULL) {
        return STEP_AGAIN; /* it was done, or moved, since the owner was asked */
    }
    bool shown = show(get, (struct span){get->row.bytes, get->row.length}, question->lane, &question->event);
    return shown ? STEP_ANSWERED : STEP_NONE;
}

static enum step show_found(struct get *get)
{
    const struct daemon_api_get *question = get->question;
    if (!question->found) {
        return STEP_NONE;
    }
    bool shown = false;
    if (question->row != NULL) {
        shown = show(get, (struct span){question->row, question->row_length}, question->lane, &question->event);
    } else if (question->brief != NULL) {
        shown = show_row(get, &question->brief->row, question->brief, question->lane, &question->event);
    } else {
        return question->lane[0] == '\0' ? STEP_AGAIN : show_stored(get);
    }
    return shown ? STEP_ANSWERED : STEP_NONE;
}

static bool is_moving(const struct get *get)
{
    return get->question->found && get->question->event.state == CORE_EVENT_MOVING;
}

/* STEP_AGAIN: time is up, and it was still like that. */
static enum step look_by_id(struct get *get)
{
    for (;;) {
        struct daemon_api_get *question = daemon_api_get_new(get->request->parameter, get->topic);
        bool last = clock_mono().ms + 2 * AGAIN_MS >= get->patient_ms;
        if (!ask(get, question)) {
            return STEP_ANSWERED;
        }
        enum step step = is_moving(get) && !last ? STEP_AGAIN : show_found(get);
        if (step != STEP_AGAIN || last || !wait_a_little(get)) {
            return step;
        }
        forget(get);
    }
}

/* ------------------------------------------------------------------------------------------------- by place */

static bool is_here(const struct daemon_api_get *question, const struct api_list_place *place)
{
    bool found = false;
    for (size_t i = 0; i < question->here_count && !found; i++) {
        found = api_list_place_compare(&question->here[i], place) == 0;
    }
    return found;
}

/* How it stands with the row that was found; false: answered. */
static bool judge(const struct get *get, const struct api_list_place *place, enum core_event_state *state)
{
    struct daemon_api_list_judge *question = daemon_api_list_judge_new();
    struct error error;
    question->count = 1;
    question->items[0].place = *place;
    question->items[0].key = get->row.key;
    memcpy(question->items[0].lane, get->row.lane, sizeof(question->items[0].lane));
    if (!api_ask(get->api, question, daemon_api_list_judge_free, get->request->deadline, &error)) {
        answer_error(get, &error);
        return false;
    }
    *state = question->items[0].state;
    daemon_api_list_judge_free(question);
    return true;
}

static bool is_stopping(void *context)
{
    return api_stopping(context);
}

static enum step show_at_offset(struct get *get, const struct api_list_place *place, int64_t offset)
{
    struct core_event event = {.key = {0, offset}};
    struct error error;
    struct api_get_row_options options = {.end_ms = get->request->deadline.ms - ANSWER_MS,
                                          .slice_ms = API_GET_ROW_SLICE_MS,
                                          .slice_buckets = API_GET_ROW_SLICE_BUCKETS,
                                          .buckets = API_GET_ROW_BUCKETS,
                                          .stopping = is_stopping,
                                          .context = get->api};
    free(get->row.bytes);
    get->row.bytes = NULL;
    if (!api_get_row_by_offset(get->api->store, place, offset, &options, &get->row, &error)) {
        answer_error(get, &error);
        return STEP_ANSWERED;
    }
    if (get->row.bytes == NULL) {
        return STEP_NONE;
    }
    if (!judge(get, place, &event.state)) {
        return STEP_ANSWERED;
    }
    event.key = get->row.key;
    bool pending = event.state != CORE_EVENT_ENDED;
    return pending && show(get, (struct span){get->row.bytes, get->row.length}, get->row.lane, &event) ? STEP_ANSWERED : STEP_NONE;
}

/* What is read and not written the owner has; all else is in the checkpoint by the time that it is looked at. */
static enum step look_by_place(struct get *get)
{
    struct api_list_place place;
    int64_t offset;
    bool named = api_get_place_read(get->request->parameter, &place, &offset) && is_here(get->question, &place);
    if (!named) {
        return STEP_NONE;
    }
    struct daemon_api_get *by_id = get->question;
    struct daemon_api_get *question = daemon_api_get_new(get->request->parameter, get->topic);
    question->at = place;
    question->offset = offset;
    enum step step = STEP_ANSWERED;
    if (ask(get, question)) {
        step = !question->found                            ? show_at_offset(get, &place, offset)
               : question->event.state == CORE_EVENT_ENDED ? STEP_NONE
                                                           : show_found(get);
        daemon_api_get_free(question);
    }
    get->question = by_id;
    return step;
}

/* ------------------------------------------------------------------------------------------------- what is not there */

static void answer_past(const struct get *get)
{
    const struct daemon_api_get *question = get->question;
    struct mono_ms deadline = {get->request->deadline.ms - ANSWER_MS};
    struct cJSON *document = json_object();
    bool known = api_get_past_event(document, question->history, question->history_count, get->schedule);
    if (!known && (question->unready != NULL || question->no_cluster)) {
        cJSON_Delete(document);
        api_get_absent_not_ready(get->request, question);
        return;
    }
    struct api_get_elsewhere elsewhere = api_get_elsewhere(get->api, document, get->topic, question->here, question->here_count, deadline);
    if (known) {
        finish(get, document);
    } else {
        api_get_absent_not_found(get->request, question, get->topic, &elsewhere, document);
    }
}

/* ------------------------------------------------------------------------------------------------- the handlers */

/* False: answered. */
static bool read_source(struct get *get)
{
    static const char *const known[] = {"source", NULL};
    char shown[SHOWN];
    if (!api_parameter_known(get->request, known)) {
        return false;
    }
    struct span source = http_request_query(get->request, "source");
    for (size_t i = 0; i < get->api->source_count && get->topic == NULL; i++) {
        get->topic = span_equals_text(source, get->api->sources[i].topic) ? get->api->sources[i].topic : NULL;
    }
    if (source.data != NULL && get->topic == NULL) {
        (void)text_printable(source, shown, sizeof(shown));
        api_answer_problem(get->request, 400, "bad_parameter", "Bad Request", "source: \"%s\" is none of this instance's sources (/api/v1/info names them)", shown);
        return false;
    }
    return true;
}

static void answer(struct http_request *request, struct api *api, bool schedule)
{
    struct get get = {.request = request, .api = api, .schedule = schedule};
    int64_t patient_ms = clock_mono().ms + PATIENCE_MS;
    int64_t end_ms = request->deadline.ms - ANSWER_MS;
    get.patient_ms = patient_ms < end_ms ? patient_ms : end_ms;
    if (request->parameter.length == 0 || request->parameter.length > DECODE_ID_MAX) {
        api_answer_problem(request, 400, "bad_parameter", "Bad Request", "id: an id has 1 to %d bytes", DECODE_ID_MAX);
        return;
    }
    if (!read_source(&get)) {
        return;
    }
    enum step step = look_by_id(&get);
    if (step == STEP_AGAIN) {
        show_place(&get);
    } else if (step == STEP_NONE && look_by_place(&get) == STEP_NONE) {
        answer_past(&get);
    }
    forget(&get);
}

void api_get_message(struct http_request *request, struct api *api)
{
    answer(request, api, false);
}

void api_get_schedule(struct http_request *request, struct api *api)
{
    answer(request, api, true);
}
