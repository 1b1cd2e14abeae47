/* Paths of one event. */
#ifndef TARRY_CLI_EVENT_PATH_H
#define TARRY_CLI_EVENT_PATH_H

#include "base/buffer.h"
#include "cli/client_command.h"

/* Replaces `path` by "/api/v1/messages/ID", then `below` ("/pause", ""), then ?source, and returns its text. NULL: told (empty, too long), exit with VERBS_EXIT_USAGE. */
const char *event_path(const struct client_command *command, struct span id, const char *below, const char *source, struct buffer *path);

#endif
