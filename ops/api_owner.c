#include "ops/api_owner.h"

#include <cjson/cJSON.h>
#include <inttypes.h>
#include <stdio.h>

#include "base/text.h"
#include "bridge/request_sink.h"
#include "ops/clock.h"
#include "ops/json.h"

#define PARTITIONS_WAIT_MS 4000
#define OWNER_WAIT_MS 2000
#define ADDRESS_SIZE 300

int api_owner_left_ms(const struct http_request *request, int most)
{
    int64_t left_ms = request->deadline.ms - clock_mono().ms;
    return left_ms < 0 ? 0 : left_ms < most ? (int)left_ms : most;
}

void api_owner_unavailable(struct http_request *request, const char *why)
{
    api_answer_problem(request, 503, "unavailable", "Service Unavailable", "Nothing was written: %s.", why);
    request->allow_retry_s = "1";
}

/* ------------------------------------------------------------------------------------------------- sources */

static void list_sources(const struct api *api, char *text, size_t size)
{
    size_t used = 0;
    text[0] = '\0';
    for (size_t i = 0; i < api->source_count && used < size; i++) {
        int length = snprintf(text + used, size - used, "%s%s", i == 0 ? "" : ", ", api->sources[i].topic);
        used += length > 0 ? (size_t)length : 0;
    }
}

static size_t find_source(const struct api *api, struct span name)
{
    size_t i = 0;
    while (i < api->source_count && !span_equals_text(name, api->sources[i].topic)) {
        i++;
    }
    return i;
}

static bool can_write(struct http_request *request, const struct api *api, size_t source)
{
    if (!api->sources[source].dialect_tarry) {
        api_answer_problem(request, 422, "source_without_tarry_dialect", "Unprocessable Content",
                           "Source %s does not read tarry's headers, so nothing can be written into it here: add tarry to its dialects in the configuration.",
                           api->sources[source].topic);
    }
    return api->sources[source].dialect_tarry;
}

bool api_owner_source(struct http_request *request, const struct api *api, struct span name, bool all, size_t *source)
{
    char names[256];
    char shown[128];
    list_sources(api, names, sizeof(names));
    if (name.data == NULL && api->source_count == 1) {
        *source = 0;
        return can_write(request, api, 0);
    }
    if (name.data == NULL) {
        *source = API_OWNER_ALL;
        if (!all) {
            api_answer_problem(request, 400, "bad_parameter", "Bad Request", "source: there are several, so say which one: %s.", names);
        }
        return all;
    }
    *source = find_source(api, name);
    if (*source == api->source_count) {
        (void)text_printable(name, shown, sizeof(shown));
        api_answer_problem(request, 404, "not_found", "Not Found", "There is no source \"%s\"; there are: %s.", shown, names);
        return false;
    }
    return can_write(request, api, *source);
}

int32_t api_owner_partitions(struct http_request *request, struct api *api, size_t source)
{
    struct error error;
    int32_t partitions = request_sink_partitions(api->sink, api->sources[source].topic, api_owner_left_ms(request, PARTITIONS_WAIT_MS), &error);
    if (partitions < 1) {
        api_owner_unavailable(request, error.text);
    }
    return partitions;
}

bool api_owner_partition(struct http_request *request, size_t source, bool with_key, int64_t *partition)
{
    if (!api_parameter_number(request, "partition", 0, INT32_MAX, -1, partition)) {
        return false;
    }
    bool good = *partition < 0 || (source != API_OWNER_ALL && !with_key);
    if (!good) {
        api_answer_problem(request, 400, "bad_parameter", "Bad Request", "partition: name its source too, and no key: that says another one.");
    }
    return good;
}

/* ------------------------------------------------------------------------------------------------- owners */

/* Answers. What is nobody's just now, or just becoming ours, or nobody knows whose, is known soon: 503. */
static void answer_elsewhere(struct http_request *request, struct api *api, size_t source, int32_t partition)
{
    char address[ADDRESS_SIZE] = "";
    char detail[512];
    struct error error;
    const char *topic = api->sources[source].topic;
    bool known = request_sink_owner(api->sink, topic, partition, api_owner_left_ms(request, OWNER_WAIT_MS), address, sizeof(address), &error);
    if (!known) {
        api_owner_unavailable(request, error.text);
        return;
    }
    struct cJSON *members = json_object();
    json_add_text(members, "source", topic);
    json_add_number(members, "partition", partition);
    if (address[0] == '\0') {
        (void)cJSON_AddNullToObject(members, "owner");
    } else {
        json_add_text(members, "owner", address);
    }
    (void)snprintf(detail, sizeof(detail), "Nothing was written: partition %" PRId32 " of %s is another instance's%s%s.", partition, topic,
                   address[0] == '\0' ? "; its address is not known, as it has no `advertise`" : ": ask ", address);
    api_answer_problem_with(request, 421, "not_owner", "Misdirected Request", detail, members);
}

const struct api_question_partition *
api_owner_place(struct http_request *request, struct api *api, const struct api_question_here *here, size_t source, int32_t partition)
{
    const struct api_question_partition *place = api_question_find(here, source, partition);
    if (place != NULL && place->open) {
        return place;
    }
    if (place != NULL) {
        char why[400];
        (void)snprintf(why, sizeof(why), "partition %" PRId32 " of %s is being opened or given up, or waits for an operator: /health says which", partition,
                       api->sources[source].topic);
        api_owner_unavailable(request, why);
    } else {
        answer_elsewhere(request, api, source, partition);
    }
    return NULL;
}

void api_owner_add_elsewhere(struct cJSON *list, struct http_request *request, struct api *api, size_t source, int32_t partition, const char *result)
{
    char address[ADDRESS_SIZE] = "";
    struct cJSON *item = json_object_in_array(list);
    json_add_text(item, "topic", api->sources[source].topic);
    json_add_number(item, "partition", partition);
    json_add_text(item, "result", result);
    bool known = request_sink_owner(api->sink, api->sources[source].topic, partition, api_owner_left_ms(request, OWNER_WAIT_MS), address, sizeof(address), NULL);
    if (known && address[0] != '\0') {
        json_add_text(item, "owner", address);
    } else {
        (void)cJSON_AddNullToObject(item, "owner");
    }
}
