#include "tests/support/nats_client.h"

#include <stdio.h>
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"
#include "tests/support/await.h"

#define WAIT_MS 20000

struct nats_client {
    natsConnection *connection;
    jsCtx *jetstream;
};

static void ok(natsStatus status, jsErrCode code, const char *what)
{
    if (status != NATS_OK) {
        fail_msg("%s: %s (%d): %s", what, natsStatus_GetText(status), (int)code, nats_GetLastError(NULL));
    }
}

static bool connects(void *context)
{
    void **both = context;
    struct nats_client *client = both[0];
    return natsConnection_ConnectTo(&client->connection, both[1]) == NATS_OK;
}

struct nats_client *nats_client_open(const char *url)
{
    struct nats_client *client = memory_new(1, sizeof *client);
    char *copy = memory_text(url, strlen(url));
    if (!await_condition(connects, (void *[]){client, copy}, WAIT_MS)) {
        fail_msg("no connection to %s: %s", url, nats_GetLastError(NULL));
    }
    free(copy);
    jsOptions options;
    jsOptions_Init(&options);
    options.Wait = WAIT_MS;
    ok(natsConnection_JetStream(&client->jetstream, client->connection, &options), 0, "JetStream");
    return client;
}

void nats_client_close(struct nats_client *client)
{
    if (client != NULL) {
        jsCtx_Destroy(client->jetstream);
        natsConnection_Destroy(client->connection);
        free(client);
    }
}

natsConnection *nats_client_connection(struct nats_client *client)
{
    return client->connection;
}

jsCtx *nats_client_jetstream(struct nats_client *client)
{
    return client->jetstream;
}

static void add_header(natsMsg *message, const char *text)
{
    const char *colon = strchr(text, ':');
    assert_non_null(colon);
    char *name = memory_text(text, (size_t)(colon - text));
    ok(natsMsgHeader_Add(message, name, colon + 1 + strspn(colon + 1, " ")), 0, "header");
    free(name);
}

uint64_t nats_client_publish(struct nats_client *client, const char *subject, const char *const *headers, const void *bytes, size_t length)
{
    natsMsg *message = NULL;
    ok(natsMsg_Create(&message, subject, NULL, bytes, (int)length), 0, subject);
    for (size_t i = 0; headers != NULL && headers[i] != NULL; i++) {
        add_header(message, headers[i]);
    }
    jsPubOptions options;
    jsPubOptions_Init(&options);
    options.MaxWait = WAIT_MS;
    jsPubAck *ack = NULL;
    jsErrCode code = 0;
    ok(js_PublishMsg(&ack, client->jetstream, message, &options, &code), code, subject);
    uint64_t sequence = ack->Sequence;
    jsPubAck_Destroy(ack);
    natsMsg_Destroy(message);
    return sequence;
}

void nats_client_add_stream(struct nats_client *client, const char *stream, const char *subjects, int64_t max_bytes, int64_t replicas)
{
    char *copy = memory_text(subjects, strlen(subjects));
    const char *list[16];
    int count = 0;
    char *place = NULL;
    for (char *one = strtok_r(copy, " ", &place); one != NULL; one = strtok_r(NULL, " ", &place)) {
        assert_true(count < 16);
        list[count++] = one;
    }
    jsStreamConfig config;
    jsStreamConfig_Init(&config);
    config.Name = stream;
    config.Subjects = list;
    config.SubjectsLen = count;
    config.MaxBytes = max_bytes;
    config.Replicas = replicas;
    config.Discard = js_DiscardNew;
    jsErrCode code = 0;
    ok(js_AddStream(NULL, client->jetstream, &config, NULL, &code), code, stream);
    free(copy);
}

bool nats_client_info(struct nats_client *client, const char *stream, jsStreamInfo **info)
{
    jsErrCode code = 0;
    natsStatus status = js_GetStreamInfo(info, client->jetstream, stream, NULL, &code);
    if (status == NATS_NOT_FOUND) {
        return false;
    }
    ok(status, code, stream);
    return true;
}

