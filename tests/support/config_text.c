#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "support/config_text.h"
#include "support/temp.h"

struct config *
config_text_load(const char *text, const struct config_request *request, struct config_problems *problems)
{
    char *folder = temp_directory("config");
    char *path = temp_path(folder, "tarry.yaml");
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(chmod(path, 0600), 0);
    struct config_request whole = request == NULL ? (struct config_request){0} : *request;
    whole.path = path;
    struct config *config = NULL;
    bool loaded = config_load(&whole, &config, problems);
    assert_true(loaded == (config != NULL));
    assert_true(loaded == (problems->errors == 0));
    free(path);
    temp_remove(folder);
    return config;
}

static void print_problems(const struct config_problems *problems)
{
    for (size_t i = 0; i < problems->count; i++) {
        print_message("%s: %s\n", problems->items[i].place, problems->items[i].text);
    }
}

struct config *config_text_good(const char *text)
{
    struct config_problems problems = {0};
    struct config *config = config_text_load(text, NULL, &problems);
    print_problems(&problems);
    assert_int_equal(problems.count, 0);
    assert_non_null(config);
    config_problems_free(&problems);
    return config;
}

bool config_text_has(const struct config_problems *problems, bool warning, const char *place, const char *part)
{
    for (size_t i = 0; i < problems->count; i++) {
        const struct config_problem *problem = &problems->items[i];
        size_t length = strlen(problem->place);
        size_t end = strlen(place);
        bool here = length >= end && strcmp(problem->place + length - end, place) == 0;
        if (problem->warning == warning && here && strstr(problem->text, part) != NULL) {
            return true;
        }
    }
    print_problems(problems);
    return false;
}
