/* The HTTP thread: see http.h. It accepts, lets libmicrohttpd work, passes answers of the owner on, and cuts who is
 * late. */
#include "ops/http.h"

#include <errno.h>
#include <microhttpd.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/log.h"
#include "base/memory.h"
#include "ops/api.h"
#include "ops/clock.h"
#include "ops/http_exchange.h"
#include "ops/http_guard.h"
#include "ops/http_listen.h"
#include "ops/http_socket.h"
#include "ops/signals.h"

#define TICK_MS 250         /* how exactly late clients are cut and late answers given up, while there are any */
#define ACCEPT_BATCH 32     /* below HTTP_CLIENTS_ROOM - HTTP_CLIENTS_MOST: those cut for them are not gone yet */
#define FLUSH_MS 500        /* for what is answered at the end, to be taken */
#define FLUSH_TICK_MS 20
#define QUIET_MS 15000      /* a stream of events says so often that it is there */
#define ACCEPT_PAUSE_MS 500 /* after a failure of accept that will not pass by itself */

enum { FD_LISTEN, FD_SOCKET, FD_FEED, FD_SERVER, FD_STOP, FD_RELOAD, FD_OWNER, FD_WORK, FD_COUNT = FD_WORK + API_KINDS };

struct http {
    struct http_exchange_server server;
    struct MHD_Daemon *daemon;
    int listen_fd;
    struct http_socket socket;
    int stop_fd;
    int reload_fd;
    uint16_t port;
    char *token_file;
    struct mono_ms accept_after; /* the HTTP thread's */
    pthread_t thread;
    bool running;
};

/* ---- the thread ---- */

static int poll_timeout_ms(const struct http *http, struct mono_ms now)
{
    MHD_UNSIGNED_LONG_LONG wanted;
    bool busy = http->server.clients.count > 0 || now.ms < http->accept_after.ms;
    if (MHD_get_timeout(http->daemon, &wanted) == MHD_YES && wanted < TICK_MS) {
        return (int)wanted;
    }
    return busy ? TICK_MS : -1;
}

/* False: nothing more to accept now. */
static bool accept_one(struct http *http, int listen_fd, struct mono_ms now)
{
    union {
        struct sockaddr any;
        struct sockaddr_storage room;
    } address;
    socklen_t length = sizeof(address);
    int fd = accept4(listen_fd, &address.any, &length, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (fd < 0) {
        if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) {
            http->accept_after.ms = now.ms + ACCEPT_PAUSE_MS; /* the socket stays readable: polling it would spin */
        }
        return errno == EINTR || errno == ECONNABORTED;
    }
    if (!http_clients_make_room(&http->server.clients)) {
        (void)close(fd);
        return true;
    }
    (void)MHD_add_connection(http->daemon, fd, &address.any, length); /* takes fd in any case */
    return true;
}

static void accept_some(struct http *http, int listen_fd, struct mono_ms now)
{
    for (int i = 0; i < ACCEPT_BATCH && accept_one(http, listen_fd, now); i++) {
    }
}

static void reload_token(struct http *http)
{
    uint64_t count;
    struct error error;
    (void)!read(http->reload_fd, &count, sizeof(count));
    if (http->token_file == NULL) {
        return;
    }
    char *token = http_guard_token_read(http->token_file, &error);
    if (token == NULL) {
        log_write(LOG_LEVEL_ERROR, "http_token_reload_failed", NULL, 0, "%s; the old token stays in use", error.text);
        return;
    }
    http_guard_token_free(http->server.token);
    http->server.token = token;
    http_stream_end(&http->server.streams); /* whoever may still read has the token to come back with */
}

static struct mailbox *mailbox_of(const struct http *http, int fd_index)
{
    const struct api *api = http->server.api;
    return fd_index == FD_OWNER ? api->owner : api->work[fd_index - FD_WORK];
}

static void clear_answers(struct http *http, const struct pollfd *fds)
{
    for (int i = FD_OWNER; i < FD_COUNT; i++) {
        if (fds[i].revents != 0) {
            mailbox_answers_clear(mailbox_of(http, i));
        }
    }
}

static void turn(struct http *http, const struct pollfd *fds)
{
    struct mono_ms now = clock_mono();
    if (fds[FD_RELOAD].revents != 0) {
        reload_token(http);
    }
    if (fds[FD_LISTEN].revents != 0) {
        accept_some(http, http->listen_fd, now);
    }
    if (fds[FD_SOCKET].revents != 0) {
        accept_some(http, http->socket.fd, now);
    }
    clear_answers(http, fds);
    bool told = fds[FD_FEED].revents != 0;
    if (told) {
        event_feed_clear(http->server.api->feed);
    }
    http_stream_wake(&http->server.streams, now, told);
    http_exchange_settle(&http->server, now, false);
    http_clients_cut_late(&http->server.clients, now, http->server.request_ms);
    (void)MHD_run(http->daemon);
}

/* What can be said at the end is said, to those who take it. The library may not be stopped while connections are suspended. */
static void flush(struct http *http, int epoll_fd)
{
    struct http_exchange_server *server = &http->server;
    struct mono_ms now = clock_mono();
    int64_t end_ms = now.ms + FLUSH_MS;
    server->stopping = true;
    server->streams.over = true;
    do {
        struct pollfd poll_fd = {epoll_fd, POLLIN, 0};
        http_exchange_settle(server, now, true);
        http_stream_wake(&server->streams, now, true);
        (void)MHD_run(http->daemon);
        MHD_UNSIGNED_LONG_LONG wanted = TICK_MS;
        int wait_ms = MHD_get_timeout(http->daemon, &wanted) == MHD_YES && wanted < FLUSH_TICK_MS ? (int)wanted : FLUSH_TICK_MS;
        if (http_clients_busy(&server->clients) > 0) {
            (void)poll(&poll_fd, 1, wait_ms);
        }
        now = clock_mono();
    } while (http_clients_busy(&server->clients) > 0 && now.ms < end_ms);
    http_clients_cut_all(&server->clients);
    http_exchange_settle(server, now, true);
    http_stream_wake(&server->streams, now, true);
    (void)MHD_run(http->daemon);
}

