/* The only reader of clocks. The owner thread reads both twice a turn (at its start and just before the step) and hands them down as `struct now`. */
#ifndef TARRY_OPS_CLOCK_H
#define TARRY_OPS_CLOCK_H

#include <stddef.h>
#include <stdint.h>

#include "base/time_types.h"

/* One reader's memory, so that its mono_ms never goes back. Zeroed = new. One thread. */
struct clock {
    int64_t last_mono_ms;
};

/* Reads both clocks. Milliseconds are rounded down, so nothing that compares with them is early. mono is never less
 * than at the last call with this clock. Cannot fail. */
struct now clock_read(struct clock *clock);

/* Wall time for a log line. Any thread. */
struct wall_ms clock_wall(void);

/* Monotonic milliseconds, for timeouts outside the owner thread. Any thread. */
struct mono_ms clock_mono(void);

/* Nanoseconds since the wall clock's last whole millisecond: 0 to 999,999. Any thread. */
int64_t clock_wall_into_ms_ns(void);

/* Monotonic microseconds, as systemd wants them. Any thread. */
uint64_t clock_mono_us(void);

#define CLOCK_TEXT_SIZE 40 /* room for any time that clock_text writes */

/* Writes RFC 3339 in UTC with milliseconds, as 2026-11-29T14:12:54.123Z, and returns its length. Times before year 0 or
 * after 9999 have no such form: then epoch milliseconds are written. size >= CLOCK_TEXT_SIZE. Any thread. */
size_t clock_text(struct wall_ms wall, char *text, size_t size);

#endif
