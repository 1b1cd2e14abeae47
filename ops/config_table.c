#include "ops/config_table.h"

#include <stdio.h>
#include <string.h>

#include "ops/config.h"
#include "scheduler/metadata.h"

#define SECOND INT64_C(1000)
#define DAY (INT64_C(86400) * SECOND)
#define MIB (INT64_C(1024) * 1024)
#define GIB (1024 * MIB)

#define TOP(member) .section = CONFIG_SECTION_TOP, .offset = offsetof(struct config, member)
#define SOURCE(member) .section = CONFIG_SECTION_SOURCE, .offset = offsetof(struct config_source, member)
#define TARGET(member) .section = CONFIG_SECTION_TARGET, .offset = offsetof(struct config_target, member)

static const struct config_key KEYS[] = {
    {.path = "instance",
     TOP(instance),
     .type = CONFIG_TYPE_NAME,
     .most = 128,
     .required = true,
     .meaning = "Name of this process, its own within the group and the same after a restart: it is Kafka's "
                "group.instance.id. Two processes of one name fence each other; a new name at each start makes each "
                "start wait for the old one's session to end."},
    {.path = "group",
     TOP(group),
     .type = CONFIG_TYPE_NAME,
     .most = 249,
     .fallback = "tarry",
     .meaning = "Consumer group. Its committed offsets carry the progress: another name starts afresh."},
    {.path = "advertise",
     TOP(advertise),
     .type = CONFIG_TYPE_ADDRESS,
     .meaning = "Address under which other instances and people reach this one's HTTP server, as host:port."},
    {.path = "kafka",
     TOP(kafka_given[0]),
     .type = CONFIG_TYPE_PROPERTIES,
     .meaning = "Properties of librdkafka for all its clients, by their own names; bootstrap.servers is needed. Those "
                "a promise of tarry rests on (acks, idempotence, auto commit, isolation level, transactional id, group "
                "instance id) are refused. A secret is best given by its name with _file behind it: sasl.password_file "
                "names a file with the password."},
    {.path = "kafka.producer",
     TOP(kafka_given[1]),
     .type = CONFIG_TYPE_PROPERTIES,
     .meaning = "Properties for the producer only; they win over those under kafka."},
    {.path = "kafka.consumer",
     TOP(kafka_given[2]),
     .type = CONFIG_TYPE_PROPERTIES,
     .meaning = "Properties for the consumer only; they win over those under kafka."},
    {.path = "store.path",
     TOP(store_path),
     .type = CONFIG_TYPE_PATH,
     .most = 3072,
     .fallback = "/var/lib/tarry",
     .meaning = "Directory of the checkpoint, for this process alone; made if absent. Losing it loses no record: it is "
                "rebuilt from the topics."},
    {.path = "store.max_size",
     TOP(store_max_size_bytes),
     .type = CONFIG_TYPE_SIZE,
     .fallback = "64GiB",
     .least = MIB,
     .most = 65536 * GIB,
     .meaning = "The most it may grow to. Taken as address space at once, as disk only when needed. When it is full, "
                "reading pauses and what is due still leaves."},
    {.path = "store.checkpoint",
     TOP(store_checkpoint_ms),
     .type = CONFIG_TYPE_DURATION,
     .fallback = "100ms",
     .least = 1,
     .most = 60 * SECOND,
     .meaning = "Least time between two checkpoints. What is due before its checkpoint is never written to disk."},
    {.path = "delivery",
     TOP(delivery),
     .type = CONFIG_TYPE_CHOICE,
     .choices = "at_least_once",
     .fallback = "at_least_once",
     .meaning = "at_least_once: an output is acknowledged before progress is committed; after a crash some are "
                "repeated, with the same tarry-id."},
    {.path = "sources",
     TOP(sources),
     .type = CONFIG_TYPE_LIST,
     .required = true,
     .meaning = "The topics that delayed records come in by. At least one."},
    {.path = "targets",
     TOP(targets),
     .type = CONFIG_TYPE_LIST,
     .meaning = "The topics that records may go out to. Each entry is a lane with its own progress: a target that "
                "stands still holds up its lane only. The first match wins. A topic that matches none, and is neither "
                "a default_target nor in routes, is refused; `match: \"*\"` allows all."},
    {.path = "unknown_topic_grace",
     TOP(unknown_topic_grace_ms),
     .type = CONFIG_TYPE_DURATION,
     .fallback = "30s",
     .least = 0,
     .most = DAY,
     .meaning = "How long a target topic that does not exist is waited for, so that one just created is found, before "
                "its records are refused. Its lane stands still meanwhile."},
    {.path = "memory.entries",
     TOP(memory_entries),
     .type = CONFIG_TYPE_COUNT,
     .fallback = "4000000",
     .least = 10000,
     .most = 1000000000,
     .meaning = "Pending records kept in memory at most, 32 bytes each; beyond, they wait on disk alone until they "
                "come near."},
    {.path = "memory.unwritten",
     TOP(memory_unwritten_bytes),
     .type = CONFIG_TYPE_SIZE,
     .fallback = "64MiB",
     .least = MIB,
     .most = 16 * GIB,
     .meaning = "Bytes of records read and not yet in a checkpoint; beyond, reading pauses."},
    {.path = "http.listen",
     TOP(http_listen),
     .type = CONFIG_TYPE_ADDRESS,
     .fallback = "127.0.0.1:7411",
     .meaning = "Address of the HTTP server (health, metrics, API), as host:port; port 0 takes any free one. Beyond "
                "loopback http.token_file is needed."},
    {.path = "http.token_file",
     TOP(http_token_file),
     .type = CONFIG_TYPE_PATH,
     .most = 3072,
     .reloadable = true,
     .meaning = "File that holds the token that clients must send; the line end is not part of it."},
    {.path = "log.level",
     TOP(log_level),
     .type = CONFIG_TYPE_CHOICE,
     .choices = "debug|info|warning|error",
     .fallback = "info",
     .reloadable = true,
     .meaning = "Least level that is logged."},
    {.path = "log.format",
     TOP(log_format),
     .type = CONFIG_TYPE_CHOICE,
     .choices = "auto|text|json",
     .fallback = "auto",
     .meaning = "auto: text on a terminal, else one JSON object a line."},
    {.path = "shutdown_timeout",
     TOP(shutdown_timeout_ms),
     .type = CONFIG_TYPE_DURATION,
     .fallback = "5s",
     .least = 100,
     .most = 600 * SECOND,
     .reloadable = true,
     .meaning = "How long SIGTERM waits for what is in flight. What is not acknowledged by then stays pending."},

    {.path = "topic",
     SOURCE(topic),
     .type = CONFIG_TYPE_TOPIC,
     .required = true,
     .meaning = "The topic to read. Once only."},
    {.path = "dialects",
     SOURCE(dialects),
     .type = CONFIG_TYPE_CHOICES,
     .choices = "tarry",
     .fallback = "tarry",
     .meaning = "Sets of control headers that are understood. tarry: tarry-delay (or delay_ms), tarry-at, tarry-topic, "
                "tarry-key, tarry-partition, tarry-id. [] for none, then envelope must be true."},
    {.path = "envelope",
     SOURCE(envelope),
     .type = CONFIG_TYPE_BOOL,
     .fallback = "false",
     .meaning =
         "Values are JSON objects with the fields type, payload, delay_ms or deliver_at, target, id, retry_count."},
    {.path = "envelope_out",
     SOURCE(envelope_out),
     .type = CONFIG_TYPE_CHOICE,
     .choices = "payload|whole",
     .fallback = "payload",
     .meaning = "What goes out of an envelope: the payload's own bytes, or the whole value. With envelope only."},
    {.path = "fields",
     SOURCE(fields),
     .type = CONFIG_TYPE_MAP,
     .choices = "type|payload|delay_ms|deliver_at|target|id|retry_count",
     .meaning = "Other names for the envelope's fields, as {deliver_at: delayUntil}. With envelope only."},
    {.path = "routes",
     SOURCE(routes),
     .type = CONFIG_TYPE_MAP,
     .meaning = "From an envelope's type to its target topic, as {PAYMENT_TIMEOUT: payments}. With envelope only."},
    {.path = "default_target",
     SOURCE(default_target),
     .type = CONFIG_TYPE_TOPIC,
     .meaning = "Target of a record that names none. Without it such a record is refused."},
    {.path = "default_delay",
     SOURCE(default_delay_ms),
     .type = CONFIG_TYPE_DURATION,
     .least = 0,
     .most = 36525 * DAY,
     .meaning = "Delay of a record that names no time. Without it such a record is refused."},
    {.path = "max_delay",
     SOURCE(max_delay_ms),
     .type = CONFIG_TYPE_DURATION,
     .fallback = "366d",
     .least = 1,
     .most = 36525 * DAY,
     .meaning = "A record due later than this after its timestamp is refused."},
    {.path = "late",
     SOURCE(late),
     .type = CONFIG_TYPE_CHOICE,
     .choices = "fire",
     .fallback = "fire",
     .meaning = "What happens to a record whose time has passed when it is read. fire: it leaves at once."},
    {.path = "refused_topic",
     SOURCE(refused_topic),
     .type = CONFIG_TYPE_TOPIC,
     .shown = "<topic>.refused",
     .meaning = "Topic for records that cannot be understood or delivered: whole, with the reason in __dlq.errors.* "
                "headers. Made at start if absent."},
    {.path = "output_headers",
     SOURCE(output_headers),
     .type = CONFIG_TYPE_CHOICE,
     .choices = "tarry|none",
     .fallback = "tarry",
     .meaning = "tarry: adds tarry-id, tarry-due and tarry-source to what goes out. none: adds nothing."},

    {.path = "name",
     TARGET(name),
     .type = CONFIG_TYPE_LANE,
     .most = METADATA_LANE_NAME_MAX,
     .required = true,
     .meaning = "Name of the lane, in metrics and in committed metadata. Progress belongs to the name: a renamed lane "
                "is a new one. `default` and names that begin with _ are tarry's own."},
    {.path = "match",
     TARGET(match),
     .type = CONFIG_TYPE_PATTERN,
     .required = true,
     .meaning = "A topic name in which each * stands for any run of characters: \"orders.*\"."},
    {.path = "max_in_flight",
     TARGET(max_in_flight),
     .type = CONFIG_TYPE_COUNT,
     .fallback = "10000",
     .least = 1,
     .most = 1000000,
     .reloadable = true,
     .meaning = "Records sent and not yet acknowledged at most."},
};

