/* One request after the other: what is sent, what comes of it, and whom to ask next. */
#include "cli/api_client.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "base/memory.h"
#include "cli/api_client_state.h"
#include "cli/verbs.h"
#include "ops/http_guard.h"

#define TRIES 3
#define AGAIN_MS 300L /* before the second, twice that before the third */

static const char *setting(const char *flag, const char *variable)
{
    const char *value = flag == NULL ? getenv(variable) : flag;
    return value != NULL && (value[0] != '\0' || flag != NULL) ? value : NULL;
}

#define DAEMONS_KEY "http.token_file: " /* in the words of the reader of tokens */

/* As the daemon says it of its own. */
static void warn_of_mode(const struct api_client *client, const char *path)
{
    struct stat status;
    if (stat(path, &status) == 0 && (status.st_mode & S_IRWXO) != 0) {
        fprintf(stderr, "tarry %s: warning: everybody on this machine can use --token-file; take the rights of others away (chmod o=)\n", client->verb);
    }
}

static int read_token(struct api_client *client, const char *path)
{
    struct error error = {ERROR_NONE, ""};
    if (path == NULL) {
        return VERBS_EXIT_DONE;
    }
    client->token = http_guard_token_read(path, &error);
    if (client->token == NULL) {
        const char *words = strncmp(error.text, DAEMONS_KEY, strlen(DAEMONS_KEY)) == 0 ? error.text + strlen(DAEMONS_KEY) : error.text;
        fprintf(stderr, "tarry %s: --token-file: %s\n", client->verb, words);
        return VERBS_EXIT_CONFIG;
    }
    warn_of_mode(client, path);
    return VERBS_EXIT_DONE;
}

static bool start_curl(struct api_client *client)
{
    client->curl = curl_global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK ? curl_easy_init() : NULL;
    if (client->curl == NULL) {
        fprintf(stderr, "tarry %s: libcurl does not start\n", client->verb);
    }
    return client->curl != NULL;
}

int api_client_open(const struct api_client_options *options, struct api_client **client)
{
    struct error error = {ERROR_NONE, ""};
    struct api_client *opened = memory_new(1, sizeof *opened);
    const char *server = setting(options->server, "TARRY_SERVER");
    int code = VERBS_EXIT_DONE;
    opened->verb = options->verb;
    opened->timeout_ms = options->timeout_ms == 0 ? API_CLIENT_TIMEOUT_MS : options->timeout_ms;
    opened->follow = options->follow;
    if (!api_client_address_parse(server == NULL ? API_CLIENT_ADDRESS_DEFAULT : server, &opened->address, &error)) {
        fprintf(stderr, "tarry %s: %s\n", opened->verb, error.text);
        code = VERBS_EXIT_USAGE;
    }
    code = code == VERBS_EXIT_DONE ? read_token(opened, setting(options->token_file, "TARRY_TOKEN_FILE")) : code;
    code = code == VERBS_EXIT_DONE && !start_curl(opened) ? VERBS_EXIT_FAILED : code;
    if (code != VERBS_EXIT_DONE) {
        api_client_close(opened);
        return code;
    }
    *client = opened;
    return VERBS_EXIT_DONE;
}

void api_client_close(struct api_client *client)
{
    if (client == NULL) {
        return;
    }
    curl_easy_cleanup(client->curl);
    http_guard_token_free(client->token);
    free(client);
}

const char *api_client_shown(const struct api_client *client)
{
    return client->address.shown;
}

static size_t take_body(char *bytes, size_t size, size_t count, void *context)
{
    struct buffer *body = context;
    buffer_add(body, bytes, size * count);
    return body->full ? 0 : size * count;
}

