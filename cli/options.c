#include "cli/options.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "bridge/kafka_conf.h"
#include "cli/verbs.h"
#include "ops/config_value.h"

bool options_value(int argc, char **argv, int *index, const char *name, const char **value)
{
    const char *argument = argv[*index];
    size_t length = strlen(name);
    if (strncmp(argument, name, length) != 0 || (argument[length] != '\0' && argument[length] != '=')) {
        return false;
    }
    if (argument[length] == '=') {
        *value = argument + length + 1;
        *index += 1;
        return true;
    }
    *value = *index + 1 < argc ? argv[*index + 1] : NULL;
    *index += *value == NULL ? 1 : 2;
    return true;
}

static void add_setting(struct options *options, const char *path, const char *value, const char *flag)
{
    options->settings = memory_resize(options->settings, options->setting_count + 1, sizeof *options->settings);
    options->settings[options->setting_count] = (struct config_setting){path, value, flag};
    options->setting_count += 1;
}

static enum options_result take_set(struct options *options, const char *text)
{
    const char *equals = strchr(text, '=');
    if (equals == NULL || equals == text) {
        fprintf(stderr, "tarry %s: --set needs PATH=VALUE, for example --set log.level=debug\n", options->verb);
        return OPTIONS_WRONG;
    }
    const char *path = config_arena_text(&options->arena, text, (size_t)(equals - text));
    add_setting(options, path, equals + 1, config_arena_format(&options->arena, "--set %s", path));
    return OPTIONS_TAKEN;
}

enum options_result options_take(struct options *options, int argc, char **argv, int *index)
{
    static const char *const names[] = {"-c", "--config", "--set", "--log-level"};
    const char *value = NULL;
    size_t which = 0;
    size_t count = sizeof names / sizeof names[0];
    while (which < count && !options_value(argc, argv, index, names[which], &value)) {
        which++;
    }
    if (which == count) {
        return OPTIONS_UNKNOWN;
    }
    if (value == NULL || value[0] == '\0') {
        fprintf(stderr, "tarry %s: %s needs a value\n", options->verb, names[which]);
        return OPTIONS_WRONG;
    }
    if (which == 2) {
        return take_set(options, value);
    }
    if (which == 3) {
        add_setting(options, "log.level", value, "--log-level");
        return OPTIONS_TAKEN;
    }
    options->path = value;
    return OPTIONS_TAKEN;
}

int options_usage(const char *verb, const char *argument)
{
    fprintf(stderr, "tarry %s: %s is not understood; see `tarry %s --help`\n", verb, config_value_show(argument).text, verb);
    return VERBS_EXIT_USAGE;
}

void options_free(struct options *options)
{
    free(options->settings);
    config_arena_free(&options->arena);
    *options = (struct options){0};
}

static const char *path_of(const struct options *options)
{
    const char *named = options->path == NULL ? getenv("TARRY_CONFIG") : options->path;
    return named != NULL && named[0] == '\0' ? NULL : named;
}

struct config_request options_request(const struct options *options)
{
    return (struct config_request){
        .path = path_of(options),
        .environment = (const char *const *)environ,
        .settings = options->settings,
        .setting_count = options->setting_count,
        .hooks = {.property_refused = kafka_conf_refused, .property_check = kafka_conf_check},
    };
}

void options_print_problems(FILE *file, const struct config_problems *problems)
{
    for (size_t i = 0; i < problems->count; i++) {
        const struct config_problem *problem = &problems->items[i];
        fprintf(file, "tarry: %s%s%s%s\n", problem->warning ? "warning: " : "", problem->place,
                problem->place[0] == '\0' ? "" : ": ", problem->text);
    }
    if (problems->errors > CONFIG_PROBLEMS_MAX) {
        fprintf(file, "tarry: and %zu more errors\n", problems->errors - CONFIG_PROBLEMS_MAX);
    }
}

bool options_load(const struct options *options, struct config **config)
{
    return options_load_without(options, NULL, config);
}

bool options_load_without(const struct options *options, const char *const *ignored, struct config **config)
{
    struct config_problems problems = {.ignored = ignored};
    struct config_request request = options_request(options);
    bool loaded = config_load(&request, config, &problems);
    options_print_problems(stderr, &problems);
    if (!loaded && request.path == NULL) {
        fprintf(stderr, "tarry: no configuration file was named: use -c FILE or TARRY_CONFIG\n");
    }
    config_problems_free(&problems);
    return loaded;
}
