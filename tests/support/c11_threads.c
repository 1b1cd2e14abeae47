/*
 * C11 threads over pthreads, for ThreadSanitizer builds only.
 *
 * gcc 12's ThreadSanitizer knows pthreads but not glibc's C11 threads, which Debian's librdkafka is built on: threads it never heard of crash it.
 * Linked into a test with -rdynamic, these take the place of glibc's, so every thread, lock and condition of librdkafka is seen. glibc's
 * own types have the size and alignment of their pthread counterparts, which is what its own implementation relies on.
 */
#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <threads.h>

_Static_assert(sizeof(mtx_t) == sizeof(pthread_mutex_t), "a C11 mutex is a pthread mutex");
_Static_assert(sizeof(cnd_t) == sizeof(pthread_cond_t), "a C11 condition is a pthread condition");
_Static_assert(sizeof(thrd_t) == sizeof(pthread_t), "a C11 thread is a pthread");

static pthread_mutex_t *mutex(mtx_t *it)
{
    return (pthread_mutex_t *)(void *)it;
}

static pthread_cond_t *condition(cnd_t *it)
{
    return (pthread_cond_t *)(void *)it;
}

static int result(int code)
{
    return code == 0 ? thrd_success : code == ETIMEDOUT ? thrd_timedout : code == EBUSY ? thrd_busy : thrd_error;
}

struct start {
    thrd_start_t function;
    void *argument;
};

static void *run(void *context)
{
    struct start start = *(struct start *)context;
    free(context);
    return (void *)(intptr_t)start.function(start.argument);
}

int thrd_create(thrd_t *thread, thrd_start_t function, void *argument)
{
    struct start *start = malloc(sizeof(*start));
    if (start == NULL) {
        return thrd_nomem;
    }
    *start = (struct start){function, argument};
    int code = pthread_create(thread, NULL, run, start);
    if (code != 0) {
        free(start);
    }
    return result(code);
}

int thrd_join(thrd_t thread, int *value)
{
    void *returned = NULL;
    int code = pthread_join(thread, &returned);
    if (value != NULL) {
        *value = (int)(intptr_t)returned;
    }
    return result(code);
}

int thrd_detach(thrd_t thread)
{
    return result(pthread_detach(thread));
}

thrd_t thrd_current(void)
{
    return pthread_self();
}

int mtx_init(mtx_t *it, int type)
{
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    if ((type & mtx_recursive) != 0) {
        pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_RECURSIVE);
    }
    int code = pthread_mutex_init(mutex(it), &attributes);
    pthread_mutexattr_destroy(&attributes);
    return result(code);
}

void mtx_destroy(mtx_t *it)
{
    pthread_mutex_destroy(mutex(it));
}

int mtx_lock(mtx_t *it)
{
    return result(pthread_mutex_lock(mutex(it)));
}

int mtx_trylock(mtx_t *it)
{
    return result(pthread_mutex_trylock(mutex(it)));
}

int mtx_unlock(mtx_t *it)
{
    return result(pthread_mutex_unlock(mutex(it)));
}

int cnd_init(cnd_t *it)
{
    return result(pthread_cond_init(condition(it), NULL));
}

void cnd_destroy(cnd_t *it)
{
    pthread_cond_destroy(condition(it));
}

int cnd_signal(cnd_t *it)
{
    return result(pthread_cond_signal(condition(it)));
}

int cnd_broadcast(cnd_t *it)
{
    return result(pthread_cond_broadcast(condition(it)));
}

int cnd_wait(cnd_t *it, mtx_t *lock)
{
    return result(pthread_cond_wait(condition(it), mutex(lock)));
}

int cnd_timedwait(cnd_t *it, mtx_t *lock, const struct timespec *until)
{
    return result(pthread_cond_timedwait(condition(it), mutex(lock), until));
}
