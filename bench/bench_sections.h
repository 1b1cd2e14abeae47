/* The sections: each measures, and adds to run->figures. README.md says what the figures mean. */
#ifndef TARRY_BENCH_BENCH_SECTIONS_H
#define TARRY_BENCH_BENCH_SECTIONS_H

#include "bench/bench_run.h"

struct bench_tarry;

/* Not a section: the broker's code is slow until it has been compiled, and would favour whoever comes last. */
void bench_throughput_warm_up(struct bench_run *run);

void bench_throughput_section(struct bench_run *run);
void bench_throughput_exact_section(struct bench_run *run);
void bench_lateness_section(struct bench_run *run);
void bench_lateness_exact_section(struct bench_run *run);
void bench_takeover_section(struct bench_run *run);
void bench_ingest_section(struct bench_run *run);
void bench_pending_memory_section(struct bench_run *run);
void bench_pending_recovery_section(struct bench_run *run);
void bench_list_section(struct bench_run *run);
void bench_checkpoint_section(struct bench_run *run);
void bench_letters_section(struct bench_run *run);

/* The parts of `schedules`. */
void bench_throughput_ids_section(struct bench_run *run);
void bench_recurring_section(struct bench_run *run);
void bench_herd_section(struct bench_run *run);
void bench_paused_section(struct bench_run *run);
void bench_catch_up_section(struct bench_run *run);

/* A tarry with as many records pending as in the section memory: that section's, or a new one. Borrowed until bench_pending_close. */
struct bench_tarry *bench_pending_full(struct bench_run *run);

/* Ends what bench_pending_memory_section has left for recovery and lists. */
void bench_pending_close(struct bench_run *run);

#endif
