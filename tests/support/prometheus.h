/*
 * A real Prometheus as a child process of a test: it scrapes what its configuration names, on a free loopback port, with a store of its own that is removed at the end.
 *
 * The program is named by the environment variable E2E_PROMETHEUS (ctest sets it; scripts/lib/prometheus.sh fetches it). What fails here fails the running cmocka test. It
 * dies with the test, however that ends. One thread.
 */
#ifndef TARRY_TESTS_SUPPORT_PROMETHEUS_H
#define TARRY_TESTS_SUPPORT_PROMETHEUS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct prometheus;

/* Starts one that scrapes `target` ("127.0.0.1:7411") every interval_ms as job "tarry", with these alert rules; waits until it is ready. Never NULL. */
struct prometheus *prometheus_start(const char *target, const char *rules, int interval_ms);

/* SIGTERM and wait, removes its folder, frees. NULL is allowed. */
void prometheus_free(struct prometheus *prometheus);

/* "firing", "pending" or "inactive" (static). Several of one name: the furthest. */
const char *prometheus_alert(const struct prometheus *prometheus, const char *name);

/* Fails unless each alert that fires has texts in which every template was filled in. Returns how many fire. */
size_t prometheus_check_texts(const struct prometheus *prometheus);

/* How many series the query gave at any moment of the last `seconds`. Fails when Prometheus does not take the query; it says why. */
size_t prometheus_query(const struct prometheus *prometheus, const char *query, int seconds);

/* Prints the end of its log to stderr, for a failing test. */
void prometheus_show_log(const struct prometheus *prometheus);

#endif
