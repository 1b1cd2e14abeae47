#include "cli/dlq_context.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "bridge/admin.h"
#include "cli/verbs.h"
#include "ops/clock.h"
#include "ops/config_value.h"
#include "ops/letter_options.h"
#include "scheduler/metadata.h"

#define CONNECT_MS 3000 /* a person waits for it */
#define LOOK_MS 100
#define KAFKA_MS 3000

/* What only a daemon needs. Targets and routes count: they say where letters may go. */
static const char *const daemon_only[] = {"instance:", "advertise:", "sources:", "store.", "http.", "memory.", "copy_forward.", NULL};

struct dlq_context dlq_context_new(const char *verb)
{
    return (struct dlq_context){.options = {.verb = verb}};
}

enum options_result dlq_context_take(struct dlq_context *context, int argc, char **argv, int *index)
{
    return options_take(&context->options, argc, argv, index);
}

int dlq_context_load(struct dlq_context *context)
{
    return options_load_without(&context->options, daemon_only, &context->config) ? VERBS_EXIT_DONE : VERBS_EXIT_CONFIG;
}

bool dlq_context_refused(const struct error *error)
{
    return strstr(error->text, "refuses the login") != NULL || strcasestr(error->text, "permissions violation") != NULL;
}

/* A refusal is not waited out: the next try would be refused too. */
static bool wait_for_link(struct link *link, struct error *error)
{
    int64_t end_ms = clock_mono().ms + CONNECT_MS;
    while (!link_wait(link, LOOK_MS, error)) {
        if (dlq_context_refused(error) || clock_mono().ms >= end_ms) {
            return false;
        }
    }
    return true;
}

int dlq_context_open(struct dlq_context *context)
{
    struct error error = {ERROR_NONE, ""};
    int code = context->config == NULL ? dlq_context_load(context) : VERBS_EXIT_DONE;
    if (code != VERBS_EXIT_DONE) {
        return code;
    }
    context->streams = letter_options_streams(context->config, NULL);
    streams_large(&context->streams, context->large);
    streams_jobs(&context->streams, context->jobs);
    struct link_options link = letter_options_link(context->config, "tarry dlq");
    if (!link_open(&link, &context->link, &error)) {
        dlq_context_say(context, "%s", error.text);
        return VERBS_EXIT_CONFIG;
    }
    return wait_for_link(context->link, &error) ? VERBS_EXIT_DONE : dlq_context_failed(context, &error);
}

int dlq_context_own(struct dlq_context *context)
{
    struct error error = {ERROR_NONE, ""};
    const struct config *config = context->config;
    char cluster[METADATA_CLUSTER_MAX];
    if (context->streams.owner != NULL) {
        return VERBS_EXIT_DONE;
    }
    if (!admin_cluster_id(config->kafka_producer.items, config->kafka_producer.count, KAFKA_MS, cluster, sizeof cluster, &error)) {
        dlq_context_say(context, "whose letters these are is not checked: %s", error.text);
        return VERBS_EXIT_DONE;
    }
    letter_options_owner(config, cluster, context->owner);
    context->streams.owner = context->owner;
    struct streams_findings findings;
    bool usable = streams_ensure(context->link, &context->streams, DLQ_CONTEXT_TIMEOUT_MS, &findings, &error);
    /* whatever else is wrong with them is no reason not to empty or mend them */
    return usable || !findings.foreign ? VERBS_EXIT_DONE : dlq_context_failed(context, &error);
}

void dlq_context_close(struct dlq_context *context)
{
    link_close(context->link);
    config_free(context->config);
    options_free(&context->options);
    *context = (struct dlq_context){0};
}

const char *dlq_context_stream(const struct dlq_context *context, enum letter_state state)
{
    return state == LETTER_WAITING ? context->streams.stream : context->streams.parked_stream;
}

const char *dlq_context_state_name(enum letter_state state)
{
    return state == LETTER_WAITING ? "waiting" : "parked";
}

void dlq_context_say(const struct dlq_context *context, const char *format, ...)
{
    char text[1024];
    va_list arguments;
    va_start(arguments, format);
    if (vsnprintf(text, sizeof text, format, arguments) < 0) {
        text[0] = '\0';
    }
    va_end(arguments);
    fprintf(stderr, "tarry %s: %s\n", context->options.verb, text);
}

int dlq_context_usage(const struct dlq_context *context, const char *argument)
{
    dlq_context_say(context, "%s is not understood; see `tarry %s --help`", config_value_show(argument).text, context->options.verb);
    return VERBS_EXIT_USAGE;
}

int dlq_context_failed(const struct dlq_context *context, const struct error *error)
{
    dlq_context_say(context, "%s", error->text);
    if (error->code == ERROR_UNAVAILABLE) {
        return dlq_context_refused(error) ? VERBS_EXIT_REFUSED : VERBS_EXIT_UNREACHABLE;
    }
    return error->code == ERROR_NOT_FOUND ? VERBS_EXIT_PARTLY : VERBS_EXIT_FAILED;
}
