/* Zones from tests/cron/zones, and occurrences told as people write moments. What fails here fails the running cmocka test. */
#ifndef TARRY_TESTS_CRON_CASE_H
#define TARRY_TESTS_CRON_CASE_H

#include <stdbool.h>
#include <stdint.h>

#include "scheduler/cron.h"
#include "scheduler/zone.h"

/* A file of tests/cron/zones ("America/New_York"), to be freed by zone_free(). "UTC" is NULL. */
struct zone *cron_case_zone(const char *name);

/* Milliseconds since 1970 of "2027-03-14T03:00:00-04:00". */
int64_t cron_case_ms(const char *moment);

/* An expression that has to be accepted. */
struct cron cron_case_parse(const char *expression);

/* The occurrences after `after` are these, and in this order: moments, ended by NULL. "never" stands for: no more. */
void cron_case_expect(const char *expression, const char *zone_name, const char *after, ...) __attribute__((sentinel));

/* How many occurrences there are after `after` up to `until`, both included on the right only. */
int cron_case_count(const char *expression, const char *zone_name, const char *after, const char *until);

/* The expression is refused, in words that hold `part`. */
void cron_case_refused(const char *expression, const char *part);

#endif
