/* `tarry cancel`. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <cjson/cJSON.h>

#include "base/text.h"
#include "cli/api_client_path.h"
#include "cli/cancel_bulk.h"
#include "cli/event_pages.h"
#include "cli/event_path.h"
#include "cli/json_line.h"
#include "cli/output_progress.h"
#include "cli/verbs.h"

#define LIMIT_MOST INT64_C(1000000000)

struct cancel {
    struct client_command command;
    struct cancel_bulk bulk;
    bool many; /* ids beyond one, or flags that choose: each has its line, and some may fail */
    size_t done;
    int failed_code; /* of one that failed; 0: none */
};

/* What a 200 or 202 says, for a person. */
static const char *words_of(const struct cJSON *answer)
{
    if (strcmp(api_client_answer_text(answer, "last_occurrence"), "went_out") == 0) {
        return "cancelled; an occurrence was on its way already and arrives";
    }
    if (api_client_answer_true(answer, "already")) {
        return "cancelled already";
    }
    return strcmp(api_client_answer_text(answer, "result"), "sent") == 0 ? "sent to partitions of other instances: what came of it is not known here" : "cancelled";
}

/* JSON for one that failed: the daemon's problem, with the id in front. */
static void print_failure(struct client_command *command, struct span id, const struct api_client_answer *answer)
{
    cJSON *object = cJSON_CreateObject();
    const char *problem = api_client_answer_problem(answer);
    json_line_add_bytes(object, "id", id);
    (void)cJSON_AddStringToObject(object, "result", problem[0] == '\0' ? "failed" : problem);
    (void)cJSON_AddStringToObject(object, "detail", answer->message);
    client_command_json(command, object);
    cJSON_Delete(object);
}

static void show(struct cancel *cancel, struct span id, const struct api_client_answer *answer)
{
    char shown[1024];
    (void)text_printable(id, shown, sizeof shown);
    if (answer->code != VERBS_EXIT_DONE) {
        client_command_note(&cancel->command, "%s%s%s", cancel->many ? shown : "", cancel->many ? ": " : "", answer->message);
    }
    if (client_command_is_table(&cancel->command)) {
        if (answer->code == VERBS_EXIT_DONE) {
            printf("%s: %s\n", shown, words_of(answer->json));
        }
    } else if (answer->code == VERBS_EXIT_DONE) {
        client_command_json(&cancel->command, answer->json);
    } else if (cancel->many) {
        print_failure(&cancel->command, id, answer);
    }
}

/* 0, or the code of this one. Not known, as it went to other instances, is not done. */
static int cancel_one(struct cancel *cancel, const struct cancel_bulk_item *item)
{
    struct api_client_answer answer;
    struct buffer path = buffer_new(API_CLIENT_PATH_MAX);
    struct span id = buffer_span(&item->id);
    struct api_client_request request = {.method = "DELETE"};
    const char *key = verb_arguments_value(&cancel->command.arguments, "--key");
    char partition[24];
    if (event_path(&cancel->command, id, "", item->source, &path) == NULL) {
        buffer_free(&path);
        return VERBS_EXIT_USAGE;
    }
    path.length -= 1; /* its end, for the next parameter */
    api_client_path_query(&path, "key", key);
    if (item->partition >= 0) {
        (void)snprintf(partition, sizeof partition, "%" PRId64, item->partition);
        api_client_path_query(&path, "partition", partition);
    }
    request.path = api_client_path_text(&path);
    if (request.path == NULL) {
        buffer_free(&path);
        return verb_arguments_wrong(cancel->command.verb, "ID and --key are longer than a daemon takes");
    }
    int code = api_client_call(cancel->command.client, &request, &answer);
    show(cancel, id, &answer);
    code = code == VERBS_EXIT_DONE && answer.status == 202 ? VERBS_EXIT_PARTLY : code;
    api_client_answer_free(&answer);
    buffer_free(&path);
    return code;
}

/* After these the next would fail alike. */
static bool is_hopeless(int code)
{
    return code == VERBS_EXIT_UNREACHABLE || code == VERBS_EXIT_REFUSED || code == VERBS_EXIT_USAGE;
}

