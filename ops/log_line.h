/* One log entry as one line. Pure; any bytes in, well-formed out. Used by log_output.c only. */
#ifndef TARRY_OPS_LOG_LINE_H
#define TARRY_OPS_LOG_LINE_H

#include "base/buffer.h"
#include "base/log.h"
#include "base/time_types.h"

/* A JSON object with a line feed. Fits LOG_OUTPUT_LINE_MAX: long values are cut, and fields beyond the room are left
 * out and "truncated":true says so. A field that bears the name of a fixed one gets "field_" before it. */
void log_line_json(struct buffer *line, const struct log_entry *entry, struct wall_ms wall);

/* Text with a line feed: time, level, event, message, name=value. Control characters are escaped: no entry makes two
 * lines or colours a terminal. */
void log_line_text(struct buffer *line, const struct log_entry *entry, struct wall_ms wall);

/* As text, but with journald's priority "<N>" instead of time and level. */
void log_line_journal(struct buffer *line, const struct log_entry *entry);

/* The level's name. Never NULL. */
const char *log_line_level_name(enum log_level level);

#endif
