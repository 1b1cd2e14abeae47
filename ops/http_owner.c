/* Answers made in the owner thread: see http_owner.h. */
#include "ops/http_owner.h"

#include "ops/clock.h"
#include "ops/http_problem.h"
#include "ops/http_request.h"
#include "ops/http_route.h"
#include "ops/json.h"

static void refresh(const struct http_owner_view *view)
{
    if (view->refresh != NULL) {
        view->refresh(view->context);
    }
}

void http_owner_live(struct http_request *request, const struct http_owner_view *view)
{
    (void)view;
    request->status = 200;
    buffer_add_text(&request->body, HTTP_PROBLEM_LIVE_TEXT);
}

void http_owner_ready(struct http_request *request, const struct http_owner_view *view)
{
    refresh(view);
    request->status = health_ready(view->health) ? 200 : 503;
    health_readiness_json(view->health, &request->body);
}

void http_owner_health(struct http_request *request, const struct http_owner_view *view)
{
    refresh(view);
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

void http_owner_metrics(struct http_request *request, const struct http_owner_view *view)
{
    refresh(view);
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

void http_owner_info(struct http_request *request, const struct http_owner_view *view)
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

void http_owner_config(struct http_request *request, const struct http_owner_view *view)
{
    if (view->config_text == NULL) {
        answer_problem(request, HTTP_PROBLEM_NOT_FOUND);
        return;
    }
    request->status = 200;
    request->content_type = "application/yaml";
    view->config_text(view->context, &request->body);
}

void http_owner_check(struct http_request *request)
{
    if (request->body.full) {
        answer_problem(request, HTTP_PROBLEM_TOO_LARGE);
    }
}

void http_owner_run(struct owner_call *call, const struct http_owner_view *view)
{
    struct http_request *request = (struct http_request *)call; /* its first member */
    request->route->owner(request, view);
    http_owner_check(request);
}

/* Who asks again as soon as it is answered would keep the owner here for good: what is due comes first. */
static bool has_time(int64_t begun_ms)
{
    return clock_mono().ms - begun_ms < HTTP_OWNER_SERVE_MS;
}

size_t http_owner_serve(struct mailbox *mailbox, const struct http_owner_view *view)
{
    size_t count = 0;
    int64_t begun_ms = clock_mono().ms;
    struct mailbox_ticket *ticket = NULL;
    while (count < HTTP_OWNER_SERVE_MOST && (count == 0 || has_time(begun_ms)) && (ticket = mailbox_take(mailbox)) != NULL) {
        struct owner_call *call = mailbox_payload(ticket);
        call->run(call, view);
        mailbox_answer(ticket);
        count++;
    }
    return count;
}
