/* Birth of the thread that does a transaction's waiting. */
#include <stdlib.h>

#include "base/memory.h"
#include "base/thread.h"
#include "bridge/sink_transaction_state.h"

bool sink_transaction_open(struct sink *sink, struct error *error)
{
    struct sink_transaction *made = memory_new(1, sizeof *made);
    made->shared = sink_transaction_shared_new(sink);
    made->way = SINK_WAY_FIRST;
    made->turn = SINK_WAY_FIRST;
    made->number = 1; /* 0: a topic that was in none */
    if (!thread_start(&made->thread, sink_transaction_thread, made->shared)) {
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
