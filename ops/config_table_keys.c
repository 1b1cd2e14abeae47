/* The one table of all keys. */
#include "ops/config.h"
#include "ops/config_table.h"
#include "scheduler/metadata.h"

#define SECOND INT64_C(1000)
#define DAY (INT64_C(86400) * SECOND)
#define MIB (INT64_C(1024) * 1024)
#define GIB (1024 * MIB)

#define TOP(member) .section = CONFIG_SECTION_TOP, .offset = offsetof(struct config, member)
#define SOURCE(member) .section = CONFIG_SECTION_SOURCE, .offset = offsetof(struct config_source, member)
#define NACK(member) .section = CONFIG_SECTION_NACK, .offset = offsetof(struct config_nack, member)
#define DIALECT(member) .section = CONFIG_SECTION_DIALECT, .offset = offsetof(struct config_dialect, member)
#define TARGET(member) .section = CONFIG_SECTION_TARGET, .offset = offsetof(struct config_target, member)

static const struct config_key KEYS[] = {
    {.path = "instance", TOP(instance), .type = CONFIG_TYPE_NAME, .most = 128, .required = true,
     .meaning = "Name of this process, its own within the group and the same after a restart: it is Kafka's "
                "group.instance.id. Two processes of one name fence each other; a new name at each start makes each "
                "start wait for the old one's session to end."},
    {.path = "group", TOP(group), .type = CONFIG_TYPE_NAME, .most = 249, .fallback = "tarry",
     .meaning = "Consumer group. Its committed offsets carry the progress: another name starts afresh."},
    {.path = "advertise", TOP(advertise), .type = CONFIG_TYPE_ADDRESS,
     .meaning = "Address under which other instances and people reach this one's HTTP server, as host:port."},
    {.path = "kafka", TOP(kafka_given[0]), .type = CONFIG_TYPE_PROPERTIES,
     .meaning = "Properties of librdkafka for all its clients, by their own names; bootstrap.servers is needed. Those "
                "a promise of tarry rests on (acks, idempotence, auto commit, isolation level, transactional id, group "
                "instance id) are refused. A secret is best given by its name with _file behind it: sasl.password_file "
                "names a file with the password, or a credential (nats.password_file)."},
    {.path = "kafka.producer", TOP(kafka_given[1]), .type = CONFIG_TYPE_PROPERTIES,
     .meaning = "Properties for the producer only; they win over those under kafka."},
    {.path = "kafka.consumer", TOP(kafka_given[2]), .type = CONFIG_TYPE_PROPERTIES,
     .meaning = "Properties for the consumer only; they win over those under kafka."},
    {.path = "store.path", TOP(store_path), .type = CONFIG_TYPE_PATH, .most = 3072, .fallback = "/var/lib/tarry",
     .meaning = "Directory of the checkpoint, for this process alone; made if absent. Losing it loses no record: it is "
                "rebuilt from the topics."},
    {.path = "store.max_size", TOP(store_max_size_bytes), .type = CONFIG_TYPE_SIZE, .fallback = "64GiB", .least = MIB, .most = 65536 * GIB,
     .meaning = "The most it may grow to. Taken as address space at once, as disk only when needed. When it is full, "
                "reading pauses and what is due still leaves."},
    {.path = "store.checkpoint", TOP(store_checkpoint_ms), .type = CONFIG_TYPE_DURATION, .fallback = "100ms", .least = 1, .most = 60 * SECOND,
     .meaning = "Least time between two checkpoints. What is due before its checkpoint is never written to disk."},
    {.path = "delivery", TOP(delivery), .type = CONFIG_TYPE_CHOICE, .choices = "at_least_once|exactly_once", .fallback = "at_least_once",
     .meaning = "at_least_once: an output is acknowledged before progress is committed; after a crash some are "
                "repeated, with the same tarry-id. exactly_once: outputs and progress are one Kafka transaction; a "
                "consumer with isolation.level=read_committed sees each record once. May be changed on live data: "
                "docs/operating.md."},
    {.path = "transaction_timeout", TOP(transaction_timeout_ms), .type = CONFIG_TYPE_DURATION, .fallback = "10s", .least = SECOND,
     .most = 900 * SECOND,
     .meaning = "How long a transaction may stay open before the broker ends it: a dead owner's open transaction "
                "blocks its successor, and readers of its target topics, that long; and when brokers are away for "
                "longer, it is given up and made again. It is Kafka's transaction.timeout.ms, and not to exceed the "
                "brokers' transaction.max.timeout.ms (15 minutes by default). Copies forward are transactions in both "
                "modes of delivery."},
    {.path = "copy_forward.enabled", TOP(copy_forward), .type = CONFIG_TYPE_BOOL, .fallback = "true",
     .meaning = "Whether pending records that have become old in the topic are written to its end again, with the same "
                "due time, each in one transaction with the progress that ends the old one. Kafka keeps records for 7 "
                "days by default, and people schedule for a year; without copies a record that its topic no longer "
                "holds is on store.path alone, and one that waits long makes a start with an empty disk read all that "
                "came after it. Needs leave to write to the source topics."},
    {.path = "copy_forward.span", TOP(copy_forward_span), .type = CONFIG_TYPE_COUNT, .fallback = "10000000", .least = 1000,
     .most = INT64_C(1000000000000),
     .meaning = "When a partition has more offsets than this from its oldest pending record to its end, and more than "
                "twice as many as are pending, the oldest pending records are copied forward. It bounds what a start "
                "or a takeover without a checkpoint must read."},
    {.path = "copy_forward.retention_percent", TOP(copy_forward_retention_percent), .type = CONFIG_TYPE_COUNT, .fallback = "50", .least = 10,
     .most = 90,
     .meaning = "A pending record is copied forward when its age in the topic reaches this part of the topic's "
                "retention.ms: with 50 and Kafka's default of 7 days, after 3.5 days. Less leaves more time for an "
                "outage before the topic drops what is pending, and copies what waits long more often."},
    {.path = "catch_up.rate", TOP(catch_up_per_s), .type = CONFIG_TYPE_RATE, .least = 1, .most = 1000000,
     .meaning = "How many of the records that were overdue at a start or a takeover leave in a second, in all, in the order of their due times: 5000/s. What comes due from then on is not held up "
                "by them, however many they are. Without it they leave as fast as they can, before what is due later."},
    {.path = "sources", TOP(sources), .type = CONFIG_TYPE_LIST, .required = true,
     .meaning = "The topics that delayed records come in by. At least one."},
    {.path = "targets", TOP(targets), .type = CONFIG_TYPE_LIST,
     .meaning = "The topics that records may go out to. Each entry is a lane with its own progress: a target that "
                "stands still holds up its lane only. The first match wins. A topic that matches none, and is neither "
                "a default_target nor in routes, is refused; `match: \"*\"` allows all."},
    {.path = "unknown_topic_grace", TOP(unknown_topic_grace_ms), .type = CONFIG_TYPE_DURATION, .fallback = "30s", .least = 0, .most = DAY,
     .meaning = "How long a target topic that does not exist is waited for, so that one just created is found, before "
                "its records become dead letters. Its lane stands still meanwhile."},
    {.path = "nats.url", TOP(nats_url), .type = CONFIG_TYPE_SERVERS, .fallback = "nats://localhost:4222",
     .meaning = "NATS with JetStream, which keeps the dead letters. Any number of servers of one cluster, with commas between. A "
                "user and password in it are refused: nats.user, nats.password_file. tarry starts and delivers without it; a "
                "record that fails meanwhile is tried again later (dlq.retry_later)."},
    {.path = "nats.user", TOP(nats_user), .type = CONFIG_TYPE_TEXT, .most = 256, .meaning = "User of NATS, with nats.password_file."},
    {.path = "nats.password_file", TOP(nats_password_file), .type = CONFIG_TYPE_PATH, .most = 3072,
     .meaning = "File that holds the password of nats.user; the line end is not part of it. `credential:NAME`, here and in all other keys that end in _file: "
                "the service manager's credential of that name (systemd's LoadCredential=), below $CREDENTIALS_DIRECTORY."},
    {.path = "nats.token_file", TOP(nats_token_file), .type = CONFIG_TYPE_PATH, .most = 3072,
     .meaning = "File that holds a token of NATS; the line end is not part of it."},
    {.path = "nats.credentials_file", TOP(nats_credentials_file), .type = CONFIG_TYPE_PATH, .most = 3072,
     .meaning = "File of credentials of NATS (JWT and seed, as nsc writes it)."},
    {.path = "nats.tls.ca_file", TOP(nats_tls_ca_file), .type = CONFIG_TYPE_PATH, .most = 3072,
     .meaning = "File of the authorities that may have signed the server's certificate, in PEM; else those of the system."},
    {.path = "nats.tls.certificate_file", TOP(nats_tls_certificate_file), .type = CONFIG_TYPE_PATH, .most = 3072,
     .meaning = "File of tarry's own certificate for NATS, in PEM; with nats.tls.key_file."},
    {.path = "nats.tls.key_file", TOP(nats_tls_key_file), .type = CONFIG_TYPE_PATH, .most = 3072,
     .meaning = "File of the key of nats.tls.certificate_file, in PEM."},
    {.path = "dlq.stream", TOP(dlq_stream), .type = CONFIG_TYPE_STREAM, .fallback = "TARRY_DLQ", .most = 200,
     .meaning = "JetStream's stream of the letters that wait for redelivery. Made at start if absent, with two more that bear its "
                "name and _LARGE (records too large for one message) or _JOBS (replays under way). One that is there is never "
                "changed: /health says in what it differs."},
    {.path = "dlq.parked_stream", TOP(dlq_parked_stream), .type = CONFIG_TYPE_STREAM, .fallback = "TARRY_PARKED", .most = 200,
     .meaning = "The stream of the letters that wait for a person: what was refused when it was read, and what used up its "
                "redeliveries."},
    {.path = "dlq.subject_prefix", TOP(dlq_subject_prefix), .type = CONFIG_TYPE_SUBJECT, .most = 100,
     .meaning = "What all subjects begin with, for more than one tarry on one NATS: with `payments` a letter of the topic orders "
                "is at payments.dlq.orders. A last dot may be written or not. Each needs streams of its own, too."},
    {.path = "dlq.replicas", TOP(dlq_replicas), .type = CONFIG_TYPE_COUNT, .fallback = "1", .least = 1, .most = 5,
     .meaning = "Servers that keep each of the streams, when tarry makes them. In a cluster of three, 3."},
    {.path = "dlq.max_bytes", TOP(dlq_max_bytes), .type = CONFIG_TYPE_SIZE, .fallback = "10GiB", .least = MIB, .most = 65536 * GIB,
     .meaning = "The most each of the streams may hold, when tarry makes them. A full one takes no more letters, and drops none: "
                "records that fail are tried again later (dlq.retry_later), until there is room."},
    {.path = "dlq.retry_later", TOP(dlq_retry_later_ms), .type = CONFIG_TYPE_DURATION, .fallback = "60s", .least = 100, .most = DAY,
     .meaning = "How much later a record is tried again whose letter JetStream could not take. It is written to the end of its "
                "topic again, due that much later, in one transaction with the progress that passes the first."},
    {.path = "nack", TOP(nacks), .type = CONFIG_TYPE_LIST,
     .meaning = "Topics in which consumers leave the records that they failed on: each becomes a dead letter, and is redelivered "
                "to the topic it came from."},
    {.path = "dialects", TOP(dialects), .type = CONFIG_TYPE_NAMED,
     .meaning = "Control headers of your own: from a name to the headers that producers send already, for `dialects` of sources. Part of what "
                "records mean (docs/operating.md, a change of configuration)."},
    {.path = "history.topic", TOP(history_topic), .type = CONFIG_TYPE_TOPIC,
     .meaning = "Topic in which each outcome (delivered, cancelled, replaced, rejected, ...) is written as a JSON object, its key the event's id. "
                "Nothing waits for it: what the brokers do not take in time is counted (tarry_history_dropped_total), and a crash loses the last ones. "
                "Without it no history is written; the latest outcomes are in memory all the same."},
    {.path = "memory.entries", TOP(memory_entries), .type = CONFIG_TYPE_COUNT, .fallback = "4000000", .least = 10000, .most = 1000000000,
     .meaning = "Pending records kept in memory at most, 32 bytes each; beyond, they wait on disk alone until they "
                "come near."},
    {.path = "memory.unwritten", TOP(memory_unwritten_bytes), .type = CONFIG_TYPE_SIZE, .fallback = "64MiB", .least = MIB, .most = 16 * GIB,
     .meaning = "Bytes of records read and not yet in a checkpoint; beyond, reading pauses."},
    {.path = "http.listen", TOP(http_listen), .type = CONFIG_TYPE_ADDRESS, .fallback = "127.0.0.1:7411",
     .meaning = "Address of the HTTP server (health, metrics, API), as host:port; port 0 takes any free one. Beyond "
                "loopback http.token_file is needed."},
    {.path = "http.token_file", TOP(http_token_file), .type = CONFIG_TYPE_PATH, .most = 3072, .reloadable = true,
     .meaning = "File that holds the token that clients must send; the line end is not part of it. Or `credential:NAME`: see nats.password_file."},
    {.path = "http.socket", TOP(http_socket), .type = CONFIG_TYPE_PATH, .most = 103,
     .meaning = "Path of a Unix socket at which the HTTP server answers, too. Who may write to it (mode 0660: user and group of tarry) needs no token. "
                "A stale one of a process that ended is replaced."},
    {.path = "http.payloads", TOP(http_payloads), .type = CONFIG_TYPE_CHOICE, .choices = "full|masked|off", .fallback = "full",
     .meaning = "What the API shows of records. full: keys, values and headers. masked: their sizes and the names of headers. off: none of it."},
    {.path = "metrics.aliases", TOP(metrics_aliases), .type = CONFIG_TYPE_BOOL, .fallback = "false",
     .meaning = "Whether /metrics also shows some of tarry's metrics under the names that dashboards of other schedulers ask for: pending_notifications_total, "
                "notification_send_latency_seconds, scheduler_task_executions_total, scheduler_task_duration_seconds, scheduler_running_tasks (docs/metrics.md)."},
    {.path = "log.level", TOP(log_level), .type = CONFIG_TYPE_CHOICE, .choices = "debug|info|warning|error", .fallback = "info", .reloadable = true,
     .meaning = "Least level that is logged."},
    {.path = "log.format", TOP(log_format), .type = CONFIG_TYPE_CHOICE, .choices = "auto|text|json", .fallback = "auto",
     .meaning = "auto: text on a terminal, else one JSON object a line."},
    {.path = "shutdown_timeout", TOP(shutdown_timeout_ms), .type = CONFIG_TYPE_DURATION, .fallback = "5s", .least = 100, .most = 600 * SECOND,
     .reloadable = true,
     .meaning = "How long SIGTERM waits for what is in flight. What is not acknowledged by then stays pending."},

    {.path = "topic", SOURCE(topic), .type = CONFIG_TYPE_TOPIC, .required = true,
     .meaning = "The topic to read. Once only."},
    {.path = "dialects", SOURCE(dialects), .type = CONFIG_TYPE_NAMES, .fallback = "tarry",
     .meaning = "Sets of control headers that are understood, tarry's own and those of other schedulers and brokers: tarry, etf1, karafka, rabbitmq, "
                "rocketmq, activemq, or a name under the key `dialects` (docs/semantics.md). A header of one that is on does not go out. [] for "
                "none, then envelope must be true."},
    {.path = "envelope", SOURCE(envelope), .type = CONFIG_TYPE_BOOL, .fallback = "false",
     .meaning =
         "Values are JSON objects with the fields type, payload, delay_ms or deliver_at, target, id, retry_count."},
    {.path = "envelope_out", SOURCE(envelope_out), .type = CONFIG_TYPE_CHOICE, .choices = "payload|whole", .fallback = "payload",
     .meaning = "What goes out of an envelope: the payload's own bytes, or the whole value. With envelope only."},
    {.path = "fields", SOURCE(fields), .type = CONFIG_TYPE_MAP, .choices = "type|payload|delay_ms|deliver_at|target|id|retry_count",
     .meaning = "Other names for the envelope's fields, as {deliver_at: delayUntil}. With envelope only."},
    {.path = "routes", SOURCE(routes), .type = CONFIG_TYPE_MAP,
     .meaning = "From an envelope's type to its target topic, as {PAYMENT_TIMEOUT: payments}. With envelope only."},
    {.path = "default_target", SOURCE(default_target), .type = CONFIG_TYPE_TOPIC,
     .meaning = "Target of a record that names none. Without it such a record is refused."},
    {.path = "default_delay", SOURCE(default_delay_ms), .type = CONFIG_TYPE_DURATION, .least = 0, .most = 36525 * DAY,
     .meaning = "Delay of a record that names no time. Without it such a record is refused."},
    {.path = "max_delay", SOURCE(max_delay_ms), .type = CONFIG_TYPE_DURATION, .fallback = "366d", .least = 1, .most = 36525 * DAY,
     .meaning = "A record due later than this after its timestamp is refused."},
    {.path = "late", SOURCE(late), .type = CONFIG_TYPE_CHOICE, .choices = "fire|letter|drop", .fallback = "fire",
     .meaning = "What becomes of an event whose turn comes more than max_lateness after its due time: after an outage, or one that was late when it was "
                "read. fire: it leaves all the same. letter: it becomes a dead letter (late). drop: it is let fall, and counted. What comes again goes "
                "by misfire instead."},
    {.path = "max_lateness", SOURCE(max_lateness_ms), .type = CONFIG_TYPE_DURATION, .least = 0, .most = 36525 * DAY,
     .meaning = "Lateness up to this is none, for late: letter and late: drop, which need it."},
    {.path = "dedupe", SOURCE(dedupe_ms), .type = CONFIG_TYPE_DURATION, .fallback = "0s", .least = 0, .most = 366 * DAY,
     .meaning = "A record whose id came due less than this before the record's timestamp is a duplicate: it is let fall, and counted. 0s: no such rule. "
                "While an id is pending a record of it replaces the event, whatever stands here. Each start reads the records of this time again."},
    {.path = "misfire", SOURCE(misfire), .type = CONFIG_TYPE_CHOICE, .choices = "once|all|skip", .fallback = "once",
     .meaning = "What becomes of occurrences of a schedule (tarry-cron, tarry-every) that have passed when their turn comes. once: one fires, for all of "
                "them. all: each fires, one after the other. skip: none fires; the next one does, at its time."},
    {.path = "misfire_after", SOURCE(misfire_after_ms), .type = CONFIG_TYPE_DURATION, .fallback = "60s", .least = 0, .most = 366 * DAY,
     .meaning = "An occurrence that is later than this has passed, for misfire."},
    {.path = "spread", SOURCE(spread_ms), .type = CONFIG_TYPE_DURATION, .fallback = "0s", .least = 0, .most = DAY,
     .meaning = "Events due at one moment are spread over this time after it: each by its id, or its place in the topic, always alike. 0s: none is "
                "moved."},
    {.path = "output_headers", SOURCE(output_headers), .type = CONFIG_TYPE_CHOICE, .choices = "tarry|none|etf1", .fallback = "tarry",
     .meaning = "tarry: adds tarry-id, tarry-due and tarry-source to what goes out. none: adds nothing. etf1: adds scheduler-timestamp (seconds), "
                "scheduler-key and scheduler-topic."},

    {.path = "name", TARGET(name), .type = CONFIG_TYPE_LANE, .most = METADATA_LANE_NAME_MAX, .required = true,
     .meaning = "Name of the lane, in metrics and in committed metadata. Progress belongs to the name: a renamed lane "
                "is a new one. `default` and names that begin with _ are tarry's own."},
    {.path = "match", TARGET(match), .type = CONFIG_TYPE_PATTERN, .required = true,
     .meaning = "A topic name in which each * stands for any run of characters: \"orders.*\"."},
    {.path = "max_in_flight", TARGET(max_in_flight), .type = CONFIG_TYPE_COUNT, .fallback = "10000", .least = 1, .most = 1000000,
     .reloadable = true,
     .meaning = "Records sent and not yet acknowledged at most."},
    {.path = "rate", TARGET(rate_per_s), .type = CONFIG_TYPE_RATE, .least = 1, .most = 1000000, .reloadable = true,
     .meaning = "Records of this lane that leave in a second at most, from this instance: 5000/s, 5000 or 300000/m. Without it there is no limit. What "
                "waits for its turn is overdue, not lost."},
    {.path = "retry.max_deliver", TARGET(retry.max_deliver), .type = CONFIG_TYPE_TIMES, .fallback = "3", .least = 0, .most = 1000,
     .reloadable = true,
     .meaning = "How often a record that could not be delivered to these topics, or that its consumer sent back, is redelivered; "
                "then it is parked. 0: parked at once. Topics that match no entry of targets have these defaults."},
    {.path = "retry.backoff", TARGET(retry.backoff_ms), .type = CONFIG_TYPE_DURATION, .fallback = "1s", .least = 1, .most = 365 * DAY,
     .reloadable = true,
     .meaning = "How long a record waits before its first redelivery."},
    {.path = "retry.factor", TARGET(retry.factor_percent), .type = CONFIG_TYPE_PERCENT, .fallback = "2", .least = 100, .most = 10000,
     .reloadable = true,
     .meaning = "By what each further wait is longer than the one before."},
    {.path = "retry.backoff_max", TARGET(retry.backoff_max_ms), .type = CONFIG_TYPE_DURATION, .fallback = "60s", .least = 1, .most = 365 * DAY,
     .reloadable = true,
     .meaning = "The longest wait before a redelivery."},
    {.path = "retry.jitter", TARGET(retry.jitter_percent), .type = CONFIG_TYPE_PERCENT, .fallback = "0.2", .least = 0, .most = 100,
     .reloadable = true,
     .meaning = "By what part a wait may be shorter or longer, so that what failed together is not redelivered together."},

    {.path = "match", NACK(match), .type = CONFIG_TYPE_PATTERN, .required = true,
     .meaning = "A topic name in which each * stands for any run of characters: \"*.DLT\"."},
    {.path = "family", NACK(family), .type = CONFIG_TYPE_CHOICE, .choices = "kafka|connect|streams|spring", .fallback = "kafka",
     .meaning = "By which headers a record says where it failed. kafka: __dlq.errors.*; connect: __connect.errors.* (Kafka Connect); "
                "streams: __streams.errors.* (Kafka Streams); spring: kafka_dlt-original-* (Spring Kafka)."},

    {.path = "headers", DIALECT(headers), .type = CONFIG_TYPE_MAP, .required = true,
     .meaning = "From a header's name to what it says, as {X-Delay: delay_ms}: delay, delay_ms, delay_s, at, at_ms, at_s, topic, key, partition, id, "
                "action, expires, expires_ms, expires_s, cron, every, every_ms, every_s, tz, until, until_ms, until_s, count, if_exists, or ignore (it "
                "belongs to the dialect and does not go out)."},
    {.path = "id_from_key", DIALECT(id_from_key), .type = CONFIG_TYPE_BOOL, .fallback = "false",
     .meaning = "Whether a record of this dialect without an id has its key for one."},
    {.path = "null_is_cancel", DIALECT(null_is_cancel), .type = CONFIG_TYPE_BOOL, .fallback = "false",
     .meaning = "Whether a record of this dialect without a value cancels the event of its id."},
};

const struct config_key *config_table_keys(size_t *count)
{
    *count = sizeof KEYS / sizeof KEYS[0];
    return KEYS;
}
