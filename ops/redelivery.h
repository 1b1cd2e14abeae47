/*
 * Redelivery: a thread that sends waiting letters again when their time has come, and parks those that have failed too often.
 *
 * What is to be done stands in the streams alone, and each step may be the last one before a crash (dlq/README.md has the table). One instance of a
 * group redelivers at a time: the owner of partition 0 of the first source, who says so by redelivery_set_active. With exactly_once a former owner that still
 * works is fenced; without, two that overlap may deliver a letter twice.
 *
 * All calls are the owner thread's and do not block, except redelivery_stop. None of them speaks to a server.
 */
#ifndef TARRY_OPS_REDELIVERY_H
#define TARRY_OPS_REDELIVERY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "ops/config.h"

struct redelivery;

struct redelivery_options {
    const struct config *config; /* outlives it. What may be reloaded is copied: of this one only what never changes is read */
    const char *owner;           /* of the streams (dlq/streams.h); outlives it; NULL: not known, they have to be there */
    int wake_fd;                 /* an eventfd, made readable when the status changed; -1: none */
    int64_t send_timeout_ms;     /* a target that does not take a record by then has an outage, and rests; 0: the default, 10 s */
};

/* Starts the thread, inactive, and its own connection to NATS (which is found whenever it comes). ERROR_INVALID: an option that nats.c or librdkafka
 * refuses (named); ERROR_SYSTEM: no thread. */
bool redelivery_start(const struct redelivery_options *options, struct redelivery **redelivery, struct error *error);

/* True: redeliver from now on; everything is read anew. False: stop after the step at hand. Takes effect within a second or the step's timeout
 * (redelivery_status says when). The same value twice is nothing. */
void redelivery_set_active(struct redelivery *redelivery, bool active);

/* Takes over the retry policies of the targets of this configuration, if they are the same ones in the same order (else they wait for a restart, as
 * their other limits do). It may be freed afterwards. */
void redelivery_reload(struct redelivery *redelivery, const struct config *config);

enum redelivery_phase {
    REDELIVERY_IDLE,     /* not active, and nothing under way */
    REDELIVERY_STARTING, /* fences the former owner, reads the stream */
    REDELIVERY_RUNNING,
    REDELIVERY_STANDING, /* active, and cannot go on: `text` says why; it goes on by itself when that is over */
};

/* Counted since the start of the process. */
struct redelivery_counts {
    uint64_t delivered; /* redeliveries that the target took */
    uint64_t failed;    /* that failed for good: their letters were parked */
    uint64_t retried;   /* that failed, and have a next letter */
    uint64_t postponed; /* attempts that an outage of the target ended: not counted as one of max_deliver */
    uint64_t parked;    /* letters parked, for whatever reason */
    uint64_t nacks;     /* messages of nack.> made into letters */
    uint64_t doubles;   /* letters removed because a later one of the same record stands, or because they were surely delivered or parked */
};

struct redelivery_status {
    enum redelivery_phase phase;
    char text[512];           /* STANDING: why, with the remedy; else "" */
    uint64_t waiting;         /* letters in memory, waiting for their time */
    uint64_t in_flight;
    int64_t next_ms;          /* wall clock: when the next one is due, -1: none */
    uint64_t resting_targets; /* left alone for an outage */
    struct redelivery_counts counts;
};

void redelivery_status(struct redelivery *redelivery, struct redelivery_status *status);

/* Ends after the step at hand, and frees. What was in flight stands in the stream, and is redelivered by whoever comes next. Blocks at most timeout_ms
 * and the some 10 s that Kafka's and NATS' clients take to end at worst; with exactly_once also for the offset of a transaction whose coordinator
 * does not answer (transaction_timeout). NULL is allowed. */
void redelivery_stop(struct redelivery *redelivery, int64_t timeout_ms);

#endif
