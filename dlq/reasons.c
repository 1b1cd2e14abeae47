#include "dlq/reasons.h"

#include <inttypes.h>
#include <string.h>

#include "dlq/letter_json.h"
#include "dlq/letter_time.h"
#include "dlq/reasons_error.h"
#include "dlq/subject.h"

#define HOUR_MS INT64_C(3600000)

const char *const reasons_by_names[] = {"reason", "error", "target", "source", "hour", NULL};

static void add_hour(int64_t ms, struct buffer *name)
{
    char time[LETTER_TIME_SIZE];
    if (ms < 0 || !letter_time_write(ms - ms % HOUR_MS, time)) {
        buffer_add_text(name, "(unknown)");
        return;
    }
    const char *minutes = strchr(time, ':');
    buffer_add(name, time, minutes == NULL ? strlen(time) : (size_t)(minutes - time));
    buffer_add_text(name, minutes == NULL ? "" : ":00:00Z");
}

void reasons_name(enum reasons_by by, const struct letter *letter, struct buffer *name)
{
    switch (by) {
    case REASONS_BY_REASON:
        buffer_add_text(name, letter_reason_name(letter->reason));
        return;
    case REASONS_BY_ERROR:
        reasons_error(letter->error, name);
        buffer_add_text(name, letter->error.length == 0 ? "(none)" : "");
        return;
    case REASONS_BY_TARGET:
        buffer_add_span(name, letter->target.data == NULL ? span_of_text(SUBJECT_REFUSED) : letter->target);
        return;
    case REASONS_BY_SOURCE:
        buffer_add_span(name, letter->origin.topic);
        return;
    case REASONS_BY_HOUR:
        add_hour(letter->last_failure_ms, name);
        return;
    }
}

static void add_time(struct buffer *json, const char *name, int64_t ms)
{
    char time[LETTER_TIME_SIZE];
    bool known = ms >= 0 && letter_time_write(ms, time);
    buffer_add_format(json, known ? ",\"%s\":\"%s\"" : ",\"%s\":null%s", name, known ? time : "");
}

void reasons_json(enum reasons_by by, const struct reasons_table_group *group, uint64_t letters, struct buffer *json)
{
    buffer_add_format(json, "{\"by\":\"%s\",\"group\":", reasons_by_names[by]);
    letter_json_add_text(json, group->name);
    buffer_add_format(json, ",\"count\":%" PRIu64 ",\"share\":%.4f,\"waiting\":%" PRIu64 ",\"parked\":%" PRIu64, group->count,
                      (double)group->count / (double)letters, group->of[LETTER_WAITING], group->of[LETTER_PARKED]);
    add_time(json, "first", group->first_ms);
    add_time(json, "last", group->last_ms);
    buffer_add_format(json, ",\"example\":\"%s\"}", group->example);
}
