/* See api_question.h. What runs in the owner thread is here too: the functions named `run_...` and what they call. */
#include "ops/api_question.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "bridge/refusal.h"
#include "bridge/time_text.h"
#include "ops/daemon_state.h"
#include "ops/http_owner.h"

/* ------------------------------------------------------------------------------------------------- what is here */

struct here_question {
    struct owner_call call;
    bool open;
    char trouble[512];
    struct api_question_here here;
};

static void free_here(void *question)
{
    struct here_question *asked = question;
    api_question_here_free(&asked->here);
    free(asked);
}

static bool is_open(const struct partition *partition)
{
    return partition->gained && partition->state == PARTITIONS_OPEN;
}

static void run_here(struct owner_call *call, const struct http_owner_view *view)
{
    struct here_question *question = (struct here_question *)call;
    const struct daemon *daemon = view->context;
    question->open = !daemon->stopping && (daemon->connected || daemon->trouble[0] == '\0'); /* who has no partition has not heard of Kafka, perhaps: it may well be there */
    snprintf(question->trouble, sizeof(question->trouble), "%s",
             daemon->stopping ? "tarry is stopping" : daemon->trouble);
    question->here.items = memory_new(daemon->partitions.count, sizeof(*question->here.items));
    for (slot_index slot = 0; slot < daemon->partitions.count; slot++) {
        const struct partition *partition = partitions_at(&daemon->partitions, slot);
        if (partition != NULL) {
            question->here.items[question->here.count++] =
                (struct api_question_partition){partition->source_index, partition->number, slot, partition->epoch, is_open(partition)};
        }
    }
}

bool api_question_here(struct api *api, struct mono_ms deadline, struct api_question_here *here, struct error *error)
{
    struct here_question *question = memory_new(1, sizeof(*question));
    question->call.run = run_here;
    if (!api_ask(api, question, free_here, deadline, error)) {
        return false;
    }
    if (!question->open) {
        error_set(error, ERROR_UNAVAILABLE, "%s", question->trouble);
        free_here(question);
        return false;
    }
    *here = question->here;
    free(question);
    return true;
}

void api_question_here_free(struct api_question_here *here)
{
    free(here->items);
    *here = (struct api_question_here){0};
}

const struct api_question_partition *api_question_find(const struct api_question_here *here, size_t source, int32_t number)
{
    for (size_t i = 0; i < here->count; i++) {
        if (here->items[i].source == source && here->items[i].number == number) {
            return &here->items[i];
        }
    }
    return NULL;
}

/* What the store has of an id cannot be read: whoever asked is told, and nothing ends. */
static bool fail(struct error *error, const struct error *failure, mailbox_free_fn *free_question, void *question)
{
    error_set(error, ERROR_CORRUPT, "%s", failure->text);
    free_question(question);
    return false;
}

/* ------------------------------------------------------------------------------------------------- before a write */

struct begin_question {
    struct owner_call call;
    struct request_watch *watch;
    bool taken; /* the owner has its share of the watch */
    bool recurs;
    bool look_first;
    bool own_id;
    struct error failure;   /* ERROR_NONE: none */
    struct decoded decoded; /* recurrence alone; its texts are the two below */
    char cron[DECODE_CRON_MAX];
    char zone[DECODE_ZONE_MAX];
    struct api_question_begin answer;
};

static void free_begin(void *question)
{
    struct begin_question *asked = question;
    if (!asked->taken) {
        request_watch_drop(asked->watch);
    }
    request_watch_drop(asked->watch);
    free(asked);
}

static bool all_open(const struct daemon *daemon, struct request_watch *watch)
{
    size_t count;
    const struct request_watch_place *places = request_watch_places(watch, &count);
    for (size_t i = 0; i < count; i++) {
        const struct partition *partition = partitions_at(&daemon->partitions, places[i].slot);
        if (partition == NULL || partition->epoch != places[i].epoch || !is_open(partition)) {
            return false;
        }
    }
    return !daemon->stopping;
}

