/*
 * What end-to-end tests of schedules share: records with any headers, outputs counted by value or looked at as chains of occurrences, metrics waited for, and the
 * outcomes that stand in the history topic.
 *
 * For scenes whose records are not in the ledger; read with scene_schedules_read, not scene_read. What fails here fails the running cmocka test.
 */
#ifndef TARRY_TESTS_SUPPORT_SCENE_SCHEDULES_H
#define TARRY_TESTS_SUPPORT_SCENE_SCHEDULES_H

#include "tests/support/scene.h"

#define SCENE_SCHEDULES_OUT_MS 30000

/* Options of a scene with a history topic, in `outs` and `more`. */
#define SCENE_SCHEDULES_HISTORY_OUT "@-history"
#define SCENE_SCHEDULES_HISTORY "history: {topic: \"@-history\"}\n"

/* Tests of one function in both modes of delivery: NAME_at_least_once and NAME_exactly_once, with the options of those names. */
#define SCENE_SCHEDULES_BOTH(name, call)                                                                                                         \
    static void name##_at_least_once(void **state)                                                                                               \
    {                                                                                                                                            \
        (void)state;                                                                                                                             \
        call(&at_least_once);                                                                                                                    \
    }                                                                                                                                            \
    static void name##_exactly_once(void **state)                                                                                                \
    {                                                                                                                                            \
        (void)state;                                                                                                                             \
        call(&exactly_once);                                                                                                                     \
    }

/* Settings of an input topic that takes timestamps of a clock that is ahead: brokers take an hour of that by default. */
extern const char *const scene_schedules_any_timestamp[];

/* Queues a record for that partition, its timestamp the scene's clock. `headers`: names and values as texts, NULL at the end. Key "k". */
void scene_schedules_send(struct scene *scene, int32_t partition, const char *value, const char *const *headers);

#define SCENE_SCHEDULE(scene, partition, value, ...) scene_schedules_send(scene, partition, value, (const char *const[]){__VA_ARGS__, NULL})

/* The number as a text, in one of sixteen static buffers that are used in turn. */
const char *scene_schedules_text(int64_t number);

/* Reads on to the end of the output topics as it is now. */
void scene_schedules_read(struct scene *scene);

/* Outputs of the default target with this value, among those read. */
size_t scene_schedules_count(const struct scene *scene, const char *value);

/* The first of all outputs with this value, among those read; fails when there is none. */
const struct kafka_client_record *scene_schedules_find(const struct scene *scene, const char *value);

/* Reads on until there are so many at least; fails when there are not within SCENE_SCHEDULES_OUT_MS. */
void scene_schedules_await(struct scene *scene, const char *value, size_t count);

/* Fails unless each output read so far was due by the clock that tarry had when it went out. */
void scene_schedules_assert_never_early(const struct scene *scene);

/* Due times of the outputs of one id, in the order of the output topic. */
struct scene_schedules_chain {
    int64_t *due_ms;
    int64_t *at_ms; /* when the broker took it */
    size_t count;
};

struct scene_schedules_chain scene_schedules_chain(const struct scene *scene, const char *id);
void scene_schedules_chain_free(struct scene_schedules_chain *chain);

/* Fails unless its due times ascend by whole steps. `gapless`: by one step each. `repeats`: the one before may come again. */
void scene_schedules_assert_chain(const struct scene *scene, const char *id, int64_t step_ms, bool gapless, bool repeats);

/* Waits until the sum of the metric's samples with this label (NULL: all) is at least that, or just that. */
void scene_schedules_await_metric(struct tarry_process *process, const char *name, const char *label, double least);
void scene_schedules_await_metric_is(struct tarry_process *process, const char *name, const char *label, double value);

/* An outcome in the history topic. */
struct scene_schedules_outcome {
    char outcome[16];
    char *id; /* NULL: none; as it stands there, also base64 */
    bool base64;
    int32_t partition;
    int64_t offset;
};

struct scene_schedules_outcomes {
    struct scene_schedules_outcome *items; /* in the order of the topic */
    size_t count;
};

/* All that have been read. */
struct scene_schedules_outcomes scene_schedules_outcomes(const struct scene *scene);
void scene_schedules_outcomes_free(struct scene_schedules_outcomes *outcomes);

/* How many of them are of this id and name; NULL: any. */
size_t scene_schedules_told(const struct scene *scene, const char *id, const char *outcome);

/* Reads on until there are so many at least. */
void scene_schedules_await_told(struct scene *scene, const char *id, const char *outcome, size_t count);

#endif
