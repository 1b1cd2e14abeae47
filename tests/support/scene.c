#include "tests/support/scene.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#include "base/buffer.h"
#include "base/memory.h"
#include "tests/support/await.h"
#include "tests/support/http_get.h"
#include "tests/support/scene_instance.h"
#include "tests/support/temp.h"

#define READY_TIMEOUT_MS 60000
#define SHUTDOWN_MS 5000
#define HEADERS_MAX 512

/* A record whose offset the broker has yet to tell. */
struct scene_unplaced {
    struct scene_unplaced *next;
    size_t number;
    int64_t offset;
};

static struct kafka_broker *broker;
static struct nats_server *nats; /* NULL: no scene has asked for it */
static struct scene *current; /* open, not yet closed */

/* -------------------------------------------------------------------------------------------------- fixture */

int scene_group_setup(void **state)
{
    (void)state;
    /* A dead owner's transaction is ended soon after its timeout, not up to 10 s later. */
    static const char *const settings[] = {"transaction.abort.timed.out.transaction.cleanup.interval.ms=500"};
    broker = kafka_broker_start(settings, sizeof(settings) / sizeof(settings[0]));
    return 0;
}

int scene_group_teardown(void **state)
{
    (void)state;
    kafka_broker_free(broker);
    broker = NULL;
    nats_server_free(nats);
    nats = NULL;
    return 0;
}

struct kafka_broker *scene_broker(void)
{
    return broker;
}

struct nats_server *scene_nats(void)
{
    if (nats == NULL) {
        nats = nats_server_start(NULL);
    }
    return nats;
}

int scene_teardown(void **state)
{
    (void)state;
    if (current != NULL) {
        if (current->process != NULL) {
            tarry_process_show_log(current->process);
        }
        for (size_t i = 0; i < current->instance_count; i++) {
            scene_instance_show_log(current->instances[i]);
        }
        scene_close(current);
    }
    if (kafka_broker_pid(broker) == 0) { /* the failed test had stopped or frozen it: the next one needs it */
        kafka_broker_restart(broker);
    } else {
        kafka_broker_thaw(broker);
    }
    if (nats != NULL && nats_server_pid(nats) == 0) {
        nats_server_restart(nats);
    } else if (nats != NULL) {
        nats_server_thaw(nats);
    }
    return 0;
}

/* -------------------------------------------------------------------------------------------- configuration */

/* Adds a piece of YAML with the scene's prefix put in for "@". */
static void add_piece(struct buffer *text, const struct scene *scene, const char *piece)
{
    for (; *piece != '\0'; piece++) {
        if (*piece == '@') {
            buffer_add_text(text, scene->prefix);
        } else {
            buffer_add(text, piece, 1);
        }
    }
}

static void
add_optional(struct buffer *text, const struct scene *scene, const char *before, const char *piece, const char *after)
{
    if (piece != NULL) {
        buffer_add_text(text, before);
        add_piece(text, scene, piece);
        buffer_add_text(text, after);
    }
}

void scene_configure_for(struct scene *scene, const struct scene_options *options, const struct scene_own *own)
{
    struct buffer text = buffer_new(64u * 1024);
    buffer_add_format(&text, "instance: %s\ngroup: %s\nkafka: {bootstrap.servers: \"%s\"", own->instance, scene->prefix,
                      scene->bootstrap);
    add_optional(&text, scene, ", ", options->kafka, "");
    buffer_add_text(&text, "}\n");
    buffer_add_format(&text, "store: {path: \"%s\", max_size: %s, checkpoint: 100ms}\n", own->store_path,
                      options->store_size == NULL ? "1GiB" : options->store_size);
    buffer_add_format(&text, "nats: {url: \"%s\"", scene->nats_url);
    add_optional(&text, scene, ", ", options->nats, "");
    buffer_add_format(&text, "}\ndlq: {stream: %s, parked_stream: %s, subject_prefix: %s, max_bytes: 64MiB", scene->dlq_stream,
                      scene->parked_stream, scene->subject_prefix);
    add_optional(&text, scene, ", ", options->dlq, "");
    buffer_add_format(&text, "}\nsources:\n  - {topic: %s, default_target: ", scene->in);
    add_piece(&text, scene, options->default_target == NULL ? "@-out" : options->default_target);
    add_optional(&text, scene, ", ", options->source, "");
    buffer_add_text(&text, "}\n");
    add_optional(&text, scene, "targets: ", options->targets, "\n");
    buffer_add_format(&text, "http: {listen: \"127.0.0.1:%d\"}\nlog: {level: info, format: json}\n", own->http_port);
    buffer_add_format(&text, "shutdown_timeout: %dms\n", SHUTDOWN_MS);
    add_optional(&text, scene, "", options->more, "\n");
    FILE *file = fopen(own->config_path, "w");
    assert_non_null(file);
    assert_int_equal(fwrite(text.data, 1, text.length, file), text.length);
    assert_int_equal(fclose(file), 0);
    buffer_free(&text);
}

