#include "tests/support/shifted_clock.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <setjmp.h>

#include <cmocka.h>

#include "base/memory.h"
#include "tests/support/await.h"
#include "tests/support/clock_shift.h"
#include "tests/support/temp.h"

#define STEPS_MAX 64
#define OWN_VARIABLES 3
#define VARIABLE_SIZE 512

struct step {
    int64_t at_ms; /* by the host */
    int64_t shift_ms;
};

struct shifted_clock {
    struct clock_shift *shared;
    struct step steps[STEPS_MAX];
    size_t count; /* 1 at least */
    char **environment;
    char own[OWN_VARIABLES][VARIABLE_SIZE];
};

static struct clock_shift *map_file(const char *path)
{
    int file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    assert_true(file >= 0 && ftruncate(file, sizeof(struct clock_shift)) == 0);
    void *page = mmap(NULL, sizeof(struct clock_shift), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    assert_true(page != MAP_FAILED);
    assert_int_equal(close(file), 0);
    return page;
}

static void make_environment(struct shifted_clock *clock, const char *path)
{
    const char *library = getenv("E2E_CLOCK_SHIFT");
    if (library == NULL || access(library, R_OK) != 0) {
        fail_msg("E2E_CLOCK_SHIFT must name the built library (ctest sets it); it is %s", library == NULL ? "unset" : library);
    }
    size_t count = 0;
    while (environ[count] != NULL) {
        count++;
    }
    clock->environment = memory_new(count + OWN_VARIABLES + 1, sizeof(*clock->environment));
    snprintf(clock->own[0], VARIABLE_SIZE, "LD_PRELOAD=%s", library);
    snprintf(clock->own[1], VARIABLE_SIZE, CLOCK_SHIFT_FILE "=%s", path);
    snprintf(clock->own[2], VARIABLE_SIZE, "ASAN_OPTIONS=verify_asan_link_order=0"); /* else a sanitized program takes no library before its own */
    for (size_t i = 0; i < OWN_VARIABLES; i++) {
        clock->environment[i] = clock->own[i]; /* the first of a name counts */
    }
    memcpy(clock->environment + OWN_VARIABLES, environ, count * sizeof(*environ));
}

struct shifted_clock *shifted_clock_new(const char *folder)
{
    struct shifted_clock *clock = memory_new(1, sizeof(*clock));
    char *path = temp_path(folder, "clock-shift");
    clock->shared = map_file(path);
    clock->steps[clock->count++] = (struct step){INT64_MIN, 0};
    make_environment(clock, path);
    free(path);
    return clock;
}

void shifted_clock_free(struct shifted_clock *clock)
{
    if (clock != NULL) {
        (void)munmap(clock->shared, sizeof(*clock->shared));
        free(clock->environment);
        free(clock);
    }
}

void shifted_clock_set(struct shifted_clock *clock, int64_t shift_ms)
{
    assert_true(clock->count < STEPS_MAX);
    clock->steps[clock->count++] = (struct step){await_wall_ms(), shift_ms};
    atomic_store_explicit(&clock->shared->ms, shift_ms, memory_order_release);
}

void shifted_clock_unsynchronise(struct shifted_clock *clock, bool unsynchronised)
{
    atomic_store_explicit(&clock->shared->unsynchronised, unsynchronised ? 1 : 0, memory_order_release);
}

int64_t shifted_clock_ms(const struct shifted_clock *clock)
{
    return await_wall_ms() + (clock == NULL ? 0 : clock->steps[clock->count - 1].shift_ms);
}

int64_t shifted_clock_greatest_ms(const struct shifted_clock *clock, int64_t from_ms, int64_t to_ms)
{
    int64_t greatest_ms = clock == NULL ? to_ms : INT64_MIN;
    for (size_t i = 0; clock != NULL && i < clock->count; i++) {
        int64_t end_ms = i + 1 < clock->count ? clock->steps[i + 1].at_ms : INT64_MAX;
        int64_t last_ms = (end_ms < to_ms ? end_ms : to_ms) + clock->steps[i].shift_ms;
        if (clock->steps[i].at_ms <= to_ms && end_ms >= from_ms && last_ms > greatest_ms) {
            greatest_ms = last_ms;
        }
    }
    return greatest_ms;
}

char **shifted_clock_environment(const struct shifted_clock *clock)
{
    return clock->environment;
}
