/* `tarry target list|pause|resume`. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <cjson/cJSON.h>

#include "base/text.h"
#include "cli/api_client_path.h"
#include "cli/client_command.h"
#include "cli/output_table.h"
#include "cli/verbs.h"

static const struct output_column COLUMNS[] = {
    {"name", false, 32},  {"state", false, 0}, {"pending", true, 0}, {"in flight", true, 0}, {"overdue", true, 0},
    {"oldest", true, 0}, {"delivered", true, 0}, {"rate", true, 0}, {"match", false, 0},
};

#define COLUMN_COUNT (sizeof COLUMNS / sizeof COLUMNS[0])
#define CELL_SIZE OUTPUT_COUNT_SIZE

static void write_count(const struct cJSON *object, const char *name, char cell[CELL_SIZE])
{
    int64_t number = api_client_answer_whole(object, name, -1);
    if (number < 0) {
        (void)snprintf(cell, CELL_SIZE, "-");
    } else {
        output_count((uint64_t)number, cell);
    }
}

static void show_row(struct output_table *table, const struct cJSON *target)
{
    char cells[6][CELL_SIZE];
    double oldest_s = api_client_answer_number(target, "oldest_overdue_s", -1);
    double rate = api_client_answer_number(target, "rate_per_s", -1);
    write_count(target, "pending", cells[0]);
    write_count(target, "in_flight", cells[1]);
    write_count(target, "overdue", cells[2]);
    (void)snprintf(cells[3], CELL_SIZE, oldest_s > 0 ? "%.0fs" : "-", oldest_s);
    write_count(target, "delivered", cells[4]);
    (void)snprintf(cells[5], CELL_SIZE, rate >= 0 ? "%g/s" : "-", rate);
    const struct span row[COLUMN_COUNT] = {
        span_of_text(api_client_answer_text(target, "name")), span_of_text(api_client_answer_text(target, "state")),
        span_of_text(cells[0]), span_of_text(cells[1]), span_of_text(cells[2]), span_of_text(cells[3]), span_of_text(cells[4]), span_of_text(cells[5]),
        span_of_text(api_client_answer_text(target, "match")),
    };
    output_table_row(table, row);
}

static void print_all(struct client_command *command, const struct cJSON *items)
{
    const cJSON *each = NULL;
    struct output_table *table = client_command_is_table(command) ? output_table_new(&command->output, COLUMNS, COLUMN_COUNT) : NULL;
    cJSON_ArrayForEach(each, items)
    {
        if (table == NULL) {
            client_command_json(command, each);
        } else {
            show_row(table, each);
        }
    }
    if (table != NULL) {
        output_table_end(table);
    }
}

static int list(struct client_command *command)
{
    struct api_client_answer answer;
    int code = client_command_get(command, "/api/v1/targets", NULL, &answer);
    if (code == VERBS_EXIT_DONE) {
        print_all(command, api_client_answer_member(answer.json, "items"));
    }
    api_client_answer_free(&answer);
    return code;
}

int verb_target_list_run(int argc, char **argv)
{
    return client_command_run("target list", argc, argv, list);
}

static int ask(struct client_command *command, const char *path, const char *done)
{
    char name[1024];
    struct api_client_answer answer;
    struct api_client_request request = {.method = "POST", .path = path, .body = "{}"};
    int code = api_client_call(command->client, &request, &answer);
    if (code != VERBS_EXIT_DONE) {
        (void)api_client_say(command->client, &answer);
    } else if (client_command_is_table(command)) {
        (void)text_printable(span_of_text(command->arguments.words[0]), name, sizeof name);
        printf("%s %s\n", done, name);
    } else {
        client_command_json(command, answer.json);
    }
    api_client_answer_free(&answer);
    return code;
}

static int steer(struct client_command *command, const char *below, const char *done)
{
    struct buffer path = buffer_new(API_CLIENT_PATH_MAX);
    if (!verb_arguments_words(&command->arguments, 1, "NAME")) {
        buffer_free(&path);
        return VERBS_EXIT_USAGE;
    }
    if (command->arguments.words[0][0] == '\0') {
        buffer_free(&path);
        return verb_arguments_wrong(command->verb, "NAME is empty");
    }
    buffer_add_text(&path, "/api/v1/targets");
    api_client_path_segment(&path, span_of_text(command->arguments.words[0]));
    buffer_add_text(&path, below);
    const char *text = api_client_path_text(&path);
    int code = text == NULL ? verb_arguments_wrong(command->verb, "NAME is longer than a daemon takes") : client_command_connect(command);
    code = code == VERBS_EXIT_DONE ? ask(command, text, done) : code;
    buffer_free(&path);
    return code;
}

int verb_target_pause_run(int argc, char **argv)
{
    struct client_command command;
    int code = client_command_begin(&command, "target pause", argc, argv);
    return code == VERBS_EXIT_DONE ? client_command_end(&command, steer(&command, "/pause", "paused")) : code;
}

int verb_target_resume_run(int argc, char **argv)
{
    struct client_command command;
    int code = client_command_begin(&command, "target resume", argc, argv);
    return code == VERBS_EXIT_DONE ? client_command_end(&command, steer(&command, "/resume", "resumed")) : code;
}
