#include "bench/bench_child.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench/bench_run.h"

#define STOP_TIMEOUT_MS 60000
#define LOG_SHOWN 2000

/* Between fork and exec of a process with threads: only async-signal-safe calls. */
static _Noreturn void become(const char *const *arguments, int log, pid_t parent)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (getppid() == parent && nothing >= 0 && dup2(nothing, 0) == 0 && dup2(log, 1) == 1 && dup2(log, 2) == 2) {
        /* execv takes char *const * for historical reasons and changes nothing */
        execv(arguments[0], (char *const *)(uintptr_t)arguments);
    }
    _exit(127);
}

pid_t bench_child_start(const char *const *arguments, const char *log_path)
{
    int log = open(log_path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (log < 0) {
        bench_run_fail("cannot open %s: %s", log_path, strerror(errno));
    }
    pid_t parent = getpid();
    pid_t pid = fork();
    if (pid == 0) {
        become(arguments, log, parent);
    }
    if (pid < 0) {
        bench_run_fail("cannot start %s: %s", arguments[0], strerror(errno));
    }
    close(log);
    return pid;
}

static int exit_code(int status)
{
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static void check_exit(pid_t pid, int status)
{
    if (exit_code(status) != 0) {
        bench_run_fail("process %d ended with %d", (int)pid, exit_code(status));
    }
}

void bench_child_stop(pid_t pid)
{
    int status = 0;
    int64_t limit = bench_run_mono_us() + STOP_TIMEOUT_MS * 1000;
    kill(pid, SIGTERM);
    while (waitpid(pid, &status, WNOHANG) == 0) {
        if (bench_run_mono_us() > limit) {
            bench_run_fail("process %d still runs %d ms after SIGTERM", (int)pid, STOP_TIMEOUT_MS);
        }
        bench_run_sleep_ms(10);
    }
    check_exit(pid, status);
}

void bench_child_kill(pid_t pid)
{
    int status = 0;
    kill(pid, SIGKILL);
    waitpid(pid, &status, 0);
}

void bench_child_wait(pid_t pid)
{
    int status = 0;
    waitpid(pid, &status, 0);
    check_exit(pid, status);
}

static void show_end(const char *log_path)
{
    char text[LOG_SHOWN + 1];
    FILE *file = fopen(log_path, "r");
    if (file == NULL) {
        return;
    }
    if (fseek(file, -LOG_SHOWN, SEEK_END) != 0) {
        rewind(file);
    }
    text[fread(text, 1, LOG_SHOWN, file)] = '\0';
    fclose(file);
    bench_run_say("%s", text);
}

void bench_child_check(pid_t pid, const char *log_path)
{
    int status = 0;
    if (waitpid(pid, &status, WNOHANG) == pid) {
        show_end(log_path);
        bench_run_fail("process %d ended with %d; the end of its log is above", (int)pid, exit_code(status));
    }
}

int64_t bench_child_cpu_ms(pid_t pid)
{
    char path[64];
    char line[1024] = "";
    snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
    FILE *file = fopen(path, "r");
    if (file == NULL || fgets(line, sizeof(line), file) == NULL) {
        bench_run_fail("cannot read %s", path);
    }
    fclose(file);
    /* After the name in brackets: the state is field 3, user and system time are fields 14 and 15. */
    const char *place = strrchr(line, ')');
    for (int field = 2; place != NULL && field < 14; field++) {
        place = strchr(place + 1, ' ');
    }
    if (place == NULL) {
        bench_run_fail("cannot understand %s", path);
    }
    char *next = NULL;
    long long ticks = strtoll(place, &next, 10);
    ticks += strtoll(next, NULL, 10);
    return ticks * 1000 / sysconf(_SC_CLK_TCK);
}

static int64_t field_of(pid_t pid, const char *file_name, const char *field)
{
    char path[64];
    char line[256];
    int64_t value = -1;
    snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, file_name);
    FILE *file = fopen(path, "r");
    while (file != NULL && fgets(line, sizeof(line), file) != NULL) {
        if (strncmp(line, field, strlen(field)) == 0) {
            value = strtoll(line + strlen(field), NULL, 10);
        }
    }
    if (file != NULL) {
        fclose(file);
    }
    if (value < 0) {
        bench_run_fail("no %s in %s", field, path);
    }
    return value;
}

int64_t bench_child_status(pid_t pid, const char *field)
{
    return field_of(pid, "status", field);
}

int64_t bench_child_io(pid_t pid, const char *field)
{
    return field_of(pid, "io", field);
}
