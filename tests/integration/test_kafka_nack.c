/*
 * The thread that takes nacks out of Kafka's topics into letters, with a real broker and a real nats-server: all four families, a server that is away or full,
 * streams of another owner, a second instance, a reading that begins again.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/log.h"
#include "base/memory.h"
#include "dlq/letter.h"
#include "dlq/nack_family.h"
#include "ops/nack_reader.h"
#include "support/await.h"
#include "support/config_text.h"
#include "support/kafka_broker.h"
#include "support/kafka_client.h"
#include "support/kafka_topics.h"
#include "support/nats_client.h"
#include "support/nats_letters.h"
#include "support/nats_server.h"

#define LIMIT_MS 60000
#define LETTERS_MAX 4096

static struct kafka_broker *broker;
static const char *bootstrap;
static struct nats_server *server;
static struct nats_client *client;
static struct link *nats_link;
static struct streams_options streams;
static atomic_int shared_out; /* how often partitions were given or taken */

static void note(const struct log_entry *entry, void *context)
{
    (void)context;
    if (strcmp(entry->event, "nack_partitions") == 0) {
        atomic_fetch_add(&shared_out, 1);
    }
}

static int start(void **state)
{
    (void)state;
    log_sink_set(note, NULL);
    broker = kafka_broker_start(NULL, 0);
    bootstrap = kafka_broker_bootstrap(broker);
    server = nats_server_start(NULL);
    client = nats_client_open(nats_server_url(server));
    nats_link = nats_letters_link(nats_server_url(server));
    streams = nats_letters_options();
    nats_letters_streams(nats_link, &streams);
    return 0;
}

static int end(void **state)
{
    (void)state;
    nats_client_close(client);
    link_close(nats_link);
    nats_server_free(server);
    kafka_broker_free(broker);
    log_sink_set(NULL, NULL);
    return 0;
}

/* ------------------------------------------------------------------------------------------------- a reader and its letters */

/* Topics and group begin with `name`, so that tests do not meet. */
static struct config *configure(const char *name)
{
    char text[2048];
    (void)snprintf(text, sizeof text,
                   "instance: i\ngroup: %s\n"
                   "kafka: {bootstrap.servers: '%s', consumer: {session.timeout.ms: '6000', heartbeat.interval.ms: '500', max.poll.interval.ms: '6000'}}\n"
                   "sources: [{topic: in, default_target: out}]\n"
                   "targets: [{name: orders, match: 'orders*', retry: {max_deliver: 3, backoff: 1h, backoff_max: 2h, jitter: 0}}]\n"
                   "nack:\n"
                   "- {match: '%s.dlq.*', family: kafka}\n"
                   "- {match: '%s-connect', family: connect}\n"
                   "- {match: '%s-streams', family: streams}\n"
                   "- {match: '%s.*.DLT', family: spring}\n",
                   name, bootstrap, name, name, name, name);
    nats_client_purge(client, streams.stream, NULL);
    nats_client_purge(client, streams.parked_stream, NULL);
    return config_text_good(text);
}

static struct nack_reader *open_reader(const struct config *config)
{
    struct nack_reader *reader = NULL;
    struct error error = {0};
    if (!nack_reader_start(config, streams.owner, nats_link, &reader, &error)) {
        fail_msg("%s", error.text);
    }
    return reader;
}

struct wanted {
    const char *stream;
    uint64_t count;
};

static bool has_letters(void *context)
{
    const struct wanted *wanted = context;
    return nats_client_count(client, wanted->stream, NULL) >= wanted->count;
}

static void await_letters(const char *stream, uint64_t count)
{
    struct wanted wanted = {stream, count};
    if (!await_condition(has_letters, &wanted, LIMIT_MS)) {
        fail_msg("%s: %llu letters, not %llu", stream, (unsigned long long)nats_client_count(client, stream, NULL), (unsigned long long)count);
    }
}

/* All letters of a stream, in order. */
struct letters {
    natsMsg *messages[LETTERS_MAX];
    struct letter items[LETTERS_MAX];
    size_t count;
};