static void *run(void *context)
{
    struct http *http = context;
    signals_block_in_thread();
    (void)pthread_setname_np(pthread_self(), "tarry-http");
    const union MHD_DaemonInfo *info = MHD_get_daemon_info(http->daemon, MHD_DAEMON_INFO_EPOLL_FD);
    struct pollfd fds[FD_COUNT] = {
        [FD_LISTEN] = {http->listen_fd, POLLIN, 0},
        [FD_SOCKET] = {http->socket.fd, POLLIN, 0},
        [FD_FEED] = {http->server.api->feed == NULL ? -1 : event_feed_fd(http->server.api->feed), POLLIN, 0},
        [FD_SERVER] = {info->epoll_fd, POLLIN, 0},
        [FD_STOP] = {http->stop_fd, POLLIN, 0},
        [FD_RELOAD] = {http->reload_fd, POLLIN, 0},
    };
    for (int i = FD_OWNER; i < FD_COUNT; i++) {
        const struct mailbox *mailbox = mailbox_of(http, i);
        fds[i] = (struct pollfd){mailbox == NULL ? -1 : mailbox_answers_fd(mailbox), POLLIN, 0};
    }
    while (fds[FD_STOP].revents == 0) {
        turn(http, fds);
        struct mono_ms now = clock_mono();
        fds[FD_LISTEN].fd = now.ms < http->accept_after.ms ? -1 : http->listen_fd;
        fds[FD_SOCKET].fd = now.ms < http->accept_after.ms ? -1 : http->socket.fd;
        if (poll(fds, FD_COUNT, poll_timeout_ms(http, now)) < 0) {
            for (int i = 0; i < FD_COUNT; i++) {
                fds[i].revents = 0;
            }
        }
    }
    flush(http, info->epoll_fd);
    return NULL;
}

/* ---- starting and stopping, in the owner's thread ---- */

static int64_t or_default(int64_t value, int64_t otherwise)
{
    return value > 0 ? value : otherwise;
}

static bool open_listener(struct http *http, const struct http_options *options, struct error *error)
{
    union http_listen_address address;
    if (!http_listen_parse(options->listen, &address, error)) {
        return false;
    }
    http->server.loopback = http_listen_is_loopback(&address);
    if (!http->server.loopback && options->token_file == NULL) {
        return error_set(
            error, ERROR_INVALID,
            "http.listen: %s is reachable from other machines, so http.token_file is needed; or listen on 127.0.0.1",
            options->listen);
    }
    if (options->token_file != NULL) {
        http->token_file = memory_text(options->token_file, strlen(options->token_file));
        http->server.token = http_guard_token_read(options->token_file, error);
        if (http->server.token == NULL) {
            return false;
        }
    }
    http->listen_fd = http_listen_open(&address, options->listen, &http->port, error);
    return http->listen_fd >= 0 && (options->socket == NULL || http_socket_open(&http->socket, options->socket, error));
}

static bool start_thread(struct http *http, struct error *error)
{
    http->stop_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    http->reload_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (http->stop_fd < 0 || http->reload_fd < 0) {
        return error_set(error, ERROR_SYSTEM, "cannot make an eventfd for HTTP: %s", strerror(errno));
    }
    http->daemon = http_exchange_daemon(&http->server);
    if (http->daemon == NULL) {
        return error_set(error, ERROR_SYSTEM,
                         "cannot start the HTTP server; are file descriptors or memory at their limit?");
    }
    int failure = pthread_create(&http->thread, NULL, run, http);
    if (failure != 0) {
        return error_set(error, ERROR_SYSTEM, "cannot start the HTTP thread: %s", strerror(failure));
    }
    http->running = true;
    return true;
}

struct http *http_start(const struct http_options *options, const struct api *api, struct error *error)
{
    struct http *http = memory_new(1, sizeof(*http));
    http->listen_fd = -1;
    http->socket.fd = -1;
    http->stop_fd = -1;
    http->reload_fd = -1;
    http->server.api = api;
    http->server.streams.quiet_ms = or_default(options->quiet_ms, QUIET_MS);
    http->server.request_ms = or_default(options->request_ms, HTTP_REQUEST_MS);
    http->server.live_wait_ms = or_default(options->live_wait_ms, 1000);
    http->server.answer_wait_ms = or_default(options->answer_wait_ms, 5000);
    if (!open_listener(http, options, error) || !start_thread(http, error)) {
        http_stop(http);
        return NULL;
    }
    return http;
}

static void raise_fd(int fd)
{
    uint64_t one = 1;
    (void)!write(fd, &one, sizeof(one));
}

static void close_fd(int fd)
{
    if (fd >= 0) {
        (void)close(fd);
    }
}

void http_stop(struct http *http)
{
    if (http == NULL) {
        return;
    }
    if (http->running) {
        raise_fd(http->stop_fd);
        (void)pthread_join(http->thread, NULL);
    }
    if (http->daemon != NULL) {
        MHD_stop_daemon(http->daemon);
    }
    close_fd(http->listen_fd);
    http_socket_close(&http->socket);
    close_fd(http->stop_fd);
    close_fd(http->reload_fd);
    http_guard_token_free(http->server.token);
    free(http->token_file);
    free(http);
}

void http_reload(struct http *http)
{
    raise_fd(http->reload_fd);
}

uint16_t http_port(const struct http *http)
{
    return http->port;
}
