/* A daemon of a real core and nothing around it: no broker, no store, no threads; its steps are taken by hand. */
#ifndef TARRY_TESTS_SUPPORT_DAEMON_SCENE_H
#define TARRY_TESTS_SUPPORT_DAEMON_SCENE_H

#include "ops/daemon_state.h"

/* With lanes, and metrics whose labels of targets are the lanes' names. What else a test has opened in it, it closes before daemon_scene_free. `config` outlives it. */
struct daemon *daemon_scene_new(struct config *config, struct now now);
void daemon_scene_free(struct daemon *daemon);

/* A partition is open and gained: queues that for the core, with what is said there (NULL: nothing is stored), its epoch and a fresh frontier. The next step is to come before
 * another daemon has any. Borrowed. */
struct partition *daemon_scene_gain(struct daemon *daemon, const char *topic, int32_t number, size_t source, const struct input_slot_gained *stored);

/* A record with this id and row was read, which is nobody's re-append: queues it at offset 0, in lane 0, due at once; the caller says otherwise until the next input. */
struct input_record *daemon_scene_read(struct daemon *daemon, const struct partition *partition, const char *id, struct span row);

typedef void daemon_scene_fn(struct daemon *daemon, const struct command *command);

/* The core takes all that is queued; `act` is called with each of its commands and may queue more (NULL: nothing comes of them). */
void daemon_scene_step(struct daemon *daemon, daemon_scene_fn *act);

#endif
