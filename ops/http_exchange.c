/* Requests and their answers: see http_exchange.h. */
#include "ops/http_exchange.h"

#include <microhttpd.h>
#include <stdlib.h>

#include "base/memory.h"
#include "ops/clock.h"
#include "ops/http_guard.h"
#include "ops/http_reply.h"
#include "ops/http_route.h"

#define CONNECTION_MEMORY_BYTES ((size_t)16 * 1024) /* bounds line and headers of a request: 414 or 431 beyond */
#define CONNECTION_TIMEOUT_S 60U                    /* we cut earlier; this is for what we may have missed */

struct http_exchange {
    struct MHD_Connection *connection;
    struct http_clients_client *client;
    enum metrics_method method;
    struct mailbox_ticket *ticket; /* NULL: the owner is not asked */
    struct mono_ms deadline;
    bool begun;
    bool answered;
    struct http_exchange *next; /* in server->waiting */
};

static struct http_clients_client *client_of(struct MHD_Connection *connection)
{
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    return info == NULL ? NULL : info->socket_context;
}

static enum MHD_Result
counted(struct http_exchange_server *server, struct http_exchange *exchange, unsigned status, bool queued)
{
    if (!queued) {
        return MHD_NO;
    }
    exchange->answered = true;
    server->counts.answered[exchange->method][http_route_status(status)]++;
    if (exchange->client != NULL) {
        http_clients_enter(exchange->client, HTTP_CLIENTS_WRITING, clock_mono());
    }
    return MHD_YES;
}

static enum MHD_Result
problem(struct http_exchange_server *server, struct http_exchange *exchange, enum http_problem which)
{
    return counted(server, exchange, http_problem_status(which), http_reply_problem(exchange->connection, which));
}

static enum MHD_Result alive(struct http_exchange_server *server, struct http_exchange *exchange)
{
    bool queued = http_reply_send(exchange->connection, 200, "application/json", span_of_text(HTTP_PROBLEM_LIVE_TEXT));
    return counted(server, exchange, 200, queued);
}

/* Posts the request and lets the connection sleep. */
static enum MHD_Result
ask(struct http_exchange_server *server, struct http_exchange *exchange, enum http_request_kind kind)
{
    struct error error;
    struct http_request *request = http_request_new(kind, &server->counts);
    exchange->ticket = mailbox_post(server->mailbox, request, http_request_free, true, &error);
    if (exchange->ticket == NULL) {
        http_request_free(request);
        return problem(server, exchange, error.code == ERROR_FULL ? HTTP_PROBLEM_BUSY : HTTP_PROBLEM_STOPPING);
    }
    struct mono_ms now = clock_mono();
    exchange->deadline.ms = now.ms + (kind == HTTP_REQUEST_LIVE ? server->live_wait_ms : server->answer_wait_ms);
    exchange->next = server->waiting;
    server->waiting = exchange;
    if (exchange->client != NULL) {
        http_clients_enter(exchange->client, HTTP_CLIENTS_ASKING, now);
    }
    MHD_suspend_connection(exchange->connection);
    return MHD_YES;
}

static bool turned_lately(const struct http_exchange_server *server)
{
    int64_t beat_ms = mailbox_last_beat(server->mailbox).ms;
    return beat_ms > 0 && clock_mono().ms - beat_ms < HTTP_TURN_FRESH_MS;
}

static const char *header_of(const struct http_exchange *exchange, const char *name)
{
    return MHD_lookup_connection_value(exchange->connection, MHD_HEADER_KIND, name);
}

static bool is_read(const struct http_exchange *exchange)
{
    return exchange->method == METRICS_METHOD_GET || exchange->method == METRICS_METHOD_HEAD;
}

static enum MHD_Result begin(struct http_exchange_server *server, struct http_exchange *exchange, const char *path)
{
    exchange->begun = true;
    if (http_route_guarded(path)) {
        if (server->loopback && !http_guard_local_host(header_of(exchange, MHD_HTTP_HEADER_HOST))) {
            return problem(server, exchange, HTTP_PROBLEM_HOST_NOT_ALLOWED);
        }
        if (server->token != NULL &&
            !http_guard_bearer(header_of(exchange, MHD_HTTP_HEADER_AUTHORIZATION), server->token)) {
            return problem(server, exchange, HTTP_PROBLEM_UNAUTHORIZED);
        }
    }
    const struct http_route *route = http_route_find(path);
    if (route == NULL) {
        return problem(server, exchange, HTTP_PROBLEM_NOT_FOUND);
    }
    if (!is_read(exchange)) {
        return problem(server, exchange, HTTP_PROBLEM_METHOD_NOT_ALLOWED);
    }
    if (route->kind == HTTP_REQUEST_LIVE && turned_lately(server)) {
        return alive(server, exchange);
    }
    return ask(server, exchange, route->kind);
}

