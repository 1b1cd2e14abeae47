/*
 * The configuration: plain data, typed, checked, owned by one struct.
 *
 * One table (config_table_keys.c) names every key with type, default, range and meaning; parsing, environment names,
 * `config show`, the schema, docs/configuration.md and tarry.yaml(5) all come from it. Precedence: flag, environment,
 * file, default. Nothing here prints or logs; problems are returned. Any thread; a loaded configuration is not changed
 * by anybody.
 */
#ifndef TARRY_OPS_CONFIG_H
#define TARRY_OPS_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"
#include "base/error.h"
#include "base/log.h"
#include "bridge/sink.h"
#include "bridge/source.h"
#include "ops/config_arena.h"
#include "ops/config_problems.h"
#include "ops/config_value.h"
#include "scheduler/firing.h"
#include "scheduler/recurrence.h"
#include "scheduler/retry.h"

enum config_delivery { CONFIG_DELIVERY_AT_LEAST_ONCE, CONFIG_DELIVERY_EXACTLY_ONCE };
enum config_envelope_out { CONFIG_ENVELOPE_OUT_PAYLOAD, CONFIG_ENVELOPE_OUT_WHOLE };
enum config_payloads { CONFIG_PAYLOADS_FULL, CONFIG_PAYLOADS_MASKED, CONFIG_PAYLOADS_OFF };
enum config_log_format { CONFIG_LOG_FORMAT_AUTO, CONFIG_LOG_FORMAT_TEXT, CONFIG_LOG_FORMAT_JSON };

struct config_pair {
    const char *name;
    const char *value;
};

struct config_map {
    const struct config_pair *items; /* in the order given */
    size_t count;
};

/* librdkafka's properties, ready to be handed over: secrets of *_file keys read in, repeated names already decided. */
struct config_properties {
    const struct kafka_property *items;
    size_t count;
    size_t own; /* how many, at the end, are this group's own; all of kafka_common */
};

/* A list of plain words. */
struct config_names {
    const char *const *items; /* in the order given */
    size_t count;
};

struct config_source {
    const char *topic;
    struct config_names dialects; /* presets, or names of struct config_dialect; each once */
    bool envelope;
    enum config_envelope_out envelope_out;
    struct config_map fields; /* envelope field -> its name in the records; only those given: ask config_source_field */
    struct config_map routes; /* type -> topic */
    const char *default_target; /* NULL: none */
    int64_t default_delay_ms;   /* -1: none */
    int64_t max_delay_ms;
    enum firing_late late;
    int64_t max_lateness_ms; /* -1: none; given when `late` is not FIRING_LATE_FIRE */
    int64_t dedupe_ms;       /* 0: none */
    enum misfire misfire;
    int64_t misfire_after_ms;
    int64_t spread_ms; /* 0: none */
    enum output_headers output_headers;
};

/* Headers of a user's own, and what they mean (bridge/dialect.h). */
struct config_dialect {
    const char *name;
    struct config_map headers; /* header -> meaning */
    bool id_from_key;
    bool null_is_cancel;
};

struct config_target {
    const char *name;  /* of the lane */
    const char *match; /* glob with `*` */
    int64_t max_in_flight;
    uint32_t rate_per_s; /* 0: no limit */
    struct retry_policy retry;
};

enum config_nack_family { CONFIG_NACK_KAFKA, CONFIG_NACK_CONNECT, CONFIG_NACK_STREAMS, CONFIG_NACK_SPRING };

/* Topics in which consumers leave what they failed on. */
struct config_nack {
    const char *match; /* glob with `*` */
    enum config_nack_family family;
};

