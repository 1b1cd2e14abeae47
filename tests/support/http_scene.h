/* The HTTP server with workers, a feed of events and a thread that stands for the owner. A test that has routes of its own defines http_route_all. */
#ifndef TARRY_TESTS_SUPPORT_HTTP_SCENE_H
#define TARRY_TESTS_SUPPORT_HTTP_SCENE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "ops/api.h"
#include "ops/event_feed.h"
#include "ops/http.h"
#include "ops/http_owner.h"

struct http_scene {
    struct api api;
    struct http *http; /* NULL: it was stopped */
    uint16_t port;
    pthread_t owner;
    atomic_bool stop;
    atomic_bool stuck;  /* the owner shall look at nothing */
    atomic_bool parked; /* it has seen that, and does not */
    struct metrics *metrics;
};

/* Fails the test when it cannot be had. */
struct http_scene *http_scene_open(const struct http_options *options);

/* The same, on a free port of loopback, with the token 0123456789abcdef, out of a file that is made in /tmp: unlink(path) at the end. */
struct http_scene *http_scene_open_with_token(char path[64]);

/* For cmocka: *state is a scene on a free port of loopback, without a token. */
int http_scene_setup(void **state);
int http_scene_teardown(void **state);

/* From here on the owner looks at nothing; it has turned lately. Until scene->stuck is false again. */
void http_scene_stick(struct http_scene *scene);

/* As the daemon ends: the owner's mailbox, then the workers, then the server; frees all. */
void http_scene_close(struct http_scene *scene);

/* The steps of it: workers and owner are told; the server ends. For tests that look in between. */
void http_scene_stop_workers(struct http_scene *scene);
void http_scene_stop_http(struct http_scene *scene);

#endif
