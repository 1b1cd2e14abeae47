/*
 * The whole daemon (with librdkafka's mock cluster) among clients that misbehave: 300 that say nothing or a byte now and then, one that takes the metrics ten bytes a second, one with a
 * header of 100 MB, and followers of events of whom one never reads. Meanwhile /livez answers, what is due leaves on time, and memory stays where it was. Then it ends in order.
 */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/memory.h"
#include "bridge/mock_cluster.h"
#include "tests/support/await.h"
#include "tests/support/http_client.h"
#include "tests/support/http_get.h"
#include "tests/support/kafka_client.h"
#include "tests/support/tarry_process.h"
#include "tests/support/temp.h"

#define HOSTILE 300
#define PACE_MS 100
#define HEADER_BYTES ((size_t)100 * 1024 * 1024)
#define RECORDS 150
#define GAP_MS 40
#define DELAY_MS 500
#define ON_TIME_MS 3000
#define LIVE_MS 1000
#define GROWTH_KIB (48 * 1024)
#define READY_MS 60000

static struct mock_cluster *cluster;
static char *folder;
static struct tarry_process *process;
static int port;

static int open_all(void **state)
{
    (void)state;
    struct error error;
    if (!mock_cluster_open(1, &cluster, &error) || !mock_cluster_create_topic(cluster, "in", 2, &error) || !mock_cluster_create_topic(cluster, "out", 1, &error)) {
        print_error("%s\n", error.text);
        return -1;
    }
    folder = temp_directory("tarry-http");
    port = http_free_port();
    char *config_path = temp_path(folder, "tarry.yaml");
    char *log_path = temp_path(folder, "tarry.log");
    FILE *file = fopen(config_path, "w");
    assert_non_null(file);
    fprintf(file,
            "instance: plagued\ngroup: http\nkafka: {bootstrap.servers: \"%s\"}\nstore: {path: \"%s/store\", max_size: 64MiB, checkpoint: 100ms}\n"
            "sources:\n  - {topic: in, dialects: [tarry], default_target: out}\n"
            "nats: {url: \"nats://127.0.0.1:1\"}\n" /* nobody listens there */
            "http: {listen: \"127.0.0.1:%d\", socket: \"%s/socket\"}\nlog: {level: info, format: json}\nshutdown_timeout: 5s\n",
            mock_cluster_bootstrap(cluster), folder, port, folder);
    assert_int_equal(fclose(file), 0);
    process = tarry_process_start(config_path, log_path, port, NULL);
    tarry_process_wait_ready(process, READY_MS);
    free(config_path);
    free(log_path);
    return 0;
}

static int close_all(void **state)
{
    (void)state;
    tarry_process_show_log(process);
    tarry_process_free(process);
    mock_cluster_close(cluster);
    temp_remove(folder);
    return 0;
}

/* ------------------------------------------------------------------------------------------------- those who misbehave */

struct plague {
    pthread_t thread;
    atomic_bool over;
    int silent[HOSTILE]; /* -1: to be connected (again) */
    int metrics;
    int header;
    size_t header_sent; /* on this connection */
    atomic_ulong cut;   /* how many were sent away */
};

/* Sends what fits. False: it was cut. */
static bool push(int fd, const char *bytes, size_t length, size_t *sent)
{
    ssize_t count = send(fd, bytes, length, MSG_NOSIGNAL | MSG_DONTWAIT);
    *sent += count > 0 ? (size_t)count : 0;
    return count > 0 || errno == EAGAIN || errno == EWOULDBLOCK;
}

static void begin(int *fd, const char *text)
{
    size_t sent = 0;
    *fd = *fd < 0 ? http_client_connect((uint16_t)port) : *fd;
    if (*fd >= 0 && !push(*fd, text, strlen(text), &sent)) {
        (void)close(*fd);
        *fd = -1;
    }
}

