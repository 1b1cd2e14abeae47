#include "tests/support/http_scene.h"

#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "ops/api_pool.h"
#include "ops/clock.h"

static void *own(void *context)
{
    struct http_scene *scene = context;
    static const struct http_owner_info info = {.instance = "tarry-0"};
    while (!atomic_load(&scene->stop)) {
        bool stuck = atomic_load(&scene->stuck);
        atomic_store(&scene->parked, stuck);
        struct pollfd poll_fd = {mailbox_fd(scene->api.owner), POLLIN, 0};
        (void)poll(&poll_fd, stuck ? 0 : 1, 10);
        if (!stuck) {
            const struct health health = {NULL, 0, clock_wall()};
            const struct http_owner_view view = {.now = {clock_wall(), clock_mono()}, .metrics = scene->metrics, .health = &health, .info = &info, .context = scene};
            (void)http_owner_serve(scene->api.owner, &view);
            mailbox_beat(scene->api.owner, clock_mono());
        }
    }
    mailbox_close(scene->api.owner);
    return NULL;
}

void http_scene_stick(struct http_scene *scene)
{
    while (mailbox_last_beat(scene->api.owner).ms == 0) {
        (void)poll(NULL, 0, 1);
    }
    atomic_store(&scene->stuck, true);
    while (!atomic_load(&scene->parked)) {
        (void)poll(NULL, 0, 1);
    }
}

struct http_scene *http_scene_open(const struct http_options *options)
{
    struct error error;
    struct http_scene *scene = calloc(1, sizeof(*scene));
    assert_non_null(scene);
    scene->metrics = metrics_new();
    scene->api.owner = mailbox_new(256, &error);
    scene->api.feed = event_feed_new(&error);
    assert_non_null(scene->api.owner);
    assert_non_null(scene->api.feed);
    assert_int_equal(pthread_create(&scene->owner, NULL, own, scene), 0);
    assert_true(api_pool_start(&scene->api, &error));
    scene->http = http_start(options, &scene->api, &error);
    if (scene->http == NULL) {
        print_error("%s\n", error.text);
        fail();
    }
    scene->port = http_port(scene->http);
    return scene;
}

void http_scene_stop_workers(struct http_scene *scene)
{
    api_pool_hurry(&scene->api);
    atomic_store(&scene->stop, true);
    assert_int_equal(pthread_join(scene->owner, NULL), 0);
    api_pool_stop(&scene->api);
}

void http_scene_stop_http(struct http_scene *scene)
{
    http_stop(scene->http);
    scene->http = NULL;
}

void http_scene_close(struct http_scene *scene)
{
    if (!atomic_load(&scene->stop)) {
        http_scene_stop_workers(scene);
    }
    http_scene_stop_http(scene);
    api_pool_free(&scene->api);
    event_feed_free(scene->api.feed);
    mailbox_free(scene->api.owner);
    metrics_free(scene->metrics);
    free(scene);
}

struct http_scene *http_scene_open_with_token(char path[64])
{
    static const char token[] = "0123456789abcdef\n";
    const struct http_options options = {.listen = "127.0.0.1:0", .token_file = path};
    (void)snprintf(path, 64, "/tmp/tarry-http-token-XXXXXX");
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, token, strlen(token)), strlen(token));
    assert_int_equal(close(fd), 0);
    return http_scene_open(&options);
}

int http_scene_setup(void **state)
{
    static const struct http_options plain = {.listen = "127.0.0.1:0"};
    *state = http_scene_open(&plain);
    return 0;
}

int http_scene_teardown(void **state)
{
    http_scene_close(*state);
    return 0;
}
