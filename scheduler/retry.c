/* See retry.h. */
#include "scheduler/retry.h"

#include "base/random.h"

const struct retry_policy retry_default = {
    .max_deliver = 3,
    .backoff_ms = 1000,
    .factor_percent = 200,
    .backoff_max_ms = 60000,
    .jitter_percent = 20,
};

bool retry_spent(const struct retry_policy *policy, uint32_t attempt)
{
    return attempt > policy->max_deliver;
}

/* Before jitter. As a double it grows from 1 ms too, does not overflow, and is at any limit within some thousand steps; a factor of 100 never moves. */
static int64_t backoff_ms(const struct retry_policy *policy, uint32_t attempt)
{
    double most_ms = (double)policy->backoff_max_ms;
    double wait_ms = (double)policy->backoff_ms;
    for (uint32_t i = 1; i < attempt && policy->factor_percent > 100 && wait_ms < most_ms; i++) {
        wait_ms = wait_ms * policy->factor_percent / 100;
    }
    return wait_ms < most_ms ? (int64_t)wait_ms : policy->backoff_max_ms;
}

int64_t retry_wait_ms(const struct retry_policy *policy, uint32_t attempt, uint64_t seed)
{
    int64_t wait_ms = backoff_ms(policy, attempt);
    int64_t spread_ms = wait_ms / 100 * policy->jitter_percent + wait_ms % 100 * policy->jitter_percent / 100;
    int64_t most_ms = wait_ms > policy->backoff_max_ms - spread_ms ? policy->backoff_max_ms : wait_ms + spread_ms;
    struct random random = random_new(seed);
    return random_between(&random, wait_ms - spread_ms, most_ms);
}