#define KEY_COUNT (sizeof KEYS / sizeof KEYS[0])

struct absent {
    const char *path;
    const char *why;
};

static const struct absent ABSENT[] = {
    {"nats", "this version does not use NATS: remove it"},
    {"dlq", "this version has no dead-letter stream: remove it; what fails goes to the source's refused_topic"},
    {"nack", "this version does not read consumers' failures: remove it"},
    {"history", "this version keeps no history topic: remove it"},
    {"metrics", "this version has no settings of metrics: remove it"},
    {"sources[].dedupe", "this version does not look for duplicates: remove it"},
    {"sources[].max_lateness", "this version delivers late records always (late: fire): remove it"},
    {"targets[].rate", "this version does not limit rates: remove it; max_in_flight bounds what is unacknowledged"},
    {"targets[].retry", "this version sends again for as long as a target is away: remove it"},
    {"targets[].send_timeout", "a timeout for each target is not possible in this version: set message.timeout.ms "
                               "under kafka.producer, for all targets"},
};

const struct config_key *config_table_keys(size_t *count)
{
    *count = KEY_COUNT;
    return KEYS;
}

const struct config_key *config_table_find(enum config_section section, const char *path)
{
    for (size_t i = 0; i < KEY_COUNT; i++) {
        if (KEYS[i].section == section && strcmp(KEYS[i].path, path) == 0) {
            return &KEYS[i];
        }
    }
    return NULL;
}

