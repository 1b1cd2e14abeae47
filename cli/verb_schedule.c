/* `tarry schedule`. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>

#include "base/text.h"
#include "cli/client_command.h"
#include "cli/event_view.h"
#include "cli/json_line.h"
#include "cli/schedule_request.h"
#include "cli/verbs.h"

#define JSON_MAX ((size_t)64 * 1024 * 1024)
#define KEY_MOST 255
#define KEY_BYTES 16

/* One for each run: so a request whose answer was lost may be sent again. */
static bool make_key(char key[KEY_MOST + 1])
{
    uint8_t bytes[KEY_BYTES];
    if (getrandom(bytes, sizeof bytes, 0) != (ssize_t)sizeof bytes) {
        return false;
    }
    for (size_t i = 0; i < sizeof bytes; i++) {
        (void)snprintf(key + 2 * i, 3, "%02x", bytes[i]);
    }
    return true;
}

static bool is_header_text(const char *text)
{
    for (; *text != '\0'; text++) {
        if (*text < 0x21 || *text > 0x7e) {
            return false;
        }
    }
    return true;
}

static int take_key(const struct client_command *command, char key[KEY_MOST + 1])
{
    const char *given = verb_arguments_value(&command->arguments, "--idempotency-key");
    if (given == NULL) {
        if (!make_key(key)) {
            client_command_note(command, "the kernel gives no random bytes");
            return VERBS_EXIT_FAILED;
        }
        return VERBS_EXIT_DONE;
    }
    if (given[0] == '\0' || strlen(given) > KEY_MOST || !is_header_text(given)) {
        return verb_arguments_wrong(command->verb, "--idempotency-key has 1 to %d printable ASCII characters and no blank", KEY_MOST);
    }
    (void)snprintf(key, KEY_MOST + 1, "%s", given);
    return VERBS_EXIT_DONE;
}

/* "scheduled order-7: due in 10m (2026-01-31T12:00:00.000Z), at delays/0/42" */
static void show(const struct client_command *command, const struct cJSON *answer)
{
    char shown[1024];
    struct buffer id = buffer_new(EVENT_VIEW_MAX);
    struct buffer due = buffer_new(EVENT_VIEW_MAX);
    struct buffer place = buffer_new(EVENT_VIEW_MAX);
    bool has_id = event_view_id(answer, &id);
    bool has_place = event_view_place(api_client_answer_member(answer, "source"), &place);
    (void)text_printable(buffer_span(&id), shown, sizeof shown);
    printf("%s%s%s", api_client_answer_text(answer, "result"), has_id ? " " : "", has_id ? shown : "");
    if (event_view_time(&command->output, answer, "due", &due)) {
        (void)text_printable(buffer_span(&due), shown, sizeof shown);
        printf(": due %s", shown);
    }
    (void)text_printable(buffer_span(&place), shown, sizeof shown);
    printf("%s%s\n", has_place ? ", at " : "", has_place ? shown : "");
    buffer_free(&id);
    buffer_free(&due);
    buffer_free(&place);
}

static int ask(struct client_command *command, const struct schedule_request *request, const char *key)
{
    struct api_client_answer answer;
    struct buffer json = buffer_new(JSON_MAX);
    schedule_request_json(&command->arguments, request, &json);
    if (json.full) {
        buffer_free(&json);
        client_command_note(command, "key, value and headers are more than a daemon takes");
        return VERBS_EXIT_FAILED;
    }
    struct api_client_request call = {
        .method = "POST", .path = request->recurring ? "/api/v1/schedules" : "/api/v1/messages", .body = (const char *)json.data, .idempotency_key = key};
    int code = api_client_call(command->client, &call, &answer);
    if (code != VERBS_EXIT_DONE) {
        (void)api_client_say(command->client, &answer);
        if (code == VERBS_EXIT_UNREACHABLE || answer.status == 504) {
            client_command_note(command, "saying it again with --idempotency-key %s does not schedule it twice", key);
        }
    } else if (client_command_is_table(command)) {
        show(command, answer.json);
    } else {
        client_command_json(command, answer.json);
    }
    if (code == VERBS_EXIT_DONE && answer.status == 202) {
        client_command_note(command, "it is written to its topic, and not read yet: `tarry get` shows later what became of it");
    }
    api_client_answer_free(&answer);
    buffer_free(&json);
    return code;
}

static int run(struct client_command *command)
{
    char key[KEY_MOST + 1];
    struct schedule_request request;
    int code = schedule_request_read(&command->arguments, &request);
    code = code == VERBS_EXIT_DONE ? take_key(command, key) : code;
    code = code == VERBS_EXIT_DONE ? client_command_connect(command) : code;
    code = code == VERBS_EXIT_DONE ? ask(command, &request, key) : code;
    schedule_request_free(&request);
    return code;
}

int verb_schedule_run(int argc, char **argv)
{
    return client_command_run("schedule", argc, argv, run);
}
