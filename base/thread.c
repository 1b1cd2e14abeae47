#include "base/thread.h"

#include <signal.h>

#define NS_PER_MS INT64_C(1000000)
#define NS_PER_S INT64_C(1000000000)

bool thread_start(pthread_t *thread, void *(*run)(void *context), void *context)
{
    sigset_t all;
    sigset_t before;
    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    int failure = pthread_create(thread, NULL, run, context);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    return failure == 0;
}

void thread_condition(pthread_cond_t *condition)
{
    pthread_condattr_t attributes;
    (void)pthread_condattr_init(&attributes);
    (void)pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    (void)pthread_cond_init(condition, &attributes);
    (void)pthread_condattr_destroy(&attributes);
}

struct timespec thread_moment(int64_t in_ms)
{
    struct timespec moment;
    (void)clock_gettime(CLOCK_MONOTONIC, &moment);
    int64_t nanoseconds = moment.tv_nsec + in_ms % 1000 * NS_PER_MS;
    moment.tv_sec += (time_t)(in_ms / 1000 + nanoseconds / NS_PER_S);
    moment.tv_nsec = (long)(nanoseconds % NS_PER_S);
    return moment;
}
