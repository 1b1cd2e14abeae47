#include "cli/dlq_job.h"

#include <cjson/cJSON.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/memory.h"
#include "dlq/letter_json.h"
#include "dlq/letter_time.h"

#define NUMBER_MAX 9007199254740992.0 /* 2^53: beyond it a JSON reader may not be exact */

static const char *const verbs[DLQ_JOB_VERBS] = {"replay", "park", "purge"};
static const char *const states[DLQ_JOB_STATES] = {"running", "paused", "stopped", "cancelled", "done"};
static const char *const places[2] = {"waiting", "parked"}; /* by enum letter_state */

const char *dlq_job_verb_name(enum dlq_job_verb verb)
{
    return verbs[verb];
}

const char *dlq_job_state_name(enum dlq_job_state state)
{
    return states[state];
}

static void write_moment(int64_t now_ms, char text[32])
{
    char moment[LETTER_TIME_SIZE];
    if (!letter_time_write(now_ms, moment)) {
        snprintf(text, 32, "%" PRId64, now_ms);
        return;
    }
    /* 2026-01-31T12:00:05.000Z: 20260131-120005 */
    snprintf(text, 32, "%.4s%.2s%.2s-%.2s%.2s%.2s", moment, moment + 5, moment + 8, moment + 11, moment + 14, moment + 17);
}

void dlq_job_begin(struct dlq_job *job, enum dlq_job_verb verb, int64_t now_ms, uint64_t seed)
{
    char moment[32];
    write_moment(now_ms, moment);
    *job = (struct dlq_job){.verb = verb, .state = DLQ_JOB_RUNNING, .started_ms = now_ms, .updated_ms = now_ms};
    snprintf(job->id, sizeof job->id, "%s-%s-%04x", verbs[verb], moment, (unsigned)(seed & 0xffff));
}

void dlq_job_set_runner(struct dlq_job *job, uint64_t token)
{
    snprintf(job->runner, sizeof job->runner, "%016" PRIx64, token);
}

static void free_words(struct dlq_job_words *words)
{
    for (size_t i = 0; i < words->count; i++) {
        free(words->items[i]);
    }
    free(words->items);
    *words = (struct dlq_job_words){0};
}

void dlq_job_free(struct dlq_job *job)
{
    free_words(&job->filter);
    free_words(&job->options);
}

void dlq_job_add_word(void *words, const char *word)
{
    struct dlq_job_words *list = words;
    list->items = memory_resize(list->items, list->count + 1, sizeof *list->items);
    list->items[list->count] = memory_text(word, strlen(word));
    list->count += 1;
}

static void write_words(struct buffer *json, const char *name, const struct dlq_job_words *words)
{
    buffer_add_format(json, ",\"%s\":[", name);
    for (size_t i = 0; i < words->count; i++) {
        buffer_add_text(json, i == 0 ? "" : ",");
        letter_json_add_text(json, span_of_text(words->items[i]));
    }
    buffer_add_text(json, "]");
}

static void write_bound(struct buffer *json, const char *name, const struct dlq_scan_bound *bound)
{
    if (!bound->looked_at) {
        buffer_add_format(json, ",\"%s\":null", name);
        return;
    }
    buffer_add_format(json, ",\"%s\":{\"first\":%" PRIu64 ",\"last\":%" PRIu64 ",\"messages\":%" PRIu64 ",\"created_ms\":%" PRId64 "}", name, bound->first,
                      bound->last, bound->messages, bound->created_ms);
}

void dlq_job_write(const struct dlq_job *job, struct buffer *json)
{
    const struct dlq_job_counts *counts = &job->counts;
    buffer_add_format(json, "{\"id\":\"%s\",\"verb\":\"%s\",\"state\":\"%s\",\"runner\":\"%s\"", job->id, verbs[job->verb], states[job->state], job->runner);
    write_words(json, "filter", &job->filter);
    write_words(json, "options", &job->options);
    write_bound(json, places[0], &job->bounds.of[0]);
    write_bound(json, places[1], &job->bounds.of[1]);
    buffer_add_format(json, ",\"counts\":{\"done\":%" PRIu64 ",\"failed\":%" PRIu64 ",\"skipped\":%" PRIu64 ",\"gone\":%" PRIu64 "}", counts->done,
                      counts->failed, counts->skipped, counts->gone);
    buffer_add_format(json, ",\"started_ms\":%" PRId64 ",\"updated_ms\":%" PRId64 "}", job->started_ms, job->updated_ms);
}

