/* Making the daemon's parts from the configuration, and taking them down. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/memory.h"
#include "bridge/sink.h"
#include "bridge/source.h"
#include "ops/daemon_state.h"
#include "ops/signals.h"

#define MAILBOX_CAPACITY 256
#define PERMIL_OF_ENTRIES_LATE 16 /* of memory.entries, for the late heap of one queue */

static void compile_targets(struct daemon *daemon)
{
    const struct config *config = daemon->config;
    size_t known = 0;
    daemon->patterns = memory_new(config->target_count + 1, sizeof(*daemon->patterns));
    for (size_t i = 0; i < config->target_count; i++) {
        daemon->patterns[i] =
            (struct target_pattern){config->targets[i].match, (lane_index)(LANES_BUILT_IN + i)};
    }
    for (size_t i = 0; i < config->source_count; i++) {
        known += 1 + config->sources[i].routes.count;
    }
    daemon->known_targets = memory_new(known + 1, sizeof(*daemon->known_targets));
    known = 0;
    for (size_t i = 0; i < config->source_count; i++) {
        const struct config_source *source = &config->sources[i];
        for (size_t r = 0; r < source->routes.count; r++) {
            daemon->known_targets[known++] = source->routes.items[r].value;
        }
        if (source->default_target != NULL) {
            daemon->known_targets[known++] = source->default_target;
        }
    }
    daemon->targets =
        (struct target_list){daemon->patterns, config->target_count, daemon->known_targets, known, LANES_DEFAULT};
}

static void compile_source(struct daemon *daemon, const struct config_source *source, struct daemon_source *compiled)
{
    compiled->dialects = memory_new(source->dialects.count + 1, sizeof(*compiled->dialects));
    for (size_t i = 0; i < source->dialects.count; i++) {
        compiled->dialects[i] = dialects_find(&daemon->dialects, source->dialects.items[i]);
    }
    compiled->firing = (struct firing_rules){source->late, source->max_lateness_ms < 0 ? 0 : source->max_lateness_ms};
    compiled->misfire = (struct misfire_policy){source->misfire, source->misfire_after_ms};
    compiled->routes = memory_new(source->routes.count + 1, sizeof(*compiled->routes));
    for (size_t r = 0; r < source->routes.count; r++) {
        compiled->routes[r] = (struct decode_route){source->routes.items[r].name, source->routes.items[r].value};
    }
    compiled->rules = (struct decode_rules){
        .dialects = compiled->dialects,
        .dialect_count = source->dialects.count,
        .topic = source->topic,
        .spread_ms = source->spread_ms,
        .envelope = source->envelope,
        .envelope_whole = source->envelope_out == CONFIG_ENVELOPE_OUT_WHOLE,
        .field_type = config_source_field(source, "type"),
        .field_payload = config_source_field(source, "payload"),
        .field_delay_ms = config_source_field(source, "delay_ms"),
        .field_deliver_at = config_source_field(source, "deliver_at"),
        .field_target = config_source_field(source, "target"),
        .field_id = config_source_field(source, "id"),
        .field_retry_count = config_source_field(source, "retry_count"),
        .routes = compiled->routes,
        .route_count = source->routes.count,
        .default_target = source->default_target,
        .max_delay_ms = source->max_delay_ms,
        .default_delay_ms = source->default_delay_ms,
        .targets = &daemon->targets,
    };
    compiled->fingerprint = decode_fingerprint(&compiled->rules);
    for (size_t i = 0; i < daemon->config->target_count; i++) { /* a lane is known by its name in the metadata (R8) */
        compiled->fingerprint = compiled->fingerprint * 31 + sink_target_hash(span_of_text(daemon->config->targets[i].name));
    }
}

static void compile_sources(struct daemon *daemon)
{
    daemon->dialects = dialects_new(daemon->config);
    daemon->zones = zones_new(NULL);
    daemon->sources = memory_new(daemon->config->source_count, sizeof(*daemon->sources));
    for (size_t i = 0; i < daemon->config->source_count; i++) {
        compile_source(daemon, &daemon->config->sources[i], &daemon->sources[i]);
    }
}

