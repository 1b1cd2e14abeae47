/* See daemon_api_list.h. */
#include "ops/daemon_api_list.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/memory.h"
#include "ops/daemon_state.h"
#include "ops/http_owner.h"

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

static enum core_event_state judge(const struct daemon *daemon, const struct partition *partition, const struct daemon_api_list_judged *item)
{
    lane_index lane;
    if (partition == NULL || !partition->gained || !lanes_find(&daemon->lanes, item->lane, &lane)) {
        return CORE_EVENT_ENDED;
    }
    return core_look_row(daemon->core, partition->slot, lane, item->key);
}

/* Rows of one partition mostly stand together. */
static void run_judge(struct owner_call *call, const struct http_owner_view *view)
{
    struct daemon_api_list_judge *question = (struct daemon_api_list_judge *)call;
    const struct daemon *daemon = view->context;
    const struct partition *partition = NULL;
    for (size_t i = 0; i < question->count; i++) {
        struct daemon_api_list_judged *item = &question->items[i];
        if (i == 0 || api_list_place_compare(&item->place, &question->items[i - 1].place) != 0) {
            partition = partitions_find(&daemon->partitions, item->place.topic, item->place.partition);
        }
        item->state = judge(daemon, partition, item);
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
