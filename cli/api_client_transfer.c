/* What every transfer needs of libcurl, and what its failures mean. */
#include <stdio.h>
#include <string.h>

#include "cli/api_client_path.h"
#include "cli/api_client_state.h"
#include "cli/verbs.h"

#define CONNECT_MS 5000L
#define HEADER_MAX ((size_t)8192)

void api_client_transfer_header(struct curl_slist **headers, const char *name, const char *value)
{
    struct buffer line = buffer_new(HEADER_MAX);
    buffer_add_format(&line, "%s: %s", name, value);
    const char *text = api_client_path_text(&line);
    struct curl_slist *longer = text == NULL ? NULL : curl_slist_append(*headers, text);
    *headers = longer == NULL ? *headers : longer;
    if (line.data != NULL) {
        explicit_bzero(line.data, line.length);
    }
    buffer_free(&line);
}

void api_client_transfer_headers_free(struct curl_slist *headers)
{
    for (struct curl_slist *each = headers; each != NULL; each = each->next) {
        explicit_bzero(each->data, strlen(each->data));
    }
    curl_slist_free_all(headers);
}

static struct curl_slist *make_headers(const struct api_client *client, const struct api_client_request *request)
{
    char bearer[API_CLIENT_BEARER_SIZE];
    struct curl_slist *headers = NULL;
    api_client_transfer_header(&headers, "Accept", request->accept == NULL ? "application/json, application/problem+json" : request->accept);
    headers = curl_slist_append(headers, "Expect:"); /* no waiting for 100 Continue */
    if (strcmp(request->method, "GET") != 0) {
        api_client_transfer_header(&headers, "Content-Type", "application/json");
    }
    if (request->idempotency_key != NULL) {
        api_client_transfer_header(&headers, "Idempotency-Key", request->idempotency_key);
    }
    if (client->token != NULL) {
        (void)snprintf(bearer, sizeof bearer, "Bearer %s", client->token);
        api_client_transfer_header(&headers, "Authorization", bearer);
        explicit_bzero(bearer, sizeof bearer);
    }
    return headers;
}

/* Only what was asked for, only there: no proxy, no redirect, no netrc, no other protocol, no cookies. */
static void set_bounds(CURL *curl, const struct api_client_address *address)
{
    (void)curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, address->https ? "https" : "http");
    (void)curl_easy_setopt(curl, CURLOPT_HTTP_VERSION, CURL_HTTP_VERSION_1_1);
    (void)curl_easy_setopt(curl, CURLOPT_FOLLOWLOCATION, 0L);
    (void)curl_easy_setopt(curl, CURLOPT_PROXY, "");
    (void)curl_easy_setopt(curl, CURLOPT_NETRC, (long)CURL_NETRC_IGNORED);
    (void)curl_easy_setopt(curl, CURLOPT_PATH_AS_IS, 1L); /* an id may be ".." */
    (void)curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
    if (address->socket_path[0] != '\0') {
        (void)curl_easy_setopt(curl, CURLOPT_UNIX_SOCKET_PATH, address->socket_path);
    }
}

bool api_client_transfer_prepare(struct api_client *client, const struct api_client_address *address, const struct api_client_request *request, struct curl_slist **headers)
{
    CURL *curl = client->curl;
    struct buffer url = buffer_new(API_CLIENT_PATH_MAX);
    curl_easy_reset(curl);
    set_bounds(curl, address);
    buffer_add_format(&url, "%s%s", address->url, request->path);
    const char *text = api_client_path_text(&url);
    CURLcode result = text == NULL ? CURLE_URL_MALFORMAT : curl_easy_setopt(curl, CURLOPT_URL, text);
    buffer_free(&url);
    *headers = make_headers(client, request);
    client->words[0] = '\0';
    (void)curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, client->words);
    (void)curl_easy_setopt(curl, CURLOPT_HTTPHEADER, *headers);
    (void)curl_easy_setopt(curl, CURLOPT_USERAGENT, "tarry/" TARRY_VERSION);
    (void)curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT_MS, CONNECT_MS < client->timeout_ms ? CONNECT_MS : (long)client->timeout_ms);
    if (strcmp(request->method, "POST") == 0) {
        (void)curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)strlen(request->body));
        (void)curl_easy_setopt(curl, CURLOPT_POSTFIELDS, request->body);
    } else if (strcmp(request->method, "GET") != 0) {
        (void)curl_easy_setopt(curl, CURLOPT_CUSTOMREQUEST, request->method);
    }
    return result == CURLE_OK;
}

void api_client_transfer_lost(struct api_client *client, const struct api_client_address *address, bool writes, CURLcode result, struct api_client_answer *answer)
{
    const char *words = client->words[0] == '\0' ? curl_easy_strerror(result) : client->words;
    const char *open = writes ? "; whether it did what was asked is not known" : "";
    long connect_error = 0;
    (void)curl_easy_getinfo(client->curl, CURLINFO_OS_ERRNO, &connect_error);
    if (result == CURLE_COULDNT_CONNECT || result == CURLE_COULDNT_RESOLVE_HOST) {
        api_client_answer_set(answer, VERBS_EXIT_UNREACHABLE, "%s cannot be reached: %.200s; does tarry serve run there? See --server", address->shown,
                              connect_error == 0 ? words : strerror((int)connect_error));
    } else if (result == CURLE_OPERATION_TIMEDOUT) {
        api_client_answer_set(answer, VERBS_EXIT_UNREACHABLE, "%s did not answer in time (%lld ms)%s", address->shown, (long long)client->timeout_ms, open);
    } else if (result == CURLE_WRITE_ERROR && answer->body.full) {
        api_client_answer_set(answer, VERBS_EXIT_FAILED, "%s answered with more than %zu MiB: ask for less", address->shown, API_CLIENT_ANSWER_MAX >> 20);
    } else if (result == CURLE_URL_MALFORMAT) {
        api_client_answer_set(answer, VERBS_EXIT_USAGE, "the request is too long: give a shorter id or filter");
    } else if (result == CURLE_GOT_NOTHING || result == CURLE_RECV_ERROR || result == CURLE_SEND_ERROR || result == CURLE_PARTIAL_FILE) {
        api_client_answer_set(answer, VERBS_EXIT_UNREACHABLE, "the connection to %s broke before its answer was whole (%.200s)%s",
                              address->shown, words, writes ? open : "; is it a tarry?");
    } else {
        api_client_answer_set(answer, VERBS_EXIT_FAILED, "%s: %.300s; is it a tarry?", address->shown, words);
    }
}
