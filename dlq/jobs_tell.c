#include "dlq/jobs_tell.h"

#include <cjson/cJSON.h>
#include <string.h>

#include "dlq/jobs_record.h"

static const char *const wanted[] = {[JOBS_TELL_PAUSE] = "paused", [JOBS_TELL_CANCEL] = "cancelled"};

static bool may_become(const char *now, enum jobs_tell_word word)
{
    return strcmp(now, "running") == 0 || (word == JOBS_TELL_CANCEL && (strcmp(now, "paused") == 0 || strcmp(now, "stopped") == 0));
}

/* The record with another state: all else stays as it is. */
static void write_state(cJSON *object, enum jobs_tell_word word, struct buffer *record)
{
    (void)cJSON_ReplaceItemInObjectCaseSensitive(object, "state", cJSON_CreateString(wanted[word]));
    char *text = cJSON_PrintUnformatted(object);
    buffer_clear(record);
    buffer_add_text(record, text);
    cJSON_free(text);
}

static enum jobs_tell_result
put(struct link *link, const struct streams_options *options, const char *id, const struct buffer *record, uint64_t revision, struct error *error)
{
    if (record->full) {
        (void)error_set(error, ERROR_FULL, "job %s is larger than %zu bytes", id, record->most);
        return JOBS_TELL_FAILED;
    }
    if (jobs_put(link, options, id, buffer_span(record), &revision, error)) {
        return JOBS_TELL_DONE;
    }
    return error->code == ERROR_BUSY ? JOBS_TELL_BUSY : error->code == ERROR_UNAVAILABLE ? JOBS_TELL_UNKNOWN : JOBS_TELL_FAILED;
}

enum jobs_tell_result
jobs_tell(struct link *link, const struct streams_options *options, const char *id, enum jobs_tell_word word, struct buffer *record, struct error *error)
{
    uint64_t revision = 0;
    if (!jobs_get(link, options, id, record, &revision, error)) {
        return JOBS_TELL_FAILED;
    }
    cJSON *object = jobs_record_read(buffer_span(record));
    const char *state = jobs_record_state(object);
    enum jobs_tell_result result = JOBS_TELL_FAILED;
    if (!cJSON_HasObjectItem(object, "state")) {
        (void)error_set(error, ERROR_INVALID, "job %s: it is no job that this version understands: \"state\" is missing or wrong", id);
    } else if (!may_become(state, word)) {
        (void)error_set(error, ERROR_INVALID, "job %s is %.20s: it cannot become %s", id, state, wanted[word]);
        result = JOBS_TELL_REFUSED;
    } else {
        write_state(object, word, record);
        result = put(link, options, id, record, revision, error);
    }
    cJSON_Delete(object);
    return result;
}
