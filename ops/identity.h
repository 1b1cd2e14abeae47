/*
 * R8: is this partition the one that the committed frontier and the checkpoint speak of, and where does work on it begin?
 *
 * Pure: facts in, decision out; ops/daemon_open.c asks the brokers and the store. Whatever does not fit is recognised and said; nothing is skipped
 * silently and nothing refired silently. docs/operating.md has the same as a table for operators.
 */
#ifndef TARRY_OPS_IDENTITY_H
#define TARRY_OPS_IDENTITY_H

#include <stdbool.h>

#include "base/span.h"
#include "scheduler/metadata.h"

enum identity_anchor {
    IDENTITY_ANCHOR_NONE,         /* there is none to compare, or it was not read yet */
    IDENTITY_ANCHOR_MATCHES,
    IDENTITY_ANCHOR_DIFFERS,      /* another record stands there */
    IDENTITY_ANCHOR_UNVERIFIABLE, /* below the log's start */
};

struct identity_facts {
    bool accept;                   /* --accept-change: the operator has been asked */
    const char *cluster;           /* of the brokers we talk to, "" unknown */
    uint64_t fingerprint;          /* of the configuration that we run with */
    int64_t low;                   /* log start */
    int64_t end;                   /* last stable offset */
    int64_t committed;             /* the group's offset, -1: none */
    bool committed_foreign;        /* its metadata is there and is not ours */
    bool committed_newer;          /* it is of a later version of tarry */
    const struct metadata *kafka;  /* its metadata, NULL: none */
    const struct metadata *stored; /* of the checkpoint, NULL: none */
    int64_t stored_position;       /* its rows are complete below it */
    enum identity_anchor kafka_anchor;
    enum identity_anchor stored_anchor; /* another one when another instance has gone on meanwhile, maybe with another topic */
};

enum identity_verdict {
    IDENTITY_START, /* go on from `position` with `frontier` */
    IDENTITY_DRAIN, /* another topic stands there: fire what the checkpoint holds, read nothing, commit nothing */
    IDENTITY_HOLD,  /* do nothing until an operator has decided */
};

struct identity_decision {
    enum identity_verdict verdict;
    bool restart;       /* DRAIN: when nothing is pending any more, forget and start from the log's beginning (accepted) */
    bool use_store;     /* rows of the checkpoint count; else it is to be forgotten */
    bool refire;        /* START: records may be delivered again, or are passed over, or an order has no effect: say it loudly */
    int64_t position;   /* START: first record to read */
    struct metadata frontier; /* with the identity that commits carry from now on */
    char text[400];     /* what happened and what to do; "" when all is as it should be */
};

/* The anchor of this metadata (facts->kafka or facts->stored, NULL too) that has to be read again before identity_decide; false: there is none,
 * or it is not in the log. Needs low and end. */
bool identity_wants_anchor(const struct identity_facts *facts, const struct metadata *metadata, struct anchor *anchor);

/* Decides. Text is for an operator. O(lanes). */
void identity_decide(const struct identity_facts *facts, struct identity_decision *decision);

#endif
