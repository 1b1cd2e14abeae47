#include "ops/letter_options.h"

#include <stdio.h>

#include "bridge/target.h"
#include "ops/lanes.h"

struct link_options letter_options_link(const struct config *config, const char *name)
{
    return (struct link_options){.url = config->nats_url,
                                 .name = name,
                                 .user = config->nats_user,
                                 .password = config->nats_password,
                                 .token = config->nats_token,
                                 .credentials_file = config->nats_credentials_file,
                                 .tls_ca_file = config->nats_tls_ca_file,
                                 .tls_certificate_file = config->nats_tls_certificate_file,
                                 .tls_key_file = config->nats_tls_key_file};
}

struct streams_options letter_options_streams(const struct config *config, const char *owner)
{
    return (struct streams_options){.stream = config->dlq_stream,
                                    .parked_stream = config->dlq_parked_stream,
                                    .prefix = config->dlq_subject_prefix,
                                    .replicas = config->dlq_replicas,
                                    .max_bytes = config->dlq_max_bytes,
                                    .owner = owner};
}

void letter_options_owner(const struct config *config, const char *cluster, char owner[LETTER_OPTIONS_OWNER_SIZE])
{
    snprintf(owner, LETTER_OPTIONS_OWNER_SIZE, "%s/%s", cluster, config->group);
}

/* The first entry of targets that the topic matches; NULL: none. */
static const struct config_target *target_of(const struct config *config, struct span topic)
{
    for (size_t i = 0; i < config->target_count; i++) {
        if (target_glob_match(config->targets[i].match, topic)) {
            return &config->targets[i];
        }
    }
    return NULL;
}

const struct retry_policy *letter_options_retry(const struct config *config, struct span topic)
{
    const struct config_target *target = target_of(config, topic);
    return target == NULL ? &retry_default : &target->retry;
}

/* As it is, it is not to go to its target: nobody wants it any more, or its schedule has to be mended first; or it has been there. */
static bool needs_a_person(enum letter_reason reason)
{
    return reason == LETTER_REASON_EXPIRED || reason == LETTER_REASON_LATE || reason == LETTER_REASON_BAD_SCHEDULE || reason == LETTER_REASON_NOT_REAPPENDED;
}

enum letter_state letter_options_state(const struct config *config, const struct letter *letter, int64_t expires_ms)
{
    bool expires = expires_ms >= 0 && letter->not_before_ms >= expires_ms;
    bool parked = expires || letter->target.data == NULL || needs_a_person(letter->reason) || retry_spent(letter_options_retry(config, letter->target), 1);
    return parked ? LETTER_PARKED : LETTER_WAITING;
}

static bool is_topic(const char *name, struct span topic)
{
    return name != NULL && span_equal(span_of_text(name), topic);
}

bool letter_options_allowed(const struct config *config, struct span topic)
{
    if (!target_name_valid(topic)) {
        return false;
    }
    bool allowed = target_of(config, topic) != NULL;
    for (size_t i = 0; !allowed && i < config->source_count; i++) {
        const struct config_source *source = &config->sources[i];
        allowed = is_topic(source->default_target, topic);
        for (size_t r = 0; !allowed && r < source->routes.count; r++) {
            allowed = is_topic(source->routes.items[r].value, topic);
        }
    }
    return allowed;
}

const char *letter_options_label(const struct config *config, struct span topic)
{
    if (topic.data == NULL) {
        return LANES_REFUSED_NAME;
    }
    const struct config_target *target = target_of(config, topic);
    return target == NULL ? LANES_DEFAULT_NAME : target->name;
}