static uint32_t old_pairs_room(const struct lanes *lanes)
{
    const char *names[LANES_MAX];
    for (uint16_t i = 0; i < lanes->count; i++) {
        names[i] = lanes->names[i];
    }
    size_t used = metadata_worst_case(names, lanes->count);
    return used >= METADATA_MAX ? 0 : (uint32_t)((METADATA_MAX - used) / METADATA_PAIR_WORST);
}

static void setup_core(struct daemon *daemon)
{
    const struct config *config = daemon->config;
    struct core_options options;
    core_options_default(&options);
    options.entries_max = (uint32_t)config->memory_entries;
    options.late_max = options.entries_max / 1000 * PERMIL_OF_ENTRIES_LATE + 16;
    options.unwritten_bytes_max = (uint64_t)config->memory_unwritten_bytes;
    options.checkpoint_ms = config->store_checkpoint_ms;
    options.unknown_topic_grace_ms = config->unknown_topic_grace_ms;
    options.old_pairs_max = old_pairs_room(&daemon->lanes);
    options.exactly_once = daemon_transaction_exact(daemon);
    options.letter_later_ms = config->dlq_retry_later_ms;
    options.catch_up_per_s = config->catch_up_per_s;
    options.span_max = config->copy_forward ? (uint64_t)config->copy_forward_span : 0;
    options.copy_rows_max = config->copy_forward ? options.copy_rows_max : 0;
    daemon->core = core_new(&options);
    for (lane_index lane = 0; lane < daemon->lanes.count; lane++) {
        struct core_lane_options limits = lanes_options(&daemon->lanes, config, lane);
        core_lane_add(daemon->core, &limits);
        metrics_label_add(daemon->metrics, METRICS_LABEL_TARGET, daemon->lanes.names[lane]);
    }
}

static void setup_metrics(struct daemon *daemon)
{
    daemon->metrics = metrics_new();
    if (daemon->config->metrics_aliases) {
        metrics_aliases_show(daemon->metrics);
    }
    for (size_t i = 0; i < daemon->config->source_count; i++) {
        metrics_label_add(daemon->metrics, METRICS_LABEL_SOURCE, daemon->config->sources[i].topic);
    }
    for (int reason = 0; reason < LETTER_REASONS; reason++) { /* index: the enum */
        metrics_label_add(daemon->metrics, METRICS_LABEL_REASON, letter_reason_name((enum letter_reason)reason));
    }
    metrics_label_add(daemon->metrics, METRICS_LABEL_FAILURE, "retriable");
    metrics_label_add(daemon->metrics, METRICS_LABEL_FAILURE, "unknown_topic");
    metrics_label_add(daemon->metrics, METRICS_LABEL_FAILURE, "fault");
    metrics_label_add(daemon->metrics, METRICS_LABEL_FAILURE, "undone");
}

struct retiring {
    struct daemon *daemon;
    struct error *error;
    bool failed;
};

/* A lane that has rows and is no longer configured lives on until it is empty (R7). */
static void retire_lane(const char *name, void *context)
{
    struct retiring *retiring = context;
    lane_index lane;
    retiring->failed = retiring->failed || !lanes_add(&retiring->daemon->lanes, name, &lane, retiring->error);
}

static bool setup_store(struct daemon *daemon, struct error *error)
{
    struct store_options options = {daemon->config->store_path, (uint64_t)daemon->config->store_max_size_bytes};
    if (!store_open(&options, &daemon->store, error)) {
        return false;
    }
    lanes_init(&daemon->lanes, daemon->config);
    for (lane_index lane = 0; lane < daemon->lanes.count; lane++) {
        if (!store_bind_lane(daemon->store, lane, daemon->lanes.names[lane], error)) {
            return false;
        }
    }
    struct retiring retiring = {daemon, error, false};
    if (!store_unbound_lanes(daemon->store, retire_lane, &retiring, error) || retiring.failed) {
        return false;
    }
    for (lane_index lane = daemon->lanes.configured; lane < daemon->lanes.count; lane++) {
        if (!store_bind_lane(daemon->store, lane, daemon->lanes.names[lane], error)) {
            return false;
        }
    }
    daemon->writer = writer_start(daemon->store, daemon->wake_fd, error);
    return daemon->writer != NULL;
}

