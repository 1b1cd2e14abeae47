/* `tarry forecast`: how much is due when, as bars. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <cjson/cJSON.h>

#include "cli/client_command.h"
#include "cli/verbs.h"

#define LABEL_SIZE 32
#define COLUMNS_UNKNOWN 80
#define BAR_LEAST 10

/* Where in 2026-01-31T12:00:00.000Z the label of a bar begins, and its length. */
static void write_label(const char *from, const char *unit, char label[LABEL_SIZE])
{
    bool day = strcmp(unit, "day") == 0;
    size_t start = day ? 0 : 5; /* without the year */
    size_t length = day ? 10 : 11;
    if (strlen(from) < start + length) {
        (void)snprintf(label, LABEL_SIZE, "%.20s", from);
        return;
    }
    (void)snprintf(label, LABEL_SIZE, "%.*s", (int)length, from + start);
    char *between = strchr(label, 'T');
    if (between != NULL) {
        *between = ' ';
    }
}

static uint64_t count_of(const cJSON *item)
{
    int64_t count = api_client_answer_whole(item, "count", 0);
    return count < 0 ? 0 : (uint64_t)count;
}

struct scale {
    uint64_t most;
    size_t count_width;
    size_t bar_width;
};

static struct scale scale_of(const struct output *output, const cJSON *items, size_t label_width)
{
    char count[OUTPUT_COUNT_SIZE];
    struct scale scale = {.most = 1, .count_width = 1};
    const cJSON *each = NULL;
    cJSON_ArrayForEach(each, items)
    {
        scale.most = count_of(each) > scale.most ? count_of(each) : scale.most;
    }
    output_count(scale.most, count);
    scale.count_width = strlen(count);
    size_t columns = output->columns == 0 ? COLUMNS_UNKNOWN : output->columns;
    size_t taken = label_width + scale.count_width + 6;
    scale.bar_width = columns > taken + BAR_LEAST ? columns - taken : BAR_LEAST;
    return scale;
}

/* One that has anything has a bar. */
static size_t bar_length(const struct scale *scale, uint64_t count)
{
    size_t length = (size_t)((double)count / (double)scale->most * (double)scale->bar_width);
    return length == 0 && count > 0 ? 1 : length < scale->bar_width ? length : scale->bar_width;
}

static void draw_bar(const struct scale *scale, const char *label, const cJSON *item)
{
    char count[OUTPUT_COUNT_SIZE];
    bool spread = cJSON_IsFalse(api_client_answer_member(item, "exact"));
    output_count(count_of(item), count);
    printf("%s  %*s%s ", label, (int)scale->count_width, count, spread ? "~" : " ");
    for (size_t i = 0; i < bar_length(scale, count_of(item)); i++) {
        putchar('#');
    }
    putchar('\n');
}

static void line(const struct cJSON *forecast, const char *name, const char *words)
{
    char count[OUTPUT_COUNT_SIZE];
    int64_t number = api_client_answer_whole(forecast, name, 0);
    if (number > 0) {
        output_count((uint64_t)number, count);
        printf("%s %s\n", count, words);
    }
}

static void draw(const struct output *output, const struct cJSON *forecast)
{
    const cJSON *items = api_client_answer_member(forecast, "items");
    const char *unit = api_client_answer_text(forecast, "unit");
    struct scale scale = scale_of(output, items, strcmp(unit, "day") == 0 ? 10 : 11);
    char label[LABEL_SIZE];
    const cJSON *each = NULL;
    line(forecast, "overdue", "overdue");
    cJSON_ArrayForEach(each, items)
    {
        write_label(api_client_answer_text(each, "from"), unit, label);
        draw_bar(&scale, label, each);
    }
    line(forecast, "later", "later");
    line(forecast, "paused", "paused");
}

static int run(struct client_command *command)
{
    static const char *const flags[] = {"--unit", "--count", "--source", "--target", NULL};
    struct api_client_answer answer;
    int64_t count = 0;
    if (!verb_arguments_number(&command->arguments, "--count", 1, 400, 24, &count)) {
        return VERBS_EXIT_USAGE;
    }
    int code = client_command_get(command, "/api/v1/forecast", flags, &answer);
    if (code == VERBS_EXIT_DONE && client_command_is_table(command)) {
        draw(&command->output, answer.json);
    } else if (code == VERBS_EXIT_DONE) {
        client_command_json(command, answer.json);
    }
    api_client_answer_free(&answer);
    return code;
}

int verb_forecast_run(int argc, char **argv)
{
    return client_command_run("forecast", argc, argv, run);
}
