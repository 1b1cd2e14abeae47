/* How much there is, of this instance, in one document: what /metrics says, summed up for a person. Owner thread. */
#include <cjson/cJSON.h>
#include <math.h>

#include "ops/api.h"
#include "ops/clock_kernel.h"
#include "ops/daemon_state.h"
#include "ops/http_owner.h"
#include "ops/json.h"

static double value_of(const struct metrics *metrics, enum metrics_id id, size_t first, size_t second)
{
    double value = metrics_value(metrics, id, first, second);
    return isnan(value) ? 0 : value;
}

/* Over all values of its labels. */
static double sum_of(const struct metrics *metrics, enum metrics_id id, enum metrics_label first, enum metrics_label second)
{
    double sum = 0;
    for (size_t i = 0; i < metrics_label_count(metrics, first); i++) {
        for (size_t j = 0; j < metrics_label_count(metrics, second); j++) {
            sum += value_of(metrics, id, i, j);
        }
    }
    return sum;
}

static double by_source(const struct metrics *metrics, enum metrics_id id)
{
    return sum_of(metrics, id, METRICS_LABEL_SOURCE, METRICS_LABEL_NONE);
}

static double by_target(const struct metrics *metrics, enum metrics_id id)
{
    return sum_of(metrics, id, METRICS_LABEL_TARGET, METRICS_LABEL_NONE);
}

static void add_due(struct cJSON *document, const char *name, const char *name_ms, const struct metrics *metrics, enum metrics_id id)
{
    double seconds = metrics_value(metrics, id, 0, 0);
    int64_t due_ms = isnan(seconds) ? -1 : (int64_t)(seconds * 1000 + 0.5);
    if (due_ms < 0 || due_ms >= RECURRENCE_LAST_MS) { /* what is paused is not due */
        (void)cJSON_AddNullToObject(document, name);
        (void)cJSON_AddNullToObject(document, name_ms);
    } else {
        api_answer_add_time(document, name, due_ms);
    }
}

static void add_pending(struct cJSON *document, const struct metrics *metrics)
{
    double in_memory = 0;
    for (size_t i = 0; i < metrics_label_count(metrics, METRICS_LABEL_SOURCE); i++) {
        in_memory += value_of(metrics, METRIC_PENDING, i, METRICS_TIER_MEMORY);
    }
    json_add_number(document, "pending", sum_of(metrics, METRIC_PENDING, METRICS_LABEL_SOURCE, METRICS_LABEL_TIER));
    json_add_number(document, "pending_bytes", by_source(metrics, METRIC_PENDING_BYTES));
    json_add_number(document, "in_memory", in_memory);
    json_add_number(document, "in_flight", by_target(metrics, METRIC_IN_FLIGHT));
    json_add_number(document, "overdue", by_target(metrics, METRIC_OVERDUE));
    add_due(document, "next_due", "next_due_ms", metrics, METRIC_NEXT_DUE);
    add_due(document, "last_due", "last_due_ms", metrics, METRIC_LAST_DUE);
}

static void add_totals(struct cJSON *document, const struct daemon *daemon)
{
    const struct metrics *metrics = daemon->metrics;
    json_add_number(document, "read", by_source(metrics, METRIC_RECORDS_READ));
    json_add_number(document, "refused", sum_of(metrics, METRIC_RECORDS_REFUSED, METRICS_LABEL_SOURCE, METRICS_LABEL_REASON));
    json_add_number(document, "delivered", by_target(metrics, METRIC_DELIVERED));
    json_add_number(document, "delivered_per_s", recent_rate_per_s(&daemon->outcomes.delivered, daemon->now.mono.ms));
    json_add_number(document, "delivered_per_s_over_s", RECENT_RATE_S);
    json_add_number(document, "cancelled", by_source(metrics, METRIC_CANCELLED));
    json_add_number(document, "replaced", by_source(metrics, METRIC_REPLACED));
    json_add_number(document, "letters", sum_of(metrics, METRIC_LETTERS, METRICS_LABEL_TARGET, METRICS_LABEL_REASON));
}

static void add_bound(struct cJSON *object, const char *name, const struct metrics *metrics, double quantile)
{
    double bound_s = metrics_quantile(metrics, METRIC_LATENESS_SECONDS, quantile);
    if (isfinite(bound_s)) {
        json_add_number(object, name, bound_s * 1000);
    } else {
        (void)cJSON_AddNullToObject(object, name);
    }
}

/* Of a histogram nothing finer is known than the bucket: each is the upper bound of the one in which it lies; null: nothing was delivered, or beyond the last bound. */
static void add_lateness(struct cJSON *document, const struct metrics *metrics)
{
    struct cJSON *lateness = json_add_object(document, "lateness");
    add_bound(lateness, "p50_ms", metrics, 0.5);
    add_bound(lateness, "p99_ms", metrics, 0.99);
    add_bound(lateness, "max_bucket_ms", metrics, 1);
    json_add_bool(lateness, "upper_bounds", true);
}

static void add_source(struct cJSON *array, const struct daemon *daemon, size_t index)
{
    struct cJSON *item = json_object_in_array(array);
    json_add_text(item, "topic", daemon->config->sources[index].topic);
    json_add_number(item, "pending", value_of(daemon->metrics, METRIC_PENDING, index, METRICS_TIER_MEMORY) + value_of(daemon->metrics, METRIC_PENDING, index, METRICS_TIER_DISK));
    json_add_number(item, "intake_lag", value_of(daemon->metrics, METRIC_INTAKE_LAG, index, 0));
    struct cJSON *partitions = json_add_array(item, "partitions");
    for (slot_index slot = 0; slot < daemon->partitions.count; slot++) {
        const struct partition *partition = partitions_at(&daemon->partitions, slot);
        if (partition != NULL && partition->gained && partition->source_index == index) {
            (void)cJSON_AddItemToArray(partitions, cJSON_CreateNumber(partition->number));
        }
    }
}

static void add_clock(struct cJSON *document)
{
    struct clock_kernel sync = clock_kernel_read();
    struct cJSON *clock = json_add_object(document, "clock");
    if (sync.known) {
        json_add_bool(clock, "synchronised", sync.synchronised);
        json_add_number(clock, "offset_s", sync.offset_seconds);
    } else {
        (void)cJSON_AddNullToObject(clock, "synchronised");
        (void)cJSON_AddNullToObject(clock, "offset_s");
    }
}

void api_stats(struct http_request *request, const struct http_owner_view *view)
{
    static const char *const known[] = {NULL};
    const struct daemon *daemon = view->context;
    if (!api_parameter_known(request, known)) {
        return;
    }
    view->refresh(view->context);
    int64_t up_s = (view->now.wall.ms - daemon->started_wall_ms) / 1000;
    struct cJSON *document = json_object();
    json_add_number(document, "uptime_s", up_s > 0 ? (double)up_s : 0);
    add_pending(document, daemon->metrics);
    add_totals(document, daemon);
    add_lateness(document, daemon->metrics);
    struct cJSON *store = json_add_object(document, "store");
    json_add_number(store, "used_bytes", value_of(daemon->metrics, METRIC_STORE_USED_BYTES, 0, 0));
    json_add_number(store, "max_bytes", value_of(daemon->metrics, METRIC_STORE_MAX_BYTES, 0, 0));
    struct cJSON *sources = json_add_array(document, "sources");
    for (size_t i = 0; i < daemon->config->source_count; i++) {
        add_source(sources, daemon, i);
    }
    add_clock(document);
    api_answer_json(request, 200, document);
}
