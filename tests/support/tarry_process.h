/*
 * The real tarry as a child process of a test: started with a configuration file, watched over its HTTP port, ended in
 * every way there is. It dies with the test. The program is named by the environment variable E2E_TARRY_BIN (ctest sets
 * it).
 *
 * What fails here fails the running cmocka test, and prints the end of tarry's log.
 */
#ifndef TARRY_TESTS_SUPPORT_TARRY_PROCESS_H
#define TARRY_TESTS_SUPPORT_TARRY_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "tests/support/shifted_clock.h"

struct tarry_process;

/* Runs `tarry serve -c config_path [extra]`; stdout and stderr are appended to log_path. extra: one more argument or
 * NULL. http_port is where its configuration makes it listen. Never NULL; does not wait. */
struct tarry_process *
tarry_process_start(const char *config_path, const char *log_path, int http_port, const char *extra);

/* The same; it sees this wall clock, which outlives it. NULL: the host's. */
struct tarry_process *tarry_process_start_with(const char *config_path, const char *log_path, int http_port, const char *extra,
                                               const struct shifted_clock *clock);

/* All optional (zero-initialised). */
struct tarry_process_options {
    const char *extra;        /* one more argument */
    char *const *environment; /* NULL: ours */
    int log_fd;               /* 0: log_path. Else where its standard error goes (its standard output is log_path's all the same); borrowed */
    bool as_init;             /* process 1 of a PID namespace of its own, if that is allowed here: tarry_process_is_init */
};
struct tarry_process *
tarry_process_start_as(const char *config_path, const char *log_path, int http_port, const struct tarry_process_options *options);

/* Whether it is process 1 of its PID namespace. */
bool tarry_process_is_init(const struct tarry_process *process);

/* kill -9 if it still runs, and frees. NULL is allowed. */
void tarry_process_free(struct tarry_process *process);

pid_t tarry_process_pid(const struct tarry_process *process);

/* Waits until GET /readyz answers 200 (or 503, for _not_ready). Fails when the process ends meanwhile or time is up. */
void tarry_process_wait_ready(struct tarry_process *process, int64_t timeout_ms);
void tarry_process_wait_not_ready(struct tarry_process *process, int64_t timeout_ms);

/* One GET: the status code, and the body (cut, terminated) when body is not NULL. -1: no answer within 5 s. */
int tarry_process_get(struct tarry_process *process, const char *path, char *body, size_t size);

/* Sum of all samples of a metric whose labels contain `label` (NULL: all), or -1 when there is none. */
double tarry_process_metric(struct tarry_process *process, const char *name, const char *label);

/* kill -9, and waits. */
void tarry_process_kill(struct tarry_process *process);

void tarry_process_signal(struct tarry_process *process, int signal_number);

/* Waits for its end: the exit code, or 128 + signal. Fails when it still runs after timeout_ms. */
int tarry_process_wait_exit(struct tarry_process *process, int64_t timeout_ms);

/* SIGTERM and wait. */
int tarry_process_stop(struct tarry_process *process, int64_t timeout_ms);

bool tarry_process_running(struct tarry_process *process);

/* CPU time used so far, user and system, all threads. */
int64_t tarry_process_cpu_ms(const struct tarry_process *process);

/* Resident anonymous memory. */
int64_t tarry_process_rss_anon_kib(const struct tarry_process *process);

/* How often `text` stands in the log so far. */
size_t tarry_process_log_count(const struct tarry_process *process, const char *text);

/* Prints the last lines of the log to stderr, for a failing test. */
void tarry_process_show_log(const struct tarry_process *process);

#endif
