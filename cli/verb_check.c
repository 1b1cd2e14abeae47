/* `tarry check`: is all well? One line and an exit code for Nagios and its like. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <cjson/cJSON.h>

#include "cli/check_verdict.h"
#include "cli/client_command.h"
#include "cli/verbs.h"

#define TIMEOUT_MS 10000
#define DURATION_MOST_MS (INT64_C(366) * 86400000)
#define COUNT_MOST INT64_C(1000000000000)
#define WARN_LATE_MS 10000
#define CRIT_LATE_MS 60000
#define WARN_STORE 80
#define CRIT_STORE 95
#define NONE (-1)

struct limits {
    struct check_verdict_threshold late;
    struct check_verdict_threshold overdue;
    struct check_verdict_threshold lag;
    struct check_verdict_threshold letters;
    struct check_verdict_threshold store;
    bool mind_clock; /* containers often may not ask the kernel, or their host's clock is kept by other means */
};

/* Reads --warn-NAME and --crit-NAME as numbers. */
static bool read_pair(const struct verb_arguments *arguments, const char *warn, const char *crit, int64_t most, int64_t warn_default, int64_t crit_default,
                      struct check_verdict_threshold *threshold)
{
    int64_t warn_value = 0;
    int64_t crit_value = 0;
    bool good = verb_arguments_number(arguments, warn, 0, most, warn_default, &warn_value) && verb_arguments_number(arguments, crit, 0, most, crit_default, &crit_value);
    threshold->warn = (double)warn_value;
    threshold->crit = (double)crit_value;
    return good;
}

static bool read_late(const struct verb_arguments *arguments, struct check_verdict_threshold *threshold)
{
    int64_t warn_ms = 0;
    int64_t crit_ms = 0;
    bool good = verb_arguments_duration(arguments, "--warn-late", 0, DURATION_MOST_MS, WARN_LATE_MS, &warn_ms) &&
                verb_arguments_duration(arguments, "--crit-late", 0, DURATION_MOST_MS, CRIT_LATE_MS, &crit_ms);
    threshold->warn = (double)warn_ms / 1000;
    threshold->crit = (double)crit_ms / 1000;
    return good;
}

static bool read_limits(const struct verb_arguments *arguments, struct limits *limits)
{
    *limits = (struct limits){
        .late = {"late", "s", NONE, NONE}, .overdue = {"overdue", "", NONE, NONE}, .lag = {"lag", "", NONE, NONE},
        .letters = {"letters", "", NONE, NONE}, .store = {"store", "%", NONE, NONE}, .mind_clock = !verb_arguments_has(arguments, "--no-clock"),
    };
    return read_late(arguments, &limits->late) && read_pair(arguments, "--warn-overdue", "--crit-overdue", COUNT_MOST, NONE, NONE, &limits->overdue) &&
           read_pair(arguments, "--warn-lag", "--crit-lag", COUNT_MOST, NONE, NONE, &limits->lag) &&
           read_pair(arguments, "--warn-letters", "--crit-letters", COUNT_MOST, NONE, NONE, &limits->letters) &&
           read_pair(arguments, "--warn-store", "--crit-store", 100, WARN_STORE, CRIT_STORE, &limits->store);
}

/* What an answer that is none means: not there is CRITICAL, not let in and not understood is UNKNOWN. */
static void judge_failure(struct check_verdict *verdict, const struct api_client_answer *answer)
{
    check_verdict_bad(verdict, answer->code == VERBS_EXIT_UNREACHABLE ? CHECK_VERDICT_CRITICAL : CHECK_VERDICT_UNKNOWN, "%s", answer->message);
}

static bool get(struct client_command *command, const char *path, struct check_verdict *verdict, struct api_client_answer *answer)
{
    struct api_client_request request = {.method = "GET", .path = path};
    if (api_client_call(command->client, &request, answer) == VERBS_EXIT_DONE) {
        return true;
    }
    judge_failure(verdict, answer);
    return false;
}

/* 503 with reasons is an answer, too. False: there is nothing more to ask. */
static bool check_ready(struct client_command *command, struct check_verdict *verdict)
{
    struct api_client_answer answer;
    struct api_client_request request = {.method = "GET", .path = "/readyz"};
    int code = api_client_call(command->client, &request, &answer);
    const cJSON *reasons = api_client_answer_member(answer.json, "reasons");
    const cJSON *reason = NULL;
    bool says_why = cJSON_GetArraySize(reasons) > 0;
    if (code != VERBS_EXIT_DONE && !says_why) {
        judge_failure(verdict, &answer);
    }
    cJSON_ArrayForEach(reason, reasons)
    {
        check_verdict_bad(verdict, CHECK_VERDICT_CRITICAL, "not ready: %s: %s", api_client_answer_text(reason, "component"), api_client_answer_text(reason, "message"));
    }
    api_client_answer_free(&answer);
    return code == VERBS_EXIT_DONE || says_why;
}

