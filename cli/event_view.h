/* An event of the daemon's JSON, in words for a person. Each appends to a buffer; nothing is escaped yet. Pure. */
#ifndef TARRY_CLI_EVENT_VIEW_H
#define TARRY_CLI_EVENT_VIEW_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buffer.h"

struct cJSON;
struct output;

#define EVENT_VIEW_MAX ((size_t)64 * 1024 * 1024)

/* Its id's bytes. False: it has none. */
bool event_view_id(const struct cJSON *event, struct buffer *text);

/* "topic/partition/offset" of an object {topic, partition, offset}; what is unknown is left out. False: there is no topic. */
bool event_view_place(const struct cJSON *place, struct buffer *text);

/* "cron 0 9 * * 1-5 Europe/Berlin, 3 left", "every 1h30m". False: it comes once. */
bool event_view_recurrence(const struct cJSON *event, struct buffer *text);

/* "in 10m (2026-01-31T12:00:00.000Z)", "3s ago (...)" of the object's time of that name ("due", with "due_ms" beside it). False: it has none. */
bool event_view_time(const struct output *output, const struct cJSON *object, const char *name, struct buffer *text);

/* When it is due, or would be when it is resumed; -1: unknown. */
int64_t event_view_due_ms(const struct cJSON *event);

/* The buffer as a cell of a table, or absent when `there` is false. */
struct span event_view_cell(bool there, const struct buffer *text);

#endif
