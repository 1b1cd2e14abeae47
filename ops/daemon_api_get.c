/* See daemon_api_get.h. */
#include "ops/daemon_api_get.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "ops/daemon_state.h"
#include "ops/http_owner.h"

static struct api_list_place place_of(const struct partition *partition)
{
    struct api_list_place place = {.partition = partition->number};
    (void)snprintf(place.topic, sizeof(place.topic), "%s", partition->topic);
    return place;
}

/* ------------------------------------------------------------------------------------------------- what is pending */

/* What it found: the least place first, and what is moving last, as it may be what another partition has by now. */
static bool comes_before(const struct daemon_api_get *question, const struct api_list_place *place, const struct core_event *event)
{
    bool moving = event->state == CORE_EVENT_MOVING;
    bool was_moving = question->event.state == CORE_EVENT_MOVING;
    return moving != was_moving ? was_moving : api_list_place_compare(place, &question->at) < 0;
}

static void add_also(struct daemon_api_get *question, const struct api_list_place *place)
{
    if (question->also == NULL) {
        question->also = memory_new(DAEMON_API_GET_ALSO, sizeof(*question->also));
    }
    if (question->also_count < DAEMON_API_GET_ALSO) {
        question->also[question->also_count++] = *place;
    }
}

/* True: it comes before what was found so far. */
static bool take(struct daemon_api_get *question, const struct api_list_place *place, const struct core_event *event)
{
    if (question->found && !comes_before(question, place, event)) {
        add_also(question, place);
        return false;
    }
    if (question->found) {
        add_also(question, &question->at);
    }
    question->found = true;
    question->at = *place;
    question->event = *event;
    return true;
}

/* True: it is what is to be told of now. */
static bool look_by_id(struct daemon *daemon, const struct partition *partition, struct daemon_api_get *question)
{
    struct stored_event stored;
    struct api_list_place place = place_of(partition);
    struct core_event event;
    if (!daemon_ids_look(daemon, partition, question->hash, &stored, &question->failure)) {
        return false;
    }
    return core_look_id(daemon->core, partition->slot, question->hash, &stored, &event) && take(question, &place, &event);
}

static void note_unready(const struct daemon *daemon, const struct partition *partition, struct daemon_api_get *question)
{
    struct core_slot_stats stats = {.caught_up = false};
    if (partition->gained) {
        core_slot_stats(daemon->core, partition->slot, &stats);
    }
    bool awaited = partition->gained || partition->state == PARTITIONS_OPENING;
    if (awaited && !stats.caught_up && question->unready == NULL) {
        question->unready = memory_new(1, sizeof(*question->unready));
        *question->unready = place_of(partition);
    }
}

static bool is_asked_for(const struct partition *partition, const struct daemon_api_get *question)
{
    return partition != NULL && (question->topic[0] == '\0' || strcmp(question->topic, partition->topic) == 0);
}

/* One partition; true: what it has is to be told of now. */
static bool look_into(struct daemon *daemon, const struct partition *partition, struct daemon_api_get *question)
{
    note_unready(daemon, partition, question);
    if (!partition->gained) {
        return false;
    }
    question->here[question->here_count++] = place_of(partition);
    return look_by_id(daemon, partition, question);
}

/* True: something was found that is to be told of, so its row is taken in this very turn. */
static bool look(struct daemon *daemon, struct daemon_api_get *question)
{
    size_t looked = 0;
    bool newer = false;
    question->here = memory_resize(question->here, question->here_count + DAEMON_API_GET_AT_ONCE, sizeof(*question->here));
    while (question->from < daemon->partitions.count && looked < DAEMON_API_GET_AT_ONCE && question->failure.code == ERROR_NONE) {
        const struct partition *partition = partitions_at(&daemon->partitions, question->from++);
        if (is_asked_for(partition, question)) {
            newer = look_into(daemon, partition, question) || newer;
            looked++;
        }
    }
    question->done = question->from >= daemon->partitions.count || question->failure.code != ERROR_NONE;
    return newer;
}

static void look_by_place(struct daemon *daemon, struct daemon_api_get *question)
{
    const struct partition *partition = partitions_find(&daemon->partitions, question->at.topic, question->at.partition);
    question->found = partition != NULL && partition->gained && core_look_offset(daemon->core, partition->slot, question->offset, &question->event);
}

