/*
 * A wall clock that a test sets, for the one process that it starts with shifted_clock_environment. The test itself, the broker and everybody else keep the
 * host's clock; what went out when is judged by shifted_clock_greatest_ms.
 *
 * What fails here fails the running cmocka test. One thread.
 */
#ifndef TARRY_TESTS_SUPPORT_SHIFTED_CLOCK_H
#define TARRY_TESTS_SUPPORT_SHIFTED_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

struct shifted_clock;

/* The host's time at first. Its file lies in `folder`. The library is named by the environment variable E2E_CLOCK_SHIFT (ctest sets it). Never NULL. */
struct shifted_clock *shifted_clock_new(const char *folder);

/* NULL is allowed. A process that has the clock keeps it as it is. */
void shifted_clock_free(struct shifted_clock *clock);

/* The clock is `shift_ms` ahead of the host's from now on; at most 64 times. */
void shifted_clock_set(struct shifted_clock *clock, int64_t shift_ms);

/* What the kernel says of it from now on: that it is not synchronised, or (as at first) that it is. */
void shifted_clock_unsynchronise(struct shifted_clock *clock, bool unsynchronised);

/* Its time now. NULL: the host's. */
int64_t shifted_clock_ms(const struct shifted_clock *clock);

/* The latest time that it had shown between two moments of the host's clock. NULL: the later moment. */
int64_t shifted_clock_greatest_ms(const struct shifted_clock *clock, int64_t from_ms, int64_t to_ms);

/* Our environment with what makes a process see the clock, for execve. The clock owns it. */
char **shifted_clock_environment(const struct shifted_clock *clock);

#endif
