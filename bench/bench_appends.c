#include "bench/bench_appends.h"

#include "bench/bench_kafka.h"

#define READ_TIMEOUT_MS 60000

static const char *const settings[] = {"group.id=bench-appends",         "enable.auto.commit=false", "enable.partition.eof=true",
                                       "isolation.level=read_committed", NULL};

static void note(struct bench_appends *appends, const char *topic, const rd_kafka_message_t *message)
{
    rd_kafka_timestamp_type_t type;
    int64_t stamp_ms = rd_kafka_message_timestamp(message, &type);
    if (type != RD_KAFKA_TIMESTAMP_LOG_APPEND_TIME) {
        bench_run_fail("the broker does not stamp the records of %s", topic);
    }
    appends->first_ms = appends->count == 0 || stamp_ms < appends->first_ms ? stamp_ms : appends->first_ms;
    appends->last_ms = appends->count == 0 || stamp_ms > appends->last_ms ? stamp_ms : appends->last_ms;
    appends->count++;
}

struct bench_appends bench_appends_read(const struct bench_run *run, const char *topic, int64_t due_ms)
{
    struct bench_appends appends = {.count = 0};
    int ends = 0;
    rd_kafka_t *consumer = bench_kafka_new(RD_KAFKA_CONSUMER, bench_kafka_conf(run->bootstrap, settings));
    bench_kafka_assign(consumer, topic, RD_KAFKA_OFFSET_BEGINNING);
    while (ends < BENCH_RUN_PARTITIONS) {
        rd_kafka_message_t *message = rd_kafka_consumer_poll(consumer, READ_TIMEOUT_MS);
        if (message == NULL) {
            bench_run_fail("no end of %s within %d ms", topic, READ_TIMEOUT_MS);
        }
        ends += message->err == RD_KAFKA_RESP_ERR__PARTITION_EOF;
        if (message->err == RD_KAFKA_RESP_ERR_NO_ERROR && bench_kafka_due_ms(message) == due_ms) {
            note(&appends, topic, message);
        }
        rd_kafka_message_destroy(message);
    }
    rd_kafka_consumer_close(consumer);
    rd_kafka_destroy(consumer);
    return appends;
}
