/*
 * What a group's committed offsets claim, checked against the ledger: every record that offset and metadata call done
 * must have come out. This is the safety of docs/frontier.md seen from outside.
 */
#ifndef TARRY_TESTS_SUPPORT_CLAIMS_H
#define TARRY_TESTS_SUPPORT_CLAIMS_H

#include "tests/support/scene.h"

/* What earlier checks saw: nothing may go back. Zero-initialised at first. */
struct claims {
    int64_t committed[SCENE_PARTITIONS_MAX];
    int64_t low[SCENE_PARTITIONS_MAX];
    size_t done; /* records called done by the last check */
};

/* Reads offset and metadata of all partitions first, then the outputs, then compares. Fails the test on a claim too
 * many, on metadata that does not read, on an offset beyond a cut, or on one that went back. */
void claims_check(struct scene *scene, struct claims *claims);

#endif
