#include "cli/output.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "ops/clock.h"
#include "ops/config_value.h"

#define COLUMNS_UNKNOWN 80
#define COLUMNS_MOST 1000

struct output output_new(const char *verb, int64_t now_ms)
{
    return (struct output){.verb = verb, .now_ms = now_ms};
}

enum options_result output_take(struct output *output, int argc, char **argv, int *index)
{
    static const enum output_format formats[] = {OUTPUT_JSON, OUTPUT_JSONL, OUTPUT_TABLE};
    const char *value = NULL;
    unsigned choice;
    if (!options_value(argc, argv, index, "-o", &value) && !options_value(argc, argv, index, "--output", &value)) {
        return OPTIONS_UNKNOWN;
    }
    if (value == NULL || !config_value_choice(value, "json|jsonl|table", &choice, NULL)) {
        fprintf(stderr, "tarry %s: -o is %s: give json, jsonl or table\n", output->verb, value == NULL ? "empty" : config_value_show(value).text);
        return OPTIONS_WRONG;
    }
    output->format = formats[choice];
    return OPTIONS_TAKEN;
}

static bool is_set(const char *name)
{
    const char *value = getenv(name);
    return value != NULL && value[0] != '\0';
}

static size_t measure(void)
{
    struct winsize size = {0};
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) {
        return COLUMNS_UNKNOWN;
    }
    return size.ws_col < COLUMNS_MOST ? size.ws_col : COLUMNS_MOST;
}

void output_settle(struct output *output)
{
    const char *kind = getenv("TERM");
    output->terminal = isatty(STDOUT_FILENO) == 1;
    output->coloured = output->terminal && !is_set("NO_COLOR") && kind != NULL && strcmp(kind, "dumb") != 0;
    output->columns = output->terminal ? measure() : 0;
    if (output->format == OUTPUT_AUTO) {
        output->format = output->terminal ? OUTPUT_TABLE : OUTPUT_JSONL;
    }
}

void output_item(struct output *output, struct span json)
{
    if (output->format == OUTPUT_JSON) {
        fputs(output->items == 0 ? "[\n" : ",\n", stdout);
    }
    (void)fwrite(json.data, 1, json.length, stdout);
    if (output->format != OUTPUT_JSON) {
        fputs("\n", stdout);
    }
    output->items += 1;
}

bool output_end(struct output *output)
{
    if (output->format == OUTPUT_JSON) {
        fputs(output->items == 0 ? "[]\n" : "\n]\n", stdout);
    }
    bool done = fflush(stdout) == 0 && ferror(stdout) == 0;
    if (!done) {
        fprintf(stderr, "tarry %s: the output could not be written whole\n", output->verb);
    }
    return done;
}

void output_age(const struct output *output, int64_t ms, char age[OUTPUT_AGE_SIZE])
{
    static const struct {
        int64_t ms;
        char letter;
    } units[] = {{INT64_C(86400000), 'd'}, {3600000, 'h'}, {60000, 'm'}, {1000, 's'}};
    if (ms < 0) {
        (void)snprintf(age, OUTPUT_AGE_SIZE, "-");
        return;
    }
    int64_t past_ms = output->now_ms < 0 ? 0 : output->now_ms - ms; /* both are >= 0: no overflow */
    int64_t distance_ms = past_ms < 0 ? -past_ms : past_ms;
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
        if (distance_ms >= units[i].ms) {
            (void)snprintf(age, OUTPUT_AGE_SIZE, "%s%" PRId64 "%c", past_ms < 0 ? "in " : "", distance_ms / units[i].ms, units[i].letter);
            return;
        }
    }
    (void)snprintf(age, OUTPUT_AGE_SIZE, "now");
}

void output_time(const struct output *output, int64_t ms, char time[OUTPUT_TIME_SIZE])
{
    if (output->terminal) {
        output_age(output, ms, time);
    } else if (ms < 0) {
        (void)snprintf(time, OUTPUT_TIME_SIZE, "-");
    } else {
        (void)clock_text((struct wall_ms){ms}, time, OUTPUT_TIME_SIZE);
    }
}

void output_count(uint64_t count, char text[OUTPUT_COUNT_SIZE])
{
    char digits[OUTPUT_COUNT_SIZE];
    size_t length = (size_t)snprintf(digits, sizeof digits, "%" PRIu64, count);
    size_t used = 0;
    for (size_t i = 0; i < length; i++) {
        if (i > 0 && (length - i) % 3 == 0) {
            text[used++] = ',';
        }
        text[used++] = digits[i];
    }
    text[used] = '\0';
}