static bool setup_kafka(struct daemon *daemon, struct error *error)
{
    const struct config *config = daemon->config;
    const char **topics = memory_new(config->source_count, sizeof(*topics));
    for (size_t i = 0; i < config->source_count; i++) {
        topics[i] = config->sources[i].topic;
    }
    char transactional_id[512];
    snprintf(transactional_id, sizeof(transactional_id), "tarry-%s-%s", config->group, config->instance);
    struct sink_options sink = {.properties = config->kafka_producer.items,
                                .property_count = config->kafka_producer.count,
                                .instance = config->instance,
                                .wake_fd = daemon->wake_fd,
                                .exactly_once = daemon_transaction_exact(daemon),
                                .transactional_id = transactional_id,
                                .transaction_timeout_ms = config->transaction_timeout_ms};
    for (lane_index lane = 0; lane < daemon->lanes.count; lane++) {
        struct core_lane_options limits = lanes_options(&daemon->lanes, config, lane);
        sink.records_max += limits.max_in_flight;
        sink.bytes_max += limits.max_in_flight_bytes;
    }
    struct source_options source = {config->kafka_consumer.items,
                                    config->kafka_consumer.count,
                                    config->group,
                                    config->instance,
                                    config->advertise,
                                    topics,
                                    config->source_count,
                                    daemon->wake_fd};
    bool done = sink_open(&sink, &daemon->sink, error) && source_open(&source, &daemon->source, error);
    free(topics);
    for (size_t i = 0; done && i < daemon->targets.known_count; i++) {
        sink_prepare(daemon->sink, span_of_text(daemon->known_targets[i]));
    }
    return done;
}

static bool setup_http(struct daemon *daemon, struct error *error)
{
    daemon->mailbox = mailbox_new(MAILBOX_CAPACITY, error);
    if (daemon->mailbox == NULL) {
        return false;
    }
    daemon->feed = event_feed_new(error);
    if (daemon->feed == NULL || !daemon_steering_open(daemon, error) || !api_open(daemon, error)) {
        return false;
    }
    struct http_options options = {.listen = daemon->config->http_listen,
                                   .socket = daemon->config->http_socket,
                                   .token_file = daemon->config->http_token_file};
    daemon->http = http_start(&options, daemon->api, error);
    return daemon->http != NULL;
}

bool daemon_setup(struct daemon *daemon, struct error *error)
{
    daemon->now = clock_read(&daemon->clock);
    daemon->started_wall_ms = daemon->now.wall.ms;
    daemon->row = buffer_new(STORE_ROW_MAX);
    daemon_manager_open(daemon);
    daemon->wake_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    if (daemon->wake_fd < 0) {
        return error_set(error, ERROR_SYSTEM, "no eventfd: %s; raise the limit of open files (ulimit -n)", strerror(errno));
    }
    setup_metrics(daemon);
    if (!signals_start(error) || !setup_store(daemon, error)) {
        return false;
    }
    setup_core(daemon);
    compile_targets(daemon);
    compile_sources(daemon);
    if (!setup_http(daemon, error) || !setup_kafka(daemon, error) || !daemon_letters_open(daemon, error) ||
        !daemon_outcomes_open(daemon, error)) {
        return false;
    }
    log_write(LOG_LEVEL_INFO, "started",
              LOG_FIELDS(LOG_TEXT("instance", daemon->config->instance), LOG_TEXT("group", daemon->config->group),
                         LOG_TEXT("store", daemon->config->store_path), LOG_NUMBER("http_port", http_port(daemon->http))),
              "tarry %s started", TARRY_VERSION);
    return true;
}

/* Who waits for the owner is told; then no handler runs any more; then the HTTP thread sends what it has for its clients, and ends. */
static void stop_api(struct daemon *daemon)
{
    api_open_refuse_writes(daemon->api);
    if (daemon->mailbox != NULL) {
        mailbox_close(daemon->mailbox);
    }
    daemon_steering_close(daemon);
    api_open_stop(daemon->api);
    http_stop(daemon->http);
    api_open_free(daemon->api);
    event_feed_free(daemon->feed);
    daemon->feed = NULL;
}

