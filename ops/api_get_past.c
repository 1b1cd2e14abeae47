/* See api_get_past.h. */
#include "ops/api_get_past.h"

#include <cjson/cJSON.h>

#include "ops/api.h"
#include "ops/json.h"
#include "scheduler/schedule_state.h"

#define LINE_MOST ((size_t)64 << 10) /* of one event: an id of 4,096 bytes, each escaped, and names */

static void add_line(struct cJSON *array, const struct history_event *event)
{
    struct buffer line = buffer_new(LINE_MOST);
    struct error error;
    bool made = history_json(&line, event, &error);
    buffer_add(&line, "", 1);
    if (made && !line.full) {
        (void)cJSON_AddItemToArray(array, cJSON_CreateRaw((const char *)line.data));
    }
    buffer_free(&line);
}

void api_get_past_history(struct cJSON *object, const struct history_event *events, size_t count)
{
    struct cJSON *array = json_add_array(object, "history");
    for (size_t i = 0; i < count; i++) {
        add_line(array, &events[i]);
    }
}

/* ------------------------------------------------------------------------------------------------- which one tells */

/* What an outcome tells of the event itself. */
enum telling {
    TELLS,         /* what became of it, or where it went on */
    TELLS_OF_ONE,  /* of another record with its id, or that it went out */
    TELLS_NOTHING, /* there was none */
};

struct meaning {
    uint8_t telling;
    enum schedule_state state; /* of a schedule; NEW: the outcome's own name */
};

static const struct meaning meanings[HISTORY_OUTCOMES] = {
    [HISTORY_DELIVERED] = {TELLS, SCHEDULE_FINISHED},    [HISTORY_LETTER] = {TELLS, SCHEDULE_FINISHED},
    [HISTORY_CANCELLED] = {TELLS, SCHEDULE_STOPPED},     [HISTORY_REPLACED] = {TELLS, SCHEDULE_STOPPED},
    [HISTORY_REJECTED] = {TELLS_OF_ONE, SCHEDULE_NEW},   [HISTORY_DUPLICATE] = {TELLS_OF_ONE, SCHEDULE_NEW},
    [HISTORY_DROPPED_LATE] = {TELLS, SCHEDULE_FINISHED}, [HISTORY_EXPIRED] = {TELLS, SCHEDULE_FINISHED},
    [HISTORY_TOO_LATE] = {TELLS_OF_ONE, SCHEDULE_FINISHED}, [HISTORY_NOT_FOUND] = {TELLS_NOTHING, SCHEDULE_NEW},
    [HISTORY_SKIPPED] = {TELLS, SCHEDULE_STOPPED},       [HISTORY_NEXT] = {TELLS, SCHEDULE_NEW},
    [HISTORY_MOVED] = {TELLS, SCHEDULE_NEW},             [HISTORY_PAUSED] = {TELLS, SCHEDULE_NEW},
    [HISTORY_RESUMED] = {TELLS, SCHEDULE_NEW},           [HISTORY_FINISHED] = {TELLS, SCHEDULE_FINISHED},
};

static const struct history_event *latest(const struct history_event *events, size_t count)
{
    for (int wanted = TELLS; wanted <= TELLS_OF_ONE; wanted++) {
        for (size_t i = 0; i < count; i++) {
            if (meanings[events[i].outcome].telling == wanted) {
                return &events[i];
            }
        }
    }
    return NULL;
}

static bool recurred(const struct history_event *events, size_t count)
{
    bool found = false;
    for (size_t i = 0; i < count && !found; i++) {
        found = events[i].outcome == HISTORY_NEXT || events[i].outcome == HISTORY_FINISHED;
    }
    return found;
}

static const char *state_of(enum history_outcome outcome, bool schedule)
{
    enum schedule_state state = meanings[outcome].state;
    if (schedule && state != SCHEDULE_NEW) {
        return schedule_state_name(state);
    }
    return history_outcome_name(outcome == HISTORY_TOO_LATE ? HISTORY_DELIVERED : outcome); /* that it went out is all that is known then */
}

/* ------------------------------------------------------------------------------------------------- the event */

/* FINISHED has none of its own: what came last before it has. */
static int64_t due_of(const struct history_event *events, size_t count, const struct history_event *told)
{
    const struct history_event *event = told;
    while (event < events + count && event->due_ms < 0) {
        event++;
    }
    return event < events + count ? event->due_ms : -1;
}

static void add_target(struct cJSON *object, const struct history_event *event)
{
    if (event->target.data == NULL) {
        (void)cJSON_AddNullToObject(object, "target");
        return;
    }
    struct cJSON *target = json_add_object(object, "target");
    api_answer_add_bytes(target, "topic", event->target);
    if (event->target_partition >= 0) {
        json_add_number(target, "partition", event->target_partition);
    } else {
        (void)cJSON_AddNullToObject(target, "partition");
    }
}

bool api_get_past_event(struct cJSON *object, const struct history_event *events, size_t count, bool schedule)
{
    const struct history_event *told = latest(events, count);
    if (told == NULL) {
        return false;
    }
    bool is_schedule = schedule || recurred(events, count);
    int64_t due_ms = due_of(events, count, told);
    api_answer_add_bytes(object, "id", told->id);
    json_add_text(object, "kind", is_schedule ? "schedule" : "message");
    json_add_text(object, "state", state_of(told->outcome, is_schedule));
    if (due_ms >= 0) {
        api_answer_add_time(object, "due", due_ms);
    } else {
        (void)cJSON_AddNullToObject(object, "due");
        (void)cJSON_AddNullToObject(object, "due_ms");
    }
    struct cJSON *source = json_add_object(object, "source");
    api_answer_add_bytes(source, "topic", told->source_topic);
    json_add_number(source, "partition", told->source_partition);
    json_add_number(source, "offset", (double)told->source_offset);
    json_add_number(object, "root_offset", (double)told->source_offset);
    add_target(object, told);
    api_answer_add_time(object, "ended", told->at_ms);
    return true;
}
