/*
 * The arguments of a verb, taken apart by its row in the table of verbs: what help names is what is understood.
 *
 * Flags take their value as `--flag VALUE`, `--flag=VALUE`, `-f VALUE` or `-f=VALUE`; behind `--` nothing is a flag; `-` is none. A flag that is given again counts
 * the last time, unless it repeats. What is wrong is told on stderr as "tarry VERB: ...". Texts are borrowed from argv.
 */
#ifndef TARRY_CLI_VERB_ARGUMENTS_H
#define TARRY_CLI_VERB_ARGUMENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/verb_table.h"

struct verb_arguments_flag {
    const struct verb_flag *flag;
    const char *value; /* NULL: a switch */
};

struct verb_arguments {
    const struct verb *verb;
    struct verb_arguments_flag *flags;
    size_t flag_count;
    const char **words; /* those that are no flags */
    size_t word_count;
};

/* Takes argv[1] and what follows. True: free it later. False: told, exit with VERBS_EXIT_USAGE; nothing is to be freed. Choices ("a|b") are checked. */
bool verb_arguments_read(const struct verb *verb, int argc, char **argv, struct verb_arguments *arguments);

void verb_arguments_free(struct verb_arguments *arguments);

/* The value of a flag, the last one; NULL: it was not given (or is a switch). `name` must be one of the verb's: "--limit". */
const char *verb_arguments_value(const struct verb_arguments *arguments, const char *name);

/* Whether it was given. */
bool verb_arguments_has(const struct verb_arguments *arguments, const char *name);

/* A whole number from least to most, `otherwise` when the flag was not given. False: told. */
bool verb_arguments_number(const struct verb_arguments *arguments, const char *name, int64_t least, int64_t most, int64_t otherwise, int64_t *number);

/* A duration ("90s", "1h30m", milliseconds) of least_ms to most_ms; `otherwise` when it was not given. False: told. */
bool verb_arguments_duration(const struct verb_arguments *arguments, const char *name, int64_t least_ms, int64_t most_ms, int64_t otherwise, int64_t *ms);

/* What --at and --in say, NULL: neither. Stores the member of the body that it goes into, "at" or "in": the daemon's clock counts, so --at now is in 0ms, and --at 10m is
 * in 10m. The text is the arguments' or constant. */
const char *verb_arguments_at(const struct verb_arguments *arguments, const char **member);

/* Exactly `count` words that are no flags, or it says that `what` is missing, or which is too many; false then. */
bool verb_arguments_words(const struct verb_arguments *arguments, size_t count, const char *what);

/* Says "tarry VERB: ..." on stderr, with where help is, and returns VERBS_EXIT_USAGE. */
int verb_arguments_wrong(const struct verb *verb, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
