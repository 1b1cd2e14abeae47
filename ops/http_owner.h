/* The owner thread's side of HTTP: answers what waits in the mailbox. Knows nothing of sockets. */
#ifndef TARRY_OPS_HTTP_OWNER_H
#define TARRY_OPS_HTTP_OWNER_H

#include "base/buffer.h"
#include "base/time_types.h"
#include "ops/health.h"
#include "ops/mailbox.h"
#include "ops/metrics.h"

/* What /api/v1/info says. Texts are borrowed; NULL ones are left out. */
struct http_owner_info {
    const char *instance;
    const char *group;
    const char *cluster_id;
    const char *delivery;
    const char *const *sources;
    size_t source_count;
    const char *const *targets;
    size_t target_count;
    struct wall_ms started;
};

/* What the answers are made from; borrowed for the call. */
struct http_owner_view {
    struct now now;
    struct metrics *metrics;
    const struct health *health;
    const struct http_owner_info *info;
    void (*refresh)(void *context); /* brings metrics and health up to date; NULL: they are */
    void (*config_text)(void *context,
                        struct buffer *buffer); /* the effective configuration as YAML, without secrets; NULL: 404 */
    void *context;
};

/* Answers every request that waits, and returns how many. Never blocks. Call it each turn, or when mailbox_fd is
 * readable. */
size_t http_owner_serve(struct mailbox *mailbox, const struct http_owner_view *view);

#endif
