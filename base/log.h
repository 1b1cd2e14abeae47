/*
 * The logging interface. Rooms below ops/ say what happened through it; where it goes is ops/'s affair.
 *
 * An entry is an event name (stable, for machines), a message (for a tired person) and fields. Values are borrowed for
 * the call. Never pass a secret or a payload. `scheduler/` does not log at all: it returns facts.
 */
#ifndef TARRY_BASE_LOG_H
#define TARRY_BASE_LOG_H

#include <stddef.h>
#include <stdint.h>

enum log_level { LOG_LEVEL_DEBUG, LOG_LEVEL_INFO, LOG_LEVEL_WARNING, LOG_LEVEL_ERROR };

struct log_field {
    const char *name;
    const char *text; /* NULL: the number counts */
    int64_t number;
};

#define LOG_TEXT(field_name, value) ((struct log_field){(field_name), (value), 0})
#define LOG_NUMBER(field_name, value) ((struct log_field){(field_name), NULL, (int64_t)(value)})

struct log_entry {
    enum log_level level;
    const char *event;   /* snake_case, for example "partition_gained" */
    const char *message;
    const struct log_field *fields;
    size_t field_count;
};

typedef void log_sink_fn(const struct log_entry *entry, void *context);

/* Names where entries go; NULL = nowhere (the start). Call it before other threads exist. The sink may be called from
 * any thread and must not block for long. */
void log_sink_set(log_sink_fn *sink, void *context);

/* Entries below this level are dropped before they are formatted. Thread-safe. Default LOG_LEVEL_INFO. */
void log_level_set(enum log_level least);

/* Formats the message (cut at 1,023 bytes) and passes the entry on. fields may be NULL when field_count is 0.
 * Thread-safe. */
void log_write(enum log_level level,
               const char *event,
               const struct log_field *fields,
               size_t field_count,
               const char *format,
               ...) __attribute__((format(printf, 5, 6)));

#define LOG_FIELDS(...) \
    (const struct log_field[]){__VA_ARGS__}, sizeof((const struct log_field[]){__VA_ARGS__}) / sizeof(struct log_field)

#endif
