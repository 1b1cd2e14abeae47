/*
 * How the demo shows its events. On a terminal: a line for each, redrawn in place, a window of them when there are
 * more than fit. Into a pipe, or on a terminal without cursor (TERM=dumb): one line for each as it leaves. NO_COLOR
 * takes the colours away.
 */
#ifndef TARRY_CLI_DEMO_VIEW_H
#define TARRY_CLI_DEMO_VIEW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/demo_events.h"

struct demo_view {
    bool in_place;
    bool coloured;
    bool drawing; /* the cursor is hidden */
    size_t drawn; /* lines of the frame on the screen */
};

/* Looks at stdout and the environment. */
struct demo_view demo_view_new(void);

/* How long to wait at most before the next demo_view_frame. */
int demo_view_tick_ms(const struct demo_view *view);

/* One event has left or was refused just now. */
void demo_view_event(const struct demo_view *view, const struct demo_event *event);

/* Draws all as it stands, on a terminal. */
void demo_view_frame(struct demo_view *view, const struct demo_events *events, int64_t now_ms);

/* Gives the terminal back. Any number of times. */
void demo_view_end(struct demo_view *view);

#endif
