/* What is found out about a partition before it is opened: from the brokers, the store and the configuration (R8). Internal to the files daemon_open*.c. */
#ifndef TARRY_OPS_DAEMON_OPENING_H
#define TARRY_OPS_DAEMON_OPENING_H

#include "ops/daemon_state.h"
#include "ops/identity.h"

/* Everything that is found out about a partition on the way. Large: on the heap. */
struct opening {
    struct source_lookup lookup;
    struct store_partition stored;
    struct metadata kafka;
    struct metadata checkpoint;
    struct identity_facts facts;
    struct identity_decision decision;
};

/* Asks brokers and store. False: ERROR_UNAVAILABLE, try again; or the process ends. */
bool daemon_opening_find_out(struct daemon *daemon, struct partition *partition, struct opening *opening, struct error *error);

/* Forgets a checkpoint that does not count, and settles where reading begins. False: the process ends. */
bool daemon_opening_choose(struct daemon *daemon, const struct partition *partition, struct opening *opening, struct error *error);

/* What was not handed on. */
void daemon_opening_free(struct opening *opening);

#endif
