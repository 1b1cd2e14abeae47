/* Requests and their answers: see http_exchange.h. */
#include "ops/http_exchange.h"

#include <microhttpd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "base/memory.h"
#include "ops/api.h"
#include "ops/clock.h"
#include "ops/http_admit.h"
#include "ops/http_owner.h"
#include "ops/http_reply.h"
#include "ops/http_upload.h"

#define CONNECTION_MEMORY_BYTES ((size_t)32 * 1024) /* bounds line and headers of a request: 414 or 431 beyond */
#define CONNECTION_TIMEOUT_S 60U                    /* we cut earlier; this is for what we may have missed, and for streams that nobody takes */
#define ANSWER_GRACE_MS 500                         /* for a worker to say that its time was up */

struct http_exchange {
    struct MHD_Connection *connection;
    struct http_clients_client *client;
    char *uri;
    enum metrics_method method;
    struct http_admit admit;       /* what was made of its headers */
    struct http_upload upload;
    size_t held; /* bytes of its answer */
    struct mailbox_ticket *ticket; /* NULL: nobody is asked */
    struct mono_ms deadline;
    bool looked_at; /* the headers were */
    bool begun;
    bool answered;
    struct http_exchange *next; /* in server->waiting */
};

static struct http_clients_client *client_of(struct MHD_Connection *connection)
{
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    return info == NULL ? NULL : info->socket_context;
}

static const char *header_of(const struct http_exchange *exchange, const char *name)
{
    return MHD_lookup_connection_value(exchange->connection, MHD_HEADER_KIND, name);
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
    char allow[64];
    bool names_methods = which == HTTP_PROBLEM_METHOD_NOT_ALLOWED;
    if (names_methods) {
        http_route_allow(exchange->admit.route, allow, sizeof(allow));
    }
    bool queued = http_reply_problem(exchange->connection, which, names_methods ? allow : NULL);
    return counted(server, exchange, http_problem_status(which), queued);
}

static enum MHD_Result send_answer(struct http_exchange_server *server, struct http_exchange *exchange, struct http_request *request)
{
    const struct http_reply reply = {
        .status = request->status, .content_type = request->content_type, .retry_after = request->allow_retry_s};
    return counted(server, exchange, request->status, http_reply_send(exchange->connection, &reply, &request->body));
}

/* ------------------------------------------------------------------------------------------------- asking */

static struct mailbox *mailbox_of(const struct http_exchange_server *server, const struct http_route *route)
{
    switch (route->answerer) {
    case HTTP_ANSWERER_READER:
        return server->api->work[API_READERS];
    case HTTP_ANSWERER_WRITER:
        return server->api->work[API_WRITERS];
    case HTTP_ANSWERER_LETTERS:
        return server->api->work[API_LETTERS];
    case HTTP_ANSWERER_OWNER:
    case HTTP_ANSWERER_STREAM:
        break;
    }
    return server->api->owner;
}

static bool is_live(const struct http_route *route)
{
    return route->owner == http_owner_live;
}

static int64_t wait_ms_of(const struct http_exchange_server *server, const struct http_route *route)
{
    if (route->wait_ms > 0) {
        return route->wait_ms;
    }
    return is_live(route) ? server->live_wait_ms : server->answer_wait_ms;
}

/* Posts the request and lets the connection sleep. */
static enum MHD_Result ask(struct http_exchange_server *server, struct http_exchange *exchange)
{
    struct error error;
    struct mono_ms now = clock_mono();
    const struct http_route *route = exchange->admit.route;
    struct http_request *request = exchange->admit.request;
    request->deadline.ms = now.ms + wait_ms_of(server, route);
    exchange->deadline.ms = request->deadline.ms + (route->answerer == HTTP_ANSWERER_OWNER ? 0 : ANSWER_GRACE_MS);
    exchange->ticket = mailbox_post(mailbox_of(server, route), request, http_request_free, true, &error);
    if (exchange->ticket == NULL) {
        return problem(server, exchange, error.code == ERROR_FULL ? HTTP_PROBLEM_BUSY : HTTP_PROBLEM_STOPPING);
    }
    exchange->admit.request = NULL;
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
    int64_t beat_ms = mailbox_last_beat(server->api->owner).ms;
    return beat_ms > 0 && clock_mono().ms - beat_ms < HTTP_TURN_FRESH_MS;
}

static enum MHD_Result alive(struct http_exchange_server *server, struct http_exchange *exchange)
{
    http_owner_live(exchange->admit.request, NULL);
    return send_answer(server, exchange, exchange->admit.request);
}

