#include "tests/support/tarry_process.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#include "base/memory.h"
#include "tests/support/await.h"
#include "tests/support/exposition.h"
#include "tests/support/http_get.h"
#include "tests/support/log_tail.h"

#define BODY_MAX (4u * 1024 * 1024) /* a scrape that is cut would be malformed */
#define HTTP_TIMEOUT_MS 5000

struct tarry_process {
    pid_t pid; /* 0: ended and waited for */
    int status;
    int http_port;
    char *log_path;
    bool init;
};

static const char *program(void)
{
    const char *path = getenv("E2E_TARRY_BIN");
    if (path == NULL || access(path, X_OK) != 0) {
        fail_msg("E2E_TARRY_BIN must name the built tarry (ctest sets it); it is %s", path == NULL ? "unset" : path);
    }
    return path;
}

/* Between fork and exec of a process with threads: only async-signal-safe calls. */
static void run_child(const char *path, char *const arguments[], char *const environment[], int out, int err, pid_t parent)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (getppid() == parent && nothing >= 0 && dup2(nothing, 0) == 0 && dup2(out, 1) == 1 && dup2(err, 2) == 2) {
        (void)close_range(3, UINT_MAX, 0); /* a mock cluster's sockets, above all: who holds one of them answers in its place, with silence */
        execve(path, arguments, environment);
    }
    _exit(127);
}

/* fork, with a PID namespace in which the child is process 1: by right, or in a user namespace. -1: neither is allowed here. */
static pid_t fork_as_init(void)
{
    pid_t pid = (pid_t)syscall(SYS_clone, CLONE_NEWPID | SIGCHLD, NULL, NULL, NULL, NULL);
    return pid >= 0 ? pid : (pid_t)syscall(SYS_clone, CLONE_NEWUSER | CLONE_NEWPID | SIGCHLD, NULL, NULL, NULL, NULL);
}

struct tarry_process *tarry_process_start_with(const char *config_path, const char *log_path, int http_port, const char *extra,
                                               const struct shifted_clock *clock)
{
    struct tarry_process_options options = {.extra = extra, .environment = clock == NULL ? NULL : shifted_clock_environment(clock)};
    return tarry_process_start_as(config_path, log_path, http_port, &options);
}

