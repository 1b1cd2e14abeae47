/* `tarry get`. */
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "cli/api_client_path.h"
#include "cli/event_path.h"
#include "cli/event_show.h"
#include "cli/verbs.h"

/* Bytes that a terminal may get as they are: UTF-8 without controls, of which some are two bytes long. */
static bool is_plain(struct span bytes)
{
    for (size_t i = 0; i < bytes.length; i++) {
        bool control = bytes.data[i] < 0x20 && bytes.data[i] != '\n' && bytes.data[i] != '\t';
        bool long_control = bytes.data[i] == 0xc2 && i + 1 < bytes.length && bytes.data[i + 1] < 0xa0;
        if (control || long_control || bytes.data[i] == 0x7f) {
            return false;
        }
    }
    return text_is_utf8(bytes);
}

static int print_raw(const struct client_command *command, const struct cJSON *event, const char *name)
{
    struct buffer bytes = buffer_new(API_CLIENT_ANSWER_MAX);
    const char *payloads = api_client_answer_text(event, "payloads");
    int code = VERBS_EXIT_DONE;
    if (strcmp(payloads, "full") != 0) {
        client_command_note(command, "the daemon does not show its %s (http.payloads: %s there)", name, payloads[0] == '\0' ? "off" : payloads);
        code = VERBS_EXIT_REFUSED;
    } else if (strcmp(name, "value") == 0 && api_client_answer_true(event, "cut")) {
        client_command_note(command, "its value is too large for the daemon to show");
        code = VERBS_EXIT_FAILED;
    } else if (!api_client_answer_bytes(event, name, &bytes)) {
        client_command_note(command, "it has no %s", name);
        code = VERBS_EXIT_PARTLY;
    } else if (command->output.terminal && !is_plain(buffer_span(&bytes))) {
        client_command_note(command, "its %s would upset a terminal: write it into a file", name);
        code = VERBS_EXIT_FAILED;
    } else {
        (void)fwrite(bytes.data, 1, bytes.length, stdout);
    }
    buffer_free(&bytes);
    return code;
}

static int print(struct client_command *command, const struct cJSON *event)
{
    const char *raw = verb_arguments_value(&command->arguments, "--raw");
    if (raw != NULL) {
        command->output.format = OUTPUT_TABLE; /* nothing but the bytes */
        return print_raw(command, event, raw);
    }
    if (client_command_is_table(command)) {
        event_show(&command->output, event);
    } else {
        client_command_json(command, event);
    }
    return VERBS_EXIT_DONE;
}

static int run(struct client_command *command)
{
    struct api_client_answer answer;
    struct buffer path = buffer_new(API_CLIENT_PATH_MAX);
    int code = verb_arguments_words(&command->arguments, 1, "ID") ? client_command_connect(command) : VERBS_EXIT_USAGE;
    const char *text = NULL;
    if (code == VERBS_EXIT_DONE) {
        text = event_path(command, span_of_text(command->arguments.words[0]), "", verb_arguments_value(&command->arguments, "--source"), &path);
        code = text == NULL ? VERBS_EXIT_USAGE : code;
    }
    if (code == VERBS_EXIT_DONE) {
        code = api_client_get(command->client, text, &answer);
        code = code == VERBS_EXIT_DONE ? print(command, answer.json) : code;
        api_client_answer_free(&answer);
    }
    buffer_free(&path);
    return code;
}

int verb_get_run(int argc, char **argv)
{
    return client_command_run("get", argc, argv, run);
}
