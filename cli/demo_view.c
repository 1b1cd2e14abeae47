#include "cli/demo_view.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/buffer.h"
#include "ops/clock.h"

#define TICK_DRAWN_MS 40
#define TICK_QUIET_MS 100
#define BAR_WIDTH 16
#define LINES_AROUND 4 /* headings, and the line below */
#define COLUMNS_MOST 200
#define FRAME_MAX ((size_t)256 * 1024)

#define GREEN "\033[32m"
#define YELLOW "\033[33m"
#define RED "\033[31m"
#define PLAIN "\033[0m"

static bool is_set(const char *name)
{
    const char *value = getenv(name);
    return value != NULL && value[0] != '\0';
}

struct demo_view demo_view_new(void)
{
    const char *terminal = getenv("TERM");
    bool in_place = isatty(STDOUT_FILENO) == 1 && terminal != NULL && strcmp(terminal, "dumb") != 0;
    return (struct demo_view){.in_place = in_place, .coloured = in_place && !is_set("NO_COLOR")};
}

int demo_view_tick_ms(const struct demo_view *view)
{
    return view->in_place ? TICK_DRAWN_MS : TICK_QUIET_MS;
}

/* "14:12:54.123Z" */
static void say_time(int64_t ms, char *text, size_t size)
{
    char whole[CLOCK_TEXT_SIZE];
    clock_text((struct wall_ms){ms}, whole, sizeof whole);
    const char *time = strchr(whole, 'T');
    snprintf(text, size, "%s", time == NULL ? whole : time + 1);
}

/* -------------------------------------------------------------------------------------------------- in a pipe */

void demo_view_event(const struct demo_view *view, const struct demo_event *event)
{
    char form[64];
    char due[CLOCK_TEXT_SIZE];
    if (view->in_place) {
        return;
    }
    demo_events_say_form(event, form, sizeof form);
    if (event->state == DEMO_EVENTS_REFUSED) {
        printf("refused  %-9s  %-24s  %s\n", event->key, form, event->reason);
        return;
    }
    say_time(event->due_ms, due, sizeof due);
    printf("left     %-9s  %-24s  to %-8s  due %s  %+" PRId64 " ms\n", event->key, form,
           demo_broker_short(event->target), due, event->arrived_ms - event->due_ms);
}

/* ---------------------------------------------------------------------------------------------- on a terminal */

struct screen {
    size_t rows;
    size_t columns;
};

static struct screen measure(void)
{
    struct winsize size = {0};
    bool known = ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row > 0 && size.ws_col > 0;
    struct screen screen = {known ? size.ws_row : 24, known ? size.ws_col : 80};
    screen.columns = screen.columns > COLUMNS_MOST ? COLUMNS_MOST : screen.columns;
    return screen;
}

static const char *colour_of(const struct demo_event *event, int64_t now_ms)
{
    switch (event->state) {
    case DEMO_EVENTS_LEFT:
        return GREEN;
    case DEMO_EVENTS_REFUSED:
        return RED;
    case DEMO_EVENTS_WAITING:
        break;
    }
    return event->due_ms - now_ms <= 500 ? YELLOW : "";
}

static void say_bar(const struct demo_event *event, int64_t now_ms, char bar[BAR_WIDTH + 1])
{
    int64_t passed = event->state == DEMO_EVENTS_WAITING ? now_ms - event->sent_ms : event->delay_ms;
    int64_t filled =
        event->delay_ms <= 0 || passed >= event->delay_ms ? BAR_WIDTH : passed * BAR_WIDTH / event->delay_ms;
    for (int i = 0; i < BAR_WIDTH; i++) {
        bar[i] = i < filled ? '=' : '.';
    }
    bar[BAR_WIDTH] = '\0';
}

