#include "ops/api_audit.h"

#include <cjson/cJSON.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/log.h"
#include "base/memory.h"
#include "base/text.h"
#include "ops/api.h"
#include "ops/json.h"

#define SUBJECT_SIZE 200

struct entry {
    int64_t at_ms;
    char actor[HTTP_REQUEST_ACTOR_SIZE];
    const char *action;
    const char *what;
    bool has_subject;
    char subject[SUBJECT_SIZE];
    const char *result;
};

struct api_audit {
    pthread_mutex_t lock;
    size_t count; /* of all that were ever noted */
    struct entry entries[API_AUDIT_ENTRIES];
};

struct api_audit *api_audit_new(void)
{
    struct api_audit *audit = memory_new(1, sizeof(*audit));
    pthread_mutex_init(&audit->lock, NULL);
    return audit;
}

void api_audit_free(struct api_audit *audit)
{
    if (audit != NULL) {
        pthread_mutex_destroy(&audit->lock);
        free(audit);
    }
}

static void log_entry(const struct entry *entry)
{
    log_write(LOG_LEVEL_INFO, "audit",
              LOG_FIELDS(LOG_TEXT("actor", entry->actor), LOG_TEXT("action", entry->action), LOG_TEXT(entry->what, entry->subject), LOG_TEXT("result", entry->result)),
              "%s asked by HTTP: %s %s", entry->actor, entry->action, entry->result);
}

void api_audit_note(struct api_audit *audit, struct wall_ms at, const char *actor, const char *action, const char *what, struct span subject, const char *result)
{
    struct entry entry = {.at_ms = at.ms, .action = action, .what = what, .has_subject = subject.data != NULL, .result = result};
    (void)text_printable(span_of_text(actor), entry.actor, sizeof(entry.actor));
    (void)text_printable(subject, entry.subject, sizeof(entry.subject));
    pthread_mutex_lock(&audit->lock);
    audit->entries[audit->count % API_AUDIT_ENTRIES] = entry;
    audit->count++;
    pthread_mutex_unlock(&audit->lock);
    log_entry(&entry);
}

static void add_entry(struct cJSON *items, const struct entry *entry)
{
    struct cJSON *item = json_object_in_array(items);
    api_answer_add_time(item, "at", entry->at_ms);
    json_add_text(item, "actor", entry->actor);
    json_add_text(item, "action", entry->action);
    if (entry->has_subject) {
        json_add_text(item, entry->what, entry->subject);
    } else {
        (void)cJSON_AddNullToObject(item, entry->what);
    }
    json_add_text(item, "result", entry->result);
}

struct cJSON *api_audit_json(struct api_audit *audit)
{
    struct entry *entries = memory_new(API_AUDIT_ENTRIES, sizeof(*entries));
    struct cJSON *document = json_object();
    struct cJSON *items = json_add_array(document, "items");
    pthread_mutex_lock(&audit->lock); /* for the copy alone: making JSON takes milliseconds */
    size_t count = audit->count < API_AUDIT_ENTRIES ? audit->count : API_AUDIT_ENTRIES;
    for (size_t i = 0; i < count; i++) {
        entries[i] = audit->entries[(audit->count - 1 - i) % API_AUDIT_ENTRIES];
    }
    pthread_mutex_unlock(&audit->lock);
    for (size_t i = 0; i < count; i++) {
        add_entry(items, &entries[i]);
    }
    free(entries);
    return document;
}

void api_audit_list(struct http_request *request, struct api *api)
{
    static const char *const known[] = {NULL};
    if (api_parameter_known(request, known)) {
        api_answer_json(request, 200, api_audit_json(api->audit));
    }
}
