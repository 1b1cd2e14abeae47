#include "cli/dlq_replay_options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "cli/dlq_rate.h"
#include "ops/config_value.h"

#define TOPIC_MAX 249
#define MAX_REPLAYS_DEFAULT 10
#define DURATION_MAX_MS (INT64_C(366) * 86400000)

struct dlq_replay_options dlq_replay_options_new(const char *verb)
{
    return (struct dlq_replay_options){.verb = verb, .stop_percent = -1, .stop_count = -1, .max_replays = MAX_REPLAYS_DEFAULT};
}

void dlq_replay_options_free(struct dlq_replay_options *options)
{
    struct dlq_job words = {.options = options->words};
    dlq_job_free(&words);
    *options = (struct dlq_replay_options){0};
}

/* ------------------------------------------------------------------------------------------------------- one flag */

typedef bool take_fn(struct dlq_replay_options *options, const char *value, struct error *error);

static bool take_to(struct dlq_replay_options *options, const char *value, struct error *error)
{
    options->to = value;
    return (config_value_name(value, TOPIC_MAX, error) && strcmp(value, ".") != 0 && strcmp(value, "..") != 0) ||
           error_set(error, ERROR_INVALID, "'%s' is no topic of Kafka: 1 to 249 of a-z A-Z 0-9 . _ -, not . or ..", value);
}

static bool take_duration(const char *value, int64_t *ms, struct error *error)
{
    return (config_value_duration(value, ms, NULL) && *ms > 0 && *ms <= DURATION_MAX_MS) ||
           error_set(error, ERROR_INVALID, "'%s' is not a duration from 1ms to 366d, for example 90s or 1h30m", value);
}

static bool take_delay(struct dlq_replay_options *options, const char *value, struct error *error)
{
    return take_duration(value, &options->delay_ms, error);
}

static bool take_ramp(struct dlq_replay_options *options, const char *value, struct error *error)
{
    return take_duration(value, &options->ramp_ms, error);
}

static bool take_spread(struct dlq_replay_options *options, const char *value, struct error *error)
{
    return take_duration(value, &options->spread_ms, error);
}

static bool take_rate(struct dlq_replay_options *options, const char *value, struct error *error)
{
    return dlq_rate_parse(value, &options->rate_per_s, error);
}

static bool take_max_replays(struct dlq_replay_options *options, const char *value, struct error *error)
{
    return (config_value_count(value, &options->max_replays, error) && options->max_replays > 0 && options->max_replays <= UINT32_MAX) ||
           error_set(error, ERROR_INVALID, "'%s' is not a whole number from 1 to %u", value, UINT32_MAX);
}

static bool take_stop_after(struct dlq_replay_options *options, const char *value, struct error *error)
{
    size_t length = strlen(value);
    bool share = length > 0 && value[length - 1] == '%';
    char *number = memory_text(value, share ? length - 1 : length);
    int64_t count = 0;
    bool read = config_value_count(number, &count, NULL) && count > 0 && (!share || count < 100);
    free(number);
    options->stop_percent = share ? count : options->stop_percent;
    options->stop_count = share ? options->stop_count : count;
    return read || error_set(error, ERROR_INVALID, "'%s' is neither a number of failures from 1 on nor a share from 1%% to 99%%", value);
}

static bool take_header(struct dlq_replay_options *options, const char *value, struct error *error)
{
    const char *equals = strchr(value, '=');
    if (equals == NULL || equals == value || !text_is_utf8(span_of_text(value))) {
        return error_set(error, ERROR_INVALID, "'%s' is not NAME=VALUE in UTF-8, for example source=replay", value);
    }
    if (options->header_count == DLQ_REPLAY_OPTIONS_HEADERS_MAX) {
        return error_set(error, ERROR_INVALID, "more than %d are too many", DLQ_REPLAY_OPTIONS_HEADERS_MAX);
    }
    struct span name = {(const uint8_t *)value, (size_t)(equals - value)};
    options->headers[options->header_count++] = (struct dlq_replay_header){name, span_of_text(equals + 1)};
    return true;
}

static const struct {
    const char *name;
    take_fn *take;
} flags[] = {
    {"--to", take_to},         {"--delay", take_delay},           {"--set-header", take_header},   {"--rate", take_rate}, {"--ramp", take_ramp},
    {"--spread", take_spread}, {"--stop-after", take_stop_after}, {"--max-replays", take_max_replays},
};

#define FLAG_COUNT (sizeof flags / sizeof flags[0])

/* Keeps "--flag=value"; returns where the value stands in what is kept. */
static const char *keep(struct dlq_replay_options *options, const char *name, const char *value)
{
    size_t length = strlen(name) + 1 + strlen(value);
    char *word = memory_new(length + 1, 1);
    snprintf(word, length + 1, "%s=%s", name, value);
    dlq_job_add_word(&options->words, word);
    free(word);
    return options->words.items[options->words.count - 1] + strlen(name) + 1;
}

enum options_result dlq_replay_options_take(struct dlq_replay_options *options, int argc, char **argv, int *index)
{
    const char *value = NULL;
    size_t which = 0;
    while (which < FLAG_COUNT && !options_value(argc, argv, index, flags[which].name, &value)) {
        which++;
    }
    if (which == FLAG_COUNT) {
        return OPTIONS_UNKNOWN;
    }
    struct error error = {ERROR_NONE, ""};
    if (value == NULL || value[0] == '\0') {
        fprintf(stderr, "tarry %s: %s needs a value\n", options->verb, flags[which].name);
        return OPTIONS_WRONG;
    }
    if (!flags[which].take(options, keep(options, flags[which].name, value), &error)) {
        fprintf(stderr, "tarry %s: %s: %s\n", options->verb, flags[which].name, error.text);
        return OPTIONS_WRONG;
    }
    return OPTIONS_TAKEN;
}

bool dlq_replay_options_check(const struct dlq_replay_options *options)
{
    const char *wrong = NULL;
    if (options->ramp_ms > 0 && options->rate_per_s <= 0) {
        wrong = "--ramp needs --rate: what it climbs up to";
    } else if (options->spread_ms > 0 && options->rate_per_s > 0) {
        wrong = "--spread and --rate both say how fast: give one of them";
    }
    if (wrong != NULL) {
        fprintf(stderr, "tarry %s: %s\n", options->verb, wrong);
    }
    return wrong == NULL;
}

bool dlq_replay_options_stops(const struct dlq_replay_options *options, uint64_t replays, uint64_t failures)
{
    if (options->stop_count > 0 && failures >= (uint64_t)options->stop_count) {
        return true;
    }
    return options->stop_percent > 0 && replays >= DLQ_REPLAY_OPTIONS_SHARE_LEAST &&
           (double)failures * 100 > (double)replays * (double)options->stop_percent;
}