static struct letters *read_letters(const char *stream)
{
    struct letters *letters = memory_new(1, sizeof *letters);
    jsStreamInfo *info = NULL;
    assert_true(nats_client_info(client, stream, &info));
    for (uint64_t sequence = info->State.FirstSeq; sequence <= info->State.LastSeq; sequence++) {
        natsMsg *message = nats_client_message(client, stream, sequence);
        if (message != NULL) {
            assert_true(letters->count < LETTERS_MAX);
            struct span bytes = {(const uint8_t *)natsMsg_GetData(message), (size_t)natsMsg_GetDataLength(message)};
            letters->messages[letters->count] = message;
            assert_true(letter_decode(bytes, &letters->items[letters->count++], NULL));
        }
    }
    jsStreamInfo_Destroy(info);
    return letters;
}

static void free_letters(struct letters *letters)
{
    for (size_t i = 0; i < letters->count; i++) {
        natsMsg_Destroy(letters->messages[i]);
    }
    free(letters);
}

static const struct letter *find(const struct letters *letters, const char *value)
{
    for (size_t i = 0; i < letters->count; i++) {
        if (span_equals_text(letters->items[i].record.value, value)) {
            return &letters->items[i];
        }
    }
    fail_msg("no letter of %s", value);
    return NULL;
}

static struct record_header text_header(const char *name, const char *value)
{
    return (struct record_header){span_of_text(name), span_of_text(value)};
}

static void produce(const char *topic, const char *value, const struct record_header *headers, size_t count)
{
    const struct kafka_client_output output = {.partition = 0, .key = span_of_text("key"), .value = span_of_text(value), .headers = headers, .header_count = count};
    kafka_client_produce_one(bootstrap, topic, &output);
}

static void produce_shares(const char *topic, const char *value, const char *origin)
{
    const struct record_header headers[] = {text_header("__dlq.errors.topic", origin), text_header("__dlq.errors.partition", "0"),
                                            text_header("__dlq.errors.offset", "17"), text_header("__dlq.errors.group", "shares"),
                                            text_header("__dlq.errors.message", "Offset rejected by client."), text_header("own", "1")};
    produce(topic, value, headers, sizeof headers / sizeof headers[0]);
}

static void produce_many(const char *topic, int first, int count)
{
    struct kafka_client_producer *producer = kafka_client_producer_open(bootstrap, NULL);
    const struct record_header headers[] = {text_header("__dlq.errors.topic", "orders")};
    for (int i = first; i < first + count; i++) {
        char value[32];
        (void)snprintf(value, sizeof value, "%06d", i);
        const struct kafka_client_output output = {.partition = i % 2, .value = span_of_text(value), .headers = headers, .header_count = 1};
        kafka_client_produce(producer, topic, &output);
    }
    kafka_client_flush(producer);
    kafka_client_producer_close(producer);
}

/* Each value from 0 to count - 1 in exactly one letter. */
static void assert_each_once(const char *stream, size_t count)
{
    struct letters *letters = read_letters(stream);
    bool *seen = memory_new(count, sizeof *seen);
    for (size_t i = 0; i < letters->count; i++) {
        const struct span value = letters->items[i].record.value;
        char text[32] = "";
        memcpy(text, value.data, value.length < 31 ? value.length : 31);
        size_t number = (size_t)strtoul(text, NULL, 10);
        assert_true(number < count);
        assert_false(seen[number]);
        seen[number] = true;
    }
    assert_int_equal(letters->count, count);
    free(seen);
    free_letters(letters);
}

struct committed {
    const char *group, *topic;
    int64_t offset;
};

static bool is_committed(void *context)
{
    const struct committed *committed = context;
    return kafka_client_committed(bootstrap, committed->group, committed->topic, 0, NULL) == committed->offset;
}

static void await_committed(const char *group, const char *topic, int64_t offset)
{
    assert_true(await_condition(is_committed, &(struct committed){group, topic, offset}, LIMIT_MS));
}

static bool stands(void *reader)
{
    return nack_reader_counts(reader).standing;
}

/* ------------------------------------------------------------------------------------------------- tests */

static void assert_waiting(const struct letter *letter, const char *group, const char *error, int32_t partition, int64_t offset)
{
    assert_int_equal(letter->reason, LETTER_REASON_CONSUMER_FAILED);
    assert_true(span_equals_text(letter->target, "orders"));
    assert_true(span_equals_text(letter->origin.topic, "orders"));
    assert_int_equal(letter->origin.partition, partition);
    assert_int_equal(letter->origin.offset, offset);
    assert_true(span_equal(letter->group, span_of_text(group)));
    assert_true(span_equals_text(letter->error, error));
    assert_true(span_equals_text(letter->record.key, "key"));
    assert_true(span_equals_text(nack_family_header(letter->record.headers, "own"), "1"));
    struct span headers = letter->record.headers;
    struct span name, value;
    assert_true(letter_next_header(&headers, &name, &value));
    assert_false(letter_next_header(&headers, &name, &value)); /* the family's are gone */
    assert_true(letter->not_before_ms > await_wall_ms() + 1800 * 1000);
}

