/*
 * A replay at work: letters in the streams' order, to Kafka, out of the stream.
 *
 * A letter leaves its stream only after Kafka acknowledged its record. Killed at any moment, another run goes on with what stands there; what was in flight
 * (DLQ_FLIGHT_LETTERS at most) may go twice. Main thread; blocks until it is over.
 */
#ifndef TARRY_CLI_DLQ_REPLAY_WORK_H
#define TARRY_CLI_DLQ_REPLAY_WORK_H

#include "cli/dlq_bulk.h"
#include "cli/dlq_replay_options.h"

/* The job has begun (dlq_bulk_begin). `matched`: how many there are, for --spread; 0: not known. Ends the job, and returns the code to exit with, told. */
int dlq_replay_work(struct dlq_bulk *bulk, const struct dlq_replay_options *options, uint64_t matched);

#endif
