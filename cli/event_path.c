#include "cli/event_path.h"

#include "cli/api_client_path.h"

const char *event_path(const struct client_command *command, struct span id, const char *below, const char *source, struct buffer *path)
{
    if (id.length == 0) {
        (void)verb_arguments_wrong(command->verb, "ID is empty");
        return NULL;
    }
    buffer_clear(path);
    buffer_add_text(path, "/api/v1/messages");
    api_client_path_segment(path, id);
    buffer_add_text(path, below);
    api_client_path_query(path, "source", source);
    const char *text = api_client_path_text(path);
    if (text == NULL) {
        (void)verb_arguments_wrong(command->verb, "ID is longer than a daemon takes");
    }
    return text;
}