static void pester(struct plague *plague, int *fd, bool keeps_on)
{
    struct pollfd poll_fd = {*fd, POLLIN | POLLRDHUP, 0};
    size_t sent = 0;
    if (*fd < 0) {
        begin(fd, keeps_on ? "GET /livez HTTP/1.1\r\nX: " : "");
        return;
    }
    bool gone = poll(&poll_fd, 1, 0) == 1 && (poll_fd.revents & (POLLRDHUP | POLLHUP | POLLERR)) != 0;
    if (gone || (keeps_on && !push(*fd, "a", 1, &sent))) {
        (void)close(*fd);
        *fd = -1;
        plague->cut++;
    }
}

static void send_header(struct plague *plague)
{
    static char chunk[1 << 20];
    memset(chunk, 'a', sizeof(chunk));
    if (plague->header < 0) {
        plague->header_sent = 0;
        begin(&plague->header, "GET /livez HTTP/1.1\r\nX: ");
    }
    if (plague->header >= 0 && plague->header_sent < HEADER_BYTES && !push(plague->header, chunk, sizeof(chunk), &plague->header_sent)) {
        (void)close(plague->header);
        plague->header = -1;
        plague->cut++;
    }
}

static void read_slowly(struct plague *plague)
{
    char byte;
    if (plague->metrics < 0) {
        begin(&plague->metrics, "GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n");
    }
    ssize_t count = plague->metrics < 0 ? -1 : recv(plague->metrics, &byte, 1, MSG_DONTWAIT);
    if (count == 0) {
        (void)close(plague->metrics);
        plague->metrics = -1;
    }
}

static void *run_plague(void *context)
{
    struct plague *plague = context;
    while (!plague->over) {
        for (int i = 0; i < HOSTILE; i++) {
            pester(plague, &plague->silent[i], i % 2 == 0);
        }
        send_header(plague);
        read_slowly(plague);
        (void)poll(NULL, 0, PACE_MS);
    }
    return NULL;
}

static struct plague *begin_plague(void)
{
    struct plague *plague = memory_new(1, sizeof(*plague));
    for (int i = 0; i < HOSTILE; i++) {
        plague->silent[i] = -1;
    }
    plague->metrics = -1;
    plague->header = -1;
    assert_int_equal(pthread_create(&plague->thread, NULL, run_plague, plague), 0);
    return plague;
}

static void end_plague(struct plague *plague)
{
    plague->over = true;
    assert_int_equal(pthread_join(plague->thread, NULL), 0);
    for (int i = 0; i < HOSTILE; i++) {
        if (plague->silent[i] >= 0) {
            assert_int_equal(close(plague->silent[i]), 0);
        }
    }
    if (plague->metrics >= 0) {
        assert_int_equal(close(plague->metrics), 0);
    }
    if (plague->header >= 0) {
        assert_int_equal(close(plague->header), 0);
    }
    free(plague);
}

/* ------------------------------------------------------------------------------------------------- the others */

static int follow(void)
{
    static const char request[] = "GET /api/v1/events?outcome=delivered HTTP/1.1\r\nHost: localhost\r\n\r\n";
    int fd = http_client_connect((uint16_t)port);
    char start[15] = "";
    assert_true(fd >= 0 && http_client_send(fd, request, sizeof(request) - 1));
    assert_true(http_client_read_some(fd, start, sizeof(start) - 1, 20000));
    assert_int_equal(http_client_status(start), 200);
    return fd;
}

/* By the Unix socket: no Host that is ours, and the configuration is there. */
static void ask_by_socket(void)
{
    static const char request[] = "GET /api/v1/config HTTP/1.1\r\nHost: anything\r\nConnection: close\r\n\r\n";
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    bool closed;
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_true((size_t)snprintf(address.sun_path, sizeof(address.sun_path), "%s/socket", folder) < sizeof(address.sun_path));
    assert_int_equal(connect(fd, (const struct sockaddr *)&address, sizeof(address)), 0);
    assert_true(http_client_send(fd, request, sizeof(request) - 1));
    char *answer = http_client_read_to_end(fd, 20000, &closed);
    assert_true(closed);
    assert_int_equal(http_client_status(answer), 200);
    assert_non_null(strstr(answer, "plagued"));
    free(answer);
}

