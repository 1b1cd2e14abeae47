/* For tests of redelivery: a nats-server of its own for each test, names of its own on a broker that all share, and the thread under test. */
#ifndef TARRY_TESTS_SUPPORT_REDELIVERY_SCENE_H
#define TARRY_TESTS_SUPPORT_REDELIVERY_SCENE_H

#include "bridge/mock_cluster.h"
#include "bridge/record.h"
#include "dlq/letter.h"
#include "dlq/mailer.h"
#include "ops/redelivery.h"
#include "tests/support/kafka_broker.h"
#include "tests/support/kafka_client.h"
#include "tests/support/nats_client.h"
#include "tests/support/nats_letters.h"
#include "tests/support/nats_server.h"

#define REDELIVERY_SCENE_WAIT_MS 60000
#define REDELIVERY_SCENE_SEND_TIMEOUT_MS 3000

struct redelivery_scene {
    bool exactly_once;
    const char *bootstrap;
    struct mock_cluster *mock; /* NULL: the broker */
    char group[64];
    char out[64];     /* a topic with one partition */
    char missing[64]; /* an allowed name without a topic */
    struct config *config;
    struct nats_server *nats;
    struct nats_client *client;
    struct link *link;
    struct streams_options options;
    struct mailer *mailer;
    struct redelivery *redelivery; /* NULL: not started */
};

/* One broker for all tests of a program: ACLs work, and what has none is open. */
void redelivery_scene_start_broker(void);
void redelivery_scene_stop_broker(void);
struct kafka_broker *redelivery_scene_broker(void);

/* For cmocka: *state is, before, non-NULL for exactly_once. The redelivery is not started. Its policy: 3 redeliveries after 300 ms, doubled, no jitter. */
int redelivery_scene_open(void **state);
int redelivery_scene_close(void **state);

/* The same on librdkafka's mock cluster, for what a healthy broker cannot be made to say: an outage of one topic alone. */
int redelivery_scene_open_mock(void **state);

/* A topic with one partition, on whichever it is. */
void redelivery_scene_create_topic(struct redelivery_scene *scene, const char *topic);

/* Starts the thread, active, and waits until it runs. */
void redelivery_scene_run(struct redelivery_scene *scene);
void redelivery_scene_stop(struct redelivery_scene *scene);

/* A plain letter to `target` (borrowed), due at not_before_ms; its value is "<n>", its key "k<n % 10>". Id, origin and text follow from n; static memory. */
struct letter redelivery_scene_letter(uint64_t n, const char *target, int64_t not_before_ms);

/* Posts it, and fails the test unless it is kept. Returns the sequence. */
uint64_t redelivery_scene_post(struct redelivery_scene *scene, const struct letter *letter, enum letter_state state);

/* Posts `count` letters from number `first` on. */
void redelivery_scene_post_many(struct redelivery_scene *scene, uint64_t first, size_t count, const char *target, int64_t not_before_ms);

/* Waits until the stream (the parked one) holds so many messages of this filter (NULL: any). */
void redelivery_scene_await(struct redelivery_scene *scene, enum letter_state state, const char *filter, uint64_t count, int64_t timeout_ms);

/* Waits until the condition of the status holds. */
typedef bool redelivery_scene_condition(const struct redelivery_status *status);
struct redelivery_status redelivery_scene_await_status(struct redelivery_scene *scene, redelivery_scene_condition *condition);

/* All letters of the stream now, in order. Free each one's bytes, and the list. */
struct redelivery_scene_kept {
    struct letter letter;
    struct buffer bytes;
    uint64_t sequence;
};
size_t redelivery_scene_read(struct redelivery_scene *scene, enum letter_state state, struct redelivery_scene_kept **letters);
void redelivery_scene_free(struct redelivery_scene_kept *letters, size_t count);

/* All records of a topic now. */
struct kafka_client_records redelivery_scene_records(const struct redelivery_scene *scene, const char *topic);

#endif