bool config_table_is_group(enum config_section section, const char *path)
{
    size_t length = strlen(path);
    for (size_t i = 0; i < KEY_COUNT; i++) {
        if (KEYS[i].section == section && strncmp(KEYS[i].path, path, length) == 0 && KEYS[i].path[length] == '.') {
            return true;
        }
    }
    return false;
}

const char *config_table_section_name(enum config_section section)
{
    switch (section) {
    case CONFIG_SECTION_SOURCE:
        return "sources";
    case CONFIG_SECTION_TARGET:
        return "targets";
    case CONFIG_SECTION_TOP:
        break;
    }
    return NULL;
}

static struct config_table_name path_with(const struct config_key *key, const char *index)
{
    struct config_table_name name;
    const char *section = config_table_section_name(key->section);
    if (section == NULL) {
        snprintf(name.text, sizeof name.text, "%s", key->path);
    } else {
        snprintf(name.text, sizeof name.text, "%s[%s].%s", section, index, key->path);
    }
    return name;
}

struct config_table_name config_table_path(const struct config_key *key)
{
    return path_with(key, "");
}

struct config_table_name config_table_path_at(const struct config_key *key, size_t index)
{
    char number[24];
    snprintf(number, sizeof number, "%zu", index);
    return path_with(key, number);
}

static struct config_table_name environment_with(const struct config_key *key, const char *index)
{
    struct config_table_name name;
    const char *section = config_table_section_name(key->section);
    if (section == NULL) {
        snprintf(name.text, sizeof name.text, "TARRY_%s", key->path);
    } else {
        snprintf(name.text, sizeof name.text, "TARRY_%s_%s_%s", section, index, key->path);
    }
    for (char *at = name.text; *at != '\0'; at++) {
        if (*at >= 'a' && *at <= 'z') {
            *at = (char)(*at - 'a' + 'A');
        } else if (*at == '.' || *at == '-') {
            *at = '_';
        }
    }
    return name;
}

struct config_table_name config_table_environment(const struct config_key *key)
{
    struct config_table_name name = environment_with(key, "#");
    char *mark = strchr(name.text, '#');
    if (mark != NULL) {
        char rest[CONFIG_TABLE_NAME_MAX];
        snprintf(rest, sizeof rest, "%s", mark + 1);
        snprintf(mark, sizeof name.text - (size_t)(mark - name.text), "<n>%s", rest);
    }
    return name;
}

struct config_table_name config_table_environment_at(const struct config_key *key, size_t index)
{
    char number[24];
    snprintf(number, sizeof number, "%zu", index);
    return environment_with(key, number);
}

const char *config_table_absent(const char *path)
{
    for (size_t i = 0; i < sizeof ABSENT / sizeof ABSENT[0]; i++) {
        if (strcmp(ABSENT[i].path, path) == 0) {
            return ABSENT[i].why;
        }
    }
    return NULL;
}