void daemon_setup_teardown(struct daemon *daemon)
{
    writer_stop(daemon->writer);
    stop_api(daemon);
    daemon_steering_free(daemon);
    daemon_watch_close(daemon);
    daemon_letters_close(daemon);
    daemon_outcomes_close(daemon);
    source_close(daemon->source);
    sink_close(daemon->sink);
    store_close(daemon->store);
    mailbox_free(daemon->mailbox);
    signals_stop();
    core_free(daemon->core);
    arena_free(&daemon->arena);
    partitions_free(&daemon->partitions);
    in_flight_free(&daemon->in_flight);
    for (size_t i = 0; daemon->sources != NULL && i < daemon->config->source_count; i++) {
        free(daemon->sources[i].routes);
        free(daemon->sources[i].dialects);
    }
    for (size_t i = 0; i < daemon->scan_capacity; i++) {
        free(daemon->scans[i].rows);
    }
    free(daemon->scans);
    free(daemon->sources);
    daemon_log_free(daemon);
    free(daemon->patterns);
    free(daemon->known_targets);
    free(daemon->inputs);
    free(daemon->plan_texts);
    free(daemon->plan_text_list);
    for (size_t i = 0; i < daemon->settling_count; i++) {
        free(daemon->settling[i].told);
    }
    free(daemon->settling);
    daemon_again_end(daemon, false);
    free(daemon->copies.items);
    free(daemon->copies.ends);
    dialects_free(&daemon->dialects);
    zones_free(daemon->zones);
    free(daemon->crons);
    buffer_free(&daemon->end.members);
    free(daemon->offsets);
    free(daemon->offset_texts);
    buffer_free(&daemon->row);
    metrics_free(daemon->metrics);
    daemon_manager_close(daemon);
    config_free(daemon->config);
    if (daemon->wake_fd > 0) {
        close(daemon->wake_fd);
    }
}

static void tell_changes(const struct config *before, const struct config *after)
{
    struct config_changes changes = config_diff(before, after);
    for (size_t i = 0; i < changes.count; i++) {
        bool now = changes.items[i].reloadable;
        log_write(now ? LOG_LEVEL_INFO : LOG_LEVEL_WARNING, now ? "reloaded" : "reload_needs_restart",
                  LOG_FIELDS(LOG_TEXT("key", changes.items[i].path)), "%s %s", changes.items[i].path,
                  now ? "is in force" : "changed, and waits for a restart");
    }
    free(changes.items);
}

/* The same targets in the same order: else what is said of them waits for a restart, as was told. */
static bool same_targets(const struct config *config, const struct config *fresh)
{
    bool same = config->target_count == fresh->target_count;
    for (size_t i = 0; same && i < config->target_count; i++) {
        same = strcmp(config->targets[i].name, fresh->targets[i].name) == 0 &&
               strcmp(config->targets[i].match, fresh->targets[i].match) == 0;
    }
    return same;
}

static void take_limits(struct daemon *daemon, const struct config *fresh)
{
    for (size_t i = 0; i < fresh->target_count; i++) {
        daemon->config->targets[i].max_in_flight = fresh->targets[i].max_in_flight;
        daemon->config->targets[i].rate_per_s = fresh->targets[i].rate_per_s;
    }
    for (lane_index lane = 0; lane < daemon->lanes.configured; lane++) {
        struct core_lane_options limits = lanes_options(&daemon->lanes, daemon->config, lane);
        core_lane_change(daemon->core, lane, &limits);
    }
}

/* Only what the table of keys calls reloadable is taken over; the old configuration stays the one that the parts were made from. */
void daemon_setup_reload(struct daemon *daemon)
{
    daemon_manager_reloading(daemon);
    struct config *fresh = daemon->options.reload == NULL ? NULL : daemon->options.reload(daemon->options.context);
    if (fresh != NULL) {
        tell_changes(daemon->config, fresh);
        log_level_set(fresh->log_level);
        daemon->config->log_level = fresh->log_level;
        daemon->config->shutdown_timeout_ms = fresh->shutdown_timeout_ms;
        http_reload(daemon->http);
        if (same_targets(daemon->config, fresh)) {
            take_limits(daemon, fresh);
            daemon_letters_reload(daemon, fresh);
        } else {
            config_free(fresh);
        }
    } else {
        log_write(LOG_LEVEL_ERROR, "reload_failed", NULL, 0,
                  "the configuration was not reloaded; the one in force stays. `tarry config check` says what is wrong");
    }
    daemon_manager_reloaded(daemon);
}
