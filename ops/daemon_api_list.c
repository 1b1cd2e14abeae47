/* See daemon_api_list.h. */
#include "ops/daemon_api_list.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "ops/daemon_state.h"
#include "ops/http_owner.h"

_Static_assert(DAEMON_API_LIST_JUDGED_MAX <= CORE_LOOK_ROWS_MAX, "a question is asked of the core at once");

static void run_open(struct owner_call *call, const struct http_owner_view *view)
{
    struct daemon_api_list_open *question = (struct daemon_api_list_open *)call;
    const struct daemon *daemon = view->context;
    question->places = memory_new(daemon->partitions.count, sizeof(*question->places));
    for (slot_index slot = 0; slot < daemon->partitions.count; slot++) {
        const struct partition *partition = partitions_at(&daemon->partitions, slot);
        if (partition != NULL && partition->gained && partition->state != PARTITIONS_LEAVING) {
            struct api_list_place *place = &question->places[question->count++];
            (void)snprintf(place->topic, sizeof(place->topic), "%s", partition->topic);
            place->partition = partition->number;
        }
    }
}

struct daemon_api_list_open *daemon_api_list_open_new(void)
{
    struct daemon_api_list_open *question = memory_new(1, sizeof(*question));
    question->call.run = run_open;
    return question;
}

void daemon_api_list_open_free(void *question)
{
    struct daemon_api_list_open *open = question;
    free(open->places);
    free(open);
}

static bool is_alike(const struct daemon_api_list_judged *a, const struct daemon_api_list_judged *b)
{
    return a->place.partition == b->place.partition && strcmp(a->lane, b->lane) == 0 && strcmp(a->place.topic, b->place.topic) == 0;
}

/* Those of a partition and lane are asked for together: where late ones are under way that is as cheap as one of them. */
static void judge_alike(const struct daemon *daemon, struct daemon_api_list_judge *question, size_t first, bool *judged)
{
    struct daemon_api_list_judged *items = question->items;
    const struct partition *partition = partitions_find(&daemon->partitions, items[first].place.topic, items[first].place.partition);
    lane_index lane;
    bool here = partition != NULL && partition->gained && lanes_find(&daemon->lanes, items[first].lane, &lane);
    size_t places[DAEMON_API_LIST_JUDGED_MAX];
    struct key keys[DAEMON_API_LIST_JUDGED_MAX];
    enum core_event_state states[DAEMON_API_LIST_JUDGED_MAX];
    size_t count = 0;
    for (size_t i = first; i < question->count; i++) {
        if (!judged[i] && is_alike(&items[i], &items[first])) {
            judged[i] = true;
            items[i].state = CORE_EVENT_ENDED;
            places[count] = i;
            keys[count++] = items[i].key;
        }
    }
    if (here) {
        core_look_rows(daemon->core, partition->slot, lane, keys, count, states);
    }
    for (size_t i = 0; here && i < count; i++) {
        items[places[i]].state = states[i];
    }
}

static void run_judge(struct owner_call *call, const struct http_owner_view *view)
{
    struct daemon_api_list_judge *question = (struct daemon_api_list_judge *)call;
    bool judged[DAEMON_API_LIST_JUDGED_MAX] = {false};
    for (size_t i = 0; i < question->count; i++) {
        if (!judged[i]) {
            judge_alike(view->context, question, i, judged);
        }
    }
}

struct daemon_api_list_judge *daemon_api_list_judge_new(void)
{
    struct daemon_api_list_judge *question = memory_new(1, sizeof(*question));
    question->call.run = run_judge;
    return question;
}

void daemon_api_list_judge_free(void *question)
{
    free(question);
}
