/*
 * Going over the letters as they stood at the start: waiting ones, then parked ones, each in the stream's order.
 *
 * What comes in later is not looked at, and what is removed meanwhile is passed over. Nothing is changed by it: no durable consumer, no acknowledgement. Memory is
 * bounded by the reader's read-ahead and one letter. A lost connection is waited for and read on from where it was; what stays away for longer fails. One
 * thread; blocks.
 */
#ifndef TARRY_CLI_DLQ_SCAN_H
#define TARRY_CLI_DLQ_SCAN_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/dlq_context.h"
#include "cli/dlq_filter.h"
#include "dlq/letter.h"
#include "dlq/subject.h"

/* One stream as it was. */
struct dlq_scan_bound {
    bool looked_at;      /* false: the filter excludes it, or it is not there, or nothing was in it */
    uint64_t first;      /* sequence to begin at */
    uint64_t last;       /* nothing beyond it */
    uint64_t messages;   /* in the stream at that time; for progress */
    int64_t created_ms;  /* of the stream: another value later is another stream, and these sequences mean nothing */
};

struct dlq_scan_bounds {
    struct dlq_scan_bound of[2]; /* by enum letter_state */
};

/* How the streams stand now. A stream that is not there has no letters: no error. ERROR_UNAVAILABLE. */
bool dlq_scan_look(const struct dlq_context *context, const struct dlq_filter *filter, struct dlq_scan_bounds *bounds, struct error *error);

struct dlq_scan_letter {
    enum letter_state state;
    uint64_t sequence;
    int64_t stored_ms;
    uint64_t bytes;              /* of the message; of a record that stands apart too */
    const struct letter *letter; /* its record is loaded if the filter or the caller asked for it. Borrowed, as all in it, until the visit returns */
    bool record_missing;         /* it was asked for, stands apart, and could not be loaded: told on stderr. It matches no filter that needs it */
};

struct dlq_scan_totals {
    uint64_t seen;    /* messages read */
    uint64_t matched; /* given to visit */
    uint64_t damaged; /* could not be decoded: told on stderr with stream and sequence, and passed over */
    uint64_t missing; /* records that stand apart and could not be loaded */
};

/* Gets each matching letter; false: enough, which is no failure. */
typedef bool dlq_scan_visit(void *context, const struct dlq_scan_letter *letter);

struct dlq_scan {
    const struct dlq_context *context;
    const struct dlq_filter *filter; /* its limit is kept: the scan ends after that many */
    struct dlq_scan_bounds bounds;   /* of dlq_scan_look, or narrower: a job goes on behind `first` */
    bool records;                    /* load records that stand apart, also when the filter does not need them */
    dlq_scan_visit *visit;
    void *visitor;
    void (*at)(void *visitor, enum letter_state state, uint64_t sequence); /* each message that was passed, matching or not; may be NULL. For progress and for a job's place */
};

/* False: the scan could not be finished (ERROR_UNAVAILABLE, ...); totals say how far it came. */
bool dlq_scan_run(const struct dlq_scan *scan, struct dlq_scan_totals *totals, struct error *error);

/* The subject, with wildcards or without, of the messages that a scan with this filter reads: all of them, and none else. */
void dlq_scan_subject(const struct dlq_context *context, const struct dlq_filter *filter, enum letter_state state, char text[SUBJECT_SIZE]);

/* The code to exit with after a scan that was finished: 0, or 3 with a word on stderr when some were damaged or missing. */
int dlq_scan_exit(const struct dlq_context *context, const struct dlq_scan_totals *totals);

#endif
