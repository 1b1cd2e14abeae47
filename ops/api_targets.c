/* The targets as this instance has them: how much waits for each, its limits as they are in force, and whether it stands still. Owner thread. */
#include <cjson/cJSON.h>

#include "ops/api.h"
#include "ops/daemon_state.h"
#include "ops/http_owner.h"
#include "ops/json.h"

struct sums {
    uint64_t pending;
    uint64_t in_flight;
    uint64_t overdue;
    int64_t oldest_due_ms;
    uint64_t paused; /* partitions in which it is */
    uint64_t held;   /* in which it waits after a failure */
    uint64_t partitions;
};

static struct sums sum_up(const struct daemon *daemon, lane_index lane)
{
    struct sums sums = {.oldest_due_ms = TIME_NEVER};
    for (slot_index slot = 0; slot < daemon->partitions.count; slot++) {
        const struct partition *partition = partitions_at(&daemon->partitions, slot);
        if (partition == NULL || !partition->gained) {
            continue;
        }
        struct core_queue_stats stats;
        core_queue_stats(daemon->core, slot, lane, daemon->now, &stats);
        sums.pending += stats.pending;
        sums.in_flight += stats.in_flight;
        sums.overdue += stats.overdue;
        sums.oldest_due_ms = stats.oldest_due_ms < sums.oldest_due_ms ? stats.oldest_due_ms : sums.oldest_due_ms;
        sums.paused += stats.paused;
        sums.held += stats.held;
        sums.partitions++;
    }
    return sums;
}

/* Where it is paused in all partitions nothing can fail. */
static const char *state_of(const struct sums *sums)
{
    if (sums->paused > 0 && sums->paused == sums->partitions) {
        return "paused";
    }
    return sums->held > 0 ? "failing" : sums->paused > 0 ? "paused_in_part" : "running";
}

static void add_limits(struct cJSON *item, const struct core_lane_options *limits)
{
    if (limits->rate_per_s > 0) {
        json_add_number(item, "rate_per_s", limits->rate_per_s);
    } else {
        (void)cJSON_AddNullToObject(item, "rate_per_s");
    }
    json_add_number(item, "max_in_flight", limits->max_in_flight);
}

static void add_match(struct cJSON *item, const struct daemon *daemon, lane_index lane)
{
    if (lane >= LANES_BUILT_IN && lane < daemon->lanes.configured) {
        json_add_text(item, "match", daemon->config->targets[lane - LANES_BUILT_IN].match);
    } else {
        (void)cJSON_AddNullToObject(item, "match");
    }
    if (lane >= daemon->lanes.configured) {
        json_add_bool(item, "retired", true); /* of an earlier configuration: what is left of it leaves */
    }
}

static void add_target(struct cJSON *array, const struct daemon *daemon, lane_index lane)
{
    struct sums sums = sum_up(daemon, lane);
    struct core_lane_options limits = lanes_options(&daemon->lanes, daemon->config, lane);
    int64_t age_ms = sums.oldest_due_ms == TIME_NEVER ? 0 : daemon->now.wall.ms - sums.oldest_due_ms;
    struct cJSON *item = json_object_in_array(array);
    json_add_text(item, "name", daemon->lanes.names[lane]);
    add_match(item, daemon, lane);
    json_add_text(item, "state", state_of(&sums));
    json_add_number(item, "paused_partitions", (double)sums.paused);
    json_add_number(item, "partitions", (double)sums.partitions);
    json_add_number(item, "pending", (double)sums.pending);
    json_add_number(item, "in_flight", (double)sums.in_flight);
    json_add_number(item, "overdue", (double)sums.overdue);
    json_add_number(item, "oldest_overdue_s", age_ms > 0 ? (double)age_ms / 1000 : 0);
    add_limits(item, &limits);
    json_add_number(item, "delivered", metrics_value(daemon->metrics, METRIC_DELIVERED, lane, 0));
}

void api_targets_list(struct http_request *request, const struct http_owner_view *view)
{
    static const char *const known[] = {NULL};
    const struct daemon *daemon = view->context;
    if (!api_parameter_known(request, known)) {
        return;
    }
    struct cJSON *document = json_object();
    struct cJSON *items = json_add_array(document, "items");
    for (lane_index lane = 0; lane < daemon->lanes.count; lane++) {
        if (lane != LANES_REFUSED && lane != LANES_UNDECIDED) {
            add_target(items, daemon, lane);
        }
    }
    api_answer_json(request, 200, document);
}
