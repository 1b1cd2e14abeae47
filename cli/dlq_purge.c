/* `tarry dlq purge`: letters deleted. */
#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#include "cli/dlq_clear.h"
#include "cli/dlq_verbs.h"
#include "cli/verbs.h"

struct purge {
    struct dlq_bulk bulk;
    bool yes;
};

static enum options_result take(void *owner, int argc, char **argv, int *index)
{
    struct purge *purge = owner;
    (void)argc;
    if (strcmp(argv[*index], "--yes") != 0) {
        return OPTIONS_UNKNOWN;
    }
    purge->yes = true;
    *index += 1;
    return OPTIONS_TAKEN;
}

/* A person's word for it. */
static bool confirmed(uint64_t matched)
{
    char answer[16] = "";
    fprintf(stderr, "delete %" PRIu64 " letter%s for good? [y/N] ", matched, matched == 1 ? "" : "s");
    fflush(stderr);
    return fgets(answer, sizeof answer, stdin) != NULL && (strcmp(answer, "y\n") == 0 || strcmp(answer, "yes\n") == 0);
}

static int execute(struct purge *purge)
{
    int code = VERBS_EXIT_DONE;
    uint64_t matched = 0;
    struct dlq_bulk *bulk = &purge->bulk;
    bool ask = !purge->yes && isatty(STDIN_FILENO) == 1;
    if ((ask || bulk->command.filter.limit > 0) && !dlq_bulk_measure(bulk, NULL, NULL, &matched, &code)) {
        return code;
    }
    if (ask && matched > 0 && !confirmed(matched)) {
        dlq_context_say(&bulk->command.context, "nothing was deleted");
        return VERBS_EXIT_PARTLY;
    }
    return dlq_purge_resume(bulk);
}

int dlq_purge_run(int argc, char **argv)
{
    struct purge purge = {.bulk = dlq_bulk_new("dlq purge", DLQ_JOB_PURGE)};
    int code = dlq_bulk_flags(&purge.bulk, argc, argv, take, &purge);
    purge.bulk.all = dlq_filter_is_all(&purge.bulk.command.filter);
    if (code == VERBS_EXIT_DONE && purge.bulk.execute && purge.bulk.all && !purge.yes && isatty(STDIN_FILENO) != 1) {
        dlq_context_say(&purge.bulk.command.context, "this would delete every letter: say --yes, or choose some (--target, --id, --until, ...)");
        code = VERBS_EXIT_USAGE;
    }
    code = code == VERBS_EXIT_DONE ? dlq_bulk_open(&purge.bulk) : code;
    if (code == VERBS_EXIT_DONE) {
        code = purge.bulk.execute ? execute(&purge) : dlq_clear_plan(&purge.bulk, "purge");
    }
    dlq_bulk_free(&purge.bulk);
    return code;
}

int dlq_purge_resume(struct dlq_bulk *bulk)
{
    int code = dlq_bulk_begin(bulk, NULL);
    return code == VERBS_EXIT_DONE ? dlq_clear_work(bulk, DLQ_SETTLE_REMOVE, "purged") : code;
}
