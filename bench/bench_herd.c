/* A herd: 100,000 events due at one instant. From that instant to the append of the last of them, beside a bare producer of as many of the same. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/random.h"
#include "bench/bench_appends.h"
#include "bench/bench_feed.h"
#include "bench/bench_kafka.h"
#include "bench/bench_sections.h"
#include "bench/bench_tarry.h"

#define TIMEOUT_MS 600000
#define LOOK_MS 200 /* the broker's stamps tell the time: asking seldom is enough */
#define COST_BEFORE_MS 50
#define WARM 64 /* sent before, so that connections are there and the partitions known */
#define WARM_BEFORE_MS 3000

static const char section[] = "schedules.herd";

/* Seconds from `from_ms` to the last append; all must be there, once. */
static double last_append_s(const struct bench_run *run, const char *topic, int64_t due_ms, int64_t from_ms, int64_t count)
{
    struct bench_appends appends = bench_appends_read(run, topic, due_ms);
    if (appends.count != count || appends.first_ms < from_ms) {
        bench_run_fail("%" PRId64 " of %" PRId64 " events in %s, the first %" PRId64 " ms after its time", appends.count, count, topic,
                       appends.first_ms - from_ms);
    }
    bench_run_say("    the first after %" PRId64 " ms, the last after %" PRId64 " ms", appends.first_ms - from_ms, appends.last_ms - from_ms);
    return (double)(appends.last_ms - from_ms) / 1000;
}

static void produce(rd_kafka_t *producer, rd_kafka_topic_t *topic, int64_t number, int64_t due_ms, uint8_t *value)
{
    char key[24];
    char text[64];
    int key_length = snprintf(key, sizeof(key), "key-%08" PRIx64, (uint64_t)number);
    memcpy(value, &due_ms, sizeof(due_ms));
    /* what tarry adds */
    rd_kafka_headers_t *headers = rd_kafka_headers_new(3);
    int partition = (int)(number % BENCH_RUN_PARTITIONS);
    rd_kafka_header_add(headers, "tarry-id", -1, text, snprintf(text, sizeof(text), "tarry-00-in/%d/%" PRId64, partition, number));
    rd_kafka_header_add(headers, "tarry-due", -1, text, snprintf(text, sizeof(text), "%" PRId64, due_ms));
    rd_kafka_header_add(headers, "tarry-source", -1, text, snprintf(text, sizeof(text), "tarry-00-in/%d/%" PRId64, partition, number));
    rd_kafka_resp_err_t code = RD_KAFKA_RESP_ERR__QUEUE_FULL;
    while (code == RD_KAFKA_RESP_ERR__QUEUE_FULL) {
        code = rd_kafka_producev(producer, RD_KAFKA_V_RKT(topic), RD_KAFKA_V_PARTITION(RD_KAFKA_PARTITION_UA),
                                 RD_KAFKA_V_MSGFLAGS(RD_KAFKA_MSG_F_COPY), RD_KAFKA_V_KEY(key, (size_t)key_length),
                                 RD_KAFKA_V_VALUE(value, BENCH_RUN_VALUE_BYTES), RD_KAFKA_V_HEADERS(headers), RD_KAFKA_V_END);
        if (code == RD_KAFKA_RESP_ERR__QUEUE_FULL) {
            rd_kafka_poll(producer, 1);
        }
    }
    if (code != RD_KAFKA_RESP_ERR_NO_ERROR) {
        bench_run_fail("producing: %s", rd_kafka_err2str(code));
    }
}

static void produce_all(rd_kafka_t *producer, rd_kafka_topic_t *topic, int64_t count, int64_t due_ms)
{
    uint8_t value[BENCH_RUN_VALUE_BYTES];
    struct random random = random_new((uint64_t)due_ms);
    random_fill(&random, value, sizeof(value));
    for (int64_t i = 0; i < count; i++) {
        produce(producer, topic, i, due_ms, value);
        rd_kafka_poll(producer, 0);
    }
    rd_kafka_resp_err_t code = rd_kafka_flush(producer, TIMEOUT_MS);
    if (code != RD_KAFKA_RESP_ERR_NO_ERROR) {
        bench_run_fail("the herd is not acknowledged: %s", rd_kafka_err2str(code));
    }
}

static void delivered(rd_kafka_t *producer, const rd_kafka_message_t *message, void *opaque)
{
    (void)producer;
    (void)opaque;
    if (message->err != RD_KAFKA_RESP_ERR_NO_ERROR) {
        bench_run_fail("a record was not delivered: %s", rd_kafka_err2str(message->err));
    }
}

