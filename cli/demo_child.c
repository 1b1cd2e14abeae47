#include "cli/demo_child.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/memory.h"
#include "ops/clock.h"

#define STOP_MS 10000
#define LOOK_MS 10

/* The demo's own configuration counts, not what the user's environment says for another tarry. The list is the
 * caller's. */
static char **clean_environment(void)
{
    size_t count = 0;
    while (environ[count] != NULL) {
        count++;
    }
    char **kept = memory_new(count + 1, sizeof(char *));
    size_t length = 0;
    for (size_t i = 0; i < count; i++) {
        if (strncmp(environ[i], "TARRY_", 6) != 0) {
            kept[length++] = environ[i];
        }
    }
    return kept;
}

/* Between fork and exec of a process with threads: only async-signal-safe calls. */
static void become(const char *program, char *const arguments[], char *const environment[], int log, pid_t parent)
{
    sigset_t none;
    (void)sigemptyset(&none);
    (void)sigprocmask(SIG_SETMASK, &none, NULL);
    int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
    bool ready = setpgid(0, 0) == 0 && prctl(PR_SET_PDEATHSIG, SIGKILL) == 0 && getppid() == parent && nothing >= 0 &&
                 dup2(nothing, 0) == 0 && dup2(log, 1) == 1 && dup2(log, 2) == 2 && close_range(3, ~0U, 0) == 0;
    if (ready) {
        (void)execve(program, arguments, environment);
    }
    _exit(127);
}

bool demo_child_start(struct demo_child *child, const struct demo_child_options *options, struct error *error)
{
    *child = (struct demo_child){.end_signal = options->end_signal, .name = options->name};
    int log_fd = open(options->log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (log_fd < 0) {
        return error_set(error, ERROR_SYSTEM, "opening %s: %s", options->log, strerror(errno));
    }
    const char *program = options->program == NULL ? "/proc/self/exe" : options->program;
    char **environment = clean_environment();
    pid_t parent = getpid();
    pid_t pid = fork();
    if (pid == 0) {
        /* execve takes char *const * for historical reasons and changes nothing */
        become(program, (char *const *)(uintptr_t)options->arguments, environment, log_fd, parent);
    }
    int cause = errno;
    close(log_fd);
    free(environment);
    if (pid < 0) {
        return error_set(error, ERROR_SYSTEM, "starting %s: %s", options->name, strerror(cause));
    }
    child->pid = pid;
    return true;
}

bool demo_child_running(struct demo_child *child)
{
    if (child->pid != 0 && waitpid(child->pid, &child->status, WNOHANG) == child->pid) {
        child->pid = 0;
    }
    return child->pid != 0;
}

static bool ended_well(const struct demo_child *child)
{
    return WIFEXITED(child->status) && WEXITSTATUS(child->status) == 0;
}

static void say_end(const struct demo_child *child, char *text, size_t size)
{
    if (WIFSIGNALED(child->status)) {
        snprintf(text, size, "was ended by signal %d", WTERMSIG(child->status));
    } else {
        snprintf(text, size, "ended with exit code %d", WEXITSTATUS(child->status));
    }
}

bool demo_child_done(const struct demo_child *child, struct error *error)
{
    char words[64];
    say_end(child, words, sizeof words);
    return ended_well(child) || error_set(error, ERROR_SYSTEM, "%s %s", child->name, words);
}

static bool wait_end(struct demo_child *child, int64_t timeout_ms)
{
    int64_t limit_ms = clock_mono().ms + timeout_ms;
    while (demo_child_running(child) && clock_mono().ms < limit_ms) {
        (void)poll(NULL, 0, LOOK_MS);
    }
    return child->pid == 0;
}

bool demo_child_stop(struct demo_child *child, struct error *error)
{
    if (!demo_child_running(child)) {
        return true;
    }
    (void)kill(child->pid, child->end_signal);
    if (!wait_end(child, STOP_MS)) {
        (void)kill(child->pid, SIGKILL);
        (void)waitpid(child->pid, &child->status, 0);
        child->pid = 0;
        return error_set(error, ERROR_SYSTEM, "%s still ran %d ms after it was told to end, and was killed", child->name, STOP_MS);
    }
    bool too_soon = !child->answered && WIFSIGNALED(child->status) && WTERMSIG(child->status) == child->end_signal;
    if (!too_soon && !ended_well(child)) {
        char words[64];
        say_end(child, words, sizeof words);
        return error_set(error, ERROR_SYSTEM, "%s %s when it was told to end", child->name, words);
    }
    return true;
}
