/*
 * The built tarry run as a person runs it: with arguments, into a pipe or on a terminal, to its end.
 *
 * The program is named by the environment variable E2E_TARRY_BIN (ctest sets it). It dies with the test. What fails here fails the running cmocka test.
 */
#ifndef TARRY_TESTS_SUPPORT_CLI_PROGRAM_H
#define TARRY_TESTS_SUPPORT_CLI_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define CLI_PROGRAM_ARGUMENTS_MAX 64

struct cli_program {
    pid_t pid;
    int out;        /* the other end of its standard output: a pipe, or a terminal */
    int err;        /* a nameless file */
    char *text;     /* of its standard output so far, with NUL; the caller's after finish: cli_program_free */
    size_t length;
    char *errors;   /* of its standard error, after finish */
    int code;       /* its exit code, 128 + signal */
    int64_t rss_kib; /* the most memory it had */
};

enum cli_program_out { CLI_PROGRAM_PIPE, CLI_PROGRAM_TERMINAL };

/* Starts it; arguments NULL-terminated, without the program's name. input_path: its standard input; NULL: nothing. A terminal has 24 lines of 100 columns. */
struct cli_program cli_program_start(enum cli_program_out out, const char *input_path, const char *const *arguments);

/* Reads its output until it ends; fails the test when it does not within two minutes. */
void cli_program_finish(struct cli_program *program);

void cli_program_free(struct cli_program *program);

/* All of it: started with nothing to read, ended. */
struct cli_program cli_program_run(enum cli_program_out out, const char *const *arguments);

/* Fails with what it said unless it ended with that code. */
void cli_program_expect(const struct cli_program *program, int code);

/* Number of lines of its output. */
size_t cli_program_lines(const struct cli_program *program);

#endif
