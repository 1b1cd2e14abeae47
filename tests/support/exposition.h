/* A strict reader of the Prometheus text exposition format 0.0.4, for tests. */
#ifndef TARRY_TESTS_SUPPORT_EXPOSITION_H
#define TARRY_TESTS_SUPPORT_EXPOSITION_H

#include <stdbool.h>
#include <stddef.h>

/* True when `text` is well-formed throughout: each sample belongs to the family announced by the HELP and TYPE lines
 * right before it, families and series are not repeated, names, labels, escapes and numbers are exact (no NaN: what has no value is absent), UTF-8 is valid,
 * all series of a family have the same labels, histograms are cumulative and whole (buckets up to +Inf, sum, a count that agrees), counters end in _total, and nothing is
 * negative but the one gauge that may be, the last line ends in a line feed. `problem` says what is not. */
bool exposition_check(const char *text, char *problem, size_t size);

/* The value of the series written exactly so (`name{label="value"}`); NaN when absent. */
double exposition_value(const char *text, const char *series);

#endif
