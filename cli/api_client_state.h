/* What api_client*.c share. */
#ifndef TARRY_CLI_API_CLIENT_STATE_H
#define TARRY_CLI_API_CLIENT_STATE_H

#include <curl/curl.h>

#include "cli/api_client.h"
#include "cli/api_client_address.h"
#include "ops/http_guard.h"

#define API_CLIENT_BEARER_SIZE (HTTP_GUARD_TOKEN_MOST + 16)

struct api_client {
    const char *verb;
    struct api_client_address address;
    char *token; /* NULL: none */
    int64_t timeout_ms;
    bool follow;
    CURL *curl;
    char words[CURL_ERROR_SIZE]; /* of the latest failure */
};

/* Resets the handle and sets what every request needs; *headers is freed by api_client_transfer_headers_free. False: the URL is too long. */
bool api_client_transfer_prepare(struct api_client *client, const struct api_client_address *address, const struct api_client_request *request, struct curl_slist **headers);

/* Adds "name: value". */
void api_client_transfer_header(struct curl_slist **headers, const char *name, const char *value);

/* Wipes, then frees. */
void api_client_transfer_headers_free(struct curl_slist *headers);

/* What came of the transfer when there was no whole answer: code and words. */
void api_client_transfer_lost(struct api_client *client, const struct api_client_address *address, bool writes, CURLcode result, struct api_client_answer *answer);

#endif