/* One that follows events as they come. */
static enum MHD_Result follow(struct http_exchange_server *server, struct http_exchange *exchange)
{
    struct error error;
    struct http_request *request = exchange->admit.request;
    if (exchange->method == METRICS_METHOD_HEAD) {
        request->status = 200;
        request->content_type = "text/event-stream";
        return send_answer(server, exchange, request);
    }
    const char *last_id = header_of(exchange, "Last-Event-ID");
    int fd = exchange->client == NULL ? -1 : exchange->client->fd;
    if (server->api->feed == NULL) {
        return problem(server, exchange, HTTP_PROBLEM_NO_ANSWER);
    }
    if (http_stream_open(&server->streams, exchange->connection, fd, server->api->feed, request, last_id, &error)) {
        enum MHD_Result result = counted(server, exchange, 200, true);
        if (exchange->client != NULL) {
            http_clients_enter(exchange->client, HTTP_CLIENTS_STREAMING, clock_mono());
        }
        return result;
    }
    if (error.code == ERROR_INVALID) {
        return send_answer(server, exchange, request);
    }
    return error.code == ERROR_FULL ? problem(server, exchange, HTTP_PROBLEM_TOO_MANY_READERS) : MHD_NO;
}

/* The last places are for those who only want to know whether it lives. */
static bool may_ask(const struct http_exchange_server *server, const struct http_route *route)
{
    return http_clients_may_ask(&server->clients, route->access == HTTP_ACCESS_OPEN ? HTTP_CLIENTS_ASKING_MOST_OPEN : HTTP_CLIENTS_ASKING_MOST);
}

/* The request is complete. */
static enum MHD_Result begin(struct http_exchange_server *server, struct http_exchange *exchange)
{
    exchange->begun = true;
    if (!exchange->admit.admitted) {
        return problem(server, exchange, exchange->admit.problem);
    }
    if (is_live(exchange->admit.route) && turned_lately(server)) {
        return alive(server, exchange);
    }
    if (server->stopping) {
        return problem(server, exchange, HTTP_PROBLEM_STOPPING);
    }
    if (!may_ask(server, exchange->admit.route)) {
        return problem(server, exchange, HTTP_PROBLEM_BUSY);
    }
    return exchange->admit.route->answerer == HTTP_ANSWERER_STREAM ? follow(server, exchange) : ask(server, exchange);
}

/* After the connection was resumed. */
static enum MHD_Result finish(struct http_exchange_server *server, struct http_exchange *exchange)
{
    bool writes = exchange->admit.route->access == HTTP_ACCESS_WRITE;
    switch (mailbox_state(exchange->ticket)) {
    case MAILBOX_WAITING:
        return problem(server, exchange, writes ? HTTP_PROBLEM_UNKNOWN_OUTCOME : HTTP_PROBLEM_NO_ANSWER);
    case MAILBOX_REFUSED:
        return problem(server, exchange, HTTP_PROBLEM_STOPPING);
    case MAILBOX_ANSWERED:
        break;
    }
    struct http_request *request = mailbox_payload(exchange->ticket);
    size_t length = request->body.length;
    bool counts = length > HTTP_EXCHANGE_SMALL_BYTES && !writes; /* what was done is told in any case */
    if (counts && length > HTTP_EXCHANGE_HELD_MOST - server->held) {
        return problem(server, exchange, HTTP_PROBLEM_BUSY);
    }
    exchange->held = counts ? length : 0;
    server->held += exchange->held;
    return send_answer(server, exchange, request);
}

/* ------------------------------------------------------------------------------------------------- libmicrohttpd's calls */

/* An MHD_KeyValueIterator. */
static enum MHD_Result on_header(void *context, enum MHD_ValueKind kind, const char *name, const char *value)
{
    (void)kind;
    http_admit_header(context, name, value);
    return MHD_YES;
}

static void look_at_head(struct http_exchange_server *server, struct http_exchange *exchange, const char *method)
{
    exchange->looked_at = true;
    exchange->method = http_route_method(method);
    struct http_admit_head head = {
        .method = exchange->method,
        .uri = exchange->uri,
        .host = header_of(exchange, MHD_HTTP_HEADER_HOST),
        .authorization = header_of(exchange, MHD_HTTP_HEADER_AUTHORIZATION),
        .origin = header_of(exchange, MHD_HTTP_HEADER_ORIGIN),
        .fetch_site = header_of(exchange, "Sec-Fetch-Site"),
        .content_type = header_of(exchange, MHD_HTTP_HEADER_CONTENT_TYPE),
        .content_length = header_of(exchange, MHD_HTTP_HEADER_CONTENT_LENGTH),
        .idempotency_key = header_of(exchange, "Idempotency-Key"),
    };
    (void)MHD_get_connection_values(exchange->connection, MHD_HEADER_KIND, on_header, &head);
    const struct http_admit_rules rules = {server->token, server->loopback};
    exchange->admit = http_admit(&rules, exchange->client, &head, &server->counts);
}