static int cancel_all(struct cancel *cancel)
{
    struct output_progress progress = output_progress_new("cancel", cancel->bulk.count);
    for (size_t i = 0; i < cancel->bulk.count && ferror(stdout) == 0; i++) {
        output_progress_clear(&progress);
        int code = cancel_one(cancel, &cancel->bulk.items[i]);
        cancel->done += code == VERBS_EXIT_DONE;
        cancel->failed_code = code == VERBS_EXIT_DONE ? cancel->failed_code : code;
        output_progress_at(&progress, i + 1, NULL);
        if (is_hopeless(code)) {
            break;
        }
    }
    output_progress_clear(&progress);
    if (cancel->many && cancel->done < cancel->bulk.count) {
        client_command_note(&cancel->command, "%zu of %zu are cancelled", cancel->done, cancel->bulk.count);
    }
    if (cancel->failed_code == VERBS_EXIT_DONE) {
        return cancel->bulk.without_id > 0 || cancel->bulk.more ? VERBS_EXIT_PARTLY : VERBS_EXIT_DONE;
    }
    return cancel->done > 0 ? VERBS_EXIT_PARTLY : cancel->failed_code;
}

/* Ids that were given, or flags that choose: not both. */
static int check(const struct cancel *cancel, bool chosen, int64_t *limit)
{
    const struct verb_arguments *arguments = &cancel->command.arguments;
    bool schedules = verb_arguments_has(arguments, "--schedules");
    for (size_t i = 0; i < arguments->flag_count; i++) {
        const char *name = arguments->flags[i].flag->name;
        bool filter = strstr("--target --lane --id-prefix --due-from --due-to --state --partition --limit --schedules", name) != NULL;
        if (arguments->word_count > 0 && filter) {
            return verb_arguments_wrong(arguments->verb, "ID... and %s both choose: give one of them", name);
        }
    }
    if (arguments->word_count == 0 && !chosen && !schedules) {
        return verb_arguments_wrong(arguments->verb, "what? Give ID..., or flags that choose");
    }
    if (verb_arguments_has(arguments, "--key") && arguments->word_count != 1) {
        return verb_arguments_wrong(arguments->verb, "--key goes with one ID");
    }
    return verb_arguments_number(arguments, "--limit", 1, LIMIT_MOST, 0, limit) ? VERBS_EXIT_DONE : VERBS_EXIT_USAGE;
}

static int collect(struct cancel *cancel, int64_t limit)
{
    const struct verb_arguments *arguments = &cancel->command.arguments;
    for (size_t i = 0; i < arguments->word_count; i++) {
        cancel_bulk_add(&cancel->bulk, span_of_text(arguments->words[i]), verb_arguments_value(arguments, "--source"), -1);
    }
    int code = arguments->word_count > 0 ? VERBS_EXIT_DONE : cancel_bulk_find(&cancel->command, limit, &cancel->bulk);
    if (code != VERBS_EXIT_DONE) {
        return code;
    }
    if (cancel->bulk.without_id > 0) {
        client_command_note(&cancel->command, "%zu that match have no id, so they cannot be cancelled", cancel->bulk.without_id);
    }
    if (cancel->bulk.more) {
        client_command_note(&cancel->command, "more than %d match: say it again for the rest", CANCEL_BULK_MAX);
    }
    if (cancel->bulk.count == 0) {
        client_command_note(&cancel->command, "nothing pending matches");
        return VERBS_EXIT_PARTLY;
    }
    return VERBS_EXIT_DONE;
}

static int run(struct cancel *cancel)
{
    int64_t limit = 0;
    int code = check(cancel, event_pages_chosen(&cancel->command), &limit);
    cancel->many = cancel->command.arguments.word_count != 1;
    code = code == VERBS_EXIT_DONE ? client_command_connect(&cancel->command) : code;
    code = code == VERBS_EXIT_DONE ? collect(cancel, limit) : code;
    if (code == VERBS_EXIT_DONE && (!cancel->many || cancel_bulk_meant(&cancel->command, &cancel->bulk, &code))) {
        code = cancel_all(cancel);
    }
    cancel_bulk_free(&cancel->bulk);
    return code;
}

int verb_cancel_run(int argc, char **argv)
{
    struct cancel cancel = {.failed_code = VERBS_EXIT_DONE};
    int code = client_command_begin(&cancel.command, "cancel", argc, argv);
    return code == VERBS_EXIT_DONE ? client_command_end(&cancel.command, run(&cancel)) : code;
}