void scene_configure(struct scene *scene, const struct scene_options *options)
{
    struct scene_own own = {scene->prefix, scene->store_path, scene->config_path, scene->http_port};
    scene_configure_for(scene, options, &own);
}

/* ----------------------------------------------------------------------------------------------------- scene */

static void make_output(struct scene *scene, const char *topic)
{
    static const char *const append_time[] = {"message.timestamp.type=LogAppendTime", NULL};
    kafka_topics_create(scene->bootstrap, topic, 1, append_time);
}

static void make_topics(struct scene *scene, const struct scene_options *options)
{
    const char *topics[SCENE_OUTS_MAX + 2] = {NULL};
    kafka_topics_create(scene->bootstrap, scene->in, scene->partitions, options->in_settings);
    snprintf(scene->outs[scene->out_count++], SCENE_NAME_MAX, "%s", scene->out);
    for (size_t i = 0; i < SCENE_OUTS_MAX && options->outs[i] != NULL; i++) {
        struct buffer name = buffer_new(SCENE_NAME_MAX - 1);
        add_piece(&name, scene, options->outs[i]);
        snprintf(scene->outs[scene->out_count++], SCENE_NAME_MAX, "%.*s", (int)name.length, (const char *)name.data);
        buffer_free(&name);
    }
    for (size_t i = 0; i < scene->out_count; i++) {
        make_output(scene, scene->outs[i]);
        topics[i] = scene->outs[i];
    }
    scene->reader = kafka_client_reader_open(scene->bootstrap, topics);
}

struct scene *scene_open(const char *name, const struct scene_options *options)
{
    assert_null(current);
    static int number;
    struct scene *scene = memory_new(1, sizeof(*scene));
    current = scene;
    snprintf(scene->prefix, sizeof(scene->prefix), "%s%d", name, number++);
    if (options->in != NULL) {
        snprintf(scene->in, sizeof(scene->in), "%s", options->in);
    } else {
        snprintf(scene->in, sizeof(scene->in), "%.60s-in", scene->prefix);
    }
    snprintf(scene->out, sizeof(scene->out), "%.60s-out", scene->prefix);
    snprintf(scene->dlq_stream, sizeof(scene->dlq_stream), "%.60s_DLQ", scene->prefix);
    snprintf(scene->parked_stream, sizeof(scene->parked_stream), "%.60s_PARKED", scene->prefix);
    snprintf(scene->subject_prefix, sizeof(scene->subject_prefix), "%.60s", scene->prefix);
    scene->nats_url = options->letters ? nats_server_url(scene_nats()) : "nats://127.0.0.1:1"; /* nobody listens there */
    scene->bootstrap = kafka_broker_bootstrap(broker);
    scene->shared_input = options->shared_input;
    scene->partitions = options->partitions == 0 ? 1 : options->partitions;
    assert_true(scene->partitions <= SCENE_PARTITIONS_MAX);
    scene->folder = temp_directory("tarry-e2e");
    scene->store_path = options->store_path == NULL ? temp_path(scene->folder, "store")
                                                    : memory_text(options->store_path, strlen(options->store_path));
    scene->config_path = temp_path(scene->folder, "tarry.yaml");
    scene->log_path = temp_path(scene->folder, "tarry.log");
    scene->http_port = http_free_port();
    scene->ledger = ledger_new();
    scene->clock = options->own_clock ? shifted_clock_new(scene->folder) : NULL;
    make_topics(scene, options);
    scene->producer = kafka_client_producer_open(scene->bootstrap, NULL);
    scene_configure(scene, options);
    return scene;
}

