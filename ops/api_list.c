/*
 * Lists: messages (what comes once) and schedules (what comes again), page by page.
 *
 * A page is made in rounds: the walk finds candidates in the checkpoint, the owner says which of them are still to come, and those are shown; while too few are
 * left, the walk goes on behind the last one. No snapshot is held while the owner is asked.
 */
#include <assert.h>
#include <cjson/cJSON.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "ops/api.h"
#include "ops/api_event.h"
#include "ops/api_list_query.h"
#include "ops/api_list_walk.h"
#include "ops/clock.h"
#include "ops/daemon_api_list.h"
#include "ops/json.h"

#define ENOUGH_MS 2000                       /* then a page is as it is, if it says anything */
#define GIVE_UP_MS 20000
#define ANSWER_MS 1000                       /* of the request's time, left for the owner and the answer */
#define PAGE_BYTES_MOST ((size_t)16 << 20)   /* of payloads that are shown (api_event_add): a page ends there */
#define CANDIDATES_MOST 2000                 /* of one round */

/* A page under way. */
struct list {
    struct http_request *request;
    struct api *api;
    struct api_list_query query;
    struct api_list_walk walk;
    struct api_list_place *places; /* open here */
    size_t place_count;
    struct cJSON *document;
    struct cJSON *items;
    size_t shown;
    size_t bytes;
    size_t spare;                  /* candidates of the next round beyond those that are wanted: some have ended since the checkpoint */
    bool ended;                    /* the page is done: `next` says what comes after it */
    bool has_next;
    bool complete;
    struct api_list_cursor next;
    /* The item that is being shown: */
    const struct api_list_item *item;
    enum core_event_state state;
    const char *lane;
    bool damaged;
    struct error *error;
};

/* Candidates of one round, and what the owner says of them. */
struct round {
    struct api_list_page page;
    struct daemon_api_list_judge **questions;
    size_t question_count;
};

static bool answer_error(const struct list *list, const struct error *error)
{
    bool stopping = api_stopping(list->api);
    if (error->code == ERROR_CORRUPT || error->code == ERROR_TOO_NEW) {
        api_answer_problem(list->request, 500, "unreadable", "Internal Server Error", "Something stored does not read back: %s", error->text);
        return false;
    }
    api_answer_problem(list->request, 503, stopping ? "stopping" : "unavailable", "Service Unavailable", "%s",
                       stopping ? "The scheduler is stopping." : error->text);
    list->request->allow_retry_s = "1";
    return false;
}

static bool answer_too_much(const struct list *list)
{
    api_answer_problem(list->request, 503, "too_much_to_look_through", "Service Unavailable",
                       "This page needs more looked through than %d s are enough for: narrow it with partition, source, lane, due_from and due_to (target, id_prefix and "
                       "state only say what is shown of it)",
                       GIVE_UP_MS / 1000);
    return false;
}

static bool is_stopping(void *context)
{
    return api_stopping(context);
}

/* ------------------------------------------------------------------------------------------------- the owner */

static bool ask_places(struct list *list, struct error *error)
{
    struct daemon_api_list_open *question = daemon_api_list_open_new();
    if (!api_ask(list->api, question, daemon_api_list_open_free, list->request->deadline, error)) {
        return answer_error(list, error);
    }
    list->places = question->places;
    list->place_count = question->count;
    question->places = NULL;
    daemon_api_list_open_free(question);
    api_list_place_sort(list->places, list->place_count);
    return true;
}

/* All that the owner needs to know, while the snapshot is there. */
static void make_questions(struct list *list, struct round *round)
{
    size_t count = round->page.count;
    round->question_count = (count + DAEMON_API_LIST_JUDGED_MAX - 1) / DAEMON_API_LIST_JUDGED_MAX;
    round->questions = memory_new(round->question_count, sizeof(struct daemon_api_list_judge *));
    for (size_t i = 0; i < count; i++) {
        const struct api_list_item *item = &round->page.items[i];
        struct daemon_api_list_judge **question = &round->questions[i / DAEMON_API_LIST_JUDGED_MAX];
        *question = *question != NULL ? *question : daemon_api_list_judge_new();
        struct daemon_api_list_judged *judged = &(*question)->items[(*question)->count++];
        judged->place = list->places[item->place];
        (void)snprintf(judged->lane, sizeof(judged->lane), "%s", api_list_walk_lane(&list->walk, item));
        judged->key = (struct key){item->due_ms, item->offset};
    }
}

