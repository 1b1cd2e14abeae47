/* The log sink: see log_output.h. Rate limit and writing; what a line looks like is log_line.c's. */
#include "ops/log_output.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/memory.h"
#include "ops/clock.h"
#include "ops/log_line.h"

/* Event names are a closed set of ours, some dozens. What is beyond this shares the last window. */
#define WINDOW_COUNT 128
#define EVENT_NAME_MAX 64
#define STALL_WAIT_MS 50

struct window {
    char event[EVENT_NAME_MAX];
    enum log_level level; /* the most serious of those suppressed */
    int64_t ends_ms;
    unsigned passed;
    uint64_t suppressed;
};

struct log_output {
    struct log_output_options options;
    pthread_mutex_t lock; /* guards all below */
    struct buffer line;
    struct window windows[WINDOW_COUNT];
    size_t window_count;
    uint64_t lost; /* lines that could not be written */
    bool stalled;  /* the last line was lost: do not wait for the next one */
};

static struct now real_clock(void *context)
{
    (void)context;
    return (struct now){.wall = clock_wall(), .mono = clock_mono()};
}

/* JOURNAL_STREAM names the device and inode of the stream journald gave us; stderr may have been redirected since. */
static bool is_journal(int fd)
{
    const char *stream = getenv("JOURNAL_STREAM");
    struct stat status;
    if (stream == NULL || fstat(fd, &status) != 0) {
        return false;
    }
    char ours[64];
    (void)snprintf(ours, sizeof(ours), "%ju:%ju", (uintmax_t)status.st_dev, (uintmax_t)status.st_ino);
    return strcmp(stream, ours) == 0;
}

static enum log_output_format resolved(const struct log_output_options *options)
{
    if (options->format != LOG_OUTPUT_AUTO) {
        return options->format;
    }
    if (is_journal(options->fd)) {
        return LOG_OUTPUT_JOURNAL;
    }
    return isatty(options->fd) == 1 ? LOG_OUTPUT_TEXT : LOG_OUTPUT_JSON;
}

struct log_output *log_output_new(const struct log_output_options *options)
{
    struct log_output *output = memory_new(1, sizeof(*output));
    output->options = *options;
    output->options.format = resolved(options);
    if (output->options.clock == NULL) {
        output->options.clock = real_clock;
    }
    output->line = buffer_new(LOG_OUTPUT_LINE_MAX);
    (void)pthread_mutex_init(&output->lock, NULL);
    return output;
}

enum log_output_format log_output_format(const struct log_output *output)
{
    return output->options.format;
}

/* True when a whole line can be written without blocking: a pipe that polls writable has room for a page. */
static bool is_writable(struct log_output *output)
{
    struct pollfd poll_fd = {.fd = output->options.fd, .events = POLLOUT};
    int ready = poll(&poll_fd, 1, output->stalled ? 0 : STALL_WAIT_MS);
    return ready == 1 && (poll_fd.revents & POLLOUT) != 0;
}

static bool write_whole(int fd, struct span bytes)
{
    size_t done = 0;
    while (done < bytes.length) {
        ssize_t count = write(fd, bytes.data + done, bytes.length - done);
        if (count < 0 && errno == EINTR) {
            continue; /* nothing was written: a signal came first */
        }
        if (count <= 0) {
            return false;
        }
        done += (size_t)count;
    }
    return true;
}

static bool write_entry(struct log_output *output, const struct log_entry *entry, struct wall_ms wall)
{
    buffer_clear(&output->line);
    if (output->options.format == LOG_OUTPUT_JSON) {
        log_line_json(&output->line, entry, wall);
    } else if (output->options.format == LOG_OUTPUT_JOURNAL) {
        log_line_journal(&output->line, entry);
    } else {
        log_line_text(&output->line, entry, wall);
    }
    bool written = is_writable(output) && write_whole(output->options.fd, buffer_span(&output->line));
    output->stalled = !written;
    return written;
}

/* Writes, and tells of the lines lost before as soon as one gets through. */
static void emit(struct log_output *output, const struct log_entry *entry, struct wall_ms wall)
{
    if (!write_entry(output, entry, wall)) {
        output->lost++;
        return;
    }
    if (output->lost == 0) {
        return;
    }
    struct log_field field = LOG_NUMBER("count", output->lost);
    struct log_entry note = {LOG_LEVEL_WARNING, "log_lines_lost",
                             "log lines were lost because stderr could not be written to", &field, 1};
    if (write_entry(output, &note, wall)) {
        output->lost = 0;
    }
}

static void emit_suppressed(struct log_output *output, struct window *window, struct wall_ms wall)
{
    if (window->suppressed == 0) {
        return;
    }
    char message[EVENT_NAME_MAX + 64];
    (void)snprintf(message, sizeof(message), "%ju more of %s within %d s", (uintmax_t)window->suppressed, window->event,
                   LOG_OUTPUT_WINDOW_MS / 1000);
    struct log_field fields[] = {LOG_TEXT("suppressed_event", window->event), LOG_NUMBER("count", window->suppressed)};
    struct log_entry note = {window->level, "suppressed", message, fields, 2};
    emit(output, &note, wall);
    window->suppressed = 0;
}

