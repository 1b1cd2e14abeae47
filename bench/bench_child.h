/* Programs that run beside us: started, watched through /proc, ended by their id. They die with us, however we end. */
#ifndef TARRY_BENCH_BENCH_CHILD_H
#define TARRY_BENCH_BENCH_CHILD_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Runs `arguments` (NULL-terminated; the first is the path) with output appended to log_path. Main thread only: a child
 * dies with the thread that started it. */
pid_t bench_child_start(const char *const *arguments, const char *log_path);

/* SIGTERM and wait for its end; 60 s without one is a failure of the bench, and so is an exit code other than 0. */
void bench_child_stop(pid_t pid);

/* kill -9 and wait. */
void bench_child_kill(pid_t pid);

/* Waits for its end by itself; an exit code other than 0 is a failure of the bench. */
void bench_child_wait(pid_t pid);

/* Fails when it has ended, with the end of its log. */
void bench_child_check(pid_t pid, const char *log_path);

/* CPU time used so far, user and system, all threads. */
int64_t bench_child_cpu_ms(pid_t pid);

/* A number of /proc/PID/status ("RssAnon:", in KiB) or /proc/PID/io ("wchar:"). */
int64_t bench_child_status(pid_t pid, const char *field);
int64_t bench_child_io(pid_t pid, const char *field);

#endif
