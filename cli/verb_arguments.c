#include "cli/verb_arguments.h"

#include <assert.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "bridge/delay_text.h"
#include "cli/verbs.h"
#include "ops/config_near.h"
#include "ops/config_value.h"

int verb_arguments_wrong(const struct verb *verb, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    fprintf(stderr, "tarry %s: ", verb->name);
    (void)vfprintf(stderr, format, list);
    fprintf(stderr, "; see `tarry %s --help`\n", verb->name);
    va_end(list);
    return VERBS_EXIT_USAGE;
}

static bool say_unknown(const struct verb *verb, const char *argument)
{
    size_t distance;
    size_t length = strcspn(argument, "=");
    char name[CONFIG_NEAR_LENGTH_MAX + 1];
    (void)snprintf(name, sizeof name, "%.*s", (int)(length < sizeof name ? length : sizeof name - 1), argument);
    const struct verb_flag *flag = NULL;
    for (size_t i = 0; (flag = verb_table_flag_at(verb, i)) != NULL; i++) {
        if (name[0] == '-' && name[1] == '-' && config_near_is(name, flag->name, &distance)) {
            (void)verb_arguments_wrong(verb, "%s is not understood; did you mean %s?", config_value_show(argument).text, flag->name);
            return false;
        }
    }
    (void)verb_arguments_wrong(verb, "%s is not understood", config_value_show(argument).text);
    return false;
}

/* Where all alternatives are small words, the value must be one of them. */
static bool is_choice(const struct verb_flag *flag, const char *value)
{
    char word[VERB_TABLE_WORD_SIZE];
    const char *at = flag->argument;
    if (strchr(at, '|') == NULL || strpbrk(at, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") != NULL) {
        return true;
    }
    while (verb_table_choice(&at, word)) {
        if (strcmp(word, value) == 0) {
            return true;
        }
    }
    return false;
}

static bool take_value(struct verb_arguments *arguments, const struct verb_flag *flag, const char *value)
{
    if (flag->argument != NULL && value == NULL) {
        (void)verb_arguments_wrong(arguments->verb, "%s needs a value: %s", flag->name, flag->argument);
        return false;
    }
    if (flag->argument != NULL && !is_choice(flag, value)) {
        (void)verb_arguments_wrong(arguments->verb, "%s is %s: give one of %s", flag->name, config_value_show(value).text, flag->argument);
        return false;
    }
    arguments->flags[arguments->flag_count++] = (struct verb_arguments_flag){flag, value};
    return true;
}

/* Takes the flag at argv[*index], with its value, and moves on. */
static bool take_flag(struct verb_arguments *arguments, int argc, char **argv, int *index)
{
    const char *argument = argv[*index];
    const struct verb_flag *flag = verb_table_flag(arguments->verb, argument);
    const char *equals = strchr(argument, '=');
    if (flag == NULL || (flag->argument == NULL && equals != NULL)) {
        return say_unknown(arguments->verb, argument);
    }
    *index += 1;
    if (flag->argument == NULL) {
        return take_value(arguments, flag, NULL);
    }
    if (equals != NULL) {
        return take_value(arguments, flag, equals + 1);
    }
    const char *value = *index < argc ? argv[*index] : NULL;
    *index += value != NULL;
    return take_value(arguments, flag, value);
}

bool verb_arguments_read(const struct verb *verb, int argc, char **argv, struct verb_arguments *arguments)
{
    *arguments = (struct verb_arguments){.verb = verb};
    arguments->flags = memory_new((size_t)argc, sizeof *arguments->flags);
    arguments->words = memory_new((size_t)argc, sizeof *arguments->words);
    bool flags = true;
    bool good = true;
    for (int i = 1; i < argc && good;) {
        if (flags && strcmp(argv[i], "--") == 0) {
            flags = false;
            i++;
        } else if (flags && argv[i][0] == '-' && argv[i][1] != '\0') {
            good = take_flag(arguments, argc, argv, &i);
        } else {
            arguments->words[arguments->word_count++] = argv[i++];
        }
    }
    if (good && verb->arguments[0] == '\0' && arguments->word_count > 0) {
        good = say_unknown(verb, arguments->words[0]);
    }
    if (!good) {
        verb_arguments_free(arguments);
    }
    return good;
}

void verb_arguments_free(struct verb_arguments *arguments)
{
    free(arguments->flags);
    free(arguments->words);
    *arguments = (struct verb_arguments){0};
}

static const struct verb_arguments_flag *find(const struct verb_arguments *arguments, const char *name)
{
    assert(verb_table_flag(arguments->verb, name) != NULL);
    for (size_t i = arguments->flag_count; i > 0; i--) {
        if (strcmp(arguments->flags[i - 1].flag->name, name) == 0) {
            return &arguments->flags[i - 1];
        }
    }
    return NULL;
}

const char *verb_arguments_value(const struct verb_arguments *arguments, const char *name)
{
    const struct verb_arguments_flag *found = find(arguments, name);
    return found == NULL ? NULL : found->value;
}

bool verb_arguments_has(const struct verb_arguments *arguments, const char *name)
{
    return find(arguments, name) != NULL;
}

bool verb_arguments_number(const struct verb_arguments *arguments, const char *name, int64_t least, int64_t most, int64_t otherwise, int64_t *number)
{
    const char *value = verb_arguments_value(arguments, name);
    int64_t read = 0;
    if (value == NULL) {
        *number = otherwise;
        return true;
    }
    if (decimal_parse(span_of_text(value), &read) != DECIMAL_READ || read < least || read > most) {
        (void)verb_arguments_wrong(arguments->verb, "%s is %s: give a whole number from %" PRId64 " to %" PRId64, name, config_value_show(value).text, least, most);
        return false;
    }
    *number = read;
    return true;
}

bool verb_arguments_duration(const struct verb_arguments *arguments, const char *name, int64_t least_ms, int64_t most_ms, int64_t otherwise, int64_t *ms)
{
    const char *value = verb_arguments_value(arguments, name);
    char least[DELAY_TEXT_MAX];
    char most[DELAY_TEXT_MAX];
    if (value == NULL) {
        *ms = otherwise;
        return true;
    }
    if (delay_text_parse(span_of_text(value), ms) == DECIMAL_READ && *ms >= least_ms && *ms <= most_ms) {
        return true;
    }
    delay_text_write(least_ms, least);
    delay_text_write(most_ms, most);
    (void)verb_arguments_wrong(arguments->verb, "%s is %s: give a duration from %s to %s, for example 90s", name, config_value_show(value).text, least, most);
    return false;
}

const char *verb_arguments_at(const struct verb_arguments *arguments, const char **member)
{
    const char *at = verb_arguments_value(arguments, "--at");
    int64_t delay_ms = 0;
    *member = "at";
    if (at == NULL) {
        *member = "in";
        return verb_arguments_value(arguments, "--in");
    }
    if (strcmp(at, "now") == 0) {
        *member = "in";
        return "0ms";
    }
    bool unit = strpbrk(at, "dhms") != NULL; /* digits alone are a time */
    *member = unit && delay_text_parse(span_of_text(at), &delay_ms) == DECIMAL_READ ? "in" : "at";
    return at;
}

bool verb_arguments_words(const struct verb_arguments *arguments, size_t count, const char *what)
{
    if (arguments->word_count < count) {
        (void)verb_arguments_wrong(arguments->verb, "%s is missing", what);
    } else if (arguments->word_count > count) {
        (void)verb_arguments_wrong(arguments->verb, "%s is one argument too many", config_value_show(arguments->words[count]).text);
    }
    return arguments->word_count == count;
}