static void all_four_families_become_letters(void **state)
{
    (void)state;
    struct config *config = configure("fam");
    kafka_topics_create(bootstrap, "fam.dlq.orders", 1, NULL);
    kafka_topics_create(bootstrap, "famXdlq.orders", 1, NULL); /* a dot is a dot */
    kafka_topics_create(bootstrap, "fam-connect", 1, NULL);
    kafka_topics_create(bootstrap, "fam-streams", 1, NULL);
    struct nack_reader *reader = open_reader(config);
    produce_shares("famXdlq.orders", "foreign", "orders");
    produce_shares("fam.dlq.orders", "shares", "orders");
    const struct record_header connect[] = {text_header("__connect.errors.topic", "orders"), text_header("__connect.errors.partition", "1"),
                                            text_header("__connect.errors.offset", "9223372036854775807"), text_header("__connect.errors.connector.name", "s3"),
                                            text_header("__connect.errors.exception.message", "no date"), text_header("own", "1")};
    produce("fam-connect", "connect", connect, 6);
    const struct record_header application[] = {text_header("__streams.errors.topic", "orders"), text_header("__streams.errors.partition", "2"),
                                                text_header("__streams.errors.offset", "3"), text_header("__streams.errors.message", "bad\nrecord"),
                                                text_header("own", "1"), text_header("tarry-redelivery", "1")};
    produce("fam-streams", "streams", application, 6);
    await_letters(streams.stream, 3);
    kafka_topics_create(bootstrap, "fam.orders.DLT", 1, NULL); /* one made later is found */
    const struct record_header spring[] = {text_header("kafka_dlt-original-topic", "orders"),
                                           {span_of_text("kafka_dlt-original-partition"), {(const uint8_t *)"\0\0\0\5", 4}},
                                           {span_of_text("kafka_dlt-original-offset"), {(const uint8_t *)"\0\0\0\0\0\0\1\0", 8}},
                                           text_header("kafka_dlt-original-consumer-group", "billing"),
                                           text_header("kafka_dlt-exception-message", "Listener failed"),
                                           text_header("own", "1")};
    produce("fam.orders.DLT", "spring", spring, 6);
    await_letters(streams.stream, 4);
    await_committed("fam.nacks", "fam.orders.DLT", 1);
    struct letters *letters = read_letters(streams.stream);
    assert_int_equal(letters->count, 4);
    assert_waiting(find(letters, "shares"), "shares", "Offset rejected by client.", 0, 17);
    assert_waiting(find(letters, "connect"), "s3", "no date", 1, INT64_MAX);
    assert_waiting(find(letters, "streams"), NULL, "bad?record", 2, 3);
    assert_waiting(find(letters, "spring"), "billing", "Listener failed", 5, 256);
    assert_int_equal(find(letters, "streams")->attempt, 2);
    assert_int_equal(nack_reader_counts(reader).read, 4);
    assert_int_equal(nack_reader_counts(reader).parked, 0);
    free_letters(letters);
    nack_reader_stop(reader);
    config_free(config);
}

static void what_cannot_be_redelivered_is_parked(void **state)
{
    (void)state;
    struct config *config = configure("park");
    kafka_topics_create(bootstrap, "park.dlq.x", 1, NULL);
    const struct record_header spent[] = {text_header("__dlq.errors.topic", "orders"), text_header("tarry-redelivery", "3")};
    const struct record_header nothing[] = {text_header("own", "1")};
    produce_shares("park.dlq.x", "foreign", "payroll");
    produce("park.dlq.x", "spent", spent, 2);
    produce("park.dlq.x", "nothing", nothing, 1);
    struct nack_reader *reader = open_reader(config);
    await_letters(streams.parked_stream, 3);
    await_committed("park.nacks", "park.dlq.x", 3);
    struct letters *letters = read_letters(streams.parked_stream);
    assert_int_equal(find(letters, "foreign")->reason, LETTER_REASON_TARGET_NOT_ALLOWED);
    assert_int_equal(find(letters, "spent")->attempt, 3);
    assert_int_equal(find(letters, "nothing")->reason, LETTER_REASON_BAD_NACK);
    assert_null(find(letters, "nothing")->target.data);
    assert_true(span_equals_text(find(letters, "nothing")->origin.topic, "park.dlq.x"));
    assert_int_equal(nats_client_count(client, streams.stream, NULL), 0);
    assert_int_equal(nack_reader_counts(reader).parked, 3);
    free_letters(letters);
    nack_reader_stop(reader);
    config_free(config);
}

