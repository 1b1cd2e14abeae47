#include "ops/config_problems.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

static bool is_ignored(const struct config_problems *problems, const char *text)
{
    for (const char *const *start = problems->ignored; start != NULL && *start != NULL; start++) {
        if (strncmp(text, *start, strlen(*start)) == 0) {
            return true;
        }
    }
    return false;
}

static void __attribute__((format(printf, 4, 0)))
add(struct config_problems *problems, bool warning, const char *place, const char *format, va_list arguments)
{
    char text[1024];
    if (vsnprintf(text, sizeof text, format, arguments) < 0) {
        text[0] = '\0';
    }
    if (is_ignored(problems, text)) {
        return;
    }
    size_t *seen = warning ? &problems->warnings : &problems->errors;
    *seen += 1;
    if (*seen > CONFIG_PROBLEMS_MAX) {
        return;
    }
    struct config_problem *problem = &problems->items[problems->count];
    problems->count += 1;
    problem->warning = warning;
    problem->place = memory_text(place, strlen(place));
    problem->text = memory_text(text, strlen(text));
}

void config_problems_error(struct config_problems *problems, const char *place, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    add(problems, false, place, format, arguments);
    va_end(arguments);
}

void config_problems_warning(struct config_problems *problems, const char *place, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    add(problems, true, place, format, arguments);
    va_end(arguments);
}

void config_problems_free(struct config_problems *problems)
{
    for (size_t i = 0; i < problems->count; i++) {
        free(problems->items[i].place);
        free(problems->items[i].text);
    }
    *problems = (struct config_problems){0};
}
