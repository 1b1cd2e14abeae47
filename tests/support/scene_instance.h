/*
 * Further processes of a scene's group: each with a name (group.instance.id), disk, configuration, log and port of its own.
 *
 * Owned by the scene, and ended and freed with it. What fails here fails the running cmocka test.
 */
#ifndef TARRY_TESTS_SUPPORT_SCENE_INSTANCE_H
#define TARRY_TESTS_SUPPORT_SCENE_INSTANCE_H

#include "tests/support/scene.h"

struct scene_instance {
    struct scene *scene;
    char name[SCENE_NAME_MAX]; /* "<prefix>-<name>" */
    char *store_path;
    char *kept_path; /* a copy of the disk as it once was */
    char *config_path;
    char *log_path;
    int http_port;
    struct tarry_process *process; /* NULL: never started */
};

/* Writes its configuration; starts nothing. `options` as for scene_configure. */
struct scene_instance *scene_instance_add(struct scene *scene, const char *name, const struct scene_options *options);

/* Called by scene_close. */
void scene_instance_free(struct scene_instance *instance);

/* Writes its configuration again. */
void scene_instance_configure(struct scene_instance *instance, const struct scene_options *options);

/* Starts it; scene_instance_start waits until it is ready, too. */
void scene_instance_launch(struct scene_instance *instance, const char *extra_argument);
void scene_instance_start(struct scene_instance *instance);

bool scene_instance_running(struct scene_instance *instance);

/* kill -9; fails when it had ended by itself. */
void scene_instance_kill(struct scene_instance *instance);

/* SIGTERM; fails unless it exits with 0 in time. */
void scene_instance_stop(struct scene_instance *instance);

/* Of a stopped one: copies its disk aside, or puts that copy in its place, or another one's copy, or removes the disk. */
void scene_instance_keep_disk(struct scene_instance *instance);
void scene_instance_put_disk_back(struct scene_instance *instance, const struct scene_instance *kept_by);
void scene_instance_lose_disk(struct scene_instance *instance);

/* Partitions that it is at work on: gained and not given up since, by its log. */
int scene_instance_partitions(const struct scene_instance *instance);

/* Waits until it is ready and works on `count` partitions; fails when it does not within timeout_ms. */
void scene_instance_await_partitions(struct scene_instance *instance, int count, int64_t timeout_ms);

/* Waits until `text` stands in its log more than `before` times; fails when it does not within timeout_ms. */
void scene_instance_await_log(struct scene_instance *instance, const char *text, size_t before, int64_t timeout_ms);

void scene_instance_show_log(const struct scene_instance *instance);

#endif
