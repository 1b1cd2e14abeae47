/* Redelivery policy: how often, and after how long. Pure. */
#ifndef TARRY_SCHEDULER_RETRY_H
#define TARRY_SCHEDULER_RETRY_H

#include <stdbool.h>
#include <stdint.h>

struct retry_policy {
    uint32_t max_deliver;    /* redeliveries; 0: none, parked at once */
    int64_t backoff_ms;      /* before the first; at least 1 */
    uint32_t factor_percent; /* each wait is this part of the one before: 100 to 10,000 */
    int64_t backoff_max_ms;
    uint32_t jitter_percent; /* a wait is spread by this part to both sides, never beyond backoff_max: 0 to 100 */
};

/* What a target has that says nothing: 3, 1 s, 2, 60 s, 0.2. */
extern const struct retry_policy retry_default;

/* True when a letter of this attempt has no redelivery left: attempt counts from 1, so that max_deliver 3 redelivers letters 1, 2 and 3. */
bool retry_spent(const struct retry_policy *policy, uint32_t attempt);

/* How long a letter of this attempt (from 1) waits after its failure, in ms. The same for the same seed. No overflow, whatever the policy. */
int64_t retry_wait_ms(const struct retry_policy *policy, uint32_t attempt, uint64_t seed);

#endif
