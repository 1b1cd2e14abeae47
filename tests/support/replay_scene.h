/*
 * A real Kafka, a real nats-server, letters in it, and `tarry dlq` run as a program. What fails here fails the running cmocka test.
 *
 * The program is named by E2E_TARRY_BIN (ctest sets it). One scene for all tests of a program: replay_scene_empty between them, and topics of their own.
 */
#ifndef TARRY_TESTS_SUPPORT_REPLAY_SCENE_H
#define TARRY_TESTS_SUPPORT_REPLAY_SCENE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "dlq/letter.h"
#include "dlq/mailer.h"
#include "tests/support/kafka_broker.h"
#include "tests/support/kafka_client.h"
#include "tests/support/nats_client.h"
#include "tests/support/nats_server.h"

struct replay_scene {
    struct kafka_broker *kafka;
    struct nats_server *nats;
    struct nats_client *client;
    struct link *link;
    struct streams_options streams;
    struct mailer *mailer;
    char *folder;
    char *config;
    char *output; /* what the last program run wrote to stdout and stderr */
    char *errors;
};

/* The one scene of a test program, and cmocka's fixtures for it: for the group, and before each test. */
extern struct replay_scene replay_scene_shared;
int replay_scene_fixture_open(void **state);
int replay_scene_fixture_close(void **state);
int replay_scene_fixture_empty(void **state);

/* Starts all. The configuration has the source `delays` (default target out) and allows every target. */
void replay_scene_open(struct replay_scene *scene);
void replay_scene_close(struct replay_scene *scene);

/* No letter, job or large record is left. */
void replay_scene_empty(struct replay_scene *scene);

/* A topic of one partition unless said otherwise; `configs` as kafka_topics_create. */
void replay_scene_topic(struct replay_scene *scene, const char *topic, int partitions, const char *const *configs);

/* Number n of a test: key "k<n mod 5>", value "value-<n>", target `topic`, origin delays/0/n. Borrows from static memory: 10,000 numbers at most. */
struct letter replay_scene_letter(const char *topic, unsigned n);

/* Posts one; fails unless it is kept. */
void replay_scene_post(struct replay_scene *scene, const struct letter *letter, enum letter_state state);

/* Posts the numbers from first on. */
void replay_scene_fill(struct replay_scene *scene, const char *topic, unsigned first, unsigned count, enum letter_state state);

uint64_t replay_scene_waiting(struct replay_scene *scene);
uint64_t replay_scene_parked(struct replay_scene *scene);
uint64_t replay_scene_large(struct replay_scene *scene);

/* The nth letter (from 0) that stands in the stream; the letter borrows from *bytes, freed by the caller. Fails when there is none. */
struct letter replay_scene_read(struct replay_scene *scene, enum letter_state state, size_t nth, struct buffer *bytes);

/* Runs `tarry dlq WORDS -c config`; words are separated by blanks, quoted by '' where blanks belong to them. Returns the exit code (or 128 + signal). Fails
 * after timeout of 120 s. */
int replay_scene_run(struct replay_scene *scene, const char *words);

/* The same without waiting, and its end. */
pid_t replay_scene_start(struct replay_scene *scene, const char *words);
int replay_scene_wait(struct replay_scene *scene, pid_t pid);

/* All records of a topic. Free with kafka_client_records_free. */
struct kafka_client_records replay_scene_records(struct replay_scene *scene, const char *topic);

/* The number that the JSON in scene->output gives this name, -1: none. */
int64_t replay_scene_number(const struct replay_scene *scene, const char *name);

#endif
