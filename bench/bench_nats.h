/* A nats-server of the bench's own, and what it is asked by NATS' own client. What fails here ends the bench. */
#ifndef TARRY_BENCH_BENCH_NATS_H
#define TARRY_BENCH_BENCH_NATS_H

#include <nats/nats.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "bench/bench_run.h"

struct bench_nats {
    pid_t pid;
    char url[48];
    char log[BENCH_RUN_PATH];
    natsConnection *connection;
    jsCtx *jetstream;
};

/* Starts run->nats_server with its files in the run's folder, and connects. */
void bench_nats_start(struct bench_run *run, struct bench_nats *nats);
void bench_nats_stop(struct bench_nats *nats);

/* Messages that stand in the stream; 0 also when there is no such stream yet. */
int64_t bench_nats_messages(const struct bench_nats *nats, const char *stream);

/* Makes the stream `name`, of this one subject, configured as `model` is. */
void bench_nats_stream_like(const struct bench_nats *nats, const char *model, const char *name, const char *subject);
void bench_nats_stream_delete(const struct bench_nats *nats, const char *stream);

/* Fails unless status is NATS_OK, saying what was tried. */
void bench_nats_check(natsStatus status, const char *what, const char *name);

#endif