static bool ask_states(struct list *list, struct round *round, struct error *error)
{
    for (size_t i = 0; i < round->question_count; i++) {
        if (!api_ask(list->api, round->questions[i], daemon_api_list_judge_free, list->request->deadline, error)) {
            round->questions[i] = NULL; /* whoever has it last frees it */
            return answer_error(list, error);
        }
    }
    return true;
}

static void free_round(struct round *round)
{
    for (size_t i = 0; i < round->question_count; i++) {
        free(round->questions[i]);
    }
    free(round->questions);
    api_list_page_free(&round->page);
}

/* ------------------------------------------------------------------------------------------------- what is shown */

static const struct decode_rules *rules_of(const struct api *api, const char *topic)
{
    for (size_t i = 0; i < api->source_count; i++) {
        if (strcmp(api->sources[i].topic, topic) == 0) {
            return api->sources[i].rules;
        }
    }
    return NULL;
}

static bool show_row(const struct store_browse_row *found, void *context)
{
    struct list *list = context;
    const struct api_list_place *place = &list->places[list->item->place];
    struct row row;
    if (!row_decode(found->bytes, &row, list->error)) {
        list->damaged = true;
        return true;
    }
    struct api_event event = {.row = &row,
                              .topic = place->topic,
                              .partition = place->partition,
                              .due_ms = found->due_ms,
                              .lane = list->lane,
                              .state = list->state,
                              .rules = rules_of(list->api, place->topic),
                              .payloads = list->api->payloads,
                              .shows_payload = list->query.payload};
    list->bytes += api_event_add(json_object_in_array(list->items), &event);
    list->shown++;
    return true;
}

static bool is_wanted(const struct list *list, enum core_event_state state)
{
    bool running = state == CORE_EVENT_RUNNING;
    return state != CORE_EVENT_ENDED && !(running && list->query.filter.state != API_LIST_STATE_ANY);
}

/* False: something of it does not read. */
static bool show_item(struct list *list, struct round *round, size_t index, struct error *error)
{
    const struct daemon_api_list_judge *question = round->questions[index / DAEMON_API_LIST_JUDGED_MAX];
    assert(question != NULL); /* else one of them was not answered, and nothing is shown */
    const struct daemon_api_list_judged *judged = &question->items[index % DAEMON_API_LIST_JUDGED_MAX];
    if (!is_wanted(list, judged->state)) {
        return true;
    }
    list->item = &round->page.items[index];
    list->state = judged->state;
    list->lane = judged->lane;
    list->error = error;
    return api_list_walk_find(&list->walk, list->item, show_row, list, error) && !list->damaged;
}

/* ------------------------------------------------------------------------------------------------- rounds */

static void end_with(struct list *list, bool has_next, const struct api_list_cursor *next, bool complete)
{
    list->ended = true;
    list->has_next = has_next;
    list->complete = complete;
    list->next = has_next ? *next : API_LIST_CURSOR_BEGIN;
}

/* What the page's last one is followed by. */
static void conclude(struct list *list, struct round *round, size_t looked_at, enum api_list_walk_result result)
{
    struct api_list_cursor last = looked_at > 0 ? api_list_walk_cursor(&list->walk, &round->page.items[looked_at - 1]) : list->query.after;
    bool enough = list->shown >= list->query.limit || list->bytes >= PAGE_BYTES_MOST;
    if (enough && (looked_at < round->page.count || result != API_LIST_WALK_ALL)) {
        end_with(list, true, &last, true);
    } else if (result == API_LIST_WALK_ALL) {
        end_with(list, false, NULL, true);
    } else if (result == API_LIST_WALK_PART) {
        struct api_list_cursor certain = {list->walk.certain_ms, API_LIST_CURSOR_BEGIN.place, -1};
        end_with(list, true, &certain, false);
    } else {
        list->query.after = last; /* too few were still to come: on behind them */
    }
}

