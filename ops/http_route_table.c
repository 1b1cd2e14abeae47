/* The table of http_route.h. */
#include "ops/api.h"
#include "ops/http_owner.h"
#include "ops/http_route.h"

#define READ(path, handler, meaning) {METRICS_METHOD_GET, path, HTTP_ACCESS_READ, HTTP_ANSWERER_READER, API_READ_WAIT_MS, NULL, handler, meaning}
#define WRITE(method, path, handler, meaning)                                                                                                    \
    {METRICS_METHOD_##method, path, HTTP_ACCESS_WRITE, HTTP_ANSWERER_WRITER, API_WRITE_WAIT_MS, NULL, handler, meaning}
#define LOOK(path, handler, meaning) {METRICS_METHOD_GET, path, HTTP_ACCESS_READ, HTTP_ANSWERER_LETTERS, API_READ_WAIT_MS, NULL, handler, meaning}
#define TELL(path, handler, meaning) {METRICS_METHOD_POST, path, HTTP_ACCESS_WRITE, HTTP_ANSWERER_LETTERS, API_WRITE_WAIT_MS, NULL, handler, meaning}
#define ASK(path, handler, meaning) {METRICS_METHOD_GET, path, HTTP_ACCESS_READ, HTTP_ANSWERER_OWNER, 0, handler, NULL, meaning}

/* One row for each method of a path, rows of one path together; docs/http.md has the same rows in the same order, which a test holds it to. Rows with {parameter} stand behind
 * those of the same shape without one. */
static const struct http_route routes[] = {
    {METRICS_METHOD_GET, "/livez", HTTP_ACCESS_OPEN, HTTP_ANSWERER_OWNER, 0, http_owner_live, NULL,
     "200 `{\"status\":\"UP\"}` while the process works, else 503. Never about a broker: an orchestrator may kill by it"},
    {METRICS_METHOD_GET, "/healthz", HTTP_ACCESS_OPEN, HTTP_ANSWERER_OWNER, 0, http_owner_live, NULL, "as `/livez`"},
    {METRICS_METHOD_GET, "/readyz", HTTP_ACCESS_OPEN, HTTP_ANSWERER_OWNER, 0, http_owner_ready, NULL,
     "200 `{\"status\":\"ready\",\"reasons\":[]}`, or 503 with `reasons: [{component, code, message}]`; not ready while loading"},
    {METRICS_METHOD_GET, "/health", HTTP_ACCESS_OPEN, HTTP_ANSWERER_OWNER, 0, http_owner_health, NULL,
     "`{\"status\",\"components\":{name:{\"status\",\"details\"}},\"timestamp\"}`; 200 when `UP`, else 503"},
    {METRICS_METHOD_GET, "/status", HTTP_ACCESS_OPEN, HTTP_ANSWERER_OWNER, 0, http_owner_health, NULL, "as `/health`"},
    {METRICS_METHOD_GET, "/metrics", HTTP_ACCESS_OPEN, HTTP_ANSWERER_OWNER, 0, http_owner_metrics, NULL,
     "Prometheus text format: [metrics.md](metrics.md)"},
    {METRICS_METHOD_GET, "/api/v1/info", HTTP_ACCESS_READ, HTTP_ANSWERER_OWNER, 0, http_owner_info, NULL,
     "version, instance, group, cluster id (once known), delivery, sources, targets, start"},
    {METRICS_METHOD_GET, "/api/v1/config", HTTP_ACCESS_READ, HTTP_ANSWERER_OWNER, 0, http_owner_config, NULL,
     "the effective configuration as YAML, without secrets"},
    {METRICS_METHOD_GET, "/api/v1/events", HTTP_ACCESS_READ, HTTP_ANSWERER_STREAM, 0, NULL, NULL,
     "outcomes as they happen, as server-sent events: [below](#events)"},
    READ("/api/v1/messages", api_list_messages, "what is to leave once, in order of time, page by page: [lists](#lists)"),
    WRITE(POST, "/api/v1/messages", api_schedule_message, "schedules a message: 201 with its id and when it is due"),
    READ("/api/v1/messages/{id}", api_get_message, "one event, by its id or by topic%2Fpartition%2Foffset: how it stands, and what became of it"),
    WRITE(DELETE, "/api/v1/messages/{id}", api_cancel, "cancels what is pending of that id; `key` says in which partition to look first"),
    WRITE(POST, "/api/v1/messages/{id}/run-now", api_steer_run_now, "has it leave at once"),
    WRITE(POST, "/api/v1/messages/{id}/reschedule", api_steer_reschedule, "has it due at another time: `{\"at\": ...}` or `{\"in\": ...}`"),
    WRITE(POST, "/api/v1/messages/{id}/pause", api_steer_pause, "keeps it until it is resumed"),
    WRITE(POST, "/api/v1/messages/{id}/resume", api_steer_resume, "has what was paused go on, at the time that it had"),
    READ("/api/v1/schedules", api_list_schedules, "what comes again, by the time of its next run; as for messages"),
    WRITE(POST, "/api/v1/schedules", api_schedule_recurring, "as for messages, with `cron` or `every`: it comes again"),
    READ("/api/v1/schedules/{id}", api_get_schedule, "as for messages"),
    WRITE(DELETE, "/api/v1/schedules/{id}", api_cancel, "as for messages"),
    WRITE(POST, "/api/v1/schedules/{id}/run-now", api_steer_run_now, "as for messages"),
    WRITE(POST, "/api/v1/schedules/{id}/reschedule", api_steer_reschedule, "as for messages: its next occurrence"),
    WRITE(POST, "/api/v1/schedules/{id}/pause", api_steer_pause, "as for messages"),
    WRITE(POST, "/api/v1/schedules/{id}/resume", api_steer_resume, "as for messages"),
    ASK("/api/v1/targets", api_targets_list, "the targets: what waits for each, its limits, whether it stands still"),
    WRITE(POST, "/api/v1/targets/{name}/pause", api_steer_target_pause, "nothing leaves for that target from this instance until it is resumed, restarts included"),
    WRITE(POST, "/api/v1/targets/{name}/resume", api_steer_target_resume, "has it go on"),
    ASK("/api/v1/forecast", api_forecast, "how much comes due in each minute, hour or day"),
    ASK("/api/v1/stats", api_stats, "how much there is: pending, delivered, late, the store, the clock"),
    READ("/api/v1/audit", api_audit_list,
         "the latest 1,000 changes that were asked for here since the start: who, what, with which result"),

    LOOK("/api/v1/dlq/letters", api_letters_list, "dead letters, waiting ones first, page by page: [dead letters](#dead-letters)"),
    LOOK("/api/v1/dlq/letters/{id}", api_letters_get, "one of them whole, by its id or its schedule id"),
    LOOK("/api/v1/dlq/reasons", api_letters_reasons, "what fails how often: by reason, error, target, source or hour"),
    LOOK("/api/v1/dlq/jobs", api_jobs_list, "replays, parkings and purges that were begun, and how far they are"),
    TELL("/api/v1/dlq/jobs/{id}/pause", api_jobs_pause, "the process that runs it stops in good order"),
    TELL("/api/v1/dlq/jobs/{id}/cancel", api_jobs_cancel, "the same as pause, for good"),
    ASK("/api/v1/openapi.yaml", api_openapi, "this API as OpenAPI 3.1"),
};

const struct http_route *http_route_all(size_t *count)
{
    *count = sizeof(routes) / sizeof(routes[0]);
    return routes;
}
