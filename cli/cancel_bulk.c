#include "cli/cancel_bulk.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/text.h"
#include "cli/event_pages.h"
#include "cli/event_view.h"
#include "cli/verbs.h"

#define SHOWN 10 /* ids of what would be done */
#define ID_MAX ((size_t)64 * 1024)

static struct cancel_bulk_item *grow(struct cancel_bulk *bulk)
{
    if ((bulk->count & (bulk->count - 1)) == 0) { /* at each power of two there is as much room again */
        bulk->items = memory_resize(bulk->items, bulk->count == 0 ? 1 : bulk->count * 2, sizeof *bulk->items);
    }
    bulk->items[bulk->count] = (struct cancel_bulk_item){.id = buffer_new(ID_MAX)};
    return &bulk->items[bulk->count++];
}

void cancel_bulk_add(struct cancel_bulk *bulk, struct span id, const char *source, int64_t partition)
{
    struct cancel_bulk_item *item = grow(bulk);
    buffer_add_span(&item->id, id);
    item->partition = source == NULL ? -1 : partition;
    item->source = source == NULL ? NULL : memory_text(source, strlen(source));
}

static bool visit(void *context, const struct cJSON *event)
{
    struct cancel_bulk *bulk = context;
    struct buffer id = buffer_new(ID_MAX);
    const struct cJSON *place = api_client_answer_member(event, "source");
    const char *source = api_client_answer_text(place, "topic");
    if (!event_view_id(event, &id) || id.length == 0 || id.full) {
        bulk->without_id += 1;
    } else if (bulk->count == CANCEL_BULK_MAX) {
        bulk->more = true;
    } else {
        cancel_bulk_add(bulk, buffer_span(&id), source[0] == '\0' ? NULL : source, api_client_answer_whole(place, "partition", -1));
    }
    buffer_free(&id);
    return !bulk->more;
}

int cancel_bulk_find(struct client_command *command, int64_t limit, struct cancel_bulk *bulk)
{
    struct event_pages pages = {.command = command, .limit = limit, .visit = visit, .context = bulk};
    int code = event_pages_run(&pages);
    buffer_free(&pages.cursor);
    return code;
}

static void say_which(const struct client_command *command, const struct cancel_bulk *bulk)
{
    char id[128];
    client_command_note(command, "would cancel %zu%s event%s:", bulk->count, bulk->more ? " and more" : "", bulk->count == 1 ? "" : "s");
    for (size_t i = 0; i < bulk->count && i < SHOWN; i++) {
        (void)text_printable(buffer_span(&bulk->items[i].id), id, sizeof id);
        fprintf(stderr, "  %s\n", id);
    }
    if (bulk->count > SHOWN) {
        fprintf(stderr, "  and %zu more\n", bulk->count - SHOWN);
    }
}

/* Anything but y or yes is no. */
static bool ask(void)
{
    char line[16] = "";
    fputs("Cancel them? [y/N] ", stderr);
    fflush(stderr);
    if (fgets(line, sizeof line, stdin) == NULL) {
        fputc('\n', stderr);
        return false;
    }
    return strcmp(line, "y\n") == 0 || strcmp(line, "yes\n") == 0 || strcmp(line, "Y\n") == 0;
}

bool cancel_bulk_meant(const struct client_command *command, const struct cancel_bulk *bulk, int *code)
{
    if (verb_arguments_has(&command->arguments, "--execute") || verb_arguments_has(&command->arguments, "--yes")) {
        return true;
    }
    say_which(command, bulk);
    if (isatty(STDIN_FILENO) != 1 || isatty(STDERR_FILENO) != 1) {
        client_command_note(command, "nothing was cancelled: say --execute to do it");
        *code = VERBS_EXIT_DONE;
        return false;
    }
    *code = VERBS_EXIT_USAGE; /* said no */
    bool meant = ask();
    if (!meant) {
        client_command_note(command, "nothing was cancelled");
    }
    return meant;
}

void cancel_bulk_free(struct cancel_bulk *bulk)
{
    for (size_t i = 0; i < bulk->count; i++) {
        buffer_free(&bulk->items[i].id);
        free(bulk->items[i].source);
    }
    free(bulk->items);
    *bulk = (struct cancel_bulk){0};
}