/* Longer than max.poll.interval.ms and the session: the member stays, and each nack is one letter. */
static void while_nats_is_away_nothing_is_lost_nor_doubled(void **state)
{
    (void)state;
    struct config *config = configure("away");
    kafka_topics_create(bootstrap, "away.dlq.x", 2, NULL);
    produce_many("away.dlq.x", 0, 100);
    struct nack_reader *reader = open_reader(config);
    await_letters(streams.stream, 100);
    await_committed("away.nacks", "away.dlq.x", 50);
    nats_server_kill(server);
    int before = atomic_load(&shared_out);
    produce_many("away.dlq.x", 100, 1900);
    assert_true(await_condition(stands, reader, LIMIT_MS));
    await_pause_ms(9000); /* it is the passing of time that is tested */
    assert_int_equal(atomic_load(&shared_out), before);
    nats_server_restart(server);
    await_letters(streams.stream, 2000);
    await_committed("away.nacks", "away.dlq.x", 1000);
    assert_each_once(streams.stream, 2000);
    assert_int_equal(atomic_load(&shared_out), before);
    assert_int_equal(nack_reader_counts(reader).read, 2000);
    assert_false(nack_reader_counts(reader).standing);
    nack_reader_stop(reader);
    config_free(config);
}

#define SECOND_NS INT64_C(1000000000)

static void give_room(jsStreamConfig *config)
{
    config->MaxBytes = 64 << 20;
    config->Duplicates = 120 * SECOND_NS;
}

/* With so short a memory for ids, a letter that was kept and posted again would be a second one. */
static void take_room(jsStreamConfig *config)
{
    config->MaxBytes = 30000;
    config->Duplicates = SECOND_NS / 10;
}

struct tries {
    struct nack_reader *reader;
    uint64_t failed;
};

static bool tried_again(void *context)
{
    const struct tries *tries = context;
    return nack_reader_counts(tries->reader).failed >= tries->failed;
}

static void a_full_stream_is_waited_for(void **state)
{
    (void)state;
    struct config *config = configure("full");
    kafka_topics_create(bootstrap, "full.dlq.x", 2, NULL);
    nats_client_edit(client, streams.stream, take_room);
    produce_many("full.dlq.x", 0, 500);
    struct nack_reader *reader = open_reader(config);
    assert_true(await_condition(stands, reader, LIMIT_MS));
    struct nack_reader_counts counts = nack_reader_counts(reader);
    assert_true(counts.read > 0 && counts.read < 500 && counts.failed > 0);
    /* two tries more: by then the ids of those that were kept are forgotten */
    assert_true(await_condition(tried_again, &(struct tries){reader, 3 * counts.failed}, LIMIT_MS));
    nats_client_edit(client, streams.stream, give_room);
    await_letters(streams.stream, 500);
    await_committed("full.nacks", "full.dlq.x", 250);
    assert_each_once(streams.stream, 500);
    nack_reader_stop(reader);
    config_free(config);
}

static bool group_is_empty(void *group)
{
    return kafka_client_group_is_empty(bootstrap, group);
}

/* As after a crash between JetStream's acknowledgement and Kafka's. */
static void what_is_read_twice_is_one_letter(void **state)
{
    (void)state;
    struct config *config = configure("twice");
    kafka_topics_create(bootstrap, "twice.dlq.x", 2, NULL);
    produce_many("twice.dlq.x", 0, 300);
    struct nack_reader *reader = open_reader(config);
    await_letters(streams.stream, 300);
    await_committed("twice.nacks", "twice.dlq.x", 150);
    nack_reader_stop(reader);
    char group[] = "twice.nacks";
    assert_true(await_condition(group_is_empty, group, LIMIT_MS));
    kafka_client_commit(bootstrap, "twice.nacks", "twice.dlq.x", 0, 10, NULL);
    reader = open_reader(config);
    produce_many("twice.dlq.x", 300, 2);
    await_letters(streams.stream, 302);
    await_committed("twice.nacks", "twice.dlq.x", 151);
    assert_each_once(streams.stream, 302);
    assert_int_equal(nack_reader_counts(reader).read, 142);
    nack_reader_stop(reader);
    config_free(config);
}

