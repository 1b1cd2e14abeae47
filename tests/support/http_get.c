#include "tests/support/http_get.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "base/buffer.h"

#define REQUEST_MAX (16u * 1024)
#define ANSWER_MAX (4u * 1024 * 1024)

static struct sockaddr_in loopback(int port)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return address;
}

static int connect_to(int port, int timeout_ms)
{
    int connection = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct sockaddr_in address = loopback(port);
    struct timeval limit = {.tv_sec = timeout_ms / 1000, .tv_usec = (timeout_ms % 1000) * 1000};
    setsockopt(connection, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
    setsockopt(connection, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
    if (connection >= 0 && connect(connection, (struct sockaddr *)&address, sizeof(address)) != 0) {
        close(connection);
        return -1;
    }
    return connection;
}

/* Everything up to the end of the connection; false when it did not come to its end. */
static bool read_all(int connection, struct buffer *answer)
{
    char part[4096];
    ssize_t count = 0;
    while ((count = recv(connection, part, sizeof(part), 0)) > 0) {
        buffer_add(answer, part, (size_t)count);
    }
    buffer_add(answer, "", 1);
    return count == 0 && !answer->full;
}

static int parse(const char *answer, char *body, size_t size)
{
    const char *rest = strstr(answer, "\r\n\r\n");
    if (strncmp(answer, "HTTP/1.", 7) != 0 || strlen(answer) < 12 || rest == NULL) {
        return -1;
    }
    if (body != NULL) {
        snprintf(body, size, "%s", rest + 4);
    }
    return (int)strtol(answer + 9, NULL, 10);
}

int http_get(int port, const char *path, int timeout_ms, char *body, size_t size)
{
    int connection = connect_to(port, timeout_ms);
    if (connection < 0) {
        return -1;
    }
    struct buffer request = buffer_new(REQUEST_MAX);
    buffer_add_format(&request, "GET %s HTTP/1.0\r\nHost: 127.0.0.1\r\n\r\n", path);
    struct buffer answer = buffer_new(ANSWER_MAX);
    int status = -1;
    if (send(connection, request.data, request.length, MSG_NOSIGNAL) == (ssize_t)request.length && read_all(connection, &answer)) {
        status = parse((const char *)answer.data, body, size);
    }
    buffer_free(&request);
    buffer_free(&answer);
    close(connection);
    return status;
}

int http_free_port(void)
{
    for (int tries = 0; tries < 100; tries++) {
        uint16_t random = 0;
        if (getrandom(&random, sizeof(random), 0) != (ssize_t)sizeof(random)) {
            return -1;
        }
        int port = 12000 + random % 20000;
        int probe = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        struct sockaddr_in address = loopback(port);
        bool free_now = bind(probe, (struct sockaddr *)&address, sizeof(address)) == 0;
        close(probe);
        if (free_now) {
            return port;
        }
    }
    return -1;
}
