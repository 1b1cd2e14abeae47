/* What dead letters are held against: bare programs of NATS' own client, and of librdkafka. */
#ifndef TARRY_BENCH_BENCH_LETTERS_BARE_H
#define TARRY_BENCH_BENCH_LETTERS_BARE_H

#include <stddef.h>
#include <stdint.h>

#include "bench/bench_nats.h"

/* The bodies of letters, as tarry wrote them. */
struct bench_letters_bodies {
    const char *stream; /* where they were read; borrowed */
    natsMsg **items;
    size_t count;
};

/* Reads `count` from a stream that holds as many of this subject (wildcards allowed). Free with bench_letters_bare_free. */
struct bench_letters_bodies bench_letters_bare_read(const struct bench_nats *nats, const char *stream, const char *subject, int64_t count);
void bench_letters_bare_free(struct bench_letters_bodies *bodies);

/* Publishes `count` letters, the bodies in turn, to this subject as fast as it can, and waits until JetStream has acknowledged all. `ids`: each with a Nats-Msg-Id, as
 * tarry's have. Returns the seconds that it took. */
double bench_letters_bare_publish(const struct bench_nats *nats, const struct bench_letters_bodies *bodies, const char *subject, int64_t count, bool ids);

/* Fetches `count` letters from the stream by a pull consumer, in batches of 256, produces the record in each to the topic with the sink's settings, and
 * acknowledges a letter when its record was delivered; does not wait for one batch before it fetches the next. Returns the seconds from opening the clients to
 * the last acknowledgement. */
double bench_letters_bare_fetch_produce(const struct bench_run *run, const struct bench_nats *nats, const char *stream, const char *subject,
                                        const char *topic, int64_t count);

#endif
