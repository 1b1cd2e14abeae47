#include "tests/support/redelivery_scene.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <librdkafka/rdkafka.h>

#include "dlq/reader.h"
#include "tests/support/await.h"
#include "tests/support/config_text.h"
#include "tests/support/kafka_topics.h"

static struct kafka_broker *broker;

void redelivery_scene_start_broker(void)
{
    const char *const settings[] = {"authorizer.class.name=org.apache.kafka.metadata.authorizer.StandardAuthorizer",
                                    "allow.everyone.if.no.acl.found=true"};
    broker = kafka_broker_start(settings, 2);
}

void redelivery_scene_stop_broker(void)
{
    kafka_broker_free(broker);
}

struct kafka_broker *redelivery_scene_broker(void)
{
    return broker;
}

static struct config *configure(const struct redelivery_scene *scene)
{
    char text[2048];
    snprintf(text, sizeof text,
             "instance: one\ngroup: %s\ndelivery: %s\nkafka: {bootstrap.servers: '%s'}\nnats: {url: '%s'}\n"
             "sources: [{topic: in-%s, default_target: %s}]\n"
             "targets: [{name: out, match: 'out*', retry: {max_deliver: 3, backoff: 300ms, factor: 2, backoff_max: 60s, jitter: 0}}]\n",
             scene->group, scene->exactly_once ? "exactly_once" : "at_least_once", scene->bootstrap, nats_server_url(scene->nats), scene->out, scene->out);
    return config_text_good(text);
}

void redelivery_scene_create_topic(struct redelivery_scene *scene, const char *topic)
{
    struct error error;
    if (scene->mock == NULL) {
        kafka_topics_create(scene->bootstrap, topic, 1, NULL);
    } else if (!mock_cluster_create_topic(scene->mock, topic, 1, &error)) {
        fail_msg("%s", error.text);
    }
}

static void open_kafka(struct redelivery_scene *scene, bool mock)
{
    struct error error;
    if (mock && !mock_cluster_open(1, &scene->mock, &error)) {
        fail_msg("%s", error.text);
    }
    scene->bootstrap = mock ? mock_cluster_bootstrap(scene->mock) : kafka_broker_bootstrap(broker);
}

static struct redelivery_scene *make(bool exactly_once, bool mock)
{
    static int number;
    struct redelivery_scene *scene = calloc(1, sizeof *scene);
    scene->exactly_once = exactly_once;
    number++;
    snprintf(scene->group, sizeof scene->group, "group-%d", number);
    snprintf(scene->out, sizeof scene->out, "out-%d", number);
    snprintf(scene->missing, sizeof scene->missing, "out-missing-%d", number);
    open_kafka(scene, mock);
    scene->nats = nats_server_start(NULL);
    scene->config = configure(scene);
    redelivery_scene_create_topic(scene, scene->out);
    redelivery_scene_create_topic(scene, scene->config->sources[0].topic);
    scene->client = nats_client_open(nats_server_url(scene->nats));
    scene->link = nats_letters_link(nats_server_url(scene->nats));
    scene->options = nats_letters_options();
    nats_letters_streams(scene->link, &scene->options);
    scene->mailer = mailer_new(scene->link, &scene->options);
    return scene;
}

int redelivery_scene_open(void **state)
{
    *state = make(*state != NULL, false);
    return 0;
}

int redelivery_scene_open_mock(void **state)
{
    *state = make(*state != NULL, true);
    return 0;
}

int redelivery_scene_close(void **state)
{
    struct redelivery_scene *scene = *state;
    redelivery_stop(scene->redelivery, 1000);
    mailer_free(scene->mailer);
    link_close(scene->link);
    nats_client_close(scene->client);
    nats_server_free(scene->nats);
    config_free(scene->config);
    mock_cluster_close(scene->mock);
    free(scene);
    return 0;
}

static bool is_running(const struct redelivery_status *status)
{
    return status->phase == REDELIVERY_RUNNING;
}

void redelivery_scene_run(struct redelivery_scene *scene)
{
    const struct redelivery_options options = {.config = scene->config, .wake_fd = -1, .send_timeout_ms = REDELIVERY_SCENE_SEND_TIMEOUT_MS};
    struct error error;
    if (!redelivery_start(&options, &scene->redelivery, &error)) {
        fail_msg("%s", error.text);
    }
    redelivery_set_active(scene->redelivery, true);
    (void)redelivery_scene_await_status(scene, is_running);
}

void redelivery_scene_stop(struct redelivery_scene *scene)
{
    redelivery_stop(scene->redelivery, 10000);
    scene->redelivery = NULL;
}

struct letter redelivery_scene_letter(uint64_t n, const char *target, int64_t not_before_ms)
{
    static char values[32768][16];
    static char keys[10][4];
    char *value = values[n % 32768];
    char *key = keys[n % 10];
    snprintf(value, sizeof values[0], "%" PRIu64, n);
    snprintf(key, sizeof keys[0], "k%" PRIu64, n % 10);
    struct letter letter = nats_letters_one(n, 1);
    letter.first_failure_ms = letter.last_failure_ms = await_wall_ms();
    letter.not_before_ms = not_before_ms;
    letter.target = span_of_text(target);
    letter.record = (struct letter_record){.key = span_of_text(key), .value = span_of_text(value)};
    return letter;
}

