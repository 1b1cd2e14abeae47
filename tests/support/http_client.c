#include "tests/support/http_client.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define EXCHANGE_MS 20000

static int64_t mono_ms(void)
{
    struct timespec time;
    (void)clock_gettime(CLOCK_MONOTONIC, &time);
    return (int64_t)time.tv_sec * 1000 + time.tv_nsec / 1000000;
}

int http_client_connect(uint16_t port)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(port)};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd >= 0 && connect(fd, (const struct sockaddr *)&address, sizeof(address)) != 0) {
        (void)close(fd);
        return -1;
    }
    return fd;
}

bool http_client_send(int fd, const char *bytes, size_t length)
{
    size_t done = 0;
    while (done < length) {
        ssize_t count = send(fd, bytes + done, length - done, MSG_NOSIGNAL);
        if (count <= 0) {
            return false;
        }
        done += (size_t)count;
    }
    return true;
}

char *http_client_read_to_end(int fd, int64_t timeout_ms, bool *closed)
{
    int64_t end_ms = mono_ms() + timeout_ms;
    size_t capacity = 1 << 16;
    size_t length = 0;
    char *text = malloc(capacity + 1);
    *closed = false;
    while (text != NULL && !*closed) {
        int64_t left_ms = end_ms - mono_ms();
        struct pollfd poll_fd = {fd, POLLIN, 0};
        if (left_ms <= 0 || poll(&poll_fd, 1, (int)left_ms) <= 0) {
            break;
        }
        if (length == capacity) {
            capacity *= 2;
            char *longer = realloc(text, capacity + 1);
            if (longer == NULL) {
                break;
            }
            text = longer;
        }
        ssize_t count = recv(fd, text + length, capacity - length, 0);
        *closed = count <= 0;
        length += count > 0 ? (size_t)count : 0;
    }
    if (text != NULL) {
        text[length] = '\0';
    }
    (void)close(fd);
    return text;
}

bool http_client_read_some(int fd, char *bytes, size_t length, int64_t timeout_ms)
{
    int64_t end_ms = mono_ms() + timeout_ms;
    size_t done = 0;
    while (done < length) {
        int64_t left_ms = end_ms - mono_ms();
        struct pollfd poll_fd = {fd, POLLIN, 0};
        ssize_t count = left_ms > 0 && poll(&poll_fd, 1, (int)left_ms) == 1 ? recv(fd, bytes + done, length - done, 0) : 0;
        if (count <= 0) {
            return false;
        }
        done += (size_t)count;
    }
    return true;
}

/* NULL: the server did not close in time. */
static char *read_whole(int fd)
{
    bool closed;
    char *answer = http_client_read_to_end(fd, EXCHANGE_MS, &closed);
    if (!closed) {
        free(answer);
        return NULL;
    }
    return answer;
}

char *http_client_exchange(uint16_t port, const char *request)
{
    int fd = http_client_connect(port);
    if (fd < 0) {
        return NULL;
    }
    /* A server that refuses early closes before all is sent; what it said is still to be read. */
    (void)http_client_send(fd, request, strlen(request));
    return read_whole(fd);
}

char *http_client_request(uint16_t port, const char *method, const char *path, const char *headers)
{
    char request[8192];
    (void)snprintf(request, sizeof(request), "%s %s HTTP/1.1\r\n%sConnection: close\r\n\r\n", method, path, headers);
    return http_client_exchange(port, request);
}

char *http_client_send_body(uint16_t port, const char *method, const char *path, const char *headers, const char *body, size_t length)
{
    size_t size = strlen(method) + strlen(path) + strlen(headers) + length + 128;
    char *request = malloc(size);
    int fd = http_client_connect(port);
    if (request == NULL || fd < 0) {
        free(request);
        return NULL;
    }
    int head = snprintf(request, size, "%s %s HTTP/1.1\r\n%sContent-Length: %zu\r\nConnection: close\r\n\r\n", method, path, headers, length);
    memcpy(request + head, body, length);
    (void)http_client_send(fd, request, (size_t)head + length);
    free(request);
    return read_whole(fd);
}

int http_client_status(const char *answer)
{
    return answer != NULL && strncmp(answer, "HTTP/1.1 ", 9) == 0 ? (int)strtol(answer + 9, NULL, 10) : 0;
}

const char *http_client_body(const char *answer)
{
    const char *end = strstr(answer, "\r\n\r\n");
    return end == NULL ? "" : end + 4;
}

bool http_client_has_header(const char *answer, const char *line)
{
    const char *end = strstr(answer, "\r\n\r\n");
    const char *at = strstr(answer, line);
    size_t length = strlen(line);
    return at != NULL && end != NULL && at < end && at > answer && at[-1] == '\n' &&
           strncmp(at + length, "\r\n", 2) == 0;
}
