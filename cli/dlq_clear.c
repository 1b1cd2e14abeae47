#include "cli/dlq_clear.h"

#include <inttypes.h>
#include <stdio.h>

#include "cli/dlq_apart.h"
#include "cli/dlq_tally.h"
#include "cli/verbs.h"
#include "ops/clock.h"

#define ON_THEIR_WAY_MAX ((size_t)4096)
#define WAIT_MS 20
#define LOOK_MS 1000
#define HOME_MS 10000 /* for what is on its way, when it is to stop */

/* ---------------------------------------------------------------------------------------------------- the dry run */

static bool count(void *visitor, const struct dlq_scan_letter *found)
{
    dlq_tally_add(visitor, found->letter->target, SPAN_ABSENT);
    return true;
}

static bool print_json(const struct dlq_bulk *bulk, const struct dlq_tally *tally, const char *would, uint64_t matched)
{
    struct buffer json = buffer_new((size_t)1024 * 1024);
    buffer_add_format(&json, "{\"verb\":\"%s\",\"execute\":false,\"letters\":%" PRIu64 ",", would, matched);
    dlq_tally_json(tally, &json);
    buffer_add_text(&json, "}");
    bool printed = dlq_bulk_print(bulk, buffer_span(&json));
    buffer_free(&json);
    return printed;
}

static bool print_text(const struct dlq_bulk *bulk, const struct dlq_tally *tally, const char *would, uint64_t matched)
{
    char letters[OUTPUT_COUNT_SIZE];
    output_count(matched, letters);
    printf("would %s %s letter%s\n", would, letters, matched == 1 ? "" : "s");
    dlq_tally_print(tally, &bulk->command.output, false);
    printf("nothing was done: --execute does it\n");
    return fflush(stdout) == 0 && ferror(stdout) == 0;
}

int dlq_clear_plan(struct dlq_bulk *bulk, const char *would)
{
    int code = VERBS_EXIT_DONE;
    uint64_t matched = 0;
    struct dlq_tally *tally = &(struct dlq_tally){0};
    if (dlq_bulk_measure(bulk, count, tally, &matched, &code)) {
        bool table = bulk->command.output.format == OUTPUT_TABLE;
        bool printed = table ? print_text(bulk, tally, would, matched) : print_json(bulk, tally, would, matched);
        code = !printed ? VERBS_EXIT_FAILED : matched == 0 && !bulk->all ? VERBS_EXIT_PARTLY : code;
    }
    dlq_tally_free(tally);
    return code;
}

/* ------------------------------------------------------------------------------------------------------- the work */

struct clear {
    struct dlq_bulk *bulk;
    struct dlq_settle *settle;
    enum dlq_settle_way way;
    struct dlq_job_counts before; /* of the job's earlier runs */
    uint64_t damaged;
    bool stream_gone; /* nothing more can be settled */
    int64_t look_ms;
};

static void keep_counts(struct clear *clear)
{
    struct dlq_settle_counts settled = dlq_settle_counts(clear->settle);
    const struct dlq_job_counts *before = &clear->before;
    clear->bulk->job.counts = (struct dlq_job_counts){.done = before->done + settled.removed + settled.parked,
                                                      .skipped = before->skipped + settled.refused + clear->damaged,
                                                      .gone = before->gone + settled.gone};
}

static bool tend(struct clear *clear)
{
    char text[256];
    int64_t now_ms = clock_mono().ms;
    if (now_ms >= clear->look_ms) {
        keep_counts(clear);
        bool trouble = dlq_settle_trouble(clear->settle, text, sizeof text);
        dlq_work_complain(&clear->bulk->work, trouble ? text : "");
        clear->stream_gone = clear->stream_gone || (trouble && !dlq_bulk_streams_remain(clear->bulk));
        clear->look_ms = clock_mono().ms + LOOK_MS;
    }
    return dlq_work_tend(&clear->bulk->work) == DLQ_WORK_GO && !clear->stream_gone;
}

static bool visit(void *visitor, const struct dlq_scan_letter *found)
{
    struct clear *clear = visitor;
    struct dlq_settle_item item = {.way = clear->way, .state = found->state, .sequence = found->sequence, .apart = found->letter->parts > 0};
    memcpy(item.id, found->letter->id, sizeof item.id);
    bool going = tend(clear);
    while (going && !dlq_settle_put(clear->settle, &item)) {
        (void)dlq_settle_wait(clear->settle, ON_THEIR_WAY_MAX / 2, WAIT_MS);
        going = tend(clear);
    }
    return going;
}

static void at(void *visitor, enum letter_state state, uint64_t sequence)
{
    struct clear *clear = visitor;
    (void)state;
    (void)sequence;
    clear->bulk->work.seen += 1;
}

/* There is no use in waiting for the rest, or it is another process's. */
static bool is_over(const struct clear *clear)
{
    return clear->stream_gone || clear->bulk->work.word == DLQ_WORK_ELSEWHERE;
}

static void come_home(struct clear *clear)
{
    int64_t deadline_ms = INT64_MAX;
    while (!is_over(clear) && dlq_settle_wait(clear->settle, 0, WAIT_MS) > 0 && clock_mono().ms < deadline_ms) {
        if (!tend(clear) && deadline_ms == INT64_MAX) {
            deadline_ms = clock_mono().ms + HOME_MS;
        }
    }
    keep_counts(clear);
}

static int end(struct clear *clear, bool read, const char *done)
{
    struct error error = {ERROR_NONE, ""};
    struct dlq_apart apart = {0};
    const struct dlq_context *context = &clear->bulk->command.context;
    dlq_settle_free(clear->settle, &apart);
    if (!dlq_apart_sweep(&apart, context, &error)) {
        dlq_context_say(context, "parts of large records could not be removed: %s", error.text);
    }
    dlq_apart_free(&apart);
    enum dlq_job_state state = dlq_work_state(&clear->bulk->work);
    bool failed = clear->stream_gone || !read;
    return dlq_bulk_end(clear->bulk, state == DLQ_JOB_DONE && failed ? DLQ_JOB_STOPPED : state, done, 0, -1);
}

int dlq_clear_work(struct dlq_bulk *bulk, enum dlq_settle_way way, const char *done)
{
    struct error error = {ERROR_NONE, ""};
    struct clear clear = {.bulk = bulk, .way = way, .before = bulk->job.counts};
    struct dlq_scan scan = {.context = &bulk->command.context,
                            .filter = &bulk->command.filter,
                            .bounds = bulk->job.bounds,
                            .visit = visit,
                            .visitor = &clear,
                            .at = at};
    struct dlq_scan_totals totals;
    clear.settle = dlq_settle_new(&bulk->command.context, NULL, &bulk->job.bounds, ON_THEIR_WAY_MAX);
    bool read = dlq_scan_run(&scan, &totals, &error);
    clear.damaged = totals.damaged;
    come_home(&clear);
    if (!read) {
        (void)dlq_context_failed(&bulk->command.context, &error);
    }
    return end(&clear, read, done);
}
