#include "tests/support/api_scene.h"

#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cjson/cJSON.h>
#include <cmocka.h>

#include "base/memory.h"
#include "base/thread.h"
#include "ops/http_owner.h"
#include "tests/support/daemon_scene.h"

static struct config_target targets[] = {{.name = "orders", .match = "orders", .max_in_flight = 10}};
static struct config config = {.group = "g", .targets = targets, .target_count = 1};

int api_scene_setup(void **state)
{
    struct api_scene *scene = memory_new(1, sizeof(*scene));
    struct error error;
    scene->list = list_scene_new();
    scene->daemon = daemon_scene_new(&config, (struct now){{LIST_SCENE_NOW}, {1000}});
    assert_int_equal(scene->daemon->lanes.count, LIST_SCENE_LANES);
    scene->daemon->outcomes.history = history_new(100, 1 << 20);
    scene->sources[0] = (struct api_source){.topic = "a"};
    scene->sources[1] = (struct api_source){.topic = "b"};
    scene->api.owner = mailbox_new(64, &error);
    assert_non_null(scene->api.owner);
    scene->api.store = scene->list->store;
    scene->api.sources = scene->sources;
    scene->api.source_count = 2;
    scene->api.payloads = CONFIG_PAYLOADS_FULL;
    *state = scene;
    return 0;
}

int api_scene_teardown(void **state)
{
    struct api_scene *scene = *state;
    atomic_store(&scene->stop, true);
    if (scene->running) {
        (void)pthread_join(scene->owner, NULL);
    }
    mailbox_close(scene->api.owner);
    mailbox_free(scene->api.owner);
    history_free(scene->daemon->outcomes.history);
    daemon_scene_free(scene->daemon);
    for (size_t i = 0; i < LIST_SCENE_PLACES; i++) {
        free(scene->buckets[i]);
    }
    list_scene_free(scene->list);
    cJSON_Delete(scene->answer);
    free(scene);
    return 0;
}

struct partition *api_scene_gain(struct api_scene *scene, size_t place, int64_t behind)
{
    struct error error;
    struct store_partition stored;
    const struct api_list_place *at = &scene->list->places[place];
    if (!store_bind_slot(scene->list->store, (slot_index)place, at->topic, at->partition, &stored, &error)) {
        fail_msg("%s", error.text);
    }
    scene->buckets[place] = stored.buckets;
    free(stored.marks);
    free(stored.skips);
    return daemon_scene_gain(scene->daemon, at->topic, at->partition, 0,
                             &(struct input_slot_gained){.position = stored.position,
                                                         .stored_position = stored.position,
                                                         .catch_up_to = stored.position + behind,
                                                         .high = stored.position + behind,
                                                         .buckets = stored.buckets,
                                                         .bucket_count = stored.bucket_count});
}

static void *own(void *context)
{
    struct api_scene *scene = context;
    struct http_owner_view view = {.now = scene->daemon->now, .context = scene->daemon};
    while (!atomic_load(&scene->stop)) {
        struct pollfd wait = {mailbox_fd(scene->api.owner), POLLIN, 0};
        (void)poll(&wait, 1, 20);
        atomic_fetch_add(&scene->asked, (int)http_owner_serve(scene->api.owner, &view));
    }
    return NULL;
}

void api_scene_start(struct api_scene *scene)
{
    scene->running = thread_start(&scene->owner, own, scene);
    assert_true(scene->running);
}

struct http_request *api_scene_request(void)
{
    static const struct http_request_counts counts;
    return http_request_new(NULL, &counts);
}

const struct cJSON *api_scene_take(struct api_scene *scene, struct http_request *request)
{
    cJSON_Delete(scene->answer);
    scene->answer = cJSON_ParseWithLength((const char *)request->body.data, request->body.length);
    assert_non_null(scene->answer);
    scene->status = request->status;
    http_request_free(request);
    return scene->answer;
}
