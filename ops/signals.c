/* Signals: see signals.h. */
#include "ops/signals.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <stdint.h>

/* Written by the handlers, which run in the main thread only, as all others block the signals. */
static volatile sig_atomic_t stop_count;
static volatile sig_atomic_t reload_wanted;
static volatile sig_atomic_t wake_fd = -1;

static bool stop_reported;

static const int handled[] = {SIGTERM, SIGINT, SIGHUP};
#define HANDLED_COUNT (sizeof(handled) / sizeof(handled[0]))

/* Everything here is async-signal-safe. */
static void on_signal(int number)
{
    int saved_errno = errno;
    if (number == SIGHUP) {
        reload_wanted = 1;
    } else if (stop_count > 0) {
        static const char text[] = "tarry: second signal, ending at once\n";
        (void)!write(STDERR_FILENO, text, sizeof(text) - 1);
        _exit(128 + number);
    } else {
        stop_count = 1;
    }
    uint64_t one = 1;
    (void)!write((int)wake_fd, &one, sizeof(one));
    errno = saved_errno;
}

static bool install(int number, void (*handler)(int), struct error *error)
{
    struct sigaction action = {0};
    action.sa_handler = handler;
    action.sa_flags = SA_RESTART;
    /* One handler at a time, so that counting needs no atomics. */
    (void)sigfillset(&action.sa_mask);
    if (sigaction(number, &action, NULL) != 0) {
        return error_set(error, ERROR_SYSTEM, "cannot handle signal %d: %s", number, strerror(errno));
    }
    return true;
}

static bool unblock(struct error *error)
{
    sigset_t set;
    (void)sigemptyset(&set);
    for (size_t i = 0; i < HANDLED_COUNT; i++) {
        (void)sigaddset(&set, handled[i]);
    }
    int failure = pthread_sigmask(SIG_UNBLOCK, &set, NULL);
    return failure == 0 || error_set(error, ERROR_SYSTEM, "cannot unblock signals: %s", strerror(failure));
}

bool signals_start(struct error *error)
{
    int fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (fd < 0) {
        return error_set(error, ERROR_SYSTEM, "cannot make an eventfd for signals: %s", strerror(errno));
    }
    stop_count = 0;
    reload_wanted = 0;
    stop_reported = false;
    wake_fd = fd;
    bool done = install(SIGPIPE, SIG_IGN, error);
    if (getpid() == 1) { /* orphans of others (a health check that was cut off) become ours: the kernel is to bury them */
        done = done && install(SIGCHLD, SIG_IGN, error);
    }
    for (size_t i = 0; done && i < HANDLED_COUNT; i++) {
        done = install(handled[i], on_signal, error);
    }
    if (!done || !unblock(error)) {
        signals_stop();
        return false;
    }
    return true;
}

void signals_stop(void)
{
    struct error ignored;
    for (size_t i = 0; i < HANDLED_COUNT; i++) {
        (void)install(handled[i], SIG_DFL, &ignored);
    }
    (void)install(SIGPIPE, SIG_DFL, &ignored);
    if (wake_fd >= 0) {
        (void)close((int)wake_fd);
    }
    wake_fd = -1;
}

int signals_fd(void)
{
    return (int)wake_fd;
}

enum signals_event signals_next(void)
{
    if (stop_count > 0 && !stop_reported) {
        stop_reported = true;
        return SIGNALS_STOP;
    }
    if (reload_wanted != 0) {
        /* Cleared before it is acted upon: a SIGHUP that comes meanwhile asks for another reload. */
        reload_wanted = 0;
        return SIGNALS_RELOAD;
    }
    uint64_t count;
    (void)!read((int)wake_fd, &count, sizeof(count));
    /* One may have come between the looks above and the read: it must not be left without a wake-up. */
    if (reload_wanted != 0 || (stop_count > 0 && !stop_reported)) {
        return signals_next();
    }
    return SIGNALS_NONE;
}

void signals_block_in_thread(void)
{
    sigset_t all;
    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, NULL);
}