static void free_unplaced(struct scene *scene)
{
    while (scene->unplaced != NULL) {
        struct scene_unplaced *unplaced = scene->unplaced;
        scene->unplaced = unplaced->next;
        free(unplaced);
    }
}

void scene_close(struct scene *scene)
{
    current = NULL;
    tarry_process_free(scene->process);
    for (size_t i = 0; i < scene->instance_count; i++) {
        scene_instance_free(scene->instances[i]);
    }
    kafka_client_producer_close(scene->producer); /* with its reports: what they note is freed after */
    free_unplaced(scene);
    kafka_client_reader_close(scene->reader);
    kafka_client_records_free(&scene->outputs);
    ledger_free(scene->ledger);
    shifted_clock_free(scene->clock);
    temp_remove(scene->folder);
    free(scene->store_path);
    free(scene->config_path);
    free(scene->log_path);
    free(scene);
}

/* --------------------------------------------------------------------------------------------------- process */

void scene_launch(struct scene *scene, const char *extra_argument)
{
    tarry_process_free(scene->process);
    scene->process = tarry_process_start_with(scene->config_path, scene->log_path, scene->http_port, extra_argument, scene->clock);
}

void scene_start(struct scene *scene)
{
    scene_launch(scene, NULL);
    tarry_process_wait_ready(scene->process, READY_TIMEOUT_MS);
}

void scene_kill(struct scene *scene)
{
    tarry_process_kill(scene->process);
}

void scene_stop(struct scene *scene)
{
    int code = tarry_process_stop(scene->process, SHUTDOWN_MS + 1000);
    if (code != 0) {
        fail_msg("tarry exited with %d after SIGTERM", code);
    }
}

/* --------------------------------------------------------------------------------------------------- sending */

static void add_header(struct record_header *headers, size_t *count, const char *name, struct span value)
{
    assert_true(*count < HEADERS_MAX);
    headers[(*count)++] = (struct record_header){.name = span_of_text(name), .value = value};
}

/* The event's own headers with tarry's among them, not all at the end. */
static size_t build_headers(const struct scene_event *event, struct record_header *headers, const char *time)
{
    size_t count = 0;
    const char *name = event->due_ms != 0            ? "tarry-at"
                       : event->delay_header == NULL ? "tarry-delay"
                                                     : event->delay_header;
    if (name[0] != '\0') {
        add_header(headers, &count, name, span_of_text(time));
    }
    assert_true(event->header_count <= HEADERS_MAX - 4);
    if (event->header_count > 0) {
        memcpy(headers + count, event->headers, event->header_count * sizeof(*headers));
        count += event->header_count;
    }
    if (event->target != NULL) {
        add_header(headers, &count, "tarry-topic", span_of_text(event->target));
    }
    if (event->id.data != NULL) {
        add_header(headers, &count, "tarry-id", event->id);
    }
    return count;
}

static const char *expected_target(const struct scene *scene, const struct scene_event *event)
{
    const char *target = event->route == NULL ? event->target : event->route;
    return target == NULL ? scene->out : target;
}

/* `headers` has room for HEADERS_MAX and holds what was sent. */
static size_t produce(struct scene *scene, const struct scene_event *event, struct record_header *headers, int64_t now_ms, int64_t *offset)
{
    char time[32];
    snprintf(time, sizeof(time), "%" PRId64, event->due_ms == 0 ? event->delay_ms : event->due_ms);
    size_t count = build_headers(event, headers, time);
    struct kafka_client_output output = {.partition = event->partition,
                                         .timestamp_ms = now_ms,
                                         .key = event->key,
                                         .value = event->value,
                                         .headers = headers,
                                         .header_count = count};
    kafka_client_produce_noting(scene->producer, scene->in, &output, offset);
    scene->next_offset[event->partition]++;
    return count;
}

