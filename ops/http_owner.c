/* Answers made in the owner thread: see http_owner.h. */
#include "ops/http_owner.h"

#include "ops/clock.h"
#include "ops/http_problem.h"
#include "ops/http_request.h"
#include "ops/json.h"

static void answer_live(struct http_request *request)
{
    request->status = 200;
    buffer_add_text(&request->body, HTTP_PROBLEM_LIVE_TEXT);
}

static void answer_ready(struct http_request *request, const struct http_owner_view *view)
{
    request->status = health_ready(view->health) ? 200 : 503;
    health_readiness_json(view->health, &request->body);
}

static void answer_health(struct http_request *request, const struct http_owner_view *view)
{
    request->status = health_ready(view->health) ? 200 : 503;
    health_json(view->health, &request->body);
}

static void take_counts(struct metrics *metrics, const struct http_request_counts *counts)
{
    for (size_t method = 0; method < METRICS_METHODS; method++) {
        for (size_t status = 0; status < METRICS_STATUSES; status++) {
            metrics_set_total(metrics, METRIC_HTTP_REQUESTS, method, status, (double)counts->answered[method][status]);
        }
    }
}

static void answer_metrics(struct http_request *request, const struct http_owner_view *view)
{
    take_counts(view->metrics, &request->counts);
    metrics_process_update(view->metrics);
    request->status = 200;
    request->content_type = METRICS_RENDER_CONTENT_TYPE;
    metrics_render_text(view->metrics, &request->body);
}

static void add_if_known(struct cJSON *object, const char *name, const char *text)
{
    if (text != NULL) {
        json_add_text(object, name, text);
    }
}

static void add_list(struct cJSON *object, const char *name, const char *const *texts, size_t count)
{
    struct cJSON *array = json_add_array(object, name);
    for (size_t i = 0; i < count; i++) {
        json_add_text_in_array(array, texts[i]);
    }
}

static void answer_info(struct http_request *request, const struct http_owner_view *view)
{
    const struct http_owner_info *info = view->info;
    struct cJSON *document = json_object();
    json_add_text(document, "service", "tarry");
    json_add_text(document, "version", TARRY_VERSION);
    add_if_known(document, "instance", info->instance);
    add_if_known(document, "group", info->group);
    add_if_known(document, "cluster_id", info->cluster_id);
    add_if_known(document, "delivery", info->delivery);
    add_list(document, "sources", info->sources, info->source_count);
    add_list(document, "targets", info->targets, info->target_count);
    char time[CLOCK_TEXT_SIZE];
    (void)clock_text(info->started, time, sizeof(time));
    json_add_text(document, "started", time);
    (void)clock_text(view->now.wall, time, sizeof(time));
    json_add_text(document, "timestamp", time);
    request->status = 200;
    json_print(document, &request->body);
}

static void answer_problem(struct http_request *request, enum http_problem problem)
{
    buffer_clear(&request->body);
    request->status = http_problem_status(problem);
    request->content_type = HTTP_PROBLEM_CONTENT_TYPE;
    http_problem_json(problem, &request->body);
}

static void answer_config(struct http_request *request, const struct http_owner_view *view)
{
    if (view->config_text == NULL) {
        answer_problem(request, HTTP_PROBLEM_NOT_FOUND);
        return;
    }
    request->status = 200;
    request->content_type = "application/yaml";
    view->config_text(view->context, &request->body);
}

static void answer(struct http_request *request, const struct http_owner_view *view)
{
    switch (request->kind) {
    case HTTP_REQUEST_LIVE:
        answer_live(request);
        break;
    case HTTP_REQUEST_READY:
        answer_ready(request, view);
        break;
    case HTTP_REQUEST_HEALTH:
        answer_health(request, view);
        break;
    case HTTP_REQUEST_METRICS:
        answer_metrics(request, view);
        break;
    case HTTP_REQUEST_INFO:
        answer_info(request, view);
        break;
    case HTTP_REQUEST_CONFIG:
        answer_config(request, view);
        break;
    }
    if (request->body.full) {
        answer_problem(request, HTTP_PROBLEM_TOO_LARGE);
    }
}

size_t http_owner_serve(struct mailbox *mailbox, const struct http_owner_view *view)
{
    size_t count = 0;
    for (;;) {
        struct mailbox_ticket *ticket = mailbox_take(mailbox);
        if (ticket == NULL) {
            return count;
        }
        if (count == 0 && view->refresh != NULL) {
            view->refresh(view->context);
        }
        answer(mailbox_payload(ticket), view);
        mailbox_answer(ticket);
        count++;
    }
}