static uint64_t count_matching(struct nats_client *client, const char *stream, const char *filter)
{
    jsOptions options;
    jsOptions_Init(&options);
    options.Wait = WAIT_MS;
    options.Stream.Info.SubjectsFilter = filter;
    jsStreamInfo *info = NULL;
    jsErrCode code = 0;
    ok(js_GetStreamInfo(&info, client->jetstream, stream, &options, &code), code, stream);
    uint64_t count = 0;
    for (int i = 0; info->State.Subjects != NULL && i < info->State.Subjects->Count; i++) {
        count += info->State.Subjects->List[i].Msgs;
    }
    jsStreamInfo_Destroy(info);
    return count;
}

uint64_t nats_client_first(struct nats_client *client, const char *stream)
{
    jsStreamInfo *info = NULL;
    if (!nats_client_info(client, stream, &info)) {
        fail_msg("there is no stream %s", stream);
        return 0;
    }
    uint64_t first = info->State.FirstSeq == 0 ? 1 : info->State.FirstSeq;
    jsStreamInfo_Destroy(info);
    return first;
}

const char *nats_client_place(struct nats_client *client, const char *words, const char *stream, uint64_t nth)
{
    static char texts[2][128];
    static unsigned calls;
    char *text = texts[calls++ % 2];
    snprintf(text, sizeof texts[0], "%s%" PRIu64, words, nats_client_first(client, stream) + nth - 1);
    return text;
}

uint64_t nats_client_count(struct nats_client *client, const char *stream, const char *filter)
{
    if (filter != NULL) {
        return count_matching(client, stream, filter);
    }
    jsStreamInfo *info = NULL;
    assert_true(nats_client_info(client, stream, &info));
    uint64_t count = info->State.Msgs;
    jsStreamInfo_Destroy(info);
    return count;
}

void nats_client_edit(struct nats_client *client, const char *stream, void (*edit)(jsStreamConfig *config))
{
    jsStreamInfo *info = NULL;
    assert_true(nats_client_info(client, stream, &info));
    jsStreamConfig config = *info->Config; /* strings stay the info's */
    edit(&config);
    jsErrCode code = 0;
    ok(js_UpdateStream(NULL, client->jetstream, &config, NULL, &code), code, stream);
    jsStreamInfo_Destroy(info);
}

void nats_client_purge(struct nats_client *client, const char *stream, const char *filter)
{
    jsOptions options;
    jsOptions_Init(&options);
    options.Wait = WAIT_MS;
    options.Stream.Purge.Subject = filter;
    jsErrCode code = 0;
    ok(js_PurgeStream(client->jetstream, stream, &options, &code), code, stream);
}

void nats_client_delete_stream(struct nats_client *client, const char *stream)
{
    jsErrCode code = 0;
    ok(js_DeleteStream(client->jetstream, stream, NULL, &code), code, stream);
}

void nats_client_delete_message(struct nats_client *client, const char *stream, uint64_t sequence)
{
    jsErrCode code = 0;
    ok(js_DeleteMsg(client->jetstream, stream, sequence, NULL, &code), code, stream);
}

natsMsg *nats_client_message(struct nats_client *client, const char *stream, uint64_t sequence)
{
    natsMsg *message = NULL;
    jsErrCode code = 0;
    natsStatus status = js_GetMsg(&message, client->jetstream, stream, sequence, NULL, &code);
    if (status == NATS_NOT_FOUND) {
        return NULL;
    }
    ok(status, code, stream);
    return message;
}

int64_t nats_client_consumers(struct nats_client *client, const char *stream)
{
    jsStreamInfo *info = NULL;
    assert_true(nats_client_info(client, stream, &info));
    int64_t count = info->State.Consumers;
    jsStreamInfo_Destroy(info);
    return count;
}
