#include "cli/dlq_apart.h"

#include <stdlib.h>

#include "base/memory.h"
#include "cli/dlq_scan.h"
#include "dlq/mailer.h"

/* New letters come in while the streams are read: read on, but not for ever. */
#define ROUNDS_MAX 20

void dlq_apart_add(struct dlq_apart *apart, const char *id)
{
    if (apart->count == DLQ_APART_MAX) {
        return;
    }
    if ((apart->count & (apart->count - 1)) == 0) { /* a power of two, or none: the room is full */
        apart->ids = memory_resize(apart->ids, apart->count == 0 ? 1 : 2 * apart->count, sizeof *apart->ids);
    }
    memcpy(apart->ids[apart->count], id, LETTER_ID_SIZE);
    apart->count += 1;
}

void dlq_apart_free(struct dlq_apart *apart)
{
    free(apart->ids);
    *apart = (struct dlq_apart){0};
}

static int compare(const void *a, const void *b)
{
    return memcmp(a, b, LETTER_ID_SIZE);
}

/* Sorted, each once: what is found marks the one there is. */
static void sort(struct dlq_apart *apart)
{
    size_t kept = 1;
    qsort(apart->ids, apart->count, sizeof *apart->ids, compare);
    for (size_t i = 1; i < apart->count; i++) {
        if (compare(apart->ids[i], apart->ids[kept - 1]) != 0) {
            memmove(apart->ids[kept], apart->ids[i], LETTER_ID_SIZE);
            kept++;
        }
    }
    apart->count = kept;
}

/* needed[i]: a letter of ids[i] is there, so its parts stay. */
struct marks {
    const struct dlq_apart *apart;
    bool *needed;
};

static bool mark(void *visitor, const struct dlq_scan_letter *found)
{
    struct marks *marks = visitor;
    const struct dlq_apart *apart = marks->apart;
    if (found->letter->parts > 0) {
        char(*id)[LETTER_ID_SIZE] = bsearch(found->letter->id, apart->ids, apart->count, sizeof *apart->ids, compare);
        if (id != NULL) {
            marks->needed[id - apart->ids] = true;
        }
    }
    return true;
}

/* What came in since `before` was looked at; false: nothing. */
static bool narrow(struct dlq_scan_bounds *now, const struct dlq_scan_bounds *before)
{
    bool more = false;
    for (size_t i = 0; i < 2; i++) {
        struct dlq_scan_bound *bound = &now->of[i];
        bool same = before->of[i].looked_at && before->of[i].created_ms == bound->created_ms;
        if (bound->looked_at && same && bound->first <= before->of[i].last) {
            bound->first = before->of[i].last + 1;
        }
        more = more || (bound->looked_at && bound->first <= bound->last);
        bound->looked_at = bound->looked_at && bound->first <= bound->last;
    }
    return more;
}

/* Reads until nothing has come in since: a letter follows on one that is there, so none of an id not found by then can come any more. */
static bool mark_all(struct marks *marks, const struct dlq_context *context, struct error *error)
{
    struct dlq_filter all = dlq_filter_new("dlq", 0);
    struct dlq_scan scan = {.context = context, .filter = &all, .visit = mark, .visitor = marks};
    struct dlq_scan_bounds before = {0};
    struct dlq_scan_totals totals;
    bool read = true;
    bool more = true;
    for (int round = 0; read && more && round < ROUNDS_MAX; round++) {
        struct dlq_scan_bounds now;
        read = dlq_scan_look(context, &all, &now, error);
        scan.bounds = now;
        more = read && narrow(&scan.bounds, &before);
        before = now;
        totals = (struct dlq_scan_totals){0};
        read = read && (!more || dlq_scan_run(&scan, &totals, error));
        if (read && totals.damaged > 0) {
            read = error_set(error, ERROR_CORRUPT, "a letter that cannot be read may need them");
        }
    }
    dlq_filter_free(&all);
    return read && (!more || error_set(error, ERROR_BUSY, "letters come in faster than they can be looked through"));
}

bool dlq_apart_sweep(struct dlq_apart *apart, const struct dlq_context *context, struct error *error)
{
    if (apart->count == 0) {
        return true;
    }
    sort(apart);
    struct marks marks = {apart, memory_new(apart->count, sizeof(bool))};
    bool done = mark_all(&marks, context, error);
    struct mailer *mailer = mailer_new(context->link, &context->streams);
    for (size_t i = 0; done && i < apart->count; i++) {
        done = marks.needed[i] || mailer_forget_large(mailer, apart->ids[i], error);
    }
    mailer_free(mailer);
    free(marks.needed);
    dlq_apart_free(apart);
    return done;
}