static bool show_round(struct list *list, struct round *round, enum api_list_walk_result result, struct error *error)
{
    make_questions(list, round);
    api_list_walk_rest(&list->walk);
    if (!ask_states(list, round, error)) {
        return false;
    }
    if (!api_list_walk_renew(&list->walk, error)) {
        return answer_error(list, error);
    }
    size_t index = 0;
    for (; index < round->page.count && list->shown < list->query.limit && list->bytes < PAGE_BYTES_MOST; index++) {
        if (!show_item(list, round, index, error)) {
            return answer_error(list, error);
        }
    }
    conclude(list, round, index, result);
    return true;
}

/* Where many have ended, rounds become larger: each looks through the same buckets. */
static size_t candidates(struct list *list)
{
    size_t count = list->query.limit - list->shown + list->spare;
    list->spare *= 2;
    return count < CANDIDATES_MOST ? count : CANDIDATES_MOST;
}

static bool make_round(struct list *list, struct error *error)
{
    struct round round = {.page = api_list_page_new(candidates(list))};
    enum api_list_walk_result result = api_list_walk_round(&list->walk, &list->query.after, &round.page, error);
    bool done = false;
    switch (result) {
    case API_LIST_WALK_FULL:
    case API_LIST_WALK_ALL:
    case API_LIST_WALK_PART:
        done = show_round(list, &round, result, error);
        break;
    case API_LIST_WALK_TOO_MUCH:
        done = answer_too_much(list);
        break;
    case API_LIST_WALK_STOPPED:
    case API_LIST_WALK_FAILED:
        done = answer_error(list, error);
        break;
    }
    free_round(&round);
    return done;
}

static bool open_walk(struct list *list, struct error *error)
{
    int64_t now_ms = clock_mono().ms;
    int64_t latest_ms = list->request->deadline.ms - ANSWER_MS;
    struct api_list_walk_options options = {.store = list->api->store,
                                            .places = list->places,
                                            .place_count = list->place_count,
                                            .filter = &list->query.filter,
                                            .enough_ms = now_ms + ENOUGH_MS,
                                            .end_ms = now_ms + GIVE_UP_MS < latest_ms ? now_ms + GIVE_UP_MS : latest_ms,
                                            .slice_ms = API_LIST_WALK_SLICE_MS,
                                            .slice_rows = API_LIST_WALK_SLICE_ROWS,
                                            .stopping = is_stopping,
                                            .context = list->api};
    return api_list_walk_open(&list->walk, &options, error) || answer_error(list, error);
}

static bool fill(struct list *list)
{
    struct error error = {0};
    if (!ask_places(list, &error) || !open_walk(list, &error)) {
        return false;
    }
    list->spare = list->query.limit / 8 + 16;
    while (!list->ended) {
        if (!make_round(list, &error)) {
            return false;
        }
        if (!list->ended && clock_mono().ms >= list->walk.options.enough_ms) { /* hardly anything of the checkpoint is still to come: as far as we came */
            end_with(list, true, &list->query.after, false);
        }
    }
    return true;
}

static void add_end(struct list *list, int64_t now_ms)
{
    char text[API_LIST_CURSOR_TEXT_SIZE];
    if (list->has_next) {
        api_list_cursor_text(&list->next, text);
        json_add_text(list->document, "next_cursor", text);
    } else {
        (void)cJSON_AddNullToObject(list->document, "next_cursor");
    }
    json_add_bool(list->document, "complete", list->complete);
    api_answer_add_time(list->document, "as_of", now_ms);
}

static void answer(struct http_request *request, struct api *api, bool schedules)
{
    int64_t now_ms = clock_wall().ms;
    struct list list = {.request = request, .api = api};
    if (!api_list_query_read(request, api, schedules, now_ms, &list.query)) {
        return;
    }
    list.document = json_object();
    list.items = json_add_array(list.document, "items");
    bool done = fill(&list);
    api_list_walk_close(&list.walk);
    if (done) {
        add_end(&list, now_ms);
        api_answer_json(request, 200, list.document);
    } else {
        cJSON_Delete(list.document);
    }
    free(list.places);
}

void api_list_messages(struct http_request *request, struct api *api)
{
    answer(request, api, false);
}

void api_list_schedules(struct http_request *request, struct api *api)
{
    answer(request, api, true);
}
