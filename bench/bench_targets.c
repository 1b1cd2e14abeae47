#include "bench/bench_targets.h"

#define TIMER "lateness_timer_p99_at_5000"

static double median_of(const struct bench_figures *figures, const char *name, bool *measured)
{
    const struct bench_figures_one *figure = bench_figures_find(figures, name);
    *measured = *measured && figure != NULL;
    return figure == NULL ? 0 : bench_figures_median(figure);
}

static struct bench_targets_one judge(const struct bench_figures *figures, const char *name, const char *rule, double limit, bool at_least)
{
    struct bench_targets_one target = {.name = name, .rule = rule, .measured = true, .limit = limit};
    target.value = median_of(figures, name, &target.measured);
    target.met = target.measured && (at_least ? target.value >= limit : target.value <= limit);
    return target;
}

/* At most one and a half times what the bare timer with transactions was late. */
static struct bench_targets_one judge_exact(const struct bench_figures *figures, const char *name, const char *rule, const char *timer_name)
{
    bool timer = true;
    double limit = 1.5 * median_of(figures, timer_name, &timer);
    struct bench_targets_one target = judge(figures, name, rule, limit, false);
    target.measured = target.measured && timer;
    return target;
}

void bench_targets_judge(const struct bench_figures *figures, struct bench_targets_one targets[BENCH_TARGETS])
{
    bool timer = true;
    double timer_p99 = median_of(figures, TIMER, &timer);
    targets[0] = judge(figures, "ratio", "at least half of passthrough", 0.5, true);
    targets[1] = judge(figures, "lateness_tarry_p99_at_5000", "at most twice the bare timer's P99 and 2 ms", 2 * timer_p99 + 2, false);
    targets[1].measured = targets[1].measured && timer;
    targets[2] = judge(figures, "rss_anon_at_10000000", "10 M pending in at most 300 MB of RssAnon", 300, false);
    targets[3] = judge(figures, "recovery_s", "at most 5 s from kill -9 to the first due record", 5, false);
    targets[4] = judge(figures, "ratio_eo", "exactly once: at least 0.6 of passthrough in transactions", 0.6, true);
    targets[5] = judge_exact(figures, "lateness_tarry_eo_p50_at_1000", "exactly once: at most 1.5 times the bare timer's P50 at 1,000/s",
                             "lateness_timer_tx_p50_at_1000");
    targets[6] = judge_exact(figures, "lateness_tarry_eo_p99_at_1000", "exactly once: at most 1.5 times the bare timer's P99 at 1,000/s",
                             "lateness_timer_tx_p99_at_1000");
    targets[7] = judge_exact(figures, "lateness_tarry_eo_p50_at_20000", "exactly once: at most 1.5 times the bare timer's P50 at 20,000/s",
                             "lateness_timer_tx_p50_at_20000");
    targets[8] = judge_exact(figures, "lateness_tarry_eo_p99_at_20000", "exactly once: at most 1.5 times the bare timer's P99 at 20,000/s",
                             "lateness_timer_tx_p99_at_20000");
    targets[9] = judge(figures, "letters_ratio", "dead letters: at least 0.6 of bare publishing", 0.6, true);
    targets[10] = judge(figures, "replay_ratio", "replay: at least 0.6 of a bare loop from NATS to Kafka", 0.6, true);
    targets[11] = judge(figures, "ids_ratio", "a tarry-id on every record: at least 0.8 of the same without", 0.8, true);
    targets[12] = judge(figures, "herd_ratio", "100,000 due at one instant: at most 1.5 times a bare producer's time", 1.5, false);
    targets[13] = judge(figures, "paused_ratio", "beside a lane that stands still with 1 M: at least 0.95 of the same without", 0.95, true);
}
