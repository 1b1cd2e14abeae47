/* Connections: see http_clients.h. */
#include "ops/http_clients.h"

#include <assert.h>
#include <sys/socket.h>

static bool is_open(const struct http_clients_client *client)
{
    return client->phase != HTTP_CLIENTS_FREE && client->phase != HTTP_CLIENTS_CLOSING;
}

struct http_clients_client *http_clients_add(struct http_clients *clients, int fd, struct mono_ms now)
{
    for (size_t i = 0; i < HTTP_CLIENTS_ROOM; i++) {
        struct http_clients_client *client = &clients->clients[i];
        if (client->phase == HTTP_CLIENTS_FREE) {
            *client = (struct http_clients_client){.fd = fd, .phase = HTTP_CLIENTS_READING, .since = now};
            clients->count++;
            clients->open_count++;
            return client;
        }
    }
    return NULL;
}

void http_clients_remove(struct http_clients *clients, struct http_clients_client *client)
{
    assert(client->phase != HTTP_CLIENTS_FREE);
    clients->open_count -= is_open(client) ? 1 : 0;
    clients->count--;
    client->phase = HTTP_CLIENTS_FREE;
}

void http_clients_enter(struct http_clients_client *client, enum http_clients_phase phase, struct mono_ms now)
{
    if (is_open(client)) {
        client->phase = phase;
        client->since = now;
    }
}

void http_clients_cut(struct http_clients *clients, struct http_clients_client *client)
{
    if (is_open(client)) {
        client->phase = HTTP_CLIENTS_CLOSING;
        clients->open_count--;
        (void)shutdown(client->fd, SHUT_RDWR);
    }
}

void http_clients_cut_all(struct http_clients *clients)
{
    for (size_t i = 0; i < HTTP_CLIENTS_ROOM; i++) {
        http_clients_cut(clients, &clients->clients[i]);
    }
}

void http_clients_cut_late(struct http_clients *clients, struct mono_ms now, int64_t request_ms)
{
    for (size_t i = 0; i < HTTP_CLIENTS_ROOM; i++) {
        struct http_clients_client *client = &clients->clients[i];
        int64_t age_ms = now.ms - client->since.ms;
        if ((client->phase == HTTP_CLIENTS_READING && age_ms >= request_ms) ||
            (client->phase == HTTP_CLIENTS_WRITING && age_ms >= HTTP_ANSWER_MS)) {
            http_clients_cut(clients, client);
        }
    }
}

size_t http_clients_busy(const struct http_clients *clients)
{
    size_t busy = 0;
    for (size_t i = 0; i < HTTP_CLIENTS_ROOM; i++) {
        enum http_clients_phase phase = clients->clients[i].phase;
        busy += phase == HTTP_CLIENTS_ASKING || phase == HTTP_CLIENTS_WRITING || phase == HTTP_CLIENTS_STREAMING;
    }
    return busy;
}

bool http_clients_may_ask(const struct http_clients *clients, size_t most)
{
    size_t asking = 0;
    for (size_t i = 0; i < HTTP_CLIENTS_ROOM; i++) {
        enum http_clients_phase phase = clients->clients[i].phase;
        asking += phase == HTTP_CLIENTS_ASKING || phase == HTTP_CLIENTS_STREAMING;
    }
    return asking < most;
}

static struct http_clients_client *oldest_in(struct http_clients *clients, enum http_clients_phase phase)
{
    struct http_clients_client *oldest = NULL;
    for (size_t i = 0; i < HTTP_CLIENTS_ROOM; i++) {
        struct http_clients_client *client = &clients->clients[i];
        if (client->phase == phase && (oldest == NULL || client->since.ms < oldest->since.ms)) {
            oldest = client;
        }
    }
    return oldest;
}

bool http_clients_make_room(struct http_clients *clients)
{
    if (clients->count == HTTP_CLIENTS_ROOM) {
        return false;
    }
    if (clients->open_count < HTTP_CLIENTS_MOST) {
        return true;
    }
    struct http_clients_client *client = oldest_in(clients, HTTP_CLIENTS_READING);
    if (client == NULL) {
        client = oldest_in(clients, HTTP_CLIENTS_WRITING);
    }
    if (client != NULL) {
        http_clients_cut(clients, client);
    }
    return client != NULL;
}
