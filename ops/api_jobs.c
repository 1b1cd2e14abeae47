/* Replay jobs: how far each is, and a word to one. They run in the process of `tarry dlq` that began or resumed them, not here. */
#include <cjson/cJSON.h>
#include <stdio.h>
#include <string.h>

#include "dlq/jobs_record.h"
#include "dlq/jobs_tell.h"
#include "ops/api.h"
#include "ops/api_audit.h"
#include "ops/api_letters_link.h"
#include "ops/api_steer_time.h"
#include "ops/clock.h"
#include "ops/json.h"

#define JOBS_MOST 1000                     /* the newest */
#define WRITE_LEAST_MS 2000                /* no write begins with less left */
#define PAGE_BYTES_MOST ((size_t)16 << 20) /* of records */

/* False: answered. *there false: no stream, so no job was ever begun. Finds out within 2 s that nobody answers. */
static bool look(struct http_request *request, struct api *api, struct link **link, bool *there)
{
    char stream[STREAMS_NAME_SIZE];
    struct streams_state state;
    struct error error = {ERROR_NONE, ""};
    *link = api_letters_link_up(request, api);
    if (*link == NULL) {
        return false;
    }
    streams_jobs(api_letters_link_streams(api), stream);
    *there = streams_state(*link, stream, API_LETTERS_LINK_ASK_MS, &state, &error);
    if (!*there && error.code != ERROR_NOT_FOUND) {
        api_letters_link_unavailable(request, api, &error);
        return false;
    }
    return true;
}

/* ------------------------------------------------------------------------------------------------------- looking */

struct list {
    const struct http_request *request;
    const struct api *api;
    struct cJSON *items;
    size_t count;
    size_t bytes;
    size_t damaged;
    bool cut;     /* older ones are not in it */
    bool stopped;
};

/* The words of a filter may say what stands in keys and headers: they are kept back as those are. */
static void mask(struct cJSON *job)
{
    static const char *const masked[] = {"--key", "--header"};
    struct cJSON *filter = cJSON_GetObjectItemCaseSensitive(job, "filter");
    for (struct cJSON *word = filter == NULL ? NULL : filter->child; word != NULL; word = word->next) {
        for (size_t i = 0; cJSON_IsString(word) && i < sizeof masked / sizeof masked[0]; i++) {
            if (strncmp(word->valuestring, masked[i], strlen(masked[i])) == 0) {
                char text[32];
                (void)snprintf(text, sizeof text, "%s=(masked)", masked[i]);
                (void)cJSON_SetValuestring(word, text);
            }
        }
    }
}

static bool add_job(const struct jobs_job *found, void *context)
{
    struct list *list = context;
    struct cJSON *job = jobs_record_read(found->bytes);
    list->stopped = !api_letters_link_in_time(list->request, list->api, WRITE_LEAST_MS);
    if (job == NULL) {
        list->damaged++;
        return !list->stopped;
    }
    if (list->api->payloads != CONFIG_PAYLOADS_FULL) {
        mask(job);
    }
    (void)cJSON_AddItemToArray(list->items, job);
    list->count++;
    list->bytes += found->bytes.length;
    if (list->count > JOBS_MOST || (list->bytes > PAGE_BYTES_MOST && list->count > 1)) {
        list->cut = true;
        cJSON_DeleteItemFromArray(list->items, 0);
        list->count--;
    }
    return !list->stopped && list->bytes <= 4 * PAGE_BYTES_MOST;
}

void api_jobs_list(struct http_request *request, struct api *api)
{
    static const char *const known[] = {NULL};
    struct link *link;
    struct error error = {ERROR_NONE, ""};
    bool there = false;
    if (!api_parameter_known(request, known) || !look(request, api, &link, &there)) {
        return;
    }
    struct cJSON *document = json_object();
    struct list list = {.request = request, .api = api, .items = json_add_array(document, "items")};
    if (there && !jobs_list(link, api_letters_link_streams(api), add_job, &list, &error) && error.code != ERROR_NOT_FOUND) {
        cJSON_Delete(document);
        api_letters_link_unavailable(request, api, &error);
        return;
    }
    json_add_bool(document, "complete", !list.cut && !list.stopped);
    json_add_number(document, "damaged", (double)list.damaged);
    api_answer_json(request, 200, document);
}

/* -------------------------------------------------------------------------------------------------- a word to one */

struct word {
    struct http_request *request;
    struct api *api;
    const char *action; /* of the audit, static */
    const char *result; /* the same */
    char id[JOBS_ID_MAX + 1];
    struct buffer record;
};

static void answer_problem(struct word *word, unsigned status, const char *code, const char *title, const struct error *error)
{
    api_answer_problem(word->request, status, code, title, "%s", error->text);
    word->result = code;
}

