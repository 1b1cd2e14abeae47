/*
 * Where log entries go: one line each on stderr, as JSON or as text. The sink for base/log.h.
 *
 * Logging never hurts: a full disk, a closed or stalled reader cost lines (counted, and said when lines get through
 * again), not time. SIGPIPE has to be ignored (ops/signals.h). A line is at most LOG_OUTPUT_LINE_MAX bytes, so that a
 * pipe takes it whole.
 */
#ifndef TARRY_OPS_LOG_OUTPUT_H
#define TARRY_OPS_LOG_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/log.h"
#include "base/time_types.h"

#define LOG_OUTPUT_LINE_MAX 4096
#define LOG_OUTPUT_WINDOW_MS 10000
#define LOG_OUTPUT_BURST_DEFAULT 50

enum log_output_format {
    LOG_OUTPUT_AUTO, /* journal under journald, text on a terminal, else JSON */
    LOG_OUTPUT_TEXT, /* time, level, event, message, name=value */
    LOG_OUTPUT_JSON,
    LOG_OUTPUT_JOURNAL, /* text with the <N> prefix of sd-daemon(3), without a time */
};

struct log_output_options {
    int fd; /* borrowed; written to, never closed */
    enum log_output_format format;
    unsigned burst;                     /* entries of one event name let through in LOG_OUTPUT_WINDOW_MS, those of level debug aside; 0: no limit */
    struct now (*clock)(void *context); /* NULL: the real one */
    void *clock_context;
};

struct log_output;

/* Never NULL. Resolves LOG_OUTPUT_AUTO by isatty and JOURNAL_STREAM. */
struct log_output *log_output_new(const struct log_output_options *options);

/* Says what is still suppressed, and frees. No thread may log through it any more. NULL is fine. */
void log_output_free(struct log_output *output);

/* The format in use, never LOG_OUTPUT_AUTO. */
enum log_output_format log_output_format(const struct log_output *output);

/* A log_sink_fn; context is the struct log_output. Any thread (it has a lock of its own, as foreign threads log too);
 * waits at most some 50 ms for a stalled reader, and not again until that reads on. */
void log_output_sink(const struct log_entry *entry, void *context);

/* Writes the "suppressed" lines of windows that have ended; the next entry of any event does so too, so this is for
 * silence after a flood. Call it about once a second, or at log_output_deadline. Any thread. */
void log_output_tick(struct log_output *output);

/* The time at which log_output_tick has something to say, or TIME_NEVER. Any thread. */
struct mono_ms log_output_deadline(struct log_output *output);

/* "auto", "text", "json" or "journal". False: none of these, *format is untouched. */
bool log_output_format_named(const char *name, enum log_output_format *format);

/* "debug", "info", "warning" or "error". False: none of these, *level is untouched. */
bool log_output_level_named(const char *name, enum log_level *level);

/* Ignores SIGPIPE, and opens /dev/null for each of fds 0, 1, 2 that is closed, so that none of them becomes a socket or the store and gets
 * log lines written into it. First thing in main. */
void log_output_secure_standard_fds(void);

#endif
