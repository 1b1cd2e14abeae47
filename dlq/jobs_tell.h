/* A word to a replay job: its record's state is changed, which the process that runs it reads within a second or two. Any thread; blocks as dlq/jobs.h does. */
#ifndef TARRY_DLQ_JOBS_TELL_H
#define TARRY_DLQ_JOBS_TELL_H

#include "dlq/jobs.h"

enum jobs_tell_word { JOBS_TELL_PAUSE, JOBS_TELL_CANCEL };

enum jobs_tell_result {
    JOBS_TELL_DONE,    /* `record` is what stands there now */
    JOBS_TELL_REFUSED, /* what it is it cannot become: the error says both; `record` is what stands there */
    JOBS_TELL_BUSY,    /* the job wrote its record just then: try again */
    JOBS_TELL_FAILED,  /* nothing was written: ERROR_INVALID (no id, or no job that this version understands), ERROR_NOT_FOUND, ERROR_UNAVAILABLE, ERROR_FULL */
    JOBS_TELL_UNKNOWN, /* ERROR_UNAVAILABLE: it may have been written */
};

#define JOBS_TELL_TRIES 10 /* a running job writes its record each second: more than a few would be odd */
#define JOBS_TELL_RECORD_MAX ((size_t)1024 * 1024)

/* One try. A running job can be paused or cancelled, a paused or stopped one cancelled. `record` (of JOBS_TELL_RECORD_MAX) is cleared first. */
enum jobs_tell_result
jobs_tell(struct link *link, const struct streams_options *options, const char *id, enum jobs_tell_word word, struct buffer *record, struct error *error);

#endif
