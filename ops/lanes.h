/*
 * The names of lanes, and their indexes: the configuration's, two built-in ones, and retired ones that still have rows or progress.
 *
 * Index 0 is `default`, 1 is `_refused`, 2 is `_undecided` (R10: its "deliveries" are decisions), then the targets in the order of the configuration, then retired ones as they are found. The same
 * index stands for a lane in the core, in the store and in the metrics.
 */
#ifndef TARRY_OPS_LANES_H
#define TARRY_OPS_LANES_H

#include "base/error.h"
#include "ops/config.h"
#include "scheduler/metadata.h"

#define LANES_DEFAULT ((lane_index)0)
#define LANES_REFUSED ((lane_index)1)
#define LANES_UNDECIDED ((lane_index)2)
#define LANES_BUILT_IN 3 /* the first of the configuration's */
#define LANES_DEFAULT_NAME "default"
#define LANES_REFUSED_NAME "_refused"
#define LANES_UNDECIDED_NAME "_undecided"

struct lanes {
    char names[LANES_MAX][METADATA_LANE_NAME_MAX + 1];
    uint16_t count;
    uint16_t configured; /* below it: of this configuration */
};

/* Built-in ones and the configuration's. The configuration was checked to have few enough. */
void lanes_init(struct lanes *lanes, const struct config *config);

/* Finds a lane by name. */
bool lanes_find(const struct lanes *lanes, const char *name, lane_index *lane);

/* Adds a retired lane. ERROR_FULL: LANES_MAX. */
bool lanes_add(struct lanes *lanes, const char *name, lane_index *lane, struct error *error);

/* Limits of a lane: of its target's entry; built-in and retired ones have the default's. `_undecided` decides. */
struct core_lane_options lanes_options(const struct lanes *lanes, const struct config *config, lane_index lane);

/* A frontier with indexes as metadata with names, and back. The metadata's identity is not touched. Lanes that are not known here are left out:
 * add those of the metadata first. */
void lanes_metadata(const struct lanes *lanes, const struct partition_frontier *frontier, struct metadata *metadata);
void lanes_frontier(const struct lanes *lanes, const struct metadata *metadata, struct partition_frontier *frontier);

#endif
