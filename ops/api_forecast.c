/* How much comes due when, of this instance's partitions. Owner thread. */
#include <cjson/cJSON.h>
#include <string.h>

#include "base/text.h"
#include "ops/api.h"
#include "ops/daemon_state.h"
#include "ops/http_owner.h"
#include "ops/json.h"

#define BINS_MOST 400
#define WALK_MAX 100000 /* entries that are looked at one by one, of all partitions and targets together: one to three milliseconds. Beyond, they are counted by the slot */
#define SHOWN 200

struct question {
    size_t unit;
    size_t bins;
    size_t source; /* SIZE_MAX: all */
    bool lanes[LANES_MAX];
    double counts[BINS_MOST];
    bool estimated[BINS_MOST];
};

static const char *const unit_names[] = {"minute", "hour", "day", NULL};
static const int64_t unit_ms[] = {60000, 3600000, 86400000};

/* ------------------------------------------------------------------------------------------------- what is asked */

static bool refuse(struct http_request *request, const char *name, struct span value, const char *what)
{
    char shown[SHOWN];
    (void)text_printable(value, shown, sizeof(shown));
    api_answer_problem(request, 400, "bad_parameter", "Bad Request", "%s: \"%s\" is none of this instance's %s (/api/v1/info names them)", name, shown, what);
    return false;
}

static bool read_source(struct http_request *request, const struct daemon *daemon, struct question *question)
{
    struct span name = http_request_query(request, "source");
    question->source = SIZE_MAX;
    for (size_t i = 0; i < daemon->config->source_count; i++) {
        question->source = span_equals_text(name, daemon->config->sources[i].topic) ? i : question->source;
    }
    return name.data == NULL || question->source != SIZE_MAX || refuse(request, "source", name, "sources");
}

static bool read_target(struct http_request *request, const struct daemon *daemon, struct question *question)
{
    struct span name = http_request_query(request, "target");
    bool found = false;
    for (lane_index lane = 0; lane < daemon->lanes.count; lane++) {
        bool built_in = lane == LANES_REFUSED || lane == LANES_UNDECIDED; /* nothing of them is due at a time */
        question->lanes[lane] = !built_in && (name.data == NULL || span_equals_text(name, daemon->lanes.names[lane]));
        found = found || question->lanes[lane];
    }
    return found || refuse(request, "target", name, "targets");
}

static bool read_question(struct http_request *request, const struct daemon *daemon, struct question *question)
{
    static const char *const known[] = {"unit", "count", "source", "target", NULL};
    int unit;
    int64_t count;
    if (!api_parameter_known(request, known) || !api_parameter_choice(request, "unit", unit_names, &unit) ||
        !api_parameter_number(request, "count", 1, BINS_MOST, 24, &count) || !read_source(request, daemon, question) || !read_target(request, daemon, question)) {
        return false;
    }
    question->unit = unit < 0 ? 1 : (size_t)unit;
    question->bins = (size_t)count;
    return true;
}

/* ------------------------------------------------------------------------------------------------- the answer */

/* Shares are spread evenly, so they may be fractions: rounded so that the sum stays. What is exact stays what it is. */
static double next_whole(double *sum, double count)
{
    uint64_t before = (uint64_t)(*sum + 0.5);
    *sum += count;
    return (double)((uint64_t)(*sum + 0.5) - before);
}

static void answer(struct http_request *request, const struct question *question, const struct core_forecast *forecast)
{
    struct cJSON *document = json_object();
    double sum = 0;
    int64_t from_ms = forecast->from_ms;
    json_add_text(document, "unit", unit_names[question->unit]);
    api_answer_add_time(document, "from", from_ms);
    json_add_number(document, "overdue", next_whole(&sum, forecast->before));
    struct cJSON *items = json_add_array(document, "items");
    for (size_t i = 0; i < question->bins; i++) {
        int64_t to_ms = (from_ms / forecast->bin_ms + 1) * forecast->bin_ms;
        struct cJSON *item = json_object_in_array(items);
        api_answer_add_time(item, "from", from_ms);
        json_add_number(item, "to_ms", (double)to_ms);
        json_add_number(item, "count", next_whole(&sum, forecast->counts[i]));
        json_add_bool(item, "exact", !forecast->estimated[i]);
        from_ms = to_ms;
    }
    json_add_number(document, "later", next_whole(&sum, forecast->later));
    json_add_number(document, "paused", next_whole(&sum, forecast->paused));
    api_answer_json(request, 200, document);
}

void api_forecast(struct http_request *request, const struct http_owner_view *view)
{
    const struct daemon *daemon = view->context;
    struct question question = {.bins = 0};
    if (!read_question(request, daemon, &question)) {
        return;
    }
    struct core_forecast forecast = {.from_ms = view->now.wall.ms > 0 ? view->now.wall.ms : 0,
                                     .bin_ms = unit_ms[question.unit],
                                     .bins = question.bins,
                                     .walk_max = WALK_MAX,
                                     .counts = question.counts,
                                     .estimated = question.estimated};
    for (slot_index slot = 0; slot < daemon->partitions.count; slot++) {
        const struct partition *partition = partitions_at(&daemon->partitions, slot);
        if (partition != NULL && partition->gained && (question.source == SIZE_MAX || partition->source_index == question.source)) {
            core_look_forecast(daemon->core, slot, question.lanes, &forecast);
        }
    }
    answer(request, &question, &forecast);
}
