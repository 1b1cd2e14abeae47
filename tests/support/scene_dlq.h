/*
 * What end-to-end tests of dead letters share: names, waiting for metrics, health and streams, and `tarry dlq` run with the scene's configuration.
 *
 * For scenes that were opened with `letters`. What fails here fails the running cmocka test.
 */
#ifndef TARRY_TESTS_SUPPORT_SCENE_DLQ_H
#define TARRY_TESTS_SUPPORT_SCENE_DLQ_H

#include "dlq/letter.h"
#include "tests/support/cli_program.h"
#include "tests/support/nats_client.h"
#include "tests/support/scene.h"

#define SCENE_DLQ_OUT_MS 30000
#define SCENE_DLQ_TOPIC_SIZE (SCENE_NAME_MAX + 16)

/* "<prefix>-<suffix>" */
void scene_dlq_topic(const struct scene *scene, const char *suffix, char topic[SCENE_DLQ_TOPIC_SIZE]);

/* Waits until the sum of the samples is at least that. */
void scene_dlq_await_metric(struct scene *scene, const char *metric, const char *label, double least);

/* Waits until /health is 200 and says it: dead letters are no reason to take an instance out. */
void scene_dlq_await_health(struct scene *scene, const char *part);

/* Waits until redelivery runs. */
void scene_dlq_await_running(struct scene *scene);

/* Messages in the stream of waiting or of parked ones; 0 when there is no such stream yet. */
uint64_t scene_dlq_count(const struct scene *scene, struct nats_client *client, enum letter_state state);

/* Waits until there are `least` of them, or none. */
void scene_dlq_await_count(const struct scene *scene, struct nats_client *client, enum letter_state state, uint64_t least);
void scene_dlq_await_none(const struct scene *scene, struct nats_client *client, enum letter_state state);

/* Waits until the group's committed offset of input partition 0 is the end of its log: nothing waits for its first delivery. */
void scene_dlq_await_no_lag(const struct scene *scene);

/* `tarry dlq WORDS... -c <the scene's configuration>`, into a pipe; words NULL-terminated. Fails unless it ends with `code`. Free it. */
struct cli_program scene_dlq_run(const struct scene *scene, int code, const char *const *words);

/* Number of records that were ever written to partition 0 of the topic. */
int64_t scene_dlq_records(const struct scene *scene, const char *topic);

/* Fails unless the header is there once with this text; NULL: unless it is not there. */
void scene_dlq_assert_header(const struct kafka_client_record *record, const char *name, const char *value);

/* How many headers of the record begin with that. */
size_t scene_dlq_headers_like(const struct kafka_client_record *record, const char *start);

#endif