static void say_state(const struct demo_event *event, int64_t now_ms, char *text, size_t size)
{
    int64_t rest_ms = event->due_ms - now_ms;
    if (event->state == DEMO_EVENTS_REFUSED) {
        snprintf(text, size, "%s", event->reason);
    } else if (event->state == DEMO_EVENTS_LEFT) {
        snprintf(text, size, "left %+" PRId64 " ms", event->arrived_ms - event->due_ms);
    } else if (demo_events_is_wrong(event)) {
        snprintf(text, size, "to be refused");
    } else if (rest_ms > 0) {
        snprintf(text, size, "in %.1f s", (double)rest_ms / 1000);
    } else {
        snprintf(text, size, "due %" PRId64 " ms ago", -rest_ms);
    }
}

/* All of it is ASCII, but for the reason of a refusal, which stands last: bytes are columns as far as they are counted
 * on. */
static void add_line(struct buffer *frame, const char *colour, const char *text, size_t columns)
{
    size_t length = strlen(text);
    buffer_add_text(frame, "\033[2K");
    buffer_add_text(frame, colour);
    buffer_add(frame, text, length < columns ? length : columns - 1);
    buffer_add_text(frame, colour[0] == '\0' ? "" : PLAIN);
    buffer_add_text(frame, "\n");
}

static void add_event(
    struct buffer *frame, const struct demo_view *view, const struct demo_event *event, int64_t now_ms, size_t columns)
{
    char form[64];
    char bar[BAR_WIDTH + 1];
    char state[sizeof event->reason];
    char line[sizeof state + 160]; /* add_line cuts it */
    demo_events_say_form(event, form, sizeof form);
    say_bar(event, now_ms, bar);
    say_state(event, now_ms, state, sizeof state);
    snprintf(line, sizeof line, "%-9s  %-23s %-8s [%s] %s", event->key, form, demo_broker_short(event->target), bar,
             state);
    add_line(frame, view->coloured ? colour_of(event, now_ms) : "", line, columns);
}

/* Of the events, which begins the window: so that a third of it has left already. */
static size_t window_begin(const struct demo_events *events, size_t shown)
{
    size_t next = 0;
    while (next < events->count && events->items[next].state != DEMO_EVENTS_WAITING) {
        next++;
    }
    size_t begin = next > shown / 3 ? next - shown / 3 : 0;
    return begin + shown > events->count ? events->count - shown : begin;
}

static size_t window_size(const struct demo_events *events, struct screen screen)
{
    size_t room = screen.rows > LINES_AROUND ? screen.rows - LINES_AROUND : 1;
    return events->count < room ? events->count : room;
}

void demo_view_frame(struct demo_view *view, const struct demo_events *events, int64_t now_ms)
{
    if (!view->in_place) {
        return;
    }
    struct screen screen = measure();
    struct buffer frame = buffer_new(FRAME_MAX);
    char line[COLUMNS_MOST + 1];
    buffer_add_text(&frame, view->drawing ? "" : "\033[?25l");
    if (view->drawn > 0) {
        buffer_add_format(&frame, "\033[%zuA\r", view->drawn);
    }
    snprintf(line, sizeof line, "%-9s  %-23s %-8s %-*s %s", "key", "time asked for", "topic", BAR_WIDTH + 2, "waiting",
             "lateness");
    add_line(&frame, "", line, screen.columns);
    size_t shown = window_size(events, screen);
    size_t begin = window_begin(events, shown);
    for (size_t i = begin; i < begin + shown; i++) {
        add_event(&frame, view, &events->items[i], now_ms, screen.columns);
    }
    snprintf(line, sizeof line, "%zu of %zu done", events->finished, events->count);
    add_line(&frame, "", line, screen.columns);
    buffer_add_text(&frame, "\033[J"); /* a window that was larger before */
    view->drawn = shown + 2;
    view->drawing = true;
    fwrite(frame.data, 1, frame.length, stdout);
    fflush(stdout);
    buffer_free(&frame);
}

void demo_view_end(struct demo_view *view)
{
    if (view->drawing) {
        fputs("\033[?25h", stdout);
        fflush(stdout);
        view->drawing = false;
    }
}
