/* What the kernel holds of the host's clock: whether somebody keeps it right. */
#ifndef TARRY_OPS_CLOCK_KERNEL_H
#define TARRY_OPS_CLOCK_KERNEL_H

#include <stdbool.h>
#include <sys/timex.h>

struct clock_kernel {
    bool known; /* else nothing below means anything */
    bool synchronised;
    double offset_seconds;    /* what it is still correcting; positive: the clock is behind. A daemon that corrects by frequency alone leaves it at 0 */
    double max_error_seconds; /* the most that the clock can be wrong by; grows between two synchronisations */
};

/* Asks (adjtimex, changes nothing). Not known: the kernel or a container's filter refuses even the question. One system call; any thread. */
struct clock_kernel clock_kernel_read(void);

/* What an answer of adjtimex means: `state` is what it returned, negative: refused. Pure. */
struct clock_kernel clock_kernel_of(int state, const struct timex *answer);

#endif