struct tarry_process *
tarry_process_start_as(const char *config_path, const char *log_path, int http_port, const struct tarry_process_options *options)
{
    struct tarry_process *process = memory_new(1, sizeof(*process));
    process->http_port = http_port;
    process->log_path = memory_text(log_path, strlen(log_path));
    int log = open(log_path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (log < 0) {
        fail_msg("cannot open %s: %s", log_path, strerror(errno));
    }
    const char *path = program();
    char *arguments[] = {(char *)(uintptr_t)path,        (char *)(uintptr_t) "serve", (char *)(uintptr_t) "-c",
                         (char *)(uintptr_t)config_path, (char *)(uintptr_t)options->extra, NULL};
    char *const *environment = options->environment == NULL ? environ : options->environment;
    pid_t parent = getpid();
    process->pid = options->as_init ? fork_as_init() : -1;
    process->init = process->pid >= 0;
    process->pid = process->init ? process->pid : fork();
    if (process->pid == 0) {
        run_child(path, arguments, environment, log, options->log_fd == 0 ? log : options->log_fd, process->init ? 0 : parent);
    }
    close(log);
    if (process->pid < 0) {
        fail_msg("fork: %s", strerror(errno));
    }
    return process;
}

struct tarry_process *tarry_process_start(const char *config_path, const char *log_path, int http_port, const char *extra)
{
    return tarry_process_start_with(config_path, log_path, http_port, extra, NULL);
}

void tarry_process_free(struct tarry_process *process)
{
    if (process == NULL) {
        return;
    }
    if (tarry_process_running(process)) {
        tarry_process_kill(process);
    }
    free(process->log_path);
    free(process);
}

bool tarry_process_is_init(const struct tarry_process *process)
{
    return process->init;
}

pid_t tarry_process_pid(const struct tarry_process *process)
{
    return process->pid;
}

/* Takes note of its end, if it has ended. */
bool tarry_process_running(struct tarry_process *process)
{
    if (process->pid != 0 && waitpid(process->pid, &process->status, WNOHANG) == process->pid) {
        process->pid = 0;
    }
    return process->pid != 0;
}

static int exit_code(const struct tarry_process *process)
{
    return WIFEXITED(process->status) ? WEXITSTATUS(process->status) : 128 + WTERMSIG(process->status);
}

int tarry_process_get(struct tarry_process *process, const char *path, char *body, size_t size)
{
    return http_get(process->http_port, path, HTTP_TIMEOUT_MS, body, size);
}

static void wait_status(struct tarry_process *process, int wanted, int64_t timeout_ms)
{
    char body[2048] = "";
    int64_t limit = await_mono_ms() + timeout_ms;
    while (tarry_process_get(process, "/readyz", body, sizeof(body)) != wanted) {
        if (!tarry_process_running(process)) {
            tarry_process_show_log(process);
            fail_msg("tarry ended with %d while waiting for /readyz to answer %d", exit_code(process), wanted);
        }
        if (await_mono_ms() > limit) {
            tarry_process_show_log(process);
            fail_msg("/readyz did not answer %d within %lld ms; last: %s", wanted, (long long)timeout_ms, body);
        }
        await_pause_ms(20);
    }
}

void tarry_process_wait_ready(struct tarry_process *process, int64_t timeout_ms)
{
    wait_status(process, 200, timeout_ms);
}

void tarry_process_wait_not_ready(struct tarry_process *process, int64_t timeout_ms)
{
    wait_status(process, 503, timeout_ms);
}

/* The value of a sample line "name{labels} value" when it is the metric asked for. */
static bool sample_value(const char *line, const char *name, const char *label, double *value)
{
    size_t length = strlen(name);
    if (strncmp(line, name, length) != 0 || (line[length] != ' ' && line[length] != '{')) {
        return false;
    }
    const char *end = line + strcspn(line, "\n");
    const char *found = label == NULL ? line : strstr(line, label);
    if (found == NULL || found > end) {
        return false;
    }
    const char *number = line[length] == '{' ? strchr(line, '}') : line + length;
    if (number == NULL || number > end) {
        return false;
    }
    *value = strtod(number + (*number == '}'), NULL);
    return true;
}

/* Every scrape that a test makes is held to the format. */
static void check_scrape(const char *body)
{
    char problem[4096];
    if (!exposition_check(body, problem, sizeof(problem))) {
        fail_msg("/metrics is malformed: %s", problem);
    }
}

double tarry_process_metric(struct tarry_process *process, const char *name, const char *label)
{
    char *body = memory_new(BODY_MAX, 1);
    double sum = -1;
    if (tarry_process_get(process, "/metrics", body, BODY_MAX) == 200) {
        check_scrape(body);
        for (const char *line = body; line != NULL; line = strchr(line, '\n')) {
            line += *line == '\n';
            double value = 0;
            if (sample_value(line, name, label, &value)) {
                sum = (sum < 0 ? 0 : sum) + value;
            }
        }
    }
    free(body);
    return sum;
}

void tarry_process_signal(struct tarry_process *process, int signal_number)
{
    if (process->pid == 0 || kill(process->pid, signal_number) != 0) {
        tarry_process_show_log(process);
        fail_msg("tarry does not run any more (exit code %d): no signal %d", exit_code(process), signal_number);
    }
}

void tarry_process_kill(struct tarry_process *process)
{
    tarry_process_signal(process, SIGKILL);
    tarry_process_wait_exit(process, 10000);
}

int tarry_process_wait_exit(struct tarry_process *process, int64_t timeout_ms)
{
    int64_t limit = await_mono_ms() + timeout_ms;
    while (tarry_process_running(process)) {
        if (await_mono_ms() > limit) {
            tarry_process_show_log(process);
            fail_msg("tarry still runs %lld ms after it was told to end", (long long)timeout_ms);
        }
        await_pause_ms(5);
    }
    return exit_code(process);
}

int tarry_process_stop(struct tarry_process *process, int64_t timeout_ms)
{
    tarry_process_signal(process, SIGTERM);
    return tarry_process_wait_exit(process, timeout_ms);
}

int64_t tarry_process_cpu_ms(const struct tarry_process *process)
{
    char path[64];
    char line[1024] = "";
    snprintf(path, sizeof(path), "/proc/%d/stat", (int)process->pid);
    FILE *file = fopen(path, "r");
    if (file == NULL || fgets(line, sizeof(line), file) == NULL) {
        fail_msg("cannot read %s", path);
    }
    fclose(file);
    /* After the name in brackets: state is field 3, utime and stime are fields 14 and 15. */
    const char *place = strrchr(line, ')');
    for (int field = 2; place != NULL && field < 14; field++) {
        place = strchr(place + 1, ' ');
    }
    assert_non_null(place);
    char *next = NULL;
    long long ticks = strtoll(place, &next, 10);
    ticks += strtoll(next, NULL, 10);
    return ticks * 1000 / sysconf(_SC_CLK_TCK);
}

int64_t tarry_process_rss_anon_kib(const struct tarry_process *process)
{
    char path[64];
    char line[256];
    int64_t kib = -1;
    snprintf(path, sizeof(path), "/proc/%d/status", (int)process->pid);
    FILE *file = fopen(path, "r");
    if (file == NULL) {
        fail_msg("cannot read %s", path);
    }
    while (fgets(line, sizeof(line), file) != NULL) {
        if (strncmp(line, "RssAnon:", 8) == 0) {
            kib = strtoll(line + 8, NULL, 10);
        }
    }
    fclose(file);
    return kib;
}

size_t tarry_process_log_count(const struct tarry_process *process, const char *text)
{
    FILE *file = fopen(process->log_path, "r");
    char *line = NULL;
    size_t room = 0;
    size_t count = 0;
    while (file != NULL && getline(&line, &room, file) >= 0) {
        count += strstr(line, text) != NULL;
    }
    free(line);
    if (file != NULL) {
        fclose(file);
    }
    return count;
}

void tarry_process_show_log(const struct tarry_process *process)
{
    log_tail_show(process->log_path, "tarry's");
}