/* One header of a row, looked for. */
struct word_search {
    struct span word;
    bool found;
};

static void look_for_word(void *context, const struct row *row)
{
    struct word_search *search = context;
    struct span rest = row->headers;
    struct record_header header;
    bool damaged = false;
    while (!search->found && row_next_header(&rest, &header, &damaged)) {
        search->found = span_equals_text(header.name, "tarry-request") && span_equal(header.value, search->word);
    }
}

static int64_t due_of(const struct core_event *event)
{
    bool known = event->state != CORE_EVENT_UNDECIDED && event->key.due_ms != DUE_SINCE_EVER && event->key.due_ms != TIME_TEXT_LAST_MS;
    return known ? event->key.due_ms : -1;
}

/* True: it needs no writing, or not now, or nobody can say (failure). */
static bool is_there(struct daemon *daemon, struct begin_question *question)
{
    size_t count;
    struct core_event event;
    struct span id = request_watch_id(question->watch);
    const struct partition *partition = partitions_at(&daemon->partitions, request_watch_places(question->watch, &count)[0].slot);
    struct record_id hash = daemon_ids_hash(daemon, id);
    struct stored_event found;
    struct word_search search = {request_watch_word(question->watch), false};
    struct api_question_begin *answer = &question->answer;
    if (!daemon_ids_look(daemon, partition, hash, &found, &question->failure)) {
        return true;
    }
    if (core_look_id(daemon->core, partition->slot, hash, &found, &event)) {
        bool read = daemon_watch_row(daemon, partition, &event, look_for_word, &search);
        answer->result = read ? API_QUESTION_THERE : API_QUESTION_MOVING;
        answer->offset = event.root;
        answer->due_ms = due_of(&event);
        return !read || search.found;
    }
    if (question->own_id && daemon_watch_past(daemon, partition, id, &answer->due_ms) != REQUEST_WATCH_NOT_FOUND) {
        answer->result = API_QUESTION_THERE;
        answer->due_ms = -1;
        return true;
    }
    return false;
}

/* Also whether this host has the zone: at intake nobody asks that, as each instance must read a record alike. */
static bool has_sense(struct daemon *daemon, struct begin_question *question)
{
    struct error error = {0};
    const struct zone *zone;
    struct span name = question->decoded.recurrence.zone;
    if (!question->recurs) {
        return true;
    }
    if (!daemon_schedules_check(daemon, &question->decoded, &question->answer.refusal)) {
        return false;
    }
    return name.data == NULL || zones_get(daemon->zones, name, daemon->now.mono, &zone, &error) ||
           refusal_set(&question->answer.refusal, REFUSAL_BAD_SCHEDULE, "header tarry-tz is %s: %s", refusal_show(name).text, error.text);
}

static void run_begin(struct owner_call *call, const struct http_owner_view *view)
{
    struct begin_question *question = (struct begin_question *)call;
    struct daemon *daemon = view->context;
    struct api_question_begin *answer = &question->answer;
    if (!all_open(daemon, question->watch)) {
        answer->result = API_QUESTION_GONE;
    } else if (question->look_first && is_there(daemon, question)) {
        return;
    } else if (!has_sense(daemon, question)) {
        answer->result = API_QUESTION_REFUSED;
    } else {
        question->taken = daemon_watch_add(daemon, question->watch);
        answer->result = question->taken ? API_QUESTION_BEGUN : API_QUESTION_FULL;
    }
}

