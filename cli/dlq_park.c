/* `tarry dlq park`: waiting letters parked now, to be redelivered no more. */
#include "cli/dlq_clear.h"
#include "cli/dlq_verbs.h"
#include "cli/verbs.h"

int dlq_park_run(int argc, char **argv)
{
    struct dlq_bulk bulk = dlq_bulk_new("dlq park", DLQ_JOB_PARK);
    int code = dlq_bulk_flags(&bulk, argc, argv, NULL, NULL);
    if (code == VERBS_EXIT_DONE) {
        dlq_bulk_default_state(&bulk, LETTER_WAITING);
        if (dlq_filter_wants(&bulk.command.filter, LETTER_PARKED)) {
            dlq_context_say(&bulk.command.context, "--state parked makes no sense here: these are parked");
            code = VERBS_EXIT_USAGE;
        }
    }
    code = code == VERBS_EXIT_DONE ? dlq_bulk_open(&bulk) : code;
    if (code == VERBS_EXIT_DONE && !bulk.execute) {
        code = dlq_clear_plan(&bulk, "park");
    } else if (code == VERBS_EXIT_DONE) {
        uint64_t matched = 0;
        bool limited = bulk.command.filter.limit > 0;
        if (!limited || dlq_bulk_measure(&bulk, NULL, NULL, &matched, &code)) {
            code = dlq_park_resume(&bulk);
        }
    }
    dlq_bulk_free(&bulk);
    return code;
}

int dlq_park_resume(struct dlq_bulk *bulk)
{
    int code = dlq_bulk_begin(bulk, NULL);
    return code == VERBS_EXIT_DONE ? dlq_clear_work(bulk, DLQ_SETTLE_PARK, "parked") : code;
}
