/* See writer.h. */
#include "ops/writer.h"

#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/memory.h"
#include "ops/arena.h"
#include "ops/clock.h"
#include "ops/signals.h"

struct writer {
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t begun;
    struct store *store;
    int wake_fd;
    bool busy; /* owner thread only */
    /* Under the lock: */
    const struct checkpoint_plan *plan; /* NULL: none to be done */
    const char *const *texts;
    struct writer_result result;
    bool done;
    bool stop;
};

static struct span row_bytes(row_ref ref, void *context)
{
    (void)context;
    return arena_row(ref);
}

static const char *slot_metadata(const struct checkpoint_slot *slot, void *context)
{
    const struct writer *writer = context;
    return writer->texts[slot - writer->plan->slots];
}

static void wake(const struct writer *writer)
{
    uint64_t one = 1;
    if (write(writer->wake_fd, &one, sizeof(one)) < 0) {
        return; /* the counter is at its limit: the owner is awake already */
    }
}

static void write_plan(struct writer *writer)
{
    struct writer_result result = {0};
    struct store_source source = {row_bytes, slot_metadata, writer};
    int64_t begun_ms = clock_mono().ms;
    result.written = store_write(writer->store, writer->plan, &source, &result.store, &result.error);
    result.took_ms = clock_mono().ms - begun_ms;
    pthread_mutex_lock(&writer->lock);
    writer->result = result;
    writer->plan = NULL;
    writer->done = true;
    pthread_mutex_unlock(&writer->lock);
    wake(writer);
}

static void *run(void *context)
{
    struct writer *writer = context;
    signals_block_in_thread();
    for (;;) {
        pthread_mutex_lock(&writer->lock);
        while (writer->plan == NULL && !writer->stop) {
            pthread_cond_wait(&writer->begun, &writer->lock);
        }
        bool stop = writer->plan == NULL;
        pthread_mutex_unlock(&writer->lock);
        if (stop) {
            return NULL;
        }
        write_plan(writer);
    }
}

struct writer *writer_start(struct store *store, int wake_fd, struct error *error)
{
    struct writer *writer = memory_new(1, sizeof(*writer));
    writer->store = store;
    writer->wake_fd = wake_fd;
    pthread_mutex_init(&writer->lock, NULL);
    pthread_cond_init(&writer->begun, NULL);
    if (pthread_create(&writer->thread, NULL, run, writer) != 0) {
        free(writer);
        error_set(error, ERROR_SYSTEM, "cannot start the store's writer thread: raise the limit of threads (ulimit -u)");
        return NULL;
    }
    return writer;
}

void writer_stop(struct writer *writer)
{
    if (writer == NULL) {
        return;
    }
    pthread_mutex_lock(&writer->lock);
    writer->stop = true;
    pthread_cond_signal(&writer->begun);
    pthread_mutex_unlock(&writer->lock);
    pthread_join(writer->thread, NULL);
    if (writer->done) {
        store_result_free(&writer->result.store);
    }
    pthread_cond_destroy(&writer->begun);
    pthread_mutex_destroy(&writer->lock);
    free(writer);
}

bool writer_busy(const struct writer *writer)
{
    return writer->busy;
}

void writer_begin(struct writer *writer, const struct checkpoint_plan *plan, const char *const *texts)
{
    assert(!writer->busy);
    writer->busy = true;
    pthread_mutex_lock(&writer->lock);
    writer->plan = plan;
    writer->texts = texts;
    pthread_cond_signal(&writer->begun);
    pthread_mutex_unlock(&writer->lock);
}

bool writer_take(struct writer *writer, struct writer_result *result)
{
    pthread_mutex_lock(&writer->lock);
    bool done = writer->done;
    if (done) {
        *result = writer->result;
        writer->done = false;
        writer->busy = false;
    }
    pthread_mutex_unlock(&writer->lock);
    return done;
}
