/* The least HTTP client that a test needs. */
#ifndef TARRY_TESTS_SUPPORT_HTTP_GET_H
#define TARRY_TESTS_SUPPORT_HTTP_GET_H

#include <stddef.h>

/* GET http://127.0.0.1:port/path: the status code, the body (cut at size - 1, terminated) if body is not NULL. -1: no
 * connection, no whole answer within about timeout_ms, or not HTTP. */
int http_get(int port, const char *path, int timeout_ms, char *body, size_t size);

/* A TCP port of 127.0.0.1 on which nobody listens, or -1. It lies below the ephemeral range, so that no client's
 * connection takes it between two starts of a server. */
int http_free_port(void);

#endif
