/* Traces, and the end of a world in which a promise was broken. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/sim/world_state.h"

void world_say_broken(const struct world *world, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    (void)fprintf(stderr, "seed %" PRIu64 ", at %" PRId64 " ms: broken promise: ", world->seed, world->now);
    (void)vfprintf(stderr, format, arguments);
    if (world->script == NULL) {
        (void)fprintf(stderr, "\nreplay: scripts/simulate --trace %" PRIu64, world->seed);
    }
    (void)fprintf(stderr, "\n");
    va_end(arguments);
    (void)fflush(NULL);
    exit(EXIT_FAILURE);
}

void world_say_line(const struct world *world, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    (void)printf("%" PRId64 " ", world->now);
    (void)vprintf(format, arguments);
    (void)printf("\n");
    va_end(arguments);
    (void)fflush(stdout);
}