/* After the connection was resumed. */
static enum MHD_Result finish(struct http_exchange_server *server, struct http_exchange *exchange)
{
    switch (mailbox_state(exchange->ticket)) {
    case MAILBOX_WAITING:
        return problem(server, exchange, HTTP_PROBLEM_NO_ANSWER);
    case MAILBOX_REFUSED:
        return problem(server, exchange, HTTP_PROBLEM_STOPPING);
    case MAILBOX_ANSWERED:
        break;
    }
    struct http_request *request = mailbox_payload(exchange->ticket);
    bool queued =
        http_reply_send(exchange->connection, request->status, request->content_type, buffer_span(&request->body));
    return counted(server, exchange, request->status, queued);
}

/*
 * An MHD_AccessHandlerCallback: called with the headers, again for each piece of a body, when the request is complete,
 * and when resumed. An answer to the first call costs the client its connection, as the body is still to come. So that
 * is for refusals of what may have a large one.
 */
static enum MHD_Result on_request(void *context,
                                  struct MHD_Connection *connection,
                                  const char *path,
                                  const char *method,
                                  const char *version,
                                  const char *upload_data,
                                  size_t *upload_data_size,
                                  void **request_context)
{
    struct http_exchange_server *server = context;
    struct http_exchange *exchange = *request_context;
    (void)version;
    (void)upload_data;
    if (exchange == NULL) {
        exchange = memory_new(1, sizeof(*exchange));
        exchange->connection = connection;
        exchange->client = client_of(connection);
        exchange->method = http_route_method(method);
        *request_context = exchange;
        return is_read(exchange) ? MHD_YES : begin(server, exchange, path);
    }
    if (*upload_data_size > 0) {
        *upload_data_size = 0; /* no request of ours has a body */
        return MHD_YES;
    }
    if (exchange->answered) {
        return MHD_YES;
    }
    return exchange->begun ? finish(server, exchange) : begin(server, exchange, path);
}

/* An MHD_RequestCompletedCallback. The connection may carry another request. */
static void on_completed(void *context,
                         struct MHD_Connection *connection,
                         void **request_context,
                         enum MHD_RequestTerminationCode code)
{
    (void)context;
    (void)connection;
    (void)code;
    struct http_exchange *exchange = *request_context;
    if (exchange == NULL) {
        return;
    }
    mailbox_drop(exchange->ticket);
    if (exchange->client != NULL) {
        http_clients_enter(exchange->client, HTTP_CLIENTS_READING, clock_mono());
    }
    free(exchange);
    *request_context = NULL;
}

/* An MHD_NotifyConnectionCallback. */
static void on_connection(void *context,
                          struct MHD_Connection *connection,
                          void **socket_context,
                          enum MHD_ConnectionNotificationCode code)
{
    struct http_exchange_server *server = context;
    if (code == MHD_CONNECTION_NOTIFY_STARTED) {
        const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
        *socket_context = info == NULL ? NULL : http_clients_add(&server->clients, info->connect_fd, clock_mono());
    } else if (*socket_context != NULL) {
        http_clients_remove(&server->clients, *socket_context);
        *socket_context = NULL;
    }
}

struct MHD_Daemon *http_exchange_daemon(struct http_exchange_server *server)
{
    unsigned flags = MHD_USE_EPOLL | MHD_USE_NO_LISTEN_SOCKET | MHD_ALLOW_SUSPEND_RESUME;
    return MHD_start_daemon(flags, 0, NULL, NULL, on_request, server, MHD_OPTION_NOTIFY_COMPLETED, on_completed, server,
                            MHD_OPTION_NOTIFY_CONNECTION, on_connection, server, MHD_OPTION_CONNECTION_LIMIT,
                            (unsigned)HTTP_CLIENTS_ROOM, MHD_OPTION_CONNECTION_MEMORY_LIMIT, CONNECTION_MEMORY_BYTES,
                            MHD_OPTION_CONNECTION_TIMEOUT, CONNECTION_TIMEOUT_S, MHD_OPTION_END);
}

void http_exchange_settle(struct http_exchange_server *server, struct mono_ms now, bool all)
{
    struct http_exchange **link = &server->waiting;
    while (*link != NULL) {
        struct http_exchange *exchange = *link;
        bool due = all || now.ms >= exchange->deadline.ms || mailbox_state(exchange->ticket) != MAILBOX_WAITING;
        if (!due) {
            link = &exchange->next;
            continue;
        }
        *link = exchange->next;
        MHD_resume_connection(exchange->connection);
    }
}
