/* `tarry stats`. */
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include <cjson/cJSON.h>

#include "base/text.h"
#include "bridge/delay_text.h"
#include "cli/client_command.h"
#include "cli/event_view.h"
#include "cli/verbs.h"
#include "ops/clock.h"

#define HOME_AND_CLEAR "\033[H\033[J"
#define DAY_MS INT64_C(86400000)
#define NAME_WIDTH 13
#define STEP_MS 200

static void line_of_count(const struct cJSON *stats, const char *name, const char *member, const char *behind)
{
    char count[OUTPUT_COUNT_SIZE];
    int64_t number = api_client_answer_whole(stats, member, -1);
    if (number >= 0) {
        output_count((uint64_t)number, count);
        printf("%-*s%s%s\n", NAME_WIDTH, name, count, behind);
    }
}

static void line_of_time(const struct output *output, const struct cJSON *stats, const char *name, const char *member)
{
    char shown[128];
    struct buffer text = buffer_new(EVENT_VIEW_MAX);
    if (event_view_time(output, stats, member, &text)) {
        (void)text_printable(buffer_span(&text), shown, sizeof shown);
        printf("%-*s%s\n", NAME_WIDTH, name, shown);
    }
    buffer_free(&text);
}

static void line_of_uptime(const struct cJSON *stats)
{
    char text[DELAY_TEXT_MAX];
    int64_t seconds = api_client_answer_whole(stats, "uptime_s", -1);
    if (seconds >= 0 && seconds < INT64_MAX / 1000) {
        delay_text_write(seconds * 1000, text);
        printf("%-*s%s\n", NAME_WIDTH, "up", text);
    }
}

static void line_of_lateness(const struct cJSON *stats)
{
    const struct cJSON *lateness = api_client_answer_member(stats, "lateness");
    double p50_ms = api_client_answer_number(lateness, "p50_ms", -1);
    double p99_ms = api_client_answer_number(lateness, "p99_ms", -1);
    if (p50_ms >= 0 && p99_ms >= 0) {
        printf("%-*s%g ms (half), %g ms (99 of 100)\n", NAME_WIDTH, "late by", p50_ms, p99_ms);
    }
}

static void line_of_store(const struct cJSON *stats)
{
    const struct cJSON *store = api_client_answer_member(stats, "store");
    double used = api_client_answer_number(store, "used_bytes", -1);
    double most = api_client_answer_number(store, "max_bytes", -1);
    if (used >= 0 && most > 0) {
        printf("%-*s%.1f MiB of %.1f MiB (%.1f%%)\n", NAME_WIDTH, "store", used / 1048576, most / 1048576, 100 * used / most);
    }
}

static void line_of_clock(const struct cJSON *stats)
{
    const struct cJSON *clock = api_client_answer_member(stats, "clock");
    if (cJSON_IsBool(api_client_answer_member(clock, "synchronised"))) {
        printf("%-*s%s, off by %g s\n", NAME_WIDTH, "clock", api_client_answer_true(clock, "synchronised") ? "synchronised" : "NOT synchronised",
               api_client_answer_number(clock, "offset_s", 0));
    }
}

static void lines_of_sources(const struct cJSON *stats)
{
    const cJSON *source = NULL;
    char topic[256];
    char pending[OUTPUT_COUNT_SIZE];
    char lag[OUTPUT_COUNT_SIZE];
    cJSON_ArrayForEach(source, api_client_answer_member(stats, "sources"))
    {
        int64_t pending_count = api_client_answer_whole(source, "pending", 0);
        int64_t lag_count = api_client_answer_whole(source, "intake_lag", 0);
        (void)text_printable(span_of_text(api_client_answer_text(source, "topic")), topic, sizeof topic);
        output_count(pending_count < 0 ? 0 : (uint64_t)pending_count, pending);
        output_count(lag_count < 0 ? 0 : (uint64_t)lag_count, lag);
        printf("%-*s%s: %s pending, %s not read yet, %d partitions here\n", NAME_WIDTH, "source", topic, pending, lag,
               cJSON_GetArraySize(api_client_answer_member(source, "partitions")));
    }
}