void scene_send(struct scene *scene, const struct scene_event *event)
{
    struct record_header headers[HEADERS_MAX];
    int64_t now_ms = await_wall_ms();
    int64_t offset = scene->next_offset[event->partition];
    struct scene_unplaced *unplaced = scene->shared_input ? memory_new(1, sizeof(*unplaced)) : NULL;
    size_t count = produce(scene, event, headers, now_ms, unplaced == NULL ? NULL : &unplaced->offset);
    struct ledger_sent sent = {.topic = scene->in,
                               .partition = event->partition,
                               .offset = unplaced == NULL ? offset : -1,
                               .due_ms = event->due_ms == 0 ? now_ms + event->delay_ms : event->due_ms,
                               .target = expected_target(scene, event),
                               .lane = event->lane == NULL ? "default" : event->lane,
                               .ordered = event->ordered,
                               .key = event->key,
                               .value = event->payload.data == NULL ? event->value : event->payload,
                               .id = event->id,
                               .headers = headers,
                               .header_count = count};
    size_t number = ledger_send(scene->ledger, &sent);
    if (unplaced != NULL) {
        unplaced->number = number;
        unplaced->next = scene->unplaced;
        scene->unplaced = unplaced;
    }
}

void scene_send_apart(struct scene *scene, const struct scene_event *event)
{
    struct record_header headers[HEADERS_MAX];
    produce(scene, event, headers, await_wall_ms(), NULL);
}

void scene_send_delay(struct scene *scene, int32_t partition, int64_t delay_ms, bool ordered)
{
    char key[16];
    char value[64];
    snprintf(key, sizeof(key), "k%d", partition);
    snprintf(value, sizeof(value), "value %d/%" PRId64, partition, scene->next_offset[partition]);
    scene_send(scene, &(struct scene_event){.partition = partition,
                                            .delay_ms = delay_ms,
                                            .ordered = ordered,
                                            .key = span_of_text(key),
                                            .value = span_of_text(value)});
}

void scene_flush(struct scene *scene)
{
    kafka_client_flush(scene->producer);
    while (scene->unplaced != NULL) {
        struct scene_unplaced *unplaced = scene->unplaced;
        scene->unplaced = unplaced->next;
        ledger_place(scene->ledger, unplaced->number, unplaced->offset);
        free(unplaced);
    }
}

/* --------------------------------------------------------------------------------------------------- reading */

static void compare_new(struct scene *scene)
{
    for (; scene->compared < scene->outputs.count; scene->compared++) {
        const struct kafka_client_record *output = &scene->outputs.items[scene->compared];
        ledger_receive(scene->ledger, output->topic, output->partition, &output->record);
    }
}

void scene_read(struct scene *scene)
{
    if (!kafka_client_read_to_end(scene->reader, &scene->outputs, 60000)) {
        fail_msg("the output topics were not read to their end within 60 s: %zu records so far", scene->outputs.count);
    }
    compare_new(scene);
}

void scene_read_topic(struct scene *scene, const char *topic)
{
    const char *const topics[] = {topic, NULL};
    struct kafka_client_records records = kafka_client_read_all(scene->bootstrap, topics);
    for (size_t i = 0; i < records.count; i++) {
        ledger_receive(scene->ledger, topic, records.items[i].partition, &records.items[i].record);
    }
    kafka_client_records_free(&records);
}

void scene_assert_none_refused(struct scene *scene)
{
    assert_true(tarry_process_metric(scene->process, "tarry_records_refused_total", NULL) == 0);
}

bool scene_await_count(struct scene *scene, size_t count, int64_t timeout_ms)
{
    int64_t limit = await_mono_ms() + timeout_ms;
    while (ledger_received_count(scene->ledger) < count) {
        if (await_mono_ms() > limit) {
            return false;
        }
        kafka_client_read(scene->reader, &scene->outputs, scene->outputs.count + 1, 200);
        compare_new(scene);
    }
    return true;
}

bool scene_await_all(struct scene *scene, int64_t timeout_ms)
{
    return scene_await_count(scene, ledger_sent_count(scene->ledger), timeout_ms);
}

void scene_finish(struct scene *scene, int64_t timeout_ms, bool repeats)
{
    bool all = scene_await_all(scene, timeout_ms);
    if (!all) {
        fprintf(stderr, "not all came out within %" PRId64 " ms\n", timeout_ms);
    } else {
        scene_stop(scene);
        scene_read(scene);
    }
    ledger_assert(scene->ledger, repeats);
    scene_close(scene);
}
