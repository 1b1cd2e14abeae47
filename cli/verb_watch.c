/* `tarry watch`: outcomes as they come, over connections that break. */
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include <cjson/cJSON.h>

#include "base/text.h"
#include "cli/api_client_path.h"
#include "cli/client_command.h"
#include "cli/event_view.h"
#include "cli/sse.h"
#include "cli/verbs.h"

#define WAIT_FIRST_MS 250
#define WAIT_MOST_MS 10000
#define TIME_START 11 /* of 2026-01-31T12:00:00.004Z: the date is left out */
#define SHOWN_SIZE 512

struct watch {
    struct client_command command;
    struct sse sse;
    int64_t count; /* to end after; 0: never */
    int64_t seen;
    int64_t wait_ms; /* before the next connection */
};

static volatile sig_atomic_t interrupted;

static void interrupt(int number)
{
    (void)number;
    interrupted = 1;
}

static void catch_interrupts(void)
{
    struct sigaction action = {.sa_handler = interrupt, .sa_flags = (int)SA_RESETHAND}; /* a second one ends it at once */
    (void)sigemptyset(&action.sa_mask);
    (void)sigaction(SIGINT, &action, NULL);
    (void)sigaction(SIGTERM, &action, NULL);
}

static void printable(struct span bytes, char text[SHOWN_SIZE])
{
    (void)text_printable(bytes, text, SHOWN_SIZE);
}

/* "12:00:00.004Z  delivered  order-123  -> orders/0/7  4 ms late" */
static void show_line(const struct cJSON *event)
{
    char text[SHOWN_SIZE];
    struct buffer id = buffer_new(EVENT_VIEW_MAX);
    struct buffer target = buffer_new(EVENT_VIEW_MAX);
    const char *at = api_client_answer_text(event, "at");
    int64_t lateness_ms = api_client_answer_whole(event, "lateness_ms", -1);
    printable(span_of_text(strlen(at) > TIME_START ? at + TIME_START : at), text);
    printf("%-13s", text);
    printable(span_of_text(api_client_answer_text(event, "outcome")), text);
    printf("  %-10s", text);
    bool has_id = event_view_id(event, &id);
    if (!has_id) {
        (void)event_view_place(api_client_answer_member(event, "source"), &id); /* so it has a name */
    }
    printable(buffer_span(&id), text);
    printf("  %s", text);
    if (event_view_place(api_client_answer_member(event, "target"), &target)) {
        printable(buffer_span(&target), text);
        printf("  -> %s", text);
    }
    if (lateness_ms >= 0) {
        printf("  %" PRId64 " ms late", lateness_ms);
    }
    putchar('\n');
    buffer_free(&id);
    buffer_free(&target);
}

static void say_missed(struct watch *watch, const struct cJSON *event)
{
    int64_t missed = api_client_answer_whole(event, "missed", 0);
    if (missed > 0) {
        client_command_note(&watch->command, "%" PRId64 " outcomes were missed: they came faster than they were read", missed);
    } else { /* null: nobody counted them */
        client_command_note(&watch->command, "outcomes may have been missed: the daemon was started anew, or kept none for so long");
    }
}

static bool on_event(void *context, const char *name, const char *data)
{
    struct watch *watch = context;
    cJSON *event = cJSON_Parse(data);
    if (!cJSON_IsObject(event)) {
        client_command_note(&watch->command, "an event that is no JSON object is left out");
    } else if (strcmp(name, "missed") == 0) {
        say_missed(watch, event);
    } else {
        watch->seen += 1;
        if (client_command_is_table(&watch->command)) {
            show_line(event);
        } else {
            client_command_json(&watch->command, event);
        }
    }
    cJSON_Delete(event);
    watch->wait_ms = WAIT_FIRST_MS;
    return fflush(stdout) == 0 && (watch->count == 0 || watch->seen < watch->count);
}

static bool on_bytes(void *context, const void *bytes, size_t count)
{
    struct watch *watch = context;
    return sse_take(&watch->sse, bytes, count);
}

static bool go_on(void *context)
{
    (void)context;
    return interrupted == 0;
}

static bool is_over(const struct watch *watch)
{
    return interrupted != 0 || ferror(stdout) != 0 || (watch->count > 0 && watch->seen >= watch->count);
}

/* Before the next connection; an interrupt ends it. */
static void wait_a_little(struct watch *watch)
{
    struct timespec span = {watch->wait_ms / 1000, watch->wait_ms % 1000 * 1000000};
    (void)nanosleep(&span, NULL);
    watch->wait_ms = watch->wait_ms * 2 < WAIT_MOST_MS ? watch->wait_ms * 2 : WAIT_MOST_MS;
}

/* Connects again and again. Once it was let in, only a refusal ends it: a daemon that is restarted is waited for. */
static int follow(struct watch *watch, const char *path)
{
    bool was_in = false;
    int code = VERBS_EXIT_DONE;
    bool told = false;
    while (!is_over(watch)) {
        struct api_client_answer answer;
        sse_restart(&watch->sse);
        code = api_client_stream(watch->command.client, path, sse_last_id(&watch->sse), on_bytes, go_on, watch, &answer);
        was_in = was_in || code == VERBS_EXIT_DONE;
        bool final = code != VERBS_EXIT_DONE && (!was_in || code != VERBS_EXIT_UNREACHABLE);
        if (final) {
            (void)api_client_say(watch->command.client, &answer);
        } else if (!is_over(watch) && (!told || code == VERBS_EXIT_DONE)) {
            client_command_note(&watch->command, "the connection ended: trying again");
            told = true;
        }
        api_client_answer_free(&answer);
        if (final) {
            return code;
        }
        if (!is_over(watch)) {
            wait_a_little(watch);
        }
    }
    return ferror(stdout) != 0 ? VERBS_EXIT_FAILED : interrupted != 0 ? VERBS_EXIT_INTERRUPTED : VERBS_EXIT_DONE;
}

static int run(struct watch *watch)
{
    static const char *const flags[] = {"--id", "--target", "--outcome", NULL};
    struct buffer path = buffer_new(API_CLIENT_PATH_MAX);
    if (!verb_arguments_number(&watch->command.arguments, "--count", 1, INT64_C(1000000000000), 0, &watch->count)) {
        return VERBS_EXIT_USAGE;
    }
    buffer_add_text(&path, "/api/v1/events");
    client_command_query(&watch->command, flags, &path);
    const char *text = api_client_path_text(&path);
    int code = text == NULL ? verb_arguments_wrong(watch->command.verb, "the flags are longer than a daemon takes") : client_command_connect(&watch->command);
    if (code == VERBS_EXIT_DONE) {
        catch_interrupts();
        code = follow(watch, text);
    }
    buffer_free(&path);
    return code;
}

int verb_watch_run(int argc, char **argv)
{
    struct watch watch = {.wait_ms = WAIT_FIRST_MS};
    int code = client_command_begin(&watch.command, "watch", argc, argv);
    if (code == VERBS_EXIT_DONE) {
        watch.sse = sse_new(on_event, &watch);
        code = client_command_end(&watch.command, run(&watch));
        sse_free(&watch.sse);
    }
    return code;
}
