/* See api_open.h. */
#include "ops/api_open.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "bridge/request_sink.h"
#include "ops/api.h"
#include "ops/api_audit.h"
#include "ops/api_idempotency.h"
#include "ops/api_letters_link.h"
#include "ops/api_pool.h"
#include "ops/daemon_state.h"

static bool has_dialect_tarry(const struct config_source *source)
{
    for (size_t i = 0; i < source->dialects.count; i++) {
        if (strcmp(source->dialects.items[i], "tarry") == 0) {
            return true;
        }
    }
    return false;
}

static void copy_sources(struct api *api, const struct daemon *daemon)
{
    const struct config *config = daemon->config;
    api->sources = memory_new(config->source_count, sizeof(*api->sources));
    api->source_count = config->source_count;
    for (size_t i = 0; i < config->source_count; i++) {
        const char *topic = config->sources[i].topic;
        api->sources[i] = (struct api_source){memory_text(topic, strlen(topic)), &daemon->sources[i].rules, has_dialect_tarry(&config->sources[i])};
    }
}

static bool open_writes(struct api *api, const struct daemon *daemon, struct error *error)
{
    const struct config *config = daemon->config;
    struct request_sink_options options = {.properties = config->kafka_producer.items,
                                           .property_count = config->kafka_producer.count,
                                           .instance = config->instance,
                                           .group = config->group};
    api->idempotency = api_idempotency_new(API_IDEMPOTENCY_ANSWERS);
    api->audit = api_audit_new();
    return request_sink_open(&options, &api->sink, error);
}

/* Parts of the writes (sink, idempotency, audit) are opened here before the workers start, woken in api_open_stop, and closed in api_open_free. */
bool api_open(struct daemon *daemon, struct error *error)
{
    struct api *api = memory_new(1, sizeof(*api));
    daemon->api = api;
    api->owner = daemon->mailbox;
    api->steering = daemon->steering;
    api->feed = daemon->feed;
    api->store = daemon->store;
    api->payloads = daemon->config->http_payloads;
    api->letters = api_letters_link_new(daemon->config);
    copy_sources(api, daemon);
    return open_writes(api, daemon, error) && api_pool_start(api, error);
}

void api_open_refuse_writes(struct api *api)
{
    if (api != NULL && api->work[API_WRITERS] != NULL) {
        mailbox_close(api->work[API_WRITERS]);
    }
}

void api_open_stop(struct api *api)
{
    if (api != NULL) {
        api_pool_hurry(api);
        if (api->sink != NULL) {
            request_sink_wake(api->sink);
        }
        api_pool_stop(api);
    }
}

void api_open_free(struct api *api)
{
    if (api == NULL) {
        return;
    }
    api_pool_free(api);
    request_sink_close(api->sink);
    api_idempotency_free(api->idempotency);
    api_audit_free(api->audit);
    api_letters_link_free(api->letters);
    for (size_t i = 0; i < api->source_count; i++) {
        free((void *)(uintptr_t)api->sources[i].topic);
    }
    free(api->sources);
    free(api);
}
