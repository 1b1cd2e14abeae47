/* Room-internal: what the owner keeps of the copies in its transaction: where they end, and what is to be told of them. Owner thread. */
#ifndef TARRY_BRIDGE_SINK_COPY_H
#define TARRY_BRIDGE_SINK_COPY_H

#include "bridge/sink_transaction.h"

struct sink_copy_place {
    struct sink_copied copied;
    bool unsaid; /* a copy is there, and nobody said where */
};

struct sink_copies {
    char **topics; /* names that were copied into, kept: there are as many as input topics */
    size_t topic_count;
    struct sink_copy_place *places; /* of the current transaction, in the order of their first copies */
    size_t place_count;
    size_t place_capacity;
    struct sink_copied *said; /* what the last result borrows */
    size_t said_capacity;
    struct sink_report *refused; /* at once, not polled yet; at most SINK_COPY_REFUSED_MAX */
    size_t refused_first;
    size_t refused_count; /* with those before refused_first */
    size_t refused_capacity;
};

/* The broker has a copy; offset -1: it did not say where. */
void sink_copy_written(struct sink_copies *copies, size_t place, int64_t offset);

/* False: the report is on a copy, and nobody's business. */
bool sink_copy_tells(const struct sink_report *report);

/* Hands out what was refused at once; returns how many. */
size_t sink_copy_poll(struct sink_copies *copies, struct sink_report *reports, size_t most);

/* True when that has all been handed out. */
bool sink_copy_told(const struct sink_copies *copies);

/* The transaction's result gets where its copies end, and the next transaction begins without any. */
void sink_copy_end(struct sink_copies *copies, struct sink_transaction_result *result);

void sink_copy_free(struct sink_copies *copies);

#endif