static double worst_lag(const cJSON *stats)
{
    double worst = 0;
    const cJSON *source = NULL;
    cJSON_ArrayForEach(source, api_client_answer_member(stats, "sources"))
    {
        double lag = api_client_answer_number(source, "intake_lag", 0);
        worst = lag > worst ? lag : worst;
    }
    return worst;
}

static double used_percent(const cJSON *stats)
{
    const cJSON *store = api_client_answer_member(stats, "store");
    double most = api_client_answer_number(store, "max_bytes", 0);
    double percent = most > 0 ? 100 * api_client_answer_number(store, "used_bytes", 0) / most : 0;
    return (double)(int64_t)(percent * 10) / 10;
}

static void check_stats(struct client_command *command, const struct limits *limits, struct check_verdict *verdict, char *well, size_t well_size)
{
    struct api_client_answer answer;
    static const struct check_verdict_threshold pending = {"pending", "", NONE, NONE};
    static const struct check_verdict_threshold delivered = {"delivered", "c", NONE, NONE};
    if (get(command, "/api/v1/stats", verdict, &answer)) {
        double overdue = api_client_answer_number(answer.json, "overdue", 0);
        check_verdict_measure(verdict, &pending, api_client_answer_number(answer.json, "pending", 0), "");
        check_verdict_measure(verdict, &limits->overdue, overdue, "events are overdue");
        check_verdict_measure(verdict, &limits->lag, worst_lag(answer.json), "records of a delay topic are not read yet");
        check_verdict_measure(verdict, &limits->store, used_percent(answer.json), "of the store is used");
        check_verdict_measure(verdict, &delivered, api_client_answer_number(answer.json, "delivered", 0), "");
        const cJSON *clock = api_client_answer_member(answer.json, "clock");
        if (limits->mind_clock && cJSON_IsFalse(api_client_answer_member(clock, "synchronised"))) {
            check_verdict_bad(verdict, CHECK_VERDICT_WARNING, "the clock is not synchronised");
        }
        (void)snprintf(well, well_size, "%.0f pending, %.0f overdue", api_client_answer_number(answer.json, "pending", 0), overdue);
    }
    api_client_answer_free(&answer);
}

/* What a person paused is meant to wait. */
static void check_targets(struct client_command *command, const struct limits *limits, struct check_verdict *verdict)
{
    struct api_client_answer answer;
    if (get(command, "/api/v1/targets", verdict, &answer)) {
        double oldest_s = 0;
        const cJSON *target = NULL;
        cJSON_ArrayForEach(target, api_client_answer_member(answer.json, "items"))
        {
            const char *state = api_client_answer_text(target, "state");
            double waits_s = strcmp(state, "paused") == 0 ? 0 : api_client_answer_number(target, "oldest_overdue_s", 0);
            oldest_s = waits_s > oldest_s ? waits_s : oldest_s;
            if (strcmp(state, "failing") == 0) {
                check_verdict_bad(verdict, CHECK_VERDICT_WARNING, "target %s fails", api_client_answer_text(target, "name"));
            }
        }
        check_verdict_measure(verdict, &limits->late, oldest_s, "the oldest overdue event waits");
    }
    api_client_answer_free(&answer);
}

static void check_letters(struct client_command *command, const struct limits *limits, struct check_verdict *verdict)
{
    struct api_client_answer answer;
    if (limits->letters.warn < 0 && limits->letters.crit < 0) {
        return;
    }
    if (get(command, "/api/v1/dlq/reasons?by=reason", verdict, &answer)) {
        double count = 0;
        const cJSON *group = NULL;
        cJSON_ArrayForEach(group, api_client_answer_member(answer.json, "items"))
        {
            count += api_client_answer_number(group, "count", 0);
        }
        check_verdict_measure(verdict, &limits->letters, count, "dead letters are there");
    }
    api_client_answer_free(&answer);
}

/* Nagios shows what stands in standard output alone. */
static int not_asked(void)
{
    puts("TARRY UNKNOWN: nothing was asked: its standard error says why");
    return CHECK_VERDICT_UNKNOWN;
}

static int run(struct client_command *command)
{
    struct limits limits;
    char well[128] = "ready";
    int64_t timeout_ms = 0;
    if (!read_limits(&command->arguments, &limits) || !verb_arguments_duration(&command->arguments, "--timeout", 1, 600000, TIMEOUT_MS, &timeout_ms) ||
        client_command_connect_within(command, timeout_ms) != VERBS_EXIT_DONE) {
        return not_asked();
    }
    struct check_verdict verdict = check_verdict_new();
    if (check_ready(command, &verdict)) {
        check_stats(command, &limits, &verdict, well, sizeof well);
        check_targets(command, &limits, &verdict);
        check_letters(command, &limits, &verdict);
    }
    int code = check_verdict_print(&verdict, well);
    check_verdict_free(&verdict);
    return code;
}

int verb_check_run(int argc, char **argv)
{
    struct client_command command;
    if (client_command_begin(&command, "check", argc, argv) != VERBS_EXIT_DONE) {
        return not_asked();
    }
    int code = run(&command);
    return client_command_end(&command, code) == code ? code : (int)CHECK_VERDICT_UNKNOWN;
}
