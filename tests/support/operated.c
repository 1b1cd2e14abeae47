#include "tests/support/operated.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#include "base/memory.h"
#include "tests/support/await.h"
#include "tests/support/http_get.h"
#include "tests/support/temp.h"

#define READY_MS 30000
#define LOG_MAX (8u << 20)

static struct operated *current; /* the one that is open */

struct operated *operated_open(void)
{
    struct operated *operated = memory_new(1, sizeof(*operated));
    struct error error = {0};
    current = operated;
    operated->folder = temp_directory("tarry-operated");
    operated->config_path = temp_path(operated->folder, "tarry.yaml");
    operated->log_path = temp_path(operated->folder, "tarry.log");
    operated->http_port = http_free_port();
    if (!mock_cluster_open(1, &operated->cluster, &error) || !mock_cluster_create_topic(operated->cluster, "in", 2, &error) ||
        !mock_cluster_create_topic(operated->cluster, "out", 1, &error)) {
        fail_msg("no mock cluster: %s", error.text);
    }
    operated->producer = kafka_client_producer_open(mock_cluster_bootstrap(operated->cluster), NULL);
    return operated;
}

void operated_close(struct operated *operated)
{
    current = NULL;
    tarry_process_free(operated->process);
    kafka_client_producer_close(operated->producer);
    mock_cluster_close(operated->cluster);
    temp_remove(operated->folder);
    free(operated->config_path);
    free(operated->log_path);
    free(operated);
}

int operated_teardown(void **state)
{
    (void)state;
    if (current != NULL) {
        if (current->process != NULL) {
            tarry_process_show_log(current->process);
        }
        operated_close(current);
    }
    return 0;
}

static const char *or(const char *text, const char *other)
{
    return text == NULL ? other : text;
}

void operated_configure(const struct operated *operated, const struct operated_options *options)
{
    char *text = memory_new(1, 16384);
    int length = snprintf(
        text, 16384,
        "instance: operated\ngroup: operated\n"
        "kafka: {bootstrap.servers: \"%s\"%s%s, consumer: {heartbeat.interval.ms: 100, session.timeout.ms: 3500, fetch.wait.max.ms: 50}}\n"
        "store: {path: \"%s/store\", max_size: 64MiB}\nsources: [{topic: in, default_target: out}]\n"
        "nats: {%s}\nhttp: {listen: \"127.0.0.1:%d\"%s%s}\nlog: {level: %s, format: json}\n%s\n",
        or(options->bootstrap, mock_cluster_bootstrap(operated->cluster)), options->kafka == NULL ? "" : ", ", or(options->kafka, ""), operated->folder,
        or(options->nats, "url: \"nats://127.0.0.1:1\""), operated->http_port, options->http == NULL ? "" : ", ", or(options->http, ""),
        or(options->log_level, "info"), or(options->more, ""));
    assert_in_range(length, 1, 16383);
    free(operated_file(operated, "tarry.yaml", text, 0600));
    free(text);
}

void operated_launch(struct operated *operated, const struct tarry_process_options *options)
{
    static const struct tarry_process_options none;
    tarry_process_free(operated->process);
    operated->process = tarry_process_start_as(operated->config_path, operated->log_path, operated->http_port, options == NULL ? &none : options);
}

void operated_start(struct operated *operated, const struct tarry_process_options *options)
{
    operated_launch(operated, options);
    tarry_process_wait_ready(operated->process, READY_MS);
}

static bool same_name(const char *a, const char *b)
{
    size_t length = strcspn(a, "=");
    return length == strcspn(b, "=") && strncmp(a, b, length) == 0;
}

char **operated_environment(const char *const *more)
{
    size_t count = 0;
    size_t added = 0;
    for (; environ[count] != NULL; count++) {
    }
    for (; more[added] != NULL; added++) {
    }
    char **environment = memory_new(count + added + 1, sizeof(*environment));
    size_t used = 0;
    for (size_t i = 0; i < count; i++) {
        bool replaced = false;
        for (size_t j = 0; j < added; j++) {
            replaced = replaced || same_name(environ[i], more[j]);
        }
        if (!replaced) {
            environment[used++] = environ[i];
        }
    }
    for (size_t j = 0; j < added; j++) {
        environment[used++] = (char *)(uintptr_t)more[j];
    }
    return environment;
}

void operated_send(struct operated *operated, int count, int64_t delay_ms)
{
    char delay[32];
    snprintf(delay, sizeof(delay), "%lld", (long long)delay_ms);
    const struct record_header header = {span_of_text("tarry-delay"), span_of_text(delay)};
    for (int i = 0; i < count; i++) {
        char value[32];
        snprintf(value, sizeof(value), "%d", operated->sent++);
        const struct kafka_client_output output = {
            .partition = i % 2, .timestamp_ms = await_wall_ms(), .value = span_of_text(value), .headers = &header, .header_count = 1};
        kafka_client_produce(operated->producer, "in", &output);
    }
    kafka_client_flush(operated->producer);
}

size_t operated_expect_all(struct operated *operated, int64_t timeout_ms)
{
    struct kafka_client_reader *reader = kafka_client_reader_open(mock_cluster_bootstrap(operated->cluster), (const char *const[]){"out", NULL});
    struct kafka_client_records outputs = {NULL, 0, 0};
    bool *seen = memory_new((size_t)operated->sent + 1, sizeof(*seen));
    int distinct = 0;
    size_t looked = 0;
    int64_t limit = await_mono_ms() + timeout_ms;
    while (distinct < operated->sent && await_mono_ms() < limit) {
        kafka_client_read(reader, &outputs, SIZE_MAX, 50);
        for (; looked < outputs.count; looked++) {
            long number = kafka_client_value_number(&outputs.items[looked]);
            assert_in_range(number, 0, operated->sent - 1);
            distinct += !seen[number];
            seen[number] = true;
        }
    }
    size_t repeats = outputs.count - (size_t)distinct;
    kafka_client_records_free(&outputs);
    kafka_client_reader_close(reader);
    free(seen);
    if (distinct < operated->sent) {
        fail_msg("%d of %d records came out", distinct, operated->sent);
    }
    return repeats;
}

char *operated_log(const struct operated *operated)
{
    char *text = memory_new(LOG_MAX, 1);
    FILE *file = fopen(operated->log_path, "r");
    assert_non_null(file);
    size_t length = fread(text, 1, LOG_MAX - 1, file);
    text[length] = '\0';
    fclose(file);
    return text;
}

char *operated_file(const struct operated *operated, const char *name, const char *text, unsigned mode)
{
    char *path = temp_path(operated->folder, name);
    int file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    assert_true(file >= 0);
    assert_int_equal(write(file, text, strlen(text)), strlen(text));
    assert_int_equal(fchmod(file, (mode_t)mode), 0);
    close(file);
    return path;
}