static void send_one(struct kafka_client_producer *producer, int number)
{
    char value[32];
    char delay_text[16];
    snprintf(value, sizeof(value), "%lld", (long long)(await_wall_ms() + DELAY_MS));
    snprintf(delay_text, sizeof(delay_text), "%d", DELAY_MS);
    const struct record_header delay = {span_of_text("tarry-delay"), span_of_text(delay_text)};
    const struct kafka_client_output output = {.partition = number % 2, .value = span_of_text(value), .headers = &delay, .header_count = 1};
    kafka_client_produce(producer, "in", &output);
}

/* The value says when it was due. */
static int64_t lateness_ms(const struct kafka_client_record *record)
{
    char text[32] = "";
    assert_true(record->record.value.length < sizeof(text));
    memcpy(text, record->record.value.data, record->record.value.length);
    return record->read_at_ms - strtoll(text, NULL, 10);
}

static void test_plague(void **state)
{
    (void)state;
    static const char *const topics[] = {"out", NULL};
    struct kafka_client_producer *producer = kafka_client_producer_open(mock_cluster_bootstrap(cluster), NULL);
    struct kafka_client_reader *reader = kafka_client_reader_open(mock_cluster_bootstrap(cluster), topics);
    struct kafka_client_records outputs = {0};
    send_one(producer, 0); /* the first of all waits for its producer's id, and more */
    assert_int_equal(kafka_client_read(reader, &outputs, 1, 30000), 1);
    ask_by_socket();
    int follower = follow();
    int unread = follow();
    struct plague *plague = begin_plague();
    int64_t before_kib = tarry_process_rss_anon_kib(process);
    int64_t slowest_ms = 0;
    for (int i = 0; i < RECORDS; i++) {
        send_one(producer, i);
        kafka_client_read(reader, &outputs, outputs.count + 1, GAP_MS);
        if (i % 5 == 0) {
            int64_t start_ms = await_mono_ms();
            assert_int_equal(tarry_process_get(process, "/livez", NULL, 0), 200);
            int64_t took_ms = await_mono_ms() - start_ms;
            slowest_ms = took_ms > slowest_ms ? took_ms : slowest_ms;
        }
    }
    assert_int_equal(kafka_client_read(reader, &outputs, RECORDS + 1, 30000), RECORDS + 1);
    int64_t latest_ms = 0;
    for (size_t i = 1; i < outputs.count; i++) {
        latest_ms = lateness_ms(&outputs.items[i]) > latest_ms ? lateness_ms(&outputs.items[i]) : latest_ms;
    }
    int64_t grown_kib = tarry_process_rss_anon_kib(process) - before_kib;
    print_message("slowest /livez %lld ms, latest delivery %lld ms, grown by %lld KiB, %lu cut\n", (long long)slowest_ms, (long long)latest_ms, (long long)grown_kib, plague->cut);
    assert_true(slowest_ms < LIVE_MS);
    assert_true(latest_ms < ON_TIME_MS);
    assert_true(grown_kib < GROWTH_KIB);
    assert_true(plague->cut > 0);
    /* It ends in order all the same, and so do those who follow. */
    assert_int_equal(tarry_process_stop(process, 20000), 0);
    bool closed;
    char *events = http_client_read_to_end(follower, 20000, &closed);
    assert_true(closed);
    int told = 0;
    for (const char *at = events; (at = strstr(at, "event: delivered\n")) != NULL; at++) {
        told++;
    }
    assert_int_equal(told, RECORDS);
    assert_null(strstr(events, "missed"));
    free(events);
    assert_int_equal(close(unread), 0);
    char *socket_path = temp_path(folder, "socket");
    assert_int_equal(access(socket_path, F_OK), -1);
    free(socket_path);
    end_plague(plague);
    kafka_client_producer_close(producer);
    kafka_client_reader_close(reader);
    kafka_client_records_free(&outputs);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test_setup_teardown(test_plague, open_all, close_all)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
