/*
 * What is wrong with a configuration, for a person: collected, so that one run names all of it.
 *
 * A problem has a place ("tarry.yaml:3:5", "TARRY_LOG_LEVEL", "--set log.level", or "" when it has none) and a text
 * that names key, value and remedy, never a secret. Nothing here prints: cli/ does.
 */
#ifndef TARRY_OPS_CONFIG_PROBLEMS_H
#define TARRY_OPS_CONFIG_PROBLEMS_H

#include <stdbool.h>
#include <stddef.h>

#define CONFIG_PROBLEMS_MAX 20 /* errors kept, and as many warnings; the rest is only counted */

struct config_problem {
    bool warning;
    char *place;
    char *text;
};

struct config_problems {
    struct config_problem items[2 * CONFIG_PROBLEMS_MAX]; /* in the order found */
    size_t count;
    size_t errors; /* all of them, kept or not */
    size_t warnings;
    const char *const *ignored; /* beginnings of texts ("http.") of keys that this caller does not use: such problems are not kept, and no errors.
                                 * NULL at the end; NULL: none */
};

/* Adds an error. place and text are copied; the text is cut at 1,023 bytes. */
void config_problems_error(struct config_problems *problems, const char *place, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Adds a warning: the configuration is usable. */
void config_problems_warning(struct config_problems *problems, const char *place, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Frees the texts; the list is empty and usable again. A zeroed list needs no initialisation. */
void config_problems_free(struct config_problems *problems);

#endif