static void copy_recurrence(struct begin_question *question, const struct decoded_recurrence *recurrence)
{
    struct decoded_recurrence *copy = &question->decoded.recurrence;
    question->recurs = recurrence != NULL && recurrence->kind != DECODE_RECURRENCE_NONE;
    if (!question->recurs) {
        return;
    }
    *copy = *recurrence;
    if (recurrence->cron.data != NULL && recurrence->cron.length <= sizeof(question->cron)) {
        memcpy(question->cron, recurrence->cron.data, recurrence->cron.length);
        copy->cron.data = (const uint8_t *)question->cron;
    }
    if (recurrence->zone.data != NULL && recurrence->zone.length <= sizeof(question->zone)) {
        memcpy(question->zone, recurrence->zone.data, recurrence->zone.length);
        copy->zone.data = (const uint8_t *)question->zone;
    }
}

static struct request_watch *make_watch(const struct api_question_write *write)
{
    struct request_watch_place *places = memory_new(write->count, sizeof(*places));
    for (size_t i = 0; i < write->count; i++) {
        places[i] = (struct request_watch_place){
            .slot = write->places[i]->slot, .epoch = write->places[i]->epoch, .partition = write->places[i]->number, .source = write->places[i]->source};
    }
    struct request_watch *watch = request_watch_new(write->word, write->id, places, write->count);
    free(places);
    return watch;
}

bool api_question_begin(struct api *api, const struct api_question_write *write, struct mono_ms deadline, struct api_question_begin *begin, struct error *error)
{
    struct begin_question *question = memory_new(1, sizeof(*question));
    question->call.run = run_begin;
    question->watch = make_watch(write);
    question->look_first = write->look_first && write->id.data != NULL;
    question->own_id = write->own_id;
    question->answer.offset = -1;
    question->answer.due_ms = -1;
    copy_recurrence(question, write->recurrence);
    if (!api_ask(api, question, free_begin, deadline, error)) {
        return false;
    }
    if (question->failure.code != ERROR_NONE) {
        return fail(error, &question->failure, free_begin, question);
    }
    *begin = question->answer;
    begin->watch = NULL;
    if (begin->result == API_QUESTION_BEGUN) {
        begin->watch = question->watch;
        free(question);
    } else {
        free_begin(question);
    }
    return true;
}

/* ------------------------------------------------------------------------------------------------- when it is due */

struct due_question {
    struct owner_call call;
    size_t source;
    int32_t partition;
    char *id;
    size_t id_length;
    int64_t due_ms;
    bool moving;
    struct error failure; /* ERROR_NONE: none */
};

static void free_due(void *question)
{
    struct due_question *asked = question;
    free(asked->id);
    free(asked);
}

static void run_due(struct owner_call *call, const struct http_owner_view *view)
{
    struct due_question *question = (struct due_question *)call;
    struct daemon *daemon = view->context;
    struct core_event event;
    struct record_id hash = daemon_ids_hash(daemon, (struct span){(const uint8_t *)question->id, question->id_length});
    for (slot_index slot = 0; slot < daemon->partitions.count; slot++) {
        const struct partition *partition = partitions_at(&daemon->partitions, slot);
        if (partition == NULL || partition->source_index != question->source || partition->number != question->partition || !is_open(partition)) {
            continue;
        }
        struct stored_event found;
        if (daemon_ids_look(daemon, partition, hash, &found, &question->failure) && core_look_id(daemon->core, slot, hash, &found, &event)) {
            question->moving = event.state == CORE_EVENT_MOVING;
            question->due_ms = question->moving ? -1 : due_of(&event);
        }
    }
}

bool api_question_due(struct api *api, size_t source, int32_t partition, struct span id, struct mono_ms deadline, int64_t *due_ms, bool *moving, struct error *error)
{
    struct due_question *question = memory_new(1, sizeof(*question));
    question->call.run = run_due;
    question->source = source;
    question->partition = partition;
    question->id = memory_text(id.data, id.length);
    question->id_length = id.length;
    question->due_ms = -1;
    if (!api_ask(api, question, free_due, deadline, error)) {
        return false;
    }
    if (question->failure.code != ERROR_NONE) {
        return fail(error, &question->failure, free_due, question);
    }
    *due_ms = question->due_ms;
    *moving = question->moving;
    free_due(question);
    return true;
}
