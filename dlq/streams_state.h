/* What the files of the streams share: the four streams as they should be, and the steps of making one. Room-internal. */
#ifndef TARRY_DLQ_STREAMS_STATE_H
#define TARRY_DLQ_STREAMS_STATE_H

#include <nats/nats.h>
#include <stdbool.h>
#include <stdint.h>

#include "dlq/link_state.h"
#include "dlq/streams.h"
#include "dlq/subject.h"

#define STREAMS_STATE_COUNT 4
#define STREAMS_STATE_SUBJECTS 2
#define STREAMS_STATE_LABEL "tarry letters of " /* what descriptions of ours begin with; then the owner */
#define STREAMS_STATE_LABEL_SIZE 400
#define NS_PER_MS 1000000

/* Points into itself: not to be copied. */
struct streams_wanted {
    char name[STREAMS_NAME_SIZE];
    char texts[STREAMS_STATE_SUBJECTS][SUBJECT_SIZE];
    const char *subjects[STREAMS_STATE_SUBJECTS];
    char label[STREAMS_STATE_LABEL_SIZE];  /* "": no owner */
    jsStreamConfig config;
};

#include "dlq/streams_compare.h" /* last: it speaks of what stands above */

#include "dlq/streams_make.h" /* last: it speaks of what stands above */

#include "dlq/streams_wanted.h" /* last: it speaks of what stands above */

#endif