uint64_t redelivery_scene_post(struct redelivery_scene *scene, const struct letter *letter, enum letter_state state)
{
    struct mailer_item item = {.letter = letter, .state = state};
    mailer_post(scene->mailer, &item, 1, REDELIVERY_SCENE_WAIT_MS);
    if (item.result != MAILER_KEPT) {
        fail_msg("not kept: %s", item.error);
    }
    return item.sequence;
}

void redelivery_scene_post_many(struct redelivery_scene *scene, uint64_t first, size_t count, const char *target, int64_t not_before_ms)
{
    struct letter *letters = calloc(count, sizeof *letters);
    struct mailer_item *items = calloc(count, sizeof *items);
    for (size_t i = 0; i < count; i++) {
        letters[i] = redelivery_scene_letter(first + i, target, not_before_ms);
        items[i] = (struct mailer_item){.letter = &letters[i], .state = LETTER_WAITING};
    }
    mailer_post(scene->mailer, items, count, REDELIVERY_SCENE_WAIT_MS);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(items[i].result, MAILER_KEPT);
    }
    free(items);
    free(letters);
}

/* ------------------------------------------------------------------------------------------------- waiting */

static const char *stream_of(const struct redelivery_scene *scene, enum letter_state state)
{
    return state == LETTER_PARKED ? scene->options.parked_stream : scene->options.stream;
}

void redelivery_scene_await(struct redelivery_scene *scene, enum letter_state state, const char *filter, uint64_t count, int64_t timeout_ms)
{
    int64_t end_ms = await_mono_ms() + timeout_ms;
    uint64_t there;
    while ((there = nats_client_count(scene->client, stream_of(scene, state), filter)) != count) {
        if (await_mono_ms() >= end_ms) {
            fail_msg("%" PRIu64 " messages in %s, not %" PRIu64, there, stream_of(scene, state), count);
        }
        await_pause_ms(20);
    }
}

struct redelivery_status redelivery_scene_await_status(struct redelivery_scene *scene, redelivery_scene_condition *condition)
{
    struct redelivery_status status;
    int64_t end_ms = await_mono_ms() + REDELIVERY_SCENE_WAIT_MS;
    redelivery_status(scene->redelivery, &status);
    while (!condition(&status)) {
        if (await_mono_ms() >= end_ms) {
            fail_msg("phase %d (%s), %" PRIu64 " waiting, %" PRIu64 " delivered, %" PRIu64 " parked, %" PRIu64 " postponed", status.phase, status.text,
                     status.waiting, status.counts.delivered, status.counts.parked, status.counts.postponed);
        }
        await_pause_ms(20);
        redelivery_status(scene->redelivery, &status);
    }
    return status;
}

size_t redelivery_scene_read(struct redelivery_scene *scene, enum letter_state state, struct redelivery_scene_kept **letters)
{
    struct reader *reader = NULL;
    struct reader_message message;
    struct error error;
    enum reader_result result;
    size_t count = 0;
    *letters = NULL;
    if (!reader_open(scene->link, stream_of(scene, state), NULL, 1, &reader, &error)) {
        fail_msg("%s", error.text);
    }
    while ((result = reader_next(reader, 0, &message, &error)) == READER_MESSAGE) {
        *letters = realloc(*letters, (count + 1) * sizeof **letters);
        struct redelivery_scene_kept *kept = &(*letters)[count++];
        kept->bytes = buffer_new(1 << 24);
        kept->sequence = message.sequence;
        buffer_add_span(&kept->bytes, message.bytes);
        if (!letter_decode(buffer_span(&kept->bytes), &kept->letter, &error)) {
            fail_msg("%s", error.text);
        }
    }
    assert_int_equal(result, READER_NOTHING);
    reader_close(reader);
    return count;
}

void redelivery_scene_free(struct redelivery_scene_kept *letters, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        buffer_free(&letters[i].bytes);
    }
    free(letters);
}

struct redelivery_scene_topic {
    const struct redelivery_scene *scene;
    const char *topic;
};

/* The end of the topic's only partition, as a reader of this isolation sees it. */
static int64_t end_of(const struct redelivery_scene *scene, const char *topic, const char *isolation)
{
    char text[256];
    int64_t low = 0;
    int64_t high = 0;
    rd_kafka_conf_t *conf = rd_kafka_conf_new();
    assert_int_equal(rd_kafka_conf_set(conf, "bootstrap.servers", scene->bootstrap, text, sizeof text), RD_KAFKA_CONF_OK);
    assert_int_equal(rd_kafka_conf_set(conf, "isolation.level", isolation, text, sizeof text), RD_KAFKA_CONF_OK);
    rd_kafka_t *handle = rd_kafka_new(RD_KAFKA_CONSUMER, conf, text, sizeof text);
    assert_non_null(handle);
    rd_kafka_resp_err_t code = rd_kafka_query_watermark_offsets(handle, topic, 0, &low, &high, 10000);
    rd_kafka_destroy(handle);
    assert_int_equal(code, RD_KAFKA_RESP_ERR_NO_ERROR);
    return high;
}

/* A transaction's end is answered before its markers are written: until then no reader of what is committed sees its records. */
static bool is_settled(void *opaque)
{
    const struct redelivery_scene_topic *of = opaque;
    return end_of(of->scene, of->topic, "read_committed") == end_of(of->scene, of->topic, "read_uncommitted");
}

struct kafka_client_records redelivery_scene_records(const struct redelivery_scene *scene, const char *topic)
{
    struct redelivery_scene_topic of = {scene, topic};
    assert_true(await_condition(is_settled, &of, 30000));
    return kafka_client_read_all(scene->bootstrap, (const char *const[]){topic, NULL});
}