struct config {
    const char *instance;
    const char *group;
    const char *advertise; /* NULL: none */
    struct config_map
        kafka_given[3]; /* as written, under kafka, kafka.producer, kafka.consumer: for show and diff only */
    struct config_properties kafka_common;
    struct config_properties kafka_producer; /* the common ones first, then the producer's own */
    struct config_properties kafka_consumer; /* the common ones first, then the consumer's own */
    const char *store_path;
    int64_t store_max_size_bytes;
    int64_t store_checkpoint_ms;
    enum config_delivery delivery;
    int64_t transaction_timeout_ms;
    bool copy_forward;
    int64_t copy_forward_span; /* offsets of one partition, from its oldest pending record to its end */
    int64_t copy_forward_retention_percent; /* of the topic's retention.ms: the age at which a record is copied */
    struct config_source *sources;
    size_t source_count; /* at least 1 */
    struct config_target *targets;
    size_t target_count;
    int64_t unknown_topic_grace_ms;
    const char *nats_url;
    const char *nats_user;             /* NULL: none, as what follows */
    const char *nats_password_file;
    const char *nats_password;         /* secret: what is in that file */
    const char *nats_token_file;
    const char *nats_token;            /* secret */
    const char *nats_credentials_file;
    const char *nats_tls_ca_file;
    const char *nats_tls_certificate_file;
    const char *nats_tls_key_file;
    const char *dlq_stream;
    const char *dlq_parked_stream;
    const char *dlq_subject_prefix; /* "": none; else it ends in '.' */
    int64_t dlq_replicas;
    int64_t dlq_max_bytes;
    int64_t dlq_retry_later_ms; /* how much later a record is tried whose letter could not be kept */
    struct config_nack *nacks;
    size_t nack_count;
    struct config_dialect *dialects;
    size_t dialect_count;
    uint32_t catch_up_per_s;   /* 0: no limit, and no lanes of their own for what was overdue */
    const char *history_topic; /* NULL: none */
    int64_t memory_entries;
    int64_t memory_unwritten_bytes;
    bool metrics_aliases;
    const char *http_listen; /* as given */
    struct config_address http_address;
    const char *http_token_file; /* NULL: none */
    const char *http_token;      /* secret: what is in that file, without line end; NULL: none */
    const char *http_socket;     /* NULL: none */
    enum config_payloads http_payloads;
    enum log_level log_level;
    enum config_log_format log_format;
    int64_t shutdown_timeout_ms;
    struct config_node *tree; /* as given, for show */
    struct config_arena arena;
};

/* One `--set path=value`. `flag` is what to call it in problems: "--set store.path", "--log-level". */
struct config_setting {
    const char *path;
    const char *value;
    const char *flag;
};

/* Checks of librdkafka's properties: those of bridge/kafka_conf.h, or a test's. A NULL member checks nothing. */
struct config_hooks {
    /* Why this property may not be set (one that a promise of tarry rests on), or NULL when it may. */
    const char *(*property_refused)(const char *name);
    /* True when librdkafka knows the property and takes the value; the error says why not. */
    bool (*property_check)(const char *name, const char *value, struct error *error);
};

struct config_request {
    const char *path;               /* the file; NULL: none */
    const char *const *environment; /* "NAME=value" ..., NULL at the end; NULL: none */
    const struct config_setting *settings;
    size_t setting_count;
    struct config_hooks hooks;
};

/* Reads, merges, types and checks. True: *config is the caller's (config_free); problems holds warnings at most. False:
 * problems holds what is wrong (exit 78). Reads the file, and the files that *_file keys name; nothing else. `problems`
 * must be zeroed or in use. */
bool config_load(const struct config_request *request, struct config **config, struct config_problems *problems);

/* NULL is allowed. */
void config_free(struct config *config);

/* What the records of this source call the envelope's field `field` ("type", "payload", "delay_ms", "deliver_at",
 * "target", "id", "retry_count"): its mapping, else `field` itself. Borrowed. */
const char *config_source_field(const struct config_source *source, const char *field);

/* True when the dialect of that name is on. */
bool config_source_speaks(const struct config_source *source, const char *dialect);

/* YAML of what was given, or with `effective` of all values, each with where it comes from as a comment; secrets are
 * ***. What it prints loads again to the same (but for secrets). */
void config_show(const struct config *config, bool effective, struct buffer *out);

/* JSON Schema (2020-12) of tarry.yaml. */
void config_schema_json(struct buffer *out);

/* docs/configuration.md and tarry.yaml(5), whole. */
void config_docs_markdown(struct buffer *out);
void config_docs_mdoc(struct buffer *out);

struct config_change {
    char path[192]; /* "log.level", "targets[0].max_in_flight", "sources": entries added, removed or moved */
    bool reloadable;
};

struct config_changes {
    struct config_change *items; /* free() */
    size_t count;
};

/* Which keys differ in value between two configurations, in the table's order. A change whose `reloadable` is false
 * waits for a restart: say so. Secrets read from files are compared too. The caller frees changes.items. */
struct config_changes config_diff(const struct config *before, const struct config *after);

#endif