static void show(const struct output *output, const struct cJSON *stats)
{
    char rate[64] = "";
    double per_s = api_client_answer_number(stats, "delivered_per_s", -1);
    if (per_s >= 0) {
        (void)snprintf(rate, sizeof rate, " (%.1f/s now)", per_s);
    }
    line_of_uptime(stats);
    line_of_count(stats, "pending", "pending", "");
    line_of_count(stats, "in memory", "in_memory", "");
    line_of_count(stats, "in flight", "in_flight", "");
    line_of_count(stats, "overdue", "overdue", "");
    line_of_time(output, stats, "next due", "next_due");
    line_of_time(output, stats, "last due", "last_due");
    line_of_count(stats, "read", "read", "");
    line_of_count(stats, "delivered", "delivered", rate);
    line_of_count(stats, "cancelled", "cancelled", "");
    line_of_count(stats, "replaced", "replaced", "");
    line_of_count(stats, "refused", "refused", "");
    line_of_count(stats, "letters", "letters", "");
    line_of_lateness(stats);
    line_of_store(stats);
    line_of_clock(stats);
    lines_of_sources(stats);
}

static int once(struct client_command *command, bool again)
{
    struct api_client_answer answer;
    int code = api_client_get(command->client, "/api/v1/stats", &answer);
    command->output.now_ms = clock_wall().ms;
    if (code == VERBS_EXIT_DONE && client_command_is_table(command)) {
        fputs(again && command->output.terminal ? HOME_AND_CLEAR : "", stdout);
        show(&command->output, answer.json);
    } else if (code == VERBS_EXIT_DONE) {
        client_command_json(command, answer.json);
    }
    (void)fflush(stdout);
    api_client_answer_free(&answer);
    return code;
}

static volatile sig_atomic_t interrupted;

static void interrupt(int number)
{
    (void)number;
    interrupted = 1;
}

/* So that what is printed ends as a document. A second one ends it at once. */
static void catch_interrupts(void)
{
    struct sigaction action = {.sa_handler = interrupt, .sa_flags = (int)SA_RESETHAND};
    (void)sigemptyset(&action.sa_mask);
    (void)sigaction(SIGINT, &action, NULL);
    (void)sigaction(SIGTERM, &action, NULL);
}

/* False: it was interrupted. A signal that comes before the wait is seen after it: waits are short. */
static bool wait_for(int64_t ms)
{
    while (ms > 0 && interrupted == 0) {
        int64_t step_ms = ms < STEP_MS ? ms : STEP_MS;
        struct timespec span = {step_ms / 1000, step_ms % 1000 * 1000000};
        (void)nanosleep(&span, NULL);
        ms -= step_ms;
    }
    return interrupted == 0;
}

static int run(struct client_command *command)
{
    int64_t interval_ms = 0;
    int64_t count = 0;
    if (!verb_arguments_duration(&command->arguments, "--interval", 100, DAY_MS, 0, &interval_ms) ||
        !verb_arguments_number(&command->arguments, "--count", 1, INT64_C(1000000000), 0, &count)) {
        return VERBS_EXIT_USAGE;
    }
    if (count > 0 && interval_ms == 0) {
        return verb_arguments_wrong(command->verb, "--count goes with --interval");
    }
    int code = client_command_connect(command);
    if (interval_ms > 0) {
        catch_interrupts();
    }
    for (int64_t done = 0; code == VERBS_EXIT_DONE && ferror(stdout) == 0;) {
        code = once(command, interval_ms > 0);
        done += 1;
        if (interval_ms == 0 || (count > 0 && done >= count) || code != VERBS_EXIT_DONE) {
            break;
        }
        code = wait_for(interval_ms) ? code : VERBS_EXIT_INTERRUPTED;
    }
    return code;
}

int verb_stats_run(int argc, char **argv)
{
    return client_command_run("stats", argc, argv, run);
}
