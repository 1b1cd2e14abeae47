#include "cli/event_pages.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <cjson/cJSON.h>

#include "cli/api_client_path.h"
#include "cli/verbs.h"

#define PAGE_MOST 1000
#define CURSOR_MAX ((size_t)16 * 1024)

static const char *const filters[] = {"--source", "--target", "--lane", "--id-prefix", "--due-from", "--due-to", "--state", "--partition", NULL};

bool event_pages_chosen(const struct client_command *command)
{
    for (size_t i = 0; filters[i] != NULL; i++) {
        if (verb_arguments_has(&command->arguments, filters[i])) {
            return true;
        }
    }
    return false;
}

static int64_t page_size(const struct event_pages *pages)
{
    int64_t left = pages->limit == 0 ? PAGE_MOST : pages->limit - pages->seen;
    return left < PAGE_MOST ? left : PAGE_MOST;
}

static const char *cursor_text(const struct event_pages *pages)
{
    return pages->cursor.length == 0 ? NULL : (const char *)pages->cursor.data;
}

static int get_page(struct event_pages *pages, struct api_client_answer *answer)
{
    char limit[32];
    struct buffer path = buffer_new(API_CLIENT_PATH_MAX);
    bool schedules = verb_arguments_has(&pages->command->arguments, "--schedules");
    (void)snprintf(limit, sizeof limit, "%" PRId64, page_size(pages));
    buffer_add_text(&path, schedules ? "/api/v1/schedules" : "/api/v1/messages");
    client_command_query(pages->command, filters, &path);
    api_client_path_query(&path, "payload", pages->payload ? "true" : NULL);
    api_client_path_query(&path, "limit", limit);
    api_client_path_query(&path, "cursor", cursor_text(pages));
    const char *text = api_client_path_text(&path);
    int code = VERBS_EXIT_USAGE;
    if (text == NULL) {
        *answer = api_client_answer_new();
        client_command_note(pages->command, "the flags are longer than a daemon takes");
    } else {
        code = api_client_get(pages->command->client, text, answer);
    }
    buffer_free(&path);
    return code;
}

/* False: the visitor has had enough. */
static bool visit_all(struct event_pages *pages, const cJSON *items)
{
    const cJSON *item = NULL;
    cJSON_ArrayForEach(item, items)
    {
        pages->seen += 1;
        if (!pages->visit(pages->context, item)) {
            return false;
        }
    }
    return true;
}

/* Takes the next cursor. False: it is the one that was asked with, so nothing would come of it. */
static bool take_cursor(struct event_pages *pages, const cJSON *answer)
{
    const char *next = api_client_answer_text(answer, "next_cursor");
    const char *now = cursor_text(pages);
    bool same = now != NULL && strcmp(now, next) == 0;
    buffer_clear(&pages->cursor);
    if (next[0] != '\0') {
        buffer_add(&pages->cursor, next, strlen(next) + 1);
    }
    return !same;
}

int event_pages_run(struct event_pages *pages)
{
    int code = VERBS_EXIT_DONE;
    bool more = true;
    pages->cursor.most = CURSOR_MAX;
    while (more && code == VERBS_EXIT_DONE) {
        struct api_client_answer answer;
        code = get_page(pages, &answer);
        const cJSON *items = code == VERBS_EXIT_DONE ? api_client_answer_member(answer.json, "items") : NULL;
        if (code == VERBS_EXIT_DONE && (!cJSON_IsArray(items) || !take_cursor(pages, answer.json) || pages->cursor.full)) {
            client_command_note(pages->command, "%s answered with no list, or with one that does not go on: is it a tarry?", api_client_shown(pages->command->client));
            code = VERBS_EXIT_FAILED;
        }
        more = code == VERBS_EXIT_DONE && visit_all(pages, items) && pages->cursor.length > 0 && (pages->limit == 0 || pages->seen < pages->limit);
        api_client_answer_free(&answer);
    }
    return code;
}
