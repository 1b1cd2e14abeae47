#include "cli/demo_ready.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "base/text.h"

#define TRIES 100
#define PORT_LEAST 12000
#define PORT_COUNT 20000
#define ANSWER_MAX 4096
#define WAIT_US 250000 /* for each of sending and receiving */

static struct sockaddr_in loopback(uint16_t port)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(port)};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return address;
}

bool demo_ready_port(uint16_t *port, struct error *error)
{
    for (int i = 0; i < TRIES; i++) {
        uint16_t random = 0;
        if (getrandom(&random, sizeof random, 0) != (ssize_t)sizeof random) {
            break;
        }
        struct sockaddr_in address = loopback((uint16_t)(PORT_LEAST + random % PORT_COUNT));
        int probe = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        bool is_free = probe >= 0 && bind(probe, (struct sockaddr *)&address, sizeof address) == 0;
        if (probe >= 0) {
            close(probe);
        }
        if (is_free) {
            *port = ntohs(address.sin_port);
            return true;
        }
    }
    return error_set(error, ERROR_SYSTEM, "no free port of 127.0.0.1 was found");
}

static int connect_to(uint16_t port)
{
    struct sockaddr_in address = loopback(port);
    struct timeval limit = {.tv_usec = WAIT_US};
    int connection = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (connection < 0) {
        return -1;
    }
    (void)setsockopt(connection, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    (void)setsockopt(connection, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
    if (connect(connection, (struct sockaddr *)&address, sizeof address) != 0) {
        close(connection);
        return -1;
    }
    return connection;
}

/* The whole answer, terminated; "" when there is none. */
static void exchange(uint16_t port, char *answer, size_t size)
{
    size_t length = 0;
    int connection = connect_to(port);
    char request[96];
    int request_length =
        snprintf(request, sizeof request, "GET /readyz HTTP/1.0\r\nHost: 127.0.0.1:%u\r\n\r\n", (unsigned)port);
    if (connection >= 0 && send(connection, request, (size_t)request_length, MSG_NOSIGNAL) == request_length) {
        ssize_t count = 0;
        while (length < size - 1 && (count = recv(connection, answer + length, size - 1 - length, 0)) > 0) {
            length += (size_t)count;
        }
    }
    answer[length] = '\0';
    if (connection >= 0) {
        close(connection);
    }
}

bool demo_ready_ask(uint16_t port, char *text, size_t size)
{
    char answer[ANSWER_MAX];
    exchange(port, answer, sizeof answer);
    const char *body = strstr(answer, "\r\n\r\n");
    bool is_http = strncmp(answer, "HTTP/1.", 7) == 0 && strlen(answer) >= 12 && body != NULL;
    text_printable(span_of_text(is_http ? body + 4 : "no answer"), text, size);
    return is_http && strncmp(answer + 8, " 200", 4) == 0;
}
