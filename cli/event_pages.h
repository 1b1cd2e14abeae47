/* A list of events from the daemon, page by page. */
#ifndef TARRY_CLI_EVENT_PAGES_H
#define TARRY_CLI_EVENT_PAGES_H

#include "cli/client_command.h"

/* One event. False: stop here. */
typedef bool event_pages_visit(void *context, const struct cJSON *event);

struct event_pages {
    struct client_command *command; /* its flags of `tarry list` choose */
    bool payload;
    int64_t limit; /* 0: all */
    event_pages_visit *visit;
    void *context;
    int64_t seen;
    struct buffer cursor; /* where to go on, NUL-terminated; empty: that was all. Start: empty, or a cursor given. Free it */
};

/* Asks for page after page until the limit or the end. 0, or the code to exit with, told; then the cursor still says where to go on. */
int event_pages_run(struct event_pages *pages);

/* True when a flag that chooses was given. */
bool event_pages_chosen(const struct client_command *command);

#endif