/* ------------------------------------------------------------------------------------------------- its row */

static void forget_row(struct daemon_api_get *question)
{
    free(question->row);
    free(question->brief);
    question->row = NULL;
    question->brief = NULL;
    question->row_length = 0;
    question->lane[0] = '\0';
}

static void copy_row(struct daemon_api_get *question)
{
    struct span bytes = arena_row(question->event.ref);
    if (bytes.length > DAEMON_API_GET_ROW_MOST) {
        question->brief = api_row_brief_new(bytes, &question->failure);
        return;
    }
    question->row_length = bytes.length;
    question->row = memory_new(bytes.length + 1, 1);
    memcpy(question->row, bytes.data, bytes.length);
}

/* Of what was found in this turn. */
static void take_row(const struct daemon *daemon, struct daemon_api_get *question)
{
    forget_row(question);
    if (question->event.lane < daemon->lanes.count) {
        (void)snprintf(question->lane, sizeof(question->lane), "%s", daemon->lanes.names[question->event.lane]);
    }
    if (question->event.ref != 0) {
        copy_row(question);
    }
}

/* ------------------------------------------------------------------------------------------------- the past */

static struct span keep(struct span from, uint8_t **to)
{
    if (from.data == NULL) {
        return SPAN_ABSENT;
    }
    struct span kept = {*to, from.length};
    memcpy(*to, from.data, from.length);
    *to += from.length;
    return kept;
}

/* Spans of the history are borrowed: its texts are copied. */
static void keep_history(struct daemon_api_get *question)
{
    size_t length = 1; /* so that what is empty has bytes to point to */
    for (size_t i = 0; i < question->history_count; i++) {
        length += question->history[i].source_topic.length + question->history[i].target.length;
    }
    uint8_t *to = question->history_texts = memory_new(length, 1);
    for (size_t i = 0; i < question->history_count; i++) {
        struct history_event *event = &question->history[i];
        event->id = (struct span){question->id, question->id_length};
        event->source_topic = keep(event->source_topic, &to);
        event->target = keep(event->target, &to);
    }
}

static void take_history(const struct daemon *daemon, struct daemon_api_get *question)
{
    struct history_event events[4 * DAEMON_API_GET_HISTORY]; /* those of other topics do not count */
    struct span id = {question->id, question->id_length};
    size_t count = history_state(daemon->outcomes.history, id, events, sizeof(events) / sizeof(events[0]));
    for (size_t i = 0; i < count && question->history_count < DAEMON_API_GET_HISTORY; i++) {
        if (question->topic[0] == '\0' || span_equals_text(events[i].source_topic, question->topic)) {
            question->history[question->history_count++] = events[i];
        }
    }
    keep_history(question);
}

/* ------------------------------------------------------------------------------------------------- the question */

static void run(struct owner_call *call, const struct http_owner_view *view)
{
    struct daemon_api_get *question = (struct daemon_api_get *)call;
    struct daemon *daemon = view->context;
    bool newer;
    question->started_ms = daemon->started_wall_ms;
    question->no_cluster = daemon->cluster[0] == '\0';
    question->done = true;
    if (question->no_cluster) {
        return;
    }
    if (question->offset >= 0) {
        look_by_place(daemon, question);
        newer = question->found;
    } else {
        question->hash = daemon_ids_hash(daemon, (struct span){question->id, question->id_length});
        newer = look(daemon, question);
    }
    if (newer) {
        take_row(daemon, question);
    }
    if (question->done && question->offset < 0) { /* at last: what ended meanwhile is there */
        take_history(daemon, question);
    }
}

struct daemon_api_get *daemon_api_get_new(struct span id, const char *topic)
{
    struct daemon_api_get *question = memory_new(1, sizeof(*question));
    question->call.run = run;
    question->id = memory_new(id.length + 1, 1);
    memcpy(question->id, id.data, id.length);
    question->id_length = id.length;
    (void)snprintf(question->topic, sizeof(question->topic), "%s", topic == NULL ? "" : topic);
    question->offset = -1;
    return question;
}

void daemon_api_get_free(void *question)
{
    struct daemon_api_get *get = question;
    if (get == NULL) {
        return;
    }
    free(get->id);
    free(get->row);
    free(get->brief);
    free(get->also);
    free(get->here);
    free(get->unready);
    free(get->history_texts);
    free(get);
}