static bool lacks(struct error *error, const char *name)
{
    return error_set(error, ERROR_INVALID, "it is no job that this version understands: \"%s\" is missing or wrong", name);
}

static bool read_number(const cJSON *object, const char *name, uint64_t *number, struct error *error)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, name);
    if (!cJSON_IsNumber(item) || !(item->valuedouble >= 0 && item->valuedouble <= NUMBER_MAX)) {
        return lacks(error, name);
    }
    *number = (uint64_t)item->valuedouble;
    return true;
}

static bool read_time(const cJSON *object, const char *name, int64_t *ms, struct error *error)
{
    uint64_t number = 0;
    bool read = read_number(object, name, &number, error);
    *ms = (int64_t)number;
    return read;
}

static bool read_choice(const cJSON *object, const char *name, const char *const *names, size_t count, size_t *choice, struct error *error)
{
    const char *text = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(object, name));
    for (size_t i = 0; text != NULL && i < count; i++) {
        if (strcmp(text, names[i]) == 0) {
            *choice = i;
            return true;
        }
    }
    return lacks(error, name);
}

static bool read_words(const cJSON *object, const char *name, struct dlq_job_words *words, struct error *error)
{
    const cJSON *list = cJSON_GetObjectItemCaseSensitive(object, name);
    if (!cJSON_IsArray(list)) {
        return lacks(error, name);
    }
    for (const cJSON *item = list->child; item != NULL; item = item->next) {
        if (!cJSON_IsString(item)) {
            return lacks(error, name);
        }
        dlq_job_add_word(words, item->valuestring);
    }
    return true;
}

static bool read_bound(const cJSON *object, const char *name, struct dlq_scan_bound *bound, struct error *error)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, name);
    *bound = (struct dlq_scan_bound){.looked_at = cJSON_IsObject(item)};
    if (!bound->looked_at) {
        return cJSON_IsNull(item) || lacks(error, name);
    }
    return read_number(item, "first", &bound->first, error) && read_number(item, "last", &bound->last, error) &&
           read_number(item, "messages", &bound->messages, error) && read_time(item, "created_ms", &bound->created_ms, error);
}

static bool read_counts(const cJSON *object, struct dlq_job_counts *counts, struct error *error)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, "counts");
    return read_number(item, "done", &counts->done, error) && read_number(item, "failed", &counts->failed, error) &&
           read_number(item, "skipped", &counts->skipped, error) && read_number(item, "gone", &counts->gone, error);
}

static bool read_id(const cJSON *object, struct dlq_job *job, struct error *error)
{
    const char *id = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(object, "id"));
    if (id == NULL || id[0] == '\0' || strlen(id) > JOBS_ID_MAX) {
        return lacks(error, "id");
    }
    snprintf(job->id, sizeof job->id, "%s", id);
    return true;
}

static bool read_runner(const cJSON *object, struct dlq_job *job, struct error *error)
{
    const char *runner = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(object, "runner"));
    size_t digits = runner == NULL ? 0 : strspn(runner, "0123456789abcdef");
    if (runner == NULL || runner[digits] != '\0' || (digits != 0 && digits != DLQ_JOB_RUNNER_SIZE - 1)) {
        return lacks(error, "runner");
    }
    memcpy(job->runner, runner, digits + 1);
    return true;
}

static bool read_all(const cJSON *object, struct dlq_job *job, struct error *error)
{
    size_t verb = 0;
    size_t state = 0;
    bool read = read_id(object, job, error) && read_choice(object, "verb", verbs, DLQ_JOB_VERBS, &verb, error) &&
                read_choice(object, "state", states, DLQ_JOB_STATES, &state, error) && read_runner(object, job, error) &&
                read_words(object, "filter", &job->filter, error) && read_words(object, "options", &job->options, error) &&
                read_bound(object, places[0], &job->bounds.of[0], error) &&
                read_bound(object, places[1], &job->bounds.of[1], error) && read_counts(object, &job->counts, error) &&
                read_time(object, "started_ms", &job->started_ms, error) && read_time(object, "updated_ms", &job->updated_ms, error);
    job->verb = (enum dlq_job_verb)verb;
    job->state = (enum dlq_job_state)state;
    return read;
}

bool dlq_job_read(struct span json, struct dlq_job *job, struct error *error)
{
    cJSON *object = cJSON_ParseWithLength((const char *)json.data, json.length);
    bool read = cJSON_IsObject(object) ? read_all(object, job, error) : error_set(error, ERROR_INVALID, "it is no JSON object");
    cJSON_Delete(object);
    return read;
}
