/* Cancelling many: which they are, and whether that is meant. */
#ifndef TARRY_CLI_CANCEL_BULK_H
#define TARRY_CLI_CANCEL_BULK_H

#include "cli/client_command.h"

#define CANCEL_BULK_MAX 100000 /* more are not held at once; say it again for the rest */

struct cancel_bulk_item {
    struct buffer id;
    char *source;      /* topic; NULL: any */
    int64_t partition; /* of source, where the list saw it: no other event of that id is meant; -1: any */
};

struct cancel_bulk {
    struct cancel_bulk_item *items;
    size_t count;
    size_t without_id; /* matched, but there is nothing to cancel them by */
    bool more;         /* than CANCEL_BULK_MAX match */
};

/* Adds an id, as it was given or seen. `partition` -1: any. */
void cancel_bulk_add(struct cancel_bulk *bulk, struct span id, const char *source, int64_t partition);

/* Adds those that the flags choose, by asking for the list. 0, or the code, told. */
int cancel_bulk_find(struct client_command *command, int64_t limit, struct cancel_bulk *bulk);

/* Whether to go on: --execute or --yes; a yes on a terminal; else it says what would be done, and false. *code: what to exit with then. */
bool cancel_bulk_meant(const struct client_command *command, const struct cancel_bulk *bulk, int *code);

void cancel_bulk_free(struct cancel_bulk *bulk);

#endif
