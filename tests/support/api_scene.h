/*
 * What a worker of the API asks: a store with real rows (list_scene.h), a real core, and an owner thread that answers. No HTTP, no broker; handlers are called
 * directly, and what they answer is read as JSON.
 *
 * A test writes rows into `list`, has them gained, may step the daemon by hand, and starts the owner: from there on it may step only while no handler runs.
 */
#ifndef TARRY_TESTS_SUPPORT_API_SCENE_H
#define TARRY_TESTS_SUPPORT_API_SCENE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "ops/api.h"
#include "ops/daemon_state.h"
#include "tests/support/list_scene.h"

struct api_scene {
    struct list_scene *list;
    struct daemon *daemon; /* a scene of daemon_scene.h, with a history and the lanes of list_scene.h */
    struct api api;
    struct api_source sources[2];                    /* a, b */
    struct bucket_stats *buckets[LIST_SCENE_PLACES]; /* owned: what the core was given of the store */
    pthread_t owner;
    bool running;
    atomic_bool stop;
    atomic_int asked; /* times that the owner was asked, about */
    struct cJSON *answer; /* the last one */
    unsigned status;      /* of it */
};

/* For cmocka: *state is a struct api_scene whose clock stands at LIST_SCENE_NOW; nothing gained, not started. */
int api_scene_setup(void **state);
int api_scene_teardown(void **state);

/* A partition of the store's is gained, as list_scene_write left it; `behind`: so many records of the topic are not read yet. The core takes it by the next step. Partitions
 * are gained in the order of their places. Borrowed. */
struct partition *api_scene_gain(struct api_scene *scene, size_t place, int64_t behind);

/* The owner begins to answer. */
void api_scene_start(struct api_scene *scene);

/* A request to be filled in and given to a handler. */
struct http_request *api_scene_request(void);

/* What the handler answered, which must be JSON; its status is in `status`. Frees the request; the answer is the scene's, until the next one. */
const struct cJSON *api_scene_take(struct api_scene *scene, struct http_request *request);

#endif
