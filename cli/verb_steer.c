/* `tarry run-now`, `reschedule`, `pause`, `resume`: one command to one pending event. */
#include <stdio.h>
#include <string.h>

#include <cjson/cJSON.h>

#include "base/text.h"
#include "cli/api_client_path.h"
#include "cli/client_command.h"
#include "cli/event_path.h"
#include "cli/event_view.h"
#include "cli/verbs.h"

#define BODY_SIZE 2048

/* "order-7: due in 2h (2026-...), before in 10m (2026-...)" */
static void show(const struct client_command *command, const char *done, const struct cJSON *answer)
{
    char text[1024];
    char age[OUTPUT_AGE_SIZE];
    int64_t due_ms = api_client_answer_whole(answer, "due_ms", -1);
    int64_t was_ms = api_client_answer_whole(answer, "was_due_ms", -1);
    (void)text_printable(span_of_text(command->arguments.words[0]), text, sizeof text);
    printf("%s %s", done, text);
    if (due_ms >= 0) {
        output_age(&command->output, due_ms, age);
        printf(": due %s (%s)", age, api_client_answer_text(answer, "due"));
    }
    if (was_ms >= 0 && was_ms != due_ms) {
        printf("%s was due %s", due_ms >= 0 ? "," : ":", api_client_answer_text(answer, "was_due"));
    }
    putchar('\n');
}

static int ask(struct client_command *command, const char *path, const char *body, const char *done)
{
    struct api_client_answer answer;
    struct api_client_request request = {.method = "POST", .path = path, .body = body};
    int code = api_client_call(command->client, &request, &answer);
    if (code != VERBS_EXIT_DONE) {
        (void)api_client_say(command->client, &answer);
    } else if (client_command_is_table(command)) {
        show(command, done, answer.json);
    } else {
        client_command_json(command, answer.json);
    }
    api_client_answer_free(&answer);
    return code;
}

/* The body of a reschedule; of the others it is empty. False: told. */
static bool make_body(const struct client_command *command, char body[BODY_SIZE])
{
    (void)snprintf(body, BODY_SIZE, "{}");
    if (strcmp(command->verb->name, "reschedule") != 0) {
        return true;
    }
    const char *at = verb_arguments_value(&command->arguments, "--at");
    const char *in = verb_arguments_value(&command->arguments, "--in");
    if ((at == NULL) == (in == NULL)) {
        (void)verb_arguments_wrong(command->verb, "give either --at or --in");
        return false;
    }
    const char *member = NULL;
    const char *when = verb_arguments_at(&command->arguments, &member);
    cJSON *object = cJSON_CreateObject();
    (void)cJSON_AddStringToObject(object, member, when);
    bool fits = cJSON_PrintPreallocated(object, body, BODY_SIZE - 8, 0) != 0;
    cJSON_Delete(object);
    if (!fits) {
        (void)verb_arguments_wrong(command->verb, "the time is too long");
    }
    return fits;
}

static int run(struct client_command *command, const char *below, const char *done)
{
    char body[BODY_SIZE];
    struct buffer path = buffer_new(API_CLIENT_PATH_MAX);
    bool good = verb_arguments_words(&command->arguments, 1, "ID") && make_body(command, body);
    const char *text = good ? event_path(command, span_of_text(command->arguments.words[0]), below, verb_arguments_value(&command->arguments, "--source"), &path) : NULL;
    int code = text == NULL ? VERBS_EXIT_USAGE : client_command_connect(command);
    code = code == VERBS_EXIT_DONE ? ask(command, text, body, done) : code;
    buffer_free(&path);
    return code;
}

static int steer(const char *verb, int argc, char **argv, const char *below, const char *done)
{
    struct client_command command;
    int code = client_command_begin(&command, verb, argc, argv);
    return code == VERBS_EXIT_DONE ? client_command_end(&command, run(&command, below, done)) : code;
}

int verb_steer_run_now(int argc, char **argv)
{
    return steer("run-now", argc, argv, "/run-now", "fired");
}

int verb_steer_reschedule(int argc, char **argv)
{
    return steer("reschedule", argc, argv, "/reschedule", "rescheduled");
}

int verb_steer_pause(int argc, char **argv)
{
    return steer("pause", argc, argv, "/pause", "paused");
}

int verb_steer_resume(int argc, char **argv)
{
    return steer("resume", argc, argv, "/resume", "resumed");
}