static double run_bare(struct bench_run *run, int64_t count)
{
    char name[BENCH_RUN_NAME];
    bench_run_name(run, "herd-bare", name);
    bench_kafka_topic_create_stamped(run, name);
    rd_kafka_conf_t *conf = bench_kafka_conf(run->bootstrap, bench_kafka_sink_settings);
    rd_kafka_conf_set_dr_msg_cb(conf, delivered);
    rd_kafka_t *producer = bench_kafka_new(RD_KAFKA_PRODUCER, conf);
    rd_kafka_topic_t *topic = rd_kafka_topic_new(producer, name, NULL);
    produce_all(producer, topic, WARM, 1);
    bench_run_sleep_ms(WARM_BEFORE_MS);
    bench_run_say("  a bare producer:");
    int64_t due_ms = bench_run_wall_ms();
    produce_all(producer, topic, count, due_ms);
    rd_kafka_topic_destroy(topic);
    rd_kafka_destroy(producer);
    double took_s = last_append_s(run, name, due_ms, due_ms, count);
    bench_kafka_topic_delete(run, name);
    return took_s;
}

static void load(const struct bench_run *run, struct bench_tarry *tarry, int64_t count, int64_t due_ms)
{
    struct bench_feed_options options = {.topic = tarry->input, .at_ms = due_ms, .count = count};
    struct bench_feed_options warm = {.topic = tarry->input, .at_ms = due_ms - WARM_BEFORE_MS, .count = WARM};
    bench_feed_all(run, &options);
    bench_feed_all(run, &warm);
    bench_tarry_wait_read(tarry, count + WARM, TIMEOUT_MS);
    bench_tarry_wait_rows(tarry, count, TIMEOUT_MS);
    if (bench_run_wall_ms() > due_ms - WARM_BEFORE_MS) {
        bench_run_fail("this machine is too busy: the herd was not on disk %d ms before it was due", WARM_BEFORE_MS);
    }
}

static double run_tarry(struct bench_run *run, int64_t count)
{
    struct bench_tarry tarry;
    struct bench_tarry_options options = {.no_output = true};
    bench_tarry_open(run, &tarry, &options);
    bench_kafka_topic_create_stamped(run, tarry.output);
    bench_tarry_start(run, &tarry);
    bench_tarry_wait_ready(&tarry, 60000);
    int64_t due_ms = bench_run_wall_ms() + bench_run_size(run, 20000, 10000);
    load(run, &tarry, count, due_ms);
    bench_run_sleep_ms(due_ms - bench_run_wall_ms() - COST_BEFORE_MS);
    bench_run_say("  tarry:");
    int64_t cpu_ms = bench_tarry_cost(&tarry).cpu_ms;
    int64_t limit = bench_run_mono_us() + (int64_t)TIMEOUT_MS * 1000;
    while (bench_kafka_end(run, tarry.output) < count + WARM) {
        if (bench_run_mono_us() > limit) {
            bench_run_fail("the herd did not leave within %d ms; see %s", TIMEOUT_MS, tarry.log);
        }
        bench_run_sleep_ms(LOOK_MS);
    }
    cpu_ms = bench_tarry_cost(&tarry).cpu_ms - cpu_ms;
    bench_figures_add(run->figures, section, "herd_cpu_us_per_event", "us", (double)cpu_ms * 1000 / (double)count);
    bench_tarry_stop(&tarry); /* so that what it might send twice is there */
    double took_s = last_append_s(run, tarry.output, due_ms, due_ms, count);
    bench_tarry_close(run, &tarry);
    return took_s;
}

void bench_herd_section(struct bench_run *run)
{
    int64_t runs = bench_run_size(run, run->runs, 1);
    int64_t count = bench_run_size(run, 100000, 10000);
    for (int64_t i = 0; i < runs; i++) {
        bench_run_say("%s, run %" PRId64 " of %" PRId64, section, i + 1, runs);
        double bare_s = i % 2 == 0 ? run_bare(run, count) : 0;
        double tarry_s = run_tarry(run, count);
        bare_s = i % 2 == 0 ? bare_s : run_bare(run, count);
        bench_figures_add(run->figures, section, "herd_bare_s", "s", bare_s);
        bench_figures_add(run->figures, section, "herd_s", "s", tarry_s);
        bench_figures_add(run->figures, section, "herd_ratio", "", tarry_s / bare_s);
    }
}
