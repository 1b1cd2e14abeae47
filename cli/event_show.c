#include "cli/event_show.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>

#include "base/memory.h"
#include "base/text.h"
#include "cli/api_client_answer.h"
#include "cli/event_view.h"
#include "cli/output_table.h"

#define NAME_WIDTH 10
#define SHOWN_MAX ((size_t)16 * 1024) /* of one value, escaped: a screen or two */

static void line(const char *name, struct span value)
{
    char *shown = memory_new(SHOWN_MAX, 1);
    (void)text_printable(value, shown, SHOWN_MAX);
    printf("%-*s%s\n", NAME_WIDTH, name, shown);
    free(shown);
}

static void line_of_text(const char *name, const char *text)
{
    if (text[0] != '\0') {
        line(name, span_of_text(text));
    }
}

static void line_of_buffer(const char *name, bool there, struct buffer *text)
{
    if (there) {
        line(name, buffer_span(text));
    }
    buffer_free(text);
}

static void line_of_time(const struct output *output, const struct cJSON *event, const char *name, const char *member)
{
    struct buffer text = buffer_new(EVENT_VIEW_MAX);
    line_of_buffer(name, event_view_time(output, event, member, &text), &text);
}

static void line_of_target(const struct cJSON *event)
{
    const struct cJSON *target = api_client_answer_member(event, "target");
    struct buffer text = buffer_new(EVENT_VIEW_MAX);
    bool there = event_view_place(target, &text);
    const char *lane = api_client_answer_text(target, "lane");
    if (lane[0] != '\0') {
        buffer_add_format(&text, " (by %s)", lane);
    }
    line_of_buffer("target", there, &text);
}

static void show_payload(const struct cJSON *event)
{
    const char *payloads = api_client_answer_text(event, "payloads");
    struct buffer key = buffer_new(EVENT_VIEW_MAX);
    struct buffer value = buffer_new(EVENT_VIEW_MAX);
    int64_t bytes = api_client_answer_whole(event, "value_bytes", -1);
    if (bytes >= 0) {
        printf("%-*s%" PRId64 " bytes%s%s%s\n", NAME_WIDTH, "size", bytes, strcmp(payloads, "full") == 0 ? "" : " (payloads: ", strcmp(payloads, "full") == 0 ? "" : payloads,
               strcmp(payloads, "full") == 0 ? "" : ")");
    }
    line_of_buffer("key", api_client_answer_bytes(event, "key", &key), &key);
    const cJSON *header = NULL;
    cJSON_ArrayForEach(header, api_client_answer_member(event, "headers"))
    {
        struct buffer text = buffer_new(EVENT_VIEW_MAX);
        bool named = api_client_answer_bytes(header, "name", &text);
        buffer_add_text(&text, "=");
        (void)api_client_answer_bytes(header, "value", &text);
        line_of_buffer("header", named, &text);
    }
    line_of_buffer("value", api_client_answer_bytes(event, "value", &value), &value);
    line_of_text("value", api_client_answer_true(event, "cut") ? "(too large for the daemon to show)" : "");
}

static const struct output_column HISTORY[] = {{"at", true, 0}, {"outcome", false, 0}, {"due", true, 0}, {"target", false, 0}};

/* A cancel that names no key goes to each partition, and finds nothing in all but one: that tells nothing of the event. */
static bool tells(const struct cJSON *outcome)
{
    return strcmp(api_client_answer_text(outcome, "outcome"), "not_found") != 0;
}

static void show_history(const struct output *output, const struct cJSON *history)
{
    const cJSON *each = NULL;
    size_t count = 0;
    cJSON_ArrayForEach(each, history)
    {
        count += tells(each);
    }
    if (count == 0) {
        return;
    }
    putchar('\n');
    struct output_table *table = output_table_new(output, HISTORY, sizeof HISTORY / sizeof HISTORY[0]);
    cJSON_ArrayForEach(each, history)
    {
        if (!tells(each)) {
            continue;
        }
        struct buffer target = buffer_new(EVENT_VIEW_MAX);
        bool has_target = event_view_place(api_client_answer_member(each, "target"), &target);
        const char *due = api_client_answer_text(each, "due");
        const struct span cells[] = {span_of_text(api_client_answer_text(each, "at")), span_of_text(api_client_answer_text(each, "outcome")),
                                     span_of_text(due[0] == '\0' ? NULL : due), event_view_cell(has_target, &target)};
        output_table_row(table, cells);
        buffer_free(&target);
    }
    output_table_end(table);
}

void event_show(const struct output *output, const struct cJSON *event)
{
    struct buffer id = buffer_new(EVENT_VIEW_MAX);
    struct buffer source = buffer_new(EVENT_VIEW_MAX);
    struct buffer repeats = buffer_new(EVENT_VIEW_MAX);
    line_of_buffer("id", event_view_id(event, &id), &id);
    line_of_text("state", api_client_answer_text(event, "state"));
    line_of_time(output, event, "due", "due");
    line_of_time(output, event, "was due", "resume_due"); /* paused: at that time again, once somebody resumes it */
    line_of_time(output, event, "retried", "retry_at");
    line_of_buffer("repeats", event_view_recurrence(event, &repeats), &repeats);
    line_of_time(output, event, "expires", "expires");
    line_of_target(event);
    line_of_buffer("source", event_view_place(api_client_answer_member(event, "source"), &source), &source);
    show_payload(event);
    show_history(output, api_client_answer_member(event, "history"));
}
