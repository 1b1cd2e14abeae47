/* Where log entries leave the rooms below ops/: see log.h. */
#include "base/log.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>

#define MESSAGE_MAX 1024

/* Set once before other threads exist, so plain. */
static log_sink_fn *current_sink;
static void *current_context;

static atomic_int least_level = LOG_LEVEL_INFO;

void log_sink_set(log_sink_fn *sink, void *context)
{
    current_sink = sink;
    current_context = context;
}

void log_level_set(enum log_level least)
{
    atomic_store_explicit(&least_level, (int)least, memory_order_relaxed);
}

void log_write(enum log_level level,
               const char *event,
               const struct log_field *fields,
               size_t field_count,
               const char *format,
               ...)
{
    if (current_sink == NULL || (int)level < atomic_load_explicit(&least_level, memory_order_relaxed)) {
        return;
    }
    char message[MESSAGE_MAX];
    va_list arguments;
    va_start(arguments, format);
    if (vsnprintf(message, sizeof(message), format, arguments) < 0) {
        message[0] = '\0';
    }
    va_end(arguments);
    struct log_entry entry = {level, event, message, fields, field_count};
    current_sink(&entry, current_context);
}
