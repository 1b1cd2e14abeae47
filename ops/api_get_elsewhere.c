/* See api_get_elsewhere.h. */
#include "ops/api_get_elsewhere.h"

#include <cjson/cJSON.h>
#include <string.h>

#include "bridge/request_sink.h"
#include "ops/api.h"
#include "ops/clock.h"
#include "ops/json.h"

#define ADDRESS_SIZE 300
#define ASK_MS 2000

struct looking {
    struct api *api;
    const struct api_list_place *here;
    size_t here_count;
    struct mono_ms deadline;
    bool silent; /* the group's coordinator did not answer: it is not asked again */
    struct cJSON *array;
    struct api_get_elsewhere found;
};

static int left_ms(const struct looking *looking)
{
    int64_t left = looking->deadline.ms - clock_mono().ms;
    return left <= 0 || api_stopping(looking->api) ? 0 : left < ASK_MS ? (int)left : ASK_MS;
}

static bool is_here(const struct looking *looking, const char *topic, int32_t partition)
{
    bool found = false;
    for (size_t i = 0; i < looking->here_count && !found; i++) {
        found = looking->here[i].partition == partition && strcmp(looking->here[i].topic, topic) == 0;
    }
    return found;
}

static void add_owner(struct looking *looking, struct cJSON *item, const char *topic, int32_t partition)
{
    char address[ADDRESS_SIZE];
    struct error error;
    int timeout_ms = looking->silent ? 0 : left_ms(looking);
    if (timeout_ms == 0) {
        return;
    }
    if (!request_sink_owner(looking->api->sink, topic, partition, timeout_ms, address, sizeof(address), &error)) {
        looking->silent = error.code != ERROR_NOT_FOUND;
    } else if (address[0] != '\0') {
        json_add_text(item, "owner", address);
    }
}

static void look_at_source(struct looking *looking, const char *topic)
{
    struct error error;
    int timeout_ms = looking->api->sink == NULL ? 0 : left_ms(looking);
    int32_t partitions = timeout_ms == 0 ? 0 : request_sink_partitions(looking->api->sink, topic, timeout_ms, &error);
    looking->found.unknown = looking->found.unknown || partitions <= 0;
    for (int32_t partition = 0; partition < partitions; partition++) {
        if (is_here(looking, topic, partition)) {
            continue;
        }
        if (looking->found.count++ < API_GET_ELSEWHERE_MOST) {
            struct cJSON *item = json_object_in_array(looking->array);
            json_add_text(item, "topic", topic);
            json_add_number(item, "partition", partition);
            add_owner(looking, item, topic, partition);
        }
    }
}

struct api_get_elsewhere
api_get_elsewhere(struct api *api, struct cJSON *object, const char *topic, const struct api_list_place *here, size_t here_count, struct mono_ms deadline)
{
    struct looking looking = {.api = api, .here = here, .here_count = here_count, .deadline = deadline, .array = json_add_array(object, "elsewhere")};
    for (size_t i = 0; i < api->source_count; i++) {
        if (topic == NULL || strcmp(topic, api->sources[i].topic) == 0) {
            look_at_source(&looking, api->sources[i].topic);
        }
    }
    return looking.found;
}
