/* Waiting in tests: for a condition, with a generous limit, never for luck. */
#ifndef TARRY_TESTS_SUPPORT_AWAIT_H
#define TARRY_TESTS_SUPPORT_AWAIT_H

#include <stdbool.h>
#include <stdint.h>

int64_t await_wall_ms(void);
int64_t await_mono_ms(void);

/* Lets time pass: between two looks at a condition, or where a test's subject is the passing of time itself. */
void await_pause_ms(int64_t ms);

/* Asks `condition` every 20 ms until it holds; false when it did not within timeout_ms. */
bool await_condition(bool (*condition)(void *context), void *context, int64_t timeout_ms);

#endif
