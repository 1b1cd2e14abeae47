#include "ops/config_check_dlq.h"

#include <string.h>

#include "bridge/target.h"
#include "dlq/streams.h"
#include "ops/config_node.h"
#include "ops/letter_options.h"

struct check {
    const struct config *config;
    struct config_problems *problems;
};

/* Both keys, or neither. */
static void check_pair(const struct check *check, const char *path, const char *value, const char *other, const char *other_value)
{
    if (value != NULL && other_value == NULL) {
        config_problems_error(check->problems, config_node_place_at(check->config->tree, NULL, 0, path).text, "%s: is of no use without %s: give both", path, other);
    }
}

static void check_nats(const struct check *check)
{
    const struct config *config = check->config;
    check_pair(check, "nats.user", config->nats_user, "nats.password_file", config->nats_password_file);
    check_pair(check, "nats.password_file", config->nats_password_file, "nats.user", config->nats_user);
    check_pair(check, "nats.tls.certificate_file", config->nats_tls_certificate_file, "nats.tls.key_file", config->nats_tls_key_file);
    check_pair(check, "nats.tls.key_file", config->nats_tls_key_file, "nats.tls.certificate_file", config->nats_tls_certificate_file);
    int ways = (config->nats_user != NULL) + (config->nats_token_file != NULL) + (config->nats_credentials_file != NULL);
    if (ways > 1) {
        config_problems_error(check->problems, config_node_place_at(check->config->tree, NULL, 0, "nats").text,
                              "nats: more than one way to log in: keep one of nats.user, nats.token_file and nats.credentials_file");
    }
}

static void check_streams(const struct check *check)
{
    const struct config *config = check->config;
    if (config->dlq_stream == NULL || config->dlq_parked_stream == NULL) {
        return; /* it has a problem of its own */
    }
    struct streams_options streams = letter_options_streams(config, NULL);
    char large[STREAMS_NAME_SIZE];
    char jobs[STREAMS_NAME_SIZE];
    streams_large(&streams, large);
    streams_jobs(&streams, jobs);
    const char *const taken[] = {config->dlq_stream, large, jobs};
    for (size_t i = 0; i < sizeof taken / sizeof taken[0]; i++) {
        if (strcmp(config->dlq_parked_stream, taken[i]) == 0) {
            config_problems_error(check->problems, config_node_place_at(check->config->tree, NULL, 0, "dlq.parked_stream").text,
                                  "dlq.parked_stream: %s is the name of another stream of dlq.stream: choose another", taken[i]);
        }
    }
}

static void check_nack(const struct check *check, size_t index)
{
    const struct config *config = check->config;
    const char *match = config->nacks[index].match;
    struct config_place_text place = config_node_place_at(check->config->tree, "nack", index, "match");
    if (match == NULL) {
        return; /* it has a problem of its own */
    }
    for (size_t i = 0; i < index; i++) {
        if (config->nacks[i].match != NULL && strcmp(config->nacks[i].match, match) == 0) {
            config_problems_error(check->problems, place.text,
                                  "nack[%zu].match: \"%s\" stands in nack[%zu] already, and the first match wins: remove one", index, match, i);
        }
    }
    for (size_t i = 0; i < config->source_count; i++) {
        const struct config_source *source = &config->sources[i];
        if (source->topic != NULL && target_glob_match(match, span_of_text(source->topic))) {
            config_problems_error(check->problems, place.text,
                                  "nack[%zu].match: \"%s\" is sources[%zu].topic %s too, whose records have not failed: choose a narrower match",
                                  index, match, i, source->topic);
        }
        if (source->default_target != NULL && target_glob_match(match, span_of_text(source->default_target))) {
            config_problems_error(check->problems, place.text,
                                  "nack[%zu].match: \"%s\" is sources[%zu].default_target %s too: what is delivered would count as failed; "
                                  "choose a narrower match",
                                  index, match, i, source->default_target);
        }
    }
}

static void check_retry(const struct check *check, size_t index)
{
    const struct retry_policy *retry = &check->config->targets[index].retry;
    if (retry->backoff_ms > retry->backoff_max_ms) {
        const struct config_entry *backoff = config_node_at(check->config->tree, "targets", index, "retry.backoff");
        config_problems_error(check->problems,
                              config_node_place_at(check->config->tree, "targets", index, backoff != NULL ? "retry.backoff" : "retry.backoff_max").text,
                              "targets[%zu].retry.backoff: longer than backoff_max: raise backoff_max, or lower it", index);
    }
}

void config_check_dlq(const struct config *config, struct config_problems *problems)
{
    struct check check = {config, problems};
    check_nats(&check);
    check_streams(&check);
    for (size_t i = 0; i < config->nack_count; i++) {
        check_nack(&check, i);
    }
    for (size_t i = 0; i < config->target_count; i++) {
        check_retry(&check, i);
    }
}
