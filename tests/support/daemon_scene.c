#include "tests/support/daemon_scene.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"

#define SLOTS_MOST 512

struct daemon *daemon_scene_new(struct config *config, struct now now)
{
    struct core_options options;
    struct daemon *daemon = memory_new(1, sizeof(*daemon));
    core_options_default(&options);
    daemon->config = config;
    daemon->now = now;
    daemon->core = core_new(&options);
    daemon->metrics = metrics_new();
    memcpy(daemon->cluster, "c", 2);
    lanes_init(&daemon->lanes, config);
    for (lane_index lane = 0; lane < daemon->lanes.count; lane++) {
        struct core_lane_options limits = lanes_options(&daemon->lanes, config, lane);
        core_lane_add(daemon->core, &limits);
        metrics_label_add(daemon->metrics, METRICS_LABEL_TARGET, daemon->lanes.names[lane]);
    }
    return daemon;
}

void daemon_scene_free(struct daemon *daemon)
{
    core_free(daemon->core);
    metrics_free(daemon->metrics);
    arena_free(&daemon->arena);
    partitions_free(&daemon->partitions);
    free(daemon->inputs);
    free(daemon);
}

struct partition *daemon_scene_gain(struct daemon *daemon, const char *topic, int32_t number, size_t source, const struct input_slot_gained *stored)
{
    static struct input_slot_gained gained[SLOTS_MOST]; /* the core borrows it for the step */
    struct partition *partition = partitions_add(&daemon->partitions, topic, number, source);
    assert_true(partition->slot < SLOTS_MOST);
    struct input_slot_gained *mine = &gained[partition->slot];
    *mine = stored == NULL ? (struct input_slot_gained){0} : *stored;
    mine->epoch = partition->epoch;
    mine->frontier = (struct partition_frontier){.shared = {KEY_LEAST, 0}, .anchor = {.offset = -1}};
    partition->state = PARTITIONS_OPEN;
    partition->gained = true;
    daemon_input(daemon, INPUT_SLOT_GAINED, partition)->as.gained = mine;
    return partition;
}

struct input_record *daemon_scene_read(struct daemon *daemon, const struct partition *partition, const char *id, struct span row)
{
    struct input_record *record = &daemon_input(daemon, INPUT_RECORD, partition)->as.record;
    *record = (struct input_record){.bytes = (uint32_t)row.length,
                                    .ref = arena_add(&daemon->arena, row),
                                    .root = -1,
                                    .id = daemon_ids_hash(daemon, span_of_text(id)),
                                    .found = {.offset = -1}};
    return record;
}

void daemon_scene_step(struct daemon *daemon, daemon_scene_fn *act)
{
    struct commands commands = core_step(daemon->core, daemon->now, daemon->inputs, daemon->input_count);
    daemon->input_count = 0;
    for (size_t i = 0; act != NULL && i < commands.count; i++) {
        act(daemon, &commands.items[i]);
    }
    for (size_t i = 0; i < commands.release_count; i++) {
        arena_release(&daemon->arena, commands.releases[i]);
    }
}