/* 409, with the state that the job is in. */
static void answer_state(struct word *word, const char *detail)
{
    struct cJSON *job = jobs_record_read(buffer_span(&word->record));
    struct cJSON *members = json_object();
    json_add_text(members, "state", jobs_record_state(job));
    api_answer_problem_with(word->request, 409, "job_state", "Conflict", detail, members);
    word->result = "job_state";
    cJSON_Delete(job);
}

/* Nothing was written. */
static void answer_failed(struct word *word, const struct error *error)
{
    if (error->code == ERROR_NOT_FOUND) {
        answer_problem(word, 404, "not_found", "Not Found", error);
    } else if (error->code == ERROR_UNAVAILABLE) {
        api_letters_link_unavailable(word->request, word->api, error);
        word->result = "dead_letters_unavailable";
    } else {
        answer_problem(word, 502, "not_written", "Bad Gateway", error);
    }
}

static void answer_done(struct word *word, const char *state)
{
    struct cJSON *document = json_object();
    json_add_text(document, "result", "done");
    json_add_text(document, "id", word->id);
    json_add_text(document, "state", state);
    api_answer_json(word->request, 200, document);
    word->result = "done";
}

/* The id of the path, which is one. False: answered. */
static bool read_id(struct word *word)
{
    struct span id = word->request->parameter;
    bool fits = id.length <= JOBS_ID_MAX;
    for (size_t i = 0; fits && i < id.length; i++) {
        fits = strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_", id.data[i]) != NULL && id.data[i] != '\0';
    }
    if (!fits) {
        api_answer_problem(word->request, 404, "not_found", "Not Found", "There is no such job: an id has letters, digits, '-' and '_', %d at most.", JOBS_ID_MAX);
        word->result = "not_found";
        return false;
    }
    (void)snprintf(word->id, sizeof word->id, "%.*s", (int)id.length, (const char *)id.data);
    return true;
}

/* True: there is a link, and a stream of jobs. */
static bool reach(struct word *word, struct link **link)
{
    bool there = false;
    if (!look(word->request, word->api, link, &there)) {
        word->result = "dead_letters_unavailable";
        return false;
    }
    if (!there) {
        api_answer_problem(word->request, 404, "not_found", "Not Found", "There is no job %s: no job was ever begun here.", word->id);
        word->result = "not_found";
    }
    return there;
}

static enum jobs_tell_result try_to_tell(struct word *word, struct link *link, enum jobs_tell_word what, struct error *error)
{
    enum jobs_tell_result result = JOBS_TELL_BUSY;
    for (int i = 0; i < JOBS_TELL_TRIES && result == JOBS_TELL_BUSY; i++) {
        if (!api_letters_link_in_time(word->request, word->api, WRITE_LEAST_MS)) {
            (void)error_set(error, ERROR_UNAVAILABLE, "job %s: no time was left to tell it; try again", word->id);
            return JOBS_TELL_FAILED;
        }
        result = jobs_tell(link, api_letters_link_streams(word->api), word->id, what, &word->record, error);
    }
    return result;
}

static void tell(struct word *word, enum jobs_tell_word what)
{
    struct link *link;
    struct error error = {ERROR_NONE, ""};
    if (!read_id(word) || !reach(word, &link)) {
        return;
    }
    switch (try_to_tell(word, link, what, &error)) {
    case JOBS_TELL_DONE:
        answer_done(word, what == JOBS_TELL_PAUSE ? "paused" : "cancelled");
        break;
    case JOBS_TELL_REFUSED:
        answer_state(word, error.text);
        break;
    case JOBS_TELL_UNKNOWN:
        answer_problem(word, 504, "unknown_outcome", "Gateway Timeout", &error);
        break;
    case JOBS_TELL_BUSY:
        error.code = ERROR_UNAVAILABLE; /* it is written again and again: later, perhaps */
        answer_failed(word, &error);
        break;
    case JOBS_TELL_FAILED:
        answer_failed(word, &error);
        break;
    }
}

static void serve(struct http_request *request, struct api *api, const char *action, enum jobs_tell_word what)
{
    struct word word = {.request = request, .api = api, .action = action, .record = buffer_new(JOBS_TELL_RECORD_MAX)};
    static const char *const known[] = {NULL};
    if (api_parameter_known(request, known) && api_steer_time_none(request)) {
        tell(&word, what);
        api_audit_note(api->audit, clock_wall(), request->actor, action, "id", request->parameter, word.result);
    }
    buffer_free(&word.record);
}

void api_jobs_pause(struct http_request *request, struct api *api)
{
    serve(request, api, "job_pause", JOBS_TELL_PAUSE);
}

void api_jobs_cancel(struct http_request *request, struct api *api)
{
    serve(request, api, "job_cancel", JOBS_TELL_CANCEL);
}
