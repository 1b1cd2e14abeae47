/* See api_event.h. */
#include "ops/api_event.h"

#include <cjson/cJSON.h>

#include "ops/api.h"
#include "ops/json.h"

static bool is_paused(const struct api_event *event)
{
    return event->row->decoded.paused && event->state == CORE_EVENT_PENDING;
}

static const char *name_of_state(const struct api_event *event)
{
    switch (event->state) {
    case CORE_EVENT_RUNNING:
        return "running";
    case CORE_EVENT_MOVING:
        return "moving";
    case CORE_EVENT_UNDECIDED:
        return "undecided";
    case CORE_EVENT_PENDING:
    case CORE_EVENT_ENDED:
        break;
    }
    return is_paused(event) ? "paused" : "pending";
}

static void add_text(struct cJSON *object, const char *name, struct span text)
{
    api_answer_add_bytes(object, name, text);
}

static void add_no_time(struct cJSON *object)
{
    (void)cJSON_AddNullToObject(object, "due");
    (void)cJSON_AddNullToObject(object, "due_ms");
}

static void add_times(struct cJSON *object, const struct api_event *event)
{
    const struct decoded *decoded = &event->row->decoded;
    if (decoded->paused) {
        add_no_time(object);
        api_answer_add_time(object, "resume_due", decoded->due_ms);
        return;
    }
    if (decoded->undecided || event->state == CORE_EVENT_UNDECIDED) {
        add_no_time(object);
        return;
    }
    api_answer_add_time(object, "due", decoded->due_ms);
    if (event->due_ms > decoded->due_ms) {
        api_answer_add_time(object, "retry_at", event->due_ms);
    }
}

static void add_source(struct cJSON *object, const struct api_event *event)
{
    const struct row *row = event->row;
    struct cJSON *source = json_add_object(object, "source");
    json_add_text(source, "topic", event->topic);
    json_add_number(source, "partition", event->partition);
    json_add_number(source, "offset", (double)row->record.offset);
    json_add_number(object, "root_offset", (double)(row->root >= 0 ? row->root : row->record.offset));
}

static void add_target(struct cJSON *object, const struct api_event *event)
{
    const struct decoded *decoded = &event->row->decoded;
    struct cJSON *target = json_add_object(object, "target");
    add_text(target, "topic", decoded->target);
    if (decoded->partition >= 0) {
        json_add_number(target, "partition", decoded->partition);
    } else {
        (void)cJSON_AddNullToObject(target, "partition");
    }
    json_add_text(target, "lane", event->lane);
}

static void add_recurrence(struct cJSON *object, const struct decoded_recurrence *recurrence)
{
    if (recurrence->kind == DECODE_RECURRENCE_NONE) {
        return;
    }
    struct cJSON *added = json_add_object(object, "recurrence");
    if (recurrence->kind == DECODE_RECURRENCE_CRON) {
        add_text(added, "cron", recurrence->cron);
        add_text(added, "tz", recurrence->zone.data != NULL ? recurrence->zone : span_of_text("UTC"));
    } else {
        json_add_number(added, "every_ms", (double)recurrence->every_ms);
    }
    if (recurrence->until_ms >= 0) {
        api_answer_add_time(added, "until", recurrence->until_ms);
    }
    if (recurrence->count > 0) {
        json_add_number(added, "count_left", (double)(recurrence->count > recurrence->runs ? recurrence->count - recurrence->runs : 0));
    }
}

/* What of a payload is shown already. */
struct shown {
    size_t cost;
    bool cut;
};

static void add_bytes(struct cJSON *object, const char *name, struct span bytes, size_t most, struct shown *shown)
{
    bool cut = bytes.data != NULL && bytes.length > most;
    struct span whole = cut ? SPAN_ABSENT : bytes;
    api_answer_add_bytes(object, name, whole);
    shown->cut = shown->cut || cut;
    shown->cost += whole.length;
}

static bool goes_out(const struct api_event *event, struct span name)
{
    return event->rules != NULL ? !dialect_owned(event->rules->dialects, event->rules->dialect_count, name) : !decode_is_control_header(name);
}

/* False: it has no room. */
static bool add_header(struct cJSON *headers, const struct record_header *header, size_t *left, struct shown *shown)
{
    if (header->name.length > *left) {
        return false;
    }
    size_t before = shown->cost;
    size_t room = *left - header->name.length;
    struct cJSON *added = json_object_in_array(headers);
    add_bytes(added, "name", header->name, *left, shown);
    add_bytes(added, "value", header->value, room < API_EVENT_VALUE_MOST ? room : API_EVENT_VALUE_MOST, shown);
    *left -= shown->cost - before;
    shown->cost += API_EVENT_HEADER_COST;
    return true;
}

/* Those that do not go out take no room, but time. */
static void add_headers(struct cJSON *object, const struct api_event *event, struct shown *shown)
{
    struct cJSON *headers = json_add_array(object, "headers");
    struct span rest = event->row->headers;
    struct record_header header;
    size_t walked = 0;
    size_t count = 0;
    size_t left = API_EVENT_HEADERS_BYTES_MOST;
    bool damaged = false;
    bool room = true;
    while (room && row_next_header(&rest, &header, &damaged)) {
        room = walked++ < API_EVENT_HEADERS_WALKED;
        if (room && goes_out(event, header.name)) {
            room = count++ < API_EVENT_HEADERS_MOST && add_header(headers, &header, &left, shown);
        }
    }
    shown->cut = shown->cut || damaged || !room;
}

static size_t add_payload(struct cJSON *object, const struct api_event *event)
{
    static const char *const policies[] = {
        [CONFIG_PAYLOADS_FULL] = "full", [CONFIG_PAYLOADS_MASKED] = "masked", [CONFIG_PAYLOADS_OFF] = "off"};
    const struct decoded *decoded = &event->row->decoded;
    struct shown shown = {.cost = 0};
    json_add_text(object, "payloads", policies[event->payloads]);
    if (event->payloads == CONFIG_PAYLOADS_OFF) {
        return 0;
    }
    if (decoded->value.data != NULL) {
        json_add_number(object, "value_bytes", (double)decoded->value.length);
    } else {
        (void)cJSON_AddNullToObject(object, "value_bytes");
    }
    if (event->payloads != CONFIG_PAYLOADS_FULL || !event->shows_payload) {
        return 0;
    }
    add_bytes(object, "key", decoded->key, API_EVENT_VALUE_MOST, &shown);
    add_bytes(object, "value", event->lacks_value ? SPAN_ABSENT : decoded->value, API_EVENT_VALUE_MOST, &shown);
    add_headers(object, event, &shown);
    if (shown.cut || event->lacks_headers || (event->lacks_value && decoded->value.data != NULL)) {
        json_add_bool(object, "cut", true);
    }
    return shown.cost;
}

size_t api_event_add(struct cJSON *object, const struct api_event *event)
{
    const struct decoded *decoded = &event->row->decoded;
    add_text(object, "id", decoded->id);
    json_add_text(object, "kind", decoded->recurrence.kind != DECODE_RECURRENCE_NONE ? "schedule" : "message");
    json_add_text(object, "state", name_of_state(event));
    add_times(object, event);
    add_source(object, event);
    add_target(object, event);
    add_recurrence(object, &decoded->recurrence);
    if (decoded->expires_ms >= 0) {
        api_answer_add_time(object, "expires", decoded->expires_ms);
    }
    return add_payload(object, event);
}
