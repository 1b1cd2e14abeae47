/*
 * What a list asks the owner: which partitions are open here, and how it stands with the rows of a page.
 *
 * Questions for api_ask: they own all that they have, as whoever asked may have gone. `run` is of the owner thread, everything else of the worker that asks.
 */
#ifndef TARRY_OPS_DAEMON_API_LIST_H
#define TARRY_OPS_DAEMON_API_LIST_H

#include "ops/api_list_place.h"
#include "ops/owner_call.h"
#include "scheduler/core.h"
#include "scheduler/metadata.h"

#define DAEMON_API_LIST_JUDGED_MAX 100 /* rows of one question: so that it ends soon */

struct daemon_api_list_open {
    struct owner_call call;
    struct api_list_place *places; /* after the run: those whose events this instance has, in no order */
    size_t count;
};

struct daemon_api_list_open *daemon_api_list_open_new(void);
void daemon_api_list_open_free(void *question); /* a mailbox_free_fn */

struct daemon_api_list_judged {
    struct api_list_place place;
    char lane[METADATA_LANE_NAME_MAX + 1];
    struct key key;
    enum core_event_state state; /* after the run; of a partition that is not here any more, or an unknown lane: ENDED */
};

struct daemon_api_list_judge {
    struct owner_call call;
    struct daemon_api_list_judged items[DAEMON_API_LIST_JUDGED_MAX]; /* in the order of their keys, those of one partition and lane; each once */
    size_t count;
};

struct daemon_api_list_judge *daemon_api_list_judge_new(void);
void daemon_api_list_judge_free(void *question); /* a mailbox_free_fn */

#endif