static struct window *window_for(struct log_output *output, const char *event)
{
    size_t count = output->window_count;
    for (size_t i = 0; i < count; i++) {
        if (strncmp(output->windows[i].event, event, EVENT_NAME_MAX - 1) == 0) {
            return &output->windows[i];
        }
    }
    if (count == WINDOW_COUNT) {
        return &output->windows[WINDOW_COUNT - 1];
    }
    struct window *window = &output->windows[output->window_count++];
    bool last = output->window_count == WINDOW_COUNT;
    (void)snprintf(window->event, sizeof(window->event), "%s", last ? "other" : event);
    return window;
}

/* True: it may be written. False: it was counted. Who asks for the level debug wants all of it. */
static bool admit(struct log_output *output, const struct log_entry *entry, struct now now)
{
    if (output->options.burst == 0 || entry->level == LOG_LEVEL_DEBUG) {
        return true;
    }
    struct window *window = window_for(output, entry->event);
    if (now.mono.ms >= window->ends_ms) {
        window->ends_ms = now.mono.ms + LOG_OUTPUT_WINDOW_MS;
        window->passed = 0;
    }
    if (window->passed < output->options.burst) {
        window->passed++;
        return true;
    }
    window->level = window->suppressed == 0 || entry->level > window->level ? entry->level : window->level;
    window->suppressed++;
    return false;
}

static void emit_ended(struct log_output *output, struct now now)
{
    for (size_t i = 0; i < output->window_count; i++) {
        if (now.mono.ms >= output->windows[i].ends_ms) {
            emit_suppressed(output, &output->windows[i], now.wall);
        }
    }
}

void log_output_sink(const struct log_entry *entry, void *context)
{
    struct log_output *output = context;
    int saved_errno = errno; /* whoever logs may still want to look at it */
    (void)pthread_mutex_lock(&output->lock);
    struct now now = output->options.clock(output->options.clock_context);
    emit_ended(output, now);
    if (admit(output, entry, now)) {
        emit(output, entry, now.wall);
    }
    (void)pthread_mutex_unlock(&output->lock);
    errno = saved_errno;
}

void log_output_tick(struct log_output *output)
{
    (void)pthread_mutex_lock(&output->lock);
    emit_ended(output, output->options.clock(output->options.clock_context));
    (void)pthread_mutex_unlock(&output->lock);
}

struct mono_ms log_output_deadline(struct log_output *output)
{
    struct mono_ms deadline = {TIME_NEVER};
    (void)pthread_mutex_lock(&output->lock);
    for (size_t i = 0; i < output->window_count; i++) {
        const struct window *window = &output->windows[i];
        if (window->suppressed > 0 && window->ends_ms < deadline.ms) {
            deadline.ms = window->ends_ms;
        }
    }
    (void)pthread_mutex_unlock(&output->lock);
    return deadline;
}

void log_output_free(struct log_output *output)
{
    if (output == NULL) {
        return;
    }
    struct now now = output->options.clock(output->options.clock_context);
    for (size_t i = 0; i < output->window_count; i++) {
        emit_suppressed(output, &output->windows[i], now.wall);
    }
    (void)pthread_mutex_destroy(&output->lock);
    buffer_free(&output->line);
    free(output);
}

bool log_output_format_named(const char *name, enum log_output_format *format)
{
    static const char *const names[] = {[LOG_OUTPUT_AUTO] = "auto",
                                        [LOG_OUTPUT_TEXT] = "text",
                                        [LOG_OUTPUT_JSON] = "json",
                                        [LOG_OUTPUT_JOURNAL] = "journal"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (strcmp(names[i], name) == 0) {
            *format = (enum log_output_format)i;
            return true;
        }
    }
    return false;
}

bool log_output_level_named(const char *name, enum log_level *level)
{
    for (int i = LOG_LEVEL_DEBUG; i <= LOG_LEVEL_ERROR; i++) {
        if (strcmp(log_line_level_name((enum log_level)i), name) == 0) {
            *level = (enum log_level)i;
            return true;
        }
    }
    return false;
}

void log_output_secure_standard_fds(void)
{
    struct sigaction ignore = {.sa_handler = SIG_IGN};
    (void)sigaction(SIGPIPE, &ignore, NULL); /* a reader that is gone must not end us before signals_start */
    for (int fd = 0; fd <= 2; fd++) {
        if (fcntl(fd, F_GETFD) >= 0 || errno != EBADF) {
            continue;
        }
        int opened = open("/dev/null", O_RDWR); /* takes the lowest free number, which is fd */
        if (opened > 2) {
            (void)close(opened);
        }
    }
}
