/*
 * Taking letters out of their stream without sending them: purge, and park. What matched as the streams stood at the start, and nothing newer; main thread.
 */
#ifndef TARRY_CLI_DLQ_CLEAR_H
#define TARRY_CLI_DLQ_CLEAR_H

#include "cli/dlq_bulk.h"
#include "cli/dlq_settle.h"

/* The dry run: how many of which targets. `would`: "purge". The code to exit with. */
int dlq_clear_plan(struct dlq_bulk *bulk, const char *would);

/* Does it; the job has begun. `done`: "purged". Ends the job; the code to exit with, told. */
int dlq_clear_work(struct dlq_bulk *bulk, enum dlq_settle_way way, const char *done);

#endif
