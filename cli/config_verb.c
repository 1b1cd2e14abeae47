#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/options.h"
#include "cli/verbs.h"

#define OUTPUT_MAX ((size_t)16 * 1024 * 1024)

/* 0, or the code to exit with. A full disk or a closed pipe must not look like success. */
static int print(struct buffer *out)
{
    struct span bytes = buffer_span(out);
    bool done = !out->full && fwrite(bytes.data, 1, bytes.length, stdout) == bytes.length && fflush(stdout) == 0;
    if (!done) {
        fprintf(stderr, "tarry config: the output could not be written whole\n");
    }
    buffer_free(out);
    return done ? VERBS_EXIT_DONE : VERBS_EXIT_FAILED;
}

static int check(const struct options *options)
{
    struct config *config = NULL;
    if (!options_load(options, &config)) {
        return VERBS_EXIT_CONFIG;
    }
    printf("the configuration is good: %zu source%s, %zu target%s\n", config->source_count,
           config->source_count == 1 ? "" : "s", config->target_count, config->target_count == 1 ? "" : "s");
    config_free(config);
    return VERBS_EXIT_DONE;
}

static int show(const struct options *options, bool effective)
{
    struct config *config = NULL;
    if (!options_load(options, &config)) {
        return VERBS_EXIT_CONFIG;
    }
    struct buffer out = buffer_new(OUTPUT_MAX);
    config_show(config, effective, &out);
    config_free(config);
    return print(&out);
}

/* Takes one argument of check or show; OPTIONS_WRONG has been told. */
static enum options_result take(struct options *options, int argc, char **argv, int *index, bool *effective)
{
    enum options_result result = options_take(options, argc, argv, index);
    if (result != OPTIONS_UNKNOWN) {
        return result;
    }
    bool is_show = strcmp(argv[0], "show") == 0;
    if (is_show && strcmp(argv[*index], "--effective") == 0) {
        *effective = true;
    } else if (argv[*index][0] != '-' && options->path == NULL) {
        options->path = argv[*index];
    } else {
        (void)options_usage(options->verb, argv[*index]);
        return OPTIONS_WRONG;
    }
    *index += 1;
    return OPTIONS_TAKEN;
}

static int run_loaded(int argc, char **argv)
{
    bool is_show = strcmp(argv[0], "show") == 0;
    bool effective = false;
    enum options_result result = OPTIONS_TAKEN;
    struct options options = {.verb = is_show ? "config show" : "config check"};
    for (int i = 1; i < argc && result == OPTIONS_TAKEN;) {
        result = take(&options, argc, argv, &i, &effective);
    }
    int code = VERBS_EXIT_USAGE;
    if (result == OPTIONS_TAKEN) {
        code = is_show ? show(&options, effective) : check(&options);
    }
    options_free(&options);
    return code;
}

int config_verb_schema_run(int argc, char **argv)
{
    if (argc > 2) {
        return options_usage("config schema", argv[2]);
    }
    struct buffer out = buffer_new(OUTPUT_MAX);
    if (argc == 1) {
        config_schema_json(&out);
    } else if (strcmp(argv[1], "--markdown") == 0) {
        config_docs_markdown(&out);
    } else if (strcmp(argv[1], "--mdoc") == 0) {
        config_docs_mdoc(&out);
    } else {
        return options_usage("config schema", argv[1]);
    }
    return print(&out);
}

int config_verb_check_run(int argc, char **argv)
{
    return run_loaded(argc, argv);
}

int config_verb_show_run(int argc, char **argv)
{
    return run_loaded(argc, argv);
}