/* One transfer. The answer has a status, or code and message say why there is none. */
static CURLcode transfer(struct api_client *client, const struct api_client_address *address, const struct api_client_request *request, struct api_client_answer *answer)
{
    struct curl_slist *headers = NULL;
    CURLcode result = CURLE_URL_MALFORMAT;
    api_client_answer_clear(answer);
    if (api_client_transfer_prepare(client, address, request, &headers)) {
        (void)curl_easy_setopt(client->curl, CURLOPT_WRITEFUNCTION, take_body);
        (void)curl_easy_setopt(client->curl, CURLOPT_WRITEDATA, &answer->body);
        (void)curl_easy_setopt(client->curl, CURLOPT_TIMEOUT_MS, (long)client->timeout_ms);
        result = curl_easy_perform(client->curl);
    }
    api_client_transfer_headers_free(headers);
    if (result == CURLE_OK) {
        (void)curl_easy_getinfo(client->curl, CURLINFO_RESPONSE_CODE, &answer->status);
        api_client_answer_judge(answer, address->shown);
    } else {
        api_client_transfer_lost(client, address, strcmp(request->method, "GET") != 0, result, answer);
    }
    return result;
}

/* Whether the request may have got there though no answer came. */
static bool answer_was_lost(CURLcode result)
{
    return result == CURLE_OPERATION_TIMEDOUT || result == CURLE_GOT_NOTHING || result == CURLE_RECV_ERROR || result == CURLE_SEND_ERROR || result == CURLE_PARTIAL_FILE;
}

static void wait_before(int try)
{
    long ms = AGAIN_MS * try;
    struct timespec span = {ms / 1000, ms % 1000 * 1000000};
    (void)nanosleep(&span, NULL);
}

/* With an idempotency key it is safe to ask again, and while the first request is under way it is needed. */
static void transfer_again(struct api_client *client, const struct api_client_address *address, const struct api_client_request *request, struct api_client_answer *answer)
{
    for (int try = 1; try <= TRIES; try++) {
        CURLcode result = transfer(client, address, request, answer);
        bool under_way = result == CURLE_OK && strcmp(api_client_answer_problem(answer), "idempotency_in_progress") == 0;
        if (request->idempotency_key == NULL || try == TRIES || !(answer_was_lost(result) || under_way)) {
            return;
        }
        wait_before(try);
    }
}

/* The answer says that the partition is another's. */
static void ask_owner(struct api_client *client, const struct api_client_request *request, struct api_client_answer *answer)
{
    struct api_client_address address;
    char owner[API_CLIENT_ADDRESS_MAX + 2];
    (void)snprintf(owner, sizeof owner, "%s", api_client_answer_text(answer->json, "owner"));
    if (!api_client_address_owner(&client->address, owner, &address)) {
        api_client_answer_set(answer, VERBS_EXIT_FAILED, "its partition belongs to another instance, whose address is not known (not_owner)");
    } else if (!client->follow) {
        api_client_answer_set(answer, VERBS_EXIT_FAILED, "its partition belongs to another instance: ask it with --server %s, or say --follow (not_owner)", address.shown);
    } else {
        fprintf(stderr, "tarry %s: its partition belongs to another instance: asking %s\n", client->verb, address.shown);
        transfer_again(client, &address, request, answer);
        if (strcmp(api_client_answer_problem(answer), "not_owner") == 0) {
            api_client_answer_set(answer, VERBS_EXIT_FAILED, "%s does not own the partition either: partitions are on the move, try again (not_owner)", address.shown);
        }
    }
}

int api_client_call(struct api_client *client, const struct api_client_request *request, struct api_client_answer *answer)
{
    *answer = api_client_answer_new();
    transfer_again(client, &client->address, request, answer);
    if (strcmp(api_client_answer_problem(answer), "not_owner") == 0) {
        ask_owner(client, request, answer);
    }
    return answer->code;
}

int api_client_get(struct api_client *client, const char *path, struct api_client_answer *answer)
{
    struct api_client_request request = {.method = "GET", .path = path};
    int code = api_client_call(client, &request, answer);
    return code == VERBS_EXIT_DONE ? code : api_client_say(client, answer);
}

int api_client_say(const struct api_client *client, const struct api_client_answer *answer)
{
    fprintf(stderr, "tarry %s: %s\n", client->verb, answer->message);
    return answer->code;
}
