#include "cli/event_view.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "bridge/delay_text.h"
#include "cli/api_client_answer.h"
#include "cli/output.h"

bool event_view_id(const struct cJSON *event, struct buffer *text)
{
    return api_client_answer_bytes(event, "id", text);
}

bool event_view_place(const struct cJSON *place, struct buffer *text)
{
    const char *topic = api_client_answer_text(place, "topic");
    int64_t partition = api_client_answer_whole(place, "partition", -1);
    int64_t offset = api_client_answer_whole(place, "offset", -1);
    buffer_add_text(text, topic);
    if (partition >= 0) {
        buffer_add_format(text, "/%" PRId64, partition);
    }
    if (partition >= 0 && offset >= 0) {
        buffer_add_format(text, "/%" PRId64, offset);
    }
    return topic[0] != '\0';
}

bool event_view_recurrence(const struct cJSON *event, struct buffer *text)
{
    const struct cJSON *recurrence = api_client_answer_member(event, "recurrence");
    const char *cron = api_client_answer_text(recurrence, "cron");
    int64_t every_ms = api_client_answer_whole(recurrence, "every_ms", -1);
    char every[DELAY_TEXT_MAX];
    if (cron[0] != '\0') {
        const char *zone = api_client_answer_text(recurrence, "tz");
        buffer_add_format(text, "cron %s%s%s", cron, zone[0] == '\0' ? "" : " ", zone);
    } else if (every_ms >= 0) {
        delay_text_write(every_ms, every);
        buffer_add_format(text, "every %s", every);
    } else {
        return false;
    }
    int64_t left = api_client_answer_whole(recurrence, "count_left", -1);
    if (left >= 0) {
        buffer_add_format(text, ", %" PRId64 " left", left);
    }
    const char *until = api_client_answer_text(recurrence, "until");
    if (until[0] != '\0') {
        buffer_add_format(text, ", until %s", until);
    }
    return true;
}

bool event_view_time(const struct output *output, const struct cJSON *object, const char *name, struct buffer *text)
{
    char age[OUTPUT_AGE_SIZE];
    char number[32];
    (void)snprintf(number, sizeof number, "%s_ms", name);
    int64_t ms = api_client_answer_whole(object, number, -1);
    if (ms >= 0) {
        output_age(output, ms, age);
        buffer_add_format(text, "%s%s (%s)", age, ms < output->now_ms && strcmp(age, "now") != 0 ? " ago" : "", api_client_answer_text(object, name));
    }
    return ms >= 0;
}

int64_t event_view_due_ms(const struct cJSON *event)
{
    int64_t due_ms = api_client_answer_whole(event, "due_ms", -1);
    return due_ms >= 0 ? due_ms : api_client_answer_whole(event, "resume_due_ms", -1);
}

struct span event_view_cell(bool there, const struct buffer *text)
{
    return there ? buffer_span(text) : SPAN_ABSENT;
}
