/* Server-sent events: a transfer without an end of its own. */
#include <string.h>

#include "cli/api_client_state.h"
#include "cli/verbs.h"

struct stream {
    struct api_client *client;
    api_client_on_bytes *on_bytes;
    api_client_go_on *go_on;
    void *context;
    struct api_client_answer *answer;
    bool flows; /* the daemon answered 200 with an event stream */
    bool ended; /* by us */
};

static bool is_event_stream(CURL *curl)
{
    char *type = NULL;
    long status = 0;
    (void)curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
    (void)curl_easy_getinfo(curl, CURLINFO_CONTENT_TYPE, &type);
    return status == 200 && type != NULL && strncmp(type, "text/event-stream", strlen("text/event-stream")) == 0;
}

static size_t take(char *bytes, size_t size, size_t count, void *context)
{
    struct stream *stream = context;
    stream->flows = stream->flows || is_event_stream(stream->client->curl);
    if (!stream->flows) {
        buffer_add(&stream->answer->body, bytes, size * count);
        return stream->answer->body.full ? 0 : size * count;
    }
    stream->ended = !stream->on_bytes(stream->context, bytes, size * count);
    return stream->ended ? 0 : size * count;
}

/* libcurl's callback fixes these types. */
static int progress(void *context, curl_off_t all_down, curl_off_t down, curl_off_t all_up, curl_off_t up)
{
    struct stream *stream = context;
    (void)all_down;
    (void)down;
    (void)all_up;
    (void)up;
    stream->ended = stream->ended || !stream->go_on(stream->context);
    return stream->ended ? 1 : 0;
}

static void set_callbacks(CURL *curl, struct stream *stream)
{
    (void)curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, take);
    (void)curl_easy_setopt(curl, CURLOPT_WRITEDATA, stream);
    (void)curl_easy_setopt(curl, CURLOPT_NOPROGRESS, 0L);
    (void)curl_easy_setopt(curl, CURLOPT_XFERINFOFUNCTION, progress);
    (void)curl_easy_setopt(curl, CURLOPT_XFERINFODATA, stream);
    (void)curl_easy_setopt(curl, CURLOPT_LOW_SPEED_LIMIT, 1L);
    (void)curl_easy_setopt(curl, CURLOPT_LOW_SPEED_TIME, API_CLIENT_SILENT_S);
}

static int judge(struct stream *stream, CURLcode result)
{
    struct api_client_answer *answer = stream->answer;
    struct api_client *client = stream->client;
    (void)curl_easy_getinfo(client->curl, CURLINFO_RESPONSE_CODE, &answer->status);
    stream->flows = stream->flows || (result == CURLE_OK && is_event_stream(client->curl));
    if (stream->flows || stream->ended) {
        answer->code = VERBS_EXIT_DONE;
    } else if (result != CURLE_OK) {
        api_client_transfer_lost(client, &client->address, false, result, answer);
    } else if (answer->status == 200) {
        api_client_answer_set(answer, VERBS_EXIT_FAILED, "%s answered with no event stream: is it a tarry?", client->address.shown);
    } else {
        api_client_answer_judge(answer, client->address.shown);
    }
    return answer->code;
}

int api_client_stream(struct api_client *client, const char *path, const char *last_id, api_client_on_bytes *on_bytes, api_client_go_on *go_on, void *context,
                      struct api_client_answer *answer)
{
    struct stream stream = {.client = client, .on_bytes = on_bytes, .go_on = go_on, .context = context, .answer = answer};
    struct api_client_request request = {.method = "GET", .path = path, .accept = "text/event-stream, application/problem+json"};
    struct curl_slist *headers = NULL;
    CURLcode result = CURLE_URL_MALFORMAT;
    *answer = api_client_answer_new();
    bool ready = api_client_transfer_prepare(client, &client->address, &request, &headers);
    if (last_id != NULL) {
        api_client_transfer_header(&headers, "Last-Event-ID", last_id);
    }
    if (ready) {
        set_callbacks(client->curl, &stream);
        (void)curl_easy_setopt(client->curl, CURLOPT_HTTPHEADER, headers);
        result = curl_easy_perform(client->curl);
    }
    api_client_transfer_headers_free(headers);
    return judge(&stream, result);
}
