/* What production uses, and why. */
#include "scheduler/core.h"

void core_options_default(struct core_options *options)
{
    *options = (struct core_options){
        .entries_max = 4000000,               /* 128 MB: some 20 s of 200,000 records a second */
        .late_max = 65536,                    /* 2 MB for one queue; late ones leave at once unless their target fails */
        .old_pairs_max = 16,                  /* ops/ says what the metadata has room for */
        .step_records_max = 4096,             /* a step stays below some 10 ms with its deliveries */
        .scan_rows_max = 8192,                /* about 1 ms at 8 M rows a second */
        .erase_rows_max = 5000,               /* a few ms of the writer's time */
        .split_rows_max = 50000,              /* about 0.1 s of the writer's time */
        .unwritten_bytes_max = 64u << 20,     /* with refs to as many bytes in the shell */
        .unwritten_rows_max = 400000,
        .window_ms = 4000,                    /* half a finest bucket: a bucket is loaded 4 to 12 s before its end */
        .checkpoint_ms = 100,
        .commit_ms = 250,                     /* repeats after a crash: at most what a quarter of a second acknowledged */
        .retry_ms = 100,
        .retry_max_ms = 5000,
        .unknown_topic_grace_ms = 30000,
        .store_retry_ms = 1000,
        .exactly_once = false,
        .transaction_records_max = 32768,     /* about 0.2 s of writing at full speed: its fixed costs are a tenth of that */
        .transaction_busy_records = 512,
        .transaction_busy_per_ms = 40,
        .transaction_wait_ms = 50,            /* from 40,000 records a second on; below that each leaves with the next transaction */
        .transaction_fill_ms = 100,
        .span_max = 0,
        .copy_rows_max = 1000,                /* some 20 ms; with exactly_once what comes due meanwhile waits for it */
        .copy_ms = 100,
        .letter_later_ms = 60000,             /* JetStream is away longer than an instant, mostly; and each time costs a record in the log */
    };
}