/* Leaving is said, so that the others need not wait for the session's end. */
static void instances_share_and_take_over(void **state)
{
    (void)state;
    struct config *config = configure("share");
    kafka_topics_create(bootstrap, "share.dlq.x", 2, NULL);
    struct nack_reader *first = open_reader(config);
    produce_many("share.dlq.x", 0, 100);
    await_letters(streams.stream, 100);
    struct nack_reader *second = open_reader(config);
    int next = 100;
    for (int64_t until_ms = await_mono_ms() + LIMIT_MS; nack_reader_counts(second).read == 0 && await_mono_ms() < until_ms; next += 10) {
        produce_many("share.dlq.x", next, 10);
        await_pause_ms(200);
    }
    assert_true(nack_reader_counts(second).read > 0);
    nack_reader_stop(first);
    int64_t left_ms = await_mono_ms();
    produce_many("share.dlq.x", next, 100);
    await_letters(streams.stream, (uint64_t)next + 100);
    print_message("taken over within %lld ms\n", (long long)(await_mono_ms() - left_ms));
    assert_each_once(streams.stream, (size_t)next + 100);
    nack_reader_stop(second);
    config_free(config);
}

static void aborted_nacks_are_none(void **state)
{
    (void)state;
    struct config *config = configure("abort");
    const char *const properties[] = {"transactional.id=nacks", NULL};
    const struct record_header headers[] = {text_header("__dlq.errors.topic", "orders")};
    kafka_topics_create(bootstrap, "abort.dlq.x", 1, NULL);
    struct nack_reader *reader = open_reader(config);
    struct kafka_client_producer *producer = kafka_client_producer_open(bootstrap, properties);
    for (int i = 0; i < 2; i++) {
        const struct kafka_client_output output = {.value = span_of_text(i == 0 ? "aborted" : "committed"), .headers = headers, .header_count = 1};
        kafka_client_begin(producer);
        kafka_client_produce(producer, "abort.dlq.x", &output);
        kafka_client_flush(producer);
        (i == 0 ? kafka_client_abort_transaction : kafka_client_commit_transaction)(producer);
    }
    kafka_client_producer_close(producer);
    await_letters(streams.stream, 1);
    struct letters *letters = read_letters(streams.stream);
    assert_int_equal(letters->count, 1);
    assert_true(span_equals_text(letters->items[0].record.value, "committed"));
    free_letters(letters);
    nack_reader_stop(reader);
    config_free(config);
}

static void edit_foreign(jsStreamConfig *config)
{
    config->Description = "tarry letters of other/group";
}

static void edit_ours(jsStreamConfig *config)
{
    config->Description = "tarry letters of cluster/group";
}

static void assert_stands(struct nack_reader *reader, const char *group, const char *topic, int64_t committed)
{
    assert_true(await_condition(stands, reader, LIMIT_MS));
    assert_true(await_condition(tried_again, &(struct tries){reader, nack_reader_counts(reader).failed + 2}, LIMIT_MS));
    assert_true(stands(reader));
    assert_int_equal(kafka_client_committed(bootstrap, group, topic, 0, NULL), committed);
}

/* One of the two is enough to refuse. */
static void streams_of_another_owner_are_not_written_to(void **state)
{
    (void)state;
    const char *const names[] = {streams.stream, streams.parked_stream};
    struct config *config = configure("owner");
    kafka_topics_create(bootstrap, "owner.dlq.x", 1, NULL);
    produce_shares("owner.dlq.x", "waiting", "orders");
    produce_shares("owner.dlq.x", "parked", "payroll");
    const int64_t none = kafka_client_committed(bootstrap, "owner.nacks", "owner.dlq.x", 0, NULL);
    for (int i = 0; i < 2; i++) {
        nats_client_edit(client, names[i], edit_foreign);
    }
    struct nack_reader *reader = open_reader(config);
    for (int i = 0; i < 2; i++) {
        assert_stands(reader, "owner.nacks", "owner.dlq.x", none);
        assert_int_equal(nats_client_count(client, streams.stream, NULL), 0);
        assert_int_equal(nats_client_count(client, streams.parked_stream, NULL), 0);
        nats_client_edit(client, names[i], edit_ours);
    }
    await_letters(streams.stream, 1);
    await_letters(streams.parked_stream, 1);
    await_committed("owner.nacks", "owner.dlq.x", 2);
    assert_false(nack_reader_counts(reader).standing);
    assert_int_equal(nack_reader_counts(reader).read, 2);
    nack_reader_stop(reader);
    config_free(config);
}

