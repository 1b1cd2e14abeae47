/*
 * What every thread of ours and every wait for another one needs: started without signals, waiting by the monotonic clock.
 *
 * Any thread. O(1).
 */
#ifndef TARRY_BASE_THREAD_H
#define TARRY_BASE_THREAD_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

/* Starts a thread that gets no signals from its first instruction on: they are the main thread's. False: the system has none to give. The caller joins it. */
bool thread_start(pthread_t *thread, void *(*run)(void *context), void *context);

/* A condition whose timed waits go by the monotonic clock. The caller destroys it. */
void thread_condition(pthread_cond_t *condition);

/* The monotonic moment that comes in so many ms (0 or more), for pthread_cond_timedwait on such a condition. */
struct timespec thread_moment(int64_t in_ms);

#endif