/* An answer to what has only its headers costs the client its connection, as the body is still to come. So that is for
 * refusals of what is too large, or of unclear length, or waits to be asked for. */
static enum MHD_Result on_head(struct http_exchange_server *server, struct http_exchange *exchange, const char *method)
{
    look_at_head(server, exchange, method);
    enum http_problem which = exchange->admit.problem;
    bool at_once = which == HTTP_PROBLEM_UPLOAD_TOO_LARGE || which == HTTP_PROBLEM_BAD_FRAMING || header_of(exchange, MHD_HTTP_HEADER_EXPECT) != NULL;
    return !exchange->admit.admitted && at_once ? begin(server, exchange) : MHD_YES;
}

/*
 * An MHD_AccessHandlerCallback: called with the headers, again for each piece of a body, when the request is complete,
 * and when resumed.
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
    (void)connection;
    (void)path;
    (void)version;
    if (!exchange->looked_at) {
        return on_head(server, exchange, method);
    }
    if (*upload_data_size > 0) {
        bool goes_on = http_upload_add(&server->uploaded, &exchange->upload, &exchange->admit, upload_data, *upload_data_size);
        *upload_data_size = 0;
        return goes_on ? MHD_YES : MHD_NO;
    }
    if (exchange->answered) {
        return MHD_YES;
    }
    return exchange->begun ? finish(server, exchange) : begin(server, exchange);
}

/* The callback of MHD_OPTION_URI_LOG_CALLBACK: a request begins, and here alone its target is to be had as it was sent. */
static void *on_uri(void *context, const char *uri, struct MHD_Connection *connection)
{
    (void)context;
    struct http_exchange *exchange = memory_new(1, sizeof(*exchange));
    exchange->connection = connection;
    exchange->client = client_of(connection);
    exchange->uri = memory_text(uri, strlen(uri));
    return exchange;
}

/* An MHD_RequestCompletedCallback. The connection may carry another request. */
static void on_completed(void *context,
                         struct MHD_Connection *connection,
                         void **request_context,
                         enum MHD_RequestTerminationCode code)
{
    struct http_exchange_server *server = context;
    struct http_exchange *exchange = *request_context;
    (void)connection;
    (void)code;
    if (exchange == NULL) {
        return;
    }
    http_upload_end(&server->uploaded, &exchange->upload);
    server->held -= exchange->held;
    mailbox_drop(exchange->ticket);
    if (exchange->admit.request != NULL) {
        http_request_free(exchange->admit.request);
    }
    if (exchange->client != NULL) {
        http_clients_enter(exchange->client, HTTP_CLIENTS_READING, clock_mono());
    }
    free(exchange->uri);
    free(exchange);
    *request_context = NULL;
}

/* Where the connection comes from. */
static void look_at_peer(struct http_clients_client *client)
{
    struct ucred peer;
    int domain = 0;
    socklen_t domain_length = sizeof(domain);
    socklen_t peer_length = sizeof(peer);
    if (getsockopt(client->fd, SOL_SOCKET, SO_DOMAIN, &domain, &domain_length) == 0 && domain == AF_UNIX &&
        getsockopt(client->fd, SOL_SOCKET, SO_PEERCRED, &peer, &peer_length) == 0) {
        client->local_socket = true;
        client->uid = peer.uid;
    }
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
        struct http_clients_client *client = info == NULL ? NULL : http_clients_add(&server->clients, info->connect_fd, clock_mono());
        if (client != NULL) {
            look_at_peer(client);
        }
        *socket_context = client;
    } else if (*socket_context != NULL) {
        http_clients_remove(&server->clients, *socket_context);
        *socket_context = NULL;
    }
}

struct MHD_Daemon *http_exchange_daemon(struct http_exchange_server *server)
{
    unsigned flags = MHD_USE_EPOLL | MHD_USE_NO_LISTEN_SOCKET | MHD_ALLOW_SUSPEND_RESUME;
    return MHD_start_daemon(flags, 0, NULL, NULL, on_request, server, MHD_OPTION_URI_LOG_CALLBACK, on_uri, server,
                            MHD_OPTION_NOTIFY_COMPLETED, on_completed, server,
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
