#include "bench/bench_arrivals.h"

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "base/memory.h"
#include "bench/bench_kafka.h"

struct bench_arrivals {
    rd_kafka_t *consumer;
    pthread_t thread;
    int64_t from_ms;
    int64_t to_ms;
    int64_t *late_us;
    size_t room;
    atomic_int_least64_t count;
    atomic_int_least64_t first_us;
    atomic_bool stop;
};

/* An answer as soon as there is a record, and many requests need not be waited for. */
static const char *const settings[] = {"group.id=bench-arrivals", "enable.auto.commit=false", "fetch.wait.max.ms=100",
                                       "fetch.error.backoff.ms=5", "isolation.level=read_committed", NULL};

static void note(struct bench_arrivals *arrivals, const rd_kafka_message_t *message, int64_t now_us)
{
    int64_t due_ms = bench_kafka_due_ms(message);
    if (due_ms < arrivals->from_ms || due_ms >= arrivals->to_ms) {
        return;
    }
    size_t count = (size_t)atomic_load(&arrivals->count);
    if (count == arrivals->room) {
        arrivals->room = arrivals->room == 0 ? 4096 : arrivals->room * 2;
        arrivals->late_us = memory_resize(arrivals->late_us, arrivals->room, sizeof(*arrivals->late_us));
    }
    arrivals->late_us[count] = now_us - due_ms * 1000;
    if (count == 0) {
        atomic_store(&arrivals->first_us, now_us);
    }
    atomic_store(&arrivals->count, (int64_t)count + 1);
}

static void *work(void *context)
{
    struct bench_arrivals *arrivals = context;
    while (!atomic_load(&arrivals->stop)) {
        rd_kafka_message_t *message = rd_kafka_consumer_poll(arrivals->consumer, 50);
        if (message == NULL) {
            continue;
        }
        if (message->err == RD_KAFKA_RESP_ERR_NO_ERROR) {
            note(arrivals, message, bench_run_wall_us());
        }
        rd_kafka_message_destroy(message);
    }
    return NULL;
}

static struct bench_arrivals *start(const struct bench_run *run, const char *topic, int64_t offset, int64_t from_ms, int64_t to_ms)
{
    struct bench_arrivals *arrivals = memory_new(1, sizeof(*arrivals));
    arrivals->from_ms = from_ms;
    arrivals->to_ms = to_ms;
    arrivals->consumer = bench_kafka_new(RD_KAFKA_CONSUMER, bench_kafka_conf(run->bootstrap, settings));
    bench_kafka_assign(arrivals->consumer, topic, offset);
    if (pthread_create(&arrivals->thread, NULL, work, arrivals) != 0) {
        bench_run_fail("no thread for the consumer");
    }
    return arrivals;
}

struct bench_arrivals *bench_arrivals_start(const struct bench_run *run, const char *topic, int64_t from_ms, int64_t to_ms)
{
    return start(run, topic, RD_KAFKA_OFFSET_BEGINNING, from_ms, to_ms);
}

struct bench_arrivals *bench_arrivals_start_at_end(const struct bench_run *run, const char *topic, int64_t from_ms, int64_t to_ms)
{
    return start(run, topic, RD_KAFKA_OFFSET_END, from_ms, to_ms);
}

int64_t bench_arrivals_count(struct bench_arrivals *arrivals)
{
    return atomic_load(&arrivals->count);
}

int64_t bench_arrivals_first_us(struct bench_arrivals *arrivals)
{
    return atomic_load(&arrivals->first_us);
}

bool bench_arrivals_wait(struct bench_arrivals *arrivals, int64_t count, int64_t timeout_ms)
{
    int64_t limit = bench_run_mono_us() + timeout_ms * 1000;
    while (atomic_load(&arrivals->count) < count) {
        if (bench_run_mono_us() > limit) {
            return false;
        }
        bench_run_sleep_ms(2);
    }
    return true;
}

static int compare(const void *left, const void *right)
{
    int64_t a = *(const int64_t *)left;
    int64_t b = *(const int64_t *)right;
    return (a > b) - (a < b);
}

void bench_arrivals_stop(struct bench_arrivals *arrivals)
{
    atomic_store(&arrivals->stop, true);
    pthread_join(arrivals->thread, NULL);
    if (arrivals->late_us != NULL) {
        qsort(arrivals->late_us, (size_t)atomic_load(&arrivals->count), sizeof(*arrivals->late_us), compare);
    }
}

double bench_arrivals_percentile(const struct bench_arrivals *arrivals, double share)
{
    int64_t count = atomic_load(&arrivals->count);
    int64_t rank = (int64_t)ceil(share * (double)count);
    return (double)arrivals->late_us[rank > 0 ? rank - 1 : 0] / 1000;
}

void bench_arrivals_free(struct bench_arrivals *arrivals)
{
    rd_kafka_consumer_close(arrivals->consumer);
    rd_kafka_destroy(arrivals->consumer);
    free(arrivals->late_us);
    free(arrivals);
}
