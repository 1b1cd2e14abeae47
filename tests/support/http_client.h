/* Raw HTTP over a socket, for tests that have to misbehave. */
#ifndef TARRY_TESTS_SUPPORT_HTTP_CLIENT_H
#define TARRY_TESTS_SUPPORT_HTTP_CLIENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A connection to 127.0.0.1:port, or -1. */
int http_client_connect(uint16_t port);

/* Sends all bytes; false when the other side has gone. */
bool http_client_send(int fd, const char *bytes, size_t length);

/* Reads until the other side closes or timeout_ms have passed, and closes fd. NUL-terminated, free it. *closed: it did
 * close. */
char *http_client_read_to_end(int fd, int64_t timeout_ms, bool *closed);

/* Reads exactly so many bytes; fd stays open. False: not within the time, or closed. */
bool http_client_read_some(int fd, char *bytes, size_t length, int64_t timeout_ms);

/* Sends `request` whole on a new connection and returns the answer read to its end; NULL: no connection, or no end in
 * 20 s. */
char *http_client_exchange(uint16_t port, const char *request);

/* "METHOD PATH" with the headers given (each with its CRLF) and Connection: close. */
char *http_client_request(uint16_t port, const char *method, const char *path, const char *headers);

/* The same with a body, and its Content-Length. */
char *http_client_send_body(uint16_t port, const char *method, const char *path, const char *headers, const char *body, size_t length);

/* The status of an answer, 0 when it is none. */
int http_client_status(const char *answer);

/* What follows the headers; "" when there is none. */
const char *http_client_body(const char *answer);

/* True when the answer's headers have the line. */
bool http_client_has_header(const char *answer, const char *line);

#endif
