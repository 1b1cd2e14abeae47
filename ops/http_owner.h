/* The owner thread's side of HTTP: runs what waits in the mailbox (ops/owner_call.h), and what it answers itself of health, metrics and the configuration. Knows nothing of
 * sockets. */
#ifndef TARRY_OPS_HTTP_OWNER_H
#define TARRY_OPS_HTTP_OWNER_H

#include "base/buffer.h"
#include "base/time_types.h"
#include "ops/health.h"
#include "ops/http_request.h"
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
    void (*refresh)(void *context); /* brings metrics and health up to date, for those who look at them: O(partitions * lanes); NULL: they are */
    void (*config_text)(void *context,
                        struct buffer *buffer); /* the effective configuration as YAML, without secrets; NULL: 404 */
    void *context;
};

#define HTTP_OWNER_SERVE_MOST 64 /* calls of one turn */
#define HTTP_OWNER_SERVE_MS 10   /* and after so long none is begun; one is in any case */

/* Runs calls that wait, in their order, within these bounds, and returns how many. What is left keeps mailbox_fd readable: call it each turn, or when that is so. Never blocks. */
size_t http_owner_serve(struct mailbox *mailbox, const struct http_owner_view *view);

/* The `run` of a request: its route's `owner`. */
void http_owner_run(struct owner_call *call, const struct http_owner_view *view);

/* An answer that is larger than the server sends becomes a problem. Called by whoever has let a handler answer: owner and workers. */
void http_owner_check(struct http_request *request);

/* Handlers, for the table in http_route.c. */
void http_owner_live(struct http_request *request, const struct http_owner_view *view);
void http_owner_ready(struct http_request *request, const struct http_owner_view *view);
void http_owner_health(struct http_request *request, const struct http_owner_view *view);
void http_owner_metrics(struct http_request *request, const struct http_owner_view *view);
void http_owner_info(struct http_request *request, const struct http_owner_view *view);
void http_owner_config(struct http_request *request, const struct http_owner_view *view);

#endif