/* They become another's while the connection stands and the reader is at work. */
static void streams_that_change_hands_are_left_alone(void **state)
{
    (void)state;
    struct config *config = configure("hands");
    kafka_topics_create(bootstrap, "hands.dlq.x", 1, NULL);
    struct nack_reader *reader = open_reader(config);
    produce_shares("hands.dlq.x", "0", "orders");
    await_letters(streams.stream, 1);
    await_committed("hands.nacks", "hands.dlq.x", 1);
    nats_client_edit(client, streams.stream, edit_foreign);
    int64_t count = 1;
    for (int64_t until_ms = await_mono_ms() + LIMIT_MS; !stands(reader) && await_mono_ms() < until_ms; count++) {
        char value[32];
        (void)snprintf(value, sizeof value, "%lld", (long long)count);
        produce_shares("hands.dlq.x", value, "orders"); /* until the reader has looked again */
        await_pause_ms(300);
    }
    uint64_t kept = nats_client_count(client, streams.stream, NULL);
    assert_stands(reader, "hands.nacks", "hands.dlq.x", (int64_t)kept);
    assert_int_equal(nats_client_count(client, streams.stream, NULL), kept);
    nats_client_edit(client, streams.stream, edit_ours);
    await_committed("hands.nacks", "hands.dlq.x", count);
    assert_each_once(streams.stream, (size_t)count);
    nack_reader_stop(reader);
    config_free(config);
}

static void a_reload_changes_nothing_but_policies(void **state)
{
    (void)state;
    struct config *config = configure("again");
    struct config *fresh = config_text_good("instance: i\ngroup: again\nkafka: {bootstrap.servers: 'b:1'}\nsources: [{topic: in, default_target: out}]\n"
                                            "targets: [{name: orders, match: 'orders*', retry: {max_deliver: 0}}]\n"); /* without nack */
    const struct record_header spring[] = {text_header("kafka_dlt-original-topic", "orders")};
    kafka_topics_create(bootstrap, "again.orders.DLT", 1, NULL);
    struct nack_reader *reader = open_reader(config);
    produce("again.orders.DLT", "before", spring, 1);
    await_letters(streams.stream, 1);
    nack_reader_reload(reader, fresh);
    produce("again.orders.DLT", "after", spring, 1);
    await_letters(streams.parked_stream, 1);
    struct letters *letters = read_letters(streams.parked_stream);
    assert_int_equal(find(letters, "after")->reason, LETTER_REASON_CONSUMER_FAILED);
    assert_true(span_equals_text(find(letters, "after")->target, "orders"));
    free_letters(letters);
    nack_reader_stop(reader);
    config_free(fresh);
    config_free(config);
}

static void without_nack_topics_there_is_no_reader(void **state)
{
    (void)state;
    struct config *config = config_text_good(CONFIG_TEXT_LEAST);
    struct nack_reader *reader = NULL;
    struct error error = {0};
    assert_true(nack_reader_start(config, streams.owner, nats_link, &reader, &error));
    assert_null(reader);
    assert_int_equal(nack_reader_counts(reader).read, 0);
    nack_reader_stop(reader);
    config_free(config);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_four_families_become_letters),
        cmocka_unit_test(what_cannot_be_redelivered_is_parked),
        cmocka_unit_test(while_nats_is_away_nothing_is_lost_nor_doubled),
        cmocka_unit_test(a_full_stream_is_waited_for),
        cmocka_unit_test(what_is_read_twice_is_one_letter),
        cmocka_unit_test(instances_share_and_take_over),
        cmocka_unit_test(aborted_nacks_are_none),
        cmocka_unit_test(streams_of_another_owner_are_not_written_to),
        cmocka_unit_test(streams_that_change_hands_are_left_alone),
        cmocka_unit_test(a_reload_changes_nothing_but_policies),
        cmocka_unit_test(without_nack_topics_there_is_no_reader),
    };
    return cmocka_run_group_tests(tests, start, end);
}
