/*
 * The scene of an end-to-end test: a real broker (one for all tests of a program), topics of its own, a configuration,
 * a tarry process, a producer, a reader of the outputs, and the ledger that compares the two.
 *
 * One scene at a time. What fails here fails the running cmocka test; scene_teardown then shows tarry's log and cleans
 * up.
 */
#ifndef TARRY_TESTS_SUPPORT_SCENE_H
#define TARRY_TESTS_SUPPORT_SCENE_H

#include "tests/support/kafka_broker.h"
#include "tests/support/kafka_client.h"
#include "tests/support/kafka_topics.h"
#include "tests/support/ledger.h"
#include "tests/support/nats_server.h"
#include "tests/support/tarry_process.h"

#define SCENE_PARTITIONS_MAX 16
#define SCENE_OUTS_MAX 4
#define SCENE_NAME_MAX 96
#define SCENE_INSTANCES_MAX 4

struct scene_instance; /* tests/support/scene_instance.h */

/* All optional (zero-initialised). Texts are pieces of YAML; in them "@" stands for the scene's topic prefix. */
struct scene_options {
    int partitions;                   /* of the input topic; 0: 1 */
    const char *source;               /* further keys of the source, flow style: "envelope: true, routes: {A: @-a}" */
    const char *targets;              /* entries of `targets:`, flow style: "[{name: a, match: \"@-a\"}]" */
    const char *more;                 /* further top-level lines */
    const char *store_path;           /* NULL: in the scratch folder */
    const char *store_size;           /* NULL: 1GiB */
    const char *kafka;                /* further keys of `kafka:`, flow style, with producer's and consumer's */
    const char *default_target;       /* NULL: "@-out" */
    const char *in;                   /* NULL: "<prefix>-in" */
    const char *const *in_settings;   /* of the input topic, NULL-terminated "name=value"; NULL: none */
    bool shared_input;                /* tarry writes to the input topic too: offsets are known at scene_flush only */
    bool own_clock;                   /* tarry's wall clock is scene->clock, which the test sets; the ledger knows the host's alone */
    const char *outs[SCENE_OUTS_MAX]; /* output topics made and read beside "<prefix>-out" */
    bool letters;     /* there is a NATS for dead letters (scene_nats); else tarry finds none, and works without */
    const char *nats; /* further keys of `nats:`, flow style; NULL: none */
    const char *dlq;  /* further keys of `dlq:`, flow style; NULL: none */
};

struct scene {
    char prefix[SCENE_NAME_MAX];
    char in[SCENE_NAME_MAX];
    char out[SCENE_NAME_MAX];
    char dlq_stream[SCENE_NAME_MAX];
    char parked_stream[SCENE_NAME_MAX];
    char subject_prefix[SCENE_NAME_MAX];
    const char *nats_url;      /* of the server; of nobody without letters */
    const char *nats_user;     /* for the test's own looking: set by tests whose server wants one */
    const char *nats_password;
    const char *bootstrap;
    int partitions;
    char *folder;
    char *store_path;
    char *config_path;
    char *log_path;
    int http_port;
    struct tarry_process *process; /* NULL: not started */
    struct shifted_clock *clock;   /* of all its processes; NULL: the host's */
    struct kafka_client_producer *producer;
    char outs[SCENE_OUTS_MAX + 1][SCENE_NAME_MAX]; /* output topics, one partition each, all read by reader */
    size_t out_count;
    struct kafka_client_reader *reader;
    struct kafka_client_records outputs;
    size_t compared; /* how many of outputs the ledger has seen */
    struct ledger *ledger;
    int64_t next_offset[SCENE_PARTITIONS_MAX];
    bool shared_input;
    struct scene_unplaced *unplaced; /* sent, not yet flushed; with shared_input only */
    struct scene_instance *instances[SCENE_INSTANCES_MAX]; /* further ones of the same group, freed with the scene */
    size_t instance_count;
};

/* For cmocka_run_group_tests: starts and ends the broker. */
int scene_group_setup(void **state);
int scene_group_teardown(void **state);

/* For cmocka_unit_test_teardown: closes a scene that a failed test left open, and shows its log. */
int scene_teardown(void **state);

struct kafka_broker *scene_broker(void);

/* The nats-server of all scenes with letters of the program; started with the first. scene_teardown has it run again if a test has stopped it. */
struct nats_server *scene_nats(void);

/* Makes topics (outputs with LogAppendTime), folder and configuration; starts nothing. */
struct scene *scene_open(const char *name, const struct scene_options *options);

/* Ends tarry if it runs, removes everything. */
void scene_close(struct scene *scene);

/* Writes the configuration again, with other options. The topics stay as they are. */
void scene_configure(struct scene *scene, const struct scene_options *options);

/* What one process of the group has for itself. */
struct scene_own {
    const char *instance;
    const char *store_path;
    const char *config_path;
    int http_port;
};

/* The same for a process with a name, disk, file and port of its own. */
void scene_configure_for(struct scene *scene, const struct scene_options *options, const struct scene_own *own);

/* Starts tarry; waits until it is ready (scene_launch does not wait). The log goes on in the same file. */
void scene_start(struct scene *scene);
void scene_launch(struct scene *scene, const char *extra_argument);

/* kill -9. */
void scene_kill(struct scene *scene);

/* SIGTERM; fails unless it exits with 0 within its shutdown_timeout and a second. */
void scene_stop(struct scene *scene);

/* An event to send. One of delay_ms, due_ms counts: due_ms 0 = by delay. */
struct scene_event {
    int32_t partition;
    int64_t delay_ms;         /* sent as tarry-delay, from the record's timestamp, which is now */
    int64_t due_ms;           /* sent as tarry-at */
    const char *delay_header; /* NULL: tarry-delay; "": the time stands in the value */
    struct span payload;      /* what has to come out when it is not the value; absent: the value */
    const char *target;       /* NULL: the default target, no header */
    const char *route;        /* the topic where the envelope's type leads; NULL: target counts */
    const char *lane;         /* NULL: default */
    bool ordered;
    struct span key;
    struct span value;
    struct span id; /* absent: none */
    const struct record_header *headers;
    size_t header_count;
};

/* Produces it (not flushed) and enters it in the ledger. */
void scene_send(struct scene *scene, const struct scene_event *event);

/* Produces it (not flushed) without entering it in the ledger: it is to become a letter, or is none of this test's events. */
void scene_send_apart(struct scene *scene, const struct scene_event *event);

/* A short event with a value of its own, key "k<partition>". */
void scene_send_delay(struct scene *scene, int32_t partition, int64_t delay_ms, bool ordered);

void scene_flush(struct scene *scene);

/* Reads what has come out (and is committed) until now into the ledger. */
void scene_read(struct scene *scene);

/* Reads a topic that was made later, from its beginning to its end, into the ledger. Call it once for a topic. */
void scene_read_topic(struct scene *scene, const char *topic);

/* Fails if tarry, which runs, has refused a record or found one undeliverable. */
void scene_assert_none_refused(struct scene *scene);

/* Reads on until everything sent has come out; false when it has not within timeout_ms. */
bool scene_await_all(struct scene *scene, int64_t timeout_ms);

/* Reads on until `count` of what was sent have come out; false when they have not within timeout_ms. */
bool scene_await_count(struct scene *scene, size_t count, int64_t timeout_ms);

/* The closing check of most tests: all out within timeout_ms, tarry ends well, nothing more comes, the ledger adds up.
 * */
void scene_finish(struct scene *scene, int64_t timeout_ms, bool repeats);

#endif
