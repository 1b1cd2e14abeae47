/* Birth of the thread that does a transaction's waiting. */
#include <signal.h>
#include <stdlib.h>

#include "base/memory.h"
#include "bridge/sink_transaction_state.h"

/* Signals are the other threads' business, from its first instruction on. */
static bool start_thread(struct sink_transaction *transaction)
{
    sigset_t all;
    sigset_t before;
    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    int failure = pthread_create(&transaction->thread, NULL, sink_transaction_thread, transaction->shared);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    return failure == 0;
}

bool sink_transaction_open(struct sink *sink, struct error *error)
{
    struct sink_transaction *made = memory_new(1, sizeof *made);
    made->shared = sink_transaction_shared_new(sink);
    made->way = SINK_WAY_FIRST;
    made->turn = SINK_WAY_FIRST;
    made->copied_end = -1;
    made->number = 1; /* 0: a topic that was in none */
    if (!start_thread(made)) {
        sink_transaction_shared_free(made->shared);
        free(made);
        return error_set(error, ERROR_SYSTEM, "no thread for transactions was to be had");
    }
    sink->transaction = made;
    return true;
}

bool sink_transaction_start(struct sink *sink, struct error *error)
{
    bool done = sink->transaction != NULL;
    for (int way = SINK_WAY_FIRST; !done && way <= SINK_WAY_SINGLE; way++) {
        if (sink->producers[way].handle == NULL && !sink_open_way(sink, (enum sink_way)way, error)) {
            return false;
        }
    }
    return done || sink_transaction_open(sink, error);
}
