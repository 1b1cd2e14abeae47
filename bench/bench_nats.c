#include "bench/bench_nats.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "bench/bench_child.h"
#include "tests/support/http_get.h"

#define START_TIMEOUT_MS 60000
#define CALL_TIMEOUT_MS 30000

void bench_nats_check(natsStatus status, const char *what, const char *name)
{
    if (status != NATS_OK) {
        const char *words = nats_GetLastError(NULL);
        bench_run_fail("%s %s: %s%s%s", what, name, natsStatus_GetText(status), words == NULL ? "" : ", ", words == NULL ? "" : words);
    }
}

static void write_configuration(const char *path, int port, const char *store)
{
    FILE *file = fopen(path, "w");
    if (file == NULL || fprintf(file, "listen: \"127.0.0.1:%d\"\njetstream { store_dir: \"%s\", max_file_store: 16GB }\n", port, store) < 0 ||
        fclose(file) != 0) {
        bench_run_fail("cannot write %s: %s", path, strerror(errno));
    }
}

static void connect_to(struct bench_nats *nats)
{
    int64_t limit = bench_run_mono_us() + (int64_t)START_TIMEOUT_MS * 1000;
    natsStatus status = natsConnection_ConnectTo(&nats->connection, nats->url);
    while (status != NATS_OK && bench_run_mono_us() < limit) {
        bench_child_check(nats->pid, nats->log);
        bench_run_sleep_ms(20);
        status = natsConnection_ConnectTo(&nats->connection, nats->url);
    }
    bench_nats_check(status, "connecting to", nats->url);
}

static void open_jetstream(struct bench_nats *nats)
{
    jsOptions options;
    jsOptions_Init(&options);
    options.Wait = CALL_TIMEOUT_MS;
    /* as many under way as it takes to keep the server busy; who publishes waits for room as long as it takes */
    options.PublishAsync.MaxPending = 4096;
    options.PublishAsync.StallWait = CALL_TIMEOUT_MS;
    bench_nats_check(natsConnection_JetStream(&nats->jetstream, nats->connection, &options), "JetStream of", nats->url);
}

void bench_nats_start(struct bench_run *run, struct bench_nats *nats)
{
    char name[BENCH_RUN_NAME];
    char folder[BENCH_RUN_PATH];
    char configuration[BENCH_RUN_PATH + 32];
    int port = http_free_port();
    *nats = (struct bench_nats){.pid = 0};
    bench_run_name(run, "nats", name);
    snprintf(folder, sizeof(folder), "%.300s/%s", run->folder, name);
    snprintf(configuration, sizeof(configuration), "%s/server.conf", folder);
    snprintf(nats->log, sizeof(nats->log), "%.400s/server.log", folder);
    snprintf(nats->url, sizeof(nats->url), "nats://127.0.0.1:%d", port);
    if (port < 0 || mkdir(folder, 0700) != 0) {
        bench_run_fail("cannot make %s, or no port is free", folder);
    }
    write_configuration(configuration, port, folder);
    const char *const arguments[] = {run->nats_server, "-c", configuration, NULL};
    nats->pid = bench_child_start(arguments, nats->log);
    connect_to(nats);
    open_jetstream(nats);
}

void bench_nats_stop(struct bench_nats *nats)
{
    jsCtx_Destroy(nats->jetstream);
    natsConnection_Destroy(nats->connection);
    bench_child_check(nats->pid, nats->log);
    bench_child_kill(nats->pid); /* nothing of it is to be kept */
    nats_Close();
}

int64_t bench_nats_messages(const struct bench_nats *nats, const char *stream)
{
    jsStreamInfo *info = NULL;
    natsStatus status = js_GetStreamInfo(&info, nats->jetstream, stream, NULL, NULL);
    if (status == NATS_NOT_FOUND) {
        return 0;
    }
    bench_nats_check(status, "asking for the stream", stream);
    int64_t messages = (int64_t)info->State.Msgs;
    jsStreamInfo_Destroy(info);
    return messages;
}

void bench_nats_stream_like(const struct bench_nats *nats, const char *model, const char *name, const char *subject)
{
    jsStreamInfo *info = NULL;
    bench_nats_check(js_GetStreamInfo(&info, nats->jetstream, model, NULL, NULL), "asking for the stream", model);
    jsStreamConfig config = *info->Config;
    config.Name = name;
    config.Subjects = &subject;
    config.SubjectsLen = 1;
    bench_nats_check(js_AddStream(NULL, nats->jetstream, &config, NULL, NULL), "making the stream", name);
    jsStreamInfo_Destroy(info);
}

void bench_nats_stream_delete(const struct bench_nats *nats, const char *stream)
{
    bench_nats_check(js_DeleteStream(nats->jetstream, stream, NULL, NULL), "deleting the stream", stream);
}
