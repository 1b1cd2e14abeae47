/* Of two frontiers of one partition: does the one say all that the other says? */
#ifndef TARRY_OPS_IDENTITY_COVERS_H
#define TARRY_OPS_IDENTITY_COVERS_H

#include "scheduler/metadata.h"

/* True when every record that `b` says is done, of whatever lane and on whichever side of a catch-up boundary, is done by what `a` says too. Perhaps false where
 * that takes several of a's pairs together. Any thread; O(lanes squared). */
bool identity_covers(const struct metadata *a, const struct metadata *b);

#endif
