#include "cli/demo_summary.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/memory.h"

struct tally {
    size_t good;
    size_t left;
    size_t early;
    size_t altered;
    size_t repeated;
    size_t wrong;
    size_t refused;      /* of the wrong ones */
    size_t refused_good; /* of the good ones, which is a fault */
    int64_t *lateness_ms;
};

static int compare(const void *a, const void *b)
{
    const int64_t *left = a;
    const int64_t *right = b;
    return (*left > *right) - (*left < *right);
}

static void count_one(struct tally *tally, const struct demo_event *event)
{
    bool is_wrong = demo_events_is_wrong(event);
    tally->wrong += is_wrong;
    tally->good += !is_wrong;
    tally->early += event->early;
    tally->altered += event->altered;
    tally->repeated += event->arrivals > 1;
    if (event->state == DEMO_EVENTS_REFUSED) {
        tally->refused += is_wrong;
        tally->refused_good += !is_wrong;
    } else if (event->state == DEMO_EVENTS_LEFT && !is_wrong) {
        tally->lateness_ms[tally->left++] = event->arrived_ms - event->due_ms;
    }
}

static void print_lateness(const struct tally *tally, FILE *file)
{
    if (tally->left == 0) {
        return;
    }
    qsort(tally->lateness_ms, tally->left, sizeof *tally->lateness_ms, compare);
    fprintf(file,
            "lateness: min %" PRId64 " ms, median %" PRId64 " ms, max %" PRId64
            " ms, from the due time to the arrival at a consumer\n",
            tally->lateness_ms[0], tally->lateness_ms[tally->left / 2], tally->lateness_ms[tally->left - 1]);
}

static void print_refused(const struct demo_events *events, FILE *file)
{
    for (size_t i = 0; i < events->count; i++) {
        if (events->items[i].state == DEMO_EVENTS_REFUSED) {
            fprintf(file, "refused, kept whole as a dead letter: %s, %s\n", events->items[i].key,
                    events->items[i].reason);
        }
    }
}

static void print_faults(const struct tally *tally, FILE *file)
{
    if (tally->altered > 0) {
        fprintf(file, "not as they should be (bytes or topic): %zu\n", tally->altered);
    }
    if (tally->repeated > 0) {
        fprintf(file, "delivered more than once: %zu\n", tally->repeated);
    }
}

bool demo_summary_print(const struct demo_events *events, FILE *file)
{
    struct tally tally = {.lateness_ms = memory_new(events->count, sizeof(int64_t))};
    for (size_t i = 0; i < events->count; i++) {
        count_one(&tally, &events->items[i]);
    }
    fprintf(file, "\n%zu of %zu left, %zu early", tally.left, tally.good, tally.early);
    if (tally.wrong > 0) {
        fprintf(file, "; %zu of %zu wrong ones refused", tally.refused, tally.wrong);
    }
    fprintf(file, "\n");
    print_lateness(&tally, file);
    print_refused(events, file);
    print_faults(&tally, file);
    free(tally.lateness_ms);
    return tally.left == tally.good && tally.early == 0 && tally.altered == 0 && tally.refused == tally.wrong &&
           tally.refused_good == 0;
}
