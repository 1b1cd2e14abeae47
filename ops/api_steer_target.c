/* POST /api/v1/targets/{name}/pause and resume: a lane stands still in all partitions of this instance, or goes on. */
#include <cjson/cJSON.h>

#include "ops/api_owner.h"
#include "ops/api_steer_time.h"
#include "ops/api_write.h"
#include "ops/clock.h"
#include "ops/json.h"

static void answer(struct api_write *write, enum steering_result result)
{
    if (result == STEERING_DONE) {
        struct cJSON *document = json_object();
        json_add_text(document, "result", "done");
        api_answer_add_bytes(document, "name", write->subject);
        write->result = "done";
        api_answer_json(write->request, 200, document);
    } else if (result == STEERING_TIMEOUT) {
        api_write_problem(write, 504, "unknown_outcome", "Gateway Timeout", "It is not known whether it was carried out: /api/v1/targets says how it is.", NULL);
    } else {
        api_write_problem(write, 404, "not_found", "Not Found", "There is no such entry of `targets`. A topic goes by the first entry that matches it, else by `default`: /api/v1/targets (`tarry target list`) names them.", NULL);
    }
}

static void steer(struct http_request *request, struct api *api, enum steering_verb verb, const char *action)
{
    static const char *const known[] = {NULL};
    struct api_write write = {.request = request, .api = api, .action = action, .what = "target", .subject = request->parameter};
    struct steering_answer answered;
    struct error error;
    if (!api_parameter_known(request, known) || !api_steer_time_none(request)) {
        return;
    }
    struct steering_wish wish = {.verb = verb, .lane = request->parameter, .timeout_ms = api_write_send_deadline(&write).ms - clock_mono().ms};
    if (api_write_in_time(&write)) {
        if (steering_ask(api->steering, &wish, &answered, &error)) {
            answer(&write, answered.result);
        } else if (error.code == ERROR_INVALID) {
            api_write_problem(&write, 404, "not_found", "Not Found", error.text, NULL);
        } else {
            api_write_unavailable(&write, error.text);
        }
    }
    api_write_end(&write);
}

void api_steer_target_pause(struct http_request *request, struct api *api)
{
    steer(request, api, STEERING_LANE_PAUSE, "target_pause");
}

void api_steer_target_resume(struct http_request *request, struct api *api)
{
    steer(request, api, STEERING_LANE_RESUME, "target_resume");
}
