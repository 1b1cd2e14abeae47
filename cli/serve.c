/* `tarry serve`: the daemon. */
#include <stdio.h>
#include <string.h>

#include "cli/options.h"
#include "cli/verbs.h"
#include "ops/daemon.h"
#include "ops/log_output.h"

/* SIGHUP: the same file, flags and environment again. Problems go to the log, which waits for nobody: the owner's loop is in here. */
static struct config *load_again(void *context)
{
    const struct options *options = context;
    struct config *config = NULL;
    struct config_problems problems = {0};
    struct config_request request = options_request(options);
    bool loaded = config_load(&request, &config, &problems);
    for (size_t i = 0; i < problems.count; i++) {
        const struct config_problem *problem = &problems.items[i];
        log_write(problem->warning ? LOG_LEVEL_WARNING : LOG_LEVEL_ERROR, "config_problem",
                  LOG_FIELDS(LOG_TEXT("place", problem->place)), "%s", problem->text);
    }
    config_problems_free(&problems);
    return loaded ? config : NULL;
}

static enum log_output_format output_format(enum config_log_format format)
{
    return format == CONFIG_LOG_FORMAT_TEXT   ? LOG_OUTPUT_TEXT
           : format == CONFIG_LOG_FORMAT_JSON ? LOG_OUTPUT_JSON
                                              : LOG_OUTPUT_AUTO;
}

static int serve(struct options *options, bool accept_change)
{
    struct config *config = NULL;
    struct error error = {0};
    if (!options_load(options, &config)) {
        return VERBS_EXIT_CONFIG;
    }
    struct log_output_options output_options = {
        .fd = 2, .format = output_format(config->log_format), .burst = LOG_OUTPUT_BURST_DEFAULT};
    struct log_output *output = log_output_new(&output_options);
    log_level_set(config->log_level);
    log_sink_set(log_output_sink, output);
    struct daemon_options daemon = {config, accept_change, load_again, options, output};
    bool done = daemon_run(&daemon, &error);
    if (!done) {
        log_write(LOG_LEVEL_ERROR, "failed", NULL, 0, "%s", error.text);
    }
    log_sink_set(NULL, NULL);
    log_output_free(output);
    return done ? VERBS_EXIT_DONE : error.code == ERROR_INVALID ? VERBS_EXIT_CONFIG : VERBS_EXIT_FAILED;
}

int serve_run(int argc, char **argv)
{
    struct options options = {.verb = "serve"};
    bool accept_change = false;
    int code = VERBS_EXIT_DONE;
    for (int i = 1; i < argc && code == VERBS_EXIT_DONE;) {
        if (strcmp(argv[i], "--accept-change") == 0) {
            accept_change = true;
            i++;
            continue;
        }
        enum options_result result = options_take(&options, argc, argv, &i);
        code = result == OPTIONS_TAKEN ? VERBS_EXIT_DONE
               : result == OPTIONS_UNKNOWN ? options_usage("serve", argv[i]) : VERBS_EXIT_USAGE;
    }
    if (code == VERBS_EXIT_DONE) {
        code = serve(&options, accept_change);
    }
    options_free(&options);
    return code;
}
