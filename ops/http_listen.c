/* Listening: see http_listen.h. */
#include "ops/http_listen.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define HOST_MAX 64
#define BACKLOG 512

static bool parse_port(const char *text, uint16_t *port)
{
    size_t digits = strspn(text, "0123456789");
    if (digits < 1 || digits > 5 || text[digits] != '\0') {
        return false;
    }
    unsigned long number = strtoul(text, NULL, 10);
    *port = (uint16_t)number;
    return number <= UINT16_MAX;
}

/* "host" or "[host]" without its brackets. */
static bool parse_host(const char *host, bool bracketed, uint16_t port, union http_listen_address *address)
{
    memset(address, 0, sizeof(*address));
    if (bracketed) {
        address->v6.sin6_family = AF_INET6;
        address->v6.sin6_port = htons(port);
        return inet_pton(AF_INET6, host, &address->v6.sin6_addr) == 1;
    }
    address->v4.sin_family = AF_INET;
    address->v4.sin_port = htons(port);
    return inet_pton(AF_INET, strcmp(host, "localhost") == 0 ? "127.0.0.1" : host, &address->v4.sin_addr) == 1;
}

bool http_listen_parse(const char *text, union http_listen_address *address, struct error *error)
{
    const char *colon = strrchr(text, ':');
    size_t length = colon == NULL ? 0 : (size_t)(colon - text);
    uint16_t port = 0;
    char host[HOST_MAX] = "";
    union http_listen_address parsed;
    bool valid = length > 0 && length < sizeof(host) && parse_port(colon + 1, &port);
    if (valid) {
        bool bracketed = length > 2 && text[0] == '[' && text[length - 1] == ']';
        memcpy(host, text + (bracketed ? 1 : 0), length - (bracketed ? 2 : 0));
        valid = parse_host(host, bracketed, port, &parsed);
    }
    if (!valid) {
        return error_set(error, ERROR_INVALID,
                         "http.listen: \"%s\" is no address; write it as 127.0.0.1:7411, [::1]:7411 or 0.0.0.0:7411",
                         text);
    }
    *address = parsed;
    return true;
}

bool http_listen_is_loopback(const union http_listen_address *address)
{
    if (address->any.sa_family == AF_INET6) {
        return IN6_IS_ADDR_LOOPBACK(&address->v6.sin6_addr) != 0;
    }
    return (ntohl(address->v4.sin_addr.s_addr) >> 24) == 127;
}

static bool set_failure(struct error *error, const char *text)
{
    int code = errno;
    if (code == EADDRINUSE) {
        return error_set(error, ERROR_BUSY,
                         "http.listen: %s is taken by another program; stop it or choose another port", text);
    }
    bool ours = code == EADDRNOTAVAIL || code == EACCES;
    return error_set(error, ours ? ERROR_INVALID : ERROR_SYSTEM, "http.listen: cannot listen on %s: %s", text,
                     strerror(code));
}

static bool bind_and_listen(int fd, const union http_listen_address *address)
{
    int on = 1;
    socklen_t length = address->any.sa_family == AF_INET6 ? sizeof(address->v6) : sizeof(address->v4);
    /* A restart must not wait for connections of the last run to time out. */
    return setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) == 0 && bind(fd, &address->any, length) == 0 &&
           listen(fd, BACKLOG) == 0;
}

int http_listen_open(const union http_listen_address *address, const char *text, uint16_t *port, struct error *error)
{
    int fd = socket(address->any.sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0) {
        (void)set_failure(error, text);
        return -1;
    }
    union http_listen_address bound = {0};
    socklen_t length = sizeof(bound);
    if (!bind_and_listen(fd, address) || getsockname(fd, &bound.any, &length) != 0) {
        (void)set_failure(error, text);
        (void)close(fd);
        return -1;
    }
    *port = ntohs(bound.any.sa_family == AF_INET6 ? bound.v6.sin6_port : bound.v4.sin_port);
    return fd;
}
