/*
 * The store's writer thread: one checkpoint at a time, so that a sync on disk delays no delivery.
 *
 * The owner starts a plan and gets its result by polling; the fd becomes readable then. Until the result was taken the plan, the rows it
 * names and the texts stay as they are.
 */
#ifndef TARRY_OPS_WRITER_H
#define TARRY_OPS_WRITER_H

#include "base/error.h"
#include "base/time_types.h"
#include "store/store.h"

struct writer;

struct writer_result {
    bool written;
    struct error error; /* !written */
    struct store_result store; /* written: to be freed with store_result_free */
    int64_t took_ms;
};

/* Starts the thread. wake_fd: an eventfd that is written to when a result is there. NULL: ERROR_SYSTEM. `store` outlives it. */
struct writer *writer_start(struct store *store, int wake_fd, struct error *error);

/* Waits for the plan under way and ends the thread. NULL is fine. */
void writer_stop(struct writer *writer);

/* True while a plan is under way, or its result was not taken yet. Owner thread. */
bool writer_busy(const struct writer *writer);

/* Begins a plan; not while busy. `texts` holds the metadata text of each slot of the plan, in its order. All is borrowed until the result. */
void writer_begin(struct writer *writer, const struct checkpoint_plan *plan, const char *const *texts);

/* Takes the result if it is there. */
bool writer_take(struct writer *writer, struct writer_result *result);

#endif
