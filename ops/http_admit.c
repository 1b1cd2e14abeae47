/* See http_admit.h. */
#include "ops/http_admit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/memory.h"
#include "ops/http_guard.h"
#include "ops/http_uri.h"

/* A name with a blank before its colon is not taken for that name here, but elsewhere it may be. */
static bool is_clear_name(const char *name)
{
    return name[0] != '\0' && strpbrk(name, " \t") == NULL;
}

/* Any other encoding than this would leave the end of the body to be guessed. */
static bool is_clear_encoding(const char *value)
{
    return value != NULL && strcasecmp(value, "chunked") == 0;
}

/* To a line that goes on in the next one, as was allowed once, the library adds that to its name: "Content-Length:", and " 40" below, is "Content-Length40". */
static bool goes_on(const char *name, const char *begin)
{
    size_t length = strlen(begin);
    return strncasecmp(name, begin, length) == 0 && name[length] != '\0';
}

/* Those that one request has one of, and that decide on it. Host and the length are looked at on their own. */
static unsigned single_of(const char *name)
{
    static const char *const singles[] = {"Authorization", "Origin", "Sec-Fetch-Site", "Content-Type", "Idempotency-Key"};
    for (unsigned i = 0; i < sizeof(singles) / sizeof(singles[0]); i++) {
        if (strcasecmp(name, singles[i]) == 0) {
            return 1U << i;
        }
    }
    return 0;
}

void http_admit_header(struct http_admit_head *head, const char *name, const char *value)
{
    bool encoding = strcasecmp(name, "Transfer-Encoding") == 0;
    head->lengths += strcasecmp(name, "Content-Length") == 0 || encoding;
    unsigned single = single_of(name);
    head->unclear = head->unclear || !is_clear_name(name) || (head->singles & single) != 0 || goes_on(name, "Content-Length") || goes_on(name, "Transfer-Encoding") ||
                    (encoding && !is_clear_encoding(value));
    head->singles |= single;
    head->hosts += strcasecmp(name, "Host") == 0;
}

static bool is_local_socket(const struct http_clients_client *client)
{
    return client != NULL && client->local_socket;
}

/* Under /api/: before anything is said about what exists. */
static bool may_ask(const struct http_admit_rules *rules, const struct http_admit_head *head, enum http_problem *problem)
{
    if (rules->loopback && (head->hosts > 1 || !http_guard_local_host(head->host))) {
        *problem = HTTP_PROBLEM_HOST_NOT_ALLOWED;
        return false;
    }
    if (rules->token != NULL && !http_guard_bearer(head->authorization, rules->token)) {
        *problem = HTTP_PROBLEM_UNAUTHORIZED;
        return false;
    }
    return true;
}

static bool has_body(const struct http_admit_head *head)
{
    return head->lengths > 0 && (head->content_length == NULL || strcmp(head->content_length, "0") != 0);
}

/* A page of another site can have a browser send this, but neither with this type of content nor under this origin. */
static bool may_write(const struct http_admit_head *head, enum http_problem *problem)
{
    if (!http_guard_same_origin(head->origin, head->host) || !http_guard_same_site(head->fetch_site)) {
        *problem = HTTP_PROBLEM_ORIGIN_NOT_ALLOWED;
        return false;
    }
    bool typed = http_guard_is_json(head->content_type);
    if (head->content_type == NULL ? head->method != METRICS_METHOD_DELETE || has_body(head) : !typed) {
        *problem = HTTP_PROBLEM_MEDIA_TYPE;
        return false;
    }
    return true;
}

/* libmicrohttpd has refused what is no number. */
static bool is_too_long(const char *content_length)
{
    return content_length != NULL && strtoull(content_length, NULL, 10) > HTTP_REQUEST_UPLOAD_MOST;
}

static bool is_allowed(const struct http_admit_rules *rules, bool local, const struct http_admit_head *head, const char *path, struct http_admit *admit, struct span *parameter)
{
    if (head->lengths > 1 || head->unclear) {
        admit->problem = HTTP_PROBLEM_BAD_FRAMING; /* a proxy may take it for two requests where we see one */
        return false;
    }
    if (!local && http_route_guarded(path) && !may_ask(rules, head, &admit->problem)) {
        return false;
    }
    switch (http_route_find(path, head->method, &admit->route, parameter)) {
    case HTTP_ROUTE_NO_PATH:
        admit->problem = HTTP_PROBLEM_NOT_FOUND;
        return false;
    case HTTP_ROUTE_NO_METHOD:
        admit->problem = HTTP_PROBLEM_METHOD_NOT_ALLOWED;
        return false;
    case HTTP_ROUTE_FOUND:
        break;
    }
    if (admit->route->access == HTTP_ACCESS_WRITE && !may_write(head, &admit->problem)) {
        return false;
    }
    admit->problem = HTTP_PROBLEM_UPLOAD_TOO_LARGE;
    return !is_too_long(head->content_length);
}

static bool is_key(const char *key)
{
    return key == NULL || (key[0] != '\0' && strlen(key) <= HTTP_REQUEST_KEY_MOST);
}

static bool read_uri(struct http_admit *admit, struct span parameter, const char *query, const char *key)
{
    switch (http_uri_read(admit->request, parameter, query, key)) {
    case HTTP_URI_BAD_PERCENT:
        admit->problem = HTTP_PROBLEM_BAD_PERCENT;
        return false;
    case HTTP_URI_TOO_MANY:
        admit->problem = HTTP_PROBLEM_TOO_MANY_PARAMETERS;
        return false;
    case HTTP_URI_DOTS:
        admit->problem = HTTP_PROBLEM_NOT_FOUND;
        return false;
    case HTTP_URI_READ:
        break;
    }
    admit->problem = HTTP_PROBLEM_BAD_KEY;
    return is_key(key);
}

static void name_actor(struct http_request *request, const struct http_admit_rules *rules, const struct http_clients_client *client)
{
    if (is_local_socket(client)) {
        (void)snprintf(request->actor, sizeof(request->actor), "uid %lu", client->uid);
    } else {
        (void)snprintf(request->actor, sizeof(request->actor), "%s", rules->token != NULL ? "token" : "loopback");
    }
}

struct http_admit http_admit(const struct http_admit_rules *rules,
                             const struct http_clients_client *client,
                             const struct http_admit_head *head,
                             const struct http_request_counts *counts)
{
    struct http_admit admit = {.admitted = false};
    size_t path_length = strcspn(head->uri, "?");
    char *path = memory_text(head->uri, path_length);
    const char *query = head->uri[path_length] == '?' ? head->uri + path_length + 1 : NULL;
    struct span parameter = SPAN_ABSENT;
    if (is_allowed(rules, is_local_socket(client), head, path, &admit, &parameter)) {
        admit.request = http_request_new(admit.route, counts);
        name_actor(admit.request, rules, client);
        admit.admitted = read_uri(&admit, parameter, query, head->idempotency_key);
    }
    if (!admit.admitted && admit.request != NULL) {
        http_request_free(admit.request);
        admit.request = NULL;
    }
    free(path);
    return admit;
}
